//! Peers that stay and answer.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use peers::Peer;

use crate::{Bench, Result, statistics::median};

/// A peer that waits for work.
pub(crate) struct Resident {
    pub(crate) peer: Peer,
    process: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    /// What reading the clock costs this peer.
    clock: f64,
}

impl Resident {
    /// Starts the program `name`, which stands for `peer`.
    pub(crate) fn start(bench: &Bench, peer: Peer, name: &str) -> Result<Self> {
        let mut command = Command::new(bench.program(name));
        match peer {
            Peer::Floor => command.arg(&bench.node),
            Peer::Ours | Peer::RdmaCore | Peer::RdmaCoreStatic => command.arg(&bench.device),
        };
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (stdin, stdout) = (process.stdin.take(), process.stdout.take());
        let (stdin, stdout) = (stdin.ok_or("no input")?, BufReader::new(stdout.ok_or("no output")?));
        let mut resident = Self { peer, process, stdin, stdout, clock: 0.0 };
        let clock = resident.ask("clock", 200)?.ok_or("a peer without a clock")?;
        resident.clock = median(clock);
        Ok(resident)
    }

    /// The usual three, in an order that `round` rotates.
    pub(crate) fn all(bench: &Bench) -> Result<Vec<Self>> {
        [(Peer::Ours, "ours"), (Peer::RdmaCore, "rdma_core"), (Peer::Floor, "floor")]
            .into_iter()
            .map(|(peer, name)| Self::start(bench, peer, name))
            .collect()
    }

    /// Samples of a scenario, less what the clock costs; `None` if the peer has no such work.
    pub(crate) fn samples(&mut self, scenario: &str, count: usize) -> Result<Option<Vec<f64>>> {
        let clock = self.clock;
        let samples = self.ask(scenario, count)?;
        Ok(samples.map(|samples| samples.into_iter().map(|sample| sample - clock).collect()))
    }

    /// What the peer answers.
    pub(crate) fn ask(&mut self, scenario: &str, count: usize) -> Result<Option<Vec<f64>>> {
        writeln!(self.stdin, "{scenario} {count}")?;
        let mut answer = String::new();
        self.stdout.read_line(&mut answer)?;
        let mut words = answer.split_whitespace();
        match words.next() {
            Some("ok") => Ok(Some(words.map(str::parse).collect::<Result<_, _>>()?)),
            Some("none") => Ok(None),
            _ => Err(format!("{:?} on {scenario} {count}: {answer:?}", self.peer).into()),
        }
    }
}

impl Drop for Resident {
    fn drop(&mut self) {
        // It holds nothing that the kernel does not take back.
        let _killed = self.process.kill();
        let _reaped = self.process.wait();
    }
}
