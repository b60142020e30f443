//! The parser, the image, checksums and changes, on real frames and on any bytes.

use super::checksum::{Checked, Fill, check, fill, sum};
use super::headers::{Summary, Transport, Tunnel};
use super::samples::*;
use super::*;
use proptest::prelude::*;
use uverbs_uapi::prm::{
    Field, fte_match_param as param, fte_match_set_lyr_2_4 as lyr, fte_match_set_misc as misc,
    fte_match_set_misc2 as misc2, fte_match_set_misc3 as misc3,
};

const OUTER: Field = param::OUTER_HEADERS;
const INNER: Field = param::INNER_HEADERS;
const MISC: Field = param::MISC_PARAMETERS;
const MISC2: Field = param::MISC_PARAMETERS_2;
const MISC3: Field = param::MISC_PARAMETERS_3;

fn image(frame: &[u8]) -> Image {
    Image::new(&Packet::from_wire(frame.to_vec()), &Headers::parse(frame))
}

/// Hop-by-hop options, a routing header, destination options: 8, 24 and 16 bytes.
fn extensions(last: u8) -> Vec<u8> {
    let mut bytes = vec![43, 0, 1, 4, 0, 0, 0, 0];
    bytes.extend([60, 2, 0, 0]);
    bytes.extend([0; 20]);
    bytes.extend([last, 1, 1, 12]);
    bytes.extend([0; 12]);
    bytes
}

