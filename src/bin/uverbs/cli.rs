//! The command line: what may be asked, and how a wrong question is answered.

use std::process::ExitCode;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Args, Parser, Subcommand};
use uverbs::{FlowTableType, Priority};

use crate::event::Event;
use crate::failure::Failure;
use crate::output::Output;

/// Exit status of a command line that could not be understood; nothing was opened.
const USAGE: u8 = 2;

/// The names of [`FlowTableType`], for the help text.
const TABLE_TYPES: [&str; 5] = ["nic-rx", "nic-tx", "fdb", "rdma-rx", "rdma-tx"];

/// RDMA devices and mlx5 steering anchors, straight through the kernel's uverbs ioctls.
#[derive(Debug, Parser)]
#[command(name = "uverbs", version, propagate_version = true)]
#[command(after_help = "Exit status: 0 done, 1 failed, 2 usage.")]
pub(crate) struct Cli {
    /// Print JSON Lines: one object a line, each with a `type`.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the RDMA devices.
    Devices,
    /// Show what a device is and can do.
    Show(DeviceArguments),
    /// Create steering anchors, or ask which can be created.
    #[command(subcommand)]
    Anchor(AnchorCommand),
    /// Take packets into a flow table of one's own, and hand them back.
    #[command(subcommand)]
    Sandbox(SandboxCommand),
}

#[derive(Debug, Subcommand)]
pub(crate) enum AnchorCommand {
    /// Create a steering anchor and print its flow table id.
    ///
    /// The anchor lives as long as this process: without --hold it is destroyed again at once.
    Create(CreateArguments),
    /// Tell which types of anchor work on a device, and why the others do not.
    ///
    /// Asks the kernel and the device without creating anything, unless --create is given.
    Probe(ProbeArguments),
}

#[derive(Debug, Args)]
pub(crate) struct DeviceArguments {
    /// Device name, as `uverbs devices` prints it.
    #[arg(value_name = "DEV")]
    pub(crate) device: String,
}

#[derive(Debug, Args)]
pub(crate) struct CreateArguments {
    #[command(flatten)]
    pub(crate) target: DeviceArguments,
    /// Type of the flow table that the anchor leads to.
    #[arg(long = "type", value_name = "TYPE", value_parser = table_type_parser())]
    pub(crate) table_type: FlowTableType,
    /// Priority of the kernel's table that the anchor leads to, 0 (matched first) to 15.
    #[arg(long, value_name = "N", default_value = "0", allow_negative_numbers = true)]
    pub(crate) priority: Priority,
    /// Keep the anchor until SIGINT or SIGTERM, then destroy it.
    #[arg(long)]
    pub(crate) hold: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ProbeArguments {
    #[command(flatten)]
    pub(crate) target: DeviceArguments,
    /// Find out by creating an anchor of each type at priority 0, and destroying it.
    ///
    /// The driver keeps the firmware table behind an anchor until the device is removed.
    #[arg(long)]
    pub(crate) create: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SandboxCommand {
    /// Lead what arrives for a UDP port through a table of this process, count it there, and hand it back.
    ///
    /// Runs until SIGINT or SIGTERM, and prints the counters as they change.
    Demo(DemoArguments),
}

#[derive(Debug, Args)]
pub(crate) struct DemoArguments {
    #[command(flatten)]
    pub(crate) target: DeviceArguments,
    /// UDP destination port of the packets to take; others pass by.
    #[arg(long, value_name = "N")]
    pub(crate) udp_port: u16,
    /// Take VXLAN too, which is what arrives for UDP port 4789, and drop it in the table.
    #[arg(long)]
    pub(crate) drop_vxlan: bool,
    /// Do not hand packets back: drop them in the table.
    #[arg(long)]
    pub(crate) no_anchor: bool,
}

fn table_type_parser() -> impl TypedValueParser<Value = FlowTableType> {
    PossibleValuesParser::new(TABLE_TYPES).try_map(|name| name.parse::<FlowTableType>())
}

/// Reads the command line, or answers it: help and version on the standard output, mistakes on the standard error.
pub(crate) fn parse() -> Result<Cli, ExitCode> {
    Cli::try_parse().map_err(|error| match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            let printed = error.print();
            printed.map_or_else(
                |error| Failure::from(error).report(&mut Output::stdout(false)),
                |()| ExitCode::SUCCESS,
            )
        }
        _ => {
            let _ = error.print();
            // There are no parsed arguments to ask, yet a script that wants JSON wants it now.
            if std::env::args_os().any(|argument| argument == "--json") {
                let message = summary(&error.to_string());
                let event = Event::Error { message, cause: None, hint: None, errno: None, lacking: None };
                let _ = Output::stdout(true).json(&event);
            }
            ExitCode::from(USAGE)
        }
    })
}

/// What is wrong, without the advice that follows in paragraphs of its own.
fn summary(error: &str) -> String {
    let lines: Vec<_> = error.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
    lines.join(" ").trim_start_matches("error: ").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_table_type_of_the_library_can_be_named() {
        assert_eq!(FlowTableType::ALL.map(|table_type| table_type.to_string()), TABLE_TYPES);
    }

    #[test]
    fn a_mistake_fits_in_a_line() {
        let error = Cli::try_parse_from(["uverbs", "anchor", "create"]).expect_err("arguments are missing");
        let line = summary(&error.to_string());
        assert_eq!(line, "the following required arguments were not provided: --type <TYPE> <DEV>");
    }

    #[test]
    fn priorities_are_checked_while_parsing() {
        let parse = |priority| {
            Cli::try_parse_from(["uverbs", "anchor", "create", "d", "--type", "fdb", "--priority", priority])
        };
        for good in ["0", "7", "15"] {
            assert!(parse(good).is_ok(), "{good}");
        }
        for bad in ["16", "65535", "65536", "-1", "high", ""] {
            let message = parse(bad).expect_err(bad).to_string();
            assert!(message.contains("0..=15"), "{bad}: {message}");
        }
    }
}
