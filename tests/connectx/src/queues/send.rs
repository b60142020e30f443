//! Send queues: from the guest's entries to frames.

use super::Queues;
use super::completion::{Failure, Opcode, failure, sent};
use super::layouts::{create_sq_in, sqc, wq};
use super::ring::{Half, Ring, doorbell_record};
use super::state::State;
use crate::command::refusal::Refusal;
use crate::eq::EventQueues;
use crate::memory::Memory;
use crate::packet::checksum::{self, Fill};
use crate::packet::{Headers, Metadata, Packet, edit, segment};
use uverbs_uapi::prm::Field;

/// The unit of send queue entries, in bytes.
const BASIC_BLOCK: usize = 64;
/// The unit of an entry's segments, in bytes.
const SEGMENT: usize = 16;
/// The largest payload of one entry: far above any offload's.
const MOST_BYTES: usize = 1 << 19;

/// Operations of send queue entries.
///
/// C: `MLX5_OPCODE_*` (`include/linux/mlx5/device.h`).
mod opcode {
    pub(super) const NOP: u8 = 0x00;
    pub(super) const SEND: u8 = 0x0a;
    pub(super) const LSO: u8 = 0x0e;
}

/// `cs_flags` of the Ethernet segment.
///
/// C: `MLX5_ETH_WQE_L3_CSUM` … (`include/linux/mlx5/qp.h`).
mod flag {
    pub(super) const L3_INNER: u8 = 0x10;
    pub(super) const L4_INNER: u8 = 0x20;
    pub(super) const L3: u8 = 0x40;
    pub(super) const L4: u8 = 0x80;
}

/// A send queue.
#[derive(Debug)]
pub(super) struct SendQueue {
    ring: Option<Ring>,
    pub(super) cqn: u32,
    pub(super) state: State,
    doorbell: u64,
    consumer: u16,
    context: Vec<u8>,
}

impl SendQueue {
    /// Reads a `create_sq_in`.
    pub(super) fn read(input: &[u8]) -> Result<Self, Refusal> {
        let context = input.get(create_sq_in::CTX.byte()..).unwrap_or(&[]);
        let queue = context.get(sqc::WQ.byte()..).unwrap_or(&[]);
        Ok(Self {
            ring: if sqc::HAIRPIN.get(context) == 0 { Some(Ring::of_wq(queue)?) } else { None },
            cqn: u32::try_from(sqc::CQN.get(context)).unwrap_or(u32::MAX),
            state: State::read(sqc::STATE.get(context))?,
            doorbell: wq::DBR_ADDR.get(queue),
            consumer: 0,
            context: context.get(..sqc::SIZE).unwrap_or(context).to_vec(),
        })
    }

    /// Whether it reports to a completion queue: a hairpin does not.
    pub(super) fn has_completions(&self) -> bool {
        self.ring.is_some()
    }

    /// The context as it stands.
    pub(super) fn context(&self) -> Vec<u8> {
        let mut context = self.context.clone();
        sqc::STATE.set(&mut context, self.state.number());
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

    /// The next entry, if the driver has posted one.
    fn next(&self, memory: &Memory) -> Option<Result<Entry, Failure>> {
        let ring = self.ring.as_ref().filter(|_| self.state == State::Ready)?;
        let producer = doorbell_record(memory, self.doorbell, Half::Second).ok()?;
        #[expect(clippy::cast_possible_truncation, reason = "the counter has 16 bits")]
        let left = (producer as u16).wrapping_sub(self.consumer);
        if left == 0 || u32::from(left) > 1 << ring.log_size() {
            return None;
        }
        Some(Entry::read(memory, ring, self.consumer))
    }
}

/// A send queue entry as it lies in the guest's memory.
struct Entry {
    index: u16,
    /// All of its segments, the control segment first.
    bytes: Vec<u8>,
    blocks: u16,
}

impl Entry {
    fn read(memory: &Memory, ring: &Ring, index: u16) -> Result<Self, Failure> {
        let mut control = [0; SEGMENT];
        ring.read(memory, index.into(), &mut control).map_err(|_| Failure::LocalProtection)?;
        let segments = usize::from(control[7] & 0x3f);
        let blocks = (segments * SEGMENT).div_ceil(BASIC_BLOCK).max(1);
        let mut bytes = vec![0; blocks * BASIC_BLOCK];
        for (block, bytes) in (0u64..).zip(bytes.chunks_exact_mut(BASIC_BLOCK)) {
            let at = u64::from(index) + block;
            ring.read(memory, at, bytes).map_err(|_| Failure::LocalProtection)?;
        }
        bytes.truncate(segments.max(1) * SEGMENT);
        Ok(Self { index, bytes, blocks: u16::try_from(blocks).unwrap_or(u16::MAX) })
    }

    fn opcode(&self) -> u8 {
        self.bytes[3]
    }

    fn wants_completion(&self) -> bool {
        self.bytes[11] & 0x08 != 0
    }

    /// The frames that the entry stands for.
    fn frames(&self, memory: &Memory, sqn: u32) -> Result<Vec<Packet>, Failure> {
        let eth = Ethernet::read(&self.bytes)?;
        let payload = gather(memory, &self.bytes[eth.data..])?;
        let frames = if self.opcode() == opcode::LSO {
            segment::segments(&eth.inline, &payload, eth.segment_size.into())
        } else {
            vec![[eth.inline.clone(), payload].concat()]
        };
        Ok(frames.into_iter().map(|frame| eth.finish(frame, sqn)).collect())
    }
}

/// The Ethernet segment of an entry.
struct Ethernet {
    checksums: u8,
    segment_size: u16,
    metadata: u32,
    vlan: Option<u32>,
    /// The beginning of the frame, which lies in the entry itself.
    inline: Vec<u8>,
    /// Where the data segments begin in the entry.
    data: usize,
}

impl Ethernet {
    /// Bit of the insertion field: a VLAN tag, rather than the length of an inline header.
    const INSERT_VLAN: u16 = 0x8000;
    /// With it: a service tag.
    const SERVICE: u16 = 0x0001;
    /// The length of an inline header.
    const LENGTH: u16 = 0x03ff;

