//! Queues by commands, as a driver sends them, with rings and buffers in a guest's memory.

use super::layouts::*;
use super::*;
use crate::command::refusal::Syndrome;
use crate::command::{Reply, Request};
use crate::layouts::{create_eq_in, create_eq_out, eqc};
use crate::objects::{Kind, Objects};
use crate::packet::samples::*;
use crate::packet::{Headers, Packet, checksum};
use crate::steering::way::Verdict;
use proptest::prelude::*;
use std::error::Error;
use uverbs_uapi::prm::{
    self, Field, create_tir_in, create_tir_out, destroy_tir_in, rx_hash_field_select as select, tirc,
};

type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;
type Answer<T> = std::result::Result<T, Syndrome>;

/// Where things lie in the guest's memory.
const EQ: u64 = 0x1000;
const CQ: u64 = 0x2000;
const CQ_DOORBELL: u64 = 0x3000;
const RQ: u64 = 0x4000;
const RQ_DOORBELL: u64 = 0x5000;
const SQ: u64 = 0x6000;
const SQ_DOORBELL: u64 = 0x7000;
const BUFFERS: u64 = 0x1_0000;
const SIZE: u64 = 0x10_0000;

/// Entries of each ring, as a power of two.
const LOG_CQ: u64 = 2;
const LOG_RQ: u64 = 2;
const LOG_SQ: u64 = 3;
/// Bytes of a receive queue entry, as a power of two: two segments.
const LOG_RQ_STRIDE: u64 = 5;

const PAGE: Field = Field::new(0, 64);

struct Bench {
    queues: Queues,
    objects: Objects,
    events: EventQueues,
    memory: Memory,
    cq: u32,
}

impl Bench {
    /// A completion queue, reporting to an event queue.
    fn new() -> Result<Self> {
        let file = tempfile::tempfile()?;
        file.set_len(SIZE)?;
        let mut memory = Memory::default();
        memory.map(0, SIZE, 0, Some(file));
        let mut bench = Self {
            queues: Queues::default(),
            objects: Objects::default(),
            events: EventQueues::new(4),
            memory,
            cq: 0,
        };
        let context = create_eq_in::EQ_CONTEXT_ENTRY;
        let fields = [(context.then(eqc::LOG_EQ_SIZE), 4)];
        let input = Self::input(create_eq_in::SIZE, &fields, &[EQ]);
        let request = Request { opcode: prm::MLX5_CMD_OP_CREATE_EQ, uid: 0, op_mod: 0, input: &input };
        let mut output = vec![0; 64];
        let answer = bench.events.command(&request, &mut Reply::new(&mut output), &mut bench.objects);
        answer.ok_or("no event queue command")?.map_err(|r| r.detail)?;
        let eqn = create_eq_out::EQ_NUMBER.get(&output);
        bench.cq = bench.create_cq(0, eqn).map_err(refused)?;
        Ok(bench)
    }

    fn input(size: usize, fields: &[(Field, u64)], tail: &[u64]) -> Vec<u8> {
        let mut input = vec![0; size + tail.len() * 8];
        for (page, &address) in tail.iter().enumerate() {
            PAGE.set(&mut input[size + page * 8..], address);
        }
        for &(field, value) in fields {
            field.set(&mut input, value);
        }
        input
    }

    fn send(
        &mut self,
        opcode: u16,
        uid: u16,
        size: usize,
        fields: &[(Field, u64)],
        tail: &[u64],
    ) -> Answer<Vec<u8>> {
        let input = Self::input(size, fields, tail);
        let request = Request { opcode, uid, op_mod: 0, input: &input };
        let mut output = vec![0; 512];
        let mut reply = Reply::new(&mut output);
        let answer = self.queues.command(&request, &mut reply, &mut self.objects);
        answer.unwrap_or_else(|| panic!("{opcode:#x} is no queue command")).map_err(|r| r.syndrome)?;
        Ok(output)
    }

    fn create_cq(&mut self, uid: u16, eqn: u64) -> Answer<u32> {
        let inside = |field| create_cq_in::CQ_CONTEXT.then(field);
        let fields = [
            (inside(cqc::LOG_CQ_SIZE), LOG_CQ),
            (inside(cqc::C_EQN_OR_APU_ELEMENT), eqn),
            (inside(cqc::DBR_ADDR), CQ_DOORBELL),
        ];
        let output = self.send(prm::MLX5_CMD_OP_CREATE_CQ, uid, create_cq_in::SIZE, &fields, &[CQ])?;
        Ok(number(create_cq_out::CQN, &output))
    }

