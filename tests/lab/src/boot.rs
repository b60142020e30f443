//! One run: a program in a guest with the card, from the first byte of the initramfs to the last word of the card.

use std::{
    fs::File,
    io::{self, Write},
    os::unix::net::{UnixListener, UnixStream},
    path::{Path, PathBuf},
    sync::mpsc::{self, Receiver, RecvTimeoutError, Sender},
    thread,
    time::{Duration, Instant},
};

use lab_guest::{Job, ToGuest, ToHost, channel};
use nix::sys::signal::Signal;

use crate::{
    card::{Card, Profile},
    console::Watch,
    error::{Error, Result},
    fetch::{Kernel, Qemu, Store},
    guest_files::{self, GuestFiles},
    machine::{Machine, Parts},
    options::MachineOptions,
    signals, vmlinux,
    wire::{self, ReadyLine},
};

/// How long a guest that is lost may go on telling why.
const LAST_WORDS: Duration = Duration::from_secs(3);
/// How long the guest may take from the program's exit status to its power-off.
const POWER_OFF: Duration = Duration::from_secs(20);

/// Enough for one program, even on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_mins(2);

/// What every run of a command has in common.
pub(crate) struct Lab<'a> {
    pub(crate) store: &'a Store,
    pub(crate) qemu: Qemu,
    pub(crate) options: &'a MachineOptions,
    /// How long a guest may take, unless the user says otherwise.
    pub(crate) patience: Duration,
    /// The guest's init.
    pub(crate) init: Vec<u8>,
}

/// A program for the guest.
pub(crate) struct Task<'a> {
    pub(crate) job: &'a Job,
    /// The program and other files: their path in the guest, and their content.
    pub(crate) files: &'a [(String, Vec<u8>)],
    /// A folder of the host that becomes the guest's root.
    pub(crate) root: Option<&'a Path>,
}

/// Where a byte of the program's output came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    Stdout,
    Stderr,
}

/// How the program ended.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// Its exit code, or 128 + signal.
    pub(crate) code: u8,
    /// The files the job asked for.
    pub(crate) files: Vec<(String, Vec<u8>)>,
}

/// What a run waits for.
enum Event {
    /// QEMU took up the channel.
    Connected(UnixStream),
    Guest(ToHost),
    /// The channel closed, or carried what is no message.
    GuestEnd(Option<io::Error>),
    Console(String),
    /// The machine is off.
    ConsoleEnd,
    Signal(i32),
    /// The way of the capture file's last frame has ended.
    WireEnd(io::Result<()>),
}

impl Lab<'_> {
    /// Boots, runs the program, and hands its output to `sink` as it comes.
    pub(crate) fn run(
        &self,
        kernel: &Kernel,
        profile: Profile,
        task: &Task,
        sink: &mut dyn FnMut(Stream, &[u8]),
    ) -> Result<Outcome> {
        let folder = tempfile::Builder::new()
            .prefix("uverbs-lab.")
            .tempdir()
            .map_err(Error::system("make a temporary folder"))?;
        let path = |name: &str| folder.path().join(name);
        let (initramfs, card_socket, control, channel) =
            (path("initramfs"), path("card"), path("control"), path("channel"));
        let started = Instant::now();
        let image = vmlinux::bootable(self.store, kernel)?;
        let files = GuestFiles { init: &self.init, job: task.job, files: task.files, root: task.root };
        guest_files::write(&initramfs, self.store, kernel, &files)?;

        let (events, inbox) = mpsc::channel();
        let listener = UnixListener::bind(&channel).map_err(Error::file("cannot listen at", &channel))?;
        let card = Card::start(card_socket.clone(), control.clone(), profile, &self.options.card)?;
        let parts = Parts {
            kernel: &image,
            initramfs: &initramfs,
            card: &card_socket,
            control: &control,
            channel: &channel,
            processors: self.options.cpus,
        };
        let mut machine = Machine::start(self.qemu.command(), &parts).map_err(Error::system("start QEMU"))?;
        let wire = self.options.card.wire_in.is_some().then(|| (control.clone(), events.clone()));
        let console = events.clone();
        machine.watch_console(move |line| drop(console.send(line.map_or(Event::ConsoleEnd, Event::Console))));
        let to_guest = events.clone();
        thread::spawn(move || listen(&listener, &to_guest));
        let _signals = signals::Listener::start(move |signal| drop(events.send(Event::Signal(signal))))
            .map_err(Error::system("catch signals"))?;

        let mut run =
            Run::new(self.options, self.options.timeout.unwrap_or(self.patience), sink, started, wire)?;
        let result = run.until_power_off(&inbox);
        if result.is_ok() {
            machine.wait().map_err(Error::system("wait for QEMU"))?;
        }
        run.say("powered off");
        let (how, qemu) = machine.stop().map_err(Error::system("stop QEMU"))?;
        let leaks = card.finish();
        let outcome = run.judge(result, how, qemu)?;
        let leaks = leaks?;
        if !leaks.is_empty() && !self.options.allow_leaks {
            return Err(Error::Leaks(leaks.join("\n")));
        }
        if let (0, Some(name)) = (
            outcome.code,
            task.job.outputs.iter().find(|name| outcome.files.iter().all(|(file, _)| file != *name)),
        ) {
            return Err(Error::NoOutput(name.clone()));
        }
        Ok(outcome)
    }
}

