//! The card: registers, commands, packets, put together.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use serde_json::{Value, json};

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
use crate::family::function::Function;
use crate::family::port::Port;
use crate::family::queue_pair::QueuePairs;
use crate::family::{devx, eswitch, plain};
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
    config: pci::Config,
    bar: Bar,
    lengths: Lengths,
    capabilities: Capabilities,
    function: Function,
    port: Port,
    queue_pairs: QueuePairs,
    objects: Objects,
    eqs: EventQueues,
    steering: Steering,
    queues: Queues,
    wire: Wire,
    bypass: bool,
    faults: Vec<Fault>,
    counts: BTreeMap<String, u64>,
    report: Report,
    trace: Trace,
}

impl Card {
    /// A card as after power-on.
    pub(crate) fn new(config: &Config) -> io::Result<Self> {
        let mut capabilities = config.profile.capabilities();
        for (name, value) in &config.capabilities {
            capabilities.set(name, *value).map_err(|why| io::Error::new(io::ErrorKind::InvalidInput, why))?;
        }
        let limits = Limits::from_capabilities(|area| capabilities.area(area, false));
        Ok(Self {
            config: pci::Config::new(config.profile.device_id()),
            bar: Bar::new(),
            lengths: Lengths::new(),
            function: Function::default(),
            port: Port::default(),
            queue_pairs: QueuePairs::default(),
            objects: Objects::default(),
            eqs: EventQueues::new(pci::VECTORS.into()),
            steering: Steering::new(limits),
            queues: Queues::default(),
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
        if let Some(answer) = self.steering.command(request, reply, &mut self.objects) {
            return answer;
        }
        if let Some(answer) = self.queues.command(request, reply, &mut self.objects) {
            return answer;
        }
        if let Some(answer) = self.eqs.command(request, reply, &mut self.objects) {
            return answer;
        }
        if let Some(answer) = plain::command(request, reply, &mut self.objects) {
            return answer;
        }
        if let Some(answer) = self.queue_pairs.command(request, reply, &self.objects) {
            return answer;
        }
        if let Some(done) = devx::command(request, reply, &mut self.objects) {
            self.leaked("user context destroyed", done.left);
            return done.answer;
        }
        if let Some(answer) = eswitch::command(request) {
            return answer;
        }
        if let Some((answer, changed)) = self.port.command(request, reply) {
            if changed {
                let sub_type = if self.port.is_up() { PORT_UP } else { PORT_DOWN };
                self.eqs.notify(memory, PORT_CHANGE, sub_type, &PORT_CHANGE_DATA);
            }
            return answer;
        }
        if let Some(answer) = self.function.command(request, reply, &mut self.capabilities) {
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
            steering: &mut self.steering,
            queues: &mut self.queues,
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
                Ok(json!({ "tables": self.steering.tables(), "roots": self.steering.roots() }))
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
        self.report.pages = self.function.pages();
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
        self.function = Function::default();
        self.port = Port::default();
        self.queue_pairs = QueuePairs::default();
        self.eqs.reset();
        self.queues = Queues::default();
        self.steering = Steering::new(Limits::from_capabilities(|area| self.capabilities.area(area, false)));
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
    if digits.len() % 2 != 0 || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}
