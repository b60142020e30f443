//! The data path: frames from the wire through the tables into queues, and from queues through the tables to the wire.

use crate::eq::EventQueues;
use crate::memory::Memory;
use crate::packet::headers::Summary;
use crate::packet::{Headers, Packet};
use crate::queues::Queues;
use crate::steering::way::{Branch, Direction, Verdict, Way};
use crate::steering::{End, Outcome, Steering};
use crate::wire::Wire;

/// Frames taken from the wire before the event loop looks elsewhere.
const BATCH: usize = 32;

/// Everything that a frame meets on its way.
#[derive(Debug)]
pub struct DataPath<'a> {
    /// Flow tables.
    pub steering: &'a mut Steering,
    /// Queues.
    pub queues: &'a mut Queues,
    /// The wire.
    pub wire: &'a mut Wire,
    /// Event queues.
    pub events: &'a mut EventQueues,
    /// The guest's memory.
    pub memory: &'a Memory,
    /// The card's clock, for completions.
    pub timestamp: u64,
    /// Frames skip the flow tables: a negative control for tests.
    pub bypass: bool,
}

impl DataPath<'_> {
    /// Takes what has come in from the wire, up to a few dozen frames; gives the trace's words.
    pub fn receive(&mut self) -> Vec<String> {
        let mut words = Vec::new();
        for _ in 0..BATCH {
            let Some(incoming) = self.wire.receive(|| !self.queues.is_pressed(self.memory)) else { break };
            let packet = Packet::from_wire(incoming.bytes);
            let frame = self.wire.received();
            let way = self.way(frame, Direction::Rx, incoming.input, packet);
            words.push(way.to_string());
            self.wire.record(way);
        }
        words
    }

    /// A doorbell of a send queue; gives the trace's words.
    pub fn send_doorbell(&mut self, doorbell: [u8; 8]) -> Vec<String> {
        let (packets, problems) = self.queues.send_doorbell(self.memory, self.events, doorbell);
        let mut words = problems;
        for packet in packets {
            let frame = self.wire.next_sent();
            let way = self.way(frame, Direction::Tx, None, packet);
            words.push(way.to_string());
            self.wire.record(way);
        }
        words
    }

    /// A doorbell of a completion queue.
    pub fn completion_doorbell(&mut self, doorbell: [u8; 8]) {
        self.queues.completion_doorbell(self.memory, self.events, doorbell);
    }

    fn way(&mut self, frame: u64, direction: Direction, input: Option<u64>, packet: Packet) -> Way {
        let headers = Headers::parse(&packet.bytes);
        let (length, words) = (packet.bytes.len(), Summary::new(&packet.bytes, &headers).to_string());
        let outcomes = if self.bypass {
            vec![self.bypassed(direction, packet, &headers)]
        } else {
            match direction {
                Direction::Rx => self.steering.receive(packet),
                Direction::Tx => self.steering.transmit(packet),
            }
        };
        let mut branches =
            outcomes.into_iter().map(|outcome| self.finish(outcome)).collect::<Vec<_>>().into_iter();
        // Steering gives at least the packet itself.
        let first = branches.next().unwrap_or_else(|| Branch {
            hops: Vec::new(),
            verdict: Verdict::dropped("steering", "no outcome"),
        });
        Way {
            frame,
            direction,
            input,
            length,
            packet: words,
            hops: first.hops,
            verdict: first.verdict,
            copies: branches.collect(),
        }
    }

    fn bypassed(&self, direction: Direction, packet: Packet, headers: &Headers) -> Outcome {
        let end = match direction {
            Direction::Tx => End::Uplink,
            Direction::Rx => match self.queues.likely_receiver(headers, &packet.bytes) {
                Some(tir) => End::Tir(tir),
                None => End::Dropped("bypass".into(), "no receive object is ready".into()),
            },
        };
        Outcome { packet, hops: Vec::new(), end }
    }

    fn finish(&mut self, outcome: Outcome) -> Branch {
        let verdict = match outcome.end {
            End::Tir(tir) => {
                self.queues.receive(self.memory, self.events, tir, &outcome.packet, self.timestamp)
            }
            End::Uplink => {
                let length = self.wire.send(outcome.packet.bytes);
                Verdict::Sent { length }
            }
            End::Dropped(place, why) => Verdict::Dropped { place, why },
        };
        Branch { hops: outcome.hops, verdict }
    }
}
