//! Kernels, and where their headers are.

use std::fmt;
use std::path::{Path, PathBuf};

/// A version of the kernel: major, minor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version(pub(crate) u16, pub(crate) u16);

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0, self.1)
    }
}

/// The kernels that the library supports; `7` is the newest of its series.
pub(crate) const SUPPORTED: &[(&str, Version)] =
    &[("5.10", Version(5, 10)), ("6.1", Version(6, 1)), ("6.12", Version(6, 12)), ("7", Version(7, 3))];

/// The headers of one kernel.
pub(crate) struct Headers {
    pub(crate) version: Version,
    /// Holds `rdma/`, `linux/` and `asm/` of the user ABI: package `linux-libc-dev`.
    pub(crate) user: PathBuf,
    /// Holds `linux/mlx5/`: package `linux-headers-…-common`.
    pub(crate) kernel: PathBuf,
}

impl Headers {
    /// Finds the headers of a kernel, or says what is missing.
    pub(crate) fn find(name: &str, version: Version) -> Result<Self, String> {
        let root = std::env::var_os("UVERBS_HEADERS")
            .map_or_else(
                || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/lab/headers"),
                PathBuf::from,
            )
            .join(name);
        let (user, kernel) = (root.join("libc-dev"), root.join("common"));
        if user.join("rdma").is_dir() && kernel.join("linux/mlx5/mlx5_ifc.h").is_file() {
            Ok(Self { version, user, kernel })
        } else {
            Err(format!(
                "the headers of Linux {name} are not in {}; `cargo lab fetch` gets them",
                root.display()
            ))
        }
    }
}
