//! Why a command failed, and how the caller hears of it.

use std::error::Error as _;
use std::io::{self, Write as _};
use std::process::ExitCode;

use uverbs::Lacking;

use crate::event::Event;
use crate::output::Output;

/// Exit status of a command that could not do what it was asked.
const FAILED: u8 = 1;

/// What stopped a command.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The library refused or failed while the command did `doing`.
    Library { doing: String, error: uverbs::Error },
    /// The results could not be written.
    Output(io::Error),
    /// Signals could not be waited for.
    Signals(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

/// Says what the command was doing when the library failed.
pub(crate) trait While<T> {
    fn while_doing(self, doing: impl FnOnce() -> String) -> Result<T, Failure>;
}

impl<T> While<T> for uverbs::Result<T> {
    fn while_doing(self, doing: impl FnOnce() -> String) -> Result<T, Failure> {
        self.map_err(|error| Failure::Library { doing: doing(), error })
    }
}

impl Failure {
    /// Tells people on the standard error, scripts on the standard output; returns the exit status.
    pub(crate) fn report(&self, output: &mut Output) -> ExitCode {
        if let Self::Output(error) = self {
            // The reader has seen enough, as in `uverbs devices | head -1`.
            if error.kind() == io::ErrorKind::BrokenPipe {
                return ExitCode::SUCCESS;
            }
        }
        let event = self.event();
        let Event::Error { message, cause, hint, .. } = &event else {
            unreachable!("a failure is an error line")
        };
        let mut text = format!("error: {message}\n");
        for (name, line) in [("cause", cause), ("hint", hint)] {
            text.extend(line.iter().map(|line| format!("{name}: {line}\n")));
        }
        // In one piece: the standard output may be the same terminal.
        // Whoever closed it does not want to be told, and the exit status still is.
        let _ = io::stderr().write_all(text.as_bytes());
        if output.is_json() {
            // There is no third place to complain about a lost standard output.
            let _ = output.json(&event);
        }
        ExitCode::from(FAILED)
    }

    fn event(&self) -> Event {
        match self {
            Self::Library { doing, error } => Event::Error {
                message: doing.clone(),
                cause: Some(chain(error)),
                hint: error.hint().map(str::to_owned),
                errno: error.errno(),
                lacking: error.lacking().map(lacking_name),
            },
            Self::Output(error) => plain("cannot write the output", error),
            Self::Signals(error) => plain("cannot wait for a signal", error),
        }
    }
}

fn plain(message: &str, error: &io::Error) -> Event {
    Event::Error {
        message: message.to_owned(),
        cause: Some(error.to_string()),
        hint: None,
        errno: error.raw_os_error(),
        lacking: None,
    }
}

/// The error and the errors below it that it does not already quote, in one line.
pub(crate) fn chain(error: &uverbs::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let below = error.to_string();
        if !text.contains(&below) {
            text.push_str(": ");
            text.push_str(&below);
        }
        source = error.source();
    }
    text
}

/// The word that scripts find under `lacking`.
fn lacking_name(lacking: Lacking) -> &'static str {
    match lacking {
        Lacking::Build => "build",
        Lacking::Kernel => "kernel",
        Lacking::Driver => "driver",
        Lacking::Firmware => "firmware",
        Lacking::Function => "function",
        Lacking::Privilege => "privilege",
        _ => "other",
    }
}
