//! A command to the firmware as bytes.

use thiserror::Error;
use uverbs_uapi::prm::{self, Field, command_in};

/// A command to the firmware, `N` bytes on the stack, zero but for what is set.
///
/// `N` is the size of the whole structure in the manual, `prm::*_in::SIZE`: the kernel reads fields of a command
/// without looking at its length, so shorter ones than the structure are refused before they get there.
///
/// ```
/// use uverbs::devx::Inbox;
/// use uverbs_uapi::prm::{MLX5_CMD_OP_QUERY_FLOW_TABLE, query_flow_table_in};
///
/// let mut inbox = Inbox::<{ query_flow_table_in::SIZE }>::new(MLX5_CMD_OP_QUERY_FLOW_TABLE);
/// inbox.set(query_flow_table_in::TABLE_ID, 0x2a);
/// assert_eq!(inbox.as_ref()[..2], [0x09, 0x32]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inbox<const N: usize> {
    bytes: [u8; N],
}

impl<const N: usize> Inbox<N> {
    /// The command `opcode`, `MLX5_CMD_OP_*`.
    #[must_use]
    pub fn new(opcode: u16) -> Self {
        const { assert!(N >= command_in::SIZE, "every command has 16 bytes") };
        let mut inbox = Self { bytes: [0; N] };
        inbox.set(command_in::OPCODE, opcode.into());
        inbox
    }

    /// Chooses the variant of the command, `op_mod`.
    #[must_use]
    pub fn variant(mut self, op_mod: u16) -> Self {
        self.set(command_in::OP_MOD, op_mod.into());
        self
    }

    /// Sets a field of at most 64 bits.
    ///
    /// # Panics
    /// If the value does not fit the field, or the field does not lie in the command.
    #[inline]
    pub fn set(&mut self, field: Field, value: u64) {
        field.set(&mut self.bytes, value);
    }

    /// Writes bytes, from byte `at` on.
    ///
    /// # Panics
    /// If they do not fit the command.
    #[inline]
    pub fn fill_from(&mut self, at: usize, bytes: &[u8]) {
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
    }
}

impl<const N: usize> AsRef<[u8]> for Inbox<N> {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// The command is shorter than its structure, of which the kernel would read more than it was given. It was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a firmware command of {length} bytes is too short: it has at least {smallest}")]
#[non_exhaustive]
pub struct ShortInbox {
    /// Length of the command in bytes.
    pub length: usize,
    /// The least it could have.
    pub smallest: usize,
}

/// The command that an inbox of at least 16 bytes holds.
pub(super) fn opcode(inbox: &[u8]) -> u16 {
    u16::from_be_bytes([inbox[0], inbox[1]])
}

/// How many bytes a command has to have at least, by its first bytes.
///
/// The structure's size where it is known here; else the 16 bytes that the kernel asks for, or as many as it reads.
pub(super) fn smallest(inbox: &[u8]) -> usize {
    if inbox.len() < command_in::SIZE {
        return command_in::SIZE;
    }
    match opcode(inbox) {
        prm::MLX5_CMD_OP_CREATE_FLOW_TABLE => prm::create_flow_table_in::SIZE,
        prm::MLX5_CMD_OP_QUERY_FLOW_TABLE => prm::query_flow_table_in::SIZE,
        prm::MLX5_CMD_OP_MODIFY_FLOW_TABLE => prm::modify_flow_table_in::SIZE,
        prm::MLX5_CMD_OP_CREATE_FLOW_GROUP => prm::create_flow_group_in::SIZE,
        prm::MLX5_CMD_OP_QUERY_FLOW_GROUP => prm::query_flow_group_in::SIZE,
        prm::MLX5_CMD_OP_SET_FLOW_TABLE_ENTRY => prm::set_fte_in::SIZE,
        prm::MLX5_CMD_OP_QUERY_FLOW_TABLE_ENTRY => prm::query_fte_in::SIZE,
        prm::MLX5_CMD_OP_QUERY_FLOW_COUNTER => prm::query_flow_counter_in::SIZE,
        prm::MLX5_CMD_OP_CREATE_MKEY | prm::MLX5_CMD_OP_CREATE_CQ | prm::MLX5_CMD_OP_CREATE_QP => 272,
        prm::MLX5_CMD_OP_CREATE_SCHEDULING_ELEMENT | prm::MLX5_CMD_OP_SET_L2_TABLE_ENTRY => 64,
        prm::MLX5_CMD_OP_ATTACH_TO_MCG => 32,
        _ => command_in::SIZE,
    }
}
