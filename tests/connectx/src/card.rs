//! The card: registers, commands, packets, put together.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use serde_json::{Value, json};
use uverbs_uapi::prm;

use crate::bar::{Bar, Doorbell};
use crate::capabilities::Capabilities;
use crate::command::lengths::Lengths;
use crate::command::queue::{self, Entry, LOG_SLOTS, Undeliverable};
use crate::command::refusal::{Refusal, Syndrome};
use crate::command::{Answer, Reply, Request};
use crate::config::Config;
use crate::control::Question;
use crate::datapath::DataPath;
use crate::eq::{EventQueues, PORT_CHANGE};
use crate::family::devx::Devx;
use crate::family::function::Function;
use crate::family::port::Port;
use crate::family::queue_pair::QueuePairs;
use crate::family::{eswitch, plain};
use crate::faults::Fault;
use crate::memory::Memory;
use crate::objects::{Leak, Objects};
use crate::pci;
use crate::queues::Queues;
use crate::report::Report;
use crate::steering::{Limits, Steering};
use crate::trace::Trace;
use crate::transport::protocol::Device;
use crate::wire::Wire;

/// Region and interrupt numbers of vfio.
const REGION_BAR0: u32 = 0;
const REGION_CONFIG: u32 = 7;
const IRQ_INTX: u32 = 0;
const IRQ_MSIX: u32 = 2;

/// Sub-types of the port change event.
const PORT_DOWN: u8 = 1;
const PORT_UP: u8 = 4;
/// The only port, where the event's data has it.
const PORT_CHANGE_DATA: [u8; 9] = [0, 0, 0, 0, 0, 0, 0, 0, 0x10];

/// An emulated ConnectX.
#[derive(Debug)]
pub(crate) struct Card {
    number: u8,
    config: pci::Config,
    bar: Bar,
    lengths: Lengths,
    capabilities: Capabilities,
    state: State,
    objects: Objects,
    eqs: EventQueues,
    wire: Wire,
    bypass: bool,
    faults: Vec<Fault>,
    counts: BTreeMap<String, u64>,
    report: Report,
    trace: Trace,
}

/// What the driver has made of the card since the last reset.
#[derive(Debug)]
struct State {
    function: Function,
    port: Port,
    queue_pairs: QueuePairs,
    devx: Devx,
    steering: Steering,
    queues: Queues,
}

impl State {
    fn new(number: u8, capabilities: &Capabilities) -> Self {
        Self {
            function: Function::default(),
            port: Port::new(number),
            queue_pairs: QueuePairs::default(),
            devx: Devx::default(),
            steering: Steering::new(Limits::from_capabilities(|area| capabilities.area(area, false))),
            queues: Queues::default(),
        }
    }
}

impl Card {
    /// A card as after power-on.
    pub(crate) fn new(config: &Config) -> io::Result<Self> {
        let mut capabilities = config.profile.capabilities();
        for (name, value) in &config.capabilities {
            capabilities.set(name, *value).map_err(|why| io::Error::new(io::ErrorKind::InvalidInput, why))?;
        }
        Ok(Self {
            number: config.number,
            config: pci::Config::new(config.profile.device_id()),
            bar: Bar::new(),
            lengths: Lengths::new(),
            state: State::new(config.number, &capabilities),
            objects: Objects::limited(capabilities.area(prm::MLX5_CAP_GENERAL, false)),
            eqs: EventQueues::new(pci::VECTORS.into()),
            wire: Wire::open(&config.wire)?,
            bypass: config.bypass,
            faults: config.faults.clone(),
            counts: BTreeMap::new(),
            report: Report::default(),
            trace: Trace::new(config.trace.as_deref())?,
            capabilities,
        })
    }

    /// Executes the commands in `slots`.
    fn commands(&mut self, memory: &Memory, slots: u32) {
        // The command that makes the event queue of commands, and the one that ends it, are polled: an event for
        // either reaches a driver that is not ready for it.
        let heard = self.eqs.hears_commands();
        let mut done = 0;
        for slot in (0..1 << LOG_SLOTS).filter(|slot| slots >> slot & 1 != 0) {
            let delivered = self.execute(memory, slot).or_else(|why| {
                self.trace.line(format_args!("command slot {slot} UNDELIVERABLE: {why:?}"));
                queue::give_back(memory, self.bar.queue(), slot, why)
            });
            match delivered {
                Ok(()) => done |= 1 << slot,
                Err(error) => self.trace.line(format_args!("command slot {slot}: {error}")),
            }
        }
        if heard && done != 0 {
            self.eqs.command_done(memory, done);
        }
    }

