//! The card as a program of its own.
#![forbid(unsafe_code)]

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use connectx::wire::WireConfig;
use connectx::{Config, Fault, Profile, Server};

/// An emulated ConnectX for QEMU 10.1 or later.
///
/// Start it first, then QEMU with memory that it can share:
///
///   qemu-system-x86_64 -M q35,memory-backend=mem -m 1G -object memory-backend-memfd,id=mem,size=1G,share=on
///   -device '{"driver":"vfio-user-pci","socket":{"type":"unix","path":"SOCKET"}}' …
#[derive(Debug, Parser)]
#[command(version, verbatim_doc_comment)]
struct Arguments {
    /// The socket on which QEMU finds the card
    socket: PathBuf,
    /// Which of several cards of a machine it is: they have different addresses
    #[arg(long, value_name = "N", default_value_t = 0)]
    number: u8,
    /// Which card to be: default, no-eswitch, no-anchor, no-devx, vf
    #[arg(long, default_value_t)]
    profile: Profile,
    /// Set a capability, `GENERAL.log_max_uctx=0` for example
    #[arg(long = "cap", value_name = "NAME=VALUE", value_parser = capability)]
    capabilities: Vec<(String, u64)>,
    /// Let a command fail with a status, from the one after SKIP such commands on
    #[arg(long = "fail", value_name = "COMMAND=STATUS[@SKIP]")]
    faults: Vec<Fault>,
    /// Write the commands to a file, one a line
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// A socket for questions: one JSON object a line
    #[arg(long, value_name = "SOCKET")]
    control: Option<PathBuf>,
    /// A datagram socket whose messages are frames: our end of the wire
    #[arg(long, value_name = "SOCKET")]
    wire: Option<PathBuf>,
    /// A capture file (pcap, pcapng) whose frames come in once told to start on the control socket
    #[arg(long, value_name = "FILE")]
    wire_in: Option<PathBuf>,
    /// A capture file for the frames that the guest sends
    #[arg(long, value_name = "FILE")]
    wire_out: Option<PathBuf>,
    /// A JSON file for the ways of all frames
    #[arg(long, value_name = "FILE")]
    wire_trace: Option<PathBuf>,
    /// Let frames skip the flow tables
    #[arg(long)]
    bypass: bool,
}

fn capability(text: &str) -> Result<(String, u64), String> {
    let (name, value) = text.split_once('=').ok_or("there is no =")?;
    Ok((name.to_owned(), value.parse().map_err(|error| format!("{value:?}: {error}"))?))
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let config = Config {
        socket: arguments.socket,
        number: arguments.number,
        profile: arguments.profile,
        capabilities: arguments.capabilities,
        faults: arguments.faults,
        trace: arguments.trace,
        control: arguments.control,
        wire: WireConfig {
            socket: arguments.wire,
            input: arguments.wire_in,
            output: arguments.wire_out,
            trace: arguments.wire_trace,
            ..WireConfig::default()
        },
        bypass: arguments.bypass,
    };
    match Server::bind(&config).and_then(Server::run) {
        Ok(report) => {
            for (when, leak) in &report.leaks {
                eprintln!("leak, {when}: {leak}");
            }
            eprintln!(
                "{} commands, {} refused, {} leaks",
                report.commands,
                report.refusals,
                report.leaks.len()
            );
            if report.leaks.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}
