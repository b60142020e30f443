//! Globally unique ids of devices.

use core::fmt;

/// The globally unique id of a device (or of the system it is in), 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeGuid(u64);

impl NodeGuid {
    /// The id `value`.
    #[must_use]
    pub const fn new(value: u64) -> Self {
        Self(value)
    }

    /// The id as a number.
    #[must_use]
    pub const fn to_u64(self) -> u64 {
        self.0
    }

    /// Reads what sysfs says: `0c42:a103:0012:3456`.
    pub(crate) fn from_sysfs(text: &str) -> Option<Self> {
        let mut value = 0;
        let mut groups = 0;
        for group in text.split(':') {
            if group.len() != 4 {
                return None;
            }
            value = value << 16 | u64::from(u16::from_str_radix(group, 16).ok()?);
            groups += 1;
        }
        (groups == 4).then_some(Self(value))
    }
}

impl fmt::Display for NodeGuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let group = |shift: u32| self.0 >> shift & 0xffff;
        write!(f, "{:04x}:{:04x}:{:04x}:{:04x}", group(48), group(32), group(16), group(0))
    }
}

#[cfg(test)]
mod tests {
    use super::NodeGuid;

    #[test]
    fn sysfs_text_is_read_back() {
        let guid = NodeGuid::new(0x0c42_a103_0012_3456);
        assert_eq!(guid.to_string(), "0c42:a103:0012:3456");
        assert_eq!(NodeGuid::from_sysfs("0c42:a103:0012:3456"), Some(guid));
        for text in [
            "",
            "0c42:a103:0012",
            "0c42:a103:0012:3456:7890",
            "garbage",
            "0c42:a103:0012:345g",
            "c42:a103:12:34",
        ] {
            assert_eq!(NodeGuid::from_sysfs(text), None, "{text:?}");
        }
    }
}
