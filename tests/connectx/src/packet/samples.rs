//! Frames for tests, put together from the inside out, with checksums that owe nothing to the code under test.

use std::net::{Ipv4Addr, Ipv6Addr};

pub(crate) const GUEST: [u8; 6] = [0x02, 0x15, 0xb3, 0, 0, 1];
pub(crate) const PEER: [u8; 6] = [0x02, 0, 0, 0, 0, 0x99];
pub(crate) const PEER4: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
pub(crate) const GUEST4: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 2);
pub(crate) const PEER6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1);
pub(crate) const GUEST6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 2);

/// The inverted one's complement sum, the slow way.
pub(crate) fn internet_checksum(bytes: &[u8]) -> u16 {
    let mut sum = 0u32;
    for pair in bytes.chunks(2) {
        sum += u32::from(pair[0]) * 256 + u32::from(*pair.get(1).unwrap_or(&0));
        if sum > 0xffff {
            sum -= 0xffff;
        }
    }
    !u16::try_from(sum).unwrap_or(0)
}

pub(crate) fn ethernet(kind: u16, payload: &[u8]) -> Vec<u8> {
    [&GUEST[..], &PEER, &kind.to_be_bytes(), payload].concat()
}

/// What follows an ethertype of `0x8100` or `0x88a8`.
pub(crate) fn tag(tci: u16, kind: u16, payload: &[u8]) -> Vec<u8> {
    [&tci.to_be_bytes()[..], &kind.to_be_bytes(), payload].concat()
}

pub(crate) fn ipv4(protocol: u8, payload: &[u8]) -> Vec<u8> {
    ipv4_fragment(protocol, 0x4000, payload)
}

/// With the 16 bits of flags and fragment offset.
pub(crate) fn ipv4_fragment(protocol: u8, fragment: u16, payload: &[u8]) -> Vec<u8> {
    let total = u16::try_from(20 + payload.len()).unwrap_or(u16::MAX);
    let mut header =
        [&[0x45, 0xb9][..], &total.to_be_bytes(), &[0x12, 0x34], &fragment.to_be_bytes()].concat();
    header.extend([64, protocol, 0, 0]);
    header.extend(PEER4.octets());
    header.extend(GUEST4.octets());
    let sum = internet_checksum(&header);
    header[10..12].copy_from_slice(&sum.to_be_bytes());
    let pseudo = [&PEER4.octets()[..], &GUEST4.octets()].concat();
    [header, with_checksum(protocol, fragment & 0x3fff != 0, &pseudo, payload)].concat()
}

pub(crate) fn ipv6(protocol: u8, payload: &[u8]) -> Vec<u8> {
    ipv6_extended(protocol, &[], protocol, payload)
}

/// With extension headers between the header, whose next header is `first`, and the payload.
pub(crate) fn ipv6_extended(first: u8, extensions: &[u8], protocol: u8, payload: &[u8]) -> Vec<u8> {
    let length = u16::try_from(extensions.len() + payload.len()).unwrap_or(u16::MAX);
    let mut header = vec![0x6b, 0x91, 0x23, 0x45];
    header.extend(length.to_be_bytes());
    header.extend([first, 63]);
    header.extend(PEER6.octets());
    header.extend(GUEST6.octets());
    let pseudo = [&PEER6.octets()[..], &GUEST6.octets()].concat();
    [&header[..], extensions, &with_checksum(protocol, false, &pseudo, payload)].concat()
}

/// Fills in the checksum of TCP or UDP over the pseudo header's addresses.
fn with_checksum(protocol: u8, fragment: bool, addresses: &[u8], payload: &[u8]) -> Vec<u8> {
    let mut payload = payload.to_vec();
    let at = match protocol {
        6 => 16,
        17 => 6,
        _ => return payload,
    };
    if fragment || payload.len() < at + 2 {
        return payload;
    }
    payload[at..at + 2].fill(0);
    let length = u32::try_from(payload.len()).unwrap_or(0);
    let pseudo = [addresses, &length.to_be_bytes(), &[0, 0, 0, protocol]].concat();
    let sum = internet_checksum(&[&pseudo[..], &payload].concat());
    let sum = if sum == 0 { 0xffff } else { sum };
    payload[at..at + 2].copy_from_slice(&sum.to_be_bytes());
    payload
}

pub(crate) fn udp(source: u16, destination: u16, payload: &[u8]) -> Vec<u8> {
    let length = u16::try_from(8 + payload.len()).unwrap_or(u16::MAX);
    [&source.to_be_bytes()[..], &destination.to_be_bytes(), &length.to_be_bytes(), &[0, 0], payload].concat()
}

pub(crate) fn tcp(source: u16, destination: u16, flags: u16, payload: &[u8]) -> Vec<u8> {
    let mut segment = [&source.to_be_bytes()[..], &destination.to_be_bytes()].concat();
    segment.extend(0x0102_0304_u32.to_be_bytes());
    segment.extend(0x0506_0708_u32.to_be_bytes());
    segment.extend((0x5000 | flags).to_be_bytes());
    segment.extend([0x10, 0, 0, 0, 0, 0]);
    segment.extend(payload);
    segment
}

/// A UDP datagram from the peer to a port of the guest.
pub(crate) fn datagram(port: u16, payload: &[u8]) -> Vec<u8> {
    ethernet(0x0800, &ipv4(17, &udp(40000, port, payload)))
}

/// A VXLAN header, behind UDP to port 4789.
pub(crate) fn vxlan(vni: u32, frame: &[u8]) -> Vec<u8> {
    udp(50000, 4789, &[&[8, 0, 0, 0][..], &(vni << 8).to_be_bytes(), frame].concat())
}
