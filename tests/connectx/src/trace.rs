//! The trace: each command on one line, with what it did and why it was refused.

use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use crate::command::{Answer, Request};

/// Where the trace goes, if anywhere.
#[derive(Debug)]
pub(crate) struct Trace {
    file: Option<BufWriter<File>>,
    begun: Instant,
}

impl Trace {
    /// A trace into the file at `path`, which is made anew; or none.
    ///
    /// # Errors
    /// If the file cannot be made.
    pub(crate) fn new(path: Option<&Path>) -> io::Result<Self> {
        let file = path.map(File::create).transpose()?.map(BufWriter::new);
        Ok(Self { file, begun: Instant::now() })
    }

    /// A command and its answer.
    pub(crate) fn command(&mut self, request: &Request<'_>, answer: &Answer) {
        let (name, uid) = (request.name(), request.uid);
        match answer {
            Ok(note) => self.line(format_args!("{name} uid {uid} {note}")),
            Err(refusal) => {
                let (status, code) = (refusal.status, refusal.syndrome.code());
                let (words, detail) = (refusal.syndrome.words(), &refusal.detail);
                self.line(format_args!(
                    "{name} uid {uid} REFUSED status {status:#04x} syndrome {code:#x}: {words} ({detail})"
                ));
            }
        }
    }

    /// Anything else.
    pub(crate) fn line(&mut self, line: fmt::Arguments<'_>) {
        let time = self.begun.elapsed().as_secs_f64();
        if let Some(file) = &mut self.file {
            // A trace that cannot be written must not stop the card; whoever reads it sees where it ends.
            let _full = writeln!(file, "{time:9.3} {line}").and_then(|()| file.flush());
        }
    }
}
