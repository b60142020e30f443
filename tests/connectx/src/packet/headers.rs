//! Where the headers of a frame lie.
//!
//! *Model*: how deep the parser goes (two VLAN tags, one MPLS label, one tunnel), that fragments have no ports, that
//! IPv6 extension headers are skipped up to AH or ESP, and that a header cut short counts as absent.

use std::fmt;

/// UDP destination ports that make the parser look for a tunnel or for RoCE.
mod port {
    pub(super) const GTPU: u16 = 2152;
    pub(super) const VXLAN: u16 = 4789;
    pub(super) const VXLAN_GPE: u16 = 4790;
    pub(super) const ROCE: u16 = 4791;
    pub(super) const GENEVE: u16 = 6081;
    pub(super) const MPLS: u16 = 6635;
}

/// Ethertypes.
pub(crate) mod ethertype {
    pub(crate) const IPV4: u16 = 0x0800;
    pub(crate) const ARP: u16 = 0x0806;
    pub(crate) const BRIDGED: u16 = 0x6558;
    pub(crate) const C_VLAN: u16 = 0x8100;
    pub(crate) const IPV6: u16 = 0x86dd;
    pub(crate) const MPLS: u16 = 0x8847;
    pub(crate) const MPLS_MULTICAST: u16 = 0x8848;
    pub(crate) const S_VLAN: u16 = 0x88a8;
}

/// IP protocol numbers.
pub(crate) mod protocol {
    pub(crate) const HOP_BY_HOP: u8 = 0;
    pub(crate) const ICMP: u8 = 1;
    pub(crate) const IPV4: u8 = 4;
    pub(crate) const TCP: u8 = 6;
    pub(crate) const UDP: u8 = 17;
    pub(crate) const IPV6: u8 = 41;
    pub(crate) const ROUTING: u8 = 43;
    pub(crate) const FRAGMENT: u8 = 44;
    pub(crate) const GRE: u8 = 47;
    pub(crate) const ESP: u8 = 50;
    pub(crate) const ICMPV6: u8 = 58;
    pub(crate) const DESTINATION_OPTIONS: u8 = 60;
    pub(crate) const MPLS: u8 = 137;
}

/// The 16 bits at `at`, if the frame has them.
pub(crate) fn be16(frame: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(frame.get(at..at.checked_add(2)?)?.try_into().ok()?))
}

/// The 32 bits at `at`, if the frame has them.
pub(crate) fn be32(frame: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(frame.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

/// A VLAN tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vlan {
    /// 802.1ad (service) rather than 802.1Q (customer).
    pub service: bool,
    /// Priority, drop eligible bit and VLAN id.
    pub tci: u16,
}

/// An IP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    /// 4 or 6.
    pub version: u8,
    /// Where it begins in the frame.
    pub at: usize,
    /// Where its payload begins: behind options and extension headers.
    pub payload: usize,
    /// Where the datagram ends in the frame; padding may follow.
    pub end: usize,
    /// Whether the frame holds the whole datagram that the header announces.
    pub complete: bool,
    /// Protocol of the payload, behind extension headers.
    pub protocol: u8,
    /// Whether this is a fragment, the first included.
    pub fragment: bool,
}

/// What follows an IP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// TCP, its header at this place.
    Tcp(usize),
    /// UDP, its header at this place.
    Udp(usize),
    /// ICMP for IPv4.
    Icmp(usize),
    /// ICMP for IPv6.
    Icmpv6(usize),
    /// Encapsulating security payload.
    Esp(usize),
}

/// The headers of one layer: the frame's own, or those inside a tunnel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layer {
    /// Where the destination MAC address lies; nothing for IP in IP.
    pub ethernet: Option<usize>,
    /// VLAN tags, outermost first.
    pub vlans: [Option<Vlan>; 2],
    /// The ethertype behind the tags.
    pub ethertype: Option<u16>,
    /// Where that ethertype lies in the frame.
    pub ethertype_at: Option<usize>,
    /// First MPLS label stack entry.
    pub mpls: Option<u32>,
    /// IP header.
    pub network: Option<Network>,
    /// What follows it.
    pub transport: Option<Transport>,
}

impl Layer {
    /// Where the first header of the layer lies that is not Ethernet.
    #[must_use]
    pub fn network_start(&self) -> Option<usize> {
        self.network.map(|n| n.at).or(self.ethertype_at.map(|at| at + 2))
    }

    /// TCP or UDP ports, source first, with the protocol number.
    #[must_use]
    pub fn ports(&self, frame: &[u8]) -> Option<(u8, u16, u16)> {
        let (number, at) = match self.transport? {
            Transport::Tcp(at) => (protocol::TCP, at),
            Transport::Udp(at) => (protocol::UDP, at),
            Transport::Icmp(_) | Transport::Icmpv6(_) | Transport::Esp(_) => return None,
        };
        Some((number, be16(frame, at)?, be16(frame, at + 2)?))
    }
}

