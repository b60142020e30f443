//! The running kernel's release.

use core::{fmt, str::FromStr};

use crate::Error;

/// A release of Linux, as far as it matters here: `6.12`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KernelRelease {
    /// The first number.
    pub major: u32,
    /// The second number.
    pub minor: u32,
}

impl KernelRelease {
    /// The release `major.minor`.
    #[must_use]
    pub const fn new(major: u32, minor: u32) -> Self {
        Self { major, minor }
    }

    /// The release that is running (`uname`). One that cannot be read counts as 0.0: older than everything.
    #[must_use]
    pub fn running() -> Self {
        let name = rustix::system::uname();
        name.release().to_str().ok().and_then(|release| release.parse().ok()).unwrap_or(Self::new(0, 0))
    }
}

impl FromStr for KernelRelease {
    type Err = Error;

    /// Reads `6.12`, and what distributions make of it: `6.12.57+deb13-amd64`.
    fn from_str(text: &str) -> Result<Self, Error> {
        let mut numbers = text.split(|c: char| !c.is_ascii_digit()).map_while(|part| part.parse().ok());
        match (numbers.next(), numbers.next()) {
            (Some(major), Some(minor)) => Ok(Self { major, minor }),
            _ => Err(Error::Unreadable { what: "kernel release", expected: "two numbers, such as 6.12" }),
        }
    }
}

impl fmt::Display for KernelRelease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

#[cfg(test)]
mod tests {
    use super::KernelRelease;

    #[test]
    fn releases_are_read_and_ordered() {
        for (text, major, minor) in [
            ("6.12", 6, 12),
            ("6.1.0-49-amd64", 6, 1),
            ("5.10.0-36-cloud-amd64", 5, 10),
            ("6.12.117+deb13-amd64", 6, 12),
            ("7.3-rc1", 7, 3),
        ] {
            assert_eq!(text.parse::<KernelRelease>().unwrap(), KernelRelease::new(major, minor), "{text}");
        }
        for text in ["", "6", "linux-6.1", "six.one"] {
            assert!(text.parse::<KernelRelease>().is_err(), "{text}");
        }
        assert!(KernelRelease::new(5, 10) < KernelRelease::new(6, 0));
        assert!(KernelRelease::new(6, 4) < KernelRelease::new(6, 12));
        assert_eq!(KernelRelease::new(6, 4).to_string(), "6.4");
        assert!(KernelRelease::running() > KernelRelease::new(2, 6));
    }
}
