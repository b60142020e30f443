use std::net::{Ipv4Addr, Ipv6Addr};

use proptest::{prelude::*, sample::Index};
use uverbs_uapi::prm::{
    fte_match_param as param, fte_match_set_lyr_2_4 as lyr, fte_match_set_misc as misc,
    fte_match_set_misc2 as misc2,
};

use super::{
    Contradiction, Headers, Masked, Match, MatchBuilder, MetadataRegister, MplsStack, SECTION, SIZE, VlanKind,
};

fn outer(headers: &Headers) -> Result<Match, Contradiction> {
    Match::builder().outer(headers).build()
}

#[test]
fn a_udp_port_is_asked_for_with_its_protocol() {
    let found = outer(&Headers::new().ipv4().udp_destination(5000)).expect("one port of one protocol");
    let fields = [(lyr::IP_PROTOCOL, 17, 0xff), (lyr::IP_VERSION, 4, 0xf), (lyr::UDP_DPORT, 5000, 0xffff)];
    let (mut value, mut mask) = ([0; SIZE], [0; SIZE]);
    for (field, wanted, bits) in fields {
        param::OUTER_HEADERS.then(field).set(&mut value, wanted);
        param::OUTER_HEADERS.then(field).set(&mut mask, bits);
    }
    assert_eq!((found.value(), found.mask(), found.criteria()), (&value, &mask, 1));
}

#[test]
fn a_match_of_everything_asks_for_nothing_and_is_still_sent() {
    assert_eq!(Match::builder().build(), Ok(Match::any()));
    assert_eq!((Match::any().criteria(), Match::any().significant()), (0, SECTION));
}

#[test]
fn sections_that_count_are_the_ones_that_are_sent() {
    let cases: [(MatchBuilder, u8, usize); 5] = [
        (Match::builder().outer(&Headers::new().ipv6()), 0b1, 64),
        (Match::builder().source_vport(3), 0b10, 128),
        (Match::builder().inner(&Headers::new().tcp_source(80)), 0b100, 192),
        (Match::builder().metadata(MetadataRegister::C3, 7), 0b1000, 256),
        (Match::builder().vxlan_gpe_vni(7), 0b1_0001, 320),
    ];
    for (builder, criteria, significant) in cases {
        let found = builder.build().expect("nothing contradicts");
        assert_eq!((found.criteria(), found.significant()), (criteria, significant));
    }
}

#[test]
fn fields_lie_where_the_firmware_has_them() {
    let inner =
        Headers::new().ethernet_destination([2, 0x15, 0xb3, 0, 0, 1]).ipv6_source(Ipv6Addr::LOCALHOST);
    let found = Match::builder()
        .outer(&Headers::new().ipv4_destination(Ipv4Addr::new(192, 0, 2, 1)).vlan(VlanKind::Customer, 7))
        .inner(&inner)
        .vxlan_vni(0x12_3456)
        .metadata(MetadataRegister::A, 0xdead_beef)
        .mpls_label(MplsStack::Inner, 0xabcde)
        .build()
        .expect("nothing contradicts");
    let outer = param::OUTER_HEADERS;
    let fields = [
        (outer.then(lyr::DST_IPV4), 0xc000_0201),
        (outer.then(lyr::CVLAN_TAG), 1),
        (outer.then(lyr::FIRST_VID), 7),
        (param::INNER_HEADERS.then(lyr::DMAC_47_16), 0x0215_b300),
        (param::INNER_HEADERS.then(lyr::DMAC_15_0), 1),
        (param::MISC_PARAMETERS.then(misc::VXLAN_VNI), 0x12_3456),
        (param::MISC_PARAMETERS_2.then(misc2::METADATA_REG_A), 0xdead_beef),
    ];
    for (field, value) in fields {
        assert_eq!((field.get(found.value()), field.get(found.mask())), (value, field.max()));
    }
    let source = param::INNER_HEADERS.then(lyr::SRC_IPV4_SRC_IPV6).bytes();
    assert_eq!(found.value()[source.clone()], Ipv6Addr::LOCALHOST.octets());
    assert_eq!(found.mask()[source], [0xff; 16]);
}