    /// A receive queue in state ready, whose ring and doorbell lie `nth` pages behind the first's.
    fn ready_rq(&mut self, nth: u64, keep_vlan: bool) -> Answer<u32> {
        let inside = |field| create_rq_in::CTX.then(rqc::WQ).then(field);
        let fields = [
            (create_rq_in::CTX.then(rqc::VSD), keep_vlan.into()),
            (create_rq_in::CTX.then(rqc::CQN), self.cq.into()),
            (inside(wq::WQ_TYPE), 1),
            (inside(wq::LOG_WQ_STRIDE), LOG_RQ_STRIDE),
            (inside(wq::LOG_WQ_SZ), LOG_RQ),
            (inside(wq::DBR_ADDR), RQ_DOORBELL + nth * 8),
        ];
        let output =
            self.send(prm::MLX5_CMD_OP_CREATE_RQ, 0, create_rq_in::SIZE, &fields, &[RQ + nth * 0x400])?;
        let rq = number(create_rq_out::RQN, &output);
        self.modify_rq(rq, 0, 1)?;
        Ok(rq)
    }

    fn modify_rq(&mut self, rq: u32, from: u64, to: u64) -> Answer<()> {
        let fields = [
            (modify_rq_in::RQN, rq.into()),
            (modify_rq_in::RQ_STATE, from),
            (modify_rq_in::CTX.then(rqc::STATE), to),
        ];
        self.send(prm::MLX5_CMD_OP_MODIFY_RQ, 0, modify_rq_in::SIZE, &fields, &[]).map(|_| ())
    }

    fn rqt(&mut self, queues: &[u32]) -> Answer<u32> {
        let fields = [
            (create_rqt_in::RQT_CONTEXT.then(rqtc::RQT_MAX_SIZE), 8),
            (create_rqt_in::RQT_CONTEXT.then(rqtc::RQT_ACTUAL_SIZE), queues.len() as u64),
        ];
        let tail: Vec<u64> = queues
            .chunks(2)
            .map(|pair| u64::from(pair[0]) << 32 | u64::from(*pair.get(1).unwrap_or(&0)))
            .collect();
        let output = self.send(prm::MLX5_CMD_OP_CREATE_RQT, 0, create_rqt_in::SIZE, &fields, &tail)?;
        Ok(number(create_rqt_out::RQTN, &output))
    }

    /// A receive object with these fields of its context.
    fn tir(&mut self, uid: u16, fields: &[(Field, u64)]) -> Answer<u32> {
        let fields: Vec<_> = fields.iter().map(|&(field, v)| (create_tir_in::CTX.then(field), v)).collect();
        let output = self.send(prm::MLX5_CMD_OP_CREATE_TIR, uid, create_tir_in::SIZE, &fields, &[])?;
        Ok(number(create_tir_out::TIRN, &output))
    }

    fn direct(&mut self, rq: u32) -> Answer<u32> {
        self.tir(0, &[(tirc::INLINE_RQN, rq.into())])
    }

    /// Posts a buffer of `segments` (address, length) in entry `index` of the `nth` receive queue, and all before.
    fn post(&self, nth: u64, index: u16, segments: &[(u64, u32)]) -> Result {
        let mut entry = vec![0; 1 << LOG_RQ_STRIDE];
        for (segment, &(address, length)) in entry.chunks_mut(16).zip(segments) {
            segment[..4].copy_from_slice(&length.to_be_bytes());
            segment[8..].copy_from_slice(&address.to_be_bytes());
        }
        if let Some(end) = entry.chunks_mut(16).nth(segments.len()) {
            end[4..8].copy_from_slice(&0x100u32.to_be_bytes());
        }
        let slot = u64::from(index) % (1 << LOG_RQ);
        self.memory.write(RQ + nth * 0x400 + (slot << LOG_RQ_STRIDE), &entry)?;
        self.memory.write(RQ_DOORBELL + nth * 8, &u32::from(index.wrapping_add(1)).to_be_bytes())?;
        Ok(())
    }

    fn receive(&mut self, tir: u32, frame: &[u8]) -> Verdict {
        let mut packet = Packet::from_wire(frame.to_vec());
        (packet.metadata.flow_tag, packet.metadata.reg_b) = (0xbeef, 0x1234_5678);
        self.queues.receive(&self.memory, &mut self.events, tir, &packet, 0x1122_3344_5566_7788)
    }

