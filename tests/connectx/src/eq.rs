//! Event queues, and the interrupts they raise.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;

use uverbs_uapi::prm;

use crate::command::refusal::{Refusal, Syndrome};
use crate::command::{Answer, Reply, Request};
use crate::layouts::{create_eq_in, create_eq_out, destroy_eq_in, eqc};
use crate::memory::Memory;
use crate::objects::{Kind, Objects};

/// Bytes of one event.
const EQE: usize = 64;
const EQE_TYPE: usize = 1;
const EQE_SUB_TYPE: usize = 3;
const EQE_DATA: usize = 32;
const EQE_OWNER: usize = 63;
/// Where in the data of a completion event the queue's number lies.
const EQE_CQN: usize = 24;

/// Types of events.
const COMPLETION: u8 = 0x00;
const COMMAND: u8 = 0x0a;
/// A port came up or went down.
pub const PORT_CHANGE: u8 = 0x09;

const PAGE: usize = 4096;

#[derive(Debug)]
struct EventQueue {
    pages: Vec<u64>,
    page_size: usize,
    log_size: u32,
    vector: usize,
    events: u64,
    producer: u32,
}

/// All event queues and interrupt vectors of the function.
#[derive(Debug)]
pub struct EventQueues {
    queues: BTreeMap<u32, EventQueue>,
    /// An eventfd for each vector that the guest has unmasked.
    vectors: Vec<Option<File>>,
}

impl EventQueues {
    /// None yet, for `vectors` interrupt vectors.
    #[must_use]
    pub fn new(vectors: usize) -> Self {
        Self { queues: BTreeMap::new(), vectors: (0..vectors).map(|_| None).collect() }
    }

    /// Sets or takes away a vector's eventfd. QEMU sends all again whenever one changes: the newest counts.
    pub fn set_vector(&mut self, vector: usize, eventfd: Option<OwnedFd>) {
        if let Some(slot) = self.vectors.get_mut(vector) {
            *slot = eventfd.map(File::from);
        }
    }

    /// Forgets the queues; the vectors are QEMU's.
    pub fn reset(&mut self) {
        self.queues.clear();
    }

    /// Executes a command of this family.
    pub fn command(
        &mut self,
        request: &Request<'_>,
        reply: &mut Reply<'_>,
        objects: &mut Objects,
    ) -> Option<Answer> {
        match request.opcode {
            prm::MLX5_CMD_OP_CREATE_EQ => Some(self.create(request, reply, objects)),
            prm::MLX5_CMD_OP_DESTROY_EQ => Some(self.destroy(request, objects)),
            _ => None,
        }
    }

    fn create(&mut self, request: &Request<'_>, reply: &mut Reply<'_>, objects: &mut Objects) -> Answer {
        let context = create_eq_in::EQ_CONTEXT_ENTRY;
        let log_size = request.get32(context.then(eqc::LOG_EQ_SIZE));
        let page_size = PAGE << request.get32(context.then(eqc::LOG_PAGE_SIZE));
        let vector = request.get32(context.then(eqc::INTR)) as usize;
        let events = request.get(create_eq_in::EVENT_BITMASK);
        let count = (EQE << log_size).div_ceil(page_size);
        let room = request.input.len().saturating_sub(create_eq_in::PAS.byte()) / 8;
        if count > room {
            return Err(Refusal::new(Syndrome::ShortInput, format!("{count} pages, {room} addresses")));
        }
        if vector >= self.vectors.len() {
            return Err(Refusal::new(Syndrome::BadVector, format!("vector {vector}")));
        }
        let pages = (0..count).map(|page| request.get(create_eq_in::PAS.nth(page))).collect();
        let id = objects.allocate(Kind::EventQueue, request.uid, request.opcode)?;
        reply.set(create_eq_out::EQ_NUMBER, id.into());
        self.queues.insert(id, EventQueue { pages, page_size, log_size, vector, events, producer: 0 });
        Ok(format!("-> eq {id:#x} vector {vector} size 2^{log_size} events {events:#x}"))
    }

    fn destroy(&mut self, request: &Request<'_>, objects: &mut Objects) -> Answer {
        let id = request.get32(destroy_eq_in::EQ_NUMBER);
        objects.release(Kind::EventQueue, id, request.uid)?;
        self.queues.remove(&id);
        Ok(format!("eq {id:#x}"))
    }

    /// Whether somebody listens to the completion of commands.
    #[must_use]
    pub fn hears_commands(&self) -> bool {
        self.listener(COMMAND).is_some()
    }

    /// Tells that the commands in these slots are done.
    pub fn command_done(&mut self, memory: &Memory, slots: u32) {
        if let Some(id) = self.listener(COMMAND) {
            self.raise(memory, id, COMMAND, 0, &slots.to_be_bytes());
        }
    }

    /// Tells that a completion queue has something new.
    pub fn completion(&mut self, memory: &Memory, eqn: u32, cqn: u32) {
        let mut data = [0; EQE_CQN + 4];
        data[EQE_CQN..].copy_from_slice(&cqn.to_be_bytes());
        self.raise(memory, eqn, COMPLETION, 0, &data);
    }

    /// An event about the device as a whole.
    pub fn notify(&mut self, memory: &Memory, event: u8, sub_type: u8, data: &[u8]) {
        if let Some(id) = self.listener(event) {
            self.raise(memory, id, event, sub_type, data);
        }
    }

    fn listener(&self, event: u8) -> Option<u32> {
        self.queues.iter().find(|(_, queue)| queue.events >> event & 1 != 0).map(|(&id, _)| id)
    }

    fn raise(&mut self, memory: &Memory, id: u32, event: u8, sub_type: u8, data: &[u8]) {
        let Some(queue) = self.queues.get_mut(&id) else { return };
        let slot = (queue.producer & ((1 << queue.log_size) - 1)) as usize * EQE;
        let Some(page) = queue.pages.get(slot / queue.page_size) else { return };
        let address = page.wrapping_add((slot % queue.page_size) as u64);
        let mut eqe = [0; EQE];
        eqe[EQE_TYPE] = event;
        eqe[EQE_SUB_TYPE] = sub_type;
        eqe[EQE_DATA..EQE_DATA + data.len()].copy_from_slice(data);
        let owner = (queue.producer >> queue.log_size & 1) as u8;
        // The owner last: the driver takes the event as soon as it sees it.
        let written = memory
            .write(address, &eqe[..EQE_OWNER])
            .and_then(|()| memory.write(address.wrapping_add(EQE_OWNER as u64), &[owner]));
        if written.is_ok() {
            queue.producer = queue.producer.wrapping_add(1);
            let vector = queue.vector;
            self.interrupt(vector);
        }
    }

    fn interrupt(&self, vector: usize) {
        if let Some(Some(eventfd)) = self.vectors.get(vector) {
            // An eventfd that cannot take one more has an interrupt pending: nothing is lost.
            let _pending = (&*eventfd).write(&1u64.to_ne_bytes());
        }
    }
}