/// A frame, and what its image must hold.
type Case = (&'static str, Vec<u8>, Vec<(Field, u64)>);

#[test]
#[expect(clippy::too_many_lines, reason = "a table of frames")]
fn every_header_is_in_the_image() {
    let small = datagram(5000, b"hello");
    let inner = ethernet(0x8100, &tag(0x6005, 0x86dd, &ipv6(6, &tcp(80, 8080, 0x112, b"x"))));
    let gre = |flags: u16, kind: u16, options: &[u8], payload: &[u8]| {
        ethernet(
            0x0800,
            &ipv4(47, &[&flags.to_be_bytes()[..], &kind.to_be_bytes(), options, payload].concat()),
        )
    };
    let icmp = [8, 1, 0, 0, 0xaa, 0xbb, 0xcc, 0xdd];
    let cases: Vec<Case> = vec![
        (
            "UDP over IPv4",
            small.clone(),
            vec![
                (OUTER.then(lyr::DMAC_47_16), 0x0215_b300),
                (OUTER.then(lyr::DMAC_15_0), 1),
                (OUTER.then(lyr::SMAC_15_0), 0x99),
                (OUTER.then(lyr::ETHERTYPE), 0x800),
                (OUTER.then(lyr::IP_VERSION), 4),
                (OUTER.then(lyr::IPV4_IHL), 5),
                (OUTER.then(lyr::IP_DSCP), 0xb9 >> 2),
                (OUTER.then(lyr::IP_ECN), 1),
                (OUTER.then(lyr::TTL_HOPLIMIT), 64),
                (OUTER.then(lyr::IP_PROTOCOL), 17),
                (OUTER.then(lyr::SRC_IPV4), 0xc000_0201),
                (OUTER.then(lyr::DST_IPV4), 0xc000_0202),
                (OUTER.then(lyr::UDP_SPORT), 40000),
                (OUTER.then(lyr::UDP_DPORT), 5000),
                (OUTER.then(lyr::L4_TYPE), 2),
                (OUTER.then(lyr::TCP_DPORT), 0),
                (OUTER.then(lyr::FRAG), 0),
                (OUTER.then(lyr::CVLAN_TAG), 0),
                (MISC.then(misc::SOURCE_PORT), 0xffff),
            ],
        ),
        (
            "QinQ",
            ethernet(0x88a8, &tag(0x3064, 0x8100, &tag(0xf00a, 0x0800, &small[14..]))),
            vec![
                (OUTER.then(lyr::SVLAN_TAG), 1),
                (OUTER.then(lyr::CVLAN_TAG), 0),
                (OUTER.then(lyr::FIRST_VID), 0x64),
                (OUTER.then(lyr::FIRST_PRIO), 1),
                (OUTER.then(lyr::FIRST_CFI), 1),
                (MISC.then(misc::OUTER_SECOND_CVLAN_TAG), 1),
                (MISC.then(misc::OUTER_SECOND_VID), 10),
                (MISC.then(misc::OUTER_SECOND_PRIO), 7),
                (MISC.then(misc::OUTER_SECOND_CFI), 1),
                (OUTER.then(lyr::ETHERTYPE), 0x800),
                (OUTER.then(lyr::UDP_DPORT), 5000),
            ],
        ),
        (
            "IPv6 with extension headers",
            ethernet(0x86dd, &ipv6_extended(0, &extensions(17), 17, &udp(1, 2, b"payload"))),
            vec![
                (OUTER.then(lyr::IP_VERSION), 6),
                (OUTER.then(lyr::IP_PROTOCOL), 17),
                (OUTER.then(lyr::TTL_HOPLIMIT), 63),
                (OUTER.then(lyr::IP_DSCP), 0xb9 >> 2),
                (OUTER.then(lyr::IP_ECN), 1),
                (MISC.then(misc::OUTER_IPV6_FLOW_LABEL), 0x1_2345),
                (OUTER.then(lyr::UDP_DPORT), 2),
                (OUTER.then(lyr::SRC_IPV4), 1),
                (Field::new(OUTER.then(lyr::DST_IPV4_DST_IPV6).offset, 32), 0x2001_0db8),
            ],
        ),
        (
            "the first fragment has no ports",
            ethernet(0x0800, &ipv4_fragment(17, 0x2000, &udp(1, 2, b"0123456789abcdef"))),
            vec![
                (OUTER.then(lyr::FRAG), 1),
                (OUTER.then(lyr::IP_PROTOCOL), 17),
                (OUTER.then(lyr::UDP_DPORT), 0),
                (OUTER.then(lyr::L4_TYPE), 0),
            ],
        ),
        (
            "IPv6 fragment",
            ethernet(0x86dd, &ipv6_extended(44, &[17, 0, 0, 9, 0, 0, 0, 1], 17, &udp(1, 2, b"01234567"))),
            vec![
                (OUTER.then(lyr::FRAG), 1),
                (OUTER.then(lyr::IP_PROTOCOL), 17),
                (OUTER.then(lyr::UDP_DPORT), 0),
            ],
        ),
        (
            "TCP in a VLAN over IPv6 in VXLAN",
            ethernet(0x0800, &ipv4(17, &vxlan(0x12_3456, &inner))),
            vec![
                (MISC.then(misc::VXLAN_VNI), 0x12_3456),
                (OUTER.then(lyr::UDP_DPORT), 4789),
                (INNER.then(lyr::FIRST_VID), 5),
                (INNER.then(lyr::FIRST_PRIO), 3),
                (INNER.then(lyr::CVLAN_TAG), 1),
                (INNER.then(lyr::IP_VERSION), 6),
                (INNER.then(lyr::TCP_SPORT), 80),
                (INNER.then(lyr::TCP_DPORT), 8080),
                (INNER.then(lyr::TCP_FLAGS), 0x112),
                (MISC.then(misc::INNER_IPV6_FLOW_LABEL), 0x1_2345),
                (MISC3.then(misc3::INNER_TCP_SEQ_NUM), 0x0102_0304),
                (MISC3.then(misc3::INNER_TCP_ACK_NUM), 0x0506_0708),
                (MISC3.then(misc3::OUTER_TCP_SEQ_NUM), 0),
            ],
        ),
        (
            "GENEVE with an option",
            ethernet(
                0x0800,
                &ipv4(
                    17,
                    &udp(1, 6081, &[&[1, 0x80, 0x65, 0x58, 0, 0, 0x4d, 0, 1, 2, 3, 4][..], &small].concat()),
                ),
            ),
            vec![
                (MISC.then(misc::GENEVE_VNI), 0x4d),
                (MISC.then(misc::GENEVE_OPT_LEN), 1),
                (MISC.then(misc::GENEVE_OAM), 1),
                (MISC.then(misc::GENEVE_PROTOCOL_TYPE), 0x6558),
                (INNER.then(lyr::UDP_DPORT), 5000),
            ],
        ),
        (
            "GRE with checksum, key and sequence number",
            gre(0xb000, 0x0800, &[0, 0, 0, 0, 0xde, 0xad, 0xbe, 0xef, 0, 0, 0, 1], &small[14..]),
            vec![
                (MISC.then(misc::GRE_C_PRESENT), 1),
                (MISC.then(misc::GRE_K_PRESENT), 1),
                (MISC.then(misc::GRE_S_PRESENT), 1),
                (MISC.then(misc::GRE_PROTOCOL), 0x800),
                (MISC.then(misc::GRE_KEY), 0xdead_beef),
                (INNER.then(lyr::UDP_DPORT), 5000),
            ],
        ),
        ("NVGRE", gre(0x2000, 0x6558, &[0, 0, 1, 0], &small), vec![(INNER.then(lyr::DMAC_15_0), 1)]),
        (
            "MPLS over GRE",
            gre(0, 0x8847, &[], &[0, 1, 0x01, 64]),
            vec![(MISC2.then(misc2::OUTER_FIRST_MPLS_OVER_GRE), 0x0001_0140)],
        ),
        (
            "MPLS over UDP",
            ethernet(0x0800, &ipv4(17, &udp(1, 6635, &[0, 2, 1, 64, 0, 0, 0, 0]))),
            vec![(MISC2.then(misc2::OUTER_FIRST_MPLS_OVER_UDP), 0x0002_0140)],
        ),
        ("MPLS", ethernet(0x8847, &[0, 3, 1, 64]), vec![(MISC2.then(misc2::OUTER_FIRST_MPLS), 0x0003_0140)]),
        (
            "IPv4 in IPv6",
            ethernet(0x86dd, &ipv6(4, &small[14..])),
            vec![
                (INNER.then(lyr::IP_VERSION), 4),
                (INNER.then(lyr::UDP_DPORT), 5000),
                (INNER.then(lyr::DMAC_15_0), 0),
            ],
        ),
        (
            "ICMP",
            ethernet(0x0800, &ipv4(1, &icmp)),
            vec![
                (MISC3.then(misc3::ICMP_TYPE), 8),
                (MISC3.then(misc3::ICMP_CODE), 1),
                (MISC3.then(misc3::ICMP_HEADER_DATA), 0xaabb_ccdd),
                (MISC3.then(misc3::ICMPV6_TYPE), 0),
            ],
        ),
        (
            "ICMPv6",
            ethernet(0x86dd, &ipv6(58, &icmp)),
            vec![(MISC3.then(misc3::ICMPV6_TYPE), 8), (MISC3.then(misc3::ICMP_TYPE), 0)],
        ),
        (
            "VXLAN-GPE with IPv4",
            ethernet(
                0x0800,
                &ipv4(17, &udp(1, 4790, &[&[0x0c, 0, 0, 1, 0, 0, 9, 0][..], &small[14..]].concat())),
            ),
            vec![
                (MISC3.then(misc3::OUTER_VXLAN_GPE_VNI), 9),
                (MISC3.then(misc3::OUTER_VXLAN_GPE_FLAGS), 0x0c),
                (MISC3.then(misc3::OUTER_VXLAN_GPE_NEXT_PROTOCOL), 1),
                (INNER.then(lyr::UDP_DPORT), 5000),
            ],
        ),
        (
            "GTP-U",
            ethernet(
                0x0800,
                &ipv4(17, &udp(1, 2152, &[&[0x30, 255, 0, 0, 0, 0, 0, 7][..], &small[14..]].concat())),
            ),
            vec![
                (MISC3.then(misc3::GTPU_TEID), 7),
                (MISC3.then(misc3::GTPU_MSG_TYPE), 255),
                (INNER.then(lyr::UDP_DPORT), 5000),
            ],
        ),
        (
            "RoCE v2",
            ethernet(0x0800, &ipv4(17, &udp(1, 4791, &[4, 0, 0xff, 0xff, 0, 0, 1, 2, 0, 0, 0, 0]))),
            vec![(MISC.then(misc::BTH_OPCODE), 4), (MISC.then(misc::BTH_DST_QP), 0x102)],
        ),
        (
            "ESP",
            ethernet(0x0800, &ipv4(50, &[0, 0, 0x10, 0x01, 0, 0, 0, 1])),
            vec![(MISC.then(misc::OUTER_ESP_SPI), 0x1001), (OUTER.then(lyr::IP_PROTOCOL), 50)],
        ),
        (
            "ARP",
            ethernet(0x0806, &[0; 28]),
            vec![(OUTER.then(lyr::ETHERTYPE), 0x806), (OUTER.then(lyr::IP_VERSION), 0)],
        ),
        ("runt", GUEST.to_vec(), vec![(OUTER.then(lyr::ETHERTYPE), 0), (OUTER.then(lyr::DMAC_15_0), 0)]),
        (
            "an IPv4 header cut short is none",
            small[..30].to_vec(),
            vec![(OUTER.then(lyr::ETHERTYPE), 0x800), (OUTER.then(lyr::IP_VERSION), 0)],
        ),
        (
            "UDP cut short has no ports",
            small[..38].to_vec(),
            vec![(OUTER.then(lyr::IP_PROTOCOL), 17), (OUTER.then(lyr::UDP_DPORT), 0)],
        ),
    ];
    for (name, frame, fields) in cases {
        let image = image(&frame);
        for (field, expected) in fields {
            assert_eq!(field.get(image.bytes()), expected, "{name}: {field:?}");
        }
    }
}

#[test]
fn metadata_is_in_the_image() {
    let mut packet = Packet { bytes: datagram(1, b""), ..Packet::default() };
    packet.metadata.source_sqn = 0x77;
    packet.metadata.reg_a = 0xa;
    packet.metadata.reg_c = [0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7];
    let image = Image::new(&packet, &Headers::parse(&packet.bytes));
    for (field, expected) in [
        (MISC.then(misc::SOURCE_SQN), 0x77),
        (MISC.then(misc::SOURCE_PORT), 0),
        (MISC2.then(misc2::METADATA_REG_A), 0xa),
        (MISC2.then(misc2::METADATA_REG_C_0), 0xc0),
        (MISC2.then(misc2::METADATA_REG_C_3), 0xc3),
        (MISC2.then(misc2::METADATA_REG_C_7), 0xc7),
    ] {
        assert_eq!(field.get(image.bytes()), expected, "{field:?}");
    }
}

#[test]
fn a_known_header_has_its_known_checksum() {
    // The example of the Wikipedia article on the IPv4 header.
    let header =
        [0x45, 0, 0, 0x73, 0, 0, 0x40, 0, 0x40, 0x11, 0xb8, 0x61, 0xc0, 0xa8, 0, 1, 0xc0, 0xa8, 0, 0xc7];
    assert_eq!(sum(&header), 0xffff);
    assert_eq!(internet_checksum(&header), 0);
}

#[test]
fn checksums_are_checked() {
    let jumbo = datagram(5000, &vec![0xa5; 8958]);
    assert_eq!(jumbo.len(), 9000);
    let good: [(&str, Vec<u8>); 6] = [
        ("UDP", datagram(5000, b"odd")),
        ("jumbo", jumbo),
        ("TCP", ethernet(0x0800, &ipv4(6, &tcp(1, 2, 0x10, b"data")))),
        ("IPv6", ethernet(0x86dd, &ipv6(17, &udp(1, 2, b"data")))),
        (
            "IPv6 with extensions",
            ethernet(0x86dd, &ipv6_extended(0, &extensions(6), 6, &tcp(1, 2, 2, b"data!"))),
        ),
        ("VLAN", ethernet(0x8100, &tag(5, 0x0800, &ipv4(17, &udp(1, 2, b"data"))))),
    ];
    for (name, mut frame) in good {
        let layer = Headers::parse(&frame).outer;
        let ip = layer.network.map_or(0, |n| n.at);
        let expected = Checked { l3: true, l4: true, sum: !internet_checksum(&frame[ip..]) };
        assert_eq!(check(&frame, &layer), expected, "{name}");
        // Padding does not count.
        frame.extend([0xee; 7]);
        assert_eq!(check(&frame, &Headers::parse(&frame).outer), expected, "{name}, padded");
        let last = frame.len() - 8;
        frame[last] ^= 1;
        let checked = check(&frame, &Headers::parse(&frame).outer);
        assert!(checked.l3 && !checked.l4, "{name}: a wrong byte is not seen");
        // The IPv4 time to live is in the header's sum only.
        if frame[ip] >> 4 == 4 {
            frame[ip + 8] ^= 1;
            assert!(!check(&frame, &Headers::parse(&frame).outer).l3, "{name}: a wrong header is not seen");
        }
    }
    let mut without = datagram(5000, b"no checksum");
    without[40..42].fill(0);
    assert!(check(&without, &Headers::parse(&without).outer).l4);
    let truncated = &datagram(5000, b"cut off")[..45];
    let checked = check(truncated, &Headers::parse(truncated).outer);
    assert!(!checked.l3 && !checked.l4);
    let fragment = ethernet(0x0800, &ipv4_fragment(17, 0x2000, &udp(1, 2, b"0123456789")));
    let checked = check(&fragment, &Headers::parse(&fragment).outer);
    assert!(checked.l3 && !checked.l4);
}

#[test]
fn checksums_are_filled_in() {
    for frame in [
        datagram(5000, b"odd"),
        ethernet(0x0800, &ipv4(6, &tcp(1, 2, 0x10, b"data"))),
        ethernet(0x86dd, &ipv6_extended(0, &extensions(17), 17, &udp(1, 2, b"data"))),
    ] {
        let layer = Headers::parse(&frame).outer;
        let mut spoiled = frame.clone();
        let Some(Transport::Tcp(at) | Transport::Udp(at)) = layer.transport else {
            panic!("no transport header")
        };
        let field = at + if matches!(layer.transport, Some(Transport::Tcp(_))) { 16 } else { 6 };
        spoiled[field..field + 2].fill(0x11);
        if frame[14] >> 4 == 4 {
            spoiled[24..26].fill(0x22);
        }
        let mut untouched = spoiled.clone();
        fill(&mut spoiled, &layer, Fill { l3: true, l4: true });
        assert_eq!(spoiled, frame);
        let before = untouched.clone();
        fill(&mut untouched, &layer, Fill::default());
        assert_eq!(untouched, before);
    }
}

#[test]
fn tags_and_tunnels_come_and_go() {
    let plain = datagram(5000, b"payload that is long enough not to be padded");
    let mut frame = plain.clone();
    edit::push_vlan(&mut frame, 0x8100_0005);
    edit::push_vlan(&mut frame, 0x88a8_0007);
    assert_eq!(frame[12..22], [0x88, 0xa8, 0, 7, 0x81, 0, 0, 5, 8, 0]);
    assert_eq!(
        (edit::pop_vlan(&mut frame), edit::pop_vlan(&mut frame), edit::pop_vlan(&mut frame)),
        (Some(7), Some(5), None)
    );
    assert_eq!(frame, plain);

    // A header as software gives it: lengths and checksum are the card's task.
    let mut header = ethernet(0x0800, &ipv4(17, &vxlan(77, &[])));
    header[16..18].fill(0);
    header[24..26].fill(0);
    header[38..42].fill(0);
    edit::encapsulate(&mut frame, &header);
    let headers = Headers::parse(&frame);
    assert_eq!(headers.tunnel, Some(Tunnel::Vxlan { vni: 77 }));
    assert_eq!(check(&frame, &headers.outer), Checked { l3: true, l4: true, sum: sum(&frame[14..]) });
    assert!(headers.inner.is_some_and(|inner| check(&frame, &inner).l4));
    assert_eq!(usize::from(u16::from_be_bytes([frame[38], frame[39]])), frame.len() - 34);
    assert_eq!(edit::decapsulate(&mut frame), Some(()));
    assert_eq!(frame, plain);
    assert_eq!(edit::decapsulate(&mut frame), None);
    assert_eq!(frame, plain);

    // GRE carries the IP datagram alone.
    let mut header = ethernet(0x0800, &ipv4(47, &[0, 0, 8, 0]));
    header[16..18].fill(0);
    assert_eq!(edit::encapsulate_l3(&mut frame, &header), Some(()));
    assert_eq!(frame.len(), plain.len() + 24);
    assert!(check(&frame, &Headers::parse(&frame).outer).l3);
    let ethernet_header = [&[2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3][..], &[0, 0]].concat();
    assert_eq!(edit::decapsulate_l3(&mut frame, &ethernet_header), Some(()));
    assert_eq!(frame[..14], [2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 8, 0]);
    assert_eq!(frame[14..], plain[14..]);
    let mut arp = ethernet(0x0806, &[0; 28]);
    assert_eq!(edit::encapsulate_l3(&mut arp, &header), None);
}

#[test]
fn a_large_segment_is_cut() {
    let payload: Vec<u8> = (0..10_000u16).map(|n| n.to_be_bytes()[1]).collect();
    // FIN, PSH, ACK, CWR
    let header = ethernet(0x0800, &ipv4(6, &tcp(1, 2, 0x99, b"")));
    let pieces = segment::segments(&header, &payload, 1460);
    assert_eq!(pieces.len(), 7);
    let mut joined: Vec<u8> = Vec::new();
    for (index, mut piece) in pieces.into_iter().enumerate() {
        let layer = Headers::parse(&piece).outer;
        fill(&mut piece, &layer, Fill { l3: true, l4: true });
        let checked = check(&piece, &Headers::parse(&piece).outer);
        assert!(checked.l3 && checked.l4, "segment {index}");
        let image = image(&piece);
        assert_eq!(
            MISC3.then(misc3::OUTER_TCP_SEQ_NUM).get(image.bytes()),
            0x0102_0304 + 1460 * index as u64
        );
        let flags = OUTER.then(lyr::TCP_FLAGS).get(image.bytes());
        assert_eq!(flags, 0x10 | if index == 0 { 0x80 } else { 0 } | if index == 6 { 0x09 } else { 0 });
        assert_eq!(usize::from(u16::from_be_bytes([piece[18], piece[19]])), 0x1234 + index);
        joined.extend(&piece[54..]);
    }
    assert_eq!(joined, payload);

    let tunnel = ethernet(0x0800, &ipv4(17, &vxlan(1, &ethernet(0x86dd, &ipv6(6, &tcp(1, 2, 0x10, b""))))));
    let pieces = segment::segments(&tunnel, &payload, 1000);
    assert_eq!(pieces.len(), 10);
    for (index, mut piece) in pieces.into_iter().enumerate() {
        let headers = Headers::parse(&piece);
        let inner = headers.inner.unwrap_or_default();
        fill(&mut piece, &inner, Fill { l3: true, l4: true });
        fill(&mut piece, &headers.outer, Fill { l3: true, l4: true });
        let headers = Headers::parse(&piece);
        assert!(check(&piece, &headers.outer).l4 && headers.inner.is_some_and(|i| check(&piece, &i).l4));
        let sequence = MISC3.then(misc3::INNER_TCP_SEQ_NUM).get(image(&piece).bytes());
        assert_eq!(sequence, 0x0102_0304 + 1000 * index as u64);
    }

    let datagrams = segment::segments(&ethernet(0x0800, &ipv4(17, &udp(1, 2, b""))), &payload[..2500], 1000);
    let lengths: Vec<_> = datagrams.iter().map(|d| u16::from_be_bytes([d[38], d[39]])).collect();
    assert_eq!(lengths, [1008, 1008, 508]);
    assert_eq!(segment::segments(&header, b"", 1460).len(), 1);
    assert_eq!(segment::segments(&header, &payload, 0).len(), 1);
}

#[test]
fn a_frame_is_summed_up_in_words() {
    let words = |frame: &[u8]| Summary::new(frame, &Headers::parse(frame)).to_string();
    let macs = "02:00:00:00:00:99 > 02:15:b3:00:00:01";
    assert_eq!(words(&datagram(5000, b"")), format!("{macs} IPv4 192.0.2.1 > 192.0.2.2 UDP 40000 > 5000"));
    assert_eq!(words(&ethernet(0x0806, &[0; 28])), format!("{macs} ARP"));
    assert_eq!(words(&[1, 2, 3]), " runt");
    let tunnel = ethernet(0x88a8, &tag(9, 0x86dd, &ipv6(17, &vxlan(77, &ethernet(0x1234, b"")))));
    let outer = "IPv6 2001:db8::1 > 2001:db8::2 UDP 50000 > 4789 VXLAN 77";
    assert_eq!(words(&tunnel), format!("{macs} svlan 9 {outer} [{macs} ethertype 0x1234]"));
}

/// Frames that begin sensibly, so that the parser gets deep, and go on in any way.
fn frames() -> impl Strategy<Value = Vec<u8>> {
    let seeds = prop_oneof![
        Just(datagram(5000, b"x")),
        Just(ethernet(0x0800, &ipv4(17, &vxlan(1, &ethernet(0x86dd, &ipv6(6, &tcp(1, 2, 0x10, b""))))))),
        Just(ethernet(0x86dd, &ipv6_extended(0, &extensions(17), 17, &udp(1, 6081, &[0; 64])))),
        Just(ethernet(0x88a8, &tag(1, 0x8100, &tag(2, 0x0800, &ipv4(47, &[0xb0, 0, 0x65, 0x58]))))),
        Just(Vec::new()),
    ];
    (
        seeds,
        proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        any::<Vec<u8>>(),
        0usize..256,
    )
        .prop_map(|(mut frame, changes, tail, cut)| {
            frame.extend(tail);
            for (at, byte) in changes {
                if !frame.is_empty() {
                    let at = at.index(frame.len());
                    frame[at] = byte;
                }
            }
            let length = frame.len();
            frame.truncate(length.saturating_sub(cut));
            frame
        })
}

proptest! {
    #[test]
    fn any_frame_is_taken(frame in frames(), header in frames(), size in 0usize..100, number in 0u16..0x60) {
        let headers = Headers::parse(&frame);
        let _image = image(&frame);
        let _words = Summary::new(&frame, &headers).to_string();
        for layer in [Some(headers.outer), headers.inner].into_iter().flatten() {
            let _checked = check(&frame, &layer);
            let mut filled = frame.clone();
            fill(&mut filled, &layer, Fill { l3: true, l4: true });
            prop_assert_eq!(filled.len(), frame.len());
            if let Some(place) = edit::place(number, &layer) {
                prop_assert!(place.width <= 32);
            }
        }
        for change in 0..7 {
            let mut copy = frame.clone();
            match change {
                0 => edit::push_vlan(&mut copy, 0x8100_0001),
                1 => edit::encapsulate(&mut copy, &header),
                2 => edit::keeping_checksums(&mut copy, |f| f.extend(&header)),
                // Without the headers that the change needs, the frame stays as it is.
                3 => prop_assert_eq!(edit::pop_vlan(&mut copy).is_some(), copy != frame),
                4 => prop_assert_eq!(edit::decapsulate(&mut copy).is_some(), copy != frame),
                5 => prop_assert!(edit::encapsulate_l3(&mut copy, &header).is_some() || copy == frame),
                _ => prop_assert!(edit::decapsulate_l3(&mut copy, &header).is_some() || copy == frame),
            }
            let _image = image(&copy);
        }
        let pieces = segment::segments(&header, &frame, size);
        let carried: usize = pieces.iter().map(|p| p.len() - header.len()).sum();
        prop_assert_eq!(carried, frame.len());
    }

    #[test]
    fn what_was_filled_in_checks_out(payload: Vec<u8>, port: u16, v6: bool, stream: bool) {
        let transport = if stream { tcp(port, port, 0x10, &payload) } else { udp(port, port, &payload) };
        let number = if stream { 6 } else { 17 };
        let frame = if v6 { ethernet(0x86dd, &ipv6(number, &transport)) } else { ethernet(0x0800, &ipv4(number, &transport)) };
        let layer = Headers::parse(&frame).outer;
        let mut filled = frame.clone();
        fill(&mut filled, &layer, Fill { l3: true, l4: true });
        prop_assert_eq!(&filled, &frame);
        let checked = check(&frame, &layer);
        prop_assert!(checked.l3 && checked.l4);
    }
}
