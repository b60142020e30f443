mod kernel;

use std::{any::Any, sync::Arc};

use uverbs_uapi::{
    mlx5_user_ioctl_cmds as cmds,
    prm::{
        self, Field, create_flow_group_in as group_in, create_flow_table_in as table_in,
        dest_format_struct as destination, flow_context, flow_counter_list, flow_table_context,
        flow_table_prop_layout as property, modify_flow_table_in as modify_in,
        query_flow_counter_in as counter_in, set_fte_in as fte_in,
    },
};

use self::kernel::{Done, Kernel};
use super::{
    Actions, Destination, Flow, FlowCounter, FlowEntry, FlowMatcher, FlowTable, FlowTag, FlowTarget,
    HeaderChange, HeaderField, Headers, Invalid, Match, ModifyHeader, PacketReformat, ReformatKind, VlanTag,
};
use crate::{
    Context, Error, FlowTableId, FlowTableType, Lacking, Priority, Result, SteeringAnchor,
    command::fake,
    devx::{Refused, Status},
};

const RX: FlowTableType = FlowTableType::NicRx;

fn table(context: &Context) -> FlowTable {
    FlowTable::builder(context, RX).log_size(2).build().expect("the fake makes it")
}

fn entry(table: &FlowTable, actions: Actions) -> Result<FlowEntry> {
    table.group(.., &Match::any())?.entry(0, &Match::any(), actions)
}

fn to_port(port: u16) -> Match {
    Match::builder().outer(&Headers::new().udp_destination(port)).build().expect("nothing contradicts")
}

fn flow(context: &Context, priority: u16, target: impl Into<FlowTarget>) -> Result<Flow> {
    let criteria = to_port(5000);
    FlowMatcher::create(context, RX, Priority::new(priority)?, &criteria)?.flow(&criteria, target).create()
}

fn invalid<T: std::fmt::Debug>(result: Result<T>) -> Invalid {
    match result {
        Err(Error::Invalid(invalid)) => invalid,
        other => panic!("not refused here: {other:?}"),
    }
}

/// Every byte but those of the fields is zero, and those have these values.
fn assert_fields(inbox: &[u8], fields: &[(Field, u64)]) {
    let mut expected = vec![0; inbox.len()];
    for &(field, value) in fields {
        field.set(&mut expected, value);
        assert_eq!(field.get(inbox), value, "{field:?}");
    }
    assert_eq!(inbox, expected);
}

#[test]
fn a_table_is_described_to_the_firmware() {
    let kernel = Kernel::install();
    let context = kernel.context();
    let anchor = kernel.anchor(&context, FlowTableType::Fdb, 1);
    kernel.forget();
    let table = FlowTable::builder(&context, FlowTableType::Fdb)
        .log_size(5)
        .miss_to(&anchor)
        .reformats()
        .decapsulates()
        .build()
        .expect("the fake makes it");
    let inbox = kernel.created();
    let inner = |field| table_in::FLOW_TABLE_CONTEXT.then(field);
    assert_eq!(inbox.len(), table_in::SIZE);
    assert_fields(
        &inbox,
        &[
            (table_in::OPCODE, 0x930),
            // The firmware's number, which is not the kernel's 2.
            (table_in::TABLE_TYPE, 4),
            (inner(flow_table_context::REFORMAT_EN), 1),
            (inner(flow_table_context::DECAP_EN), 1),
            (inner(flow_table_context::TABLE_MISS_ACTION), 1),
            (inner(flow_table_context::TABLE_MISS_ID), anchor.id().get().into()),
            (inner(flow_table_context::LEVEL), table.level().into()),
            (inner(flow_table_context::LOG_SIZE), 5),
        ],
    );
    assert_eq!((table.entries(), table.table_type()), (32, FlowTableType::Fdb));
}

