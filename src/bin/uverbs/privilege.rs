//! What this process may do.

use std::fs;

/// The bit of `CAP_NET_RAW` in the kernel's sets of capabilities.
const CAP_NET_RAW: u32 = 13;

/// Whether this process has `CAP_NET_RAW` in effect; `None` if `/proc` does not tell.
///
/// Having it in a user namespace of one's own may not be enough: that is for the kernel to say.
pub(crate) fn has_net_raw() -> Option<bool> {
    net_raw_in(&fs::read_to_string("/proc/self/status").ok()?)
}

fn net_raw_in(status: &str) -> Option<bool> {
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"))?;
    let effective = u64::from_str_radix(effective.trim(), 16).ok()?;
    Some(effective >> CAP_NET_RAW & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::net_raw_in;

    #[test]
    fn reads_the_effective_set() {
        for (status, expected) in [
            ("Name:\tuverbs\nCapPrm:\t0000000000000000\nCapEff:\t000001ffffffffff\n", Some(true)),
            ("CapPrm:\t000001ffffffffff\nCapEff:\t0000000000000000\n", Some(false)),
            ("CapEff:\t0000000000002000\n", Some(true)),
            ("CapEff:\tnothing\n", None),
            ("Name:\tuverbs\n", None),
        ] {
            assert_eq!(net_raw_in(status), expected, "{status}");
        }
    }
}
