//! `cargo lab bench`: this crate beside rdma-core and the bare kernel, measured in one go.

mod chart;
mod page;
mod programs;
mod rows;

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use self::programs::Programs;
use crate::{
    boot::{Lab, Task},
    error::{Error, Result},
    fetch::{Kernel, Store},
    job,
    options::{KernelOptions, MachineOptions, ProgramOptions},
    payload::{self, Payload},
    run::Stream,
    tally::Tally,
};
use peers::Line;

/// How long all sections of one boot may take, unless the user says otherwise.
const PATIENCE: Duration = Duration::from_mins(10);
/// More cards do not fit into one machine.
const MOST_CARDS: u8 = 4;

/// Measure this crate beside rdma-core and the bare kernel
///
/// Prints a table, and writes it and a chart into docs/. Instructions and counts are the same on every machine; times are
/// ratios of programs that took turns.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Write the rows as JSON to this file, or instead of the table to standard output
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    json: Option<PathBuf>,
    #[command(flatten)]
    kernel: KernelOptions,
    #[command(flatten)]
    machine: MachineOptions,
}

pub(crate) fn run(arguments: &Arguments) -> Result<u8> {
    let store = Store::open()?;
    let kernel = arguments.kernel.kernel(&store)?;
    let bench = Bench::new(&store, &kernel)?;
    let mut lines = bench.programs.sizes();
    let counting = MachineOptions { icount: true, ..arguments.machine.clone() };
    lines.extend(bench.boot(&counting, &["instructions", "counts", "threads", "handles"])?);
    for cards in 1..=MOST_CARDS {
        lines.extend(bench.boot(&MachineOptions { cards, ..counting.clone() }, &["cards"])?);
    }
    lines.extend(bench.boot(&arguments.machine, &["time"])?);

    let rows = rows::all(&lines);
    let docs = payload::workspace().join("docs");
    page::write(&docs.join("performance.md"), &rows, &kernel.release)?;
    chart::write(&docs.join("performance.svg"), &rows, &lines)?;
    let json = serde_json::to_string_pretty(&rows).unwrap_or_default() + "\n";
    match arguments.json.as_deref() {
        Some(file) if file == Path::new("-") => print!("{json}"),
        Some(file) => {
            fs::write(file, json).map_err(Error::file("cannot write", file))?;
            print!("{}", page::table(&rows));
        }
        None => print!("{}", page::table(&rows)),
    }
    Ok(0)
}

/// The programs, and the kernel that they run on.
pub(crate) struct Bench<'a> {
    store: &'a Store,
    kernel: &'a Kernel,
    programs: Programs,
    root: PathBuf,
}

impl<'a> Bench<'a> {
    pub(crate) fn new(store: &'a Store, kernel: &'a Kernel) -> Result<Self> {
        Ok(Self { store, kernel, programs: Programs::build(store)?, root: store.peer(false)? })
    }

    /// The kernel that it measures on.
    pub(crate) fn release(&self) -> &str {
        &self.kernel.release
    }

    /// Boots once, and has the harness measure these sections.
    fn boot(&self, machine: &MachineOptions, sections: &[&str]) -> Result<Vec<Line>> {
        eprintln!(
            "lab: bench on Linux {}, {} card(s): {}",
            self.kernel.release,
            machine.cards,
            sections.join(", ")
        );
        let lab = Lab::new(self.store, machine, PATIENCE)?;
        let path = job::program_path(Payload::Harness.name());
        let args = sections.iter().map(|&section| section.to_owned()).collect();
        let profile = machine.card.profile;
        let job = job::for_program(path, args, self.kernel, machine, profile, &ProgramOptions::default());
        let task = Task { job: &job, files: &self.programs.files, root: Some(&self.root) };
        let (mut output, mut complaints) = (Vec::new(), Vec::new());
        let outcome = lab.run(self.kernel, profile, &task, &mut |stream, bytes| match stream {
            Stream::Stdout => output.extend_from_slice(bytes),
            Stream::Stderr => complaints.extend_from_slice(bytes),
        })?;
        if outcome.code != 0 {
            return Err(Error::Bench(format!(
                "the harness ended with {}: {}",
                outcome.code,
                String::from_utf8_lossy(&complaints).trim_end()
            )));
        }
        String::from_utf8_lossy(&output)
            .lines()
            .map(|line| {
                serde_json::from_str(line)
                    .map_err(|error| Error::Bench(format!("the harness says {line:?}: {error}")))
            })
            .collect()
    }

    /// Tests the rows that are the same in every run, of those whose name holds `filter`: what they came to, and a report
    /// in the manner of Rust's test runner.
    pub(crate) fn test(&self, machine: &MachineOptions, filter: Option<&str>) -> Result<(Tally, String)> {
        let machine = MachineOptions { icount: true, ..machine.clone() };
        let lines = self.boot(&machine, &["pair", "counts"])?;
        let (mut tally, mut report) = (Tally::default(), String::new());
        for row in rows::exact(&lines).filter(|row| filter.is_none_or(|filter| row.name.contains(filter))) {
            let good = row.gate_met == Some(true);
            *if good { &mut tally.passed } else { &mut tally.failed } += 1;
            report += &page::verdict(&row, good);
        }
        Ok((tally, report))
    }
}

/// Whether [`Bench::test`] has something to test.
pub(crate) fn has_tests(filter: Option<&str>) -> bool {
    rows::exact(&[]).any(|row| filter.is_none_or(|filter| row.name.contains(filter)))
}
