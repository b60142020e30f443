//! One run: a program in a guest with the card, from the first byte of the initramfs to the last word of the card.

use std::{
    os::unix::net::UnixListener,
    path::Path,
    sync::{
        Mutex, PoisonError,
        mpsc::{self, Sender},
    },
    thread,
    time::{Duration, Instant},
};

use lab_guest::{Job, channel};

use crate::{
    card::{Card, Profile},
    error::{Error, Result},
    fetch::{Kernel, Qemu, Store},
    guest_files::{self, GuestFiles},
    machine::{Machine, Parts},
    options::MachineOptions,
    payload::{self, Payload},
    run::{Event, Outcome, Run, Stream},
    signals, vmlinux,
};

/// Enough for one program, even on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_mins(2);

/// What every run of a command has in common.
pub(crate) struct Lab<'a> {
    store: &'a Store,
    qemu: Qemu,
    options: &'a MachineOptions,
    /// How long a guest may take, unless the user says otherwise.
    patience: Duration,
    /// The guest's init.
    init: Vec<u8>,
    /// Held while a guest is made ready: what is made once for all runs is not made by two of them at a time.
    making_ready: Mutex<()>,
}

/// A program for the guest.
pub(crate) struct Task<'a> {
    pub(crate) job: &'a Job,
    /// The program and other files: their path in the guest, and their content.
    pub(crate) files: &'a [(String, Vec<u8>)],
    /// A folder of the host that becomes the guest's root.
    pub(crate) root: Option<&'a Path>,
}

impl<'a> Lab<'a> {
    /// With the QEMU that the user wants, and an init built just now.
    pub(crate) fn new(store: &'a Store, options: &'a MachineOptions, patience: Duration) -> Result<Self> {
        let init = payload::build(Payload::Init)?;
        Ok(Self { store, qemu: options.qemu(store)?, options, patience, init, making_ready: Mutex::new(()) })
    }

    /// The machine that is booted.
    pub(crate) const fn machine(&self) -> &MachineOptions {
        self.options
    }

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
        let (initramfs, control, channel) = (path("initramfs"), path("control"), path("channel"));
        let card_sockets: Vec<_> =
            (0..self.options.cards).map(|number| path(&format!("card{number}"))).collect();
        let started = Instant::now();
        let image = {
            let _one_at_a_time = self.making_ready.lock().unwrap_or_else(PoisonError::into_inner);
            let files = GuestFiles { init: &self.init, job: task.job, files: task.files, root: task.root };
            guest_files::write(&initramfs, self.store, kernel, &files)?;
            vmlinux::bootable(self.store, kernel)?
        };

        let (events, inbox) = mpsc::channel();
        let listener = UnixListener::bind(&channel).map_err(Error::file("cannot listen at", &channel))?;
        let cards = (0..)
            .zip(&card_sockets)
            .map(|(number, socket)| Card::start(number, socket, &control, profile, &self.options.card))
            .collect::<Result<Vec<_>>>()?;
        let parts = Parts {
            kernel: &image,
            initramfs: &initramfs,
            cards: &card_sockets,
            control: &control,
            channel: &channel,
            processors: self.options.cpus,
            icount: self.options.icount,
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
        if run.is_off() {
            machine.wait().map_err(Error::system("wait for QEMU"))?;
        }
        run.say("powered off");
        let (how, qemu) = machine.stop().map_err(Error::system("stop QEMU"))?;
        // A card that failed is why the guest failed.
        let mut leaks = Vec::new();
        for card in cards {
            leaks.extend(card.finish()?);
        }
        let outcome = run.judge(result, how, qemu)?;
        if !leaks.is_empty() && !self.options.allow_leaks {
            return Err(Error::Leaks(leaks.join("\n")));
        }
        let missing =
            task.job.outputs.iter().find(|name| outcome.files.iter().all(|(file, _)| file != *name));
        match missing {
            Some(name) if outcome.code == 0 => Err(Error::NoOutput(name.clone())),
            _ => Ok(outcome),
        }
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
