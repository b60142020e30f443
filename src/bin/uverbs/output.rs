//! The standard output: text for people, or JSON Lines for scripts.

use std::fmt;
use std::io::{self, Write};

use crate::event::Event;

/// Where the results of a command go.
pub(crate) struct Output {
    json: bool,
    stream: io::Stdout,
}

impl Output {
    pub(crate) fn stdout(json: bool) -> Self {
        Self { json, stream: io::stdout() }
    }

    /// Whether the caller asked for JSON Lines.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Prints one JSON line, so that a waiting script sees it now.
    pub(crate) fn json(&mut self, event: &Event) -> io::Result<()> {
        let mut line = serde_json::to_vec(event)?;
        line.push(b'\n');
        self.stream.write_all(&line)?;
        self.stream.flush()
    }

    /// Prints the line for scripts, or `text` for people.
    pub(crate) fn print(&mut self, event: &Event, text: impl fmt::Display) -> io::Result<()> {
        if self.json { self.json(event) } else { self.text(text) }
    }

    /// Prints text as it is.
    pub(crate) fn text(&mut self, text: impl fmt::Display) -> io::Result<()> {
        write!(self.stream, "{text}")?;
        self.stream.flush()
    }
}