#[test]
fn levels_leave_room_and_end_at_the_cards() {
    let kernel = Kernel::install();
    let context = kernel.context();
    let middle = table(&context);
    let build = |builder: super::FlowTableBuilder<'_>| builder.build().map(|table| table.level());
    let builder = || FlowTable::builder(&context, RX);
    assert_eq!(middle.level(), 48);
    assert_eq!(build(builder().behind(&middle)).expect("one above"), 49);
    assert_eq!(build(builder().before(&middle)).expect("one below"), 47);
    assert_eq!(build(builder().miss_to(&middle)).expect("one below"), 47);
    assert_eq!(
        invalid(build(builder().before(&middle).behind(&middle))),
        Invalid::NoLevel { lowest: 49, highest: 47 }
    );
    let mut last = middle;
    let beyond = loop {
        match FlowTable::builder(&context, RX).behind(&last).build() {
            Ok(next) => last = next,
            Err(error) => break error,
        }
    };
    assert_eq!(u64::from(last.level()), kernel::LEVELS - 1);
    assert!(matches!(beyond, Error::Invalid(Invalid::NoLevel { lowest: 64, highest: 63 })), "{beyond}");
    assert_eq!(
        invalid(FlowTable::builder(&context, RX).log_size(17).build()),
        Invalid::TooGreat { what: "size of the table, as a power of two", value: 17, maximum: 16 }
    );
    kernel.lacks(property::FT_SUPPORT);
    assert_eq!(invalid(FlowTable::builder(&context, RX).build()), Invalid::NoTables { table_type: RX });
}

#[test]
fn a_group_is_described_to_the_firmware() {
    let kernel = Kernel::install();
    let context = kernel.context();
    let table = table(&context);
    kernel.forget();
    let criteria = to_port(5000);
    let group = table.group(1..3, &criteria).expect("the fake makes it");
    let inbox = kernel.created();
    assert_eq!(inbox.len(), group_in::SIZE);
    let mask = group_in::MATCH_CRITERIA.bytes();
    assert_eq!(inbox[mask.clone()], *criteria.mask());
    let mut rest = inbox;
    rest[mask].fill(0);
    assert_fields(
        &rest,
        &[
            (group_in::OPCODE, 0x933),
            (group_in::TABLE_ID, table.id().get().into()),
            (group_in::START_FLOW_INDEX, 1),
            (group_in::END_FLOW_INDEX, 2),
            (group_in::MATCH_CRITERIA_ENABLE, 1),
        ],
    );
    assert_eq!(group.range(), 1..=2);

    for (first, last, refused) in [
        (0, 3, None),
        (3, 3, None),
        (0, 4, Some(Invalid::Range { first: 0, last: 4, entries: 4 })),
        (4, 4, Some(Invalid::Range { first: 4, last: 4, entries: 4 })),
    ] {
        assert_eq!(
            table.group(first..=last, &criteria).err().map(|error| invalid(Err::<(), _>(error))),
            refused
        );
    }
    assert_eq!(invalid(table.group(2..2, &criteria)), Invalid::Range { first: 2, last: 1, entries: 4 });
    assert_eq!(invalid(table.group(0..0, &criteria)), Invalid::Range { first: 0, last: 0, entries: 4 });
}

#[test]
fn an_entry_is_described_to_the_firmware() {
    let kernel = Kernel::install();
    let context = kernel.context();
    let (table, anchor) = (table(&context), kernel.anchor(&context, RX, 1));
    let counter = FlowCounter::create(&context).expect("the fake makes it");
    let criteria = to_port(5000);
    let group = table.group(0..4, &criteria).expect("the fake makes it");
    kernel.forget();
    let actions = Actions::forward_to(&anchor).also_to(Destination::Tir(7)).count(&counter).tag(FlowTag::MAX);
    let _entry = group.entry(3, &criteria, actions).expect("the fake makes it");
    let inbox = kernel.created();
    assert_eq!(inbox.len(), fte_in::SIZE + 3 * 8);
    let value = fte_in::FLOW_CONTEXT.then(flow_context::MATCH_VALUE).bytes();
    assert_eq!(inbox[value.clone()], *criteria.value());
    let mut rest = inbox;
    rest[value].fill(0);
    let inner = |field| fte_in::FLOW_CONTEXT.then(field);
    let item =
        |index: usize, field: Field| Field::new((fte_in::SIZE + index * 8) * 8 + field.offset, field.width);
    assert_fields(
        &rest,
        &[
            (fte_in::OPCODE, 0x936),
            (fte_in::TABLE_ID, table.id().get().into()),
            (fte_in::IGNORE_FLOW_LEVEL, 1),
            (fte_in::FLOW_INDEX, 3),
            (inner(flow_context::GROUP_ID), group.id().into()),
            (inner(flow_context::FLOW_TAG), 0xff_ffff),
            (inner(flow_context::ACTION), 4 | 8),
            (inner(flow_context::DESTINATION_LIST_SIZE), 2),
            (inner(flow_context::FLOW_COUNTER_LIST_SIZE), 1),
            (item(0, destination::DESTINATION_TYPE), 1),
            (item(0, destination::DESTINATION_ID), anchor.id().get().into()),
            (item(1, destination::DESTINATION_TYPE), 2),
            (item(1, destination::DESTINATION_ID), 7),
            (item(2, flow_counter_list::FLOW_COUNTER_ID), counter.id().into()),
        ],
    );
}