/// A tunnel header between the outer and the inner layer, or one that the match parameters have fields for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tunnel {
    /// VXLAN.
    Vxlan {
        /// Network identifier.
        vni: u32,
    },
    /// VXLAN generic protocol extension.
    VxlanGpe {
        /// Network identifier.
        vni: u32,
        /// Flag byte.
        flags: u8,
        /// Next protocol.
        next: u8,
    },
    /// GENEVE.
    Geneve {
        /// Network identifier.
        vni: u32,
        /// Option length in 4-byte words.
        options: u8,
        /// Control packet.
        oam: bool,
        /// Ethertype of the payload.
        protocol: u16,
    },
    /// GRE and NVGRE.
    Gre {
        /// The first 16 bits: which optional words are there, and the version.
        flags: u16,
        /// Ethertype of the payload.
        protocol: u16,
        /// The key, if there is one.
        key: Option<u32>,
    },
    /// IP in IP.
    Ip,
    /// MPLS directly over UDP.
    MplsOverUdp(u32),
    /// MPLS over GRE or IP: the label stack entry and, over GRE, that header's words.
    MplsOverGre(u32),
    /// GTP user plane.
    Gtpu {
        /// Flag byte.
        flags: u8,
        /// Message type.
        message: u8,
        /// Tunnel endpoint.
        teid: u32,
    },
    /// RoCE v2, the base transport header.
    Roce {
        /// Operation.
        opcode: u8,
        /// Destination queue pair.
        qpn: u32,
    },
}

/// All headers of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Headers {
    /// The frame's own.
    pub outer: Layer,
    /// Between outer and inner.
    pub tunnel: Option<Tunnel>,
    /// Inside the tunnel.
    pub inner: Option<Layer>,
}

impl Headers {
    /// Finds the headers of `frame`, whatever bytes it holds.
    #[must_use]
    pub fn parse(frame: &[u8]) -> Self {
        let outer = ethernet(frame, 0);
        let (tunnel, inner) = tunnel(frame, &outer).map_or((None, None), |(t, i)| (Some(t), i));
        Self { outer, tunnel, inner }
    }
}

fn ethernet(frame: &[u8], at: usize) -> Layer {
    let mut layer = Layer::default();
    let Some(mut kind) = be16(frame, at + 12) else { return layer };
    layer.ethernet = Some(at);
    let mut kind_at = at + 12;
    for slot in &mut layer.vlans {
        if !matches!(kind, ethertype::C_VLAN | ethertype::S_VLAN) {
            break;
        }
        let (Some(tci), Some(next)) = (be16(frame, kind_at + 2), be16(frame, kind_at + 4)) else { break };
        *slot = Some(Vlan { service: kind == ethertype::S_VLAN, tci });
        kind = next;
        kind_at += 4;
    }
    layer.ethertype = Some(kind);
    layer.ethertype_at = Some(kind_at);
    let payload = kind_at + 2;
    match kind {
        ethertype::IPV4 | ethertype::IPV6 => internet(frame, payload, kind, &mut layer),
        ethertype::MPLS | ethertype::MPLS_MULTICAST => layer.mpls = be32(frame, payload),
        _ => {}
    }
    layer
}

fn internet(frame: &[u8], at: usize, kind: u16, layer: &mut Layer) {
    layer.network = match kind {
        ethertype::IPV4 => ipv4(frame, at),
        ethertype::IPV6 => ipv6(frame, at),
        _ => None,
    };
    layer.transport = layer.network.and_then(transport_of(frame));
}

fn ipv4(frame: &[u8], at: usize) -> Option<Network> {
    let header = frame.get(at..at + 20)?;
    let length = usize::from(header[0] & 15) * 4;
    if header[0] >> 4 != 4 || length < 20 || frame.len() < at + length {
        return None;
    }
    let total = usize::from(u16::from_be_bytes([header[2], header[3]]));
    let fragment = u16::from_be_bytes([header[6], header[7]]) & 0x3fff != 0;
    Some(Network {
        version: 4,
        at,
        payload: at + length,
        end: frame.len().min(at + total.max(length)),
        complete: total >= length && at + total <= frame.len(),
        protocol: header[9],
        fragment,
    })
}

