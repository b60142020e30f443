//! The wire: where frames come from and go to, and the record of their ways.
//!
//! Frames come from the control socket, from a peer on a Unix datagram socket (one datagram is one frame) and from a
//! capture file. Frames that the guest sends go to the peer, to a capture file and to whoever asks the control socket.
//! No frame has a frame check sequence; short ones are padded to 60 bytes.

mod capture;
mod record;

use crate::packet::pad;
use crate::steering::way::Way;
use capture::{Input, Output};
use record::Record;
use rustix::event::{EventfdFlags, epoll, eventfd};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::{Path, PathBuf};

/// The longest frame that a peer can send.
const LONGEST: usize = 1 << 16;
/// Frames kept for whoever asks what was sent.
const KEPT_FRAMES: usize = 4096;
/// Ways kept for whoever asks for them.
const KEPT_WAYS: usize = 1 << 15;
/// How long the capture file waits before it asks again whether the card has room.
const PAUSE: Timespec = Timespec { tv_sec: 0, tv_nsec: 1_000_000 };
/// Not at all.
const NEVER: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };
/// So often it asks; then the frame comes in all the same.
const PATIENCE: u32 = 200;

/// What the wire is connected to.
#[derive(Clone, Debug, Default)]
pub struct WireConfig {
    /// Our end of a datagram socket.
    pub socket: Option<PathBuf>,
    /// The peer's end; without it frames go to whoever sent last.
    pub peer: Option<PathBuf>,
    /// A capture file (pcap or pcapng) whose frames come in, once told to start.
    pub input: Option<PathBuf>,
    /// A capture file (pcap) for the frames that the guest sends.
    pub output: Option<PathBuf>,
    /// A file for the ways of all frames: one JSON array.
    pub trace: Option<PathBuf>,
    /// Start with the input file at once.
    pub at_once: bool,
}

/// A frame that came in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incoming {
    /// The frame.
    pub bytes: Vec<u8>,
    /// Its number in the input file, from 1, if it came from there.
    pub input: Option<u64>,
}

/// The wire.
#[derive(Debug)]
pub struct Wire {
    /// Readable while one of the others is.
    poll: OwnedFd,
    /// Readable while there are frames that are not in the socket.
    wake: OwnedFd,
    timer: OwnedFd,
    socket: Option<UnixDatagram>,
    /// The path of our end, to be removed at the end.
    bound: Option<PathBuf>,
    peer: Option<PathBuf>,
    last_sender: Option<SocketAddr>,
    injected: VecDeque<Vec<u8>>,
    input: Input,
    started: bool,
    waited: u32,
    output: Option<Output>,
    record: Option<Record>,
    sent: VecDeque<Vec<u8>>,
    ways: VecDeque<Way>,
    received_count: u64,
    sent_count: u64,
}

