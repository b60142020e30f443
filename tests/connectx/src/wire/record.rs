//! The file of all ways: a JSON array, whole after each frame.

use crate::steering::way::Way;
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

/// What ends the array; the next way overwrites it.
const END: &[u8] = b"\n]\n";

/// A file that is being written.
#[derive(Debug)]
pub(super) struct Record {
    file: File,
    first: bool,
    error: Option<io::Error>,
}

impl Record {
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        let mut file = File::create(path)?;
        file.write_all(b"[")?;
        file.write_all(END)?;
        Ok(Self { file, first: true, error: None })
    }

    /// Appends a way; after an error nothing more is written.
    pub(super) fn write(&mut self, way: &Way) {
        if self.error.is_none() {
            self.error = self.append(way).err();
            self.first = false;
        }
    }

    fn append(&mut self, way: &Way) -> io::Result<()> {
        let mut bytes = Vec::from(if self.first { "\n" } else { ",\n" });
        serde_json::to_writer(&mut bytes, way)?;
        bytes.extend(END);
        let back = i64::try_from(END.len()).map_err(io::Error::other)?;
        self.file.seek(SeekFrom::End(-back))?;
        self.file.write_all(&bytes)
    }

    pub(super) fn error(&self) -> Option<&io::Error> {
        self.error.as_ref()
    }
}
