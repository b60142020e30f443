//! The queue commands of the command interface.

use super::Queues;
use super::completion::CompletionQueue;
use super::distribution::{Dispatch, Indirection, ReceiveObject};
use super::layouts::{
    create_cq_in, create_cq_out, create_rq_in, create_rq_out, create_rqt_in, create_rqt_out, create_sq_in,
    create_sq_out, create_tis_in, create_tis_out, destroy_cq_in, destroy_rq_in, destroy_rqt_in,
    destroy_sq_in, destroy_tis_in, modify_cq_in, modify_rq_in, modify_rqt_in, modify_sq_in,
    modify_tir_bitmask, modify_tir_in, modify_tis_in, query_cq_out, query_rq_out, query_rqt_out,
    query_sq_out, query_tir_out, query_tis_out, rqc, rqtc, sqc,
};
use super::receive::ReceiveQueue;
use super::send::SendQueue;
use super::state::State;
use crate::command::refusal::{Refusal, Syndrome};
use crate::command::{Answer, Reply, Request};
use crate::objects::{Kind, Objects};
use uverbs_uapi::prm::{self, Field, create_tir_in, create_tir_out, destroy_tir_in, tirc};

/// `modify_rq_in::MODIFY_BITMASK`: VLAN stripping.
const MODIFY_VSD: u64 = 1 << 1;

