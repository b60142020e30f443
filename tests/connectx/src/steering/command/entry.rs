//! Commands on flow table entries.

use super::super::entry::{Description, Entry, Target};
use super::super::table::Table;
use super::super::uses::Used;
use super::super::{Steering, refuse};
use super::{answer, may_change, number, whole};
use crate::command::refusal::{Refusal, Syndrome};
use crate::command::{Reply, Request};
use crate::objects::{Kind, Objects};
use crate::packet::words;
use uverbs_uapi::prm::{self, delete_fte_in, flow_context, query_fte_in, query_fte_out, set_fte_in};

/// `set_fte_in::OP_MOD`: a new entry.
const CREATE: u16 = 0;
/// `set_fte_in::OP_MOD`: changes one.
const MODIFY: u16 = 1;

impl Steering {
    pub(super) fn set_entry(
        &mut self,
        request: &Request<'_>,
        objects: &mut Objects,
    ) -> Result<String, Refusal> {
        whole(request, set_fte_in::SIZE)?;
        let context = &request.input[set_fte_in::FLOW_CONTEXT.byte()..];
        let ignore_level = request.get(set_fte_in::IGNORE_FLOW_LEVEL) != 0;
        let index = number(request, set_fte_in::FLOW_INDEX);
        let (table_id, table) = self.named_table(request, objects)?;
        may_change(request, table.uid, || format!("table {table_id:#x}"))?;
        let new = Description::read(context, ignore_level)?;
        let entry = match request.op_mod {
            CREATE => {
                self.check(&new, table, request.uid, objects)?;
                Self::check_place(&new, table_id, table, index)?;
                let serial = objects.allocate(Kind::FlowEntry, request.uid, request.opcode)?;
                Entry { serial, uid: request.uid, says: new, context: context.to_vec(), hits: 0 }
            }
            MODIFY => {
                let Some(old) = table.entries.get(&index) else {
                    return refuse(Syndrome::NoSuchObject, format!("entry {index} in table {table_id:#x}"));
                };
                may_change(request, old.uid, || format!("entry {index} of table {table_id:#x}"))?;
                let mask = u8::try_from(request.get(set_fte_in::MODIFY_ENABLE_MASK)).unwrap_or(0);
                let (says, context) = merge(old, new, context, mask);
                self.check(&says, table, request.uid, objects)?;
                Entry { serial: old.serial, uid: old.uid, says, context, hits: old.hits }
            }
            mode => return refuse(Syndrome::UnknownOpcode, format!("SET_FTE with modifier {mode:#x}")),
        };
        Ok(self.place(table_id, index, entry, request.op_mod == MODIFY))
    }

    /// Puts `entry` in its place and keeps the index and the accounts.
    fn place(&mut self, table_id: u32, index: u32, entry: Entry, modify: bool) -> String {
        self.uses.add(self.used(&entry.says));
        let Some(table) = self.tables.get_mut(&table_id) else { return String::new() };
        let mut what = String::new();
        if let Some(group) = table.group_mut(entry.says.group) {
            let criteria = &group.criteria;
            let matched = words::masked(criteria.enable, &criteria.mask, &entry.says.value);
            what = format!("{{{matched}}} {}", describe(&entry.says));
            if !modify {
                group.index.insert(group.criteria.key(&entry.says.value), index);
            }
        }
        let note = format!("table {table_id:#x} entry {index} group {:#x} {what}", entry.says.group);
        if let Some(old) = table.entries.insert(index, entry) {
            let used = self.used(&old.says);
            self.uses.remove(used);
        }
        note
    }

    /// Everything that an entry keeps alive.
    fn used(&self, says: &Description) -> Vec<Used> {
        let mut used: Vec<Used> = says.tables().map(Used::Table).collect();
        used.extend(says.reformats().map(Used::Reformat));
        used.extend(says.modification.map(Used::Modification));
        used.extend(says.counters.iter().filter_map(|&id| self.counters.run(id)).map(Used::Counters));
        used
    }

