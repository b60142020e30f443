//! Reading sysfs: few system calls, no waiting.

use core::mem::MaybeUninit;
use std::{
    ffi::OsStr,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use rustix::{
    fs::{Mode, OFlags, RawDir},
    io::Errno,
};

/// The text of an attribute, without the line's end.
pub(super) fn read(path: &Path) -> Result<String, Errno> {
    let file = rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    let mut buffer = [0; 256];
    let length = rustix::io::read(&file, &mut buffer)?;
    let text = core::str::from_utf8(&buffer[..length]).map_err(|_| Errno::ILSEQ)?;
    Ok(text.trim_ascii_end().to_owned())
}

/// Where a link leads to.
pub(super) fn link(path: &Path) -> Result<PathBuf, Errno> {
    let target = rustix::fs::readlink(path, Vec::new())?;
    Ok(PathBuf::from(OsStr::from_bytes(target.as_bytes()).to_owned()))
}

/// The name of what a link leads to.
pub(super) fn link_name(path: &Path) -> Option<String> {
    link(path).ok()?.file_name()?.to_str().map(str::to_owned)
}

/// The names in a directory that `wanted` takes.
pub(super) fn names(path: &Path, wanted: impl Fn(&str) -> bool) -> Result<Vec<String>, Errno> {
    read_names(path, wanted, false)
}

/// As [`names`], of a directory that is known to be small: reads once. That is enough for some 50 names.
pub(super) fn first_names(path: &Path, wanted: impl Fn(&str) -> bool) -> Result<Vec<String>, Errno> {
    read_names(path, wanted, true)
}

fn read_names(path: &Path, wanted: impl Fn(&str) -> bool, once: bool) -> Result<Vec<String>, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let directory = rustix::fs::open(path, flags, Mode::empty())?;
    let mut buffer = [MaybeUninit::uninit(); 2048];
    let mut entries = RawDir::new(&directory, &mut buffer);
    let mut names = Vec::new();
    while let Some(entry) = entries.next() {
        let entry = entry?;
        if let Some(name) = entry.file_name().to_str().ok().filter(|name| wanted(name)) {
            names.push(name.to_owned());
        }
        if once && entries.is_buffer_empty() {
            break;
        }
    }
    Ok(names)
}
