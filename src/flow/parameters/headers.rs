//! The headers of a packet up to layer 4, of which there are outer and inner ones.

use std::net::{Ipv4Addr, Ipv6Addr};

use uverbs_uapi::prm::{Field, fte_match_set_lyr_2_4 as layout};

use super::{Contradiction, Masked, draft::Draft};

const IPV4: u8 = 4;
const IPV6: u8 = 6;
const ETHERTYPE_IPV4: u64 = 0x0800;
const ETHERTYPE_IPV6: u64 = 0x86dd;
pub(super) const TCP: u8 = 6;
pub(super) const UDP: u8 = 17;
pub(super) const GRE: u8 = 47;

/// The kind of a VLAN tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VlanKind {
    /// IEEE 802.1Q, ethertype 0x8100.
    Customer,
    /// IEEE 802.1ad, ethertype 0x88a8.
    Service,
}

/// What is asked of the Ethernet, VLAN, IP, TCP and UDP headers of a packet.
///
/// What a field implies is asked too: [`udp_destination`](Self::udp_destination) asks for IP protocol 17,
/// [`ipv4_source`](Self::ipv4_source) for IP version 4. So things that cannot be together disagree, and building the
/// match says which.
///
/// ```
/// use uverbs::flow::{Headers, Match};
///
/// let dns = Headers::new().ipv4().udp_destination(53);
/// assert!(Match::builder().outer(&dns).build().is_ok());
/// assert!(Match::builder().outer(&dns.tcp_destination(53)).build().is_err());
/// ```
///
/// C: `struct mlx5_ifc_fte_match_set_lyr_2_4_bits`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Headers {
    pub(super) draft: Draft<{ layout::SIZE }>,
    // These two lie outside the section in the firmware's layout, in one place for outer and one for inner headers.
    pub(super) second_vlan: Option<(VlanKind, Masked<u16>)>,
    pub(super) flow_label: Option<Masked<u32>>,
}

impl Default for Headers {
    fn default() -> Self {
        Self::new()
    }
}

impl Headers {
    /// Headers of which nothing is asked.
    pub const fn new() -> Self {
        Self { draft: Draft::new(), second_vlan: None, flow_label: None }
    }

    fn require<T: Into<u64>>(mut self, name: &'static str, field: Field, wanted: Masked<T>) -> Self {
        self.draft.require(name, field, wanted);
        self
    }

    fn mac(mut self, name: &'static str, high: Field, low: Field, address: Masked<[u8; 6]>) -> Self {
        let bits =
            address.map(|bytes| bytes.into_iter().fold(0u128, |bits, byte| bits << 8 | u128::from(byte)));
        let (upper, lower) = bits.split(16);
        self.draft.require(name, high, upper);
        self.draft.require(name, low, lower);
        self
    }

    fn ipv4_address(self, name: &'static str, field: Field, address: Masked<Ipv4Addr>) -> Self {
        self.ipv4().require(name, field, address.map(Ipv4Addr::to_bits))
    }

    fn ipv6_address(self, name: &'static str, field: Field, address: Masked<Ipv6Addr>) -> Self {
        let (upper, lower) = address.map(Ipv6Addr::to_bits).split(64);
        self.ipv6().require(name, field.then(Field::new(0, 64)), upper).require(
            name,
            field.then(Field::new(64, 64)),
            lower,
        )
    }

    /// Source address of the Ethernet header.
    #[doc(alias = "smac_47_16")]
    pub fn ethernet_source(self, address: impl Into<Masked<[u8; 6]>>) -> Self {
        self.mac("Ethernet source", layout::SMAC_47_16, layout::SMAC_15_0, address.into())
    }

    /// Destination address of the Ethernet header.
    #[doc(alias = "dmac_47_16")]
    pub fn ethernet_destination(self, address: impl Into<Masked<[u8; 6]>>) -> Self {
        self.mac("Ethernet destination", layout::DMAC_47_16, layout::DMAC_15_0, address.into())
    }

    /// Ethertype, behind any VLAN tags.
    pub fn ethertype(self, ethertype: impl Into<Masked<u16>>) -> Self {
        self.require("ethertype", layout::ETHERTYPE, ethertype.into())
    }

