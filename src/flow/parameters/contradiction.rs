//! Why a match cannot be.

use thiserror::Error;

/// What was asked of a packet that no packet can be, or that no field can hold.
///
/// Found when the match is built; nothing has been sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Contradiction {
    /// The value or the mask has more bits than the field.
    #[error("{field}: {value:#x} does not fit; the field holds at most {maximum:#x}")]
    Wide {
        /// The field.
        field: &'static str,
        /// What was given.
        value: u64,
        /// The greatest value.
        maximum: u64,
    },
    /// The value has bits where the mask has none, so nothing could ever match.
    #[error("{field}: the value {value:#x} has bits outside its mask {mask:#x}")]
    OutsideMask {
        /// The field.
        field: &'static str,
        /// The value given.
        value: u64,
        /// The mask given.
        mask: u64,
    },
    /// The field has to be two things at once: what was asked before, or followed from it, says otherwise.
    #[error("{field}: cannot be {earlier:#x} and {later:#x} at once")]
    Both {
        /// The field.
        field: &'static str,
        /// What was wanted first.
        earlier: u64,
        /// What is wanted now.
        later: u64,
    },
    /// Two parts of a packet that exclude each other.
    #[error("a packet with {first} has no {second}")]
    Exclusive {
        /// The one.
        first: &'static str,
        /// The other.
        second: &'static str,
    },
    /// The field is wider than 64 bits, or ends behind the match parameters.
    #[error("{field}: not a field of at most 64 bits within the match parameters")]
    Elsewhere {
        /// The field.
        field: &'static str,
    },
    /// Headers disagree with what was asked of the same headers before, or follows from the tunnel.
    #[error("the {which} headers disagree with what was asked of them before")]
    Headers {
        /// `outer` or `inner`.
        which: &'static str,
    },
}
