//! The Internet checksum: what a received frame's says, and filling it in on transmit.

use super::headers::{Layer, Network, Transport, be16, protocol};

/// The one's complement sum of `bytes` as big-endian 16-bit words, not inverted; an odd last byte counts as the high
/// one.
#[must_use]
pub fn sum(bytes: &[u8]) -> u16 {
    fold(add(0, bytes))
}

fn add(start: u64, bytes: &[u8]) -> u64 {
    let mut words = bytes.chunks_exact(2);
    let total = words.by_ref().fold(start, |total, w| total + u64::from(u16::from_be_bytes([w[0], w[1]])));
    total + words.remainder().first().map_or(0, |&b| u64::from(b) << 8)
}

#[expect(clippy::cast_possible_truncation, reason = "folded until it fits")]
fn fold(mut total: u64) -> u16 {
    while total >> 16 != 0 {
        total = (total & 0xffff) + (total >> 16);
    }
    total as u16
}

/// What the card finds when it checks one layer of a received frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// The IP header is whole and its checksum right.
    pub l3: bool,
    /// The TCP or UDP checksum is right; false also where there is none to check.
    pub l4: bool,
    /// [`sum`] of the IP datagram, padding not included; 0 for other frames.
    pub sum: u16,
}

/// Checks one layer of a received frame.
#[must_use]
pub fn check(frame: &[u8], layer: &Layer) -> Checked {
    let Some(network) = layer.network else { return Checked::default() };
    let header = frame.get(network.at..network.payload.min(network.end)).unwrap_or(&[]);
    let l3 = network.complete && (network.version == 6 || sum(header) == 0xffff);
    let l4 = network.complete && transport_sum(frame, layer, &network).is_some_and(|s| s == 0xffff);
    Checked { l3, l4, sum: sum(frame.get(network.at..network.end).unwrap_or(&[])) }
}

/// The sum over pseudo header and transport, 0xffff when the checksum in it is right; nothing without TCP or UDP.
fn transport_sum(frame: &[u8], layer: &Layer, network: &Network) -> Option<u16> {
    match layer.transport? {
        Transport::Tcp(at) => pseudo_sum(frame, network, at, network.end, protocol::TCP),
        Transport::Udp(at) => {
            if network.version == 4 && be16(frame, at + 6)? == 0 {
                return Some(0xffff); // no checksum was sent
            }
            let end = at + usize::from(be16(frame, at + 4)?);
            (at + 8 <= end && end <= network.end).then_some(())?;
            pseudo_sum(frame, network, at, end, protocol::UDP)
        }
        Transport::Icmp(_) | Transport::Icmpv6(_) | Transport::Esp(_) => None,
    }
}

fn pseudo_sum(frame: &[u8], network: &Network, at: usize, end: usize, number: u8) -> Option<u16> {
    let addresses = match network.version {
        4 => frame.get(network.at + 12..network.at + 20)?,
        _ => frame.get(network.at + 8..network.at + 40)?,
    };
    let segment = frame.get(at..end)?;
    let start = u64::from(number) + segment.len() as u64;
    Some(fold(add(add(start, addresses), segment)))
}

/// Which checksums to fill in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fill {
    /// The IPv4 header's.
    pub l3: bool,
    /// TCP's or UDP's.
    pub l4: bool,
}

/// Writes the checksums of one layer into `frame`. Where there is none to write, nothing changes.
pub fn fill(frame: &mut [u8], layer: &Layer, what: Fill) {
    let Some(network) = layer.network else { return };
    if what.l3 && network.version == 4 {
        put(frame, network.at + 10, 0);
        let header = frame.get(network.at..network.payload).unwrap_or(&[]);
        put(frame, network.at + 10, !sum(header));
    }
    let (at, offset, number) = match layer.transport {
        Some(Transport::Tcp(at)) => (at, 16, protocol::TCP),
        Some(Transport::Udp(at)) => (at, 6, protocol::UDP),
        _ => return,
    };
    if !what.l4 {
        return;
    }
    put(frame, at + offset, 0);
    let end = match number {
        protocol::UDP => network.end.min(at + usize::from(be16(frame, at + 4).unwrap_or(0))),
        _ => network.end,
    };
    let Some(sum) = pseudo_sum(frame, &network, at, end, number) else { return };
    // A UDP checksum that comes out as 0 is sent as its other form: 0 means "none".
    put(frame, at + offset, if !sum == 0 && number == protocol::UDP { 0xffff } else { !sum });
}

/// Writes 16 bits, if the frame has them.
pub(crate) fn put(frame: &mut [u8], at: usize, value: u16) {
    if let Some(bytes) = frame.get_mut(at..at + 2) {
        bytes.copy_from_slice(&value.to_be_bytes());
    }
}