    fn read(&self, address: u64, length: usize) -> Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.memory.read(address, &mut bytes)?;
        Ok(bytes)
    }

    fn completion(&self, index: u64) -> Result<Vec<u8>> {
        self.read(CQ + (index % (1 << LOG_CQ)) * 64, 64)
    }

    /// The driver has seen so many completions.
    fn consume(&self, count: u32) -> Result {
        Ok(self.memory.write(CQ_DOORBELL, &count.to_be_bytes())?)
    }

    fn arm(&mut self, seen: u32) {
        let mut doorbell = [0; 8];
        doorbell[..4].copy_from_slice(&(0x3000_0000 | seen).to_be_bytes());
        doorbell[4..].copy_from_slice(&self.cq.to_be_bytes());
        self.queues.completion_doorbell(&self.memory, &mut self.events, doorbell);
    }

    /// Completion events so far: an event carries the number of the completion queue.
    fn event_count(&self) -> Result<usize> {
        let events = self.read(EQ, 16 * 64)?;
        Ok(events.chunks(64).filter(|event| event[32 + 24..32 + 28] == self.cq.to_be_bytes()).count())
    }

    fn ready_sq(&mut self) -> Answer<u32> {
        let inside = |field| create_sq_in::CTX.then(sqc::WQ).then(field);
        let fields = [
            (create_sq_in::CTX.then(sqc::CQN), self.cq.into()),
            (inside(wq::WQ_TYPE), 1),
            (inside(wq::LOG_WQ_STRIDE), 6),
            (inside(wq::LOG_WQ_SZ), LOG_SQ),
            (inside(wq::DBR_ADDR), SQ_DOORBELL),
        ];
        let output = self.send(prm::MLX5_CMD_OP_CREATE_SQ, 0, create_sq_in::SIZE, &fields, &[SQ])?;
        let sq = number(create_sq_out::SQN, &output);
        let fields = [(modify_sq_in::SQN, sq.into()), (modify_sq_in::CTX.then(sqc::STATE), 1)];
        self.send(prm::MLX5_CMD_OP_MODIFY_SQ, 0, modify_sq_in::SIZE, &fields, &[])?;
        Ok(sq)
    }

    /// Writes an entry at `index` of the send queue, wrapping around, and rings.
    fn ring(&mut self, sq: u32, index: u16, entry: &[u8]) -> Result<(Vec<Packet>, Vec<String>)> {
        let blocks = u16::try_from(entry.len().div_ceil(64))?;
        for (block, bytes) in (0u16..).zip(entry.chunks(64)) {
            let slot = u64::from(index.wrapping_add(block)) % (1 << LOG_SQ);
            self.memory.write(SQ + slot * 64, bytes)?;
        }
        let producer = u32::from(index.wrapping_add(blocks));
        self.memory.write(SQ_DOORBELL + 4, &producer.to_be_bytes())?;
        let doorbell = [[0, 0, 0, 0], (sq << 8).to_be_bytes()].concat();
        let doorbell = doorbell.try_into().map_err(|_| "8 bytes")?;
        Ok(self.queues.send_doorbell(&self.memory, &mut self.events, doorbell))
    }
}

fn refused(syndrome: Syndrome) -> String {
    format!("refused: {}", syndrome.words())
}

fn number(field: Field, output: &[u8]) -> u32 {
    u32::try_from(field.get(output)).unwrap_or(u32::MAX)
}

/// A send queue entry: control segment, Ethernet segment with an inline header, data segments.
#[derive(Default)]
struct Wqe {
    opcode: u8,
    wants_completion: bool,
    checksums: u8,
    segment_size: u16,
    metadata: u32,
    vlan: Option<u16>,
    inline: Vec<u8>,
    data: Vec<(u64, u32)>,
}

impl Wqe {
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0, 0, 0, self.opcode, 0, 0, 0, 0, 0, 0, 0, u8::from(self.wants_completion) << 3];
        bytes.extend([0; 8]);
        bytes.extend([self.checksums, 0]);
        bytes.extend(self.segment_size.to_be_bytes());
        bytes.extend(self.metadata.to_be_bytes());
        if let Some(tci) = self.vlan {
            bytes.extend([[0x80, 0], tci.to_be_bytes()].concat());
        } else {
            bytes.extend(u16::try_from(self.inline.len()).unwrap_or(0).to_be_bytes());
            bytes.extend(&self.inline);
            bytes.resize(bytes.len().max(32).next_multiple_of(16), 0);
        }
        for &(address, length) in &self.data {
            bytes.extend([&length.to_be_bytes()[..], &[0, 0, 0x40, 0], &address.to_be_bytes()].concat());
        }
        bytes[7] = u8::try_from(bytes.len() / 16).unwrap_or(0);
        bytes
    }
}

#[test]
fn a_packet_is_scattered_and_completed() -> Result {
    let mut bench = Bench::new()?;
    let rq = bench.ready_rq(0, true).map_err(refused)?;
    let tir = bench.direct(rq).map_err(refused)?;
    let frame = datagram(5000, &[0x5a; 100]);
    // Two buffers, the first too small for all.
    bench.post(0, 0, &[(BUFFERS, 64), (BUFFERS + 0x1000, 1000)])?;
    let verdict = bench.receive(tir, &frame);
    let cq = bench.cq;
    assert_eq!(verdict, Verdict::Delivered { tir, rqt: None, rq, wqe: 0, cq, hash: 0, flow_tag: 0xbeef });
    assert_eq!(bench.read(BUFFERS, 64)?, frame[..64]);
    assert_eq!(bench.read(BUFFERS + 0x1000, frame.len() - 64)?, frame[64..]);
    let completion = bench.completion(0)?;
    assert_eq!(completion[20..22], (!internet_checksum(&frame[14..])).to_be_bytes());
    assert_eq!(
        (completion[28], completion[29]),
        (7, 2 << 4 | 2 << 2),
        "L2, L3 and L4 are right; UDP over IPv4"
    );
    assert_eq!(completion[36..40], 0x1234_5678u32.to_be_bytes());
    assert_eq!(completion[44..48], u32::try_from(frame.len())?.to_be_bytes());
    assert_eq!(completion[48..56], 0x1122_3344_5566_7788u64.to_be_bytes());
    assert_eq!(completion[56..60], [0, 0, 0xbe, 0xef]);
    assert_eq!((&completion[60..62], completion[63]), (&[0, 0][..], 0x20), "a received packet, owner 0");
    assert_eq!(bench.queues.counts()[&rq], Counts { packets: 1, drops: 0 });
    Ok(())
}

