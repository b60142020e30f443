//! What can be counted, and is the same in every run: ioctls, firmware commands, calls of the heap, system calls, memory.

use std::{ffi::OsStr, fs::File};

use lab_trace::Report;
use peers::{Peer, Quantity};

use crate::{
    Bench, Result,
    card::Card,
    resident::Resident,
    tell,
    whole::{Program, named},
};

pub(crate) fn measure(bench: &Bench) -> Result<()> {
    heap(bench)?;
    firmware(bench)?;
    programs(bench)
}

fn heap(bench: &Bench) -> Result<()> {
    for (peer, name) in [(Peer::Ours, "ours-heap"), (Peer::RdmaCore, "rdma_core_heap")] {
        let calls =
            Resident::start(bench, peer, name)?.ask("heap", 1)?.ok_or("a peer that does not count")?;
        tell(Quantity::PairHeapCalls, peer, calls.iter().sum())?;
    }
    Ok(())
}

fn firmware(bench: &Bench) -> Result<()> {
    let mut card = Card::connect()?;
    let node = bench.node.to_string_lossy();
    for (quantity, argument) in
        [(Quantity::FirmwareCommands, "first"), (Quantity::FirmwareCommandsDevx, "first-devx")]
    {
        let programs = [
            Program::new(Peer::Ours, "ours", &[&bench.device, argument]),
            Program::new(Peer::RdmaCore, "rdma_core", &[&bench.device, argument]),
            Program::new(Peer::Floor, "floor", &[&node, argument]),
        ];
        for program in programs {
            // The first time, the kernel makes what it then keeps.
            program.run(bench)?;
            let commands = card.commands(|| program.run(bench).map(drop))?;
            tell(quantity, program.peer, f64::from(commands))?;
        }
    }
    Ok(())
}

/// What whole programs ask of the kernel.
fn programs(bench: &Bench) -> Result<()> {
    // What any program of the kind needs to start, print a line and end, so that the rest is the peer's own. The static one of rdma-core has no
    // row of system calls.
    let idle = |peer| match peer {
        Peer::Ours => Some(Program::new(peer, "ours", &[&bench.device, "nothing"])),
        Peer::RdmaCore => Some(Program::new(peer, "empty", &[])),
        Peer::Floor => Some(Program::new(peer, "floor", &[&bench.node.to_string_lossy(), "nothing"])),
        Peer::RdmaCoreStatic => None,
    };
    for program in named(bench) {
        let peer = program.peer;
        let report = trace(bench, &program)?;
        tell(Quantity::Ioctls, peer, f64::from(u32::try_from(report.commands.len())?))?;
        if let Some(idle) = idle(peer) {
            let own = report.total() - trace(bench, &idle)?.total();
            tell(Quantity::Syscalls, peer, f64::from(u32::try_from(own)?))?;
        }
        tell(Quantity::MappedMemory, peer, kibibytes(report.mapped_bytes)?)?;
        tell(Quantity::PeakMemory, peer, kibibytes(report.peak_resident_bytes)?)?;
    }
    Ok(())
}

fn kibibytes(bytes: u64) -> Result<f64> {
    Ok(f64::from(u32::try_from(bytes / 1024)?))
}

fn trace(bench: &Bench, program: &Program) -> Result<Report> {
    let (tracer, file) = (bench.program("lab-trace"), "/tmp/trace.json");
    let wrapper = [tracer.as_os_str(), OsStr::new("--json"), OsStr::new(file), OsStr::new("--")];
    let status = program.command(bench, &wrapper).status()?;
    if status.success() {
        Ok(serde_json::from_reader(File::open(file)?)?)
    } else {
        Err(format!("{:?} under lab-trace: {status}", program.peer).into())
    }
}