/// Waits for QEMU, then passes on what the guest says.
fn listen(listener: &UnixListener, events: &Sender<Event>) {
    let end = listener.accept().and_then(|(mut stream, _)| {
        let _run_is_over = events.send(Event::Connected(stream.try_clone()?));
        while let Some(message) = channel::receive(&mut stream)? {
            let _run_is_over = events.send(Event::Guest(message));
        }
        Ok(())
    });
    let _run_is_over = events.send(Event::GuestEnd(end.err()));
}

/// The state of a run while the machine is on.
struct Run<'a> {
    options: &'a MachineOptions,
    limit: Duration,
    sink: &'a mut dyn FnMut(Stream, &[u8]),
    started: Instant,
    watch: Watch,
    console_copy: Option<File>,
    /// The way to the guest's init.
    guest: Option<UnixStream>,
    /// The program has started.
    ready: bool,
    ready_line: ReadyLine,
    /// Where the card is told to let frames in, until it has been told.
    wire: Option<(PathBuf, Sender<Event>)>,
    signals: usize,
    code: Option<u8>,
    files: Vec<(String, Vec<u8>)>,
    /// Init's last words, if it failed.
    failure: Option<(String, String)>,
    console_ended: bool,
    guest_ended: bool,
}

impl<'a> Run<'a> {
    fn new(
        options: &'a MachineOptions,
        limit: Duration,
        sink: &'a mut dyn FnMut(Stream, &[u8]),
        started: Instant,
        wire: Option<(PathBuf, Sender<Event>)>,
    ) -> Result<Self> {
        let console_copy = match &options.console {
            Some(path) => Some(File::create(path).map_err(Error::file("cannot write", path))?),
            None => None,
        };
        Ok(Self {
            options,
            limit,
            sink,
            started,
            watch: Watch::new(options.allow_console.clone()),
            console_copy,
            guest: None,
            ready: false,
            ready_line: ReadyLine::default(),
            wire,
            signals: 0,
            code: None,
            files: Vec::new(),
            failure: None,
            console_ended: false,
            guest_ended: false,
        })
    }

