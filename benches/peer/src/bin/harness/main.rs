//! Asks the peers in turn, in one guest, and prints what they measured: one [`Line`] of JSON each.
//!
//! `harness SECTION…`, with the device under test in `UVERBS_TEST_DEVICE` and the card's control port in
//! `CONNECTX_CONTROL`; the peers are found next to it.

#![forbid(unsafe_code)]

mod card;
mod counts;
mod instructions;
mod resident;
mod scale;
mod statistics;
mod time;
mod whole;

use std::{error::Error, io::Write, path::PathBuf, process::ExitCode};

use peers::{Line, Peer, Quantity};

type Result<T, E = Box<dyn Error>> = std::result::Result<T, E>;

/// Where the peers are, and what they work on.
struct Bench {
    programs: PathBuf,
    device: String,
    node: PathBuf,
}

impl Bench {
    fn new() -> Result<Self> {
        let device = std::env::var("UVERBS_TEST_DEVICE")?;
        let node = uverbs::Device::by_name(&device)?.node().to_owned();
        let programs = std::env::current_exe()?.parent().ok_or("no folder")?.to_owned();
        Ok(Self { programs, device, node })
    }

    /// The program of a peer.
    fn program(&self, name: &str) -> PathBuf {
        self.programs.join(name)
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("harness: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let bench = Bench::new()?;
    for section in std::env::args().skip(1) {
        eprintln!("harness: {section}");
        match section.as_str() {
            "pair" => instructions::pair(&bench)?,
            "instructions" => instructions::measure(&bench)?,
            "counts" => counts::measure(&bench)?,
            "time" => time::measure(&bench)?,
            "handles" => scale::handles(&bench)?,
            "threads" => scale::threads(&bench)?,
            "cards" => scale::cards(&bench)?,
            other => return Err(format!("there is no section {other:?}").into()),
        }
    }
    Ok(())
}

/// Tells one value.
fn tell(quantity: Quantity, peer: Peer, value: f64) -> Result<()> {
    print(Line::Value { quantity, peer, value })
}

fn print(line: Line) -> Result<()> {
    let mut text = serde_json::to_string(&line)?;
    text.push('\n');
    Ok(std::io::stdout().write_all(text.as_bytes())?)
}
