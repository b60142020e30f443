//! The BAR: the initialization segment and the doorbell pages.

use std::time::Instant;

use crate::command::queue::{LOG_SLOTS, LOG_STRIDE};
use crate::pci::BAR0_SIZE;

const FIRMWARE_REVISION: u64 = 0x0000;
const COMMAND_INTERFACE: u64 = 0x0004;
const QUEUE_HIGH: u64 = 0x0010;
const QUEUE_LOW: u64 = 0x0014;
const DOORBELL: u64 = 0x0018;
const TIMER_HIGH: u64 = 0x1000;
const TIMER_LOW: u64 = 0x1004;
const HEALTH: u64 = 0x1010;

/// Doorbell pages begin behind the initialization segment and the MSI-X tables.
const FIRST_UAR: u64 = 0x10000;
const UAR_PAGE: u64 = 0x1000;
/// The last page of the BAR, by its number.
#[expect(clippy::cast_possible_truncation, reason = "the number of a page of 32 MiB")]
pub const LAST_UAR: u32 = (BAR0_SIZE / UAR_PAGE - 1) as u32;
const CQ_DOORBELL: u64 = 0x20;
const SQ_DOORBELLS: u64 = 0x800;

/// Firmware version of the card: major, minor, sub-minor.
pub const FIRMWARE: (u16, u16, u16) = (22, 35, 1000);
/// The only command interface the driver speaks.
const INTERFACE_REVISION: u32 = 5;

/// What a write to the BAR means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doorbell {
    /// Commands in these slots of the queue are to be executed.
    Commands(u32),
    /// A completion queue is armed: the two big-endian words.
    CompletionQueue([u8; 8]),
    /// A send queue has work: the head of its last work request.
    SendQueue([u8; 8]),
}

/// The registers of the initialization segment.
#[derive(Debug)]
pub struct Bar {
    queue: u64,
    born: Instant,
}

impl Bar {
    /// As after power-on.
    #[must_use]
    pub fn new() -> Self {
        Self { queue: 0, born: Instant::now() }
    }

    /// Where the command queue lies in the guest's memory.
    #[must_use]
    pub const fn queue(&self) -> u64 {
        self.queue & !0xfff
    }

    /// Nanoseconds since power-on.
    #[must_use]
    pub fn now(&self) -> u64 {
        u64::try_from(self.born.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Forgets the command queue.
    pub const fn reset(&mut self) {
        self.queue = 0;
    }

    /// Reads the segment, whose registers are big-endian words of 4 bytes.
    pub fn read(&self, offset: u64, buffer: &mut [u8]) {
        for (index, byte) in buffer.iter_mut().enumerate() {
            let at = offset.wrapping_add(index as u64);
            *byte = self.register(at & !3).to_be_bytes()[(at & 3) as usize];
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "halves of a 64-bit register")]
    fn register(&self, offset: u64) -> u32 {
        match offset {
            FIRMWARE_REVISION => u32::from(FIRMWARE.1) << 16 | u32::from(FIRMWARE.0),
            COMMAND_INTERFACE => INTERFACE_REVISION << 16 | u32::from(FIRMWARE.2),
            QUEUE_HIGH => (self.queue >> 32) as u32,
            QUEUE_LOW => self.queue() as u32 | LOG_SLOTS << 4 | LOG_STRIDE,
            TIMER_HIGH => (self.now() >> 32) as u32,
            TIMER_LOW => self.now() as u32,
            // The driver looks every 2 seconds whether this has moved.
            HEALTH => (self.now() / 100_000_000) as u32,
            _ => 0,
        }
    }

    /// Writes a register or rings a doorbell.
    pub fn write(&mut self, offset: u64, bytes: &[u8]) -> Option<Doorbell> {
        if let Ok(word) = bytes.try_into().map(u32::from_be_bytes) {
            match offset {
                QUEUE_HIGH => self.queue = self.queue & 0xffff_ffff | u64::from(word) << 32,
                QUEUE_LOW => self.queue = self.queue & !0xffff_ffff | u64::from(word),
                DOORBELL => return Some(Doorbell::Commands(word)),
                _ => {}
            }
            return None;
        }
        let words = <[u8; 8]>::try_from(bytes).ok()?;
        match offset % UAR_PAGE {
            _ if offset < FIRST_UAR => None,
            CQ_DOORBELL => Some(Doorbell::CompletionQueue(words)),
            SQ_DOORBELLS.. => Some(Doorbell::SendQueue(words)),
            _ => None,
        }
    }
}

impl Default for Bar {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::{Bar, Doorbell};

    #[test]
    fn the_command_queue_is_set_in_halves_and_its_size_is_told_below() {
        let mut bar = Bar::new();
        assert_eq!(bar.write(0x10, &[0, 0, 0, 1]), None);
        assert_eq!(bar.write(0x14, &[0x23, 0x45, 0x60, 0]), None);
        assert_eq!(bar.queue(), 0x1_2345_6000);
        let mut low = [0; 4];
        bar.read(0x14, &mut low);
        assert_eq!(low, [0x23, 0x45, 0x60, 0x56]);
        assert_eq!(bar.write(0x18, &[0, 0, 0, 5]), Some(Doorbell::Commands(5)));
    }

    #[test]
    fn doorbells_lie_in_the_pages_behind_the_segment() {
        let mut bar = Bar::new();
        let words = [1, 2, 3, 4, 5, 6, 7, 8];
        assert_eq!(bar.write(0x10020, &words), Some(Doorbell::CompletionQueue(words)));
        assert_eq!(bar.write(0x10900, &words), Some(Doorbell::SendQueue(words)));
        assert_eq!(bar.write(0x0020, &words), None);
        assert_eq!(bar.write(0x10024, &words[..3]), None);
    }
}
