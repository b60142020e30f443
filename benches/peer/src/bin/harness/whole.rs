//! Whole programs, from their start to their end.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    process::{Command, Stdio},
};

use peers::{Peer, Quantity};

use crate::{Bench, Result, resident::Resident, statistics::least, tell, time::tell_ratios};

const ROUNDS: usize = 40;

/// A program that goes from its start to the first id to its end.
pub(crate) struct Program {
    pub(crate) peer: Peer,
    name: &'static str,
    args: Vec<String>,
}

impl Program {
    pub(crate) fn new(peer: Peer, name: &'static str, args: &[&str]) -> Self {
        Self { peer, name, args: args.iter().map(|&arg| arg.to_owned()).collect() }
    }

    /// Its command, after `wrapper`.
    pub(crate) fn command(&self, bench: &Bench, wrapper: &[&OsStr]) -> Command {
        let program = bench.program(self.name);
        let mut words = wrapper.iter().copied().chain([program.as_os_str()]);
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words).args(&self.args).stdin(Stdio::null()).stdout(Stdio::null());
        command
    }

    /// Runs it: ticks from before its start to after its end.
    pub(crate) fn run(&self, bench: &Bench) -> Result<f64> {
        let mut command = self.command(bench, &[]);
        let begin = tick_counter::start();
        let status = command.status()?;
        let end = tick_counter::stop();
        if status.success() {
            // No program takes seconds.
            Ok(f64::from(u32::try_from(end - begin)?))
        } else {
            Err(format!("{}: {status}", self.name).into())
        }
    }
}

/// The name is known.
pub(crate) fn named(bench: &Bench) -> Vec<Program> {
    let node = bench.node.to_string_lossy();
    vec![
        Program::new(Peer::Ours, "first_anchor", &[&bench.device]),
        Program::new(Peer::RdmaCore, "rdma_core", &[&bench.device, "first"]),
        Program::new(Peer::RdmaCoreStatic, "rdma_core_static", &[&bench.device, "first"]),
        Program::new(Peer::Floor, "floor", &[&node, "first"]),
    ]
}

/// The device is looked for. rdma-core always does so, the floor never.
fn listed(bench: &Bench) -> Vec<Program> {
    let mut programs = named(bench);
    programs[0] = Program::new(Peer::Ours, "first_anchor", &[]);
    programs
}

pub(crate) fn instructions(bench: &Bench) -> Result<()> {
    for (quantity, programs) in [(Quantity::Named, named(bench)), (Quantity::Listed, listed(bench))] {
        let mut all: BTreeMap<Peer, Vec<f64>> = BTreeMap::new();
        for round in rounds(bench, programs)? {
            for (peer, ticks) in round {
                all.entry(peer).or_default().push(ticks);
            }
        }
        all.into_iter().try_for_each(|(peer, ticks)| tell(quantity, peer, least(ticks)))?;
    }
    open(bench)
}

/// The first time that a program opens a device: it measures itself.
fn open(bench: &Bench) -> Result<()> {
    let _holder = Resident::start(bench, Peer::Ours, "ours")?;
    let node = bench.node.to_string_lossy();
    for program in [
        Program::new(Peer::Ours, "ours", &[&bench.device, "open"]),
        Program::new(Peer::RdmaCore, "rdma_core", &[&bench.device, "open"]),
        Program::new(Peer::Floor, "floor", &[&node, "open"]),
    ] {
        let ticks: Vec<f64> = (0..ROUNDS)
            .map(|_| {
                let output = program.command(bench, &[]).stdout(Stdio::piped()).output()?;
                Ok(String::from_utf8(output.stdout)?.trim().parse()?)
            })
            .collect::<Result<_>>()?;
        tell(Quantity::Open, program.peer, least(ticks))?;
    }
    Ok(())
}

pub(crate) fn time(bench: &Bench) -> Result<()> {
    tell_ratios(Quantity::NamedTime, &rounds(bench, named(bench))?)?;
    tell_ratios(Quantity::ListedTime, &rounds(bench, listed(bench))?)
}

/// All programs in rounds, each round beginning with another one, while somebody else holds their priority.
fn rounds(bench: &Bench, mut programs: Vec<Program>) -> Result<Vec<BTreeMap<Peer, f64>>> {
    let mut holder = Resident::start(bench, Peer::Ours, "ours")?;
    holder.ask("hold", 1)?;
    let mut rounds = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        programs.rotate_left(1);
        let round = programs.iter().map(|program| Ok((program.peer, program.run(bench)?)));
        rounds.push(round.collect::<Result<_>>()?);
    }
    Ok(rounds)
}
