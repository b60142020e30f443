//! Steering by commands, as a driver sends them, and by packets.

mod refusals;
mod rules;
mod switch;

use super::way::Hop;
use super::{End, Limits, Outcome, Steering, TableType, TypeLimits};
use crate::command::refusal::{Refusal, Syndrome};
use crate::command::{Reply, Request};
use crate::objects::{Kind, Objects};
use crate::packet::Packet;
use uverbs_uapi::prm::{self, Field, *};

const OUTER: Field = fte_match_param::OUTER_HEADERS;
const FWD: u16 = prm::MLX5_FLOW_CONTEXT_ACTION_FWD_DEST;
const DROP: u16 = prm::MLX5_FLOW_CONTEXT_ACTION_DROP;
const COUNT: u16 = prm::MLX5_FLOW_CONTEXT_ACTION_COUNT;
const SHARED: u16 = 0xffff;

const LIMITS: TypeLimits = TypeLimits {
    supported: true,
    log_max_size: 16,
    max_level: 64,
    ignore_flow_level: true,
    max_modify_actions: 16,
};

/// What a command answers.
type Answer<T> = Result<T, Syndrome>;

/// The steering half of a card, with commands as methods.
struct Bench {
    steering: Steering,
    objects: Objects,
    /// The words of the last answer.
    note: String,
}

/// A table to create.
#[derive(Clone, Copy)]
struct NewTable {
    uid: u16,
    kind: TableType,
    level: u64,
    log_size: u64,
    miss: Option<u32>,
    vport: Option<u16>,
}

impl NewTable {
    fn at(uid: u16, level: u64) -> Self {
        Self { uid, kind: TableType::NicRx, level, log_size: 4, miss: None, vport: None }
    }

    fn of(kind: TableType, level: u64) -> Self {
        Self { kind, ..Self::at(0, level) }
    }
}

/// An entry to write.
#[derive(Clone, Default)]
struct NewEntry {
    uid: u16,
    index: u32,
    group: u32,
    actions: u16,
    destinations: Vec<(u8, u32)>,
    counters: Vec<u32>,
    value: Vec<(Field, u64)>,
    tag: u32,
    ignore_level: bool,
    source: u8,
    reformat: u32,
    modification: u32,
    vlans: [u32; 2],
    /// The type of table that the command names, and the mask of a modification.
    kind: Option<TableType>,
    modify: Option<u64>,
}

impl NewEntry {
    fn to_table(group: u32, index: u32, table: u32) -> Self {
        Self {
            group,
            index,
            actions: FWD,
            destinations: vec![(1, table)],
            ignore_level: true,
            ..Self::default()
        }
    }

    fn to_tir(group: u32, index: u32, tir: u32) -> Self {
        Self { group, index, actions: FWD, destinations: vec![(2, tir)], ..Self::default() }
    }
}

impl Bench {
    fn new() -> Self {
        Self::with(LIMITS)
    }

    fn with(limits: TypeLimits) -> Self {
        let limits = Limits::uniform(limits);
        Self { steering: Steering::new(limits), objects: Objects::default(), note: String::new() }
    }

    /// Sends a command; `fields` are set in its `size` bytes, behind which `tail` follows.
    fn send(
        &mut self,
        opcode: u16,
        uid: u16,
        op_mod: u16,
        size: usize,
        fields: &[(Field, u64)],
        tail: &[u8],
    ) -> Answer<Vec<u8>> {
        let mut input = vec![0; size];
        for &(field, value) in fields {
            field.set(&mut input, value);
        }
        input.extend(tail);
        let request = Request { opcode, uid, op_mod, input: &input };
        let mut output = vec![0; 2048];
        let mut reply = Reply::new(&mut output);
        let answer = self.steering.command(&request, &mut reply, &mut self.objects);
        match answer.unwrap_or_else(|| panic!("{opcode:#x} is no steering command")) {
            Ok(note) => {
                self.note = note;
                Ok(output)
            }
            Err(Refusal { syndrome, .. }) => Err(syndrome),
        }
    }

    fn get(field: Field, output: &[u8]) -> u32 {
        u32::try_from(field.get(output)).unwrap_or(u32::MAX)
    }

