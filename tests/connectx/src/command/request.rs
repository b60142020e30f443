//! A command as the guest gave it, and the answer that is being written.

use uverbs_uapi::prm::{Field, command_in, command_out, opcode_name};

use super::refusal::Refusal;

/// What a handler answers: words for the trace, or why not.
pub type Answer = Result<String, Refusal>;

/// A command.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Which command.
    pub opcode: u16,
    /// On whose behalf: 0 the kernel, else a user context or `0xffff`.
    pub uid: u16,
    /// Which form of it.
    pub op_mod: u16,
    /// All bytes, header included.
    pub input: &'a [u8],
}

impl<'a> Request<'a> {
    /// Reads the header of a command.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "fields of 16 bits")]
    pub fn parse(input: &'a [u8]) -> Self {
        let get = |field: Field| field.get(input) as u16;
        let (opcode, uid, op_mod) = (command_in::OPCODE, command_in::UID, command_in::OP_MOD);
        Self { opcode: get(opcode), uid: get(uid), op_mod: get(op_mod), input }
    }

    /// A field; what lies behind the end of the input is 0.
    #[must_use]
    pub fn get(&self, field: Field) -> u64 {
        field.get(self.input)
    }

    /// A field of at most 32 bits.
    #[must_use]
    pub fn get32(&self, field: Field) -> u32 {
        debug_assert!(field.width <= 32);
        u32::try_from(field.get(self.input)).unwrap_or(u32::MAX)
    }

    /// The command's name.
    #[must_use]
    pub fn name(&self) -> String {
        opcode_name(self.opcode).map_or_else(|| format!("{:#06x}", self.opcode), str::to_owned)
    }
}

/// An answer that is being written into the room that the guest left for it.
#[derive(Debug)]
pub struct Reply<'a> {
    bytes: &'a mut [u8],
}

impl<'a> Reply<'a> {
    /// An answer of zeros.
    #[must_use]
    pub fn new(bytes: &'a mut [u8]) -> Self {
        bytes.fill(0);
        Self { bytes }
    }

    /// Writes a field. A value that is too wide loses its upper bits, as it would in hardware; a field that the guest
    /// left no room for is not written.
    pub fn set(&mut self, field: Field, value: u64) {
        if field.offset + field.width <= self.bytes.len() * 8 {
            field.set(self.bytes, value & field.max());
        }
    }

    /// Writes bytes, as far as there is room.
    pub fn put(&mut self, at: usize, bytes: &[u8]) {
        let room = self.bytes.get_mut(at..).unwrap_or_default();
        let length = bytes.len().min(room.len());
        room[..length].copy_from_slice(&bytes[..length]);
    }

    /// All bytes.
    #[must_use]
    pub fn bytes(&mut self) -> &mut [u8] {
        self.bytes
    }

    /// Turns the answer into a refusal.
    pub fn refuse(&mut self, refusal: &Refusal) {
        self.bytes.fill(0);
        self.set(command_out::STATUS, refusal.status.into());
        self.set(command_out::SYNDROME, refusal.syndrome.code().into());
    }
}
