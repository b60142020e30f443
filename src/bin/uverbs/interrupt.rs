//! Waiting for the user to say stop.

use std::{os::fd::AsFd, time::Duration};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};

use crate::failure::Failure;

/// SIGINT and SIGTERM, held back from the moment this exists, so that none of them ends the process before it has
/// cleaned up.
pub(crate) struct Interrupt {
    signals: SigSet,
}

impl Interrupt {
    /// Holds the signals back. The tool has one thread, so blocking them there blocks them for the process.
    pub(crate) fn block() -> Result<Self, Failure> {
        let signals = SigSet::from_iter([Signal::SIGINT, Signal::SIGTERM]);
        signals.thread_block().map_err(|errno| Failure::Signals(errno.into()))?;
        Ok(Self { signals })
    }

    /// Sleeps until one of them arrives, but not longer than `limit`.
    pub(crate) fn wait_for(&self, limit: Duration) -> Result<Option<Signal>, Failure> {
        let signals = SignalFd::with_flags(&self.signals, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC);
        let signals = signals.map_err(|errno| Failure::Signals(errno.into()))?;
        let limit = PollTimeout::try_from(limit).unwrap_or(PollTimeout::MAX);
        poll(&mut [PollFd::new(signals.as_fd(), PollFlags::POLLIN)], limit)
            .map_err(|errno| Failure::Signals(errno.into()))?;
        let arrived = signals.read_signal().map_err(|errno| Failure::Signals(errno.into()))?;
        Ok(arrived.and_then(|signal| Signal::try_from(i32::try_from(signal.ssi_signo).ok()?).ok()))
    }

    /// Sleeps until one of them arrives.
    pub(crate) fn wait(&self) -> Result<Signal, Failure> {
        self.signals.wait().map_err(|errno| Failure::Signals(errno.into()))
    }
}
