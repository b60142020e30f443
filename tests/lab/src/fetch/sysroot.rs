//! What a C program of the peer's is compiled and linked with: a root for `cc --sysroot`.
//!
//! Only the compiler is the machine's own. Headers and libraries are those of the release whose libraries the peer
//! ([`super::peer`]) brings into the guest, so what is linked here runs there.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use super::{
    apt::Archive,
    error::{AtPath, Result},
    product::{Parts, Product, rename},
    sources::Release,
};

/// Development packages, and behind each the libraries that its links lead to.
const PACKAGES: [&str; 11] = [
    "libc6-dev",
    "libc6",
    "libgcc-s1",
    "linux-libc-dev",
    "libibverbs-dev",
    "libibverbs1",
    "ibverbs-providers",
    "libnl-3-dev",
    "libnl-3-200",
    "libnl-route-3-dev",
    "libnl-route-3-200",
];

/// Folders that older paths lead to, in linker scripts too.
const MERGED: [&str; 2] = ["lib", "lib64"];

/// The sysroot.
#[derive(Debug)]
pub(super) struct Sysroot;

impl Product for Sysroot {
    fn name(&self) -> String {
        "sysroot".to_owned()
    }

    fn folder(&self) -> PathBuf {
        PathBuf::from("sysroot")
    }

    fn release(&self) -> Release {
        Release::Trixie
    }

    fn parts(&self, archive: &Archive) -> Result<Parts> {
        let packages = archive.select(&PACKAGES, |_| false)?;
        Ok(Parts { packages, closure: false })
    }

    fn choice(&self, _package: &str) -> &'static [&'static str] {
        &["--exclude=./etc", "--exclude=./usr/share", "--exclude=./usr/lib/x86_64-linux-gnu/gconv"]
    }

    fn arrange(&self, unpacked: &Path, finished: &Path) -> Result<()> {
        let usr = finished.join("usr");
        rename(&unpacked.join("usr"), &usr)?;
        for name in MERGED.into_iter().filter(|name| usr.join(name).is_dir()) {
            let link = finished.join(name);
            symlink(Path::new("usr").join(name), &link).at(&link)?;
        }
        make_links_relative(&usr, Path::new(".."))
    }
}

/// Makes absolute links below `folder` lead to where they lead when its root is the root; `up` leads to that root.
fn make_links_relative(folder: &Path, up: &Path) -> Result<()> {
    for entry in fs::read_dir(folder).at(folder)? {
        let path = entry.at(folder)?.path();
        let kind = fs::symlink_metadata(&path).at(&path)?.file_type();
        if kind.is_dir() {
            make_links_relative(&path, &up.join(".."))?;
        } else if kind.is_symlink() {
            let target = fs::read_link(&path).at(&path)?;
            if let Ok(target) = target.strip_prefix("/") {
                fs::remove_file(&path).at(&path)?;
                symlink(up.join(target), &path).at(&path)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absolute_links_stay_inside() {
        let (unpacked, finished) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let libraries = unpacked.path().join("usr/lib/machine");
        fs::create_dir_all(&libraries).unwrap();
        fs::write(libraries.join("libx.so.1"), "x").unwrap();
        symlink("/lib/machine/libx.so.1", libraries.join("libx.so")).unwrap();
        symlink("libx.so.1", libraries.join("liby.so")).unwrap();

        Sysroot.arrange(unpacked.path(), finished.path()).unwrap();
        let libraries = finished.path().join("lib/machine");
        for (link, target) in [("libx.so", "../../../lib/machine/libx.so.1"), ("liby.so", "libx.so.1")] {
            assert_eq!(fs::read_link(libraries.join(link)).unwrap(), Path::new(target));
            assert_eq!(fs::read(libraries.join(link)).unwrap(), b"x");
        }
        assert!(!finished.path().join("lib64").exists());
    }
}