    /// A VLAN tag of this kind with this id, 0 to 4095; the outer one if there are two.
    #[doc(alias("cvlan_tag", "svlan_tag", "first_vid"))]
    pub fn vlan(self, kind: VlanKind, id: impl Into<Masked<u16>>) -> Self {
        self.tagged(kind).require("VLAN id", layout::FIRST_VID, id.into())
    }

    /// A VLAN tag of this kind, whatever its id.
    #[doc(alias("cvlan_tag", "svlan_tag"))]
    pub fn tagged(self, kind: VlanKind) -> Self {
        match kind {
            VlanKind::Customer => self.require("customer VLAN tag", layout::CVLAN_TAG, 1u8.into()),
            VlanKind::Service => self.require("service VLAN tag", layout::SVLAN_TAG, 1u8.into()),
        }
    }

    /// No VLAN tag of this kind.
    pub fn untagged(self, kind: VlanKind) -> Self {
        match kind {
            VlanKind::Customer => self.require("customer VLAN tag", layout::CVLAN_TAG, 0u8.into()),
            VlanKind::Service => self.require("service VLAN tag", layout::SVLAN_TAG, 0u8.into()),
        }
    }

    /// Priority of the VLAN tag, 0 to 7.
    #[doc(alias = "first_prio")]
    pub fn vlan_priority(self, priority: impl Into<Masked<u8>>) -> Self {
        self.require("VLAN priority", layout::FIRST_PRIO, priority.into())
    }

    /// Drop-eligible (formerly canonical format) bit of the VLAN tag.
    #[doc(alias = "first_cfi")]
    pub fn vlan_drop_eligible(self, eligible: bool) -> Self {
        self.require("VLAN drop eligible", layout::FIRST_CFI, u8::from(eligible).into())
    }

    /// A second VLAN tag behind the first, of this kind and with this id.
    #[doc(alias("outer_second_vid", "inner_second_vid"))]
    pub fn second_vlan(mut self, kind: VlanKind, id: impl Into<Masked<u16>>) -> Self {
        self.second_vlan = Some((kind, id.into()));
        self
    }

    /// An IPv4 header.
    #[doc(alias = "ip_version")]
    pub fn ipv4(self) -> Self {
        self.require("IP version", layout::IP_VERSION, IPV4.into())
    }

    /// An IPv6 header.
    #[doc(alias = "ip_version")]
    pub fn ipv6(self) -> Self {
        self.require("IP version", layout::IP_VERSION, IPV6.into())
    }

    /// IP protocol, or the next header of IPv6.
    pub fn ip_protocol(self, protocol: impl Into<Masked<u8>>) -> Self {
        self.require("IP protocol", layout::IP_PROTOCOL, protocol.into())
    }

    /// Differentiated services code point, 0 to 63.
    #[doc(alias = "ip_dscp")]
    pub fn dscp(self, dscp: impl Into<Masked<u8>>) -> Self {
        self.require("DSCP", layout::IP_DSCP, dscp.into())
    }

    /// Explicit congestion notification, 0 to 3.
    #[doc(alias = "ip_ecn")]
    pub fn ecn(self, ecn: impl Into<Masked<u8>>) -> Self {
        self.require("ECN", layout::IP_ECN, ecn.into())
    }

    /// Time to live, or hop limit of IPv6.
    #[doc(alias = "ttl_hoplimit")]
    pub fn ttl(self, ttl: impl Into<Masked<u8>>) -> Self {
        self.require("TTL", layout::TTL_HOPLIMIT, ttl.into())
    }

    /// Whether the packet is a fragment; a fragment has no ports to match.
    #[doc(alias = "frag")]
    pub fn fragment(self, fragment: bool) -> Self {
        self.require("fragment", layout::FRAG, u8::from(fragment).into())
    }

    /// IPv4 source address.
    #[doc(alias = "src_ipv4_src_ipv6")]
    pub fn ipv4_source(self, address: impl Into<Masked<Ipv4Addr>>) -> Self {
        self.ipv4_address("IPv4 source", layout::SRC_IPV4, address.into())
    }

    /// IPv4 destination address.
    #[doc(alias = "dst_ipv4_dst_ipv6")]
    pub fn ipv4_destination(self, address: impl Into<Masked<Ipv4Addr>>) -> Self {
        self.ipv4_address("IPv4 destination", layout::DST_IPV4, address.into())
    }

