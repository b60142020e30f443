//! What the firmware says when it refuses a command.

use core::fmt;

use thiserror::Error;
use uverbs_uapi::prm::{self, command_out};

/// The first byte of a command's answer: why the firmware refused it.
///
/// C: `MLX5_CMD_STAT_*` (`include/linux/mlx5/device.h`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Status(u8);

macro_rules! statuses {
    ($($(#[$doc:meta])* $name:ident = $value:literal, $words:literal;)*) => {
        impl Status {
            $($(#[$doc])* pub const $name: Self = Self($value);)*

            /// What the status means, in a few words; `None` for one this crate does not know.
            #[must_use]
            pub const fn words(self) -> Option<&'static str> {
                match self.0 {
                    $($value => Some($words),)*
                    _ => None,
                }
            }
        }
    };
}

statuses! {
    /// Done.
    #[doc(alias = "MLX5_CMD_STAT_OK")]
    OK = 0x00, "done";
    /// Something is wrong inside the firmware.
    #[doc(alias = "MLX5_CMD_STAT_INT_ERR")]
    INTERNAL_ERROR = 0x01, "internal error of the firmware";
    /// The firmware does not know this command, or this variant of it.
    #[doc(alias = "MLX5_CMD_STAT_BAD_OP_ERR")]
    BAD_OPERATION = 0x02, "the firmware does not support this command";
    /// A field has a value that is not allowed, or not in this combination; the syndrome tells which.
    #[doc(alias = "MLX5_CMD_STAT_BAD_PARAM_ERR")]
    BAD_PARAMETER = 0x03, "a field has a value that is not allowed";
    /// The function is not in a state for this command.
    #[doc(alias = "MLX5_CMD_STAT_BAD_SYS_STATE_ERR")]
    BAD_SYSTEM_STATE = 0x04, "the function is not in a state for this";
    /// An object named in the command does not exist, or belongs to somebody else.
    #[doc(alias = "MLX5_CMD_STAT_BAD_RES_ERR")]
    BAD_RESOURCE = 0x05, "an object it names does not exist or is not ours to use";
    /// The object is in use.
    #[doc(alias = "MLX5_CMD_STAT_RES_BUSY")]
    RESOURCE_BUSY = 0x06, "the object is in use";
    /// Not yet: try again.
    #[doc(alias = "MLX5_CMD_STAT_NOT_READY")]
    NOT_READY = 0x07, "not ready yet";
    /// A limit of the card or of the function is reached.
    #[doc(alias = "MLX5_CMD_STAT_LIM_ERR")]
    LIMIT = 0x08, "a limit of the card or function is reached";
    /// The object is not in a state for this command.
    #[doc(alias = "MLX5_CMD_STAT_BAD_RES_STATE_ERR")]
    BAD_RESOURCE_STATE = 0x09, "the object is not in a state for this";
    /// An index is out of range or taken.
    #[doc(alias = "MLX5_CMD_STAT_IX_ERR")]
    BAD_INDEX = 0x0a, "an index is out of range or taken";
    /// The card has nothing left to make it of.
    #[doc(alias = "MLX5_CMD_STAT_NO_RES_ERR")]
    NO_RESOURCES = 0x0f, "the card has no resources left";
    /// The queue pair is not in a state for this command.
    #[doc(alias = "MLX5_CMD_STAT_BAD_QP_STATE_ERR")]
    BAD_QP_STATE = 0x10, "the queue pair is not in a state for this";
    /// A management packet was malformed.
    #[doc(alias = "MLX5_CMD_STAT_BAD_PKT_ERR")]
    BAD_PACKET = 0x30, "a malformed packet";
    /// More completions are outstanding than the new size holds.
    #[doc(alias = "MLX5_CMD_STAT_BAD_SIZE_OUTS_CQES_ERR")]
    BAD_SIZE = 0x40, "more completions outstanding than the new size holds";
    /// The command is shorter or longer than the firmware expects.
    #[doc(alias = "MLX5_CMD_STAT_BAD_INP_LEN_ERR")]
    BAD_INPUT_LENGTH = 0x50, "the command has not the length the firmware expects";
    /// There is no room for the answer.
    #[doc(alias = "MLX5_CMD_STAT_BAD_OUTP_LEN_ERR")]
    BAD_OUTPUT_LENGTH = 0x51, "the answer does not fit the room given for it";
}

impl Status {
    /// The status as a number.
    #[must_use]
    pub const fn get(self) -> u8 {
        self.0
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (status {:#x})", self.words().unwrap_or("unknown"), self.0)
    }
}

/// The firmware refused a command.
///
/// Kernels before about 5.18 keep status and syndrome to themselves and turn the status into an errno.
#[doc(alias = "mlx5dv_devx_general_cmd")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the firmware refused {}: {status}, syndrome {syndrome:#x}", Opcode(*.opcode))]
#[non_exhaustive]
pub struct Refused {
    /// The command: `MLX5_CMD_OP_*`.
    pub opcode: u16,
    /// Why.
    pub status: Status,
    /// Why, precisely: a number that the card's vendor can look up.
    pub syndrome: u32,
}

impl Refused {
    /// Reads the beginning of an answer: `None` if the command was not refused.
    pub(super) fn read(opcode: u16, outbox: &[u8]) -> Option<Self> {
        let status = Status(*outbox.first()?);
        #[expect(clippy::cast_possible_truncation, reason = "a field of 32 bits")]
        let syndrome = command_out::SYNDROME.get(outbox) as u32;
        (status != Status::OK).then_some(Self { opcode, status, syndrome })
    }
}

/// A command's name, or its number if it has none here.
struct Opcode(u16);

impl fmt::Display for Opcode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match prm::opcode_name(self.0) {
            Some(name) => f.write_str(name),
            None => write!(f, "command {:#x}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Refused, Status};

    #[test]
    fn status_and_syndrome_are_read_from_the_answer() {
        let outbox = [0x03, 0, 0, 0, 0xde, 0xad, 0xbe, 0xef, 0, 0, 0, 0, 0, 0, 0, 0];
        let refused = Refused::read(0x930, &outbox).expect("status 3 is a refusal");
        assert_eq!(
            (refused.opcode, refused.status, refused.syndrome),
            (0x930, Status::BAD_PARAMETER, 0xdead_beef)
        );
        assert_eq!(
            refused.to_string(),
            "the firmware refused CREATE_FLOW_TABLE: a field has a value that is not allowed (status 0x3), \
             syndrome 0xdeadbeef"
        );
    }

    #[test]
    fn an_answer_with_status_0_is_no_refusal_whatever_follows() {
        let mut outbox = [0xff; 16];
        outbox[0] = 0;
        assert_eq!(Refused::read(0x930, &outbox), None);
        assert_eq!(Refused::read(0x930, &[]), None);
    }

    #[test]
    fn an_unknown_status_and_command_are_named_by_number() {
        let refused = Refused::read(0xffff, &[0xee, 0, 0, 0]).expect("status 0xee is a refusal");
        assert_eq!(
            refused.to_string(),
            "the firmware refused command 0xffff: unknown (status 0xee), syndrome 0x0"
        );
    }
}
