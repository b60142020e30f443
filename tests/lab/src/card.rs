//! The emulated card, on a thread of the lab.

use std::{
    io::ErrorKind,
    path::{Path, PathBuf},
    thread::JoinHandle,
};

use clap::Args;
pub(crate) use connectx::Profile;
use connectx::{Config, Fault, Report, Server, Stop, wire::WireConfig};

use crate::error::{Error, Result};

/// Options of the card.
#[derive(Debug, Default, Clone, Args)]
pub(crate) struct Options {
    /// What the card can do: default, no-eswitch, no-anchor, no-devx, vf
    #[arg(long, value_name = "P", default_value_t)]
    pub(crate) profile: Profile,
    /// Write the card's commands to this file, one a line
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    /// Set a capability of the card, `GENERAL.log_max_uctx=0` for example
    #[arg(long = "cap", value_name = "NAME=VALUE", value_parser = capability)]
    capabilities: Vec<(String, u64)>,
    /// Let a command of the card fail with a status, from the one after SKIP such commands on
    #[arg(long = "fail", value_name = "COMMAND=STATUS[@SKIP]")]
    faults: Vec<Fault>,
    /// A capture file (pcap, pcapng) whose frames come in once the program has printed `ready`
    #[arg(long, value_name = "FILE")]
    pub(crate) wire_in: Option<PathBuf>,
    /// A capture file for the frames that the guest sends
    #[arg(long, value_name = "FILE")]
    wire_out: Option<PathBuf>,
    /// A JSON file for the ways of all frames through the card
    #[arg(long, value_name = "FILE")]
    wire_trace: Option<PathBuf>,
    /// Stop the program when the way of the last frame has ended
    #[arg(long, requires = "wire_in")]
    pub(crate) wire_then_stop: bool,
    /// Let frames skip the card's flow tables: a negative control
    #[arg(long)]
    bypass: bool,
}

fn capability(text: &str) -> Result<(String, u64)> {
    let wrong = || Error::Usage(format!("{text:?} is not NAME=VALUE with a number"));
    let (name, value) = text.split_once('=').ok_or_else(wrong)?;
    Ok((name.to_owned(), value.parse().map_err(|_| wrong())?))
}

/// A card that runs.
#[derive(Debug)]
pub(crate) struct Card {
    thread: JoinHandle<std::io::Result<Report>>,
    stop: Stop,
}

impl Card {
    /// Makes card `number` of a machine: QEMU finds it at `socket`, questions about the first are answered at `control`.
    pub(crate) fn start(
        number: u8,
        socket: &Path,
        control: &Path,
        profile: Profile,
        options: &Options,
    ) -> Result<Self> {
        // What is connected to the lab by a file has one end there.
        let is_first = number == 0;
        let file = |path: &Option<PathBuf>| path.clone().filter(|_| is_first);
        let config = Config {
            socket: socket.to_owned(),
            number,
            profile,
            capabilities: options.capabilities.clone(),
            faults: options.faults.clone(),
            trace: file(&options.trace),
            control: is_first.then(|| control.to_owned()),
            wire: WireConfig {
                input: file(&options.wire_in),
                output: file(&options.wire_out),
                trace: file(&options.wire_trace),
                ..WireConfig::default()
            },
            bypass: options.bypass,
        };
        let server = Server::bind(&config).map_err(|error| match error.kind() {
            // A capability that there is not, or a value too large for it.
            ErrorKind::InvalidInput => Error::Usage(error.to_string()),
            _ => Error::system("make the card")(error),
        })?;
        let stop = server.stopper().map_err(Error::system("make the card"))?;
        Ok(Self { thread: std::thread::spawn(move || server.run()), stop })
    }

    /// Ends the card, which has ended already if QEMU has, and tells what it found alive.
    pub(crate) fn finish(self) -> Result<Vec<String>> {
        self.stop.stop();
        let report = self.thread.join().map_err(|_| Error::Card("the card panicked".to_owned()))?;
        let report = report.map_err(Error::system("serve the card"))?;
        Ok(report.leaks.into_iter().map(|(when, leak)| format!("{when}: {leak}")).collect())
    }
}
