//! The steering commands of the command interface.

mod context;
mod entry;
mod group;
mod table;

use super::table::{Table, TableType};
use super::{Steering, refuse};
use crate::command::refusal::{Refusal, Syndrome};
use crate::command::{Reply, Request};
use crate::objects::{Kind, Objects};
use uverbs_uapi::prm::{self, Field, create_flow_table_in, destroy_flow_table_in};

/// The uid of shared objects, which all may use.
const SHARED: u16 = 0xffff;

impl Steering {
    /// Executes `request` if it is a steering command: then the answer's particulars for the trace, or why not.
    ///
    /// # Errors
    /// A refusal; the reply is then unchanged but for its own bytes.
    pub fn command(
        &mut self,
        request: &Request<'_>,
        reply: &mut Reply<'_>,
        objects: &mut Objects,
    ) -> Option<Result<String, Refusal>> {
        Some(match request.opcode {
            prm::MLX5_CMD_OP_CREATE_FLOW_TABLE => self.create_table(request, reply, objects),
            prm::MLX5_CMD_OP_DESTROY_FLOW_TABLE => self.destroy_table(request, objects),
            prm::MLX5_CMD_OP_QUERY_FLOW_TABLE => self.query_table(request, reply, objects),
            prm::MLX5_CMD_OP_MODIFY_FLOW_TABLE => self.modify_table(request, objects),
            prm::MLX5_CMD_OP_SET_FLOW_TABLE_ROOT => self.set_root(request, objects),
            prm::MLX5_CMD_OP_CREATE_FLOW_GROUP => self.create_group(request, reply, objects),
            prm::MLX5_CMD_OP_DESTROY_FLOW_GROUP => self.destroy_group(request, objects),
            prm::MLX5_CMD_OP_QUERY_FLOW_GROUP => self.query_group(request, reply, objects),
            prm::MLX5_CMD_OP_SET_FLOW_TABLE_ENTRY => self.set_entry(request, objects),
            prm::MLX5_CMD_OP_QUERY_FLOW_TABLE_ENTRY => self.query_entry(request, reply, objects),
            prm::MLX5_CMD_OP_DELETE_FLOW_TABLE_ENTRY => self.delete_entry(request, objects),
            prm::MLX5_CMD_OP_ALLOC_FLOW_COUNTER => self.allocate_counters(request, reply, objects),
            prm::MLX5_CMD_OP_DEALLOC_FLOW_COUNTER => self.free_counters(request, objects),
            prm::MLX5_CMD_OP_QUERY_FLOW_COUNTER => self.query_counters(request, reply, objects),
            prm::MLX5_CMD_OP_ALLOC_PACKET_REFORMAT_CONTEXT => self.allocate_reformat(request, reply, objects),
            prm::MLX5_CMD_OP_DEALLOC_PACKET_REFORMAT_CONTEXT => self.free_reformat(request, objects),
            prm::MLX5_CMD_OP_ALLOC_MODIFY_HEADER_CONTEXT => {
                self.allocate_modification(request, reply, objects)
            }
            prm::MLX5_CMD_OP_DEALLOC_MODIFY_HEADER_CONTEXT => self.free_modification(request, objects),
            _ => return None,
        })
    }

    /// The table that a command names by type and id, which the caller may use.
    fn named_table(&self, request: &Request<'_>, objects: &Objects) -> Result<(u32, &Table), Refusal> {
        // Type and id lie at the same place in every command but the creation.
        let id = number(request, destroy_flow_table_in::TABLE_ID);
        let kind = TableType::try_from(request.get(destroy_flow_table_in::TABLE_TYPE))?;
        objects.check(Kind::FlowTable, id, request.uid)?;
        match self.tables.get(&id) {
            Some(table) if table.kind == kind => Ok((id, table)),
            Some(table) => {
                let (has, says) = (table.kind.name(), kind.name());
                refuse(Syndrome::NoSuchObject, format!("table {id:#x} is of type {has}, not {says}"))
            }
            None => refuse(Syndrome::NoSuchObject, format!("table {id:#x}")),
        }
    }

    /// The same, if the caller may also change the table: a shared one only the kernel may.
    fn own_table(&mut self, request: &Request<'_>, objects: &Objects) -> Result<(u32, &mut Table), Refusal> {
        let (id, table) = self.named_table(request, objects)?;
        may_change(request, table.uid, || format!("table {id:#x}"))?;
        let table = self.tables.get_mut(&id).ok_or_else(|| Refusal::new(Syndrome::NoSuchObject, ""))?;
        Ok((id, table))
    }
}

/// *Model*: what is shared may be used by all and changed by the kernel alone.
fn may_change(request: &Request<'_>, owner: u16, what: impl FnOnce() -> String) -> Result<(), Refusal> {
    if request.uid == 0 || request.uid == owner && owner != SHARED {
        return Ok(());
    }
    let uid = request.uid;
    refuse(Syndrome::ForeignObject, format!("{} belongs to uid {owner}, uid {uid} may not change it", what()))
}

/// A field of at most 32 bits.
fn number(request: &Request<'_>, field: Field) -> u32 {
    u32::try_from(request.get(field)).unwrap_or(u32::MAX)
}

/// The vport that a command is about.
fn vport(request: &Request<'_>) -> u16 {
    if request.get(create_flow_table_in::OTHER_VPORT) == 0 {
        return 0;
    }
    u16::try_from(request.get(create_flow_table_in::VPORT_NUMBER)).unwrap_or(0)
}

/// Refuses an input that is shorter than its command.
fn whole(request: &Request<'_>, size: usize) -> Result<(), Refusal> {
    let length = request.input.len();
    if length < size {
        return refuse(Syndrome::ShortInput, format!("{length} bytes of {size}"));
    }
    Ok(())
}

/// Copies `bytes` into the answer.
fn answer(reply: &mut Reply<'_>, at: usize, bytes: &[u8]) -> Result<(), Refusal> {
    let output = reply.bytes();
    let length = output.len();
    match output.get_mut(at..at + bytes.len()) {
        Some(place) => {
            place.copy_from_slice(bytes);
            Ok(())
        }
        None => refuse(Syndrome::ShortOutput, format!("{length} bytes of {}", at + bytes.len())),
    }
}
