//! What can go wrong in the lab itself, as opposed to the program it runs.

use std::{io, path::PathBuf, time::Duration};

use crate::fetch;

/// A failure of the lab: exit status 125, but for [`Error::Usage`].
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The command line makes no sense.
    #[error("{0}")]
    Usage(String),

    /// Something of the outside could not be had.
    #[error(transparent)]
    Fetch(#[from] fetch::Error),

    /// A program or a test could not be built.
    #[error("{0}")]
    Build(String),

    /// The guest's kernel complained.
    #[error("the guest's kernel complains: {line}\nthe end of its console:\n{console}")]
    Kernel {
        /// The line that was found.
        line: String,
        /// The last lines.
        console: String,
    },

    /// The guest's init could not do its work.
    #[error(
        "the guest could not run the program: {reason}\nthe end of the guest's kernel log:\n{kernel_log}"
    )]
    Guest {
        /// Init's own words.
        reason: String,
        /// The last lines.
        kernel_log: String,
    },

    /// The guest ended before it told the program's exit status.
    #[error(
        "the guest ended without the program's exit status ({how})\nthe end of its console:\n{console}{qemu}"
    )]
    NoExit {
        /// How the virtual machine ended.
        how: String,
        /// The last lines.
        console: String,
        /// What QEMU had to say.
        qemu: String,
    },

    /// A stage took too long.
    #[error("time-out: {stage} took longer than {} s\nthe end of the guest's console:\n{console}", .limit.as_secs())]
    TimeOut {
        /// What was waited for.
        stage: &'static str,
        /// How long.
        limit: Duration,
        /// The last lines.
        console: String,
    },

    /// The user asked twice.
    #[error("stopped by signal {0} before the guest was done")]
    Interrupted(i32),

    /// A file that the caller wanted is not there, though the program said that all went well.
    #[error("the program left no file {0}")]
    NoOutput(String),

    /// The demonstration did not show what it should.
    #[error("{0}")]
    Demo(String),

    /// What was to be measured could not be.
    #[error("{0}")]
    Bench(String),

    /// The emulated card failed.
    #[error("the emulated card: {0}")]
    Card(String),

    /// Firmware objects were alive when the card was closed.
    #[error("the card still held objects when the guest was done:\n{0}")]
    Leaks(String),

    /// A file of the host.
    #[error("{what} {}: {source}", .path.display())]
    File {
        /// What was being done, such as `cannot read`.
        what: &'static str,
        /// With which file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },

    /// Anything else of the host's system.
    #[error("cannot {what}: {source}")]
    System {
        /// What was being done.
        what: &'static str,
        /// Why not.
        source: io::Error,
    },
}

impl Error {
    /// An adapter for `map_err` on file operations.
    pub(crate) fn file(what: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { what, path, source }
    }

    /// An adapter for `map_err` on everything else.
    pub(crate) fn system(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::System { what, source }
    }

    /// The lab's own exit status for it.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            _ => 125,
        }
    }
}

/// The lab's own result.
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;