impl Queues {
    /// Executes `request` if it is a queue command: then the answer's particulars for the trace, or why not.
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
            prm::MLX5_CMD_OP_CREATE_CQ => self.create_cq(request, reply, objects),
            prm::MLX5_CMD_OP_MODIFY_CQ => self.modify_cq(request, objects),
            prm::MLX5_CMD_OP_QUERY_CQ => self.query_cq(request, reply, objects),
            prm::MLX5_CMD_OP_DESTROY_CQ => self.destroy_cq(request, objects),
            prm::MLX5_CMD_OP_CREATE_RQ => self.create_rq(request, reply, objects),
            prm::MLX5_CMD_OP_MODIFY_RQ => self.modify_rq(request, objects),
            prm::MLX5_CMD_OP_QUERY_RQ => self.query_rq(request, reply, objects),
            prm::MLX5_CMD_OP_DESTROY_RQ => self.destroy_rq(request, objects),
            prm::MLX5_CMD_OP_CREATE_SQ => self.create_sq(request, reply, objects),
            prm::MLX5_CMD_OP_MODIFY_SQ => self.modify_sq(request, objects),
            prm::MLX5_CMD_OP_QUERY_SQ => self.query_sq(request, reply, objects),
            prm::MLX5_CMD_OP_DESTROY_SQ => self.destroy_sq(request, objects),
            prm::MLX5_CMD_OP_CREATE_RQT => self.create_rqt(request, reply, objects),
            prm::MLX5_CMD_OP_MODIFY_RQT => self.modify_rqt(request, objects),
            prm::MLX5_CMD_OP_QUERY_RQT => self.query_rqt(request, reply, objects),
            prm::MLX5_CMD_OP_DESTROY_RQT => self.destroy_rqt(request, objects),
            prm::MLX5_CMD_OP_CREATE_TIR => self.create_tir(request, reply, objects),
            prm::MLX5_CMD_OP_MODIFY_TIR => self.modify_tir(request, objects),
            prm::MLX5_CMD_OP_QUERY_TIR => self.query_tir(request, reply, objects),
            prm::MLX5_CMD_OP_DESTROY_TIR => self.destroy_tir(request, objects),
            prm::MLX5_CMD_OP_CREATE_TIS => self.create_tis(request, reply, objects),
            prm::MLX5_CMD_OP_MODIFY_TIS => Self::modify_tis(request, objects),
            prm::MLX5_CMD_OP_QUERY_TIS => self.query_tis(request, reply, objects),
            prm::MLX5_CMD_OP_DESTROY_TIS => self.destroy_tis(request, objects),
            _ => return None,
        })
    }

    fn create_cq(&mut self, request: &Request<'_>, reply: &mut Reply<'_>, objects: &mut Objects) -> Answer {
        whole(request, create_cq_in::SIZE)?;
        let queue = CompletionQueue::read(request.input)?;
        objects.check(Kind::EventQueue, queue.eqn(), 0)?;
        let id = objects.allocate(Kind::CompletionQueue, request.uid, request.opcode)?;
        let note = format!("-> cq {id:#x} size 2^{} eq {:#x}", queue.log_size(), queue.eqn());
        self.completion.insert(id, queue);
        reply.set(create_cq_out::CQN, id.into());
        Ok(note)
    }

    fn modify_cq(&mut self, request: &Request<'_>, objects: &Objects) -> Answer {
        whole(request, modify_cq_in::SIZE)?;
        let id = request.get32(modify_cq_in::CQN);
        objects.check(Kind::CompletionQueue, id, request.uid)?;
        if request.op_mod != 0 {
            return Err(Refusal::new(Syndrome::UnknownOpcode, "completion queues are not resized"));
        }
        let queue = self.completion.get_mut(&id).ok_or_else(|| gone("CQ", id))?;
        queue.modify(&request.input[modify_cq_in::CQ_CONTEXT.bytes()]);
        Ok(format!("cq {id:#x}"))
    }

    fn query_cq(&mut self, request: &Request<'_>, reply: &mut Reply<'_>, objects: &Objects) -> Answer {
        let id = request.get32(destroy_cq_in::CQN);
        objects.check(Kind::CompletionQueue, id, request.uid)?;
        let queue = self.completion.get(&id).ok_or_else(|| gone("CQ", id))?;
        answer(reply, query_cq_out::CQ_CONTEXT, &queue.context())?;
        Ok(format!("cq {id:#x}"))
    }

    fn destroy_cq(&mut self, request: &Request<'_>, objects: &mut Objects) -> Answer {
        let id = request.get32(destroy_cq_in::CQN);
        objects.check(Kind::CompletionQueue, id, request.uid)?;
        let receiver = self.receive.iter().find(|(_, q)| q.cqn == id).map(|(n, _)| format!("RQ {n:#x}"));
        let sender = self.send.iter().find(|(_, q)| q.cqn == id).map(|(n, _)| format!("SQ {n:#x}"));
        if let Some(user) = receiver.or(sender) {
            return Err(Refusal::new(Syndrome::ObjectInUse, format!("CQ {id:#x} by {user}")));
        }
        objects.release(Kind::CompletionQueue, id, request.uid)?;
        self.completion.remove(&id);
        Ok(format!("cq {id:#x}"))
    }

    fn create_rq(&mut self, request: &Request<'_>, reply: &mut Reply<'_>, objects: &mut Objects) -> Answer {
        whole(request, create_rq_in::SIZE)?;
        let queue = ReceiveQueue::read(request.input)?;
        if queue.has_completions() {
            objects.check(Kind::CompletionQueue, queue.cqn, request.uid)?;
        }
        let id = objects.allocate(Kind::ReceiveQueue, request.uid, request.opcode)?;
        let note = format!("-> rq {id:#x} cq {:#x} {}", queue.cqn, queue.state.name());
        self.receive.insert(id, queue);
        reply.set(create_rq_out::RQN, id.into());
        Ok(note)
    }

    fn modify_rq(&mut self, request: &Request<'_>, objects: &Objects) -> Answer {
        whole(request, modify_rq_in::SIZE)?;
        let id = request.get32(modify_rq_in::RQN);
        objects.check(Kind::ReceiveQueue, id, request.uid)?;
        let queue = self.receive.get_mut(&id).ok_or_else(|| gone("RQ", id))?;
        let named = State::read(request.get(modify_rq_in::RQ_STATE))?;
        let next = State::read(request.get(modify_rq_in::CTX.then(rqc::STATE)))?;
        let was = queue.state.name();
        queue.set_state(queue.state.change(named, next)?);
        if request.get(modify_rq_in::MODIFY_BITMASK) & MODIFY_VSD != 0 {
            queue.set_strip_vlan(request.get(modify_rq_in::CTX.then(rqc::VSD)) == 0);
        }
        Ok(format!("rq {id:#x} {was} to {}", next.name()))
    }

    fn query_rq(&mut self, request: &Request<'_>, reply: &mut Reply<'_>, objects: &Objects) -> Answer {
        let id = request.get32(destroy_rq_in::RQN);
        objects.check(Kind::ReceiveQueue, id, request.uid)?;
        let queue = self.receive.get(&id).ok_or_else(|| gone("RQ", id))?;
        answer(reply, query_rq_out::RQ_CONTEXT, &queue.context())?;
        Ok(format!("rq {id:#x}"))
    }

    fn destroy_rq(&mut self, request: &Request<'_>, objects: &mut Objects) -> Answer {
        let id = request.get32(destroy_rq_in::RQN);
        objects.release(Kind::ReceiveQueue, id, request.uid)?;
        self.receive.remove(&id);
        Ok(format!("rq {id:#x}"))
    }

    fn create_sq(&mut self, request: &Request<'_>, reply: &mut Reply<'_>, objects: &mut Objects) -> Answer {
        whole(request, create_sq_in::SIZE)?;
        let queue = SendQueue::read(request.input)?;
        if queue.has_completions() {
            objects.check(Kind::CompletionQueue, queue.cqn, request.uid)?;
        }
        let id = objects.allocate(Kind::SendQueue, request.uid, request.opcode)?;
        let note = format!("-> sq {id:#x} cq {:#x} {}", queue.cqn, queue.state.name());
        self.send.insert(id, queue);
        reply.set(create_sq_out::SQN, id.into());
        Ok(note)
    }

    fn modify_sq(&mut self, request: &Request<'_>, objects: &Objects) -> Answer {
        whole(request, modify_sq_in::SIZE)?;
        let id = request.get32(modify_sq_in::SQN);
        objects.check(Kind::SendQueue, id, request.uid)?;
        let queue = self.send.get_mut(&id).ok_or_else(|| gone("SQ", id))?;
        let named = State::read(request.get(modify_sq_in::SQ_STATE))?;
        let next = State::read(request.get(modify_sq_in::CTX.then(sqc::STATE)))?;
        let was = queue.state.name();
        queue.set_state(queue.state.change(named, next)?);
        Ok(format!("sq {id:#x} {was} to {}", next.name()))
    }

    fn query_sq(&mut self, request: &Request<'_>, reply: &mut Reply<'_>, objects: &Objects) -> Answer {
        let id = request.get32(destroy_sq_in::SQN);
        objects.check(Kind::SendQueue, id, request.uid)?;
        let queue = self.send.get(&id).ok_or_else(|| gone("SQ", id))?;
        answer(reply, query_sq_out::SQ_CONTEXT, &queue.context())?;
        Ok(format!("sq {id:#x}"))
    }

    fn destroy_sq(&mut self, request: &Request<'_>, objects: &mut Objects) -> Answer {
        let id = request.get32(destroy_sq_in::SQN);
        objects.release(Kind::SendQueue, id, request.uid)?;
        self.send.remove(&id);
        Ok(format!("sq {id:#x}"))
    }

    fn create_rqt(&mut self, request: &Request<'_>, reply: &mut Reply<'_>, objects: &mut Objects) -> Answer {
        whole(request, create_rqt_in::SIZE)?;
        let table = Self::read_rqt(request, objects)?;
        let id = objects.allocate(Kind::ReceiveTable, request.uid, request.opcode)?;
        let note = format!("-> rqt {id:#x} {}", list(&table.queues));
        self.indirections.insert(id, table);
        reply.set(create_rqt_out::RQTN, id.into());
        Ok(note)
    }

    fn modify_rqt(&mut self, request: &Request<'_>, objects: &Objects) -> Answer {
        whole(request, modify_rqt_in::SIZE)?;
        let id = request.get32(modify_rqt_in::RQTN);
        objects.check(Kind::ReceiveTable, id, request.uid)?;
        let mut table = Self::read_rqt(request, objects)?;
        let old = self.indirections.get(&id).ok_or_else(|| gone("RQT", id))?;
        let most = rqtc::RQT_MAX_SIZE.get(&old.context);
        if table.queues.len() as u64 > most {
            let detail = format!("{} of at most {most}", table.queues.len());
            return Err(Refusal::new(Syndrome::BadIndirection, detail));
        }
        rqtc::RQT_MAX_SIZE.set(&mut table.context, most);
        let note = format!("rqt {id:#x} {}", list(&table.queues));
        self.indirections.insert(id, table);
        Ok(note)
    }

    /// The list of an indirection table, whose queues the caller may all use.
    fn read_rqt(request: &Request<'_>, objects: &Objects) -> Result<Indirection, Refusal> {
        let table = Indirection::read(request.input)?;
        for &queue in &table.queues {
            objects.check(Kind::ReceiveQueue, queue, request.uid)?;
        }
        Ok(table)
    }

    fn query_rqt(&mut self, request: &Request<'_>, reply: &mut Reply<'_>, objects: &Objects) -> Answer {
        let id = request.get32(destroy_rqt_in::RQTN);
        objects.check(Kind::ReceiveTable, id, request.uid)?;
        let table = self.indirections.get(&id).ok_or_else(|| gone("RQT", id))?;
        answer(reply, query_rqt_out::RQT_CONTEXT, &table.context)?;
        Ok(format!("rqt {id:#x}"))
    }

    fn destroy_rqt(&mut self, request: &Request<'_>, objects: &mut Objects) -> Answer {
        let id = request.get32(destroy_rqt_in::RQTN);
        objects.check(Kind::ReceiveTable, id, request.uid)?;
        let user =
            self.receivers.iter().find(|(_, o)| matches!(o.dispatch, Dispatch::Indirect(rqt) if rqt == id));
        if let Some((tir, _)) = user {
            return Err(Refusal::new(Syndrome::ObjectInUse, format!("RQT {id:#x} by TIR {tir:#x}")));
        }
        objects.release(Kind::ReceiveTable, id, request.uid)?;
        self.indirections.remove(&id);
        Ok(format!("rqt {id:#x}"))
    }

    fn create_tir(&mut self, request: &Request<'_>, reply: &mut Reply<'_>, objects: &mut Objects) -> Answer {
        whole(request, create_tir_in::SIZE)?;
        let object = ReceiveObject::read(&request.input[create_tir_in::CTX.bytes()], request.uid)?;
        let to = match object.dispatch {
            Dispatch::Direct(rq) => {
                objects.check(Kind::ReceiveQueue, rq, request.uid)?;
                format!("rq {rq:#x}")
            }
            Dispatch::Indirect(rqt) => {
                objects.check(Kind::ReceiveTable, rqt, request.uid)?;
                format!("rqt {rqt:#x}")
            }
        };
        let id = objects.allocate(Kind::Tir, request.uid, request.opcode)?;
        self.receivers.insert(id, object);
        reply.set(create_tir_out::TIRN, id.into());
        Ok(format!("-> tir {id:#x} to {to}"))
    }

    fn modify_tir(&mut self, request: &Request<'_>, objects: &Objects) -> Answer {
        whole(request, modify_tir_in::SIZE)?;
        let id = request.get32(modify_tir_in::TIRN);
        objects.check(Kind::Tir, id, request.uid)?;
        let old = self.receivers.get(&id).ok_or_else(|| gone("TIR", id))?;
        let context = &request.input[modify_tir_in::CTX.bytes()];
        let mut merged = old.context.clone();
        let selected = |field: Field| request.get(modify_tir_in::BITMASK.then(field)) != 0;
        if selected(modify_tir_bitmask::HASH) {
            let hash = [
                tirc::RX_HASH_SYMMETRIC,
                tirc::RX_HASH_FN,
                tirc::RX_HASH_FIELD_SELECTOR_OUTER,
                tirc::RX_HASH_FIELD_SELECTOR_INNER,
            ];
            let key = (0..10).map(|word| tirc::RX_HASH_TOEPLITZ_KEY.nth(word));
            for field in hash.into_iter().chain(key) {
                field.set(&mut merged, field.get(context));
            }
        }
        if selected(modify_tir_bitmask::SELF_LB_EN) {
            tirc::SELF_LB_BLOCK.set(&mut merged, tirc::SELF_LB_BLOCK.get(context));
        }
        let object = ReceiveObject::read(&merged, old.uid)?;
        self.receivers.insert(id, object);
        Ok(format!("tir {id:#x} select {:#x}", request.get(modify_tir_in::BITMASK)))
    }

    fn query_tir(&mut self, request: &Request<'_>, reply: &mut Reply<'_>, objects: &Objects) -> Answer {
        let id = request.get32(destroy_tir_in::TIRN);
        objects.check(Kind::Tir, id, request.uid)?;
        let object = self.receivers.get(&id).ok_or_else(|| gone("TIR", id))?;
        answer(reply, query_tir_out::TIR_CONTEXT, &object.context)?;
        Ok(format!("tir {id:#x}"))
    }

    fn destroy_tir(&mut self, request: &Request<'_>, objects: &mut Objects) -> Answer {
        let id = request.get32(destroy_tir_in::TIRN);
        objects.release(Kind::Tir, id, request.uid)?;
        self.receivers.remove(&id);
        Ok(format!("tir {id:#x}"))
    }

    fn create_tis(&mut self, request: &Request<'_>, reply: &mut Reply<'_>, objects: &mut Objects) -> Answer {
        whole(request, create_tis_in::SIZE)?;
        let id = objects.allocate(Kind::Tis, request.uid, request.opcode)?;
        self.transmitters.insert(id, request.input[create_tis_in::CTX.bytes()].to_vec());
        reply.set(create_tis_out::TISN, id.into());
        Ok(format!("-> tis {id:#x}"))
    }

    fn modify_tis(request: &Request<'_>, objects: &Objects) -> Answer {
        whole(request, modify_tis_in::SIZE)?;
        let id = request.get32(modify_tis_in::TISN);
        objects.check(Kind::Tis, id, request.uid)?;
        Ok(format!("tis {id:#x} select {:#x}", request.get(modify_tis_in::BITMASK)))
    }

    fn query_tis(&mut self, request: &Request<'_>, reply: &mut Reply<'_>, objects: &Objects) -> Answer {
        let id = request.get32(destroy_tis_in::TISN);
        objects.check(Kind::Tis, id, request.uid)?;
        let context = self.transmitters.get(&id).ok_or_else(|| gone("TIS", id))?;
        answer(reply, query_tis_out::TIS_CONTEXT, context)?;
        Ok(format!("tis {id:#x}"))
    }

    fn destroy_tis(&mut self, request: &Request<'_>, objects: &mut Objects) -> Answer {
        let id = request.get32(destroy_tis_in::TISN);
        objects.release(Kind::Tis, id, request.uid)?;
        self.transmitters.remove(&id);
        Ok(format!("tis {id:#x}"))
    }
}

