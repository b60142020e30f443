//! The guest's file system: an uncompressed `newc` archive, or several of them in a row.
//!
//! The kernel unpacks archives one after the other, so the modules, which are large and always the same, are packed once
//! for each kernel, and each run only adds its program and its job. They are not compressed: the host copies them into the
//! guest's memory faster than the emulated processor would unpack them.

use std::{
    collections::BTreeSet,
    io::{self, Write},
    path::Path,
};

use cpio::newc::{self, Builder, ModeFileType};

/// Mode bits of a folder and of a program.
const EXECUTABLE: u32 = 0o755;
/// Mode bits of a plain file.
const READABLE: u32 = 0o644;
const CONSOLE_DEVICE: (u32, u32) = (5, 1);

/// An archive under construction.
pub(crate) struct Archive<W: Write> {
    out: W,
    folders: BTreeSet<String>,
}

impl<W: Write> Archive<W> {
    pub(crate) fn new(out: W) -> Self {
        Self { out, folders: BTreeSet::new() }
    }

    /// Adds a file that every user may read.
    pub(crate) fn file(&mut self, path: &str, bytes: &[u8]) -> io::Result<()> {
        self.entry(path, ModeFileType::Regular, READABLE, bytes)
    }

    /// Adds a file that every user may run.
    pub(crate) fn program(&mut self, path: &str, bytes: &[u8]) -> io::Result<()> {
        self.entry(path, ModeFileType::Regular, EXECUTABLE, bytes)
    }

    /// Adds a symbolic link.
    pub(crate) fn link(&mut self, path: &str, target: &str) -> io::Result<()> {
        self.entry(path, ModeFileType::Symlink, 0o777, target.as_bytes())
    }

    /// Adds `/dev/console`, which the kernel opens for init before anything is mounted.
    pub(crate) fn console(&mut self) -> io::Result<()> {
        self.parents("dev/console")?;
        let (major, minor) = CONSOLE_DEVICE;
        let node = Builder::new("dev/console")
            .mode(0o600)
            .set_mode_file_type(ModeFileType::Char)
            .rdev_major(major)
            .rdev_minor(minor);
        node.write(&mut self.out, 0).finish().map(drop)
    }

    /// Ends the archive.
    pub(crate) fn finish(self) -> io::Result<W> {
        newc::trailer(self.out)
    }

    fn entry(&mut self, path: &str, kind: ModeFileType, mode: u32, bytes: &[u8]) -> io::Result<()> {
        let path = path.trim_start_matches('/');
        self.parents(path)?;
        let size = u32::try_from(bytes.len())
            .map_err(|_| io::Error::other(format!("{path} is too large for an initramfs")))?;
        let mut entry = Builder::new(path).mode(mode).set_mode_file_type(kind).write(&mut self.out, size);
        entry.write_all(bytes)?;
        entry.finish().map(drop)
    }

    /// The kernel makes no folder that the archive does not name.
    fn parents(&mut self, path: &str) -> io::Result<()> {
        let mut parents: Vec<_> = Path::new(path)
            .ancestors()
            .skip(1)
            .filter_map(Path::to_str)
            .filter(|parent| !parent.is_empty())
            .collect();
        parents.reverse();
        for parent in parents {
            if self.folders.insert(parent.to_owned()) {
                Builder::new(parent)
                    .mode(EXECUTABLE)
                    .set_mode_file_type(ModeFileType::Directory)
                    .write(&mut self.out, 0)
                    .finish()?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    /// What the kernel would find: name, mode, content.
    fn read(mut archive: &[u8]) -> Vec<(String, u32, Vec<u8>)> {
        let mut entries = Vec::new();
        loop {
            let mut reader = newc::Reader::new(archive).unwrap();
            if reader.entry().is_trailer() {
                return entries;
            }
            let (name, mode) = (reader.entry().name().to_owned(), reader.entry().mode());
            let mut content = Vec::new();
            reader.read_to_end(&mut content).unwrap();
            entries.push((name, mode, content));
            archive = reader.finish().unwrap();
        }
    }

    #[test]
    fn every_folder_comes_once_and_before_what_is_in_it() {
        let mut archive = Archive::new(Vec::new());
        archive.program("/lab/bin/uverbs", b"program").unwrap();
        archive.file("/lab/job", b"job").unwrap();
        archive.link("/lab/bin/alias", "uverbs").unwrap();
        archive.console().unwrap();
        let expected = [
            ("lab", 0o040755, &b""[..]),
            ("lab/bin", 0o040755, b""),
            ("lab/bin/uverbs", 0o100755, b"program"),
            ("lab/job", 0o100644, b"job"),
            ("lab/bin/alias", 0o120777, b"uverbs"),
            ("dev", 0o040755, b""),
            ("dev/console", 0o020600, b""),
        ];
        let expected = expected.map(|(name, mode, content)| (name.to_owned(), mode, content.to_owned()));
        assert_eq!(read(&archive.finish().unwrap()), expected);
    }

    #[test]
    fn an_archive_ends_on_a_word_so_that_another_may_follow() {
        for length in 0..8 {
            let mut archive = Archive::new(Vec::new());
            archive.file("f", &vec![1; length]).unwrap();
            assert_eq!(archive.finish().unwrap().len() % 4, 0, "{length}");
        }
    }
}
