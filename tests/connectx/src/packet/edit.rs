//! Changes to a frame: VLAN tags, tunnels, single fields.
//!
//! Whatever changes, lengths and checksums that were right before are right afterwards; wrong ones stay wrong (*model*:
//! a card may as well leave both alone).

use super::checksum::{Fill, check, fill, put, sum};
use super::headers::{Headers, Layer, Network, Transport, be16, ethertype, protocol};
use uverbs_uapi::prm::Field;

/// Length of the two MAC addresses.
const ADDRESSES: usize = 12;

/// Adds a VLAN tag as the outermost: ethertype in the upper, priority, drop eligible bit and id in the lower 16 bits.
pub fn push_vlan(frame: &mut Vec<u8>, tag: u32) {
    if frame.len() >= ADDRESSES {
        insert(frame, ADDRESSES, &tag.to_be_bytes());
    }
}

/// Takes the outermost VLAN tag away and returns its lower 16 bits; nothing without a tag.
pub fn pop_vlan(frame: &mut Vec<u8>) -> Option<u16> {
    let kind = be16(frame, ADDRESSES)?;
    let tci = be16(frame, ADDRESSES + 2)?;
    matches!(kind, ethertype::C_VLAN | ethertype::S_VLAN).then_some(())?;
    frame.drain(ADDRESSES..ADDRESSES + 4);
    Some(tci)
}

/// Inserts `bytes` at `at`, or does nothing if the frame ends before.
pub fn insert(frame: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    if at <= frame.len() {
        frame.splice(at..at, bytes.iter().copied());
    }
}

/// Removes `length` bytes at `at`, or does nothing if the frame ends before.
pub fn remove(frame: &mut Vec<u8>, at: usize, length: usize) {
    if at + length <= frame.len() {
        frame.drain(at..at + length);
    }
}

/// Takes everything before the inner Ethernet header away; nothing without one.
pub fn decapsulate(frame: &mut Vec<u8>) -> Option<()> {
    let at = Headers::parse(frame).inner?.ethernet?;
    let end = end_of_datagram(frame);
    frame.truncate(end);
    frame.drain(..at);
    Some(())
}

/// Takes everything before the inner IP header away and puts `ethernet` in front of it; nothing without one.
///
/// The last two bytes of `ethernet`, the ethertype, become that of the inner header.
pub fn decapsulate_l3(frame: &mut Vec<u8>, ethernet: &[u8]) -> Option<()> {
    let inner = Headers::parse(frame).inner?.network?;
    let end = end_of_datagram(frame);
    frame.truncate(end);
    frame.splice(..inner.at, ethernet.iter().copied());
    if let Some(at) = ethernet.len().checked_sub(2) {
        put(frame, at, if inner.version == 4 { ethertype::IPV4 } else { ethertype::IPV6 });
    }
    Some(())
}

/// Puts a tunnel header in front of the frame, and fills in the lengths that it leaves to the card.
pub fn encapsulate(frame: &mut Vec<u8>, header: &[u8]) {
    trim_padding(frame);
    insert(frame, 0, header);
    finish_outer(frame);
}

/// Puts a tunnel header in the place of the Ethernet header; nothing if the frame has no IP header.
pub fn encapsulate_l3(frame: &mut Vec<u8>, header: &[u8]) -> Option<()> {
    let at = Headers::parse(frame).outer.network?.at;
    trim_padding(frame);
    frame.splice(..at, header.iter().copied());
    finish_outer(frame);
    Some(())
}

fn end_of_datagram(frame: &[u8]) -> usize {
    Headers::parse(frame).outer.network.map_or(frame.len(), |n| n.end)
}

/// A tunnel carries the datagram, not the padding of the frame that it came in.
fn trim_padding(frame: &mut Vec<u8>) {
    if frame.len() <= super::SHORTEST {
        let end = end_of_datagram(frame);
        frame.truncate(end);
    }
}

/// Fills in length and checksum of the outermost IP header, and the UDP length behind it.
fn finish_outer(frame: &mut [u8]) {
    let Some(network) = Headers::parse(frame).outer.network else { return };
    let end = frame.len();
    set_lengths(frame, &network, end);
    let layer = Headers::parse(frame).outer;
    fill(frame, &layer, Fill { l3: true, l4: false });
}

/// Writes the lengths of one IP datagram that ends at `end` in the frame, and of the UDP datagram in it.
#[expect(clippy::cast_possible_truncation, reason = "a frame is shorter than 64 KiB")]
pub(super) fn set_lengths(frame: &mut [u8], network: &Network, end: usize) {
    if network.version == 4 {
        put(frame, network.at + 2, end.saturating_sub(network.at) as u16);
    } else {
        put(frame, network.at + 4, end.saturating_sub(network.at + 40) as u16);
    }
    if network.protocol == protocol::UDP {
        put(frame, network.payload + 4, end.saturating_sub(network.payload) as u16);
    }
}