fn ipv6(frame: &[u8], at: usize) -> Option<Network> {
    let header = frame.get(at..at + 40)?;
    if header[0] >> 4 != 6 {
        return None;
    }
    let announced = at + 40 + usize::from(u16::from_be_bytes([header[4], header[5]]));
    let end = frame.len().min(announced);
    let (mut next, mut payload, mut fragment) = (header[6], at + 40, false);
    while let protocol::HOP_BY_HOP | protocol::ROUTING | protocol::FRAGMENT | protocol::DESTINATION_OPTIONS =
        next
    {
        let Some(extension) = frame.get(payload..payload + 8).filter(|_| payload + 8 <= end) else { break };
        let length = if next == protocol::FRAGMENT {
            fragment |= u16::from_be_bytes([extension[2], extension[3]]) & 0xfff9 != 0;
            8
        } else {
            8 + usize::from(extension[1]) * 8
        };
        if payload + length > end {
            break;
        }
        next = extension[0];
        payload += length;
    }
    Some(Network {
        version: 6,
        at,
        payload,
        end,
        complete: announced <= frame.len(),
        protocol: next,
        fragment,
    })
}

fn transport_of(frame: &[u8]) -> impl Fn(Network) -> Option<Transport> {
    let length = frame.len();
    move |network| {
        let at = network.payload;
        let room = network.end.min(length).saturating_sub(at);
        if network.fragment {
            return None;
        }
        match network.protocol {
            protocol::TCP if room >= 20 => Some(Transport::Tcp(at)),
            protocol::UDP if room >= 8 => Some(Transport::Udp(at)),
            protocol::ICMP if network.version == 4 && room >= 4 => Some(Transport::Icmp(at)),
            protocol::ICMPV6 if network.version == 6 && room >= 4 => Some(Transport::Icmpv6(at)),
            protocol::ESP if room >= 8 => Some(Transport::Esp(at)),
            _ => None,
        }
    }
}

/// An inner layer that begins with an IP header.
fn inner_ip(frame: &[u8], at: usize) -> Option<Layer> {
    let kind = match frame.get(at)? >> 4 {
        4 => ethertype::IPV4,
        6 => ethertype::IPV6,
        _ => return None,
    };
    let mut layer = Layer { ethertype: Some(kind), ..Layer::default() };
    internet(frame, at, kind, &mut layer);
    layer.network.map(|_| layer)
}

/// An inner layer of the ethertype that GRE or GENEVE announces.
fn inner_of(frame: &[u8], at: usize, kind: u16) -> Option<Layer> {
    match kind {
        ethertype::BRIDGED => Some(ethernet(frame, at)).filter(|l| l.ethernet.is_some()),
        ethertype::IPV4 | ethertype::IPV6 => inner_ip(frame, at),
        _ => None,
    }
}

fn tunnel(frame: &[u8], outer: &Layer) -> Option<(Tunnel, Option<Layer>)> {
    let network = outer.network?;
    if network.fragment {
        return None;
    }
    // Padding behind the datagram is no part of a tunnel.
    let frame = frame.get(..network.end)?;
    match (network.protocol, outer.transport) {
        (_, Some(Transport::Udp(at))) => udp_tunnel(frame, at),
        (protocol::GRE, _) => gre(frame, network.payload),
        (protocol::IPV4 | protocol::IPV6, _) => Some((Tunnel::Ip, Some(inner_ip(frame, network.payload)?))),
        (protocol::MPLS, _) => Some((Tunnel::MplsOverGre(be32(frame, network.payload)?), None)),
        _ => None,
    }
}

fn udp_tunnel(frame: &[u8], udp: usize) -> Option<(Tunnel, Option<Layer>)> {
    let at = udp + 8;
    let head = frame.get(at..at + 8)?;
    let (flags, vni) = (head[0], be32(frame, at + 4)? >> 8);
    Some(match be16(frame, udp + 2)? {
        port::VXLAN => (Tunnel::Vxlan { vni }, inner_of(frame, at + 8, ethertype::BRIDGED)),
        port::VXLAN_GPE => {
            let next = head[3];
            let inner = match next {
                1 | 2 => inner_ip(frame, at + 8),
                3 => inner_of(frame, at + 8, ethertype::BRIDGED),
                _ => None,
            };
            (Tunnel::VxlanGpe { vni, flags, next }, inner)
        }
        port::GENEVE => {
            let (options, kind) = (flags & 0x3f, u16::from_be_bytes([head[2], head[3]]));
            let inner = inner_of(frame, at + 8 + usize::from(options) * 4, kind);
            (Tunnel::Geneve { vni, options, oam: head[1] & 0x80 != 0, protocol: kind }, inner)
        }
        port::GTPU => {
            let teid = be32(frame, at + 4)?;
            // Sequence number, N-PDU number and extension flags each make the header 4 bytes longer, together.
            let options = flags & 7;
            let length = if options == 0 { 8 } else { 12 };
            let inner = (head[1] == 255).then(|| inner_ip(frame, at + length)).flatten();
            (Tunnel::Gtpu { flags, message: head[1], teid }, inner)
        }
        port::MPLS => (Tunnel::MplsOverUdp(be32(frame, at)?), None),
        port::ROCE => (Tunnel::Roce { opcode: flags, qpn: be32(frame, at + 4)? & 0xff_ffff }, None),
        _ => return None,
    })
}