    /// A new entry needs a free index inside its group.
    fn check_place(new: &Description, id: u32, table: &Table, index: u32) -> Result<(), Refusal> {
        let Some(group) = table.group(new.group) else {
            return refuse(Syndrome::NoSuchObject, format!("group {:#x} in table {id:#x}", new.group));
        };
        if !(group.first..=group.last).contains(&index) {
            let (first, last) = (group.first, group.last);
            return refuse(Syndrome::IndexOutsideGroup, format!("{index} in [{first}..{last}]"));
        }
        if table.entries.contains_key(&index) {
            return refuse(Syndrome::IndexTaken, format!("entry {index} of table {id:#x}"));
        }
        Ok(())
    }

    /// What an entry says must be possible in its table, and name only what its owner may use.
    fn check(&self, new: &Description, table: &Table, uid: u16, objects: &Objects) -> Result<(), Refusal> {
        new.check_actions()?;
        if new.ignore_level && !self.limits.of(table.kind).ignore_flow_level {
            return refuse(Syndrome::IgnoreLevelUnsupported, format!("type {}", table.kind.name()));
        }
        for destination in &new.destinations {
            self.check_target(destination.target, new, table, uid, objects)?;
        }
        for &id in &new.counters {
            let Some(run) = self.counters.run(id) else {
                return refuse(Syndrome::NoSuchObject, format!("flow counter {id:#x}"));
            };
            objects.check(Kind::FlowCounter, run, uid)?;
        }
        for id in new.reformats() {
            objects.check(Kind::PacketReformat, id, uid)?;
            let Some(reformat) = self.reformats.get(&id) else {
                return refuse(Syndrome::NoSuchObject, format!("packet reformat {id:#x}"));
            };
            if !(if reformat.adds() { table.reformat } else { table.decap || table.reformat }) {
                return refuse(Syndrome::BadAction, format!("{} in a table without it", reformat.name()));
            }
        }
        if new.actions.has(prm::MLX5_FLOW_CONTEXT_ACTION_DECAP) && !table.decap {
            return refuse(Syndrome::BadAction, "DECAP in a table without decap_en");
        }
        if let Some(id) = new.modification {
            objects.check(Kind::ModifyHeader, id, uid)?;
            match self.modifications.get(&id) {
                Some(m) if m.kind == table.kind => {}
                Some(m) => {
                    let (is, needs) = (m.kind.name(), table.kind.name());
                    let detail = format!("header modification {id:#x} is for {is}, the table is {needs}");
                    return refuse(Syndrome::BadAction, detail);
                }
                None => return refuse(Syndrome::NoSuchObject, format!("header modification {id:#x}")),
            }
        }
        Ok(())
    }

    fn check_target(
        &self,
        target: Target,
        new: &Description,
        table: &Table,
        uid: u16,
        objects: &Objects,
    ) -> Result<(), Refusal> {
        let unfit = || {
            refuse(Syndrome::BadDestination, format!("{target} from a table of type {}", table.kind.name()))
        };
        match target {
            Target::Table(id) => {
                objects.check(Kind::FlowTable, id, uid)?;
                let Some(to) = self.tables.get(&id) else {
                    return refuse(Syndrome::NoSuchObject, format!("table {id:#x}"));
                };
                if to.kind != table.kind {
                    let (from, to) = (table.kind.name(), to.kind.name());
                    return refuse(
                        Syndrome::TableTypeMismatch,
                        format!("from {from} to table {id:#x} of type {to}"),
                    );
                }
                if !new.ignore_level && to.level <= table.level {
                    let (from, to) = (table.level, to.level);
                    return refuse(
                        Syndrome::LevelNotAbove,
                        format!("from level {from} to table {id:#x} of level {to}"),
                    );
                }
                Ok(())
            }
            Target::Tir(id) if table.kind.receives() => objects.check(Kind::Tir, id, uid),
            Target::Vport(_) | Target::Uplink if table.kind.switches() => Ok(()),
            Target::Tir(_) | Target::Vport(_) | Target::Uplink => unfit(),
        }
    }

