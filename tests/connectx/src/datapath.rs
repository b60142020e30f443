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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{Reply, Request};
    use crate::objects::Objects;
    use crate::packet::samples::{datagram, ethernet};
    use crate::steering::{Limits, TypeLimits};
    use crate::wire::WireConfig;
    use uverbs_uapi::prm::{self, create_flow_table_in, set_flow_table_root_in};

    struct Bench {
        steering: Steering,
        queues: Queues,
        wire: Wire,
        events: EventQueues,
        memory: Memory,
    }

    impl Bench {
        fn new() -> std::io::Result<Self> {
            let limits = TypeLimits {
                supported: true,
                log_max_size: 16,
                max_level: 64,
                ignore_flow_level: true,
                max_modify_actions: 16,
            };
            Ok(Self {
                steering: Steering::new(Limits::uniform(limits)),
                queues: Queues::default(),
                wire: Wire::open(&WireConfig::default())?,
                events: EventQueues::new(1),
                memory: Memory::default(),
            })
        }

        fn path(&mut self, bypass: bool) -> DataPath<'_> {
            let Self { steering, queues, wire, events, memory } = self;
            DataPath { steering, queues, wire, events, memory, timestamp: 0, bypass }
        }

        /// An empty root table in the switch, which drops what no entry takes.
        fn close_the_switch(&mut self) {
            let mut objects = Objects::default();
            let fdb = prm::FS_FT_FDB.into();
            let create = (prm::MLX5_CMD_OP_CREATE_FLOW_TABLE, create_flow_table_in::TABLE_TYPE);
            let root = (prm::MLX5_CMD_OP_SET_FLOW_TABLE_ROOT, set_flow_table_root_in::TABLE_TYPE);
            for (opcode, kind) in [create, root] {
                let mut input = [0; 64];
                kind.set(&mut input, fdb);
                if opcode == root.0 {
                    set_flow_table_root_in::TABLE_ID.set(&mut input, 1);
                }
                let request = Request { opcode, uid: 0, op_mod: 0, input: &input };
                let mut output = [0; 16];
                let answer = self.steering.command(&request, &mut Reply::new(&mut output), &mut objects);
                assert!(matches!(answer, Some(Ok(_))), "{answer:?}");
            }
        }
    }

    #[test]
    fn ways_are_numbered_by_direction_and_recorded() -> std::io::Result<()> {
        let mut bench = Bench::new()?;
        bench.wire.inject(datagram(5000, b"one"));
        bench.wire.inject(ethernet(0x0806, b"two"));
        let words = bench.path(false).receive();
        assert_eq!(words.len(), 2);
        assert!(
            words[1].starts_with("RX #2 60 bytes 02:00:00:00:00:99 > 02:15:b3:00:00:01 ARP"),
            "{}",
            words[1]
        );
        assert!(words[1].ends_with("#2 nic_rx: DROPPED, there is no root table"), "{}", words[1]);
        let packet = Packet { bytes: datagram(7, b"from the guest"), ..Packet::default() };
        let way = bench.path(false).way(1, Direction::Tx, None, packet.clone());
        assert_eq!(way.verdict, Verdict::Sent { length: 60 });
        let sent = bench.wire.take_sent();
        assert_eq!(sent, [[packet.bytes, vec![0; 4]].concat()]);
        assert_eq!(
            bench.wire.take_ways().iter().map(|w| (w.frame, w.direction)).collect::<Vec<_>>(),
            [(1, Direction::Rx), (2, Direction::Rx)]
        );
        Ok(())
    }

    #[test]
    fn bypassed_frames_meet_no_table() -> std::io::Result<()> {
        let mut bench = Bench::new()?;
        bench.close_the_switch();
        let packet = Packet { bytes: datagram(7, b"from the guest"), ..Packet::default() };
        let way = bench.path(false).way(1, Direction::Tx, None, packet.clone());
        assert_eq!((way.hops.len(), way.verdict), (1, Verdict::dropped("table 0x1", "no entry takes it")));
        let way = bench.path(true).way(2, Direction::Tx, None, packet.clone());
        assert_eq!((way.hops.len(), way.verdict), (0, Verdict::Sent { length: 60 }));
        let way = bench.path(true).way(3, Direction::Rx, None, packet);
        assert_eq!(way.verdict, Verdict::dropped("bypass", "no receive object is ready"));
        Ok(())
    }

    #[test]
    fn a_long_queue_of_frames_is_taken_in_batches() -> std::io::Result<()> {
        let mut bench = Bench::new()?;
        for _ in 0..=BATCH {
            bench.wire.inject(datagram(5000, b""));
        }
        assert_eq!(bench.path(false).receive().len(), BATCH);
        assert_eq!(bench.path(false).receive().len(), 1);
        assert!(bench.path(false).receive().is_empty());
        Ok(())
    }
}
