//! Receive side scaling: which queue of several takes a packet.

use crate::packet::Headers;
use crate::packet::headers::{Layer, Network, protocol};
use uverbs_uapi::prm::{self, Field, rx_hash_field_select as select, tirc};

/// Bytes of a Toeplitz key.
const KEY: usize = 40;

/// `selected_fields`, bits.
mod field {
    pub(super) const SOURCE_IP: u64 = 1;
    pub(super) const DESTINATION_IP: u64 = 2;
    pub(super) const SOURCE_PORT: u64 = 4;
    pub(super) const DESTINATION_PORT: u64 = 8;
}

/// The Toeplitz hash of `data` under `key`.
#[must_use]
pub fn toeplitz(key: &[u8; KEY], data: &[u8]) -> u32 {
    let mut hash = 0;
    // A 36 byte input, IPv6 with ports, uses the whole key.
    for (at, byte) in data.iter().enumerate().take(KEY - 4) {
        let window = key[at..].iter().take(5).fold(0u64, |w, &b| w << 8 | u64::from(b));
        for bit in 0..8 {
            if byte & (0x80 >> bit) != 0 {
                #[expect(clippy::cast_possible_truncation, reason = "a 32 bit window is wanted")]
                let part = (window >> (8 - bit)) as u32;
                hash ^= part;
            }
        }
    }
    hash
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Function {
    None,
    Xor8,
    Toeplitz,
}

/// Which fields are hashed, and of which packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Selector {
    ipv6: bool,
    udp: bool,
    fields: u64,
}

impl Selector {
    fn read(bytes: &[u8]) -> Self {
        Self {
            ipv6: select::L3_PROT_TYPE.get(bytes) != 0,
            udp: select::L4_PROT_TYPE.get(bytes) != 0,
            fields: select::SELECTED_FIELDS.get(bytes),
        }
    }

    fn has(&self, bits: u64) -> bool {
        self.fields & bits != 0
    }

    fn ports(&self) -> bool {
        self.has(field::SOURCE_PORT | field::DESTINATION_PORT)
    }

    /// Whether packets with these headers are what the selector is about.
    fn fits(&self, layer: &Layer, frame: &[u8]) -> bool {
        let version = if self.ipv6 { 6 } else { 4 };
        let number = if self.udp { protocol::UDP } else { protocol::TCP };
        self.fields != 0
            && layer.network.is_some_and(|n| n.version == version)
            && (!self.ports() || layer.ports(frame).is_some_and(|p| p.0 == number))
    }
}

/// The hash of a receive object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hash {
    function: Function,
    symmetric: bool,
    key: [u8; KEY],
    outer: Selector,
    inner: Selector,
}

/// A packet's hash, and its type as the completion reports it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Hashed {
    pub(super) value: u32,
    pub(super) kind: u8,
}

impl Hash {
    /// Reads the hash of a `tirc`; nothing if the function does not exist.
    pub(super) fn read(context: &[u8]) -> Option<Self> {
        let function = match u8::try_from(tirc::RX_HASH_FN.get(context)).ok()? {
            prm::MLX5_RX_HASH_FN_NONE => Function::None,
            prm::MLX5_RX_HASH_FN_INVERTED_XOR8 => Function::Xor8,
            prm::MLX5_RX_HASH_FN_TOEPLITZ => Function::Toeplitz,
            _ => return None,
        };
        let key_at = tirc::RX_HASH_TOEPLITZ_KEY.byte();
        let selector = |field: Field| Selector::read(&context[field.bytes()]);
        Some(Self {
            function,
            symmetric: tirc::RX_HASH_SYMMETRIC.get(context) != 0,
            key: context[key_at..key_at + KEY].try_into().ok()?,
            outer: selector(tirc::RX_HASH_FIELD_SELECTOR_OUTER),
            inner: selector(tirc::RX_HASH_FIELD_SELECTOR_INNER),
        })
    }

    /// Whether the object is meant for packets with these outer headers, rather than for all.
    pub(super) fn fits(&self, headers: &Headers, frame: &[u8]) -> bool {
        self.outer.ports() && self.outer.fits(&headers.outer, frame)
    }

    /// Whether the object takes packets of every kind.
    pub(super) fn is_for_all(&self) -> bool {
        self.outer.fields == 0
    }