    fn execute(&mut self, memory: &Memory, slot: u32) -> Result<(), Undeliverable> {
        let entry = Entry::read(memory, self.bar.queue(), slot)?;
        let request = Request::parse(&entry.input);
        let mut output = vec![0; entry.output_length];
        let mut reply = Reply::new(&mut output);
        let name = request.name();
        let fault = self.faults.iter_mut().find_map(|fault| fault.strikes(&name).then_some(fault.status));
        let answer = match fault {
            Some(status) => Err(Refusal::injected(status)),
            None => match self.lengths.check(&request, entry.output_length) {
                Ok(()) => self.dispatch(memory, &request, &mut reply),
                Err(refusal) => Err(refusal),
            },
        };
        if let Err(refusal) = &answer {
            reply.refuse(refusal);
            self.report.refusals += 1;
        }
        self.trace.command(&request, &answer);
        self.report.commands += 1;
        *self.counts.entry(name).or_default() += 1;
        entry.answer(memory, &output)
    }

    /// Gives the command to the family it belongs to.
    fn dispatch(&mut self, memory: &Memory, request: &Request<'_>, reply: &mut Reply<'_>) -> Answer {
        if let Some(answer) = self.state.steering.command(request, reply, &mut self.objects) {
            return answer;
        }
        if let Some(answer) = self.state.queues.command(request, reply, &mut self.objects) {
            return answer;
        }
        if let Some(answer) = self.eqs.command(request, reply, &mut self.objects) {
            return answer;
        }
        if let Some(answer) = plain::command(request, reply, &mut self.objects) {
            return answer;
        }
        if let Some(answer) = self.state.queue_pairs.command(request, reply, &self.objects) {
            return answer;
        }
        if let Some(done) = self.state.devx.command(request, reply, &mut self.objects) {
            self.leaked("user context destroyed", done.left);
            return done.answer;
        }
        if let Some(answer) = eswitch::command(request) {
            return answer;
        }
        if let Some((answer, changed)) = self.state.port.command(request, reply) {
            if changed {
                let sub_type = if self.state.port.is_up() { PORT_UP } else { PORT_DOWN };
                self.eqs.notify(memory, PORT_CHANGE, sub_type, &PORT_CHANGE_DATA);
            }
            return answer;
        }
        if let Some(answer) = self.state.function.command(request, reply, &mut self.capabilities) {
            return answer;
        }
        Err(Refusal::new(Syndrome::UnknownOpcode, request.name()))
    }

    /// Accounts for objects that were alive when they should not be.
    fn leaked(&mut self, when: &'static str, left: Vec<Leak>) {
        for leak in left {
            self.trace.line(format_args!("LEAK {when}: {leak}"));
            self.report.leaks.push((when, leak));
        }
    }

    /// What frames meet, put together for a moment.
    fn data_path<'a>(&'a mut self, memory: &'a Memory) -> DataPath<'a> {
        DataPath {
            steering: &mut self.state.steering,
            queues: &mut self.state.queues,
            wire: &mut self.wire,
            events: &mut self.eqs,
            memory,
            timestamp: self.bar.now(),
            bypass: self.bypass,
        }
    }

    /// Takes what has come from the wire.
    pub(crate) fn receive(&mut self, memory: &Memory) {
        let words = self.data_path(memory).receive();
        self.tell(&words);
    }

    /// Writes the way of frames into the trace.
    fn tell(&mut self, words: &[String]) {
        for words in words {
            self.trace.line(format_args!("{words}"));
        }
    }