    fn table(&mut self, new: NewTable) -> Answer<u32> {
        use prm::flow_table_context as context;
        let inside = |field| create_flow_table_in::FLOW_TABLE_CONTEXT.then(field);
        let mut fields = vec![
            (create_flow_table_in::TABLE_TYPE, new.kind.number().into()),
            (inside(context::LEVEL), new.level),
            (inside(context::LOG_SIZE), new.log_size),
            (inside(context::REFORMAT_EN), 1),
            (inside(context::DECAP_EN), 1),
        ];
        if let Some(id) = new.miss {
            fields.push((inside(context::TABLE_MISS_ACTION), prm::MLX5_FLOW_TABLE_MISS_ACTION_FWD.into()));
            fields.push((inside(context::TABLE_MISS_ID), id.into()));
        }
        if let Some(vport) = new.vport {
            fields.push((create_flow_table_in::OTHER_VPORT, 1));
            fields.push((create_flow_table_in::VPORT_NUMBER, vport.into()));
        }
        let output = self.send(
            prm::MLX5_CMD_OP_CREATE_FLOW_TABLE,
            new.uid,
            0,
            create_flow_table_in::SIZE,
            &fields,
            &[],
        )?;
        Ok(Self::get(create_flow_table_out::TABLE_ID, &output))
    }

    fn destroy_table(&mut self, uid: u16, id: u32) -> Answer<()> {
        let kind = self.kind(id);
        let fields =
            [(destroy_flow_table_in::TABLE_TYPE, kind), (destroy_flow_table_in::TABLE_ID, id.into())];
        self.send(prm::MLX5_CMD_OP_DESTROY_FLOW_TABLE, uid, 0, destroy_flow_table_in::SIZE, &fields, &[])
            .map(|_| ())
    }

    /// The type number of a table, that of NIC RX for one that is not there.
    fn kind(&self, id: u32) -> u64 {
        self.steering.tables.get(&id).map_or(0, |t| t.kind.number().into())
    }

    fn set_miss(&mut self, uid: u16, id: u32, miss: Option<u32>) -> Answer<()> {
        use prm::flow_table_context as context;
        let inside = |field| modify_flow_table_in::FLOW_TABLE_CONTEXT.then(field);
        let fields = [
            (modify_flow_table_in::MODIFY_FIELD_SELECT, 1),
            (modify_flow_table_in::TABLE_TYPE, self.kind(id)),
            (modify_flow_table_in::TABLE_ID, id.into()),
            (inside(context::TABLE_MISS_ACTION), u64::from(miss.is_some())),
            (inside(context::TABLE_MISS_ID), miss.unwrap_or(0).into()),
        ];
        self.send(prm::MLX5_CMD_OP_MODIFY_FLOW_TABLE, uid, 0, modify_flow_table_in::SIZE, &fields, &[])
            .map(|_| ())
    }

    fn root(&mut self, kind: TableType, vport: Option<u16>, table: Option<u32>) -> Answer<()> {
        let fields = [
            (set_flow_table_root_in::TABLE_TYPE, kind.number().into()),
            (set_flow_table_root_in::TABLE_ID, table.unwrap_or(0).into()),
            (set_flow_table_root_in::OTHER_VPORT, u64::from(vport.is_some())),
            (set_flow_table_root_in::VPORT_NUMBER, vport.unwrap_or(0).into()),
        ];
        let mode = u16::from(table.is_none());
        let size = set_flow_table_root_in::SIZE;
        self.send(prm::MLX5_CMD_OP_SET_FLOW_TABLE_ROOT, 0, mode, size, &fields, &[]).map(|_| ())
    }

    /// A group that compares the fields of `mask`, given as places in the match parameters.
    fn group(&mut self, uid: u16, table: u32, range: (u64, u64), mask: &[(Field, u64)]) -> Answer<u32> {
        let enable = mask.iter().fold(0, |bits, (field, _)| bits | 1 << (field.byte() / 64));
        let mut fields = vec![
            (create_flow_group_in::TABLE_TYPE, self.kind(table)),
            (create_flow_group_in::TABLE_ID, table.into()),
            (create_flow_group_in::START_FLOW_INDEX, range.0),
            (create_flow_group_in::END_FLOW_INDEX, range.1),
            (create_flow_group_in::MATCH_CRITERIA_ENABLE, enable),
        ];
        fields.extend(
            mask.iter().map(|&(field, bits)| (create_flow_group_in::MATCH_CRITERIA.then(field), bits)),
        );
        let output =
            self.send(prm::MLX5_CMD_OP_CREATE_FLOW_GROUP, uid, 0, create_flow_group_in::SIZE, &fields, &[])?;
        Ok(Self::get(create_flow_group_out::GROUP_ID, &output))
    }