#[test]
fn what_a_completion_says_of_a_frame() -> Result {
    let mut wrong_udp = datagram(5000, b"wrong");
    wrong_udp[41] ^= 1;
    let mut wrong_ip = datagram(5000, b"wrong");
    wrong_ip[24] ^= 1;
    let v6 = |payload: &[u8]| ethernet(0x86dd, &ipv6(6, payload));
    // Flags of the checks; kinds of transport and network header.
    let cases = [
        ("UDP checksum", wrong_udp, 3, 0x28),
        ("IP checksum", wrong_ip, 5, 0x28),
        ("ARP", ethernet(0x0806, &[0; 28]), 1, 0),
        ("TCP SYN over IPv6", v6(&tcp(1, 2, 0x02, b"")), 7, 0x14),
        ("TCP ACK", v6(&tcp(1, 2, 0x10, b"")), 7, 0x34),
        ("TCP data", v6(&tcp(1, 2, 0x10, b"data")), 7, 0x44),
        ("fragment", ethernet(0x0800, &ipv4_fragment(17, 0x2000, &udp(1, 2, &[0; 40]))), 3, 0x08),
        ("VLAN kept", ethernet(0x8100, &tag(5, 0x0800, &ipv4(17, &udp(1, 2, b"")))), 7, 0x28),
    ];
    for (name, frame, flags, kinds) in cases {
        let mut bench = Bench::new()?;
        let rq = bench.ready_rq(0, true).map_err(refused)?;
        let tir = bench.direct(rq).map_err(refused)?;
        bench.post(0, 0, &[(BUFFERS, 2000)])?;
        assert!(matches!(bench.receive(tir, &frame), Verdict::Delivered { .. }), "{name}");
        let completion = bench.completion(0)?;
        assert_eq!((completion[28], completion[29]), (flags, kinds), "{name}");
        assert_eq!(bench.read(BUFFERS, frame.len())?, frame, "{name}");
    }
    Ok(())
}

#[test]
fn a_customer_tag_is_stripped_where_the_queue_wants_it() -> Result {
    let mut bench = Bench::new()?;
    let rq = bench.ready_rq(0, false).map_err(refused)?;
    let tir = bench.direct(rq).map_err(refused)?;
    bench.post(0, 0, &[(BUFFERS, 2000)])?;
    let plain = datagram(5000, b"payload");
    bench.receive(tir, &[&plain[..12], &[0x81, 0, 0x60, 5], &plain[12..]].concat());
    let completion = bench.completion(0)?;
    assert_eq!((completion[29] & 1, &completion[30..32]), (1, &[0x60, 5][..]));
    assert_eq!(bench.read(BUFFERS, plain.len())?, plain);
    // A service tag stays.
    bench.post(0, 1, &[(BUFFERS, 2000)])?;
    let service = [&plain[..12], &[0x88, 0xa8, 0, 5], &plain[12..]].concat();
    bench.receive(tir, &service);
    assert_eq!(bench.completion(1)?[29] & 1, 0);
    assert_eq!(bench.read(BUFFERS, service.len())?, service);
    Ok(())
}

#[test]
fn packets_without_a_buffer_are_dropped_and_the_queue_goes_on() -> Result {
    let mut bench = Bench::new()?;
    let rq = bench.ready_rq(0, true).map_err(refused)?;
    let tir = bench.direct(rq).map_err(refused)?;
    let frame = datagram(5000, &[0; 100]);
    let place = format!("TIR {tir:#x} RQ {rq:#x}");
    assert_eq!(bench.receive(tir, &frame), Verdict::dropped(&place, "no buffer"));
    // Too small a buffer is not used up; the end mark hides what lies behind it.
    bench.post(0, 0, &[(BUFFERS, 100)])?;
    assert_eq!(bench.receive(tir, &frame), Verdict::dropped(&place, "142 bytes do not fit a buffer of 100"));
    assert!(matches!(bench.receive(tir, &frame[..100]), Verdict::Delivered { wqe: 0, .. }));
    assert_eq!(bench.receive(tir, &frame), Verdict::dropped(&place, "no buffer"));
    // The counters go on behind 65535, and the ring around.
    let consumer = |bench: &mut Bench, at| {
        if let Some(queue) = bench.queues.receive.get_mut(&rq) {
            queue.set_consumer(at);
        }
    };
    consumer(&mut bench, 0xffff);
    bench.post(0, 0xffff, &[(BUFFERS, 2000)])?;
    assert!(matches!(bench.receive(tir, &frame), Verdict::Delivered { wqe: 0xffff, .. }));
    bench.post(0, 0, &[(BUFFERS, 2000)])?;
    assert!(matches!(bench.receive(tir, &frame), Verdict::Delivered { wqe: 0, .. }));
    assert_eq!(bench.queues.counts()[&rq], Counts { packets: 3, drops: 3 });
    assert!(bench.queues.is_pressed(&bench.memory));
    Ok(())
}