    /// The descriptor that is readable while there are frames on the wire.
    pub(crate) fn wire(&self) -> BorrowedFd<'_> {
        self.wire.as_fd()
    }

    /// Answers a question about the card.
    ///
    /// # Errors
    /// In words, if it cannot be done.
    pub(crate) fn answer(&mut self, question: Question) -> Result<Value, String> {
        match question {
            Question::Counts => Ok(json!({ "counts": self.counts })),
            Question::Objects => Ok(json!({ "objects": self.objects.live() })),
            Question::Tables => {
                Ok(json!({ "tables": self.state.steering.tables(), "roots": self.state.steering.roots() }))
            }
            Question::Mark { text } => {
                self.trace.line(format_args!("MARK {text}"));
                Ok(json!({}))
            }
            Question::Inject { frame } => {
                self.wire.inject(parse_hex(&frame).ok_or("a frame is an even number of hexadecimal digits")?);
                Ok(json!({}))
            }
            Question::Start => {
                self.wire.start();
                Ok(json!({}))
            }
            Question::Sent => {
                let frames: Vec<String> = self.wire.take_sent().iter().map(|frame| hex(frame)).collect();
                Ok(json!({ "frames": frames }))
            }
            Question::Hops => {
                Ok(json!({ "ways": self.wire.take_ways(), "input_done": self.wire.input_done() }))
            }
            Question::Bypass { on } => {
                self.bypass = on;
                Ok(json!({}))
            }
            Question::Fail { opcode, status, times } => {
                self.faults.push(Question::fault(&opcode, status, times)?);
                Ok(json!({}))
            }
        }
    }

    /// The last account, when QEMU has gone.
    pub(crate) fn close(mut self) -> Report {
        let left = self.objects.reset();
        self.leaked("device closed", left);
        self.report.pages = self.state.function.pages();
        self.report
    }
}

impl Device for Card {
    fn region_size(&self, region: u32) -> u64 {
        match region {
            REGION_BAR0 => pci::BAR0_SIZE,
            REGION_CONFIG => pci::SIZE as u64,
            _ => 0,
        }
    }

    fn irq_count(&self, index: u32) -> u32 {
        match index {
            IRQ_INTX => 1,
            IRQ_MSIX => pci::VECTORS.into(),
            _ => 0,
        }
    }

    fn read(&mut self, region: u32, offset: u64, buffer: &mut [u8]) {
        match region {
            REGION_BAR0 => self.bar.read(offset, buffer),
            REGION_CONFIG => self.config.read(offset, buffer),
            _ => {}
        }
    }

    fn write(&mut self, memory: &Memory, region: u32, offset: u64, bytes: &[u8]) {
        match region {
            REGION_CONFIG => self.config.write(offset, bytes),
            REGION_BAR0 => match self.bar.write(offset, bytes) {
                Some(Doorbell::Commands(slots)) => self.commands(memory, slots),
                Some(Doorbell::CompletionQueue(words)) => self.data_path(memory).completion_doorbell(words),
                Some(Doorbell::SendQueue(words)) => {
                    let words = self.data_path(memory).send_doorbell(words);
                    self.tell(&words);
                }
                None => {}
            },
            _ => {}
        }
    }

    fn set_irq(&mut self, index: u32, vector: u32, eventfd: Option<OwnedFd>) {
        if index == IRQ_MSIX {
            self.eqs.set_vector(vector as usize, eventfd);
        }
    }

    fn reset(&mut self) {
        let left = self.objects.reset();
        self.leaked("function reset", left);
        self.trace.line(format_args!("function reset"));
        self.config.reset();
        self.bar.reset();
        self.capabilities.reset();
        self.eqs.reset();
        self.state = State::new(self.number, &self.capabilities);
    }
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;

    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a string cannot fail.
        let _written = write!(text, "{byte:02x}");
        text
    })
}

