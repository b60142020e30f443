//! The switch, its access control lists, and what the guest sends.

use super::*;
use crate::packet::UPLINK;
use crate::packet::samples::*;
use uverbs_uapi::prm::{
    fte_match_set_lyr_2_4 as lyr, fte_match_set_misc as misc, fte_match_set_misc2 as misc2,
};

const SOURCE_PORT: Field = fte_match_param::MISC_PARAMETERS.then(misc::SOURCE_PORT);
const SOURCE_SQN: Field = fte_match_param::MISC_PARAMETERS.then(misc::SOURCE_SQN);
const REG_C_0: Field = fte_match_param::MISC_PARAMETERS_2.then(misc2::METADATA_REG_C_0);
const DPORT: Field = OUTER.then(lyr::UDP_DPORT);

fn transmit(bench: &mut Bench, sqn: u32, frame: &[u8]) -> Outcome {
    let mut packet = Packet { bytes: frame.to_vec(), ..Packet::default() };
    packet.metadata.source_sqn = sqn;
    bench.steering.transmit(packet).swap_remove(0)
}

/// NIC RX with one entry for everything.
fn receiver(bench: &mut Bench) -> Answer<(u32, u32)> {
    let table = bench.table(NewTable::at(0, 1))?;
    bench.root(TableType::NicRx, None, Some(table))?;
    let group = bench.group(0, table, (0, 0), &[])?;
    let tir = bench.tir(0);
    bench.entry(table, &NewEntry::to_tir(group, 0, tir))?;
    Ok((table, tir))
}

#[test]
fn without_tables_what_is_sent_leaves_and_nic_tx_may_stop_it() -> Answer<()> {
    let mut bench = Bench::new();
    assert_eq!(transmit(&mut bench, 1, &datagram(7, b"")).end, End::Uplink);
    let table = bench.table(NewTable::of(TableType::NicTx, 1))?;
    bench.root(TableType::NicTx, None, Some(table))?;
    let way = transmit(&mut bench, 1, &datagram(7, b""));
    assert_eq!((way.end, way.hops[0].action.as_str()), (End::Uplink, "default: passes nic_tx"));
    let group = bench.group(0, table, (0, 1), &[(DPORT, 0xffff)])?;
    bench.entry(table, &NewEntry { group, actions: DROP, value: vec![(DPORT, 7)], ..NewEntry::default() })?;
    let allow = prm::MLX5_FLOW_CONTEXT_ACTION_ALLOW;
    bench.entry(
        table,
        &NewEntry { group, index: 1, actions: allow, value: vec![(DPORT, 8)], ..NewEntry::default() },
    )?;
    assert_eq!(
        transmit(&mut bench, 1, &datagram(7, b"")).end,
        dropped(&format!("entry {table:#x}[0]"), "the entry says drop")
    );
    assert_eq!(transmit(&mut bench, 1, &datagram(8, b"")).end, End::Uplink);
    // A receive object is no destination on this side.
    let tir = bench.tir(0);
    assert_eq!(bench.entry(table, &NewEntry::to_tir(group, 1, tir)), Err(Syndrome::BadDestination));
    Ok(())
}

#[test]
fn the_switch_decides_in_both_directions() -> Answer<()> {
    let mut bench = Bench::new();
    let (nic, tir) = receiver(&mut bench)?;
    assert_eq!(
        bench.receive(&datagram(7, b"")).end,
        End::Tir(tir),
        "no switch: uplink and vport 0 are connected"
    );
    let fdb = bench.table(NewTable::of(TableType::Fdb, 1))?;
    bench.root(TableType::Fdb, None, Some(fdb))?;
    assert_eq!(
        bench.receive(&datagram(7, b"")).end,
        dropped(&format!("table {fdb:#x}"), "no entry takes it")
    );
    let from = bench.group(0, fdb, (0, 3), &[(SOURCE_PORT, 0xffff)])?;
    let to = |index, source: u16, destination| NewEntry {
        group: from,
        index,
        actions: FWD,
        destinations: vec![destination],
        value: vec![(SOURCE_PORT, source.into())],
        ..NewEntry::default()
    };
    bench.entry(fdb, &to(0, UPLINK, (0, 0)))?;
    bench.entry(fdb, &to(1, 0, (0, UPLINK.into())))?;
    let way = bench.receive(&datagram(7, b""));
    assert_eq!((way.end, tables(&way.hops)), (End::Tir(tir), vec![fdb, nic]));
    assert_eq!(transmit(&mut bench, 1, &datagram(7, b"")).end, End::Uplink);
    // By its own destination type, to a vport that is not there, and back to the sender.
    bench.delete_entry(0, fdb, 1)?;
    bench.entry(fdb, &to(1, 0, (8, 0)))?;
    assert_eq!(transmit(&mut bench, 1, &datagram(7, b"")).end, End::Uplink);
    bench.delete_entry(0, fdb, 1)?;
    bench.entry(fdb, &to(1, 0, (0, 5)))?;
    assert_eq!(
        transmit(&mut bench, 1, &datagram(7, b"")).end,
        dropped(&format!("entry {fdb:#x}[1]"), "no vport 0x5")
    );
    bench.delete_entry(0, fdb, 1)?;
    bench.entry(fdb, &to(1, 0, (0, 0)))?;
    assert_eq!(transmit(&mut bench, 1, &datagram(7, b"")).end, End::Tir(tir));
    Ok(())
}