#[test]
fn a_queue_goes_from_state_to_state() -> Result {
    let mut bench = Bench::new()?;
    let rq = bench.ready_rq(0, true).map_err(refused)?;
    let tir = bench.direct(rq).map_err(refused)?;
    assert_eq!(bench.modify_rq(rq, 0, 1), Err(Syndrome::WrongQueueState), "it is not in reset");
    assert_eq!(bench.modify_rq(rq, 1, 2), Err(Syndrome::WrongQueueState), "there is no state 2");
    assert_eq!(bench.modify_rq(rq, 1, 1), Ok(()));
    assert_eq!(bench.modify_rq(rq, 1, 3), Ok(()));
    assert_eq!(bench.modify_rq(rq, 3, 1), Err(Syndrome::WrongQueueState), "by way of reset only");
    bench.post(0, 0, &[(BUFFERS, 2000)])?;
    let place = format!("TIR {tir:#x} RQ {rq:#x}");
    assert_eq!(bench.receive(tir, &[0; 60]), Verdict::dropped(&place, "the queue is in state error"));
    assert_eq!(bench.modify_rq(rq, 3, 0), Ok(()));
    assert_eq!(bench.modify_rq(rq, 0, 1), Ok(()));
    assert!(matches!(bench.receive(tir, &[0; 60]), Verdict::Delivered { .. }));
    Ok(())
}

#[test]
fn memory_that_is_not_there_is_an_error_completion() -> Result {
    let mut bench = Bench::new()?;
    let rq = bench.ready_rq(0, true).map_err(refused)?;
    let tir = bench.direct(rq).map_err(refused)?;
    bench.post(0, 0, &[(SIZE, 2000)])?;
    assert!(matches!(bench.receive(tir, &[0; 60]), Verdict::Dropped { why, .. } if why.contains("DMA")));
    let completion = bench.completion(0)?;
    assert_eq!((completion[55], completion[63]), (4, 0xe0), "a local protection error of a receiver");
    assert!(matches!(bench.receive(tir, &[0; 60]), Verdict::Dropped { why, .. } if why.contains("error")));
    Ok(())
}

#[test]
fn completions_wrap_overrun_and_raise_events() -> Result {
    let mut bench = Bench::new()?;
    let rq = bench.ready_rq(0, true).map_err(refused)?;
    let tir = bench.direct(rq).map_err(refused)?;
    let frame = [0; 60];
    let mut next = 0;
    let mut deliver = |bench: &mut Bench| -> Result<Verdict> {
        bench.post(0, next, &[(BUFFERS, 2000)])?;
        next += 1;
        Ok(bench.receive(tir, &frame))
    };
    deliver(&mut bench)?;
    assert_eq!(bench.event_count()?, 0, "nobody asked");
    // Armed behind what there is: at once. Armed at what there is: with the next one, and only that.
    bench.arm(0);
    assert_eq!(bench.event_count()?, 1);
    bench.arm(1);
    assert_eq!(bench.event_count()?, 1);
    deliver(&mut bench)?;
    deliver(&mut bench)?;
    assert_eq!(bench.event_count()?, 2);
    assert_eq!(bench.completion(2)?[63] & 1, 0);
    deliver(&mut bench)?;
    // Four completions, none seen: full.
    assert!(matches!(deliver(&mut bench)?, Verdict::Dropped { why, .. } if why.contains("is full")));
    bench.consume(4)?;
    assert!(matches!(deliver(&mut bench)?, Verdict::Delivered { .. }));
    assert_eq!(bench.completion(0)?[63] & 1, 1, "the second time around the owner is 1");
    Ok(())
}

