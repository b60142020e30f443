//! A value and the bits of it that count.

use std::net::{Ipv4Addr, Ipv6Addr};

/// A value, and which of its bits have to match.
///
/// Every plain value is one of which all bits count: where a `impl Into<Masked<u16>>` is asked for, `5000` will do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Masked<T> {
    value: T,
    /// `None`: all bits of the field, however wide it is.
    mask: Option<T>,
}

impl<T> Masked<T> {
    /// Only the bits that are set in `mask` count. Bits of `value` outside it are a
    /// [`Contradiction`](super::Contradiction) when the match is built.
    #[must_use]
    pub const fn new(value: T, mask: T) -> Self {
        Self { value, mask: Some(mask) }
    }

    /// All bits count.
    #[must_use]
    pub const fn exactly(value: T) -> Self {
        Self { value, mask: None }
    }

    pub(super) fn map<U>(self, mut convert: impl FnMut(T) -> U) -> Masked<U> {
        let Self { value, mask } = self;
        Masked { value: convert(value), mask: mask.map(convert) }
    }
}

impl Masked<u64> {
    pub(super) fn parts(self, all: u64) -> (u64, u64) {
        (self.value, self.mask.unwrap_or(all))
    }
}

impl Masked<u128> {
    /// The upper and the lower `low` bits.
    #[expect(clippy::cast_possible_truncation, reason = "halves of at most 64 bits, the rest is masked away")]
    pub(super) fn split(self, low: u32) -> (Masked<u64>, Masked<u64>) {
        let below = (1u128 << low) - 1;
        (self.map(|bits| (bits >> low) as u64), self.map(|bits| (bits & below) as u64))
    }
}

impl Masked<Ipv4Addr> {
    /// The addresses of a network: only the first `length` bits of `address` count.
    ///
    /// A `length` above 32 is the address itself.
    #[must_use]
    pub const fn network(address: Ipv4Addr, length: u8) -> Self {
        let mask = match length {
            0 => 0,
            1..=31 => u32::MAX << (32 - length),
            _ => u32::MAX,
        };
        Self::new(Ipv4Addr::from_bits(address.to_bits() & mask), Ipv4Addr::from_bits(mask))
    }
}

impl Masked<Ipv6Addr> {
    /// The addresses of a network: only the first `length` bits of `address` count.
    ///
    /// A `length` above 128 is the address itself.
    #[must_use]
    pub const fn network(address: Ipv6Addr, length: u8) -> Self {
        let mask = match length {
            0 => 0,
            1..=127 => u128::MAX << (128 - length),
            _ => u128::MAX,
        };
        Self::new(Ipv6Addr::from_bits(address.to_bits() & mask), Ipv6Addr::from_bits(mask))
    }
}

impl<T> From<T> for Masked<T> {
    fn from(value: T) -> Self {
        Self::exactly(value)
    }
}