#[test]
fn an_entry_may_be_for_one_source_only() -> Answer<()> {
    let mut bench = Bench::new();
    let (_, tir) = receiver(&mut bench)?;
    let fdb = bench.table(NewTable::of(TableType::Fdb, 1))?;
    bench.root(TableType::Fdb, None, Some(fdb))?;
    let group = bench.group(0, fdb, (0, 3), &[])?;
    let entry = |index, source, destination| NewEntry {
        group,
        index,
        actions: FWD,
        destinations: vec![destination],
        source,
        ..NewEntry::default()
    };
    bench.entry(fdb, &entry(0, prm::MLX5_FLOW_CONTEXT_FLOW_SOURCE_LOCAL_VPORT, (8, 0)))?;
    bench.entry(fdb, &entry(1, prm::MLX5_FLOW_CONTEXT_FLOW_SOURCE_UPLINK, (0, 0)))?;
    assert_eq!(bench.receive(&datagram(7, b"")).end, End::Tir(tir));
    assert_eq!(transmit(&mut bench, 1, &datagram(7, b"")).end, End::Uplink);
    Ok(())
}

#[test]
fn an_access_list_marks_where_a_packet_comes_from() -> Answer<()> {
    let mut bench = Bench::new();
    // The kernel gives each vport a number in register C0 and lets the switch match that.
    let acl = bench.table(NewTable { vport: Some(UPLINK), ..NewTable::of(TableType::IngressAcl, 0) })?;
    bench.root(TableType::IngressAcl, Some(UPLINK), Some(acl))?;
    let mark = set_action(prm::MLX5_ACTION_IN_FIELD_METADATA_REG_C_0, 16, 16, 0xffff);
    let modification = bench.modification(0, TableType::IngressAcl, &[mark])?;
    let group = bench.group(0, acl, (0, 0), &[])?;
    let actions = prm::MLX5_FLOW_CONTEXT_ACTION_ALLOW | prm::MLX5_FLOW_CONTEXT_ACTION_MOD_HDR;
    bench.entry(acl, &NewEntry { group, actions, modification, ..NewEntry::default() })?;

    let fdb = bench.table(NewTable::of(TableType::Fdb, 1))?;
    bench.root(TableType::Fdb, None, Some(fdb))?;
    let group = bench.group(0, fdb, (0, 0), &[(REG_C_0, 0xffff_0000)])?;
    let value = vec![(REG_C_0, 0xffff_0000)];
    bench.entry(
        fdb,
        &NewEntry { group, actions: FWD, destinations: vec![(0, 0)], value, ..NewEntry::default() },
    )?;
    // NIC RX sees the register too.
    let nic = bench.table(NewTable::at(0, 1))?;
    bench.root(TableType::NicRx, None, Some(nic))?;
    let group = bench.group(0, nic, (0, 0), &[(REG_C_0, 0xffff_0000)])?;
    let tir = bench.tir(0);
    bench.entry(nic, &NewEntry { value: vec![(REG_C_0, 0xffff_0000)], ..NewEntry::to_tir(group, 0, tir) })?;

    let way = bench.receive(&datagram(7, b""));
    assert_eq!((way.end, tables(&way.hops)), (End::Tir(tir), vec![acl, fdb, nic]));
    // Vport 0 has no such list: its packets are not marked, and the switch drops them.
    assert_eq!(
        transmit(&mut bench, 1, &datagram(7, b"")).end,
        dropped(&format!("table {fdb:#x}"), "no entry takes it")
    );
    Ok(())
}

#[test]
fn a_sender_is_told_by_its_queue() -> Answer<()> {
    let mut bench = Bench::new();
    let fdb = bench.table(NewTable::of(TableType::Fdb, 1))?;
    bench.root(TableType::Fdb, None, Some(fdb))?;
    let group = bench.group(0, fdb, (0, 0), &[(SOURCE_SQN, 0xff_ffff), (SOURCE_PORT, 0xffff)])?;
    let value = vec![(SOURCE_SQN, 0x44), (SOURCE_PORT, 0)];
    let destinations = vec![(0, UPLINK.into())];
    bench.entry(fdb, &NewEntry { group, actions: FWD, destinations, value, ..NewEntry::default() })?;
    assert_eq!(transmit(&mut bench, 0x44, &datagram(7, b"")).end, End::Uplink);
    assert!(matches!(transmit(&mut bench, 0x45, &datagram(7, b"")).end, End::Dropped(..)));
    Ok(())
}
