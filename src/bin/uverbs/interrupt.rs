//! Waiting for the user to say stop.

use nix::sys::signal::{SigSet, Signal};

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

    /// Sleeps until one of them arrives.
    pub(crate) fn wait(&self) -> Result<Signal, Failure> {
        self.signals.wait().map_err(|errno| Failure::Signals(errno.into()))
    }
}
