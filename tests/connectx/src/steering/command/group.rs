//! Commands on flow groups.

use super::super::index::{Criteria, Index};
use super::super::table::Group;
use super::super::{Steering, refuse};
use super::{answer, number, whole};
use crate::command::refusal::{Refusal, Syndrome};
use crate::command::{Reply, Request};
use crate::objects::{Kind, Objects};
use crate::packet::words;
use uverbs_uapi::prm::{
    create_flow_group_in as create, create_flow_group_out, destroy_flow_group_in, query_flow_group_in,
    query_flow_group_out,
};

impl Steering {
    pub(super) fn create_group(
        &mut self,
        request: &Request<'_>,
        reply: &mut Reply<'_>,
        objects: &mut Objects,
    ) -> Result<String, Refusal> {
        whole(request, create::MATCH_CRITERIA.bytes().end)?;
        let (table_id, table) = self.own_table(request, objects)?;
        let (first, last) =
            (number(request, create::START_FLOW_INDEX), number(request, create::END_FLOW_INDEX));
        let kind = request.get(create::GROUP_TYPE);
        if kind != 0 {
            return refuse(Syndrome::GroupTypeUnsupported, format!("group type {kind}"));
        }
        if last < first || u64::from(last) >> table.log_size != 0 {
            let size = table.log_size;
            return refuse(Syndrome::GroupOutsideTable, format!("[{first}..{last}] in 2^{size} entries"));
        }
        if let Some(other) = table.groups.values().find(|o| o.first <= last && first <= o.last) {
            let (id, from, to) = (other.id, other.first, other.last);
            let detail = format!("[{first}..{last}] and group {id:#x} [{from}..{to}]");
            return refuse(Syndrome::GroupsOverlap, detail);
        }
        let enable = u8::try_from(request.get(create::MATCH_CRITERIA_ENABLE)).unwrap_or(0);
        let criteria = Criteria::new(enable, &request.input[create::MATCH_CRITERIA.bytes()]);
        let id = objects.allocate(Kind::FlowGroup, request.uid, request.opcode)?;
        let fields = words::criteria(enable, &criteria.mask);
        table.groups.insert(first, Group { id, first, last, criteria, index: Index::default() });
        reply.set(create_flow_group_out::GROUP_ID, id.into());
        Ok(format!("-> group {id:#x} table {table_id:#x} [{first}..{last}] criteria {{{fields}}}"))
    }

    pub(super) fn destroy_group(
        &mut self,
        request: &Request<'_>,
        objects: &mut Objects,
    ) -> Result<String, Refusal> {
        whole(request, destroy_flow_group_in::SIZE)?;
        let id = number(request, destroy_flow_group_in::GROUP_ID);
        let (table_id, table) = self.own_table(request, objects)?;
        let Some(group) = table.group(id) else {
            return refuse(Syndrome::NoSuchObject, format!("group {id:#x} in table {table_id:#x}"));
        };
        if let Some((index, _)) = table.entries.range(group.first..=group.last).next() {
            return refuse(Syndrome::GroupHasEntries, format!("group {id:#x}, entry {index}"));
        }
        objects.release(Kind::FlowGroup, id, request.uid)?;
        let first = group.first;
        table.groups.remove(&first);
        Ok(format!("table {table_id:#x} group {id:#x}"))
    }

    pub(super) fn query_group(
        &mut self,
        request: &Request<'_>,
        reply: &mut Reply<'_>,
        objects: &Objects,
    ) -> Result<String, Refusal> {
        let id = number(request, query_flow_group_in::GROUP_ID);
        let (table_id, table) = self.named_table(request, objects)?;
        let Some(group) = table.group(id) else {
            return refuse(Syndrome::NoSuchObject, format!("group {id:#x} in table {table_id:#x}"));
        };
        answer(reply, query_flow_group_out::MATCH_CRITERIA.byte(), &group.criteria.mask)?;
        reply.set(query_flow_group_out::START_FLOW_INDEX, group.first.into());
        reply.set(query_flow_group_out::END_FLOW_INDEX, group.last.into());
        reply.set(query_flow_group_out::MATCH_CRITERIA_ENABLE, group.criteria.enable.into());
        Ok(format!("table {table_id:#x} group {id:#x}"))
    }
}
