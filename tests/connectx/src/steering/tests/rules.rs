//! Packets through tables.

use super::*;
use crate::packet::samples::*;
use crate::packet::{Headers, checksum};
use proptest::prelude::*;
use uverbs_uapi::prm::{
    fte_match_set_lyr_2_4 as lyr, fte_match_set_misc as misc, fte_match_set_misc2 as misc2,
};

const PORT: Field = OUTER.then(lyr::UDP_DPORT);
const VNI: Field = fte_match_param::MISC_PARAMETERS.then(misc::VXLAN_VNI);

/// The road that a sandbox takes: a rule of the kernel, a user's table, an anchor, the kernel's table behind it.
struct Sandbox {
    bench: Bench,
    /// Root, user's table, anchor, table behind it.
    tables: [u32; 4],
    user_group: u32,
    tir: u32,
}

fn sandbox() -> Answer<Sandbox> {
    let mut bench = Bench::new();
    let behind = bench.table(NewTable::at(0, 3))?;
    let root = bench.table(NewTable { miss: Some(behind), ..NewTable::at(0, 1) })?;
    bench.root(TableType::NicRx, None, Some(root))?;
    let anchor = bench.table(NewTable { uid: SHARED, ..NewTable::at(0, 1) })?;
    let user = bench.table(NewTable::at(3, 64))?;
    let tir = bench.tir(0);
    let any = bench.group(0, behind, (0, 15), &[])?;
    bench.entry(behind, &NewEntry::to_tir(any, 0, tir))?;
    let by_port = bench.group(0, root, (0, 15), &[(PORT, 0xffff)])?;
    bench.entry(root, &NewEntry { value: vec![(PORT, 5000)], ..NewEntry::to_table(by_port, 0, user) })?;
    let group = bench.group(0, anchor, (0, 0), &[])?;
    bench.entry(anchor, &NewEntry::to_table(group, 0, behind))?;
    let user_group = bench.group(3, user, (0, 15), &[])?;
    bench.entry(user, &NewEntry { uid: 3, ..NewEntry::to_table(user_group, 0, anchor) })?;
    Ok(Sandbox { bench, tables: [root, user, anchor, behind], user_group, tir })
}

#[test]
fn a_packet_goes_through_the_sandbox_and_back() -> Answer<()> {
    let Sandbox { mut bench, tables: [root, user, anchor, behind], user_group, tir } = sandbox()?;
    let way = bench.receive(&datagram(5000, b"x"));
    assert_eq!(way.end, End::Tir(tir));
    assert_eq!(tables(&way.hops), [root, user, anchor, behind]);
    assert_eq!(way.hops.iter().map(|h| h.uid).collect::<Vec<_>>(), [0, 3, SHARED, 0]);
    assert_eq!(
        way.hops[0].to_string(),
        format!(
            "root -> table {root:#x} nic_rx level 1 uid 0: group 0x2 entry 0 uid 0 {{udp_dport=5000}} FWD table {user:#x}"
        )
    );
    let other = bench.receive(&datagram(5001, b"x"));
    assert_eq!((tables(&other.hops), other.end), (vec![root, behind], End::Tir(tir)));
    assert_eq!(
        other.hops[0].to_string(),
        format!("root -> table {root:#x} nic_rx level 1 uid 0: miss, to table {behind:#x}")
    );

    // The entry changed in place, and back.
    let drop =
        NewEntry { uid: 3, group: user_group, actions: DROP, modify: Some(0b101), ..NewEntry::default() };
    bench.entry(user, &drop)?;
    let way = bench.receive(&datagram(5000, b"x"));
    assert_eq!(way.end, dropped(&format!("entry {user:#x}[0]"), "the entry says drop"));
    // What it no longer sends to is free.
    assert_eq!(bench.steering.tables().iter().find(|t| t.table == anchor).map(|t| t.references), Some(0));
    bench.entry(
        user,
        &NewEntry { uid: 3, modify: Some(0b101), ..NewEntry::to_table(user_group, 0, anchor) },
    )?;
    assert_eq!(bench.receive(&datagram(5000, b"x")).end, End::Tir(tir));

    // No entry: dropped, unless the miss leads on.
    bench.delete_entry(3, user, 0)?;
    let way = bench.receive(&datagram(5000, b"x"));
    assert_eq!(way.end, dropped(&format!("table {user:#x}"), "no entry takes it"));
    bench.set_miss(3, user, Some(anchor))?;
    let way = bench.receive(&datagram(5000, b"x"));
    assert_eq!((way.end, tables(&way.hops)), (End::Tir(tir), vec![root, user, anchor, behind]));

    let view = bench.steering.tables().into_iter().find(|t| t.table == user);
    assert_eq!(view.map(|v| (v.uid, v.entries.len(), v.misses, v.miss)), Some((3, 0, 2, Some(anchor))));
    Ok(())
}

