//! A thing that is made of packages: what it is made of, and what of it is kept.

use std::path::{Path, PathBuf};

use super::{
    apt::{Archive, Package},
    error::{AtPath, Result},
    sources::Release,
};

/// The packages a product is made of.
#[derive(Debug)]
pub(super) struct Parts {
    /// Named packages: their versions tell whether the product is up to date.
    pub(super) packages: Vec<Package>,
    /// Take all they depend on, too.
    pub(super) closure: bool,
}

impl Parts {
    /// Tells one set of versions from another: a package a line.
    pub(super) fn stamp(&self) -> String {
        let lines: Vec<_> = self.packages.iter().map(Package::to_string).collect();
        lines.join("\n") + "\n"
    }
}

/// Something in the store.
pub(super) trait Product {
    /// What a user calls it.
    fn name(&self) -> String;

    /// Its folder in the store.
    fn folder(&self) -> PathBuf;

    /// Where its packages come from.
    fn release(&self) -> Release;

    /// The suite to prefer, for packages of a suite that apt does not prefer by itself.
    fn suite(&self) -> Option<&'static str> {
        None
    }

    /// Which packages, at the versions apt chooses.
    fn parts(&self, archive: &Archive) -> Result<Parts>;

    /// What to unpack of a package: options and patterns of tar.
    fn choice(&self, package: &str) -> &'static [&'static str];

    /// Moves what is kept from `unpacked` to `finished`, an empty folder.
    fn arrange(&self, unpacked: &Path, finished: &Path) -> Result<()>;
}

/// Moves a file or folder inside the store.
pub(super) fn rename(from: &Path, to: &Path) -> Result<()> {
    std::fs::rename(from, to).at(from)
}

/// The only entry of `folder`, which may not exist.
pub(super) fn only_entry(folder: &Path) -> Option<PathBuf> {
    let mut entries = std::fs::read_dir(folder).ok()?.flatten();
    let entry = entries.next()?.path();
    entries.next().is_none().then_some(entry)
}
