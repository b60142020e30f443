//! A priority of the kernel's flow tables.

use core::{fmt, str::FromStr};

use crate::{Error, Result};

/// A priority of the kernel's flow tables: 0, which packets meet first, to 15.
///
/// This type is the only way to give one. The kernel indexes an array with an anchor's priority and does not check it
/// (6.1, 6.12 and 7.3 alike): a greater one was seen to crash it.
#[doc(alias = "MLX5_IB_ATTR_STEERING_ANCHOR_PRIORITY")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Priority(u16);

impl Priority {
    /// The greatest, met last.
    pub const MAX: Self = Self(15);

    /// The priority `value`.
    ///
    /// # Errors
    /// [`Error::PriorityOutOfRange`] if it is greater than 15.
    pub const fn new(value: u16) -> Result<Self> {
        if value > Self::MAX.0 { Err(Error::PriorityOutOfRange { value }) } else { Ok(Self(value)) }
    }

    /// The priority as a number.
    #[must_use]
    pub const fn get(self) -> u16 {
        self.0
    }
}

impl TryFrom<u16> for Priority {
    type Error = Error;

    fn try_from(value: u16) -> Result<Self> {
        Self::new(value)
    }
}

impl FromStr for Priority {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let value = text
            .parse()
            .map_err(|_| Error::Unreadable { what: "priority", expected: "a number in 0..=15" })?;
        Self::new(value)
    }
}

impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::Priority;

    #[test]
    fn only_0_to_15_are_priorities() {
        for value in 0..=u16::MAX {
            assert_eq!(Priority::new(value).is_ok(), value <= 15, "{value}");
        }
        for (text, ok) in
            [("0", true), ("15", true), ("16", false), ("65536", false), ("-1", false), ("", false)]
        {
            assert_eq!(text.parse::<Priority>().is_ok(), ok, "{text:?}");
        }
        let error = Priority::new(16).unwrap_err().to_string();
        assert!(error.contains("16") && error.contains("0..=15"), "{error}");
    }
}
