//! What the card refuses, and that it takes everything else.

use super::*;
use proptest::prelude::*;

/// Table 1 (level 1, of user 3) with groups [0..3] and [4..7], an entry 0 to table 2 (level 2, of user 3).
fn furnished() -> Answer<(Bench, [u32; 2], [u32; 2])> {
    let mut bench = Bench::new();
    let from = bench.table(NewTable::at(3, 1))?;
    let to = bench.table(NewTable::at(3, 2))?;
    let groups = [bench.group(3, from, (0, 3), &[])?, bench.group(3, from, (4, 7), &[])?];
    bench.entry(from, &NewEntry { uid: 3, ignore_level: false, ..NewEntry::to_table(groups[0], 0, to) })?;
    Ok((bench, [from, to], groups))
}

#[test]
fn tables_are_refused_for_what_they_are() -> Answer<()> {
    let mut bench = Bench::with(TypeLimits { max_level: 10, log_max_size: 8, ..LIMITS });
    assert_eq!(bench.table(NewTable { log_size: 9, ..NewTable::at(3, 1) }), Err(Syndrome::TableTooLarge));
    assert_eq!(bench.table(NewTable::at(3, 11)), Err(Syndrome::LevelTooHigh));
    assert!(bench.table(NewTable::at(0, 66)).is_ok(), "the kernel makes levels above the maximum");
    assert_eq!(bench.table(NewTable { miss: Some(99), ..NewTable::at(3, 1) }), Err(Syndrome::NoSuchObject));
    let tx = bench.table(NewTable { uid: 3, ..NewTable::of(TableType::NicTx, 1) })?;
    assert_eq!(
        bench.table(NewTable { miss: Some(tx), ..NewTable::at(3, 1) }),
        Err(Syndrome::TableTypeMismatch)
    );
    let fields = [(create_flow_table_in::TABLE_TYPE, 0x77)];
    let size = create_flow_table_in::SIZE;
    let answer = bench.send(prm::MLX5_CMD_OP_CREATE_FLOW_TABLE, 3, 0, size, &fields, &[]);
    assert_eq!(answer, Err(Syndrome::UnknownTableType));
    let answer = bench.send(prm::MLX5_CMD_OP_CREATE_FLOW_TABLE, 3, 0, size - 1, &[], &[]);
    assert_eq!(answer, Err(Syndrome::ShortInput));
    let mut none = Bench::with(TypeLimits { supported: false, ..LIMITS });
    assert_eq!(none.table(NewTable::at(0, 1)), Err(Syndrome::UnknownTableType));
    Ok(())
}

#[test]
fn a_table_is_destroyed_only_by_its_owner_and_when_nothing_depends_on_it() -> Answer<()> {
    let (mut bench, [from, to], groups) = furnished()?;
    assert_eq!(bench.destroy_table(3, from), Err(Syndrome::TableHasGroups));
    assert_eq!(bench.destroy_table(3, to), Err(Syndrome::TableIsDestination));
    assert_eq!(bench.destroy_table(4, to), Err(Syndrome::ForeignObject));
    assert_eq!(bench.destroy_table(3, 99), Err(Syndrome::NoSuchObject));
    assert_eq!(bench.destroy_group(3, from, groups[0]), Err(Syndrome::GroupHasEntries));
    assert_eq!(bench.destroy_group(3, from, 99), Err(Syndrome::NoSuchObject));
    assert_eq!(bench.destroy_group(4, from, groups[1]), Err(Syndrome::ForeignObject));
    assert_eq!(bench.delete_entry(4, from, 0), Err(Syndrome::ForeignObject));
    assert_eq!(bench.delete_entry(3, from, 1), Err(Syndrome::NoSuchObject));

    // A miss keeps a table alive like an entry does; one's own does not.
    let behind = bench.table(NewTable { miss: Some(to), ..NewTable::at(3, 0) })?;
    bench.delete_entry(3, from, 0)?;
    assert_eq!(bench.destroy_table(3, to), Err(Syndrome::TableIsDestination));
    bench.set_miss(3, behind, Some(behind))?;
    bench.destroy_table(3, behind)?;
    bench.destroy_table(3, to)?;
    for group in groups {
        bench.destroy_group(3, from, group)?;
    }
    bench.destroy_table(3, from)?;
    assert!(bench.objects.live().is_empty(), "{:?}", bench.objects.live());
    assert!(bench.steering.tables().is_empty());
    Ok(())
}