#[test]
fn networks_ask_for_their_prefix() {
    let all = Masked::<Ipv4Addr>::network(Ipv4Addr::new(10, 1, 2, 3), 0);
    let some = Masked::<Ipv4Addr>::network(Ipv4Addr::new(10, 1, 2, 3), 8);
    let one = Masked::<Ipv4Addr>::network(Ipv4Addr::new(10, 1, 2, 3), 32);
    let field = param::OUTER_HEADERS.then(lyr::SRC_IPV4);
    for (address, value, mask) in
        [(all, 0, 0), (some, 0x0a00_0000, 0xff00_0000), (one, 0x0a01_0203, 0xffff_ffff)]
    {
        let found = outer(&Headers::new().ipv4_source(address)).expect("a network is no contradiction");
        assert_eq!((field.get(found.value()), field.get(found.mask())), (value, mask));
    }
    let documentation = Ipv6Addr::new(0x2001, 0xdb8, 1, 2, 3, 4, 5, 6);
    let found =
        outer(&Headers::new().ipv6_source(Masked::<Ipv6Addr>::network(documentation, 32))).expect("the same");
    let at = param::OUTER_HEADERS.then(lyr::SRC_IPV4_SRC_IPV6).byte();
    assert_eq!(found.value()[at..at + 8], [0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0]);
    assert_eq!(found.mask()[at..at + 8], [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]);
}

#[test]
fn contradictions_are_told() {
    let headers = Headers::new;
    let both = |field, earlier, later| Contradiction::Both { field, earlier, later };
    let exclusive = |first, second| Contradiction::Exclusive { first, second };
    let wide = |field, value, maximum| Contradiction::Wide { field, value, maximum };
    let of_headers: [(Headers, Contradiction); 15] = [
        (headers().udp_destination(1).tcp_destination(1), both("IP protocol", 17, 6)),
        (headers().tcp_flags(2).udp_source(9), both("IP protocol", 6, 17)),
        (headers().ip_protocol(1).udp(), both("IP protocol", 1, 17)),
        (headers().ipv4().ipv6(), both("IP version", 4, 6)),
        (headers().ipv6_flow_label(1).ipv4_source(Ipv4Addr::LOCALHOST), both("IP version", 6, 4)),
        (headers().udp_destination(1).udp_destination(2), both("UDP destination", 1, 2)),
        (headers().ethertype(0x86dd).ipv4(), exclusive("another ethertype than 0x800", "IPv4 header")),
        (headers().ipv6().ethertype(0x0806), exclusive("another ethertype than 0x86dd", "IPv6 header")),
        (
            headers().tagged(VlanKind::Customer).vlan(VlanKind::Service, 1),
            exclusive("a customer VLAN tag first", "service VLAN tag first"),
        ),
        (headers().untagged(VlanKind::Customer).vlan(VlanKind::Customer, 1), both("customer VLAN tag", 0, 1)),
        (headers().fragment(true).udp_source(1), exclusive("a fragment", "ports")),
        (headers().vlan(VlanKind::Customer, 4096), wide("VLAN id", 4096, 4095)),
        (headers().vlan_priority(8), wide("VLAN priority", 8, 7)),
        (headers().dscp(Masked::new(0, 0x40)), wide("DSCP", 0x40, 0x3f)),
        (
            headers().udp_destination(Masked::new(0x101, 0x100)),
            Contradiction::OutsideMask { field: "UDP destination", value: 0x101, mask: 0x100 },
        ),
    ];
    for (headers, expected) in of_headers {
        assert_eq!(outer(&headers), Err(expected));
        assert_eq!(Match::builder().inner(&headers).build(), Err(expected));
    }
    let builder = Match::builder;
    let of_matches: [(MatchBuilder, Contradiction); 9] = [
        (builder().vxlan_vni(1 << 24), wide("VXLAN VNI", 1 << 24, 0xff_ffff)),
        (builder().vxlan_vni(1).geneve_vni(1), exclusive("VXLAN", "GENEVE")),
        (builder().geneve_control(true).gre_key(1), exclusive("GENEVE", "GRE")),
        (builder().mpls_label(MplsStack::OverGre, 1).vxlan_vni(1), exclusive("GRE", "VXLAN")),
        (builder().outer(&headers().tcp()).vxlan_vni(1), both("IP protocol", 6, 17)),
        (builder().vxlan_vni(1).outer(&headers().tcp()), Contradiction::Headers { which: "outer" }),
        (
            builder().inner(&headers().ipv4()).inner(&headers().ipv6()),
            Contradiction::Headers { which: "inner" },
        ),
        (
            builder().field("behind", super::Field::new(4095, 2), 0),
            Contradiction::Elsewhere { field: "behind" },
        ),
        (
            builder().field("too wide", super::Field::new(0, 65), 0),
            Contradiction::Elsewhere { field: "too wide" },
        ),
    ];
    for (builder, expected) in of_matches {
        assert_eq!(builder.build(), Err(expected));
    }
}