/// Where a header modification finds its place: field numbers of `MLX5_ACTION_IN_FIELD_OUT_*`, the outermost headers.
///
/// Nothing if the frame does not have that header.
#[must_use]
pub fn place(number: u16, layer: &Layer) -> Option<Field> {
    use uverbs_uapi::prm as p;
    let bytes = |at: usize, count: usize| Field::new(at * 8, count * 8);
    let ethernet = |at: usize, count: usize| layer.ethernet.map(|e| bytes(e + at, count));
    let network = |version: u8, at: usize, count: usize| {
        layer.network.filter(|n| n.version == version).map(|n| bytes(n.at + at, count))
    };
    let tcp = || match layer.transport {
        Some(Transport::Tcp(at)) => Some(at),
        _ => None,
    };
    let udp = || match layer.transport {
        Some(Transport::Udp(at)) => Some(at),
        _ => None,
    };
    match number {
        p::MLX5_ACTION_IN_FIELD_OUT_DMAC_47_16 => ethernet(0, 4),
        p::MLX5_ACTION_IN_FIELD_OUT_DMAC_15_0 => ethernet(4, 2),
        p::MLX5_ACTION_IN_FIELD_OUT_SMAC_47_16 => ethernet(6, 4),
        p::MLX5_ACTION_IN_FIELD_OUT_SMAC_15_0 => ethernet(10, 2),
        p::MLX5_ACTION_IN_FIELD_OUT_ETHERTYPE => layer.ethertype_at.map(|at| bytes(at, 2)),
        p::MLX5_ACTION_IN_FIELD_OUT_FIRST_VID => {
            layer.vlans[0]?;
            layer.ethernet.map(|e| Field::new((e + ADDRESSES + 2) * 8 + 4, 12))
        }
        p::MLX5_ACTION_IN_FIELD_OUT_IP_DSCP => layer.network.map(|n| {
            let offset = if n.version == 4 { 8 } else { 4 };
            Field::new(n.at * 8 + offset, 6)
        }),
        p::MLX5_ACTION_IN_FIELD_OUT_IP_TTL => network(4, 8, 1),
        p::MLX5_ACTION_IN_FIELD_OUT_IPV6_HOPLIMIT => network(6, 7, 1),
        p::MLX5_ACTION_IN_FIELD_OUT_SIPV4 => network(4, 12, 4),
        p::MLX5_ACTION_IN_FIELD_OUT_DIPV4 => network(4, 16, 4),
        p::MLX5_ACTION_IN_FIELD_OUT_SIPV6_127_96..=p::MLX5_ACTION_IN_FIELD_OUT_SIPV6_31_0 => {
            network(6, 8 + 4 * usize::from(number - p::MLX5_ACTION_IN_FIELD_OUT_SIPV6_127_96), 4)
        }
        p::MLX5_ACTION_IN_FIELD_OUT_DIPV6_127_96..=p::MLX5_ACTION_IN_FIELD_OUT_DIPV6_31_0 => {
            network(6, 24 + 4 * usize::from(number - p::MLX5_ACTION_IN_FIELD_OUT_DIPV6_127_96), 4)
        }
        p::MLX5_ACTION_IN_FIELD_OUT_TCP_SPORT => tcp().map(|at| bytes(at, 2)),
        p::MLX5_ACTION_IN_FIELD_OUT_TCP_DPORT => tcp().map(|at| bytes(at + 2, 2)),
        p::MLX5_ACTION_IN_FIELD_OUT_TCP_SEQ_NUM => tcp().map(|at| bytes(at + 4, 4)),
        p::MLX5_ACTION_IN_FIELD_OUT_TCP_ACK_NUM => tcp().map(|at| bytes(at + 8, 4)),
        p::MLX5_ACTION_IN_FIELD_OUT_TCP_FLAGS => tcp().map(|at| Field::new((at + 12) * 8 + 7, 9)),
        p::MLX5_ACTION_IN_FIELD_OUT_UDP_SPORT => udp().map(|at| bytes(at, 2)),
        p::MLX5_ACTION_IN_FIELD_OUT_UDP_DPORT => udp().map(|at| bytes(at + 2, 2)),
        _ => None,
    }
}

/// Runs `change` on the frame; checksums of the outermost headers that were right before it are right after it.
pub fn keeping_checksums(frame: &mut Vec<u8>, change: impl FnOnce(&mut Vec<u8>)) {
    let before = Headers::parse(frame).outer;
    let checked = check(frame, &before);
    let header_right = before
        .network
        .is_some_and(|n| n.version == 4 && frame.get(n.at..n.payload).is_some_and(|h| sum(h) == 0xffff));
    // UDP over IPv4 without a checksum stays without.
    let sent = match before.transport {
        Some(Transport::Udp(at)) => be16(frame, at + 6) != Some(0),
        _ => true,
    };
    change(frame);
    let after = Headers::parse(frame).outer;
    fill(frame, &after, Fill { l3: header_right, l4: checked.l4 && sent });
}
