//! The headers of each kernel, which our own structs and numbers are compared with.
//!
//! `libc-dev` is what programs see (`rdma/`, `linux/`, `asm/`), `common` the firmware's command layouts
//! (`linux/mlx5/`), which only the kernel's own modules see.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{
    apt::Archive,
    error::{AtPath, Error, Result},
    kernel::KernelName,
    product::{Parts, Product, only_entry, rename},
    sources::Release,
};

/// The headers of a kernel.
#[derive(Debug)]
pub(super) struct Headers(pub(super) KernelName);

const FOR_PROGRAMS: &str = "linux-libc-dev";

impl Product for Headers {
    fn name(&self) -> String {
        format!("headers of kernel {}", self.0)
    }

    fn folder(&self) -> PathBuf {
        Path::new("headers").join(self.0.as_str())
    }

    fn release(&self) -> Release {
        self.0.release()
    }

    fn suite(&self) -> Option<&'static str> {
        self.0.suite()
    }

    /// The metapackage leads to the headers of an image, and these to those that all flavours share.
    fn parts(&self, archive: &Archive) -> Result<Parts> {
        let of_headers = |name: &str| name.starts_with("linux-headers-");
        let mut packages = archive.select(&[FOR_PROGRAMS, "linux-headers-amd64"], of_headers)?;
        packages.retain(|package| package.name == FOR_PROGRAMS || package.name.ends_with("-common"));
        Ok(Parts { packages, closure: false })
    }

    fn choice(&self, package: &str) -> &'static [&'static str] {
        if package == FOR_PROGRAMS { &["--exclude=./usr/share"] } else { &["*/include/linux/mlx5/*"] }
    }

    fn arrange(&self, unpacked: &Path, finished: &Path) -> Result<()> {
        let include = unpacked.join("usr/include");
        // Of an architecture's own headers only `asm` matters; it may be a link.
        let machine = include.join("x86_64-linux-gnu/asm");
        let machine = machine.canonicalize().at(&machine)?;
        let common = only_entry(&unpacked.join("usr/src"))
            .ok_or_else(|| Error::unavailable(&self.name(), "the packages hold no kernel headers"))?;
        let programs = finished.join("libc-dev");
        fs::create_dir(&programs).at(&programs)?;
        rename(&machine, &programs.join("asm"))?;
        for folder in ["asm-generic", "linux", "rdma"] {
            rename(&include.join(folder), &programs.join(folder))?;
        }
        rename(&common.join("include"), &finished.join("common"))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_linked_asm_is_arranged_as_a_folder() {
        let (unpacked, finished) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let usr = unpacked.path().join("usr");
        for folder in ["include/linux", "include/rdma", "include/asm-generic", "include/x86_64-linux-gnu"] {
            fs::create_dir_all(usr.join(folder)).unwrap();
        }
        fs::create_dir_all(usr.join("lib/linux/uapi/x86/asm")).unwrap();
        symlink("../../lib/linux/uapi/x86/asm", usr.join("include/x86_64-linux-gnu/asm")).unwrap();
        fs::create_dir_all(usr.join("src/linux-headers-1-common/include/linux/mlx5")).unwrap();
        Headers(KernelName::V7).arrange(unpacked.path(), finished.path()).unwrap();
        for folder in ["libc-dev/asm", "libc-dev/linux", "libc-dev/rdma", "common/linux/mlx5"] {
            let metadata = fs::symlink_metadata(finished.path().join(folder)).unwrap();
            assert!(metadata.is_dir(), "{folder}");
        }
    }
}