#[test]
fn the_kernel_destroys_a_root_and_users_do_not_set_one() -> Answer<()> {
    let mut bench = Bench::new();
    let table = bench.table(NewTable::at(0, 1))?;
    bench.root(TableType::NicRx, None, Some(table))?;
    assert_eq!(bench.steering.roots().len(), 1);
    let fields = [(set_flow_table_root_in::TABLE_ID, table.into())];
    let size = set_flow_table_root_in::SIZE;
    let answer = bench.send(prm::MLX5_CMD_OP_SET_FLOW_TABLE_ROOT, 3, 0, size, &fields, &[]);
    assert_eq!(answer, Err(Syndrome::ForeignObject));
    bench.destroy_table(0, table)?;
    assert!(bench.steering.roots().is_empty());
    assert_eq!(bench.root(TableType::NicRx, None, Some(table)), Err(Syndrome::NoSuchObject));
    let other = bench.table(NewTable::at(0, 1))?;
    bench.root(TableType::NicRx, None, Some(other))?;
    bench.root(TableType::NicRx, None, None)?;
    assert!(bench.steering.roots().is_empty());
    Ok(())
}

#[test]
fn groups_lie_inside_their_table_and_apart() -> Answer<()> {
    let mut bench = Bench::new();
    let table = bench.table(NewTable::at(3, 1))?;
    bench.group(3, table, (4, 7), &[])?;
    for (range, why) in [
        ((15, 16), Syndrome::GroupOutsideTable),
        ((3, 2), Syndrome::GroupOutsideTable),
        ((7, 8), Syndrome::GroupsOverlap),
        ((0, 15), Syndrome::GroupsOverlap),
        ((5, 6), Syndrome::GroupsOverlap),
    ] {
        assert_eq!(bench.group(3, table, range, &[]), Err(why), "{range:?}");
    }
    assert!(bench.group(3, table, (0, 3), &[]).is_ok() && bench.group(3, table, (8, 15), &[]).is_ok());
    assert_eq!(bench.group(4, table, (0, 0), &[]), Err(Syndrome::ForeignObject));
    let fields = [(create_flow_group_in::TABLE_ID, table.into()), (create_flow_group_in::GROUP_TYPE, 1)];
    let size = create_flow_group_in::SIZE;
    let answer = bench.send(prm::MLX5_CMD_OP_CREATE_FLOW_GROUP, 3, 0, size, &fields, &[]);
    assert_eq!(answer, Err(Syndrome::GroupTypeUnsupported));
    Ok(())
}

