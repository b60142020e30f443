//! The signals that are meant for the guest's program.

use std::{io, thread};

use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM},
    iterator::{Handle, Signals},
};

/// Calls back for each signal until it is dropped.
pub(crate) struct Listener {
    handle: Handle,
}

impl Listener {
    pub(crate) fn start(mut on_signal: impl FnMut(i32) + Send + 'static) -> io::Result<Self> {
        let mut signals = Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM])?;
        let handle = signals.handle();
        thread::spawn(move || signals.forever().for_each(&mut on_signal));
        Ok(Self { handle })
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.handle.close();
    }
}
