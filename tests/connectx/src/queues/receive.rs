//! Receive queues: packets into the guest's buffers.

use super::Queues;
use super::completion::{Failure, Opcode, failure};
use super::distribution::Choice;
use super::hash::Hashed;
use super::layouts::{create_rq_in, rqc, wq};
use super::ring::{Half, Ring, doorbell_record};
use super::state::State;
use crate::command::refusal::Refusal;
use crate::eq::EventQueues;
use crate::memory::Memory;
use crate::packet::headers::{Transport, be16, ethertype};
use crate::packet::{Headers, Packet, checksum, edit};
use crate::steering::way::Verdict;

/// The memory key that ends the list of a receive queue entry.
const END_OF_LIST: u32 = 0x100;
/// A data segment: length, memory key, address.
const SEGMENT: usize = 16;
/// A cyclic queue.
const CYCLIC: u64 = 1;
/// Buffers of the queue's own.
const INLINE: u64 = 0;

/// How many packets went where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counts {
    /// Delivered.
    pub packets: u64,
    /// Dropped, mostly for want of a buffer.
    pub drops: u64,
}

/// A receive queue.
#[derive(Debug)]
pub(super) struct ReceiveQueue {
    /// Nothing for queues without buffers of their own kind: shared pools, strides, hairpins.
    ring: Option<Ring>,
    pub(super) cqn: u32,
    pub(super) state: State,
    doorbell: u64,
    strip_vlan: bool,
    consumer: u16,
    pub(super) counts: Counts,
    context: Vec<u8>,
}

impl ReceiveQueue {
    /// Reads a `create_rq_in`.
    pub(super) fn read(input: &[u8]) -> Result<Self, Refusal> {
        let context = input.get(create_rq_in::CTX.byte()..).unwrap_or(&[]);
        let queue = context.get(rqc::WQ.byte()..).unwrap_or(&[]);
        let cyclic = wq::WQ_TYPE.get(queue) == CYCLIC;
        let own = rqc::MEM_RQ_TYPE.get(context) == INLINE && rqc::HAIRPIN.get(context) == 0;
        let number = |field: uverbs_uapi::prm::Field| u32::try_from(field.get(context)).unwrap_or(u32::MAX);
        Ok(Self {
            ring: if cyclic && own { Some(Ring::of_wq(queue)?) } else { None },
            cqn: number(rqc::CQN),
            state: State::read(rqc::STATE.get(context))?,
            doorbell: wq::DBR_ADDR.get(queue),
            strip_vlan: rqc::VSD.get(context) == 0,
            consumer: 0,
            counts: Counts::default(),
            context: context.get(..rqc::SIZE).unwrap_or(context).to_vec(),
        })
    }

    /// Whether it reports to a completion queue: a hairpin does not.
    pub(super) fn has_completions(&self) -> bool {
        self.ring.is_some()
    }

    /// The context as it stands.
    pub(super) fn context(&self) -> Vec<u8> {
        let mut context = self.context.clone();
        rqc::STATE.set(&mut context, self.state.number());
        rqc::VSD.set(&mut context, u64::from(!self.strip_vlan));
        context
    }

    /// Goes on from this entry, for tests of the end of the counter.
    #[cfg(test)]
    pub(super) fn set_consumer(&mut self, consumer: u16) {
        self.consumer = consumer;
    }

    pub(super) fn set_state(&mut self, state: State) {
        if state == State::Reset {
            self.consumer = 0;
        }
        self.state = state;
    }

    pub(super) fn set_strip_vlan(&mut self, strip: bool) {
        self.strip_vlan = strip;
    }

    /// Buffers that the driver has posted and no packet has used; nothing if the queue takes no packets.
    pub(super) fn buffers(&self, memory: &Memory) -> Option<u16> {
        (self.state == State::Ready && self.ring.is_some()).then_some(())?;
        let producer = doorbell_record(memory, self.doorbell, Half::First).ok()?;
        #[expect(clippy::cast_possible_truncation, reason = "the counter has 16 bits")]
        let left = (producer as u16).wrapping_sub(self.consumer);
        Some(left)
    }

    /// Puts `frame` into the next buffer; gives the index of its entry, or why not.
    fn scatter(&mut self, memory: &Memory, frame: &[u8]) -> Result<u16, Refused> {
        let Some(ring) = &self.ring else {
            return Err(Refused::Dropped("queues of this kind are not modelled".into()));
        };
        if self.state != State::Ready {
            return Err(Refused::Dropped(format!("the queue is in state {}", self.state.name())));
        }
        let producer = doorbell_record(memory, self.doorbell, Half::First)
            .map_err(|e| Refused::Dropped(e.to_string()))?;
        #[expect(clippy::cast_possible_truncation, reason = "the counter has 16 bits")]
        if producer as u16 == self.consumer {
            return Err(Refused::Dropped("no buffer".into()));
        }
        let index = self.consumer;
        let mut entry = vec![0; ring.stride()];
        ring.read(memory, index.into(), &mut entry).map_err(|e| Refused::Failed(index, e.to_string()))?;
        let buffers = segments(&entry);
        let room: usize = buffers.iter().map(|b| b.1).sum();
        if room < frame.len() {
            return Err(Refused::Dropped(format!("{} bytes do not fit a buffer of {room}", frame.len())));
        }
        let mut rest = frame;
        for (address, length) in buffers {
            let (piece, behind) = rest.split_at(length.min(rest.len()));
            memory.write(address, piece).map_err(|e| Refused::Failed(index, e.to_string()))?;
            rest = behind;
        }
        self.consumer = index.wrapping_add(1);
        Ok(index)
    }
}