#[test]
fn without_a_root_nothing_is_received() {
    assert_eq!(Bench::new().receive(&datagram(1, b"")).end, dropped("nic_rx", "there is no root table"));
}

#[test]
fn a_loop_is_cut() -> Answer<()> {
    let mut bench = Bench::new();
    let (a, b) = (bench.table(NewTable::at(0, 1))?, bench.table(NewTable::at(0, 2))?);
    bench.root(TableType::NicRx, None, Some(a))?;
    let group = bench.group(0, a, (0, 0), &[])?;
    bench.entry(a, &NewEntry::to_table(group, 0, b))?;
    bench.set_miss(0, b, Some(a))?;
    let way = bench.receive(&datagram(1, b""));
    assert_eq!(way.hops.len(), 64);
    assert_eq!(way.end, dropped(&format!("miss of {b:#x}"), "a loop: 64 tables"));
    Ok(())
}

#[test]
fn copies_go_their_own_ways_and_do_not_multiply_without_end() -> Answer<()> {
    let Sandbox { mut bench, tables: [root, user, anchor, behind], user_group, tir } = sandbox()?;
    let own = bench.tir(3);
    bench.delete_entry(3, user, 0)?;
    let both =
        NewEntry { destinations: vec![(1, anchor), (2, own)], ..NewEntry::to_table(user_group, 0, anchor) };
    bench.entry(user, &NewEntry { uid: 3, ..both })?;
    let outcomes = bench.steering.receive(Packet::from_wire(datagram(5000, b"x")));
    let ends: Vec<_> = outcomes.iter().map(|o| (o.end.clone(), tables(&o.hops))).collect();
    assert_eq!(ends, [(End::Tir(tir), vec![root, user, anchor, behind]), (End::Tir(own), vec![])]);
    let names = format!("FWD table {anchor:#x}, TIR {own:#x}");
    assert_eq!(outcomes[0].hops[1].action, names);

    // A table that sends two copies to itself.
    let mut bench = Bench::new();
    let table = bench.table(NewTable::at(0, 1))?;
    bench.root(TableType::NicRx, None, Some(table))?;
    let group = bench.group(0, table, (0, 0), &[])?;
    let destinations = vec![(1, table), (1, table)];
    bench.entry(table, &NewEntry { destinations, ..NewEntry::to_table(group, 0, table) })?;
    let outcomes = bench.steering.receive(Packet::from_wire(datagram(5000, b"x")));
    assert_eq!(outcomes.len(), 64);
    assert!(outcomes.iter().all(|o| matches!(o.end, End::Dropped(..))));
    Ok(())
}

#[test]
fn the_lowest_index_wins_whatever_its_group() -> Answer<()> {
    let mut bench = Bench::new();
    let table = bench.table(NewTable::at(0, 1))?;
    bench.root(TableType::NicRx, None, Some(table))?;
    // Groups made and filled out of order.
    let any = bench.group(0, table, (8, 15), &[])?;
    let by_port = bench.group(0, table, (0, 7), &[(PORT, 0xffff)])?;
    let tirs: Vec<u32> = (0..4).map(|_| bench.tir(0)).collect();
    bench.entry(table, &NewEntry::to_tir(any, 9, tirs[0]))?;
    bench.entry(table, &NewEntry::to_tir(any, 8, tirs[1]))?;
    for (index, tir) in [(5, tirs[2]), (2, tirs[3])] {
        bench.entry(table, &NewEntry { value: vec![(PORT, 7)], ..NewEntry::to_tir(by_port, index, tir) })?;
    }
    for (expected, delete) in [(tirs[3], 2), (tirs[2], 5), (tirs[1], 8), (tirs[0], 9)] {
        assert_eq!(bench.receive(&datagram(7, b"")).end, End::Tir(expected));
        bench.delete_entry(0, table, delete)?;
    }
    assert_eq!(
        bench.receive(&datagram(7, b"")).end,
        dropped(&format!("table {table:#x}"), "no entry takes it")
    );
    Ok(())
}