    fn destroy_group(&mut self, uid: u16, table: u32, group: u32) -> Answer<()> {
        let fields = [
            (destroy_flow_group_in::TABLE_TYPE, self.kind(table)),
            (destroy_flow_group_in::TABLE_ID, table.into()),
            (destroy_flow_group_in::GROUP_ID, group.into()),
        ];
        self.send(prm::MLX5_CMD_OP_DESTROY_FLOW_GROUP, uid, 0, destroy_flow_group_in::SIZE, &fields, &[])
            .map(|_| ())
    }

    fn entry(&mut self, table: u32, new: &NewEntry) -> Answer<()> {
        let inside = |field| set_fte_in::FLOW_CONTEXT.then(field);
        let kind = new.kind.map_or(self.kind(table), |k| k.number().into());
        let mut fields = vec![
            (set_fte_in::TABLE_TYPE, kind),
            (set_fte_in::TABLE_ID, table.into()),
            (set_fte_in::FLOW_INDEX, new.index.into()),
            (set_fte_in::IGNORE_FLOW_LEVEL, new.ignore_level.into()),
            (set_fte_in::MODIFY_ENABLE_MASK, new.modify.unwrap_or(0)),
            (inside(flow_context::GROUP_ID), new.group.into()),
            (inside(flow_context::ACTION), new.actions.into()),
            (inside(flow_context::FLOW_TAG), new.tag.into()),
            (inside(flow_context::FLOW_SOURCE), new.source.into()),
            (inside(flow_context::PACKET_REFORMAT_ID), new.reformat.into()),
            (inside(flow_context::MODIFY_HEADER_ID), new.modification.into()),
            (inside(flow_context::PUSH_VLAN), new.vlans[0].into()),
            (inside(flow_context::PUSH_VLAN_2), new.vlans[1].into()),
            (inside(flow_context::DESTINATION_LIST_SIZE), new.destinations.len() as u64),
            (inside(flow_context::FLOW_COUNTER_LIST_SIZE), new.counters.len() as u64),
        ];
        fields.extend(new.value.iter().map(|&(field, v)| (inside(flow_context::MATCH_VALUE.then(field)), v)));
        let mut tail = Vec::new();
        for &(kind, id) in &new.destinations {
            let mut item = [0; dest_format_struct::SIZE];
            dest_format_struct::DESTINATION_TYPE.set(&mut item, kind.into());
            dest_format_struct::DESTINATION_ID.set(&mut item, id.into());
            tail.extend(item);
        }
        for &id in &new.counters {
            let mut item = [0; flow_counter_list::SIZE];
            flow_counter_list::FLOW_COUNTER_ID.set(&mut item, id.into());
            tail.extend(item);
        }
        let (opcode, mode) = (prm::MLX5_CMD_OP_SET_FLOW_TABLE_ENTRY, u16::from(new.modify.is_some()));
        self.send(opcode, new.uid, mode, set_fte_in::SIZE, &fields, &tail).map(|_| ())
    }

    fn delete_entry(&mut self, uid: u16, table: u32, index: u32) -> Answer<()> {
        let fields = [
            (delete_fte_in::TABLE_TYPE, self.kind(table)),
            (delete_fte_in::TABLE_ID, table.into()),
            (delete_fte_in::FLOW_INDEX, index.into()),
        ];
        self.send(prm::MLX5_CMD_OP_DELETE_FLOW_TABLE_ENTRY, uid, 0, delete_fte_in::SIZE, &fields, &[])
            .map(|_| ())
    }

    /// A run of 2^`log` counters.
    fn counters(&mut self, uid: u16, log: u64) -> Answer<u32> {
        let fields = [(alloc_flow_counter_in::FLOW_COUNTER_BULK_LOG_SIZE, log)];
        let output = self.send(
            prm::MLX5_CMD_OP_ALLOC_FLOW_COUNTER,
            uid,
            0,
            alloc_flow_counter_in::SIZE,
            &fields,
            &[],
        )?;
        Ok(Self::get(alloc_flow_counter_out::FLOW_COUNTER_ID, &output))
    }

    fn free_counters(&mut self, uid: u16, id: u32) -> Answer<()> {
        let fields = [(dealloc_flow_counter_in::FLOW_COUNTER_ID, id.into())];
        self.send(prm::MLX5_CMD_OP_DEALLOC_FLOW_COUNTER, uid, 0, 16, &fields, &[]).map(|_| ())
    }

