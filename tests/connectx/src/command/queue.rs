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
const STATUS_OWNER: usize = 63;
const INLINE: usize = 16;

/// A mailbox block: data, then at [`NEXT`] the address of the next.
const BLOCK: usize = 576;
const DATA: usize = 512;
const NEXT: usize = 560;

/// The longest command or answer: more than any of the driver's, and a bound on what a bad length can cost.
const LONGEST: usize = 1 << 20;

/// Why a command could not even be taken: the bits above the owner in the last byte of its entry.
///
/// C: `MLX5_CMD_DELIVERY_STAT_*` (`drivers/net/ethernet/mellanox/mlx5/core/cmd.c`), all of which are EIO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Undeliverable {
    /// An address in it is not memory.
    Address = 0x06,
    /// No command has such an input.
    InputLength = 0x07,
    /// No command has such an answer.
    OutputLength = 0x08,
}

/// Gives a slot back whose command could not be taken.
///
/// # Errors
/// If the queue itself is not memory: the driver will never hear of the command.
pub fn give_back(memory: &Memory, queue: u64, slot: u32, why: Undeliverable) -> Result<(), DmaError> {
    memory.write(entry(queue, slot).wrapping_add(STATUS_OWNER as u64), &[(why as u8) << 1])
}

/// Where the entry of a slot lies.
fn entry(queue: u64, slot: u32) -> u64 {
    queue.wrapping_add(u64::from(slot) << LOG_STRIDE)
}

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

impl From<DmaError> for Undeliverable {
    fn from(_: DmaError) -> Self {
        Self::Address
    }
}

impl Entry {
    /// Reads the command in `slot` of the queue at `queue`.
    ///
    /// # Errors
    /// If an address in it is not memory, or a length is none.
    pub fn read(memory: &Memory, queue: u64, slot: u32) -> Result<Self, Undeliverable> {
        let address = entry(queue, slot);
        let mut entry = [0; ENTRY];
        memory.read(address, &mut entry)?;
        let (length, output_length) =
            (be32(&entry, INPUT_LENGTH) as usize, be32(&entry, OUTPUT_LENGTH) as usize);
        if length > LONGEST {
            return Err(Undeliverable::InputLength);
        }
        if output_length > LONGEST {
            return Err(Undeliverable::OutputLength);
        }
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
            output_length,
        })
    }

    /// Writes the answer and gives the slot back to the driver.
    ///
    /// # Errors
    /// If an address is not memory.
    pub fn answer(&self, memory: &Memory, output: &[u8]) -> Result<(), Undeliverable> {
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
        memory.write(self.address.wrapping_add(TOKEN as u64), &[self.token, 0, 0, 0])?;
        Ok(())
    }
}

fn be32(bytes: &[u8], at: usize) -> u32 {
    bytes[at..at + 4].iter().fold(0, |value, &byte| value << 8 | u32::from(byte))
}

fn be64(bytes: &[u8], at: usize) -> u64 {
    bytes[at..at + 8].iter().fold(0, |value, &byte| value << 8 | u64::from(byte))
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io;
    use std::os::unix::fs::FileExt;

    use super::{BLOCK, DATA, Entry, NEXT, STATUS_OWNER, Undeliverable, give_back};
    use crate::memory::Memory;

    const QUEUE: u64 = 0x1000;
    const MAILBOX: u64 = 0x10000;

    /// A queue in 1 MiB of memory whose slot 0 holds a command of these lengths; its mailboxes lie one after the other.
    fn guest(input: u32, output: u32, mailboxes: u64) -> io::Result<(Memory, File)> {
        let file = tempfile::tempfile()?;
        file.set_len(1 << 20)?;
        let mut memory = Memory::default();
        memory.map(0, 1 << 20, 0, Some(file.try_clone()?));
        let mut entry = [0; super::ENTRY];
        entry[4..8].copy_from_slice(&input.to_be_bytes());
        entry[8..16].copy_from_slice(&MAILBOX.to_be_bytes());
        entry[16..32].fill(0xaa);
        entry[48..56].copy_from_slice(&MAILBOX.to_be_bytes());
        entry[56..60].copy_from_slice(&output.to_be_bytes());
        entry[60] = 0x77;
        entry[STATUS_OWNER] = 1;
        file.write_all_at(&entry, QUEUE)?;
        for index in 0..mailboxes {
            let at = MAILBOX + index * 0x400;
            file.write_all_at(&[index.to_le_bytes()[0].wrapping_add(1); DATA], at)?;
            file.write_all_at(&(at + 0x400).to_be_bytes(), at + NEXT as u64)?;
        }
        Ok((memory, file))
    }

    #[test]
    fn an_input_goes_on_in_mailboxes_and_so_does_the_answer() -> io::Result<()> {
        let (memory, file) = guest(16 + 700, 16 + 600, 2)?;
        let entry = Entry::read(&memory, QUEUE, 0).map_err(|why| io::Error::other(format!("{why:?}")))?;
        assert_eq!(entry.input.len(), 716);
        assert_eq!((entry.input[15], entry.input[16], entry.input[16 + DATA]), (0xaa, 1, 2));
        let answer: Vec<u8> = (0..entry.output_length).map(|at| at.to_le_bytes()[0]).collect();
        entry.answer(&memory, &answer).map_err(|why| io::Error::other(format!("{why:?}")))?;
        let mut bytes = [0; super::ENTRY + BLOCK];
        file.read_exact_at(&mut bytes[..super::ENTRY], QUEUE)?;
        assert_eq!(bytes[32..48], answer[..16]);
        assert_eq!(bytes[60..64], [0x77, 0, 0, 0]);
        file.read_exact_at(&mut bytes[..88], MAILBOX + 0x400)?;
        assert_eq!(bytes[..88], answer[16 + DATA..]);
        Ok(())
    }

    #[test]
    fn what_cannot_be_taken_goes_back_with_the_reason() -> io::Result<()> {
        for (input, output, mailboxes, why) in [
            (16 + 512 * 4096, 16, 1, Undeliverable::InputLength),
            (16, u32::MAX, 1, Undeliverable::OutputLength),
            // The chain leaves the memory.
            (1 << 20, 16, 960, Undeliverable::Address),
        ] {
            let (memory, file) = guest(input, output, mailboxes)?;
            let refused = Entry::read(&memory, QUEUE, 0).err();
            assert_eq!(refused, Some(why));
            give_back(&memory, QUEUE, 0, why).map_err(io::Error::other)?;
            let mut last = [0];
            file.read_exact_at(&mut last, QUEUE + STATUS_OWNER as u64)?;
            assert_eq!(last, [(why as u8) << 1]);
        }
        Ok(())
    }
}