#[test]
fn packets_are_spread_by_hash() -> Result {
    let mut bench = Bench::new()?;
    let queues = [bench.ready_rq(0, true).map_err(refused)?, bench.ready_rq(1, true).map_err(refused)?];
    let rqt = bench.rqt(&[queues[0], queues[1], queues[0], queues[1]]).map_err(refused)?;
    let udp4 = select::L4_PROT_TYPE.max() << 30 | 0xf;
    let mut fields = vec![
        (tirc::DISP_TYPE, prm::MLX5_TIRC_DISP_TYPE_INDIRECT.into()),
        (tirc::INDIRECT_TABLE, rqt.into()),
        (tirc::RX_HASH_FN, prm::MLX5_RX_HASH_FN_TOEPLITZ.into()),
        (tirc::RX_HASH_FIELD_SELECTOR_OUTER, udp4),
    ];
    fields.extend((0..10).map(|word| (tirc::RX_HASH_TOEPLITZ_KEY.nth(word), 0x6d5a_56da + word as u64)));
    let tir = bench.tir(0, &fields).map_err(refused)?;
    let mut seen = [0; 2];
    let mut posted = [0; 2];
    for port in 0..32 {
        bench.consume(port)?;
        for nth in 0..2u8 {
            bench.post(nth.into(), posted[usize::from(nth)], &[(BUFFERS, 2000)])?;
        }
        let verdict = bench.receive(tir, &datagram(u16::try_from(port)?, b""));
        let Verdict::Delivered { rq, rqt: Some(through), hash, .. } = verdict else {
            return Err(format!("{verdict}").into());
        };
        assert_eq!((through, rq), (rqt, queues[hash as usize % 4 % 2]));
        let completion = bench.completion(port.into())?;
        assert_eq!((&completion[12..16], completion[16]), (&hash.to_be_bytes()[..], 0x84), "UDP over IPv4");
        let which = usize::from(rq == queues[1]);
        seen[which] += 1;
        posted[which] += 1;
    }
    assert!(seen[0] > 4 && seen[1] > 4, "{seen:?}");
    // What the selector is not about goes to the first.
    bench.consume(32)?;
    bench.post(0, posted[0], &[(BUFFERS, 2000)])?;
    let verdict = bench.receive(tir, &ethernet(0x86dd, &ipv6(17, &udp(1, 2, b""))));
    assert!(matches!(verdict, Verdict::Delivered { rq, hash: 0, .. } if rq == queues[0]), "{verdict}");
    let headers = |frame: &[u8]| Headers::parse(frame);
    let frame = datagram(1, b"");
    assert_eq!(bench.queues.likely_receiver(&headers(&frame), &frame), Some(tir));
    Ok(())
}

#[test]
fn a_frame_is_sent_with_its_checksums_and_tag() -> Result {
    let mut bench = Bench::new()?;
    let sq = bench.ready_sq().map_err(refused)?;
    let frame = datagram(7, b"from the guest");
    let mut without = frame.clone();
    without[24..26].fill(0);
    without[40..42].fill(0);
    // Part of the frame is in the entry, the rest in two places.
    bench.memory.write(BUFFERS, &without[18..30])?;
    bench.memory.write(BUFFERS + 0x800, &without[30..])?;
    let wqe = Wqe {
        opcode: 0x0a,
        wants_completion: true,
        checksums: 0xc0,
        metadata: 0xaa,
        inline: without[..18].to_vec(),
        data: vec![(BUFFERS, 12), (BUFFERS + 0x800, u32::try_from(frame.len() - 30)?)],
        ..Wqe::default()
    };
    let (frames, problems) = bench.ring(sq, 0, &wqe.bytes())?;
    assert!(problems.is_empty(), "{problems:?}");
    assert_eq!((frames.len(), &frames[0].bytes), (1, &frame));
    assert_eq!(
        (frames[0].metadata.source_sqn, frames[0].metadata.reg_a, frames[0].metadata.source_port),
        (sq, 0xaa, 0)
    );
    let completion = bench.completion(0)?;
    assert_eq!(
        (&completion[56..60], &completion[60..62], completion[63]),
        (&sq.to_be_bytes()[..], &[0, 0][..], 0)
    );

    // A tag that the card inserts; no checksums; no completion.
    bench.memory.write(BUFFERS, &without)?;
    let wqe = Wqe {
        opcode: 0x0a,
        vlan: Some(0x2007),
        data: vec![(BUFFERS, u32::try_from(without.len())?)],
        ..Wqe::default()
    };
    let (frames, problems) = bench.ring(sq, 2, &wqe.bytes())?;
    assert!(problems.is_empty(), "{problems:?}");
    assert_eq!(frames[0].bytes, [&without[..12], &[0x81, 0, 0x20, 7], &without[12..]].concat());
    // A NOP sends nothing, and completes.
    let (frames, _) = bench.ring(sq, 3, &Wqe { wants_completion: true, ..Wqe::default() }.bytes())?;
    assert!(frames.is_empty());
    assert_eq!(bench.completion(1)?[60..62], [0, 3]);
    Ok(())
}