fn parse_hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    if !digits.len().is_multiple_of(2) || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io;
    use std::os::unix::fs::FileExt;

    use proptest::prelude::*;
    use uverbs_uapi::prm::{Field, command_in, command_out, general_obj_in_cmd_hdr, opcode_name};

    use super::{Card, REGION_BAR0, REGION_CONFIG, prm};
    use crate::command::refusal::Syndrome;
    use crate::config::Config;
    use crate::control::Question;
    use crate::layouts::{alloc_pd_out, create_eq_in, create_mkey_in, eqc, mkc};
    use crate::memory::Memory;
    use crate::transport::protocol::Device;

    const MEMORY: u64 = 8 << 20;
    const QUEUE: u64 = 0x1000;
    const INPUT: u64 = 0x10_0000;
    const OUTPUT: u64 = 0x20_0000;
    const BLOCK: u64 = 0x400;
    const DATA: usize = 512;

    /// A driver without a kernel: it writes commands into memory, rings, and reads the answers.
    struct Driver {
        card: Card,
        memory: Memory,
        file: File,
    }

    impl Driver {
        fn new() -> io::Result<Self> {
            let file = tempfile::tempfile()?;
            file.set_len(MEMORY)?;
            let mut memory = Memory::default();
            memory.map(0, MEMORY, 0, Some(file.try_clone()?));
            let mut card = Card::new(&Config::default())?;
            card.write(&memory, REGION_BAR0, 0x14, &0x1000_u32.to_be_bytes());
            // The answer has room for all; each mailbox leads to the next.
            for chain in [INPUT, OUTPUT] {
                for at in (0..32).map(|index| chain + index * BLOCK) {
                    file.write_all_at(&(at + BLOCK).to_be_bytes(), at + 560)?;
                }
            }
            Ok(Self { card, memory, file })
        }

        /// Executes a command and gives the first 16 bytes of the answer; `None` if it was not taken.
        fn send(&mut self, input: &[u8], room: u32) -> io::Result<Option<[u8; 16]>> {
            let mut entry = [0; 64];
            entry[4..8].copy_from_slice(&u32::try_from(input.len()).unwrap_or(u32::MAX).to_be_bytes());
            entry[8..16].copy_from_slice(&INPUT.to_be_bytes());
            let head = input.len().min(16);
            entry[16..16 + head].copy_from_slice(&input[..head]);
            entry[48..56].copy_from_slice(&OUTPUT.to_be_bytes());
            entry[56..60].copy_from_slice(&room.to_be_bytes());
            entry[63] = 1;
            for (at, data) in (INPUT..).step_by(0x400).zip(input[head..].chunks(DATA)) {
                self.file.write_all_at(data, at)?;
            }
            self.file.write_all_at(&entry, QUEUE)?;
            self.card.write(&self.memory, REGION_BAR0, 0x18, &1_u32.to_be_bytes());
            self.file.read_exact_at(&mut entry, QUEUE)?;
            assert_eq!(entry[63] & 1, 0, "the slot goes back to the driver");
            let mut answer = [0; 16];
            answer.copy_from_slice(&entry[32..48]);
            Ok((entry[63] == 0).then_some(answer))
        }

        fn command(&mut self, opcode: u16, uid: u16, fields: &[(Field, u64)]) -> io::Result<(u64, u64)> {
            let mut input = vec![0; 2048];
            command_in::OPCODE.set(&mut input, opcode.into());
            command_in::UID.set(&mut input, uid.into());
            for (field, value) in fields {
                field.set(&mut input, *value);
            }
            let answer = self.send(&input, 4112)?.ok_or_else(|| io::Error::other("not taken"))?;
            Ok((command_out::STATUS.get(&answer), command_out::SYNDROME.get(&answer)))
        }
    }

    #[test]
    fn each_object_is_its_owners_and_what_is_left_is_reported() -> io::Result<()> {
        let mut driver = Driver::new()?;
        assert_eq!(driver.command(prm::MLX5_CMD_OP_CREATE_UCTX, 0, &[])?, (0, 0));
        assert_eq!(driver.command(prm::MLX5_CMD_OP_ALLOC_PD, 1, &[])?, (0, 0));
        let pd = [(alloc_pd_out::PD, 1)];
        let foreign =
            (u64::from(Syndrome::ForeignObject.status() as u8), Syndrome::ForeignObject.code().into());
        assert_eq!(driver.command(prm::MLX5_CMD_OP_DEALLOC_PD, 2, &pd)?, foreign);
        let destroy = [(prm::destroy_uctx_in::UID, 1)];
        assert_eq!(driver.command(prm::MLX5_CMD_OP_DESTROY_UCTX, 0, &destroy)?, (0, 0));
        let unknown = driver.command(0x0eee, 0, &[])?;
        assert_eq!(unknown.1, u64::from(Syndrome::UnknownOpcode.code()));
        let report = driver.card.close();
        let told: Vec<_> = report.leaks.iter().map(|(when, leak)| (*when, leak.to_string())).collect();
        let leak = "ProtectionDomain 0x1 of uid 1, made by ALLOC_PD".to_owned();
        assert_eq!(told, [("user context destroyed", leak.clone()), ("device closed", leak)]);
        assert_eq!((report.commands, report.refusals), (5, 2));
        Ok(())
    }

    #[test]
    fn a_new_object_refers_to_what_its_owner_may_use() -> io::Result<()> {
        let mut driver = Driver::new()?;
        assert_eq!(driver.command(prm::MLX5_CMD_OP_ALLOC_PD, 1, &[])?, (0, 0));
        let pd = create_mkey_in::MEMORY_KEY_MKEY_ENTRY.then(mkc::PD);
        let syndrome = |syndrome: Syndrome| (syndrome.status() as u64, u64::from(syndrome.code()));
        for (uid, number, expected) in [
            (1, 1, (0, 0)),
            (2, 1, syndrome(Syndrome::ForeignObject)),
            (1, 7, syndrome(Syndrome::NoSuchObject)),
            (1, 0, (0, 0)),
            (0, 1, (0, 0)),
        ] {
            let answer = driver.command(prm::MLX5_CMD_OP_CREATE_MKEY, uid, &[(pd, number)])?;
            assert_eq!(answer, expected, "uid {uid}, protection domain {number}");
        }
        Ok(())
    }

    #[test]
    fn a_general_object_has_the_type_it_was_made_with() -> io::Result<()> {
        let mut driver = Driver::new()?;
        let (object_type, id) = (general_obj_in_cmd_hdr::OBJ_TYPE, general_obj_in_cmd_hdr::OBJ_ID);
        let create = prm::MLX5_CMD_OP_CREATE_GENERAL_OBJECT;
        assert_eq!(driver.command(create, 3, &[(object_type, 5)])?, (0, 0));
        let destroy = prm::MLX5_CMD_OP_DESTROY_GENERAL_OBJECT;
        let other = driver.command(destroy, 3, &[(object_type, 6), (id, 1)])?;
        assert_eq!(other.1, u64::from(Syndrome::NoSuchObject.code()));
        assert_eq!(driver.command(destroy, 3, &[(object_type, 5), (id, 1)])?, (0, 0));
        Ok(())
    }

    #[test]
    fn a_fault_that_was_asked_for_strikes_as_often_as_asked() -> io::Result<()> {
        let mut driver = Driver::new()?;
        let fail = Question::Fail { opcode: "ALLOC_PD".into(), status: 8, times: 1 };
        driver.card.answer(fail).map_err(io::Error::other)?;
        let injected = Syndrome::Injected.code().into();
        assert_eq!(driver.command(prm::MLX5_CMD_OP_ALLOC_PD, 0, &[])?, (8, injected));
        assert_eq!(driver.command(prm::MLX5_CMD_OP_ALLOC_PD, 0, &[])?, (0, 0));
        Ok(())
    }

    #[test]
    fn the_command_that_makes_the_queue_of_events_raises_none() -> io::Result<()> {
        let mut driver = Driver::new()?;
        let page = 0x30_0000;
        let events = [
            (create_eq_in::EVENT_BITMASK, 1 << 0x0a),
            (create_eq_in::EQ_CONTEXT_ENTRY.then(eqc::LOG_EQ_SIZE), 6),
            (create_eq_in::PAS, page),
        ];
        let first = |driver: &Driver| {
            let mut eqe = [0; 64];
            driver.file.read_exact_at(&mut eqe, page).map(|()| (eqe[1], eqe[35]))
        };
        assert_eq!(driver.command(prm::MLX5_CMD_OP_CREATE_EQ, 0, &events)?, (0, 0));
        assert_eq!(first(&driver)?, (0, 0));
        assert_eq!(driver.command(prm::MLX5_CMD_OP_ALLOC_PD, 0, &[])?, (0, 0));
        assert_eq!(first(&driver)?, (0x0a, 1), "slot 0 is done");
        Ok(())
    }

    /// What a guest may do.
    #[derive(Clone, Debug)]
    enum Act {
        Command { input: Vec<u8>, room: u32 },
        Register { region: u32, offset: u64, bytes: Vec<u8> },
        Look { region: u32, offset: u64, length: usize },
        Frame(Vec<u8>),
        Reset,
    }

    /// Small numbers, which name objects, more often than others.
    fn number() -> impl Strategy<Value = u32> {
        prop_oneof![4 => 0..8_u32, 1 => any::<u32>(), 1 => Just(u32::MAX)]
    }

    fn command() -> impl Strategy<Value = Act> {
        let known: Vec<u16> = (0..=u16::MAX).filter(|&opcode| opcode_name(opcode).is_some()).collect();
        let opcode = prop_oneof![8 => proptest::sample::select(known), 1 => any::<u16>()];
        let uid = prop_oneof![4 => Just(0), 2 => 1..3_u16, 1 => Just(0xffff), 1 => any::<u16>()];
        let places = proptest::collection::vec((0..300_usize, number()), 0..24);
        let length = prop_oneof![6 => 500..1300_usize, 1 => 0..64_usize];
        let room = prop_oneof![6 => Just(4112_u32), 1 => 0..600_u32, 1 => any::<u32>()];
        (opcode, uid, 0..3_u16, places, length, room).prop_map(
            |(opcode, uid, op_mod, places, length, room)| {
                let mut input = vec![0; 1300];
                for (place, value) in places {
                    Field::new(place * 32, 32).set(&mut input, value.into());
                }
                for (field, value) in
                    [(command_in::OPCODE, opcode), (command_in::UID, uid), (command_in::OP_MOD, op_mod)]
                {
                    field.set(&mut input, value.into());
                }
                input.truncate(length);
                Act::Command { input, room }
            },
        )
    }

    fn act() -> impl Strategy<Value = Act> {
        let region = || prop_oneof![Just(REGION_BAR0), Just(REGION_CONFIG), any::<u32>()];
        let offset = || {
            prop_oneof![
                0x100_u64..0x4000,
                (0x10_u64..0x20, 0..0x1000_u64).prop_map(|(page, at)| page << 12 | at),
                Just(0x1_0020),
                Just(0x1_0800),
                any::<u64>()
            ]
        };
        let words = (number(), number()).prop_map(|(a, b)| [a.to_be_bytes(), b.to_be_bytes()].concat());
        let bytes = prop_oneof![words, proptest::collection::vec(any::<u8>(), 0..12)];
        prop_oneof![
            16 => command(),
            3 => (region(), offset(), bytes)
                .prop_map(|(region, offset, bytes)| Act::Register { region, offset, bytes }),
            1 => (region(), offset(), 0..16_usize)
                .prop_map(|(region, offset, length)| Act::Look { region, offset, length }),
            2 => proptest::collection::vec(any::<u8>(), 0..200).prop_map(Act::Frame),
            1 => Just(Act::Reset),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn nothing_that_a_guest_does_stops_the_card(acts in proptest::collection::vec(act(), 1..120)) {
            let mut driver = Driver::new()?;
            for act in acts {
                match act {
                    Act::Command { input, room } => drop(driver.send(&input, room)?),
                    Act::Register { region, offset, bytes } => {
                        driver.card.write(&driver.memory, region, offset, &bytes);
                    }
                    Act::Look { region, offset, length } => {
                        driver.card.read(region, offset, &mut vec![0; length]);
                    }
                    Act::Frame(frame) => {
                        driver.card.wire.inject(frame);
                        driver.card.receive(&driver.memory);
                    }
                    Act::Reset => {
                        driver.card.reset();
                        driver.card.write(&driver.memory, REGION_BAR0, 0x14, &0x1000_u32.to_be_bytes());
                    }
                }
            }
            let alive = driver.command(prm::MLX5_CMD_OP_NOP, 0, &[])?;
            prop_assert_eq!(alive, (0, 0));
        }
    }
}
