//! What all commands have in common: their first 16 bytes, and the status of their answers.

use super::named::named_constants;

/// The first 16 bytes of every command. Not a struct of the kernel's header, which repeats them in each `…_in`.
pub mod command_in {
    use crate::prm::Field;

    /// Size in bytes.
    pub const SIZE: usize = 16;
    /// Which command, `MLX5_CMD_OP_*`.
    pub const OPCODE: Field = Field::new(0x00, 16);
    /// Owner of the object: 0 the kernel, 0xffff shared, else a user's context. In what a user sends, the kernel sets it.
    pub const UID: Field = Field::new(0x10, 16);
    /// Which form of the command.
    pub const OP_MOD: Field = Field::new(0x30, 16);
}

/// The first 16 bytes of every answer. Not a struct of the kernel's header, which repeats them in each `…_out`.
pub mod command_out {
    use crate::prm::Field;

    /// Size in bytes.
    pub const SIZE: usize = 16;
    /// `MLX5_CMD_STAT_*`.
    pub const STATUS: Field = Field::new(0x00, 8);
    /// Why the command was refused, in a number that only the vendor knows.
    pub const SYNDROME: Field = Field::new(0x20, 32);
}

/// The uid of objects that all users may refer to.
pub const MLX5_SHARED_RESOURCE_UID: u16 = 0xffff;

named_constants! {
    /// The name of a status without `MLX5_CMD_STAT_`; `None` if the kernel has no name for it.
    status_name: u8, "MLX5_CMD_STAT_" {
        /// Done.
        MLX5_CMD_STAT_OK = 0x00,
        /// The firmware failed.
        MLX5_CMD_STAT_INT_ERR = 0x01,
        /// The command is not known, or not allowed.
        MLX5_CMD_STAT_BAD_OP_ERR = 0x02,
        /// A field has a value that is not allowed.
        MLX5_CMD_STAT_BAD_PARAM_ERR = 0x03,
        /// The device is in a state that does not allow the command.
        MLX5_CMD_STAT_BAD_SYS_STATE_ERR = 0x04,
        /// An object that the command refers to does not exist, or is not the caller's.
        MLX5_CMD_STAT_BAD_RES_ERR = 0x05,
        /// The object is in use.
        MLX5_CMD_STAT_RES_BUSY = 0x06,
        /// The device is not ready (named so since Linux 6.4).
        MLX5_CMD_STAT_NOT_READY = 0x07,
        /// A limit is exceeded.
        MLX5_CMD_STAT_LIM_ERR = 0x08,
        /// The object is in a state that does not allow the command.
        MLX5_CMD_STAT_BAD_RES_STATE_ERR = 0x09,
        /// An index is out of range.
        MLX5_CMD_STAT_IX_ERR = 0x0a,
        /// The device has no more of what the command needs.
        MLX5_CMD_STAT_NO_RES_ERR = 0x0f,
        /// The queue pair is in a state that does not allow the command.
        MLX5_CMD_STAT_BAD_QP_STATE_ERR = 0x10,
        /// The management packet is malformed.
        MLX5_CMD_STAT_BAD_PKT_ERR = 0x30,
        /// More completions are outstanding than the new size holds.
        MLX5_CMD_STAT_BAD_SIZE_OUTS_CQES_ERR = 0x40,
        /// The command is too short.
        MLX5_CMD_STAT_BAD_INP_LEN_ERR = 0x50,
        /// The room for the answer is too small.
        MLX5_CMD_STAT_BAD_OUTP_LEN_ERR = 0x51,
    }
}

#[cfg(test)]
mod tests {
    use super::status_name;

    #[test]
    fn a_status_is_named_or_unknown() {
        assert_eq!(status_name(0x03), Some("BAD_PARAM_ERR"));
        assert_eq!(status_name(0x0b), None);
    }
}