/// One thing that may be asked of outer headers, with any value.
#[derive(Clone, Debug)]
struct Ask(usize, u16, u16);

const ASKS: usize = 12;

fn apply(headers: Headers, Ask(which, value, mask): &Ask) -> Headers {
    let wanted = Masked::new(value & mask, *mask);
    let byte = Masked::new(wanted_byte(*value & *mask), wanted_byte(*mask));
    match which % ASKS {
        0 => headers.ipv4(),
        1 => headers.ipv6(),
        2 => headers.udp_source(wanted),
        3 => headers.udp_destination(wanted),
        4 => headers.tcp_source(wanted),
        5 => headers.tcp_destination(wanted),
        6 => headers.ip_protocol(byte),
        7 => headers.ttl(byte),
        8 => headers.ethertype(wanted),
        9 => headers.vlan(if value % 2 == 0 { VlanKind::Customer } else { VlanKind::Service }, value & 0xfff),
        10 => headers.fragment(value % 2 == 0),
        _ => headers.ethernet_source([0, 0, 0, 0, wanted_byte(value >> 8), wanted_byte(*value)]),
    }
}

fn wanted_byte(value: u16) -> u8 {
    value.to_be_bytes()[1]
}

fn asks() -> impl Strategy<Value = Vec<Ask>> {
    let one = (0..ASKS, any::<u16>(), any::<u16>()).prop_map(|(which, value, mask)| Ask(which, value, mask));
    proptest::collection::vec(one, 0..5)
}

proptest! {
    #[test]
    fn a_value_never_has_bits_outside_its_mask(asks in asks()) {
        if let Ok(found) = outer(&asks.iter().fold(Headers::new(), apply)) {
            prop_assert!(found.value().iter().zip(found.mask()).all(|(value, mask)| value & !mask == 0));
        }
    }

    #[test]
    fn the_order_of_what_is_asked_makes_no_difference(asks in asks(), pick in any::<Index>()) {
        let mut other = asks.clone();
        if !other.is_empty() {
            let at = pick.index(other.len());
            other.rotate_left(at);
        }
        let (one, two) = (outer(&asks.iter().fold(Headers::new(), apply)), outer(&other.iter().fold(Headers::new(), apply)));
        prop_assert_eq!(one.ok(), two.ok());
    }

    #[test]
    fn asking_twice_is_asking_once(asks in asks()) {
        let twice: Vec<_> = asks.iter().chain(&asks).cloned().collect();
        let (once, twice) = (outer(&asks.iter().fold(Headers::new(), apply)), outer(&twice.iter().fold(Headers::new(), apply)));
        prop_assert_eq!(once, twice);
    }

    #[test]
    fn criteria_are_the_sections_with_a_mask(fields in proptest::collection::vec((0..SIZE * 8, 1u64..), 0..4)) {
        let mut builder = Match::builder();
        for &(bit, value) in &fields {
            builder = builder.field("bit", super::Field::new(bit, 1), Masked::new(value & 1, 1));
        }
        if let Ok(found) = builder.build() {
            let sections: u8 = fields.iter().map(|(bit, _)| 1 << (bit / 8 / SECTION)).fold(0, |all, bit| all | bit);
            prop_assert_eq!(found.criteria(), sections);
            prop_assert!(found.mask()[found.significant()..].iter().all(|&byte| byte == 0));
        }
    }
}
