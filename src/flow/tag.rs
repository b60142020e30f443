//! The mark of a packet.

use core::fmt;

use super::Invalid;
use crate::Error;

/// A mark that an entry or flow puts on a packet, 24 bits.
///
/// A receive queue finds it in the completion of the packet. Of the kernel's own queues, its lower 16 bits are seen by
/// sockets as the packet's mark (`SO_RCVMARK`).
#[doc(alias("flow_tag", "MLX5_IB_ATTR_CREATE_FLOW_TAG"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowTag(u32);

impl FlowTag {
    /// The greatest tag.
    pub const MAX: Self = Self(0xff_ffff);

    /// The tag `number`.
    ///
    /// # Errors
    /// If it has more than 24 bits.
    pub const fn new(number: u32) -> Result<Self, Invalid> {
        if number <= Self::MAX.0 {
            Ok(Self(number))
        } else {
            Err(Invalid::TooGreat { what: "flow tag", value: number as u64, maximum: Self::MAX.0 as u64 })
        }
    }

    /// The tag as a number.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl TryFrom<u32> for FlowTag {
    type Error = Error;

    fn try_from(number: u32) -> Result<Self, Error> {
        Ok(Self::new(number)?)
    }
}

impl fmt::Display for FlowTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}