#[test]
fn counters_count_and_tags_stay() -> Answer<()> {
    let mut bench = Bench::new();
    let (first, second) = (bench.table(NewTable::at(0, 1))?, bench.table(NewTable::at(0, 2))?);
    bench.root(TableType::NicRx, None, Some(first))?;
    let single = bench.counters(0, 0)?;
    let run = bench.counters(0, 3)?;
    let after = bench.counters(0, 0)?;
    assert_eq!((run, after), (single + 1, single + 9), "a run of 8 reserves its ids");
    let group = bench.group(0, first, (0, 0), &[])?;
    let counted = NewEntry {
        actions: FWD | COUNT,
        counters: vec![single, run + 7],
        tag: 0xbeef,
        ..NewEntry::to_table(group, 0, second)
    };
    bench.entry(first, &counted)?;
    let tir = bench.tir(0);
    let group = bench.group(0, second, (0, 0), &[])?;
    bench.entry(second, &NewEntry::to_tir(group, 0, tir))?;
    let way = bench.receive(&datagram(1, b"0123456789"));
    bench.receive(&datagram(1, b"0123456789"));
    assert_eq!(way.packet.metadata.flow_tag, 0xbeef);
    assert_eq!(way.hops[0].action, format!("COUNT FWD table {second:#x} tag 0xbeef"));
    assert_eq!(bench.query_counters(0, single, 1, false)?, [(2, 2 * 52)]);
    assert_eq!(bench.query_counters(0, run + 6, 3, true)?, [(0, 0), (2, 104), (0, 0)]);
    assert_eq!(bench.query_counters(0, run + 7, 1, false)?, [(0, 0)], "cleared");
    assert_eq!(bench.steering.count(single).map(|c| c.packets), Some(2));
    // The kernel asks for ranges with holes.
    assert_eq!(bench.query_counters(0, after, 3, false)?, [(0, 0); 3]);
    assert_eq!(bench.query_counters(0, after + 1, 1, false), Err(Syndrome::NoSuchObject));
    assert_eq!(bench.query_counters(3, single, 1, false), Err(Syndrome::ForeignObject));
    Ok(())
}

#[test]
fn what_was_written_is_read_back() -> Answer<()> {
    let Sandbox { mut bench, tables: [root, user, anchor, behind], user_group, .. } = sandbox()?;
    let query =
        |bench: &mut Bench, opcode, fields: &[(Field, u64)]| bench.send(opcode, 0, 0, 64, fields, &[]);
    let id = |table: u32| (query_flow_table_in::TABLE_ID, u64::from(table));
    let out = query(&mut bench, prm::MLX5_CMD_OP_QUERY_FLOW_TABLE, &[id(root)])?;
    let inside = |field| query_flow_table_out::FLOW_TABLE_CONTEXT.then(field);
    assert_eq!(inside(flow_table_context::LEVEL).get(&out), 1);
    assert_eq!(inside(flow_table_context::TABLE_MISS_ID).get(&out), u64::from(behind));
    let out = query(
        &mut bench,
        prm::MLX5_CMD_OP_QUERY_FLOW_GROUP,
        &[id(user), (query_flow_group_in::GROUP_ID, user_group.into())],
    )?;
    assert_eq!(query_flow_group_out::END_FLOW_INDEX.get(&out), 15);
    let out = query(&mut bench, prm::MLX5_CMD_OP_QUERY_FLOW_TABLE_ENTRY, &[id(user)])?;
    let inside = |field| query_fte_out::FLOW_CONTEXT.then(field);
    assert_eq!(inside(flow_context::GROUP_ID).get(&out), u64::from(user_group));
    assert_eq!(inside(flow_context::ACTION).get(&out), u64::from(FWD));
    assert_eq!(dest_format_struct::DESTINATION_ID.get(&out[query_fte_out::SIZE..]), u64::from(anchor));
    let out = query(
        &mut bench,
        prm::MLX5_CMD_OP_QUERY_FLOW_TABLE_ENTRY,
        &[id(user), (query_fte_in::FLOW_INDEX, 9)],
    );
    assert_eq!(out, Err(Syndrome::NoSuchObject));
    Ok(())
}