impl Wire {
    /// Opens files and sockets.
    ///
    /// # Errors
    /// If one cannot be opened, or the input is no capture of Ethernet frames.
    pub fn open(config: &WireConfig) -> io::Result<Self> {
        let poll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let timer =
            timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK)?;
        let socket = config.socket.as_deref().map(bind).transpose()?;
        let sources = [wake.as_fd(), timer.as_fd()].into_iter().chain(socket.as_ref().map(AsFd::as_fd));
        for source in sources {
            epoll::add(&poll, source, epoll::EventData::new_u64(0), epoll::EventFlags::IN)?;
        }
        let mut wire = Self {
            poll,
            wake,
            timer,
            socket,
            bound: config.socket.clone(),
            peer: config.peer.clone(),
            last_sender: None,
            injected: VecDeque::new(),
            input: config.input.as_deref().map(Input::open).transpose()?.unwrap_or_default(),
            started: false,
            waited: 0,
            output: config.output.as_deref().map(Output::create).transpose()?,
            record: config.trace.as_deref().map(Record::create).transpose()?,
            sent: VecDeque::new(),
            ways: VecDeque::new(),
            received_count: 0,
            sent_count: 0,
        };
        if config.at_once {
            wire.start();
        }
        Ok(wire)
    }

    /// Starts with the frames of the input file.
    pub fn start(&mut self) {
        self.started = true;
        self.wake();
    }

    /// Whether every frame of the input file has come in: from the first on, if there are none.
    #[must_use]
    pub fn input_done(&self) -> bool {
        self.input.is_empty()
    }

    /// Puts a frame on the wire.
    pub fn inject(&mut self, frame: Vec<u8>) {
        self.injected.push_back(frame);
        self.wake();
    }

    /// The next frame that comes in, or nothing for now. Frames of the input file wait while there is no `room`, a
    /// while: the card would send pause frames.
    pub fn receive(&mut self, room: impl FnOnce() -> bool) -> Option<Incoming> {
        let mut incoming = self.next(room)?;
        pad(&mut incoming.bytes);
        self.received_count += 1;
        Some(incoming)
    }

    fn next(&mut self, room: impl FnOnce() -> bool) -> Option<Incoming> {
        if let Some(bytes) = self.injected.pop_front() {
            return Some(Incoming { bytes, input: None });
        }
        if let Some(bytes) = self.next_datagram() {
            return Some(Incoming { bytes, input: None });
        }
        if !self.started || self.input.is_empty() {
            self.sleep(NEVER);
            return None;
        }
        if self.waited < PATIENCE && !room() {
            self.waited += 1;
            self.sleep(PAUSE);
            return None;
        }
        self.waited = 0;
        self.input.next().map(|(number, bytes)| Incoming { bytes, input: Some(number) })
    }

    fn next_datagram(&mut self) -> Option<Vec<u8>> {
        let mut buffer = vec![0; LONGEST];
        let (length, sender) = self.socket.as_ref()?.recv_from(&mut buffer).ok()?;
        if !sender.is_unnamed() {
            self.last_sender = Some(sender);
        }
        buffer.truncate(length);
        Some(buffer)
    }

    /// Sends a frame of the guest, and gives its length on the wire. A peer that is not there or does not keep up
    /// loses it.
    pub fn send(&mut self, mut frame: Vec<u8>) -> usize {
        pad(&mut frame);
        let length = frame.len();
        if let Some(socket) = &self.socket {
            let _lost = match (&self.peer, &self.last_sender) {
                (Some(path), _) => socket.send_to(&frame, path),
                (None, Some(address)) => socket.send_to_addr(&frame, address),
                (None, None) => Ok(0),
            };
        }
        if let Some(output) = &mut self.output {
            output.write(&frame);
        }
        keep(&mut self.sent, frame, KEPT_FRAMES);
        length
    }

    /// The number of the frame that came in last, from 1.
    #[must_use]
    pub fn received(&self) -> u64 {
        self.received_count
    }

    /// A number for the next frame that the guest sends, from 1, whether it gets as far as the wire or not.
    pub fn next_sent(&mut self) -> u64 {
        self.sent_count += 1;
        self.sent_count
    }

    /// Records the way of a frame.
    pub fn record(&mut self, way: Way) {
        if let Some(record) = &mut self.record {
            record.write(&way);
        }
        keep(&mut self.ways, way, KEPT_WAYS);
    }

    /// The frames that the guest sent since the last call, the newest few thousand of them.
    pub fn take_sent(&mut self) -> Vec<Vec<u8>> {
        self.sent.drain(..).collect()
    }

    /// The ways of frames since the last call, the newest few thousand of them.
    pub fn take_ways(&mut self) -> Vec<Way> {
        self.ways.drain(..).collect()
    }

    /// What went wrong with a file since the wire was opened: a capture or trace that is not complete.
    #[must_use]
    pub fn file_error(&self) -> Option<&io::Error> {
        self.output.as_ref().and_then(Output::error).or(self.record.as_ref().and_then(Record::error))
    }

    fn wake(&self) {
        // A counter that is full is not zero: awake already.
        let _awake = rustix::io::write(&self.wake, &1u64.to_ne_bytes());
    }

    /// Nothing to do until somebody calls, or for some time.
    fn sleep(&self, time: Timespec) {
        let _asleep = rustix::io::read(&self.wake, &mut [0; 8]);
        let once = Itimerspec { it_interval: NEVER, it_value: time };
        if timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &once).is_err() {
            // Without a timer, ask again at once rather than never.
            self.wake();
        }
    }
}

impl AsFd for Wire {
    /// Readable while there is something to receive.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.poll.as_fd()
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        if let Some(path) = &self.bound {
            // It may be gone already.
            let _gone = std::fs::remove_file(path);
        }
    }
}

fn bind(path: &Path) -> io::Result<UnixDatagram> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let socket = UnixDatagram::bind(path)?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// Appends to a queue that forgets its oldest.
fn keep<T>(queue: &mut VecDeque<T>, new: T, most: usize) {
    if queue.len() == most {
        queue.pop_front();
    }
    queue.push_back(new);
}

#[cfg(test)]
mod tests;
