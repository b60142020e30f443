//! Names that may become part of a path.

/// Whether `name` can be the name of an RDMA device: what the kernel takes, and nothing that leads elsewhere in a path.
pub(super) fn is_device(name: &str) -> bool {
    /// `IB_DEVICE_NAME_MAX`, which counts a NUL at the end.
    const LONGEST: usize = 63;

    let plain = |byte: u8| byte.is_ascii_graphic() && byte != b'/';
    (1..=LONGEST).contains(&name.len()) && name != "." && name != ".." && name.bytes().all(plain)
}

/// Whether `name` is that of a uverbs character device: `uverbs0`.
pub(super) fn is_uverbs(name: &str) -> bool {
    uverbs_number(name).is_some()
}

/// The number in `uverbs7`.
pub(super) fn uverbs_number(name: &str) -> Option<u32> {
    let digits = name.strip_prefix("uverbs")?;
    if digits.bytes().all(|byte| byte.is_ascii_digit()) { digits.parse().ok() } else { None }
}

/// Whether `name` is a PCI address: `0000:00:04.0`.
pub(super) fn is_pci_address(name: &str) -> bool {
    let hexadecimal =
        |text: &str, digits| text.len() >= digits && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let mut parts = name.split([':', '.']);
    let mut next = |digits| parts.next().is_some_and(|part| hexadecimal(part, digits));
    next(4) && next(2) && next(2) && next(1) && parts.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_nowhere_else() {
        for name in ["mlx5_0", "rxe0", "rocep0s4", "a.b", "..."] {
            assert!(is_device(name), "{name:?}");
        }
        for name in ["", ".", "..", "a/b", "/", "mlx5_0\0", "mlx5 0", "mlx5_0\n", "é", &"x".repeat(64)] {
            assert!(!is_device(name), "{name:?}");
        }
        for (name, number) in
            [("uverbs0", Some(0)), ("uverbs31", Some(31)), ("uverbs", None), ("uverbs+1", None)]
        {
            assert_eq!(uverbs_number(name), number, "{name:?}");
        }
        for name in ["uverbs", "uverbs1x", "umad0", "../uverbs0", "uverbs99999999999"] {
            assert!(!is_uverbs(name), "{name:?}");
        }
        assert!(is_pci_address("0000:00:04.0") && is_pci_address("10000:e1:00.7"));
        for name in ["mlx5_core.rdma.0", "0000:00:04", "virtual", "0000:00:04.0.1", ""] {
            assert!(!is_pci_address(name), "{name:?}");
        }
    }
}
