//! Questions about the card: one JSON object a line, one answer each.

use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::card::Card;
use crate::faults::Fault;

/// A longer question is none.
const LONGEST: usize = 1 << 20;

/// What can be asked, by its name in `do`.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase", deny_unknown_fields)]
pub(crate) enum Question {
    /// How often each command was executed.
    Counts,
    /// The objects that live.
    Objects,
    /// The flow tables with their entries.
    Tables,
    /// A line for the trace.
    Mark {
        /// What to write.
        text: String,
    },
    /// A frame is put on the wire.
    Inject {
        /// The frame in hexadecimal digits, without frame check sequence.
        frame: String,
    },
    /// The frames of the input file begin to come in.
    Start,
    /// The frames that the guest sent since this was last asked.
    Sent,
    /// The ways of frames since this was last asked.
    Hops,
    /// Frames skip the flow tables, or no longer.
    Bypass {
        /// Whether they do.
        on: bool,
    },
    /// Commands are to fail.
    Fail {
        /// Name of the command.
        opcode: String,
        /// Status to answer.
        status: u8,
        /// How many fail.
        #[serde(default = "once")]
        times: u64,
    },
}

fn once() -> u64 {
    1
}

/// One who asks.
#[derive(Debug)]
pub(crate) struct Client {
    stream: UnixStream,
    pending: Vec<u8>,
    open: bool,
}

impl Client {
    pub(crate) const fn new(stream: UnixStream) -> Self {
        Self { stream, pending: Vec::new(), open: true }
    }

    /// Whether the connection still stands.
    pub(crate) const fn is_open(&self) -> bool {
        self.open
    }

    /// Reads what has come and answers the lines that are complete.
    pub(crate) fn serve(&mut self, card: &mut Card) {
        let mut bytes = [0; 4096];
        match self.stream.read(&mut bytes) {
            Ok(0) => self.open = false,
            Ok(read) => self.pending.extend_from_slice(&bytes[..read]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => self.open = false,
        }
        while let Some(end) = self.pending.iter().position(|&byte| byte == b'\n') {
            let line: Vec<u8> = self.pending.drain(..=end).collect();
            let mut answer = answer(&line, card).to_string();
            answer.push('\n');
            self.open &= self.stream.write_all(answer.as_bytes()).is_ok();
        }
        self.open &= self.pending.len() <= LONGEST;
    }
}

impl AsFd for Client {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

fn answer(line: &[u8], card: &mut Card) -> Value {
    let answer = serde_json::from_slice(line).map_err(|error| error.to_string());
    match answer.and_then(|question| card.answer(question)) {
        Ok(mut answer) => {
            answer["ok"] = json!(true);
            answer
        }
        Err(error) => json!({ "ok": false, "error": error }),
    }
}

impl Question {
    /// The fault that a question asks for.
    pub(crate) fn fault(opcode: &str, status: u8, times: u64) -> Result<Fault, String> {
        let fault: Fault = format!("{opcode}={status}").parse().map_err(|error| format!("{error}"))?;
        Ok(Fault { times, ..fault })
    }
}
