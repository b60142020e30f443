//! Commands on what entries name: flow counters, packet reformats, header modifications.

use super::super::reformat::{Modification, Reformat};
use super::super::table::TableType;
use super::super::uses::Used;
use super::super::{Count, Steering, refuse};
use super::{answer, number, whole};
use crate::command::refusal::{Refusal, Syndrome};
use crate::command::{Reply, Request};
use crate::objects::{Kind, Objects};
use uverbs_uapi::prm::{
    alloc_flow_counter_in, alloc_flow_counter_out, alloc_modify_header_context_in as modify_in,
    alloc_modify_header_context_out as modify_out, alloc_packet_reformat_context_in as reformat_in,
    alloc_packet_reformat_context_out as reformat_out, dealloc_flow_counter_in,
    dealloc_modify_header_context_in, dealloc_packet_reformat_context_in, query_flow_counter_in,
    query_flow_counter_out, set_action_in, traffic_counter,
};

/// The unit of `flow_counter_bulk`.
const BULK: u32 = 128;
/// The largest run of counters, as a power of two.
const LOG_MAX_RUN: u32 = 15;

impl Steering {
    pub(super) fn allocate_counters(
        &mut self,
        request: &Request<'_>,
        reply: &mut Reply<'_>,
        objects: &mut Objects,
    ) -> Result<String, Refusal> {
        whole(request, alloc_flow_counter_in::SIZE)?;
        let bulk = number(request, alloc_flow_counter_in::FLOW_COUNTER_BULK) * BULK;
        let log = number(request, alloc_flow_counter_in::FLOW_COUNTER_BULK_LOG_SIZE);
        if log > LOG_MAX_RUN || bulk > 1 << LOG_MAX_RUN {
            return refuse(Syndrome::BadFieldSelection, format!("2^{log} or {bulk} counters at once"));
        }
        let count = bulk.max(1 << log);
        let first = objects.allocate_run(Kind::FlowCounter, request.uid, request.opcode, count)?;
        self.counters.insert(first, count as usize);
        reply.set(alloc_flow_counter_out::FLOW_COUNTER_ID, first.into());
        Ok(format!("-> flow counter {first:#x} and {} more", count - 1))
    }

    pub(super) fn free_counters(
        &mut self,
        request: &Request<'_>,
        objects: &mut Objects,
    ) -> Result<String, Refusal> {
        let id = number(request, dealloc_flow_counter_in::FLOW_COUNTER_ID);
        objects.check(Kind::FlowCounter, id, request.uid)?;
        self.unused(Used::Counters(id), || format!("flow counter {id:#x}"))?;
        objects.release(Kind::FlowCounter, id, request.uid)?;
        self.counters.remove(id);
        Ok(format!("flow counter {id:#x}"))
    }

    pub(super) fn query_counters(
        &mut self,
        request: &Request<'_>,
        reply: &mut Reply<'_>,
        objects: &Objects,
    ) -> Result<String, Refusal> {
        whole(request, query_flow_counter_in::SIZE)?;
        let first = number(request, query_flow_counter_in::FLOW_COUNTER_ID);
        let count = number(request, query_flow_counter_in::NUM_OF_COUNTERS).max(1);
        let clear = request.get(query_flow_counter_in::CLEAR) != 0;
        let step = traffic_counter::SIZE;
        for (position, id) in (first..first.saturating_add(count)).enumerate() {
            let run = self.counters.run(id);
            match run {
                Some(run) => objects.check(Kind::FlowCounter, run, request.uid)?,
                // *Model*: the kernel asks for ranges with holes in them; these read as zero. A user who asks for a
                // counter that is not there is refused.
                None if request.uid != 0 || count == 1 => {
                    return refuse(Syndrome::NoSuchObject, format!("flow counter {id:#x}"));
                }
                None => {}
            }
            let mut bytes = [0; traffic_counter::SIZE];
            if let Some(counter) = self.counters.get_mut(id) {
                traffic_counter::PACKETS.set(&mut bytes, counter.packets);
                traffic_counter::OCTETS.set(&mut bytes, counter.octets);
                if clear {
                    *counter = Count::default();
                }
            }
            answer(reply, query_flow_counter_out::FLOW_STATISTICS.byte() + position * step, &bytes)?;
        }
        Ok(format!("flow counter {first:#x} and {} more", count - 1))
    }

    pub(super) fn allocate_reformat(
        &mut self,
        request: &Request<'_>,
        reply: &mut Reply<'_>,
        objects: &mut Objects,
    ) -> Result<String, Refusal> {
        let start = reformat_in::PACKET_REFORMAT_CONTEXT.byte();
        whole(request, start + 6)?;
        let reformat = Reformat::read(&request.input[start..])?;
        let id = objects.allocate(Kind::PacketReformat, request.uid, request.opcode)?;
        let name = reformat.name();
        self.reformats.insert(id, reformat);
        reply.set(reformat_out::PACKET_REFORMAT_ID, id.into());
        Ok(format!("-> packet reformat {id:#x} {name}"))
    }

    pub(super) fn free_reformat(
        &mut self,
        request: &Request<'_>,
        objects: &mut Objects,
    ) -> Result<String, Refusal> {
        let id = number(request, dealloc_packet_reformat_context_in::PACKET_REFORMAT_ID);
        objects.check(Kind::PacketReformat, id, request.uid)?;
        self.unused(Used::Reformat(id), || format!("packet reformat {id:#x}"))?;
        objects.release(Kind::PacketReformat, id, request.uid)?;
        self.reformats.remove(&id);
        Ok(format!("packet reformat {id:#x}"))
    }

    pub(super) fn allocate_modification(
        &mut self,
        request: &Request<'_>,
        reply: &mut Reply<'_>,
        objects: &mut Objects,
    ) -> Result<String, Refusal> {
        whole(request, modify_in::SIZE)?;
        let kind = TableType::try_from(request.get(modify_in::TABLE_TYPE))?;
        let count = number(request, modify_in::NUM_OF_ACTIONS) as usize;
        let most = usize::from(self.limits.of(kind).max_modify_actions);
        if count == 0 || count > most {
            return refuse(Syndrome::BadHeaderModification, format!("{count} actions, at most {most}"));
        }
        let start = modify_in::ACTIONS.byte();
        whole(request, start + count * set_action_in::SIZE)?;
        let modification =
            Modification::read(kind, &request.input[start..start + count * set_action_in::SIZE])?;
        let id = objects.allocate(Kind::ModifyHeader, request.uid, request.opcode)?;
        self.modifications.insert(id, modification);
        reply.set(modify_out::MODIFY_HEADER_ID, id.into());
        Ok(format!("-> header modification {id:#x} of {count} actions for {}", kind.name()))
    }

    pub(super) fn free_modification(
        &mut self,
        request: &Request<'_>,
        objects: &mut Objects,
    ) -> Result<String, Refusal> {
        let id = number(request, dealloc_modify_header_context_in::MODIFY_HEADER_ID);
        objects.check(Kind::ModifyHeader, id, request.uid)?;
        self.unused(Used::Modification(id), || format!("header modification {id:#x}"))?;
        objects.release(Kind::ModifyHeader, id, request.uid)?;
        self.modifications.remove(&id);
        Ok(format!("header modification {id:#x}"))
    }

    fn unused(&self, used: Used, what: impl FnOnce() -> String) -> Result<(), Refusal> {
        match self.uses.of(used) {
            0 => Ok(()),
            count => refuse(Syndrome::ObjectInUse, format!("{} by {count} entries", what())),
        }
    }
}
