//! The course of a run while the machine is on: what happens in it, how long to wait, and what it came to.

use std::{
    fs::File,
    io::{self, Write},
    os::unix::net::UnixStream,
    path::PathBuf,
    sync::mpsc::{Receiver, Sender},
    thread,
    time::{Duration, Instant},
};

use lab_guest::{ToGuest, ToHost, channel};
use nix::sys::signal::Signal;

use crate::{
    console::Watch,
    error::{Error, Result},
    options::MachineOptions,
    wire::{self, ReadyLine},
};

/// How long a guest that is lost may go on telling why.
const LAST_WORDS: Duration = Duration::from_secs(3);
/// How long the guest may take from the program's exit status to its power-off.
const POWER_OFF: Duration = Duration::from_secs(20);

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
pub(crate) enum Event {
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

/// The state of a run while the machine is on.
pub(crate) struct Run<'a> {
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
    pub(crate) fn new(
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
    pub(crate) fn until_power_off(&mut self, inbox: &Receiver<Event>) -> Result<()> {
        let mut deadline = self.started + self.limit;
        while !(self.console_ended && (self.guest_ended || self.guest.is_none())) {
            let event = match inbox.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(event) => event,
                // The console has said more than a time-out would.
                Err(_) if self.is_lost() => return Ok(()),
                Err(_) => {
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

    /// Whether the machine ended by itself.
    pub(crate) fn is_off(&self) -> bool {
        self.console_ended
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

    pub(crate) fn say(&self, what: &str) {
        if self.options.verbose {
            eprintln!("lab: {:4.1} s: {what}", self.started.elapsed().as_secs_f32());
        }
    }

    /// What the run came to: the deepest cause that is known.
    pub(crate) fn judge(self, result: Result<()>, how: String, qemu: String) -> Result<Outcome> {
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

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        machine: MachineOptions,
    }

    const SHORT: Duration = Duration::from_millis(50);

    fn exit(code: u8) -> Event {
        Event::Guest(ToHost::Exit { code })
    }

    fn ready() -> Event {
        Event::Guest(ToHost::Ready { uptime: Duration::from_secs(4) })
    }

    fn console(line: &str) -> Event {
        Event::Console(line.to_owned())
    }

    /// A run with these events, after which nothing more happens: what it came to, and what the program printed.
    fn come_to(arguments: &[&str], events: Vec<Event>) -> (Result<Outcome>, String) {
        let options = Line::parse_from([&["lab"], arguments].concat()).machine;
        let mut printed = Vec::new();
        let mut sink = |_: Stream, bytes: &[u8]| printed.extend_from_slice(bytes);
        let (sender, inbox) = mpsc::channel();
        for event in events {
            sender.send(event).unwrap();
        }
        let mut run = Run::new(&options, SHORT, &mut sink, Instant::now(), None).unwrap();
        let result = run.until_power_off(&inbox);
        let outcome = run.judge(result, "switched off".to_owned(), String::new());
        (outcome, String::from_utf8(printed).unwrap())
    }

    #[test]
    fn the_program_s_output_files_and_exit_code_come_through() {
        let file = ToHost::File { name: "result".to_owned(), bytes: vec![1, 2] };
        let (outcome, printed) = come_to(
            &[],
            vec![
                ready(),
                Event::Guest(ToHost::Stdout(b"one\n".to_vec())),
                Event::Guest(ToHost::Stderr(b"two\n".to_vec())),
                Event::Guest(file),
                exit(7),
                Event::ConsoleEnd,
            ],
        );
        let outcome = outcome.unwrap();
        assert_eq!((outcome.code, printed.as_str()), (7, "one\ntwo\n"));
        assert_eq!(outcome.files, [("result".to_owned(), vec![1, 2])]);
    }

    #[test]
    fn every_bad_end_is_told_from_the_others() {
        let panic = "Kernel panic - not syncing: Attempted to kill init!";
        let warning = "WARNING: CPU: 0 PID: 1 at drivers/infiniband/core/device.c:1390 ib_register_device";
        let failed =
            || Event::Guest(ToHost::Failed { reason: "no driver".to_owned(), kernel_log: "log".to_owned() });
        let broken = || Event::GuestEnd(Some(io::Error::other("no message")));
        let cases: [(&str, Vec<Event>, &str); 8] = [
            ("boot", vec![console("booting")], "the guest's boot took longer"),
            ("program", vec![ready()], "the program took longer"),
            ("no exit status", vec![ready(), Event::ConsoleEnd], "without the program's exit status"),
            ("init", vec![failed(), Event::ConsoleEnd], "no driver"),
            ("channel", vec![ready(), broken(), Event::ConsoleEnd], "its channel broke: no message"),
            ("panic", vec![ready(), console(panic), Event::ConsoleEnd], panic),
            ("panic that hangs", vec![ready(), console(panic)], panic),
            ("warning", vec![console(warning), ready(), exit(0), Event::ConsoleEnd], warning),
        ];
        for (what, events, expected) in cases {
            let error = come_to(&[], events).0.unwrap_err();
            assert!(error.to_string().contains(expected), "{what}: {error}");
            assert_eq!(error.exit_code(), 125, "{what}");
        }
    }

    #[test]
    fn an_allowed_warning_fails_nothing() {
        let events =
            || vec![console("WARNING: CPU: 0 PID: 1 at a/b.c:1 f"), ready(), exit(0), Event::ConsoleEnd];
        assert_eq!(come_to(&["--allow-console", "a/b.c:1"], events()).0.unwrap().code, 0);
        assert!(come_to(&["--allow-console", "a/b.c:2"], events()).0.is_err());
    }

    #[test]
    fn signals_are_the_program_s_until_somebody_insists() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let mut guest = theirs;
        let events =
            vec![Event::Connected(ours), ready(), Event::Signal(2), Event::Signal(15), Event::Signal(2)];
        let error = come_to(&[], events).0.unwrap_err();
        assert!(matches!(error, Error::Interrupted(2)), "{error}");
        for expected in [2, 15] {
            assert_eq!(channel::receive(&mut guest).unwrap(), Some(ToGuest::Signal(expected)));
        }
        assert_eq!(channel::receive::<ToGuest>(&mut guest).unwrap(), None);
    }

    #[test]
    fn before_the_program_runs_a_signal_is_the_lab_s() {
        assert!(matches!(come_to(&[], vec![Event::Signal(15)]).0, Err(Error::Interrupted(15))));
    }

    #[test]
    fn the_last_frame_stops_the_program_only_on_request() {
        let arguments = ["--wire-in", "frames.pcap", "--wire-then-stop"];
        for (arguments, expected) in [(&arguments[..], Some(ToGuest::Signal(15))), (&arguments[..2], None)] {
            let (ours, mut guest) = UnixStream::pair().unwrap();
            let events = vec![
                Event::Connected(ours),
                ready(),
                Event::WireEnd(Ok(())),
                exit(0),
                Event::GuestEnd(None),
                Event::ConsoleEnd,
            ];
            assert_eq!(come_to(arguments, events).0.unwrap().code, 0);
            assert_eq!(channel::receive(&mut guest).unwrap(), expected);
        }
    }
}
