//! `cargo lab demo`: the shortest way to see a steering anchor.

use serde::Deserialize;

use crate::{
    boot::{self, Lab, Task},
    commands::exec::pass_through,
    error::{Error, Result},
    fetch::{KernelName, Store},
    job,
    options::{MachineOptions, ProgramOptions},
    payload::{self, Payload},
    run::Stream,
};

/// What the demonstration runs in the guest.
const COMMAND: [&str; 8] = ["anchor", "create", "mlx5_0", "--type", "nic-rx", "--priority", "3", "--json"];

/// Boot a stock kernel on the emulated card and let its driver create a steering anchor
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    machine: MachineOptions,
}

/// What the tool prints, as far as it is shown.
#[derive(Deserialize)]
struct Anchor {
    flow_table_id: u32,
    priority: u16,
}

pub(crate) fn run(arguments: &Arguments) -> Result<u8> {
    let machine = &arguments.machine;
    let tool = payload::build(Payload::Tool)?;
    let store = Store::open()?;
    let kernel = store.kernel(KernelName::V6_12)?;
    let lab = Lab::new(&store, machine, boot::PATIENCE)?;

    println!(
        "Booting Linux {} with an emulated ConnectX; its own mlx5 driver brings the card up.",
        kernel.release
    );
    println!("In the guest: uverbs {}", COMMAND.join(" "));
    let args = COMMAND.map(str::to_owned).to_vec();
    let job = job::for_program(
        job::program_path(Payload::Tool.name()),
        args,
        &kernel,
        machine,
        machine.card.profile,
        &ProgramOptions::default(),
    );
    let mut answer = Vec::new();
    let outcome = lab.run(
        &kernel,
        machine.card.profile,
        &Task { job: &job, files: &[job::program_file(Payload::Tool.name(), tool)], root: None },
        &mut |stream, bytes| {
            if stream == Stream::Stdout {
                answer.extend_from_slice(bytes);
            }
            pass_through(stream, bytes);
        },
    )?;
    if outcome.code != 0 {
        return Ok(outcome.code);
    }
    let anchor: Anchor = serde_json::from_slice(&answer).map_err(|error| {
        Error::Demo(format!("the tool's answer is not the line of JSON it should be: {error}"))
    })?;
    explain(&anchor, &kernel.release);
    Ok(0)
}

fn explain(anchor: &Anchor, release: &str) {
    let Anchor { flow_table_id: id, priority } = anchor;
    println!();
    println!(
        "Flow table {id:#x} is a steering anchor: the kernel's driver created it at receive priority {priority}."
    );
    println!(
        "A flow table of your own that forwards to {id:#x} hands its packets back to the kernel's steering."
    );
    println!("It took one ioctl on /dev/infiniband/uverbs0 to make it: no libibverbs, no libmlx5, no C.");
    println!(
        "What you saw was the unmodified mlx5_core and mlx5_ib of Linux {release}; only the card was emulated."
    );
    println!(
        "Next: cargo lab run -- devices; cargo lab run --trace card.txt -- anchor probe mlx5_0; cargo lab test"
    );
}
