//! Commands on flow tables and roots.

use super::super::table::{Miss, Table, TableType};
use super::super::uses::Used;
use super::super::{Root, Steering, refuse};
use super::{answer, number, vport, whole};
use crate::command::refusal::{Refusal, Syndrome};
use crate::command::{Reply, Request};
use crate::objects::{Kind, Objects};
use std::collections::BTreeMap;
use uverbs_uapi::prm::{
    self, Field, create_flow_table_in, create_flow_table_out, flow_table_context as context,
    modify_flow_table_in, query_flow_table_out, set_flow_table_root_in,
};

/// `set_flow_table_root_in::OP_MOD`: back to the default.
const DISCONNECT: u16 = 1;

impl Steering {
    pub(super) fn create_table(
        &mut self,
        request: &Request<'_>,
        reply: &mut Reply<'_>,
        objects: &mut Objects,
    ) -> Result<String, Refusal> {
        whole(request, create_flow_table_in::SIZE)?;
        let kind = TableType::try_from(request.get(create_flow_table_in::TABLE_TYPE))?;
        let inside = |field: Field| create_flow_table_in::FLOW_TABLE_CONTEXT.then(field);
        let small = |field: Field| u8::try_from(request.get(inside(field))).unwrap_or(u8::MAX);
        let (level, log_size) = (small(context::LEVEL), small(context::LOG_SIZE));
        let limits = self.limits.of(kind);
        if !limits.supported {
            return refuse(Syndrome::UnknownTableType, format!("type {}", kind.name()));
        }
        if log_size > limits.log_max_size {
            return refuse(
                Syndrome::TableTooLarge,
                format!("2^{log_size}, at most 2^{}", limits.log_max_size),
            );
        }
        // The kernel creates levels above the capability's maximum and relies on them: not held against it.
        if request.uid != 0 && level > limits.max_level {
            return refuse(Syndrome::LevelTooHigh, format!("level {level}, at most {}", limits.max_level));
        }
        let bytes = request.input[create_flow_table_in::FLOW_TABLE_CONTEXT.bytes()].to_vec();
        let miss = self.read_miss(&bytes, kind, request.uid, objects)?;
        let id = objects.allocate(Kind::FlowTable, request.uid, request.opcode)?;
        self.uses.add(miss_use(miss));
        let table = Table {
            kind,
            level,
            log_size,
            uid: request.uid,
            miss,
            reformat: context::REFORMAT_EN.get(&bytes) != 0,
            decap: context::DECAP_EN.get(&bytes) != 0,
            context: bytes,
            groups: BTreeMap::new(),
            entries: BTreeMap::new(),
            misses: 0,
        };
        self.tables.insert(id, table);
        reply.set(create_flow_table_out::TABLE_ID, id.into());
        Ok(format!(
            "-> table {id:#x} type {} level {level} size 2^{log_size} {}",
            kind.name(),
            miss_words(miss)
        ))
    }

    /// The miss action in a table context; refuses a table that is not there, not the caller's or of another type.
    fn read_miss(&self, bytes: &[u8], kind: TableType, uid: u16, objects: &Objects) -> Result<Miss, Refusal> {
        let id = u32::try_from(context::TABLE_MISS_ID.get(bytes)).unwrap_or(u32::MAX);
        match u8::try_from(context::TABLE_MISS_ACTION.get(bytes)).unwrap_or(u8::MAX) {
            prm::MLX5_FLOW_TABLE_MISS_ACTION_DEF => Ok(Miss::Default),
            prm::MLX5_FLOW_TABLE_MISS_ACTION_SWITCH_DOMAIN => Ok(Miss::SwitchDomain),
            prm::MLX5_FLOW_TABLE_MISS_ACTION_FWD => {
                objects.check(Kind::FlowTable, id, uid)?;
                match self.tables.get(&id) {
                    Some(table) if table.kind == kind => Ok(Miss::Table(id)),
                    Some(table) => refuse(
                        Syndrome::TableTypeMismatch,
                        format!("a miss from {} to table {id:#x} of type {}", kind.name(), table.kind.name()),
                    ),
                    None => refuse(Syndrome::NoSuchObject, format!("miss table {id:#x}")),
                }
            }
            action => refuse(Syndrome::BadAction, format!("miss action {action}")),
        }
    }

