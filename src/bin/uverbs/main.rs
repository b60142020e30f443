//! `uverbs`: the library at the command line.
//!
//! One file holds one subcommand. What a command finds goes to the standard output, as aligned text or, with `--json`,
//! as JSON Lines ([`event`] lists them); what went wrong goes to the standard error.

#![forbid(unsafe_code)]

mod anchor;
mod cli;
mod devices;
mod event;
mod failure;
mod interrupt;
mod output;
mod privilege;
mod sandbox;
mod show;
mod table;

use std::process::ExitCode;

use cli::{AnchorCommand, Command, SandboxCommand};
use output::Output;

fn main() -> ExitCode {
    let cli = match cli::parse() {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    let mut output = Output::stdout(cli.json);
    let outcome = match cli.command {
        Command::Devices => devices::run(&mut output),
        Command::Show(arguments) => show::run(&arguments, &mut output),
        Command::Anchor(AnchorCommand::Create(arguments)) => anchor::create::run(&arguments, &mut output),
        Command::Anchor(AnchorCommand::Probe(arguments)) => anchor::probe::run(&arguments, &mut output),
        Command::Sandbox(SandboxCommand::Demo(arguments)) => sandbox::run(&arguments, &mut output),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(&mut output),
    }
}
