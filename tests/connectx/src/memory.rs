//! The guest's memory, as QEMU announces it: DMA by `pread` and `pwrite` on the memory's own file.
//!
//! Coherent with QEMU's shared mapping, and needs neither `mmap` nor `unsafe`.

use std::fs::File;
use std::os::unix::fs::FileExt;

/// A DMA access that no announced memory answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("DMA outside the guest's memory: {length} bytes at {address:#x}")]
pub struct DmaError {
    /// Guest physical address.
    pub address: u64,
    /// Bytes asked for.
    pub length: usize,
}

/// The guest's memory.
#[derive(Debug, Default)]
pub struct Memory {
    ranges: Vec<Range>,
}

#[derive(Debug)]
struct Range {
    address: u64,
    size: u64,
    offset: u64,
    /// Ranges without a file (ROM, the card's own BAR) are known and not accessible.
    file: Option<File>,
}

impl Memory {
    /// Adds a range of `size` bytes at guest physical `address`, which lies at `offset` in `file`.
    pub fn map(&mut self, address: u64, size: u64, offset: u64, file: Option<File>) {
        self.ranges.push(Range { address, size, offset, file });
    }

    /// Removes every range inside `size` bytes at `address`.
    pub fn unmap(&mut self, address: u64, size: u64) {
        let end = address.saturating_add(size);
        self.ranges.retain(|r| r.address < address || r.address.saturating_add(r.size) > end);
    }

    /// Reads guest memory.
    ///
    /// # Errors
    /// If the range is not memory.
    pub fn read(&self, address: u64, buffer: &mut [u8]) -> Result<(), DmaError> {
        let error = DmaError { address, length: buffer.len() };
        let (file, offset) = self.find(address, buffer.len()).ok_or(error)?;
        file.read_exact_at(buffer, offset).map_err(|_| error)
    }

    /// Writes guest memory.
    ///
    /// # Errors
    /// If the range is not memory.
    pub fn write(&self, address: u64, bytes: &[u8]) -> Result<(), DmaError> {
        let error = DmaError { address, length: bytes.len() };
        let (file, offset) = self.find(address, bytes.len()).ok_or(error)?;
        file.write_all_at(bytes, offset).map_err(|_| error)
    }

    fn find(&self, address: u64, length: usize) -> Option<(&File, u64)> {
        let end = address.checked_add(length as u64)?;
        let range =
            self.ranges.iter().find(|r| r.address <= address && end <= r.address.saturating_add(r.size))?;
        Some((range.file.as_ref()?, range.offset.checked_add(address - range.address)?))
    }
}
