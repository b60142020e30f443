//! `cargo lab run`: the tool in the guest.

use crate::{
    commands::exec::{Program, run_program},
    error::Result,
    options::RunOptions,
    payload::{self, Payload},
};

/// Run `uverbs ARGS` in the guest
///
/// Its output, its exit status and the signals meant for it pass through. The lab's own failures exit with 125.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    options: RunOptions,
    /// Arguments of `uverbs`
    #[arg(last = true, value_name = "ARGS")]
    args: Vec<String>,
}

pub(crate) fn run(arguments: Arguments) -> Result<u8> {
    let tool = payload::build(Payload::Tool)?;
    let program = Program::of_host(Payload::Tool.name(), tool, arguments.args);
    run_program(&arguments.options, program)
}