    /// The hash of a packet. *Model*: a packet that the selector is not about hashes to 0.
    pub(super) fn of(&self, headers: &Headers, frame: &[u8]) -> Hashed {
        let (selector, layer) = match &headers.inner {
            Some(inner) if self.inner.fields != 0 => (self.inner, *inner),
            _ => (self.outer, headers.outer),
        };
        if self.function == Function::None || !selector.fits(&layer, frame) {
            return Hashed::default();
        }
        let Some(network) = layer.network else { return Hashed::default() };
        let data = self.input(selector, &layer, &network, frame);
        let value = match self.function {
            Function::Toeplitz => toeplitz(&self.key, &data),
            _ => u32::from(!data.iter().fold(0, |hash, byte| hash ^ byte)),
        };
        // Bits 3:2 IPv4 or IPv6, bits 7:6 TCP or UDP.
        let l3 = if selector.ipv6 { 2 << 2 } else { 1 << 2 };
        let l4 = match (selector.ports(), selector.udp) {
            (false, _) => 0,
            (true, false) => 1 << 6,
            (true, true) => 2 << 6,
        };
        Hashed { value, kind: l3 | l4 }
    }

    fn input(&self, selector: Selector, layer: &Layer, network: &Network, frame: &[u8]) -> Vec<u8> {
        let (at, size) = if selector.ipv6 { (network.at + 8, 16) } else { (network.at + 12, 4) };
        let address = |at: usize| frame.get(at..at + size).unwrap_or(&[]);
        let ports = layer.ports(frame).map_or([[0; 2]; 2], |(_, s, d)| [s.to_be_bytes(), d.to_be_bytes()]);
        let mut data = Vec::with_capacity(36);
        let pairs = [
            (field::SOURCE_IP, address(at), field::DESTINATION_IP, address(at + size)),
            (field::SOURCE_PORT, &ports[0][..], field::DESTINATION_PORT, &ports[1][..]),
        ];
        for (source_bit, mut source, destination_bit, mut destination) in pairs {
            // *Model*: symmetric means that both directions of a flow are put in the same order.
            if self.symmetric
                && selector.has(source_bit)
                && selector.has(destination_bit)
                && source > destination
            {
                std::mem::swap(&mut source, &mut destination);
            }
            if selector.has(source_bit) {
                data.extend(source);
            }
            if selector.has(destination_bit) {
                data.extend(destination);
            }
        }
        data
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The verification suite that the RSS specification publishes: its key, and per vector destination, source and
    /// the hashes without and with TCP ports.
    const MICROSOFT_KEY: [u8; KEY] = [
        0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0,
        0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42,
        0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
    ];

    #[test]
    fn toeplitz_agrees_with_the_published_ipv4_vectors() {
        let vectors = [
            ([66, 9, 149, 187], 2794u16, [161, 142, 100, 80], 1766u16, 0x323e_8fc2, 0x51cc_c178),
            ([199, 92, 111, 2], 14230, [65, 69, 140, 83], 4739, 0xd718_262a, 0xc626_b0ea),
            ([24, 19, 198, 95], 12898, [12, 22, 207, 184], 38024, 0xd2d0_a5de, 0x5c2b_394a),
            ([38, 27, 205, 30], 48228, [209, 142, 163, 6], 2217, 0x8298_9176, 0xafc7_327f),
            ([153, 39, 163, 191], 44251, [202, 188, 127, 2], 1303, 0x5d18_09c5, 0x10e8_28a2),
        ];
        for (source, sport, destination, dport, addresses, with_ports) in vectors {
            let mut data = [source, destination].concat();
            assert_eq!(toeplitz(&MICROSOFT_KEY, &data), addresses);
            data.extend(sport.to_be_bytes());
            data.extend(dport.to_be_bytes());
            assert_eq!(toeplitz(&MICROSOFT_KEY, &data), with_ports);
        }
    }

    #[test]
    fn toeplitz_agrees_with_the_published_ipv6_vectors() {
        let vectors = [
            ("3ffe:2501:200:1fff::7", 2794, "3ffe:2501:200:3::1", 1766, 0x2cc1_8cd5, 0x4020_7d3d),
            ("3ffe:501:8::260:97ff:fe40:efab", 14230, "ff02::1", 4739, 0x0f0c_461c, 0xdde5_1bbf),
            (
                "3ffe:1900:4545:3:200:f8ff:fe21:67cf",
                44251,
                "fe80::200:f8ff:fe21:67cf",
                38024,
                0x4b61_e985,
                0x02d1_feef,
            ),
        ];
        for (source, sport, destination, dport, addresses, with_ports) in vectors {
            let octets =
                |text: &str| text.parse::<std::net::Ipv6Addr>().map(|a| a.octets()).unwrap_or_default();
            let mut data = [octets(source), octets(destination)].concat();
            assert_eq!(toeplitz(&MICROSOFT_KEY, &data), addresses, "{source}");
            data.extend(u16::to_be_bytes(sport));
            data.extend(u16::to_be_bytes(dport));
            assert_eq!(toeplitz(&MICROSOFT_KEY, &data), with_ports, "{source}");
        }
    }
}
