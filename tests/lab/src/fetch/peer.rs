//! rdma-core and iproute2, with all they depend on: the peer that does the same work by the C libraries.

use std::path::{Path, PathBuf};

use super::{
    apt::Archive,
    error::Result,
    product::{Parts, Product, rename},
    sources::Release,
};

/// Programs and libraries; `ibverbs-providers` has libmlx5.
const PACKAGES: [&str; 3] = ["ibverbs-utils", "ibverbs-providers", "iproute2"];

/// The peer: a file system's root.
#[derive(Debug)]
pub(super) struct Peer;

impl Product for Peer {
    fn name(&self) -> String {
        "peer".to_owned()
    }

    fn folder(&self) -> PathBuf {
        PathBuf::from("peer")
    }

    fn release(&self) -> Release {
        Release::Trixie
    }

    fn parts(&self, archive: &Archive) -> Result<Parts> {
        let packages = archive.select(&PACKAGES, |_| false)?;
        Ok(Parts { packages, closure: true })
    }

    fn choice(&self, _package: &str) -> &'static [&'static str] {
        &[
            "--exclude=./usr/share/doc",
            "--exclude=./usr/share/locale",
            "--exclude=./usr/share/man",
            "--exclude=./usr/share/perl*",
        ]
    }

    fn arrange(&self, unpacked: &Path, finished: &Path) -> Result<()> {
        for folder in ["usr", "etc"] {
            rename(&unpacked.join(folder), &finished.join(folder))?;
        }
        Ok(())
    }
}
