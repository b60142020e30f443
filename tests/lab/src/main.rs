//! `cargo lab`: boots a stock kernel, whose own mlx5 driver brings up the emulated ConnectX, and runs a program inside.
//!
//! Standard output carries the guest program's standard output and nothing else, unless a command says otherwise; what
//! the lab has to say goes to standard error. The exit status is the guest program's. The lab's own failures are 125 (the
//! guest crashed, hung or ended early, a download failed), and 2 for a command line that makes no sense.

#![forbid(unsafe_code)]

mod boot;
mod card;
mod cc;
mod commands;
mod console;
mod error;
mod fetch;
mod guest_files;
mod initramfs;
mod job;
mod machine;
mod options;
mod payload;
mod run;
mod signals;
mod tally;
mod vmlinux;
mod wire;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::commands::{bench, demo, exec, peer, test};

/// Boots a stock kernel with the emulated ConnectX and runs a program inside
#[derive(Debug, Parser)]
#[command(name = "lab", bin_name = "cargo lab", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Demo(demo::Arguments),
    /// Download what the lab needs: QEMU, kernels, their headers, a sysroot for C programs
    Fetch(fetch::Request),
    Run(commands::run::Arguments),
    Exec(exec::Arguments),
    Peer(peer::Arguments),
    Test(test::Arguments),
    Bench(bench::Arguments),
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Fetch(request) => fetch::Store::open()
            .and_then(|store| fetch::run(&store, &request))
            .map(|()| 0)
            .map_err(Into::into),
        Command::Run(arguments) => commands::run::run(arguments),
        Command::Exec(arguments) => exec::run(arguments),
        Command::Peer(arguments) => peer::run(arguments),
        Command::Test(arguments) => test::run(&arguments),
        Command::Bench(arguments) => bench::run(&arguments),
    };
    match result {
        Ok(code) => code.into(),
        Err(error) => {
            eprintln!("lab: error: {error}");
            error.exit_code().into()
        }
    }
}