#[test]
fn actions_are_bits_and_numbers() {
    let kernel = Kernel::install();
    let context = kernel.context();
    let table = table(&context);
    let group = table.group(.., &Match::any()).expect("the fake makes it");
    let reformat =
        PacketReformat::create(&context, ReformatKind::EncapsulateL2, &[0x5a; 50]).expect("the same");
    let modify = ModifyHeader::create(&context, RX, &[]).expect("the same");
    let tag = |id| VlanTag { ethertype: 0x8100, priority: 5, id };
    let cases = [
        (Actions::drop(), 2, [0; 4]),
        (Actions::allow(), 1, [0; 4]),
        (Actions::allow().reformat(&reformat), 1 | 0x10, [0, reformat.id(), 0, 0]),
        (Actions::allow().modify(&modify), 1 | 0x40, [0, 0, modify.id(), 0]),
        (Actions::allow().decapsulate(), 1 | 0x20, [0; 4]),
        (Actions::allow().pop_vlan(), 1 | 0x80, [0; 4]),
        (Actions::allow().pop_vlan().pop_vlan(), 1 | 0x80 | 0x400, [0; 4]),
        (Actions::allow().push_vlan(tag(7)), 1 | 0x100, [0x8100_a007, 0, 0, 0]),
        (
            Actions::allow().push_vlan(tag(7)).push_vlan(tag(8)),
            1 | 0x100 | 0x800,
            [0x8100_a007, 0, 0, 0x8100_a008],
        ),
    ];
    for (actions, bits, numbers) in cases {
        kernel.forget();
        let entry = group.entry(0, &Match::any(), actions).expect("the fake makes it");
        let inbox = kernel.created();
        let get = |field| fte_in::FLOW_CONTEXT.then(field).get(&inbox);
        assert_eq!(get(flow_context::ACTION), bits);
        let places = [
            flow_context::PUSH_VLAN,
            flow_context::PACKET_REFORMAT_ID,
            flow_context::MODIFY_HEADER_ID,
            flow_context::PUSH_VLAN_2,
        ];
        assert_eq!(places.map(get), numbers.map(u64::from));
        assert_eq!((inbox.len(), fte_in::IGNORE_FLOW_LEVEL.get(&inbox)), (fte_in::SIZE, 0));
        drop(entry);
    }
}

#[test]
fn reformats_and_header_changes_are_described_to_the_firmware() {
    let kernel = Kernel::install();
    let context = kernel.context();
    let headers: Vec<u8> = (1..=50).collect();
    let _reformat =
        PacketReformat::create(&context, ReformatKind::EncapsulateL3, &headers).expect("the fake makes it");
    let inbox = kernel.created();
    assert_eq!(
        (inbox[..2].to_vec(), inbox[28], inbox[31], &inbox[34..84]),
        (vec![0x09, 0x3d], 4, 50, &headers[..])
    );
    assert_eq!(inbox.len(), 84);
    assert!(PacketReformat::create(&context, ReformatKind::EncapsulateL2, &[0; 257]).is_err());

    let changes = [
        HeaderChange::Set { field: HeaderField::UDP_DESTINATION, offset: 0, length: 16, value: 0x1234 },
        HeaderChange::Add { field: HeaderField::IPV4_TTL, value: u32::MAX },
        HeaderChange::Copy {
            source: HeaderField::IPV4_SOURCE,
            source_offset: 0,
            destination: HeaderField::metadata(super::MetadataRegister::C1),
            destination_offset: 0,
            length: 32,
        },
    ];
    let _modify = ModifyHeader::create(&context, FlowTableType::NicTx, &changes).expect("the fake makes it");
    let inbox = kernel.created();
    assert_eq!((inbox[..2].to_vec(), inbox[12], inbox[15]), (vec![0x09, 0x40], 1, 3));
    assert_eq!(
        inbox[16..],
        [
            [0x10, 0x0c, 0x00, 0x10, 0, 0, 0x12, 0x34],
            [0x20, 0x0a, 0, 0, 0xff, 0xff, 0xff, 0xff],
            [0x30, 0x15, 0, 0, 0x00, 0x52, 0, 0],
        ]
        .concat()
    );
    for (offset, length) in [(0, 33), (31, 2), (5, 0), (255, 255)] {
        let change = HeaderChange::Set { field: HeaderField::DSCP, offset, length, value: 0 };
        assert!(ModifyHeader::create(&context, RX, &[change]).is_err(), "{length} bits from {offset} on");
    }
}

