//! Queues: completions, receive and send queues, and how packets are spread over receive queues.
//!
//! Points where real firmware may do otherwise are marked with the word *model*: completions are never moderated; only
//! cyclic receive queues with buffers of their own take packets (no strides, shared pools, hairpins or queues in a
//! umem); a receive queue that a receive object still names may be destroyed; transmit objects are held and have no
//! effect.

pub mod hash;
pub mod layouts;

mod command;
mod completion;
mod distribution;
mod receive;
mod ring;
mod send;
mod state;

pub use receive::Counts;

use crate::eq::EventQueues;
use crate::memory::Memory;
use completion::CompletionQueue;
use distribution::{Indirection, ReceiveObject};
use receive::ReceiveQueue;
use send::SendQueue;
use std::collections::BTreeMap;

/// All queues of the card.
#[derive(Debug, Default)]
pub struct Queues {
    completion: BTreeMap<u32, CompletionQueue>,
    receive: BTreeMap<u32, ReceiveQueue>,
    send: BTreeMap<u32, SendQueue>,
    indirections: BTreeMap<u32, Indirection>,
    receivers: BTreeMap<u32, ReceiveObject>,
    /// Contexts of transmit objects.
    transmitters: BTreeMap<u32, Vec<u8>>,
}

impl Queues {
    /// A doorbell of a completion queue: the consumer index in the lower 24 bits of the first word, the queue's number
    /// in the second.
    pub fn completion_doorbell(&mut self, memory: &Memory, events: &mut EventQueues, doorbell: [u8; 8]) {
        let word = |at: usize| doorbell[at..at + 4].iter().fold(0, |word, &byte| word << 8 | u32::from(byte));
        let (consumer, number) = (word(0), word(4) & 0xff_ffff);
        if let Some(cq) = self.completion.get_mut(&number) {
            cq.arm(memory, events, number, consumer);
        }
    }

    /// Whether a queue that the driver fills is short of buffers, so that a sender with patience should wait.
    #[must_use]
    pub fn is_pressed(&self, memory: &Memory) -> bool {
        self.receive.values().any(|queue| {
            queue.counts.packets > 0 && queue.buffers(memory).is_some_and(|left| left < FEW_BUFFERS)
        })
    }

    /// Packets by receive queue.
    #[must_use]
    pub fn counts(&self) -> BTreeMap<u32, Counts> {
        self.receive.iter().map(|(&number, queue)| (number, queue.counts)).collect()
    }
}

/// So many buffers left are few.
const FEW_BUFFERS: u16 = 16;

#[cfg(test)]
mod tests;
