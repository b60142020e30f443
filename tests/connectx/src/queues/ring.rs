//! The entries of a queue in guest memory, and the doorbell record beside them.

use super::layouts::wq;
use crate::command::refusal::{Refusal, Syndrome};
use crate::memory::{DmaError, Memory};
use uverbs_uapi::prm::Field;

/// A page address in a command.
const PAGE: Field = Field::new(0, 64);
/// The largest queue, in bytes as a power of two: far above what the capabilities allow.
const LOG_MAX_BYTES: u32 = 26;

/// A ring of entries of equal size, a power of two of them.
#[derive(Clone, Debug)]
pub(super) struct Ring {
    pages: Vec<u64>,
    log_page: u32,
    offset: u64,
    log_stride: u32,
    log_size: u32,
}

impl Ring {
    /// A ring whose page addresses are `pages`, 8 bytes each.
    pub(super) fn new(
        pages: &[u8],
        log_page: u32,
        offset: u64,
        log_stride: u32,
        log_size: u32,
    ) -> Result<Self, Refusal> {
        if log_stride + log_size > LOG_MAX_BYTES || log_page > 31 {
            let detail = format!("2^{log_size} entries of 2^{log_stride} bytes, pages of 2^{log_page}");
            return Err(Refusal::new(Syndrome::BadQueueLayout, detail));
        }
        let bytes = offset + (1u64 << (log_stride + log_size));
        let needed = usize::try_from(bytes.div_ceil(1 << log_page)).unwrap_or(usize::MAX);
        let pages: Vec<u64> =
            pages.chunks_exact(PAGE.width / 8).take(needed).map(|page| PAGE.get(page)).collect();
        if pages.len() < needed {
            let detail = format!("{} pages of 2^{log_page} bytes, {needed} are needed", pages.len());
            return Err(Refusal::new(Syndrome::BadQueueLayout, detail));
        }
        Ok(Self { pages, log_page, offset, log_stride, log_size })
    }

    /// The ring that a `wq` describes, whose page list follows.
    pub(super) fn of_wq(bytes: &[u8]) -> Result<Self, Refusal> {
        let small = |field: Field| u32::try_from(field.get(bytes)).unwrap_or(u32::MAX);
        if wq::WQ_UMEM_VALID.get(bytes) != 0 || wq::DBR_UMEM_VALID.get(bytes) != 0 {
            return Err(Refusal::new(Syndrome::BadQueueLayout, "queues in a umem are not modelled"));
        }
        Self::new(
            bytes.get(wq::SIZE..).unwrap_or(&[]),
            12 + small(wq::LOG_WQ_PG_SZ),
            wq::PAGE_OFFSET.get(bytes) * 64,
            small(wq::LOG_WQ_STRIDE),
            small(wq::LOG_WQ_SZ),
        )
    }

    /// Bytes of an entry.
    pub(super) fn stride(&self) -> usize {
        1 << self.log_stride
    }

    /// Number of entries, as a power of two.
    pub(super) fn log_size(&self) -> u32 {
        self.log_size
    }

    /// Guest physical address of the byte `within` entry `index`, and how many bytes follow it in its page.
    fn locate(&self, index: u64, within: u64) -> Option<(u64, u64)> {
        let slot = index & ((1 << self.log_size) - 1);
        let at = self.offset + (slot << self.log_stride) + within;
        let page = self.pages.get(usize::try_from(at >> self.log_page).ok()?)?;
        let offset = at & ((1 << self.log_page) - 1);
        Some((page.checked_add(offset)?, (1 << self.log_page) - offset))
    }

    fn each(
        &self,
        index: u64,
        within: usize,
        length: usize,
        mut access: impl FnMut(u64, std::ops::Range<usize>) -> Result<(), DmaError>,
    ) -> Result<(), DmaError> {
        let mut done = 0;
        while done < length {
            let (address, room) = self
                .locate(index, (within + done) as u64)
                .ok_or(DmaError { address: 0, length: length - done })?;
            let piece = (length - done).min(usize::try_from(room).unwrap_or(usize::MAX));
            access(address, done..done + piece)?;
            done += piece;
        }
        Ok(())
    }

    /// Reads from the beginning of entry `index`.
    pub(super) fn read(&self, memory: &Memory, index: u64, buffer: &mut [u8]) -> Result<(), DmaError> {
        self.each(index, 0, buffer.len(), |address, range| memory.read(address, &mut buffer[range]))
    }

    /// Writes `bytes` at `within` in entry `index`.
    pub(super) fn write(
        &self,
        memory: &Memory,
        index: u64,
        within: usize,
        bytes: &[u8],
    ) -> Result<(), DmaError> {
        self.each(index, within, bytes.len(), |address, range| memory.write(address, &bytes[range]))
    }
}

/// Which half of a doorbell record counts: receive queues and consumers use the first, senders the second.
#[derive(Clone, Copy, Debug)]
pub(super) enum Half {
    First,
    Second,
}

/// Reads a counter of the doorbell record at `address`.
pub(super) fn doorbell_record(memory: &Memory, address: u64, half: Half) -> Result<u32, DmaError> {
    let offset = match half {
        Half::First => 0,
        Half::Second => 4,
    };
    let mut bytes = [0; 4];
    memory.read(address.wrapping_add(offset), &mut bytes)?;
    Ok(u32::from_be_bytes(bytes))
}
