//! The command queue in the guest's memory: entries, mailboxes, doorbells.

use crate::memory::{DmaError, Memory};

/// Slots of the queue, as a power of two.
pub const LOG_SLOTS: u32 = 5;
/// Bytes of an entry, as a power of two.
pub const LOG_STRIDE: u32 = 6;

const ENTRY: usize = 1 << LOG_STRIDE;
const INPUT_LENGTH: usize = 4;
const INPUT_MAILBOX: usize = 8;
const INLINE_INPUT: usize = 16;
const INLINE_OUTPUT: usize = 32;
const OUTPUT_MAILBOX: usize = 48;
const OUTPUT_LENGTH: usize = 56;
const TOKEN: usize = 60;
const INLINE: usize = 16;

/// A mailbox block: data, then at [`NEXT`] the address of the next.
const BLOCK: usize = 576;
const DATA: usize = 512;
const NEXT: usize = 560;

/// The longest command or answer: more than any of the driver's, and a bound on what a bad length can cost.
const LONGEST: usize = 1 << 20;

/// A command that was read from its slot.
#[derive(Debug)]
pub struct Entry {
    address: u64,
    token: u8,
    output_mailbox: u64,
    /// The whole input.
    pub input: Vec<u8>,
    /// How long an answer the guest has room for.
    pub output_length: usize,
}

impl Entry {
    /// Reads the command in `slot` of the queue at `queue`.
    ///
    /// # Errors
    /// If an address in it is not memory.
    pub fn read(memory: &Memory, queue: u64, slot: u32) -> Result<Self, DmaError> {
        let address = queue.wrapping_add(u64::from(slot) << LOG_STRIDE);
        let mut entry = [0; ENTRY];
        memory.read(address, &mut entry)?;
        let length = (be32(&entry, INPUT_LENGTH) as usize).min(LONGEST);
        let mut input = entry[INLINE_INPUT..INLINE_INPUT + INLINE].to_vec();
        let mut next = be64(&entry, INPUT_MAILBOX);
        while input.len() < length {
            let mut block = [0; BLOCK];
            memory.read(next, &mut block)?;
            input.extend_from_slice(&block[..DATA]);
            next = be64(&block, NEXT);
        }
        input.truncate(length);
        Ok(Self {
            address,
            token: entry[TOKEN],
            output_mailbox: be64(&entry, OUTPUT_MAILBOX),
            input,
            output_length: (be32(&entry, OUTPUT_LENGTH) as usize).min(LONGEST),
        })
    }

    /// Writes the answer and gives the slot back to the driver.
    ///
    /// # Errors
    /// If an address is not memory.
    pub fn answer(&self, memory: &Memory, output: &[u8]) -> Result<(), DmaError> {
        let mut inline = [0; INLINE];
        let head = output.len().min(INLINE);
        inline[..head].copy_from_slice(&output[..head]);
        let mut next = self.output_mailbox;
        for data in output[head..].chunks(DATA) {
            memory.write(next, data)?;
            let mut address = [0; 8];
            memory.read(next.wrapping_add(NEXT as u64), &mut address)?;
            next = u64::from_be_bytes(address);
        }
        memory.write(self.address.wrapping_add(INLINE_OUTPUT as u64), &inline)?;
        // The last byte holds the owner: written last, with the token kept.
        memory.write(self.address.wrapping_add(TOKEN as u64), &[self.token, 0, 0, 0])
    }
}

fn be32(bytes: &[u8], at: usize) -> u32 {
    bytes[at..at + 4].iter().fold(0, |value, &byte| value << 8 | u32::from(byte))
}

fn be64(bytes: &[u8], at: usize) -> u64 {
    bytes[at..at + 8].iter().fold(0, |value, &byte| value << 8 | u64::from(byte))
}