    pub(super) fn destroy_table(
        &mut self,
        request: &Request<'_>,
        objects: &mut Objects,
    ) -> Result<String, Refusal> {
        whole(request, prm::destroy_flow_table_in::SIZE)?;
        let (id, table) = self.own_table(request, objects)?;
        if let Some(group) = table.groups.values().next() {
            let count = table.groups.len();
            let first = group.id;
            return refuse(
                Syndrome::TableHasGroups,
                format!("table {id:#x}: {count}, the first is {first:#x}"),
            );
        }
        let miss = table.miss;
        // A miss to itself does not keep a table alive.
        let references = self.uses.of(Used::Table(id)) - usize::from(miss == Miss::Table(id));
        if references > 0 {
            return refuse(Syndrome::TableIsDestination, format!("table {id:#x}, {references} times"));
        }
        objects.release(Kind::FlowTable, id, request.uid)?;
        self.uses.remove(miss_use(miss));
        self.tables.remove(&id);
        // The kernel destroys its last table of a type while it is the root: the root goes with it.
        self.roots.retain(|_, table| *table != id);
        Ok(format!("table {id:#x}"))
    }

    pub(super) fn query_table(
        &mut self,
        request: &Request<'_>,
        reply: &mut Reply<'_>,
        objects: &Objects,
    ) -> Result<String, Refusal> {
        let (id, table) = self.named_table(request, objects)?;
        answer(reply, query_flow_table_out::FLOW_TABLE_CONTEXT.byte(), &table.context)?;
        Ok(format!("table {id:#x}"))
    }

    pub(super) fn modify_table(
        &mut self,
        request: &Request<'_>,
        objects: &Objects,
    ) -> Result<String, Refusal> {
        whole(request, modify_flow_table_in::SIZE)?;
        let select =
            u16::try_from(request.get(modify_flow_table_in::MODIFY_FIELD_SELECT)).unwrap_or(u16::MAX);
        if select
            & !(prm::MLX5_MODIFY_FLOW_TABLE_MISS_TABLE_ID | prm::MLX5_MODIFY_FLOW_TABLE_LAG_NEXT_TABLE_ID)
            != 0
        {
            return refuse(Syndrome::BadFieldSelection, format!("{select:#x}"));
        }
        let (id, table) = self.own_table(request, objects)?;
        let (kind, old) = (table.kind, table.miss);
        let bytes = &request.input[modify_flow_table_in::FLOW_TABLE_CONTEXT.bytes()];
        if select & prm::MLX5_MODIFY_FLOW_TABLE_MISS_TABLE_ID == 0 {
            return Ok(format!("table {id:#x} select {select:#x}"));
        }
        let miss = self.read_miss(bytes, kind, request.uid, objects)?;
        self.uses.add(miss_use(miss));
        self.uses.remove(miss_use(old));
        if let Some(table) = self.tables.get_mut(&id) {
            table.miss = miss;
            for field in [context::TABLE_MISS_ACTION, context::TABLE_MISS_ID] {
                field.set(&mut table.context, field.get(bytes));
            }
        }
        Ok(format!("table {id:#x} {}", miss_words(miss)))
    }

    pub(super) fn set_root(&mut self, request: &Request<'_>, objects: &Objects) -> Result<String, Refusal> {
        whole(request, set_flow_table_root_in::SIZE)?;
        let root = Root {
            kind: TableType::try_from(request.get(set_flow_table_root_in::TABLE_TYPE))?,
            vport: vport(request),
            underlay_qpn: number(request, set_flow_table_root_in::UNDERLAY_QPN),
        };
        let name = root.kind.name();
        if request.uid != 0 {
            return refuse(Syndrome::ForeignObject, format!("the root of {name} belongs to the kernel"));
        }
        if request.op_mod == DISCONNECT {
            self.roots.remove(&root);
            return Ok(format!("type {name} vport {:#x}: none", root.vport));
        }
        let (id, _) = self.named_table(request, objects)?;
        self.roots.insert(root, id);
        Ok(format!("type {name} vport {:#x}: table {id:#x}", root.vport))
    }
}

fn miss_use(miss: Miss) -> Option<Used> {
    match miss {
        Miss::Table(id) => Some(Used::Table(id)),
        Miss::Default | Miss::SwitchDomain => None,
    }
}

fn miss_words(miss: Miss) -> String {
    match miss {
        Miss::Default => "miss default".into(),
        Miss::Table(id) => format!("miss table {id:#x}"),
        Miss::SwitchDomain => "miss to the other domain".into(),
    }
}