#[test]
fn a_large_segment_is_sent_in_pieces_around_the_end_of_the_ring() -> Result {
    let mut bench = Bench::new()?;
    let sq = bench.ready_sq().map_err(refused)?;
    if let Some(queue) = bench.queues.send.get_mut(&sq) {
        queue.set_consumer(0xffff);
    }
    let header = ethernet(0x0800, &ipv4(6, &tcp(1, 2, 0x18, b"")));
    let payload: Vec<u8> = (0..4000u32).map(|n| n.to_be_bytes()[3]).collect();
    bench.memory.write(BUFFERS, &payload)?;
    let wqe = Wqe {
        opcode: 0x0e,
        wants_completion: true,
        checksums: 0xc0,
        segment_size: 1448,
        inline: header,
        data: vec![(BUFFERS, 4000)],
        ..Wqe::default()
    };
    assert!(wqe.bytes().len() > 64, "the entry does not go around the end");
    let (frames, problems) = bench.ring(sq, 0xffff, &wqe.bytes())?;
    assert!(problems.is_empty(), "{problems:?}");
    assert_eq!(frames.iter().map(|f| f.bytes.len() - 54).collect::<Vec<_>>(), [1448, 1448, 1104]);
    assert_eq!(frames.iter().flat_map(|f| f.bytes[54..].to_vec()).collect::<Vec<_>>(), payload);
    for frame in &frames {
        let checked = checksum::check(&frame.bytes, &Headers::parse(&frame.bytes).outer);
        assert!(checked.l3 && checked.l4);
    }
    assert_eq!(bench.completion(0)?[60..62], [0xff, 0xff]);
    Ok(())
}

#[test]
fn an_entry_that_makes_no_sense_stops_its_queue() -> Result {
    let inline = |length: u8| {
        let mut bytes = Wqe { opcode: 0x0a, ..Wqe::default() }.bytes();
        bytes[29] = length;
        bytes
    };
    for (name, entry, syndrome) in [
        ("unknown opcode", Wqe { opcode: 0x10, ..Wqe::default() }.bytes(), 2),
        ("inline header longer than the entry", inline(200), 2),
        (
            "a buffer that is not there",
            Wqe { opcode: 0x0a, data: vec![(SIZE, 60)], ..Wqe::default() }.bytes(),
            4,
        ),
        (
            "a buffer too long",
            Wqe { opcode: 0x0a, data: vec![(0, 0x7fff_ffff)], ..Wqe::default() }.bytes(),
            2,
        ),
    ] {
        let mut bench = Bench::new()?;
        let sq = bench.ready_sq().map_err(refused)?;
        let (frames, problems) = bench.ring(sq, 0, &entry)?;
        assert!(frames.is_empty() && problems.len() == 1, "{name}: {problems:?}");
        let completion = bench.completion(0)?;
        assert_eq!((completion[55], completion[63]), (syndrome, 0xd0), "{name}");
        let (frames, problems) =
            bench.ring(sq, 1, &Wqe { wants_completion: true, ..Wqe::default() }.bytes())?;
        assert!(
            frames.is_empty() && problems.is_empty() && bench.completion(1)?[63] == 0,
            "{name}: it goes on"
        );
    }
    Ok(())
}

#[test]
fn what_is_in_use_stays_and_owners_are_respected() -> Result {
    let mut bench = Bench::new()?;
    let rq = bench.ready_rq(0, true).map_err(refused)?;
    let rqt = bench.rqt(&[rq]).map_err(refused)?;
    let indirect = [(tirc::DISP_TYPE, 1), (tirc::INDIRECT_TABLE, rqt.into())];
    let tir = bench.tir(0, &indirect).map_err(refused)?;
    let cq = bench.cq;
    let mut destroy =
        |opcode, uid, field, id: u32| bench.send(opcode, uid, 16, &[(field, id.into())], &[]).map(|_| ());
    assert_eq!(destroy(prm::MLX5_CMD_OP_DESTROY_CQ, 0, destroy_cq_in::CQN, cq), Err(Syndrome::ObjectInUse));
    assert_eq!(
        destroy(prm::MLX5_CMD_OP_DESTROY_RQT, 0, destroy_rqt_in::RQTN, rqt),
        Err(Syndrome::ObjectInUse)
    );
    assert_eq!(
        destroy(prm::MLX5_CMD_OP_DESTROY_TIR, 3, destroy_tir_in::TIRN, tir),
        Err(Syndrome::ForeignObject)
    );
    assert_eq!(
        destroy(prm::MLX5_CMD_OP_DESTROY_TIR, 0, destroy_tir_in::TIRN, 99),
        Err(Syndrome::NoSuchObject)
    );
    for (opcode, field, id) in [
        (prm::MLX5_CMD_OP_DESTROY_TIR, destroy_tir_in::TIRN, tir),
        (prm::MLX5_CMD_OP_DESTROY_RQT, destroy_rqt_in::RQTN, rqt),
        (prm::MLX5_CMD_OP_DESTROY_RQ, destroy_rq_in::RQN, rq),
        (prm::MLX5_CMD_OP_DESTROY_CQ, destroy_cq_in::CQN, cq),
    ] {
        assert_eq!(destroy(opcode, 0, field, id), Ok(()), "{opcode:#x}");
    }
    assert_eq!(bench.objects.live().iter().map(|l| l.key.kind).collect::<Vec<_>>(), [Kind::EventQueue]);
    assert_eq!(
        bench.receive(tir, &[0; 60]),
        Verdict::dropped(format!("TIR {tir:#x}"), "the receive object is gone")
    );
    Ok(())
}