#[test]
fn a_change_tells_only_what_changes() {
    let kernel = Kernel::install();
    let context = kernel.context();
    let (table, anchor) = (table(&context), kernel.anchor(&context, RX, 1));
    let counter = FlowCounter::create(&context).expect("the fake makes it");
    let mut entry = entry(&table, Actions::forward_to(&anchor)).expect("the fake makes it");
    let tag = FlowTag::new(5).expect("24 bits");
    // Actions, what is told to have changed, and how long the command is.
    let steps = [
        (Actions::forward_to(&anchor), None),
        (Actions::drop(), Some((0b101, 832))),
        (Actions::drop().count(&counter), Some((0b1001, 840))),
        (Actions::forward_to(&anchor).count(&counter), Some((0b101, 848))),
        (Actions::forward_to(Destination::Tir(3)).count(&counter), Some((0b100, 848))),
        (Actions::forward_to(Destination::Tir(3)).count(&counter).tag(tag), Some((0b10, 848))),
        (Actions::forward_to(Destination::Tir(3)), Some((0b1011, 840))),
    ];
    for (actions, expected) in steps {
        kernel.forget();
        entry.change(actions.clone()).expect("the fake changes it");
        let told = match &kernel.take()[..] {
            [] => None,
            [Done::Modify(inbox)] => {
                assert_eq!((fte_in::OP_MOD.get(inbox), fte_in::OPCODE.get(inbox)), (1, 0x936));
                assert_eq!(fte_in::FLOW_INDEX.get(inbox), 0);
                Some((fte_in::MODIFY_ENABLE_MASK.get(inbox), inbox.len()))
            }
            other => panic!("not one change: {other:?}"),
        };
        assert_eq!(told, expected, "{actions:?}");
    }
}

#[test]
fn a_refused_change_leaves_what_was_there() {
    let kernel = Kernel::install();
    let context = kernel.context();
    let (table, low, high) =
        (table(&context), kernel.anchor(&context, RX, 1), kernel.anchor(&context, RX, 2));
    let mut entry = entry(&table, Actions::forward_to(&high)).expect("the fake makes it");
    kernel.refuse(prm::MLX5_CMD_OP_SET_FLOW_TABLE_ENTRY, 3, 7);
    assert!(matches!(entry.change(Actions::forward_to(&low)), Err(Error::Refused(_))));
    assert!(
        matches!(entry.actions().destinations(), [Destination::Anchor(held)] if Arc::ptr_eq(held, &high))
    );
    assert_eq!(Arc::strong_count(&low), 1);
    // Nor does the map remember the way that was not added.
    flow(&context, 1, &table).expect("the anchor of priority 1 is not reached");
}

