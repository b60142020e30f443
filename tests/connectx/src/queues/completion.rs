//! Completion queues: entries, arming, overrun.

use super::layouts::{cqc, create_cq_in};
use super::ring::{Half, Ring, doorbell_record};
use crate::command::refusal::Refusal;
use crate::eq::EventQueues;
use crate::memory::Memory;
use uverbs_uapi::prm::Field;

/// Bytes of a completion that the model fills; in a queue of 128-byte entries they are the second half.
const ENTRY: usize = 64;
/// Where the owner bit lies.
const OWNER: usize = 63;
/// Consumer and producer counters have 24 bits.
const COUNTER: u32 = 0xff_ffff;

/// What a completion reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Opcode {
    /// A send queue entry is done.
    Requester = 0x0,
    /// A packet was received.
    Received = 0x2,
    /// A send queue entry failed.
    RequesterError = 0xd,
    /// A receive queue entry failed.
    ReceiverError = 0xe,
}

/// Why an entry failed.
///
/// C: `MLX5_CQE_SYNDROME_*` (`include/linux/mlx5/device.h`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Failure {
    /// The entry makes no sense.
    LocalOperation = 0x02,
    /// Its memory cannot be reached.
    LocalProtection = 0x04,
}

/// A completion queue.
#[derive(Debug)]
pub(super) struct CompletionQueue {
    ring: Ring,
    eqn: u32,
    doorbell: u64,
    ignore_overrun: bool,
    producer: u32,
    armed: bool,
    /// Completions lost because the queue was full.
    overruns: u64,
    context: Vec<u8>,
}

impl CompletionQueue {
    /// Reads a `create_cq_in`.
    pub(super) fn read(input: &[u8]) -> Result<Self, Refusal> {
        let context = input.get(create_cq_in::CQ_CONTEXT.bytes()).unwrap_or(&[]);
        let small = |field: Field| u32::try_from(field.get(context)).unwrap_or(u32::MAX);
        let ring = Ring::new(
            input.get(create_cq_in::SIZE..).unwrap_or(&[]),
            12 + small(cqc::LOG_PAGE_SIZE),
            cqc::PAGE_OFFSET.get(context) * 64,
            if cqc::CQE_SZ.get(context) == 0 { 6 } else { 7 },
            small(cqc::LOG_CQ_SIZE),
        )?;
        Ok(Self {
            ring,
            eqn: small(cqc::C_EQN_OR_APU_ELEMENT),
            doorbell: cqc::DBR_ADDR.get(context),
            ignore_overrun: cqc::OI.get(context) != 0,
            producer: 0,
            armed: false,
            overruns: 0,
            context: context.to_vec(),
        })
    }

    /// The context as it stands.
    pub(super) fn context(&self) -> Vec<u8> {
        let mut context = self.context.clone();
        cqc::PRODUCER_COUNTER.set(&mut context, u64::from(self.producer & COUNTER));
        context
    }

    /// Takes over the moderation of another context. The model never moderates.
    pub(super) fn modify(&mut self, context: &[u8]) {
        for field in [cqc::CQ_PERIOD, cqc::CQ_MAX_COUNT, cqc::OI] {
            field.set(&mut self.context, field.get(context));
        }
        self.ignore_overrun = cqc::OI.get(context) != 0;
    }

    /// Number of entries, as a power of two.
    pub(super) fn log_size(&self) -> u32 {
        self.ring.log_size()
    }

    /// Its event queue.
    pub(super) fn eqn(&self) -> u32 {
        self.eqn
    }

    /// Writes a completion, and raises an event if the queue is armed.
    ///
    /// # Errors
    /// In words, if there is no room or the queue's memory cannot be reached. *Model*: a completion without room is
    /// lost; a card would also report an error event and stop the queue.
    pub(super) fn post(
        &mut self,
        memory: &Memory,
        events: &mut EventQueues,
        number: u32,
        mut entry: [u8; ENTRY],
        opcode: Opcode,
    ) -> Result<(), String> {
        let consumer = doorbell_record(memory, self.doorbell, Half::First).map_err(|e| e.to_string())?;
        let waiting = self.producer.wrapping_sub(consumer) & COUNTER;
        if waiting >> self.ring.log_size() != 0 && !self.ignore_overrun {
            self.overruns += 1;
            return Err(format!("CQ {number:#x} is full, {} completions lost so far", self.overruns));
        }
        let owner = u8::from(self.producer >> self.ring.log_size() & 1 != 0);
        entry[OWNER] = (opcode as u8) << 4 | owner;
        let index = u64::from(self.producer);
        let start = self.ring.stride() - ENTRY;
        // The owner bit makes the entry valid: last.
        self.ring
            .write(memory, index, start, &entry[..OWNER])
            .and_then(|()| self.ring.write(memory, index, start + OWNER, &entry[OWNER..]))
            .map_err(|e| e.to_string())?;
        self.producer = self.producer.wrapping_add(1);
        if std::mem::take(&mut self.armed) {
            events.completion(memory, self.eqn, number);
        }
        Ok(())
    }

    /// The driver asks for an event: at once, if there is something beyond the completions it has seen.
    pub(super) fn arm(&mut self, memory: &Memory, events: &mut EventQueues, number: u32, consumer: u32) {
        if (self.producer ^ consumer) & COUNTER == 0 {
            self.armed = true;
        } else {
            self.armed = false;
            events.completion(memory, self.eqn, number);
        }
    }
}

/// A failed entry: queue number, entry index, why.
pub(super) fn failure(queue: u32, index: u16, why: Failure) -> [u8; ENTRY] {
    let mut entry = [0; ENTRY];
    entry[55] = why as u8;
    entry[56..60].copy_from_slice(&queue.to_be_bytes());
    entry[60..62].copy_from_slice(&index.to_be_bytes());
    entry
}

/// A finished send queue entry.
pub(super) fn sent(queue: u32, index: u16) -> [u8; ENTRY] {
    let mut entry = [0; ENTRY];
    entry[56..60].copy_from_slice(&queue.to_be_bytes());
    entry[60..62].copy_from_slice(&index.to_be_bytes());
    entry
}