#[test]
fn contexts_are_read_back_and_bad_ones_refused() -> Result {
    let mut bench = Bench::new()?;
    let rq = bench.ready_rq(0, true).map_err(refused)?;
    let output = bench
        .send(prm::MLX5_CMD_OP_QUERY_RQ, 0, 16, &[(destroy_rq_in::RQN, rq.into())], &[])
        .map_err(refused)?;
    assert_eq!(query_rq_out::RQ_CONTEXT.then(rqc::STATE).get(&output), 1);
    assert_eq!(query_rq_out::RQ_CONTEXT.then(rqc::CQN).get(&output), u64::from(bench.cq));
    assert_eq!(bench.rqt(&[]), Err(Syndrome::BadIndirection));
    assert_eq!(bench.rqt(&[rq; 9]), Err(Syndrome::BadIndirection));
    assert_eq!(bench.rqt(&[rq, 99]), Err(Syndrome::NoSuchObject));
    assert_eq!(bench.tir(0, &[(tirc::RX_HASH_FN, 7)]), Err(Syndrome::BadHash));
    assert_eq!(bench.tir(3, &[(tirc::INLINE_RQN, rq.into())]), Err(Syndrome::ForeignObject));
    let inside = |field| create_rq_in::CTX.then(rqc::WQ).then(field);
    let huge = [
        (create_rq_in::CTX.then(rqc::CQN), bench.cq.into()),
        (inside(wq::WQ_TYPE), 1),
        (inside(wq::LOG_WQ_STRIDE), 15),
        (inside(wq::LOG_WQ_SZ), 31),
    ];
    let answer = bench.send(prm::MLX5_CMD_OP_CREATE_RQ, 0, create_rq_in::SIZE, &huge, &[]);
    assert_eq!(answer, Err(Syndrome::BadQueueLayout));
    let short = [(create_rq_in::CTX.then(rqc::CQN), bench.cq.into()), (inside(wq::WQ_TYPE), 1)];
    let answer = bench.send(prm::MLX5_CMD_OP_CREATE_RQ, 0, create_rq_in::SIZE, &short, &[]);
    assert_eq!(answer, Err(Syndrome::BadQueueLayout), "no page list");
    let answer = bench.send(prm::MLX5_CMD_OP_CREATE_RQ, 0, create_rq_in::SIZE - 1, &[], &[]);
    assert_eq!(answer, Err(Syndrome::ShortInput));
    Ok(())
}

/// Every queue opcode.
const OPCODES: [u16; 24] = [
    0x400, 0x401, 0x402, 0x403, 0x900, 0x901, 0x902, 0x903, 0x904, 0x905, 0x906, 0x907, 0x908, 0x909, 0x90a,
    0x90b, 0x912, 0x913, 0x914, 0x915, 0x916, 0x917, 0x918, 0x919,
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_command_and_any_entry_is_taken(
        commands in proptest::collection::vec(
            (
                proptest::sample::select(&OPCODES[..]),
                prop_oneof![Just(0u16), Just(3u16), Just(0xffff)],
                proptest::collection::vec(prop_oneof![8 => Just(0u8), 2 => 0u8..8, 1 => any::<u8>()], 0..600),
            ),
            0..16,
        ),
        entry in proptest::collection::vec(prop_oneof![2 => Just(0u8), 1 => 0u8..64, 1 => any::<u8>()], 64..256),
        frame in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        let outcome = || -> Result {
            let mut bench = Bench::new()?;
            let rq = bench.ready_rq(0, false).map_err(refused)?;
            let tir = bench.direct(rq).map_err(refused)?;
            let sq = bench.ready_sq().map_err(refused)?;
            for (opcode, uid, input) in &commands {
                let request = Request { opcode: *opcode, uid: *uid, op_mod: 0, input };
                let mut output = vec![0; 64];
                let mut reply = Reply::new(&mut output);
                assert!(bench.queues.command(&request, &mut reply, &mut bench.objects).is_some(), "{opcode:#x}");
            }
            let mut entry = entry.clone();
            entry[3] = if entry[3] & 1 == 0 { 0x0a } else { 0x0e };
            bench.ring(sq, 0, &entry)?;
            bench.memory.write(RQ, &entry[..32])?;
            bench.memory.write(RQ_DOORBELL, &1u32.to_be_bytes())?;
            bench.receive(tir, &frame);
            Ok(())
        };
        if let Err(why) = outcome() {
            return Err(TestCaseError::fail(why.to_string()));
        }
    }
}
