//! A frame as the 512 bytes of match parameters that flow tables compare.

use super::headers::{Headers, Layer, Transport, Tunnel, Vlan, be16, be32};
use super::{Metadata, Packet};
use uverbs_uapi::prm::{
    Field, fte_match_param as param, fte_match_set_lyr_2_4 as lyr, fte_match_set_misc as misc,
    fte_match_set_misc2 as misc2, fte_match_set_misc3 as misc3,
};

const MISC: Field = param::MISC_PARAMETERS;
const MISC2: Field = param::MISC_PARAMETERS_2;
const MISC3: Field = param::MISC_PARAMETERS_3;

/// `l4_type`: TCP.
const L4_TYPE_TCP: u8 = 1;
/// `l4_type`: UDP.
const L4_TYPE_UDP: u8 = 2;

/// Where the fields of one layer lie: most in its own section, some in pairs in the shared ones.
#[derive(Clone, Copy)]
struct Section {
    headers: Field,
    first_mpls: Field,
    second_cvlan: Field,
    second_svlan: Field,
    second_prio: Field,
    second_cfi: Field,
    second_vid: Field,
    flow_label: Field,
    tcp_seq: Field,
    tcp_ack: Field,
    esp_spi: Field,
}

impl Section {
    const OUTER: Self = Self {
        headers: param::OUTER_HEADERS,
        first_mpls: MISC2.then(misc2::OUTER_FIRST_MPLS),
        second_cvlan: MISC.then(misc::OUTER_SECOND_CVLAN_TAG),
        second_svlan: MISC.then(misc::OUTER_SECOND_SVLAN_TAG),
        second_prio: MISC.then(misc::OUTER_SECOND_PRIO),
        second_cfi: MISC.then(misc::OUTER_SECOND_CFI),
        second_vid: MISC.then(misc::OUTER_SECOND_VID),
        flow_label: MISC.then(misc::OUTER_IPV6_FLOW_LABEL),
        tcp_seq: MISC3.then(misc3::OUTER_TCP_SEQ_NUM),
        tcp_ack: MISC3.then(misc3::OUTER_TCP_ACK_NUM),
        esp_spi: MISC.then(misc::OUTER_ESP_SPI),
    };

    const INNER: Self = Self {
        headers: param::INNER_HEADERS,
        first_mpls: MISC2.then(misc2::INNER_FIRST_MPLS),
        second_cvlan: MISC.then(misc::INNER_SECOND_CVLAN_TAG),
        second_svlan: MISC.then(misc::INNER_SECOND_SVLAN_TAG),
        second_prio: MISC.then(misc::INNER_SECOND_PRIO),
        second_cfi: MISC.then(misc::INNER_SECOND_CFI),
        second_vid: MISC.then(misc::INNER_SECOND_VID),
        flow_label: MISC.then(misc::INNER_IPV6_FLOW_LABEL),
        tcp_seq: MISC3.then(misc3::INNER_TCP_SEQ_NUM),
        tcp_ack: MISC3.then(misc3::INNER_TCP_ACK_NUM),
        esp_spi: MISC.then(misc::INNER_ESP_SPI),
    };

    const fn field(&self, inner: Field) -> Field {
        self.headers.then(inner)
    }
}

/// The match parameters of one frame: `fte_match_param` with every field that the parser knows.
///
/// *Model*: fields of headers that a frame does not have are 0. `ethertype` is the one behind the VLAN tags. The
/// sections from `misc4` on (programmable parsers, MACsec, PSP) stay 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image([u8; param::SIZE]);

impl Image {
    /// The match parameters of `packet`, whose headers are `headers`.
    #[must_use]
    pub fn new(packet: &Packet, headers: &Headers) -> Self {
        let mut image = Self([0; param::SIZE]);
        image.layer(&packet.bytes, &headers.outer, Section::OUTER);
        if let Some(inner) = &headers.inner {
            image.layer(&packet.bytes, inner, Section::INNER);
        }
        if let Some(tunnel) = headers.tunnel {
            image.tunnel(tunnel);
        }
        image.metadata(&packet.metadata);
        image
    }