#[test]
fn refusals_of_the_firmware_are_told_whole() {
    let kernel = Kernel::install();
    let context = kernel.context();
    let table = table(&context);
    kernel.refuse(prm::MLX5_CMD_OP_SET_FLOW_TABLE_ENTRY, 0x05, 0x12_3456);
    match entry(&table, Actions::drop()) {
        Err(Error::Refused(Refused { opcode, status, syndrome, .. })) => {
            assert_eq!((opcode, status, syndrome), (0x936, Status::BAD_RESOURCE, 0x12_3456));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn things_that_do_not_go_together_are_refused_before_the_kernel_is_asked() {
    let kernel = Kernel::install();
    let (context, other) = (kernel.context(), kernel.context());
    let table = table(&context);
    let next = FlowTable::builder(&context, RX).behind(&table).build().expect("the fake makes it");
    let transmit = FlowTable::builder(&context, FlowTableType::NicTx).build().expect("the same");
    let elsewhere = FlowTable::builder(&other, RX).behind(&table).build().expect("the same");
    let group = table.group(0..2, &to_port(1)).expect("the same");
    let fdb_anchor = kernel.anchor(&context, FlowTableType::Fdb, 1);
    let other_counter = FlowCounter::create(&other).expect("the same");
    let modify = ModifyHeader::create(&context, FlowTableType::NicTx, &[]).expect("the same");
    let foreign = |table_type| Destination::ForeignAnchor {
        id: FlowTableId::new(0x2a).expect("24 bits"),
        table_type,
        priority: Priority::MAX,
    };
    let matcher = FlowMatcher::create(&context, RX, Priority::default(), &to_port(1)).expect("the same");
    let many =
        (0..65).fold(Actions::forward_to(Destination::Tir(0)), |all, _| all.also_to(Destination::Tir(1)));
    let table_type = |wanted, found| Invalid::TableType { wanted, found };
    let tx = FlowTableType::NicTx;
    let sent = fake::sent();
    let of_actions = [
        (Actions::forward_to(&fdb_anchor), table_type(RX, FlowTableType::Fdb)),
        (Actions::forward_to(foreign(tx)), table_type(RX, tx)),
        (Actions::forward_to(&transmit), table_type(RX, tx)),
        (Actions::forward_to(&elsewhere), Invalid::OtherContext),
        (Actions::forward_to(&table), Invalid::LevelOrder { from: 48, to: 48 }),
        (Actions::forward_to(Destination::Uplink), table_type(RX, FlowTableType::Fdb)),
        (
            Actions::forward_to(Destination::Tir(1 << 24)),
            Invalid::TooGreat { what: "number of a TIR", value: 1 << 24, maximum: 0xff_ffff },
        ),
        (Actions::drop().also_to(&next), Invalid::Verdict),
        (Actions::drop().count(&other_counter), Invalid::OtherContext),
        (Actions::allow().modify(&modify), table_type(RX, tx)),
        (many, Invalid::Destinations { count: 66, maximum: 64 }),
        (
            Actions::allow().push_vlan(VlanTag { ethertype: 0x8100, priority: 0, id: 4096 }),
            Invalid::TooGreat { what: "VLAN id", value: 4096, maximum: 4095 },
        ),
    ];
    for (actions, expected) in of_actions {
        assert_eq!(invalid(group.entry(0, &to_port(1), actions)), expected);
    }
    assert_eq!(
        invalid(group.entry(2, &to_port(1), Actions::drop())),
        Invalid::Index { index: 2, first: 0, last: 1 }
    );
    assert_eq!(invalid(group.entry(0, &Match::any(), Actions::drop())), Invalid::Criteria);
    assert_eq!(invalid(matcher.flow(&Match::any(), &table).create()), Invalid::Criteria);
    assert_eq!(invalid(matcher.flow(&to_port(1), &transmit).create()), table_type(RX, tx));
    assert_eq!(invalid(matcher.flow(&to_port(1), &elsewhere).create()), Invalid::OtherContext);
    assert_eq!(invalid(table.set_miss(Some(Destination::Tir(1)))), Invalid::Verdict);
    assert_eq!(fake::sent(), sent, "the kernel was asked");
}

#[test]
fn a_card_that_cannot_ignore_levels_cannot_lead_to_an_anchor() {
    let kernel = Kernel::install();
    let context = kernel.context();
    kernel.lacks(property::IGNORE_FLOW_LEVEL);
    let (table, anchor) = (table(&context), kernel.anchor(&context, RX, 1));
    let refused = entry(&table, Actions::forward_to(&anchor));
    assert_eq!(invalid(refused), Invalid::NoIgnoreFlowLevel { table_type: RX });
    entry(&table, Actions::drop()).expect("dropping needs no level");
}

#[test]
fn circles_are_refused_through_tables_misses_and_changes() {
    let kernel = Kernel::install();
    let context = kernel.context();
    let (first, low, high) =
        (table(&context), kernel.anchor(&context, RX, 2), kernel.anchor(&context, RX, 9));
    let second = FlowTable::builder(&context, RX).behind(&first).build().expect("the fake makes it");
    let circle = |flow, anchor| Invalid::Loop {
        flow: Priority::new(flow).expect("0 to 15"),
        anchor: Priority::new(anchor).expect("0 to 15"),
    };
    let mut on = entry(&first, Actions::forward_to(&second)).expect("no flow yet");
    let back = entry(&second, Actions::forward_to(&high)).expect("no flow yet");
    let way_in = flow(&context, 2, &first).expect("9 comes after 2");
    assert_eq!(invalid(second.set_miss(Some(Destination::from(&low)))), circle(2, 2));
    assert_eq!(invalid(on.change(Actions::forward_to(&second).also_to(&low))), circle(2, 2));
    assert_eq!(invalid(flow(&context, 9, &second)), circle(9, 9));
    assert_eq!(invalid(flow(&context, 15, &first)), circle(15, 9));
    drop(way_in);
    second.set_miss(Some(Destination::from(&low))).expect("nothing leads here now");
    assert_eq!(invalid(flow(&context, 2, &first)), circle(2, 2));
    second.set_miss(None).expect("the fake changes it");
    flow(&context, 2, &first).expect("the miss is gone").destroy().expect("the fake destroys it");
    back.destroy().expect("the fake destroys it");
    flow(&context, 15, &first).expect("no anchor is reached any more");
}

#[test]
fn a_miss_is_changed_in_place() {
    let kernel = Kernel::install();
    let context = kernel.context();
    let (table, anchor) = (table(&context), kernel.anchor(&context, RX, 1));
    let inner = |field| modify_in::FLOW_TABLE_CONTEXT.then(field);
    for (miss, action, id) in [(Some(Destination::from(&anchor)), 1, anchor.id().get()), (None, 0, 0)] {
        kernel.forget();
        table.set_miss(miss).expect("the fake changes it");
        let [Done::Modify(inbox)] = &kernel.take()[..] else { panic!("not one change") };
        assert_fields(
            inbox,
            &[
                (modify_in::OPCODE, 0x93c),
                (modify_in::MODIFY_FIELD_SELECT, 1),
                (modify_in::TABLE_ID, table.id().get().into()),
                (inner(flow_table_context::TABLE_MISS_ACTION), action),
                (inner(flow_table_context::TABLE_MISS_ID), id.into()),
            ],
        );
    }
    assert_eq!(Arc::strong_count(&anchor), 1);
}

#[test]
fn a_flow_and_its_matcher_are_described_to_the_kernel() {
    let kernel = Kernel::install();
    let context = kernel.context();
    let table = table(&context);
    let counter = FlowCounter::create(&context).expect("the fake makes it");
    let criteria = to_port(5000);
    let matcher =
        FlowMatcher::create(&context, RX, Priority::new(3).expect("0 to 15"), &criteria).expect("the same");
    assert_eq!(kernel.pointed(cmds::MLX5_IB_ATTR_FLOW_MATCHER_MATCH_MASK), criteria.mask()[..64]);
    let attribute = |at: usize| {
        let command = kernel.last_command();
        let word = |from: usize| u16::from_ne_bytes([command[from], command[from + 1]]);
        let at = 24 + at * 16;
        let data = u64::from_ne_bytes(command[at + 8..at + 16].try_into().expect("8 bytes"));
        (word(at), word(at + 2), word(at + 6), data)
    };
    let little = |bytes: &[u8]| {
        let mut data = [0; 8];
        data[..bytes.len()].copy_from_slice(bytes);
        u64::from_ne_bytes(data)
    };
    assert_eq!(attribute(2), (cmds::MLX5_IB_ATTR_FLOW_MATCHER_FLOW_TYPE, 2, 0, little(&3u16.to_ne_bytes())));
    assert_eq!(attribute(3), (cmds::MLX5_IB_ATTR_FLOW_MATCHER_MATCH_CRITERIA, 1, 0, little(&[1])));
    assert_eq!(attribute(4), (cmds::MLX5_IB_ATTR_FLOW_MATCHER_FT_TYPE, 8, 0, 0));
    assert_eq!(kernel.last_command().len(), 24 + 5 * 16);

    let tag = FlowTag::new(0xbeef).expect("24 bits");
    let flow = matcher.flow(&criteria, &table).tag(tag).count(&counter).create().expect("the fake makes it");
    assert_eq!(kernel.pointed(cmds::MLX5_IB_ATTR_CREATE_FLOW_MATCH_VALUE), criteria.value()[..64]);
    assert_eq!(
        attribute(2),
        (cmds::MLX5_IB_ATTR_CREATE_FLOW_DEST_DEVX, 0, 0, table.object().handle().into())
    );
    assert_eq!(attribute(3), (cmds::MLX5_IB_ATTR_CREATE_FLOW_MATCHER, 0, 0, matcher.handle().into()));
    assert_eq!(attribute(4), (cmds::MLX5_IB_ATTR_CREATE_FLOW_TAG, 4, 0, little(&0xbeef_u32.to_ne_bytes())));
    let counters = little(&counter.object().handle().to_ne_bytes());
    assert_eq!(attribute(5), (cmds::MLX5_IB_ATTR_CREATE_FLOW_ARR_COUNTERS_DEVX, 4, 0, counters));
    drop(flow);

    for (target, bits) in [(FlowTarget::DefaultMiss, 1), (FlowTarget::Drop, 2)] {
        let _flow = matcher.flow(&criteria, target).create().expect("the fake makes it");
        assert_eq!(attribute(2), (cmds::MLX5_IB_ATTR_CREATE_FLOW_FLAGS, 8, 0, bits));
        assert_eq!(kernel.last_command().len(), 24 + 4 * 16);
    }
}

#[test]
fn whatever_is_dropped_first_the_flow_goes_before_the_entry_before_its_anchor() {
    for first in 0..5 {
        let kernel = Kernel::install();
        let context = kernel.context();
        let (table, anchor) = (table(&context), kernel.anchor(&context, RX, 1));
        let entry = entry(&table, Actions::forward_to(&anchor)).expect("the fake makes it");
        let flow = flow(&context, 0, &table).expect("the same");
        let made = kernel.take();
        let handle_of = |opcode: u64| {
            made.iter().find_map(|done| match done {
                Done::Create(inbox, handle) if fte_in::OPCODE.get(inbox) == opcode => Some(*handle),
                _ => None,
            })
        };
        let (table_handle, group_handle, entry_handle) = (
            handle_of(0x930).expect("made"),
            handle_of(0x933).expect("made"),
            handle_of(0x936).expect("made"),
        );
        let mut parts: Vec<Box<dyn Any>> =
            vec![Box::new(context), Box::new(table), Box::new(anchor), Box::new(entry), Box::new(flow)];
        parts.rotate_left(first);
        parts.into_iter().for_each(drop);
        let gone = kernel.take();
        let at = |wanted: &dyn Fn(&Done) -> bool| gone.iter().position(wanted).expect("it is destroyed");
        let destroyed = |handle| at(&|done| *done == Done::Destroy(handle));
        let anchor = at(&|done| matches!(done, Done::Gone(cmds::MLX5_IB_OBJECT_STEERING_ANCHOR, _)));
        let flow =
            at(&|done| matches!(done, Done::Gone(uverbs_uapi::ib_user_ioctl_cmds::UVERBS_OBJECT_FLOW, _)));
        assert!(destroyed(entry_handle) < destroyed(group_handle), "{gone:?}");
        assert!(destroyed(group_handle) < destroyed(table_handle), "{gone:?}");
        assert!(destroyed(entry_handle) < anchor, "{gone:?}");
        assert!(flow < destroyed(table_handle), "{gone:?}");
        assert_eq!(gone.len(), 6, "each once, and the matcher: {gone:?}");
    }
}

#[test]
fn an_entry_that_cannot_be_destroyed_keeps_its_anchor_for_ever() {
    let kernel = Kernel::install();
    let context = kernel.context();
    let (table, anchor) = (table(&context), kernel.anchor(&context, RX, 1));
    let entry = entry(&table, Actions::forward_to(&anchor)).expect("the fake makes it");
    kernel.keep(entry.object().handle());
    let refused = entry.destroy().expect_err("the fake keeps it");
    assert_eq!(refused.error().errno(), Some(rustix::io::Errno::BUSY.raw_os_error()));
    let entry = refused.into_object();
    kernel.forget();
    drop((entry, table));
    assert_eq!(kernel.take(), [], "nothing that a packet may still need is destroyed");
    assert!(Arc::<SteeringAnchor>::into_inner(anchor).is_none());
}

#[test]
fn what_is_in_use_is_given_back() {
    let kernel = Kernel::install();
    let context = kernel.context();
    let counter = FlowCounter::create(&context).expect("the fake makes it");
    let table = table(&context);
    let held = entry(&table, Actions::drop().count(&counter)).expect("the same");
    kernel.forget();
    let in_use = |error: &Error| matches!(error, Error::Invalid(Invalid::InUse));
    let refused = table.destroy().expect_err("a group holds it");
    assert!(in_use(refused.error()));
    let table = refused.into_object();
    let refused = counter.destroy().expect_err("an entry holds it");
    assert!(in_use(refused.error()));
    let counter = refused.into_object();
    assert_eq!(kernel.take(), [], "the kernel was asked");
    held.destroy().expect("nothing holds it");
    counter.destroy().expect("nothing holds it");
    table.destroy().expect("nothing holds it");
}

#[test]
fn a_table_that_the_kernel_keeps_is_given_back_and_still_works() {
    let kernel = Kernel::install();
    let context = kernel.context();
    let table = table(&context);
    kernel.keep(table.object().handle());
    let table = table.destroy().expect_err("the fake keeps it").into_object();
    let _entry = entry(&table, Actions::drop()).expect("the fake makes it");
    let _flow = flow(&context, 0, &table).expect("the fake makes it");
}

#[test]
fn an_entry_is_one_command_and_no_allocation() {
    let kernel = Kernel::install();
    let context = kernel.context();
    let (table, anchor) = (table(&context), kernel.anchor(&context, RX, 1));
    let counter = FlowCounter::create(&context).expect("the fake makes it");
    let criteria = to_port(5000);
    let group = table.group(.., &criteria).expect("the fake makes it");
    let handle = std::cell::Cell::new(0);
    fake::install(move |sent| {
        if sent.method().method() == cmds::MLX5_IB_METHOD_DEVX_OBJ_CREATE {
            handle.set(handle.get() + 1);
            sent.create(cmds::MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE, handle.get());
        }
        Ok(())
    });
    let one = Actions::forward_to(&anchor).count(&counter);
    let before = (fake::sent(), fake::allocations());
    let entry = group.entry(0, &criteria, one).expect("the fake makes it");
    assert_eq!((fake::sent(), fake::allocations()), (before.0 + 1, before.1));
    drop(entry);

    let before = (fake::sent(), fake::allocations());
    let two = Actions::forward_to(&anchor).also_to(Destination::Tir(1));
    let entry = group.entry(0, &criteria, two).expect("the fake makes it");
    assert_eq!((fake::sent(), fake::allocations()), (before.0 + 1, before.1 + 1));
    drop(entry);
    drop((group, table));
}

#[test]
fn a_counter_is_read_and_taken() {
    let kernel = Kernel::install();
    let context = kernel.context();
    let counter = FlowCounter::create(&context).expect("the fake makes it");
    for (read, clear) in [(FlowCounter::query as fn(&FlowCounter) -> _, 0), (FlowCounter::take, 1)] {
        kernel.forget();
        let count = read(&counter).expect("the fake answers");
        assert_eq!((count.packets, count.bytes), (3, 180));
        let [Done::Query(inbox)] = &kernel.take()[..] else { panic!("not one query") };
        let fields = [
            (counter_in::OPCODE, 0x93b),
            (counter_in::CLEAR, clear),
            (counter_in::FLOW_COUNTER_ID, counter.id().into()),
        ];
        assert_fields(inbox, &fields);
    }
}

#[test]
fn a_flow_without_privilege_says_so() {
    let kernel = Kernel::install();
    let context = kernel.context();
    let criteria = to_port(5000);
    let matcher =
        FlowMatcher::create(&context, RX, Priority::default(), &criteria).expect("the fake makes it");
    fake::install(|_| Err(rustix::io::Errno::PERM));
    let refused = matcher.flow(&criteria, FlowTarget::Drop).create().expect_err("no privilege");
    assert_eq!(refused.lacking(), Some(Lacking::Privilege));
}

#[test]
fn a_low_card_refuses_flows_of_high_priorities() {
    let kernel = Kernel::install();
    let context = kernel.context();
    kernel.lacks(property::MAX_FT_LEVEL);
    let table = table(&context);
    let refused = invalid(flow(&context, 0, &table));
    assert_eq!(refused, Invalid::BelowFlow { level: table.level(), priority: Priority::default(), table: 1 });
}