    pub(super) fn delete_entry(
        &mut self,
        request: &Request<'_>,
        objects: &mut Objects,
    ) -> Result<String, Refusal> {
        whole(request, delete_fte_in::SIZE)?;
        let index = number(request, delete_fte_in::FLOW_INDEX);
        let (table_id, table) = self.own_table(request, objects)?;
        let Some(entry) = table.entries.get(&index) else {
            return refuse(Syndrome::NoSuchObject, format!("entry {index} in table {table_id:#x}"));
        };
        objects.release(Kind::FlowEntry, entry.serial, request.uid)?;
        if let Some(entry) = table.entries.remove(&index) {
            if let Some(group) = table.group_mut(entry.says.group) {
                group.index.remove(&group.criteria.key(&entry.says.value), index);
            }
            let used = self.used(&entry.says);
            self.uses.remove(used);
        }
        Ok(format!("table {table_id:#x} entry {index}"))
    }

    pub(super) fn query_entry(
        &mut self,
        request: &Request<'_>,
        reply: &mut Reply<'_>,
        objects: &Objects,
    ) -> Result<String, Refusal> {
        let index = number(request, query_fte_in::FLOW_INDEX);
        let (table_id, table) = self.named_table(request, objects)?;
        let Some(entry) = table.entries.get(&index) else {
            return refuse(Syndrome::NoSuchObject, format!("entry {index} in table {table_id:#x}"));
        };
        // The caller's buffer need not have room for the list behind the context.
        let room = reply.bytes().len().saturating_sub(query_fte_out::FLOW_CONTEXT.byte());
        let length = entry.context.len().min(room).max(flow_context::SIZE.min(entry.context.len()));
        answer(reply, query_fte_out::FLOW_CONTEXT.byte(), &entry.context[..length])?;
        Ok(format!("table {table_id:#x} entry {index}"))
    }
}

/// An entry with the parts replaced that `mask` selects: group and value always stay.
fn merge(old: &Entry, new: Description, context: &[u8], mask: u8) -> (Description, Vec<u8>) {
    let selected = |bit: u8| mask >> bit & 1 != 0;
    let mut says = old.says.clone();
    let mut bytes = context.to_vec();
    let mut keep = |field: prm::Field| field.set(&mut bytes, field.get(&old.context));
    keep(flow_context::GROUP_ID);
    if selected(prm::MLX5_SET_FTE_MODIFY_ENABLE_MASK_ACTION) {
        says.actions = new.actions;
        says.reformat = new.reformat;
        says.modification = new.modification;
        says.vlans = new.vlans;
    } else {
        keep(flow_context::ACTION);
    }
    if selected(prm::MLX5_SET_FTE_MODIFY_ENABLE_MASK_FLOW_TAG) {
        says.tag = new.tag;
    } else {
        keep(flow_context::FLOW_TAG);
    }
    if selected(prm::MLX5_SET_FTE_MODIFY_ENABLE_MASK_DESTINATION_LIST) {
        says.destinations = new.destinations;
        says.ignore_level = new.ignore_level;
    }
    if selected(prm::MLX5_SET_FTE_MODIFY_ENABLE_MASK_FLOW_COUNTERS) {
        says.counters = new.counters;
    }
    // What the action no longer asks for is no longer held.
    if !says.actions.has(prm::MLX5_FLOW_CONTEXT_ACTION_FWD_DEST) {
        says.destinations.clear();
    }
    if !says.actions.has(prm::MLX5_FLOW_CONTEXT_ACTION_COUNT) {
        says.counters.clear();
    }
    bytes[flow_context::MATCH_VALUE.bytes()].copy_from_slice(&old.context[flow_context::MATCH_VALUE.bytes()]);
    (says, bytes)
}

/// What an entry does, for the trace.
fn describe(says: &Description) -> String {
    let targets: Vec<_> = says.destinations.iter().map(|d| d.target.to_string()).collect();
    let mut words = vec![says.actions.to_string(), targets.join(", ")];
    if says.tag != 0 {
        words.push(format!("tag {:#x}", says.tag));
    }
    if says.ignore_level {
        words.push("ignore_flow_level".into());
    }
    words.retain(|word| !word.is_empty());
    words.join(" ")
}