    /// Its bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8; param::SIZE] {
        &self.0
    }

    fn set(&mut self, field: Field, value: impl Into<u64>) {
        field.set(&mut self.0, value.into() & field.max());
    }

    fn copy(&mut self, field: Field, bytes: Option<&[u8]>) {
        if let Some(bytes) = bytes {
            self.0[field.bytes()][..bytes.len()].copy_from_slice(bytes);
        }
    }

    fn layer(&mut self, frame: &[u8], layer: &Layer, section: Section) {
        if let Some(at) = layer.ethernet {
            self.set(section.field(lyr::DMAC_47_16), be32(frame, at).unwrap_or(0));
            self.set(section.field(lyr::DMAC_15_0), be16(frame, at + 4).unwrap_or(0));
            self.set(section.field(lyr::SMAC_47_16), be32(frame, at + 6).unwrap_or(0));
            self.set(section.field(lyr::SMAC_15_0), be16(frame, at + 10).unwrap_or(0));
        }
        self.set(section.field(lyr::ETHERTYPE), layer.ethertype.unwrap_or(0));
        self.vlans(layer.vlans, section);
        if let Some(label) = layer.mpls {
            self.set(section.first_mpls, label);
        }
        self.network(frame, layer, section);
        self.transport(frame, layer, section);
    }

    fn vlans(&mut self, vlans: [Option<Vlan>; 2], section: Section) {
        if let Some(first) = vlans[0] {
            self.set(section.field(if first.service { lyr::SVLAN_TAG } else { lyr::CVLAN_TAG }), 1u8);
            self.set(section.field(lyr::FIRST_PRIO), first.tci >> 13);
            self.set(section.field(lyr::FIRST_CFI), first.tci >> 12 & 1);
            self.set(section.field(lyr::FIRST_VID), first.tci & 0xfff);
        }
        if let Some(second) = vlans[1] {
            self.set(if second.service { section.second_svlan } else { section.second_cvlan }, 1u8);
            self.set(section.second_prio, second.tci >> 13);
            self.set(section.second_cfi, second.tci >> 12 & 1);
            self.set(section.second_vid, second.tci & 0xfff);
        }
    }

    fn network(&mut self, frame: &[u8], layer: &Layer, section: Section) {
        let Some(network) = layer.network else { return };
        let at = network.at;
        self.set(section.field(lyr::IP_VERSION), network.version);
        self.set(section.field(lyr::IP_PROTOCOL), network.protocol);
        self.set(section.field(lyr::FRAG), u8::from(network.fragment));
        let (source, destination) =
            (section.field(lyr::SRC_IPV4_SRC_IPV6), section.field(lyr::DST_IPV4_DST_IPV6));
        let byte = |at: usize| frame.get(at).copied().unwrap_or(0);
        let class = if network.version == 4 {
            self.set(section.field(lyr::IPV4_IHL), byte(at) & 15);
            self.set(section.field(lyr::TTL_HOPLIMIT), byte(at + 8));
            // An IPv4 address takes the last 32 bits.
            self.copy(Field::new(source.offset + 96, 32), frame.get(at + 12..at + 16));
            self.copy(Field::new(destination.offset + 96, 32), frame.get(at + 16..at + 20));
            byte(at + 1)
        } else {
            self.set(section.field(lyr::TTL_HOPLIMIT), byte(at + 7));
            self.set(section.flow_label, be32(frame, at).unwrap_or(0));
            self.copy(source, frame.get(at + 8..at + 24));
            self.copy(destination, frame.get(at + 24..at + 40));
            byte(at) << 4 | byte(at + 1) >> 4
        };
        self.set(section.field(lyr::IP_DSCP), class >> 2);
        self.set(section.field(lyr::IP_ECN), class);
    }

    fn transport(&mut self, frame: &[u8], layer: &Layer, section: Section) {
        let half = |at: usize| be16(frame, at).unwrap_or(0);
        let word = |at: usize| be32(frame, at).unwrap_or(0);
        match layer.transport {
            Some(Transport::Tcp(at)) => {
                self.set(section.field(lyr::L4_TYPE), L4_TYPE_TCP);
                self.set(section.field(lyr::TCP_SPORT), half(at));
                self.set(section.field(lyr::TCP_DPORT), half(at + 2));
                self.set(section.field(lyr::TCP_FLAGS), half(at + 12));
                self.set(section.tcp_seq, word(at + 4));
                self.set(section.tcp_ack, word(at + 8));
            }
            Some(Transport::Udp(at)) => {
                self.set(section.field(lyr::L4_TYPE), L4_TYPE_UDP);
                self.set(section.field(lyr::UDP_SPORT), half(at));
                self.set(section.field(lyr::UDP_DPORT), half(at + 2));
            }
            // One set of ICMP fields serves both layers: the outer's are there unless a tunnel hides them.
            Some(Transport::Icmp(at)) => {
                self.set(MISC3.then(misc3::ICMP_TYPE), half(at) >> 8);
                self.set(MISC3.then(misc3::ICMP_CODE), half(at));
                self.set(MISC3.then(misc3::ICMP_HEADER_DATA), word(at + 4));
            }
            Some(Transport::Icmpv6(at)) => {
                self.set(MISC3.then(misc3::ICMPV6_TYPE), half(at) >> 8);
                self.set(MISC3.then(misc3::ICMPV6_CODE), half(at));
                self.set(MISC3.then(misc3::ICMPV6_HEADER_DATA), word(at + 4));
            }
            Some(Transport::Esp(at)) => self.set(section.esp_spi, word(at)),
            None => {}
        }
    }

    fn tunnel(&mut self, tunnel: Tunnel) {
        match tunnel {
            Tunnel::Vxlan { vni } => self.set(MISC.then(misc::VXLAN_VNI), vni),
            Tunnel::VxlanGpe { vni, flags, next } => {
                self.set(MISC3.then(misc3::OUTER_VXLAN_GPE_VNI), vni);
                self.set(MISC3.then(misc3::OUTER_VXLAN_GPE_FLAGS), flags);
                self.set(MISC3.then(misc3::OUTER_VXLAN_GPE_NEXT_PROTOCOL), next);
            }
            Tunnel::Geneve { vni, options, oam, protocol } => {
                self.set(MISC.then(misc::GENEVE_VNI), vni);
                self.set(MISC.then(misc::GENEVE_OPT_LEN), options);
                self.set(MISC.then(misc::GENEVE_OAM), u8::from(oam));
                self.set(MISC.then(misc::GENEVE_PROTOCOL_TYPE), protocol);
            }
            Tunnel::Gre { flags, protocol, key } => {
                self.set(MISC.then(misc::GRE_C_PRESENT), flags >> 15);
                self.set(MISC.then(misc::GRE_K_PRESENT), flags >> 13 & 1);
                self.set(MISC.then(misc::GRE_S_PRESENT), flags >> 12 & 1);
                self.set(MISC.then(misc::GRE_PROTOCOL), protocol);
                self.set(MISC.then(misc::GRE_KEY), key.unwrap_or(0));
            }
            Tunnel::MplsOverUdp(label) => self.set(MISC2.then(misc2::OUTER_FIRST_MPLS_OVER_UDP), label),
            Tunnel::MplsOverGre(label) => self.set(MISC2.then(misc2::OUTER_FIRST_MPLS_OVER_GRE), label),
            Tunnel::Gtpu { flags, message, teid } => {
                self.set(MISC3.then(misc3::GTPU_MSG_FLAGS), flags & 7);
                self.set(MISC3.then(misc3::GTPU_MSG_TYPE), message);
                self.set(MISC3.then(misc3::GTPU_TEID), teid);
            }
            Tunnel::Roce { opcode, qpn } => {
                self.set(MISC.then(misc::BTH_OPCODE), opcode);
                self.set(MISC.then(misc::BTH_DST_QP), qpn);
            }
            Tunnel::Ip => {}
        }
    }

    fn metadata(&mut self, metadata: &Metadata) {
        self.set(MISC.then(misc::SOURCE_PORT), metadata.source_port);
        self.set(MISC.then(misc::SOURCE_SQN), metadata.source_sqn);
        self.set(MISC2.then(misc2::METADATA_REG_A), metadata.reg_a);
        for (index, &register) in metadata.reg_c.iter().enumerate() {
            // Registers descend: C 7 lies first.
            self.set(MISC2.then(misc2::METADATA_REG_C_7).nth(7 - index), register);
        }
    }
}