    /// Takes events until the machine is off, or is not worth waiting for.
    fn until_power_off(&mut self, inbox: &Receiver<Event>) -> Result<()> {
        let mut deadline = self.started + self.limit;
        while !(self.console_ended && (self.guest_ended || self.guest.is_none())) {
            let event = match inbox.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(event) => event,
                // The console has said more than a time-out would.
                Err(_) if self.is_lost() => return Ok(()),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    return Err(self.time_out());
                }
            };
            let (was_lost, had_ended) = (self.is_lost(), self.has_ended());
            self.take(event)?;
            if !was_lost && self.is_lost() {
                deadline = deadline.min(Instant::now() + LAST_WORDS);
            } else if !had_ended && self.has_ended() {
                deadline = Instant::now() + POWER_OFF;
            }
        }
        Ok(())
    }

    fn take(&mut self, event: Event) -> Result<()> {
        match event {
            Event::Connected(stream) => self.guest = Some(stream),
            Event::Guest(message) => self.message(message),
            Event::GuestEnd(error) => {
                self.guest_ended = true;
                if let Some(error) = error {
                    self.failure.get_or_insert((format!("its channel broke: {error}"), String::new()));
                }
            }
            Event::Console(line) => {
                if let Some(copy) = &mut self.console_copy {
                    writeln!(copy, "{line}").map_err(Error::system("write the console's copy"))?;
                }
                self.watch.line(&line);
            }
            Event::ConsoleEnd => self.console_ended = true,
            Event::Signal(signal) => return self.signal(signal),
            Event::WireEnd(result) => {
                result.map_err(Error::system("let frames in"))?;
                if self.options.card.wire_then_stop {
                    self.pass_signal(Signal::SIGTERM as i32)?;
                }
            }
        }
        Ok(())
    }

    fn message(&mut self, message: ToHost) {
        match message {
            ToHost::Ready { uptime } => {
                self.ready = true;
                self.say(&format!(
                    "the program starts, {:.1} s after the kernel's clock did",
                    uptime.as_secs_f32()
                ));
            }
            ToHost::Stdout(bytes) => {
                (self.sink)(Stream::Stdout, &bytes);
                if self.ready_line.take(&bytes) {
                    self.let_frames_in();
                }
            }
            ToHost::Stderr(bytes) => (self.sink)(Stream::Stderr, &bytes),
            ToHost::File { name, bytes } => self.files.push((name, bytes)),
            ToHost::Exit { code } => {
                self.code = Some(code);
                self.say(&format!("the program ended with {code}"));
            }
            ToHost::Failed { reason, kernel_log } => self.failure = Some((reason, kernel_log)),
        }
    }

    /// Starts the capture file, if there is one.
    fn let_frames_in(&mut self) {
        if let Some((control, events)) = self.wire.take() {
            thread::spawn(move || drop(events.send(Event::WireEnd(wire::play(&control)))));
        }
    }

    /// The first signals are the program's, if it runs; who insists means the lab.
    fn signal(&mut self, signal: i32) -> Result<()> {
        self.signals += 1;
        if self.ready && self.signals < 3 {
            self.pass_signal(signal)
        } else {
            Err(Error::Interrupted(signal))
        }
    }

    fn pass_signal(&mut self, signal: i32) -> Result<()> {
        match &mut self.guest {
            Some(guest) if self.code.is_none() => channel::send(guest, &ToGuest::Signal(signal))
                .map_err(Error::system("pass a signal to the guest")),
            _ => Ok(()),
        }
    }

    fn is_lost(&self) -> bool {
        self.watch.trouble().is_some_and(|trouble| trouble.fatal)
    }

    fn has_ended(&self) -> bool {
        self.code.is_some() || self.failure.is_some() || self.console_ended
    }

    fn time_out(&self) -> Error {
        let (stage, limit) = match (self.has_ended(), self.ready) {
            (true, _) => ("the guest's power-off", POWER_OFF),
            (false, true) => ("the program", self.limit),
            (false, false) => ("the guest's boot", self.limit),
        };
        Error::TimeOut { stage, limit, console: self.watch.tail() }
    }

    fn say(&self, what: &str) {
        if self.options.verbose {
            eprintln!("lab: {:4.1} s: {what}", self.started.elapsed().as_secs_f32());
        }
    }

    /// What the run came to: the deepest cause that is known.
    fn judge(self, result: Result<()>, how: String, qemu: String) -> Result<Outcome> {
        if let Some(trouble) = self.watch.trouble() {
            return Err(Error::Kernel { line: trouble.line.clone(), console: self.watch.tail() });
        }
        if let Some((reason, kernel_log)) = self.failure {
            return Err(Error::Guest { reason, kernel_log });
        }
        result?;
        match self.code {
            Some(code) => Ok(Outcome { code, files: self.files }),
            None => Err(Error::NoExit { how, console: self.watch.tail(), qemu }),
        }
    }
}
