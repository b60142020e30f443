//! `lab-trace [--json FILE] -- PROG ARGS…`: see the library of this package.

#![forbid(unsafe_code)]

mod command;
mod memory;
mod tracer;

use std::{
    ffi::OsString,
    fs,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use clap::Parser;
use lab_trace::{Exit, Report};
use nix::sys::{
    ptrace,
    signal::{Signal, raise},
};

/// Runs a program, counts its system calls and writes down its uverbs commands
///
/// The exit status is the program's, or 128 and the signal's number; 125 when it could not be traced.
#[derive(Debug, Parser)]
#[command(name = "lab-trace", version)]
struct Arguments {
    /// Write all that was seen to this file; without it a summary goes to standard error
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Stop, then become the program: how this program starts what it traces
    #[arg(long, hide = true)]
    become_traced: bool,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "PROG ARGS")]
    program: Vec<OsString>,
}

/// What can go wrong here, and not in the program.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error("cannot start {}: {reason}", .program.display())]
    Start { program: PathBuf, reason: std::io::Error },
    /// Said already, by the process that tried.
    #[error("{} did not start", .0.display())]
    NotStarted(PathBuf),
    #[error("cannot {0}: {1}")]
    System(&'static str, nix::Error),
    #[error("cannot write {}: {reason}", .file.display())]
    Write { file: PathBuf, reason: std::io::Error },
}

/// The status of this program's own failures.
const FAILED: u8 = 125;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result =
        if arguments.become_traced { Err(become_traced(&arguments.program)) } else { trace(&arguments) };
    match result {
        Ok(Exit::Code(code)) => ExitCode::from(u8::try_from(code).unwrap_or(FAILED)),
        Ok(Exit::Signal(number)) => ExitCode::from(u8::try_from(128 + number).unwrap_or(FAILED)),
        Err(error) => {
            eprintln!("lab-trace: {error}");
            ExitCode::from(FAILED)
        }
    }
}

fn trace(arguments: &Arguments) -> Result<Exit, Error> {
    let report = tracer::trace(&arguments.program)?;
    match &arguments.json {
        Some(file) => write(file, &report)?,
        None => eprintln!("{report}"),
    }
    Ok(report.exit)
}

fn write(file: &Path, report: &Report) -> Result<(), Error> {
    let failed = |reason| Error::Write { file: file.to_owned(), reason };
    let json = serde_json::to_vec_pretty(report).map_err(|error| failed(error.into()))?;
    fs::write(file, json).map_err(failed)
}

/// Comes back only if the program cannot be started.
fn become_traced(program: &[OsString]) -> Error {
    let stopped = ptrace::traceme().and_then(|()| raise(Signal::SIGSTOP));
    let Some((name, args)) = program.split_first() else { unreachable!("clap wants a program") };
    let reason = match stopped {
        Ok(()) => Command::new(name).args(args).exec(),
        Err(errno) => errno.into(),
    };
    Error::Start { program: name.into(), reason }
}
