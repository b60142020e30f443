//! What the guest is to do.

use std::{path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};

/// Where init finds its [`Job`].
pub const JOB_PATH: &str = "/lab/job";
/// The folder of a program that the host brought; first in the program's `PATH`.
pub const PROGRAM_DIR: &str = "/lab/bin";
/// The folder of the kernel modules, not compressed.
pub const MODULE_DIR: &str = "/lab/modules";
/// Their file names in the order in which they are loaded, one a line.
pub const MODULE_LIST: &str = "/lab/modules/order";

/// One run of one program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// Device nodes and sysfs entries that must exist before the program starts.
    pub wait_for: Vec<PathBuf>,
    /// How long they may take, all together.
    pub patience: Duration,
    /// Create the software device `rxe0` (`rdma_rxe` over a dummy interface).
    pub rxe: bool,
    /// Bring up the card's network interface and give it this IPv4 address with a /24 prefix.
    pub address: Option<std::net::Ipv4Addr>,
    /// The program: most are in [`PROGRAM_DIR`].
    pub program: PathBuf,
    /// Its arguments, without its name.
    pub args: Vec<String>,
    /// The whole environment of the program.
    pub env: Vec<(String, String)>,
    /// Run as nobody (65534) without any capability.
    pub unprivileged: bool,
    /// Files that go to the host when the program has ended. Relative ones are meant from the program's folder.
    pub outputs: Vec<String>,
}

impl Job {
    /// The form in which it lies at [`JOB_PATH`].
    ///
    /// # Panics
    ///
    /// Never: a job holds nothing that has no encoding.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        postcard::to_stdvec(self).expect("a job is plain data")
    }

    /// Reads what [`to_bytes`](Self::to_bytes) wrote.
    ///
    /// # Errors
    ///
    /// The bytes are no job, or one of another version of this package.
    pub fn from_bytes(bytes: &[u8]) -> std::io::Result<Self> {
        postcard::from_bytes(bytes)
            .map_err(|error| std::io::Error::new(std::io::ErrorKind::InvalidData, error))
    }
}