#[test]
fn tunnels_are_matched_removed_and_added() -> Answer<()> {
    let mut bench = Bench::new();
    let (first, second) = (bench.table(NewTable::at(0, 1))?, bench.table(NewTable::at(0, 2))?);
    bench.root(TableType::NicRx, None, Some(first))?;
    let group = bench.group(0, first, (0, 0), &[(VNI, 0xff_ffff), (PORT, 0xffff)])?;
    let decap = prm::MLX5_FLOW_CONTEXT_ACTION_DECAP;
    let value = vec![(VNI, 77), (PORT, 4789)];
    bench.entry(first, &NewEntry { actions: FWD | decap, value, ..NewEntry::to_table(group, 0, second) })?;
    // The second table sees the inner frame, and wraps it into another tunnel.
    let group = bench.group(0, second, (0, 0), &[(PORT, 0xffff)])?;
    let header = ethernet(0x0800, &ipv4(17, &vxlan(78, &[])));
    let reformat = bench.reformat(0, prm::MLX5_REFORMAT_TYPE_L2_TO_L2_TUNNEL, &header)?;
    let tir = bench.tir(0);
    let wrap = NewEntry {
        actions: FWD | prm::MLX5_FLOW_CONTEXT_ACTION_PACKET_REFORMAT,
        reformat,
        value: vec![(PORT, 5000)],
        ..NewEntry::to_tir(group, 0, tir)
    };
    bench.entry(second, &wrap)?;

    let inner = datagram(5000, b"inside the tunnel, long enough");
    let way = bench.receive(&ethernet(0x0800, &ipv4(17, &vxlan(77, &inner))));
    assert_eq!(way.end, End::Tir(tir));
    let headers = Headers::parse(&way.packet.bytes);
    assert_eq!(headers.tunnel, Some(crate::packet::headers::Tunnel::Vxlan { vni: 78 }));
    assert!(way.packet.bytes.ends_with(&inner));
    assert!(checksum::check(&way.packet.bytes, &headers.outer).l3);
    let other = bench.receive(&ethernet(0x0800, &ipv4(17, &vxlan(76, &inner))));
    assert_eq!(other.end, dropped(&format!("table {first:#x}"), "no entry takes it"));
    Ok(())
}

#[test]
fn tags_are_pushed_and_popped() -> Answer<()> {
    let mut bench = Bench::new();
    let (first, second) = (bench.table(NewTable::at(0, 1))?, bench.table(NewTable::at(0, 2))?);
    bench.root(TableType::NicRx, None, Some(first))?;
    let vid = OUTER.then(lyr::FIRST_VID);
    let pushes = prm::MLX5_FLOW_CONTEXT_ACTION_VLAN_PUSH | prm::MLX5_FLOW_CONTEXT_ACTION_VLAN_PUSH_2;
    let group = bench.group(0, first, (0, 0), &[])?;
    let vlans = [0x8100_0005, 0x88a8_0007];
    bench.entry(first, &NewEntry { actions: FWD | pushes, vlans, ..NewEntry::to_table(group, 0, second) })?;
    let pops = prm::MLX5_FLOW_CONTEXT_ACTION_VLAN_POP | prm::MLX5_FLOW_CONTEXT_ACTION_VLAN_POP_2;
    let group = bench.group(0, second, (0, 0), &[(vid, 0xfff)])?;
    let tir = bench.tir(0);
    let pop = NewEntry { actions: FWD | pops, value: vec![(vid, 7)], ..NewEntry::to_tir(group, 0, tir) };
    bench.entry(second, &pop)?;
    let frame = datagram(5000, b"x");
    let way = bench.receive(&frame);
    assert_eq!((way.end, way.packet.bytes), (End::Tir(tir), frame));
    Ok(())
}