#[test]
fn entries_are_refused_for_where_they_are_and_what_they_name() -> Answer<()> {
    let (mut bench, [from, to], [group, _]) = furnished()?;
    let kernels = bench.table(NewTable::at(0, 9))?;
    let shared = bench.table(NewTable { uid: SHARED, ..NewTable::at(0, 1) })?;
    let tx = bench.table(NewTable { uid: 3, ..NewTable::of(TableType::NicTx, 9) })?;
    let (tir, foreign_tir) = (bench.tir(3), bench.tir(4));
    let foreign_counter = bench.counters(4, 0)?;
    let one = |change: &dyn Fn(&mut NewEntry)| {
        let mut entry = NewEntry { uid: 3, ignore_level: false, ..NewEntry::to_table(group, 1, to) };
        change(&mut entry);
        entry
    };
    let cases: Vec<(&str, NewEntry, Syndrome)> = vec![
        ("outside its group", one(&|e| e.index = 4), Syndrome::IndexOutsideGroup),
        ("taken", one(&|e| e.index = 0), Syndrome::IndexTaken),
        ("no group", one(&|e| e.group = 99), Syndrome::NoSuchObject),
        ("no table", one(&|e| e.destinations[0].1 = 99), Syndrome::NoSuchObject),
        ("the kernel's table", one(&|e| e.destinations[0].1 = kernels), Syndrome::ForeignObject),
        ("the shared table is level 1", one(&|e| e.destinations[0].1 = shared), Syndrome::LevelNotAbove),
        ("itself", one(&|e| e.destinations[0].1 = from), Syndrome::LevelNotAbove),
        ("another type", one(&|e| e.destinations[0].1 = tx), Syndrome::TableTypeMismatch),
        ("another type named", one(&|e| e.kind = Some(TableType::NicTx)), Syndrome::NoSuchObject),
        ("a foreign TIR", one(&|e| e.destinations[0] = (2, foreign_tir)), Syndrome::ForeignObject),
        ("no TIR", one(&|e| e.destinations[0] = (2, 99)), Syndrome::NoSuchObject),
        ("a vport from NIC RX", one(&|e| e.destinations[0] = (0, 1)), Syndrome::BadDestination),
        ("the uplink from NIC RX", one(&|e| e.destinations[0] = (8, 0)), Syndrome::BadDestination),
        ("a sampler", one(&|e| e.destinations[0] = (6, 0)), Syndrome::BadDestination),
        ("FWD to nothing", one(&|e| e.destinations.clear()), Syndrome::BadAction),
        ("FWD and DROP", one(&|e| e.actions |= DROP), Syndrome::BadAction),
        ("DROP and ALLOW", one(&|e| e.actions = DROP | 1), Syndrome::BadAction),
        ("an unknown action", one(&|e| e.actions |= 0x4000), Syndrome::BadAction),
        ("COUNT without counter", one(&|e| e.actions |= COUNT), Syndrome::BadAction),
        (
            "a foreign counter",
            one(&|e| {
                e.actions |= COUNT;
                e.counters = vec![foreign_counter];
            }),
            Syndrome::ForeignObject,
        ),
        ("no reformat", one(&|e| e.actions |= 0x10), Syndrome::NoSuchObject),
        ("no modification", one(&|e| e.actions |= 0x40), Syndrome::NoSuchObject),
        ("a foreign table", one(&|e| e.uid = 4), Syndrome::ForeignObject),
    ];
    for (name, entry, why) in cases {
        assert_eq!(bench.entry(from, &entry), Err(why), "{name}");
    }
    bench.entry(from, &one(&|e| e.destinations[0] = (2, tir)))?;
    bench.entry(
        from,
        &one(&|e| {
            (e.index, e.ignore_level) = (2, true);
            e.destinations[0].1 = shared;
        }),
    )?;
    // To a shared table a user may send, into it only the kernel writes.
    assert_eq!(bench.group(3, shared, (0, 0), &[]), Err(Syndrome::ForeignObject));
    assert_eq!(bench.destroy_table(3, shared), Err(Syndrome::ForeignObject));
    assert!(bench.group(0, shared, (0, 0), &[]).is_ok());
    // Anything is the kernel's to use.
    let group = bench.group(0, kernels, (0, 0), &[])?;
    bench.entry(kernels, &NewEntry::to_table(group, 0, from))
}

#[test]
fn levels_are_ignored_only_where_the_card_can() -> Answer<()> {
    let mut bench = Bench::with(TypeLimits { ignore_flow_level: false, ..LIMITS });
    let (low, high) = (bench.table(NewTable::at(3, 1))?, bench.table(NewTable::at(3, 2))?);
    let group = bench.group(3, low, (0, 0), &[])?;
    let entry = NewEntry { uid: 3, ..NewEntry::to_table(group, 0, high) };
    assert_eq!(bench.entry(low, &entry), Err(Syndrome::IgnoreLevelUnsupported));
    bench.entry(low, &NewEntry { ignore_level: false, ..entry })
}