    fn read(entry: &[u8]) -> Result<Self, Failure> {
        let segment = entry.get(SEGMENT..2 * SEGMENT).ok_or(Failure::LocalOperation)?;
        let half = |at: usize| u16::from_be_bytes([segment[at], segment[at + 1]]);
        let word = |at: usize| u32::from(half(at)) << 16 | u32::from(half(at + 2));
        let insertion = half(12);
        let (vlan, length) = if insertion & Self::INSERT_VLAN == 0 {
            (None, usize::from(insertion & Self::LENGTH))
        } else {
            let kind: u32 = if insertion & Self::SERVICE == 0 { 0x8100 } else { 0x88a8 };
            (Some(kind << 16 | u32::from(half(14))), 0)
        };
        // The first two bytes of an inline header lie in this segment, the rest in the following ones.
        let start = SEGMENT + 14;
        let inline = entry.get(start..start + length).ok_or(Failure::LocalOperation)?.to_vec();
        let data = 2 * SEGMENT + length.saturating_sub(2).next_multiple_of(SEGMENT);
        if data > entry.len() {
            return Err(Failure::LocalOperation);
        }
        Ok(Self { checksums: segment[4], segment_size: half(6), metadata: word(8), vlan, inline, data })
    }

    /// Does what the segment asks for: VLAN tag, checksums.
    fn finish(&self, mut bytes: Vec<u8>, sqn: u32) -> Packet {
        if let Some(tag) = self.vlan {
            edit::push_vlan(&mut bytes, tag);
        }
        let has = |bit: u8| self.checksums & bit != 0;
        let headers = Headers::parse(&bytes);
        // Inside out: an outer UDP checksum covers the inner ones.
        if let Some(inner) = &headers.inner {
            checksum::fill(&mut bytes, inner, Fill { l3: has(flag::L3_INNER), l4: has(flag::L4_INNER) });
        }
        checksum::fill(&mut bytes, &headers.outer, Fill { l3: has(flag::L3), l4: has(flag::L4) });
        Packet {
            bytes,
            metadata: Metadata {
                source_port: 0,
                source_sqn: sqn,
                reg_a: self.metadata,
                ..Metadata::default()
            },
        }
    }
}

/// Reads what data segments point to, or hold themselves.
fn gather(memory: &Memory, mut segments: &[u8]) -> Result<Vec<u8>, Failure> {
    const INLINE: u32 = 1 << 31;
    let mut data = Vec::new();
    while let Some((head, _)) = segments.split_first_chunk::<4>() {
        let count = u32::from_be_bytes(*head);
        let length = (count & !INLINE) as usize;
        if data.len() + length > MOST_BYTES {
            return Err(Failure::LocalOperation);
        }
        let step = if count & INLINE == 0 {
            let address = segments.get(8..16).ok_or(Failure::LocalOperation)?;
            let address = Field::new(0, 64).get(address);
            let start = data.len();
            data.resize(start + length, 0);
            if length > 0 {
                memory.read(address, &mut data[start..]).map_err(|_| Failure::LocalProtection)?;
            }
            SEGMENT
        } else {
            data.extend(segments.get(4..4 + length).ok_or(Failure::LocalOperation)?);
            (4 + length).next_multiple_of(SEGMENT)
        };
        segments = segments.get(step..).unwrap_or(&[]);
    }
    Ok(data)
}

impl Queues {
    /// A doorbell of a send queue: the head of the last entry's control segment. The frames that are to be sent, and
    /// what went wrong, in words.
    pub fn send_doorbell(
        &mut self,
        memory: &Memory,
        events: &mut EventQueues,
        doorbell: [u8; 8],
    ) -> (Vec<Packet>, Vec<String>) {
        let number = u32::from_be_bytes([doorbell[4], doorbell[5], doorbell[6], doorbell[7]]) >> 8;
        let (mut frames, mut problems) = (Vec::new(), Vec::new());
        while let Some(queue) = self.send.get_mut(&number) {
            // The doorbell record, not the doorbell, says how far: it may be further on already.
            let Some(entry) = queue.next(memory) else { break };
            let done = entry.and_then(|entry| {
                let frames = match entry.opcode() {
                    opcode::NOP => Ok(Vec::new()),
                    opcode::SEND | opcode::LSO => entry.frames(memory, number),
                    _ => Err(Failure::LocalOperation),
                };
                frames.map(|frames| (entry, frames))
            });
            let (index, cqn) = (queue.consumer, queue.cqn);
            let completion = match done {
                Ok((entry, sending)) => {
                    queue.consumer = entry.index.wrapping_add(entry.blocks);
                    frames.extend(sending);
                    entry.wants_completion().then(|| (sent(number, index), Opcode::Requester))
                }
                Err(why) => {
                    queue.state = State::Error;
                    problems.push(format!("SQ {number:#x} entry {index}: {why:?}, the queue stops"));
                    Some((failure(number, index, why), Opcode::RequesterError))
                }
            };
            if let Some((entry, opcode)) = completion {
                let posted = match self.completion.get_mut(&cqn) {
                    Some(cq) => cq.post(memory, events, cqn, entry, opcode),
                    None => Err(format!("CQ {cqn:#x} is gone")),
                };
                problems.extend(posted.err().map(|why| format!("SQ {number:#x} entry {index}: {why}")));
            }
        }
        (frames, problems)
    }
}