#[test]
fn headers_and_registers_are_modified() -> Answer<()> {
    use prm::*;
    let mut bench = Bench::new();
    let (first, second) = (bench.table(NewTable::at(0, 1))?, bench.table(NewTable::at(0, 2))?);
    bench.root(TableType::NicRx, None, Some(first))?;
    let modification = bench.modification(
        0,
        TableType::NicRx,
        &[
            set_action(MLX5_ACTION_IN_FIELD_OUT_DMAC_15_0, 0, 16, 0xabcd),
            set_action(MLX5_ACTION_IN_FIELD_OUT_DIPV4, 0, 0, 0xc000_0263),
            set_action(MLX5_ACTION_IN_FIELD_OUT_UDP_DPORT, 4, 8, 0xff),
            add_action(MLX5_ACTION_IN_FIELD_OUT_IP_TTL, 0xffff_ffff),
            set_action(MLX5_ACTION_IN_FIELD_METADATA_REG_C_1, 0, 0, 0x1234_5678),
            copy_action(
                (MLX5_ACTION_IN_FIELD_METADATA_REG_C_1, 8),
                (MLX5_ACTION_IN_FIELD_METADATA_REG_B, 0),
                16,
            ),
            // There is no TCP header: nothing happens.
            set_action(MLX5_ACTION_IN_FIELD_OUT_TCP_DPORT, 0, 16, 1),
        ],
    )?;
    let group = bench.group(0, first, (0, 0), &[])?;
    let actions = FWD | MLX5_FLOW_CONTEXT_ACTION_MOD_HDR;
    bench.entry(first, &NewEntry { actions, modification, ..NewEntry::to_table(group, 0, second) })?;
    // The next table sees registers and headers as they are now.
    let reg = fte_match_param::MISC_PARAMETERS_2.then(misc2::METADATA_REG_C_1);
    let group = bench.group(0, second, (0, 0), &[(reg, 0xffff), (PORT, 0xffff)])?;
    let tir = bench.tir(0);
    let value = vec![(reg, 0x5678), (PORT, 0x1ff8)];
    bench.entry(second, &NewEntry { value, ..NewEntry::to_tir(group, 0, tir) })?;

    // 5000 is 0x1388.
    let way = bench.receive(&datagram(5000, b"odd"));
    assert_eq!(way.end, End::Tir(tir), "{:?}", way.hops);
    let frame = &way.packet.bytes;
    assert_eq!(
        (frame[4..6].to_vec(), frame[22], frame[30..34].to_vec()),
        (vec![0xab, 0xcd], 63, vec![192, 0, 2, 99])
    );
    assert_eq!(way.packet.metadata.reg_b, 0x3456);
    let checked = checksum::check(frame, &Headers::parse(frame).outer);
    assert!(checked.l3 && checked.l4, "checksums follow the change");
    // A wrong checksum stays wrong.
    let mut wrong = datagram(5000, b"odd");
    wrong[41] ^= 1;
    let frame = bench.receive(&wrong).packet.bytes;
    assert!(!checksum::check(&frame, &Headers::parse(&frame).outer).l4);
    Ok(())
}

#[test]
fn a_thousand_rules_among_64k_entries_match_the_right_one() -> Answer<()> {
    let mut bench = Bench::new();
    let table = bench.table(NewTable { log_size: 16, ..NewTable::at(0, 1) })?;
    bench.root(TableType::NicRx, None, Some(table))?;
    let source = OUTER.then(lyr::SRC_IPV4);
    let group = bench.group(0, table, (0, 65535), &[(PORT, 0xffff), (source, 0xffff_ffff)])?;
    let tirs: Vec<u32> = (0..1000).map(|_| bench.tir(0)).collect();
    for (index, &tir) in (0u32..).zip(&tirs) {
        let value = vec![(PORT, u64::from(index) + 1), (source, 0xc000_0201)];
        bench.entry(table, &NewEntry { value, ..NewEntry::to_tir(group, index * 65, tir) })?;
    }
    for (port, &tir) in (1u16..).zip(&tirs) {
        assert_eq!(bench.receive(&datagram(port, b"")).end, End::Tir(tir));
    }
    assert!(matches!(bench.receive(&datagram(1001, b"")).end, End::Dropped(..)));
    Ok(())
}

