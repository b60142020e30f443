//! The messages themselves.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// From the guest's init to the host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToHost {
    /// The devices are there and the program starts now.
    Ready {
        /// The kernel's clock at this moment.
        uptime: Duration,
    },
    /// Bytes the program wrote to its standard output.
    Stdout(#[serde(with = "serde_bytes")] Vec<u8>),
    /// Bytes the program wrote to its standard error.
    Stderr(#[serde(with = "serde_bytes")] Vec<u8>),
    /// A file the job asked for, as the program left it.
    File {
        /// The name the job gave.
        name: String,
        /// All of the file.
        #[serde(with = "serde_bytes")]
        bytes: Vec<u8>,
    },
    /// The program ended, and every file went out before this message. Nothing follows but the power-off.
    Exit {
        /// The exit code, or 128 + signal as a shell says it.
        code: u8,
    },
    /// Init could not do its work; the program did not run, or did not run to its end.
    Failed {
        /// What could not be done, and why.
        reason: String,
        /// The last lines of the kernel's log.
        kernel_log: String,
    },
}

/// From the host to the guest's init.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToGuest {
    /// Send this signal to the program and to the processes of its group.
    Signal(i32),
}