    /// Packets and octets of `count` counters from `id` on.
    fn query_counters(&mut self, uid: u16, id: u32, count: usize, clear: bool) -> Answer<Vec<(u64, u64)>> {
        let fields = [
            (query_flow_counter_in::FLOW_COUNTER_ID, id.into()),
            (query_flow_counter_in::NUM_OF_COUNTERS, count as u64),
            (query_flow_counter_in::CLEAR, clear.into()),
        ];
        let output = self.send(
            prm::MLX5_CMD_OP_QUERY_FLOW_COUNTER,
            uid,
            0,
            query_flow_counter_in::SIZE,
            &fields,
            &[],
        )?;
        let read = |bytes: &[u8]| (traffic_counter::PACKETS.get(bytes), traffic_counter::OCTETS.get(bytes));
        Ok(output[16..].chunks_exact(16).take(count).map(read).collect())
    }

    fn reformat(&mut self, uid: u16, kind: u8, data: &[u8]) -> Answer<u32> {
        use prm::packet_reformat_context_in as context;
        let start = alloc_packet_reformat_context_in::PACKET_REFORMAT_CONTEXT.byte();
        let at = |field: Field| Field::new(start * 8 + field.offset, field.width);
        let fields =
            [(at(context::REFORMAT_TYPE), kind.into()), (at(context::REFORMAT_DATA_SIZE), data.len() as u64)];
        let size = start + context::REFORMAT_DATA.byte();
        let output =
            self.send(prm::MLX5_CMD_OP_ALLOC_PACKET_REFORMAT_CONTEXT, uid, 0, size, &fields, data)?;
        Ok(Self::get(alloc_packet_reformat_context_out::PACKET_REFORMAT_ID, &output))
    }

    fn modification(&mut self, uid: u16, kind: TableType, actions: &[[u8; 8]]) -> Answer<u32> {
        use prm::alloc_modify_header_context_in as layout;
        let fields =
            [(layout::TABLE_TYPE, kind.number().into()), (layout::NUM_OF_ACTIONS, actions.len() as u64)];
        let mut tail = actions.concat();
        // The size holds the first action.
        let mut head = vec![0; layout::SIZE];
        for (field, value) in fields {
            field.set(&mut head, value);
        }
        head.truncate(layout::ACTIONS.byte());
        head.append(&mut tail);
        head.resize(head.len().max(layout::SIZE), 0);
        let output = self.send(prm::MLX5_CMD_OP_ALLOC_MODIFY_HEADER_CONTEXT, uid, 0, 0, &[], &head)?;
        Ok(Self::get(alloc_modify_header_context_out::MODIFY_HEADER_ID, &output))
    }

    fn tir(&mut self, uid: u16) -> u32 {
        self.objects.allocate(Kind::Tir, uid, prm::MLX5_CMD_OP_CREATE_TIR).expect("few objects are alive")
    }

    /// One frame from the wire: its first outcome.
    fn receive(&mut self, frame: &[u8]) -> Outcome {
        self.steering.receive(Packet::from_wire(frame.to_vec())).swap_remove(0)
    }
}

fn set_action(field: u16, offset: u64, length: u64, data: u64) -> [u8; 8] {
    let mut bytes = [0; 8];
    set_action_in::ACTION_TYPE.set(&mut bytes, prm::MLX5_ACTION_TYPE_SET.into());
    set_action_in::FIELD.set(&mut bytes, field.into());
    set_action_in::OFFSET.set(&mut bytes, offset);
    set_action_in::LENGTH.set(&mut bytes, length);
    set_action_in::DATA.set(&mut bytes, data);
    bytes
}

fn add_action(field: u16, data: u64) -> [u8; 8] {
    let mut bytes = [0; 8];
    add_action_in::ACTION_TYPE.set(&mut bytes, prm::MLX5_ACTION_TYPE_ADD.into());
    add_action_in::FIELD.set(&mut bytes, field.into());
    add_action_in::DATA.set(&mut bytes, data);
    bytes
}

fn copy_action(from: (u16, u64), to: (u16, u64), length: u64) -> [u8; 8] {
    let mut bytes = [0; 8];
    copy_action_in::ACTION_TYPE.set(&mut bytes, prm::MLX5_ACTION_TYPE_COPY.into());
    copy_action_in::SRC_FIELD.set(&mut bytes, from.0.into());
    copy_action_in::SRC_OFFSET.set(&mut bytes, from.1);
    copy_action_in::DST_FIELD.set(&mut bytes, to.0.into());
    copy_action_in::DST_OFFSET.set(&mut bytes, to.1);
    copy_action_in::LENGTH.set(&mut bytes, length);
    bytes
}

/// The tables of a way.
fn tables(hops: &[Hop]) -> Vec<u32> {
    hops.iter().map(|hop| hop.table).collect()
}

fn dropped(place: &str, why: &str) -> End {
    End::Dropped(place.into(), why.into())
}