#[test]
fn what_an_entry_uses_stays() -> Answer<()> {
    let mut bench = Bench::new();
    let table = bench.table(NewTable::at(3, 1))?;
    let group = bench.group(3, table, (0, 0), &[])?;
    let counters = bench.counters(3, 2)?;
    let reformat = bench.reformat(3, prm::MLX5_REFORMAT_TYPE_L2_TO_L2_TUNNEL, &[0; 50])?;
    let set = set_action(prm::MLX5_ACTION_IN_FIELD_OUT_IP_TTL, 0, 8, 1);
    let modification = bench.modification(3, TableType::NicRx, &[set])?;
    let tir = bench.tir(3);
    let entry = NewEntry {
        uid: 3,
        actions: FWD | COUNT | 0x10 | 0x40,
        counters: vec![counters + 2],
        reformat,
        modification,
        ..NewEntry::to_tir(group, 0, tir)
    };
    bench.entry(table, &entry)?;
    let free = |bench: &mut Bench, opcode, id: u32| {
        let fields = [(dealloc_packet_reformat_context_in::PACKET_REFORMAT_ID, id.into())];
        bench.send(opcode, 3, 0, 16, &fields, &[]).map(|_| ())
    };
    let (free_reformat, free_modification) =
        (prm::MLX5_CMD_OP_DEALLOC_PACKET_REFORMAT_CONTEXT, prm::MLX5_CMD_OP_DEALLOC_MODIFY_HEADER_CONTEXT);
    assert_eq!(bench.free_counters(3, counters), Err(Syndrome::ObjectInUse));
    assert_eq!(
        bench.free_counters(3, counters + 2),
        Err(Syndrome::NoSuchObject),
        "only whole runs are freed"
    );
    assert_eq!(free(&mut bench, free_reformat, reformat), Err(Syndrome::ObjectInUse));
    assert_eq!(free(&mut bench, free_modification, modification), Err(Syndrome::ObjectInUse));
    bench.delete_entry(3, table, 0)?;
    bench.free_counters(3, counters)?;
    free(&mut bench, free_reformat, reformat)?;
    free(&mut bench, free_modification, modification)?;
    assert_eq!(bench.free_counters(3, counters), Err(Syndrome::NoSuchObject));
    Ok(())
}

#[test]
fn contexts_that_the_card_cannot_do_are_refused() {
    let mut bench = Bench::new();
    assert_eq!(bench.reformat(0, 0x5, &[0; 8]), Err(Syndrome::BadReformat));
    assert_eq!(
        bench.reformat(0, prm::MLX5_REFORMAT_TYPE_L3_TUNNEL_TO_L2, &[0; 3]),
        Err(Syndrome::BadReformat)
    );
    let kind = TableType::NicRx;
    assert_eq!(bench.modification(0, kind, &[]), Err(Syndrome::BadHeaderModification));
    assert_eq!(bench.modification(0, kind, &[[0; 8]]), Err(Syndrome::BadHeaderModification));
    assert_eq!(
        bench.modification(0, kind, &[set_action(0xfff, 0, 0, 0)]),
        Err(Syndrome::BadHeaderModification)
    );
    let many = [set_action(prm::MLX5_ACTION_IN_FIELD_OUT_IP_TTL, 0, 8, 1); 17];
    assert_eq!(bench.modification(0, kind, &many), Err(Syndrome::BadHeaderModification));
    assert!(bench.modification(0, kind, &many[..16]).is_ok());
    assert!(bench.objects.live().len() == 1);
}

/// Every steering opcode.
const OPCODES: [u16; 18] = [
    0x92f, 0x930, 0x931, 0x932, 0x933, 0x934, 0x935, 0x936, 0x937, 0x938, 0x939, 0x93a, 0x93b, 0x93c, 0x93d,
    0x93e, 0x940, 0x941,
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_command_is_answered(
        commands in proptest::collection::vec(
            (
                proptest::sample::select(&OPCODES[..]),
                prop_oneof![Just(0u16), Just(3u16), Just(4u16), Just(0xffff)],
                0u16..3,
                // Mostly zeros and small numbers, so that ids and types do hit.
                proptest::collection::vec(prop_oneof![8 => Just(0u8), 2 => 0u8..8, 1 => any::<u8>()], 0..1100),
                prop_oneof![Just(0usize), Just(16), Just(64), Just(2048)],
            ),
            0..24,
        )
    ) {
        let mut bench = Bench::new();
        for (opcode, uid, op_mod, input, room) in commands {
            let request = Request { opcode, uid, op_mod, input: &input };
            let mut output = vec![0; room];
            let mut reply = Reply::new(&mut output);
            let answer = bench.steering.command(&request, &mut reply, &mut bench.objects);
            prop_assert!(answer.is_some(), "{:#x} is no steering command", opcode);
        }
        let _outcome = bench.receive(&[0; 60]);
    }
}