/// Why a packet is not in a buffer.
enum Refused {
    /// The queue goes on.
    Dropped(String),
    /// The entry with this index failed.
    Failed(u16, String),
}

/// Address and length of each buffer of an entry.
fn segments(entry: &[u8]) -> Vec<(u64, usize)> {
    let mut buffers = Vec::new();
    for segment in entry.chunks_exact(SEGMENT) {
        let word =
            |at: usize| u32::from_be_bytes([segment[at], segment[at + 1], segment[at + 2], segment[at + 3]]);
        let (length, key) = (word(0) & 0x7fff_ffff, word(4));
        if key == END_OF_LIST {
            break;
        }
        if length != 0 {
            buffers.push((u64::from(word(8)) << 32 | u64::from(word(12)), length as usize));
        }
    }
    buffers
}

impl Queues {
    /// A packet that steering gave to the receive object `tir`.
    pub fn receive(
        &mut self,
        memory: &Memory,
        events: &mut EventQueues,
        tir: u32,
        packet: &Packet,
        timestamp: u64,
    ) -> Verdict {
        let headers = Headers::parse(&packet.bytes);
        let Choice { rq: number, rqt, hashed } = match self.choose(tir, &headers, &packet.bytes) {
            Ok(choice) => choice,
            Err((place, why)) => return Verdict::dropped(place, why),
        };
        let place = match rqt {
            Some(rqt) => format!("TIR {tir:#x} RQT {rqt:#x} RQ {number:#x}"),
            None => format!("TIR {tir:#x} RQ {number:#x}"),
        };
        let Some(queue) = self.receive.get_mut(&number) else {
            return Verdict::dropped(place, "the queue is gone");
        };
        // The first customer tag goes into the completion (*model*: a service tag stays).
        let mut frame = packet.bytes.clone();
        let stripped = (queue.strip_vlan && be16(&frame, 12) == Some(ethertype::C_VLAN))
            .then(|| edit::pop_vlan(&mut frame))
            .flatten();
        let index = match queue.scatter(memory, &frame) {
            Ok(index) => index,
            Err(Refused::Dropped(why)) => {
                queue.counts.drops += 1;
                return Verdict::dropped(place, why);
            }
            Err(Refused::Failed(index, why)) => {
                queue.counts.drops += 1;
                queue.state = State::Error;
                let cqn = queue.cqn;
                let entry = failure(number, index, Failure::LocalProtection);
                if let Some(cq) = self.completion.get_mut(&cqn) {
                    // The queue stops either way; a completion without room is one loss more, and counted there.
                    let _ = cq.post(memory, events, cqn, entry, Opcode::ReceiverError);
                }
                return Verdict::dropped(place, why);
            }
        };
        queue.counts.packets += 1;
        let cqn = queue.cqn;
        let entry = completion(packet, &frame, stripped, hashed, index, timestamp);
        let Some(cq) = self.completion.get_mut(&cqn) else {
            return Verdict::dropped(place, format!("CQ {cqn:#x} is gone"));
        };
        match cq.post(memory, events, cqn, entry, Opcode::Received) {
            Ok(()) => Verdict::Delivered {
                tir,
                rqt,
                rq: number,
                wqe: index,
                cq: cqn,
                hash: hashed.value,
                flow_tag: packet.metadata.flow_tag,
            },
            Err(why) => Verdict::dropped(place, why),
        }
    }
}

/// The completion of a received packet, but for opcode and owner.
///
/// *Model*: a tunnel is not reported, the checks are those of the outer headers.
#[expect(clippy::cast_possible_truncation, reason = "a frame is shorter than 64 KiB")]
fn completion(
    packet: &Packet,
    frame: &[u8],
    stripped: Option<u16>,
    hashed: Hashed,
    index: u16,
    timestamp: u64,
) -> [u8; 64] {
    const L2_OK: u8 = 1;
    const L3_OK: u8 = 2;
    const L4_OK: u8 = 4;
    let layer = Headers::parse(frame).outer;
    let checked = checksum::check(frame, &layer);
    let l3 = match layer.network.map(|n| n.version) {
        Some(4) => 2,
        Some(_) => 1,
        None => 0,
    };
    let l4 = match layer.transport {
        Some(Transport::Tcp(at)) => tcp_kind(frame, at, layer.network.map_or(0, |n| n.end)),
        Some(Transport::Udp(_)) => 2,
        _ => 0,
    };
    let mut entry = [0; 64];
    let mut put = |at: usize, bytes: &[u8]| entry[at..at + bytes.len()].copy_from_slice(bytes);
    put(12, &hashed.value.to_be_bytes());
    put(16, &[hashed.kind]);
    put(20, &checked.sum.to_be_bytes());
    put(28, &[L2_OK | if checked.l3 { L3_OK } else { 0 } | if checked.l4 { L4_OK } else { 0 }]);
    put(29, &[l4 << 4 | l3 << 2 | u8::from(stripped.is_some())]);
    put(30, &stripped.unwrap_or(0).to_be_bytes());
    put(36, &packet.metadata.reg_b.to_be_bytes());
    put(44, &(frame.len() as u32).to_be_bytes());
    put(48, &timestamp.to_be_bytes());
    put(56, &(packet.metadata.flow_tag & 0xff_ffff).to_be_bytes());
    put(60, &index.to_be_bytes());
    entry
}

/// The completion's kind of TCP header: without acknowledgement, with it, with data too.
fn tcp_kind(frame: &[u8], at: usize, end: usize) -> u8 {
    let flags = be16(frame, at + 12).unwrap_or(0);
    let header = usize::from(flags >> 12) * 4;
    match (flags & 0x10 != 0, end > at + header) {
        (false, _) => 1,
        (true, false) => 3,
        (true, true) => 4,
    }
}