/// An object that the accounts know and the queues do not: cannot be, and is refused rather than believed.
fn gone(what: &str, id: u32) -> Refusal {
    Refusal::new(Syndrome::NoSuchObject, format!("{what} {id:#x}"))
}

/// Refuses an input that is shorter than its command.
fn whole(request: &Request<'_>, size: usize) -> Result<(), Refusal> {
    let length = request.input.len();
    if length < size {
        return Err(Refusal::new(Syndrome::ShortInput, format!("{length} bytes of {size}")));
    }
    Ok(())
}

/// Copies a context into the answer, as much as its field holds.
fn answer(reply: &mut Reply<'_>, field: Field, context: &[u8]) -> Result<(), Refusal> {
    let range = field.bytes();
    let context = &context[..context.len().min(range.len())];
    let output = reply.bytes();
    let length = output.len();
    match output.get_mut(range.start..range.start + context.len()) {
        Some(place) => {
            place.copy_from_slice(context);
            Ok(())
        }
        None => Err(Refusal::new(Syndrome::ShortOutput, format!("{length} bytes of {}", range.end))),
    }
}

/// A few of a list of numbers.
fn list(numbers: &[u32]) -> String {
    let head: Vec<_> = numbers.iter().take(4).map(|n| format!("{n:#x}")).collect();
    let more = if numbers.len() > 4 { format!(" and {} more", numbers.len() - 4) } else { String::new() };
    format!("rqs {}{more}", head.join(" "))
}