fn gre(frame: &[u8], at: usize) -> Option<(Tunnel, Option<Layer>)> {
    let (flags, kind) = (be16(frame, at)?, be16(frame, at + 2)?);
    let words = |bits: u16| (flags & bits).count_ones() as usize;
    let key = if flags & 0x2000 == 0 { None } else { be32(frame, at + 4 + 4 * words(0x8000)) };
    let payload = at + 4 + 4 * words(0x8000 | 0x2000 | 0x1000);
    if let (ethertype::MPLS, Some(label)) = (kind, be32(frame, payload)) {
        return Some((Tunnel::MplsOverGre(label), None));
    }
    Some((Tunnel::Gre { flags, protocol: kind, key }, inner_of(frame, payload, kind)))
}

/// A MAC address for the trace.
pub(crate) fn mac(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect::<Vec<_>>().join(":")
}

/// A frame in a few words, for the trace.
#[derive(Clone, Copy, Debug)]
pub struct Summary<'a> {
    frame: &'a [u8],
    headers: &'a Headers,
}

impl<'a> Summary<'a> {
    /// Of `frame`, whose headers are `headers`.
    #[must_use]
    pub fn new(frame: &'a [u8], headers: &'a Headers) -> Self {
        Self { frame, headers }
    }

    fn layer(&self, layer: &Layer, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some([destination, source]) = layer
            .ethernet
            .and_then(|at| Some([self.frame.get(at..at + 6)?, self.frame.get(at + 6..at + 12)?]))
        {
            write!(f, "{} > {}", mac(source), mac(destination))?;
        }
        for vlan in layer.vlans.iter().flatten() {
            write!(f, " {} {}", if vlan.service { "svlan" } else { "vlan" }, vlan.tci & 0xfff)?;
        }
        let Some(network) = layer.network else {
            return match layer.ethertype {
                Some(ethertype::ARP) => f.write_str(" ARP"),
                Some(kind) => write!(f, " ethertype {kind:#06x}"),
                None => f.write_str(" runt"),
            };
        };
        let address = |at: usize| -> String {
            if network.version == 4 {
                be32(self.frame, at).map_or_else(String::new, |a| std::net::Ipv4Addr::from(a).to_string())
            } else {
                self.frame
                    .get(at..at + 16)
                    .and_then(|b| <[u8; 16]>::try_from(b).ok())
                    .map_or_else(String::new, |a| std::net::Ipv6Addr::from(a).to_string())
            }
        };
        let (source, step) = if network.version == 4 { (network.at + 12, 4) } else { (network.at + 8, 16) };
        write!(f, " IPv{} {} > {}", network.version, address(source), address(source + step))?;
        if network.fragment {
            f.write_str(" fragment")?;
        }
        match (layer.transport, layer.ports(self.frame)) {
            (Some(Transport::Tcp(_)), Some((_, s, d))) => write!(f, " TCP {s} > {d}"),
            (_, Some((_, s, d))) => write!(f, " UDP {s} > {d}"),
            (Some(Transport::Icmp(at) | Transport::Icmpv6(at)), _) => {
                write!(f, " ICMP type {}", self.frame.get(at).copied().unwrap_or(0))
            }
            _ => write!(f, " protocol {}", network.protocol),
        }
    }
}

impl fmt::Display for Summary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.layer(&self.headers.outer, f)?;
        match self.headers.tunnel {
            Some(Tunnel::Vxlan { vni } | Tunnel::VxlanGpe { vni, .. }) => write!(f, " VXLAN {vni}")?,
            Some(Tunnel::Geneve { vni, .. }) => write!(f, " GENEVE {vni}")?,
            Some(Tunnel::Gre { .. }) => f.write_str(" GRE")?,
            Some(Tunnel::Gtpu { teid, .. }) => write!(f, " GTP-U {teid:#x}")?,
            Some(Tunnel::MplsOverGre(_) | Tunnel::MplsOverUdp(_)) => f.write_str(" MPLS")?,
            Some(Tunnel::Roce { qpn, .. }) => write!(f, " RoCE to QP {qpn:#x}")?,
            Some(Tunnel::Ip) | None => {}
        }
        if let Some(inner) = &self.headers.inner {
            f.write_str(" [")?;
            self.layer(inner, f)?;
            f.write_str("]")?;
        }
        Ok(())
    }
}