    /// IPv6 source address.
    #[doc(alias = "src_ipv4_src_ipv6")]
    pub fn ipv6_source(self, address: impl Into<Masked<Ipv6Addr>>) -> Self {
        self.ipv6_address("IPv6 source", layout::SRC_IPV4_SRC_IPV6, address.into())
    }

    /// IPv6 destination address.
    #[doc(alias = "dst_ipv4_dst_ipv6")]
    pub fn ipv6_destination(self, address: impl Into<Masked<Ipv6Addr>>) -> Self {
        self.ipv6_address("IPv6 destination", layout::DST_IPV4_DST_IPV6, address.into())
    }

    /// IPv6 flow label, 20 bits.
    #[doc(alias("outer_ipv6_flow_label", "inner_ipv6_flow_label"))]
    pub fn ipv6_flow_label(self, label: impl Into<Masked<u32>>) -> Self {
        let mut headers = self.ipv6();
        headers.flow_label = Some(label.into());
        headers
    }

    /// A UDP header.
    pub fn udp(self) -> Self {
        self.ip_protocol(UDP)
    }

    /// UDP source port.
    #[doc(alias = "udp_sport")]
    pub fn udp_source(self, port: impl Into<Masked<u16>>) -> Self {
        self.udp().require("UDP source", layout::UDP_SPORT, port.into())
    }

    /// UDP destination port.
    #[doc(alias = "udp_dport")]
    pub fn udp_destination(self, port: impl Into<Masked<u16>>) -> Self {
        self.udp().require("UDP destination", layout::UDP_DPORT, port.into())
    }

    /// A TCP header.
    pub fn tcp(self) -> Self {
        self.ip_protocol(TCP)
    }

    /// TCP source port.
    #[doc(alias = "tcp_sport")]
    pub fn tcp_source(self, port: impl Into<Masked<u16>>) -> Self {
        self.tcp().require("TCP source", layout::TCP_SPORT, port.into())
    }

    /// TCP destination port.
    #[doc(alias = "tcp_dport")]
    pub fn tcp_destination(self, port: impl Into<Masked<u16>>) -> Self {
        self.tcp().require("TCP destination", layout::TCP_DPORT, port.into())
    }

    /// TCP flags, 9 bits: bit 0 FIN, 1 SYN, 2 RST, 3 PSH, 4 ACK, 5 URG, 6 ECE, 7 CWR, 8 NS.
    pub fn tcp_flags(self, flags: impl Into<Masked<u16>>) -> Self {
        self.tcp().require("TCP flags", layout::TCP_FLAGS, flags.into())
    }

    /// What only shows when all is known. Asked of complete headers, so the order of calls makes no difference.
    pub(super) fn contradiction(&self) -> Option<Contradiction> {
        let draft = &self.draft;
        if draft.refused.is_some() {
            return draft.refused;
        }
        let version = |version| draft.is_exactly(layout::IP_VERSION, version);
        let ethertype = |ethertype| draft.is_exactly(layout::ETHERTYPE, ethertype);
        let ports = [layout::UDP_SPORT, layout::UDP_DPORT, layout::TCP_SPORT, layout::TCP_DPORT];
        let exclusive = |first, second| Some(Contradiction::Exclusive { first, second });
        if version(IPV4.into()) && !draft.may_be(layout::ETHERTYPE, ETHERTYPE_IPV4) {
            exclusive("another ethertype than 0x800", "IPv4 header")
        } else if version(IPV6.into()) && !draft.may_be(layout::ETHERTYPE, ETHERTYPE_IPV6) {
            exclusive("another ethertype than 0x86dd", "IPv6 header")
        } else if ethertype(ETHERTYPE_IPV4) && !draft.may_be(layout::IP_VERSION, IPV4.into()) {
            exclusive("the ethertype of IPv4", "other IP version than 4")
        } else if ethertype(ETHERTYPE_IPV6) && !draft.may_be(layout::IP_VERSION, IPV6.into()) {
            exclusive("the ethertype of IPv6", "other IP version than 6")
        } else if draft.is_exactly(layout::CVLAN_TAG, 1) && draft.is_exactly(layout::SVLAN_TAG, 1) {
            exclusive("a customer VLAN tag first", "service VLAN tag first")
        } else if draft.is_exactly(layout::FRAG, 1) && ports.iter().any(|&port| draft.asks(port)) {
            exclusive("a fragment", "ports")
        } else {
            None
        }
    }
}