/// A rule: index, which fields it compares, with what.
type Rule = (u32, u8, [u8; 4]);

/// Bits of `kind`: port, source address' last byte, VLAN id, VLAN there.
fn fields(kind: u8) -> Vec<(Field, u64)> {
    let all = [
        (PORT, 0xffff),
        (OUTER.then(lyr::SRC_IPV4), 0xff),
        (OUTER.then(lyr::FIRST_VID), 0xfff),
        (OUTER.then(lyr::CVLAN_TAG), 1),
    ];
    all.into_iter().enumerate().filter(|(bit, _)| kind >> bit & 1 != 0).map(|(_, field)| field).collect()
}

/// What a packet of these has in those fields.
fn values(packet: [u8; 4]) -> [u64; 4] {
    let vlan = packet[3] & 1;
    [u64::from(packet[0] & 3) + 1, 1, u64::from(packet[2] & 1) * u64::from(vlan), vlan.into()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn tables_agree_with_a_scan_of_all_rules(
        rules in proptest::collection::vec((0u32..64, 0u8..16, any::<[u8; 4]>()), 0..40),
        deleted in proptest::collection::vec(any::<prop::sample::Index>(), 0..8),
        packets in proptest::collection::vec(any::<[u8; 4]>(), 1..12),
    ) {
        let mut bench = Bench::new();
        let run = |bench: &mut Bench| -> Answer<Vec<Rule>> {
            let table = bench.table(NewTable { log_size: 10, ..NewTable::at(0, 1) })?;
            bench.root(TableType::NicRx, None, Some(table))?;
            // One group for each set of fields, in an order that is not that of the sets.
            let mut groups = Vec::new();
            for kind in 0..16u8 {
                let first = u64::from(kind * 7 % 16) * 64;
                groups.push((first, bench.group(0, table, (first, first + 63), &fields(kind))?));
            }
            let mut live: Vec<Rule> = Vec::new();
            for (within, kind, wanted) in rules {
                let (first, group) = groups[usize::from(kind)];
                let index = u32::try_from(first).unwrap_or(0) + within;
                let tir = bench.tir(0);
                let pairs = [PORT, OUTER.then(lyr::SRC_IPV4), OUTER.then(lyr::FIRST_VID), OUTER.then(lyr::CVLAN_TAG)]
                    .into_iter()
                    .zip(values(wanted));
                let entry = NewEntry { value: pairs.collect(), ..NewEntry::to_tir(group, index, tir) };
                let answer = bench.entry(table, &entry);
                if live.iter().any(|rule| rule.0 == index) {
                    assert_eq!(answer, Err(Syndrome::IndexTaken));
                } else {
                    answer?;
                    live.push((index, kind, wanted));
                }
            }
            for at in deleted {
                if !live.is_empty() {
                    let rule = live.swap_remove(at.index(live.len()));
                    bench.delete_entry(0, table, rule.0)?;
                }
            }
            Ok(live)
        };
        let live = match run(&mut bench) {
            Ok(live) => live,
            Err(why) => return Err(TestCaseError::fail(format!("{why:?}"))),
        };
        for packet in packets {
            let [port, _, vid, vlan] = values(packet);
            let ip = ipv4(17, &udp(9, u16::try_from(port).unwrap_or(0), b""));
            let frame = if vlan == 0 {
                ethernet(0x0800, &ip)
            } else {
                ethernet(0x8100, &tag(u16::try_from(vid).unwrap_or(0), 0x0800, &ip))
            };
            let expected = live
                .iter()
                .filter(|(_, kind, wanted)| {
                    (0..4).all(|bit| kind >> bit & 1 == 0 || values(*wanted)[bit] == values(packet)[bit])
                })
                .map(|rule| rule.0)
                .min();
            let way = bench.receive(&frame);
            prop_assert_eq!(way.hops[0].hit.as_ref().map(|hit| hit.entry), expected);
        }
    }
}
