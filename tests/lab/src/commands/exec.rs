//! `cargo lab exec`: any static program in the guest.

use std::{
    fs,
    io::{self, Write},
    path::PathBuf,
};

use crate::{
    boot::{self, Lab, Stream, Task},
    error::{Error, Result},
    fetch::Store,
    job,
    options::{KernelOptions, MachineOptions, ProgramOptions, two_paths},
    payload::{self, Payload},
};

/// Run any static program in the guest
///
/// Its output, its exit status and the signals meant for it pass through. The lab's own failures exit with 125.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    kernel: KernelOptions,
    #[command(flatten)]
    machine: MachineOptions,
    #[command(flatten)]
    program: ProgramOptions,
    /// The program
    #[arg(value_name = "BIN")]
    binary: PathBuf,
    /// Its arguments
    #[arg(value_name = "ARGS", trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<String>,
}

pub(crate) fn run(arguments: Arguments) -> Result<u8> {
    let name = arguments
        .binary
        .file_name()
        .map_or_else(|| "program".to_owned(), |name| name.to_string_lossy().into_owned());
    let program = Program { name, image: payload::read_static(&arguments.binary)?, args: arguments.args };
    run_program(&arguments.kernel, &arguments.machine, &arguments.program, program)
}

/// A program and what it is called with.
pub(crate) struct Program {
    pub(crate) name: String,
    pub(crate) image: Vec<u8>,
    pub(crate) args: Vec<String>,
}

/// Boots once for one program, and gives its exit code.
pub(crate) fn run_program(
    kernel: &KernelOptions,
    machine: &MachineOptions,
    options: &ProgramOptions,
    program: Program,
) -> Result<u8> {
    let init = payload::build(Payload::Init)?;
    let store = Store::open()?;
    let kernel = kernel.kernel(&store)?;
    let lab =
        Lab { store: &store, qemu: machine.qemu(&store)?, options: machine, patience: boot::PATIENCE, init };
    let job = job::for_program(&program.name, program.args, &kernel, machine.card.profile, options);
    let task = Task { program: &program.image, job, files: read_files(options)? };
    let outcome = lab.run(&kernel, machine.card.profile, &task, &mut pass_through)?;
    for (name, bytes) in &outcome.files {
        let wanted = options.out.iter().map(|out| two_paths(out)).find(|(guest, _)| guest == name);
        let host = wanted.map_or(name.as_str(), |(_, host)| host);
        fs::write(host, bytes).map_err(Error::file("cannot write", host))?;
    }
    Ok(outcome.code)
}

/// What the program says, the lab says.
pub(crate) fn pass_through(stream: Stream, bytes: &[u8]) {
    // A reader that has gone is the reader's business; the program in the guest goes on.
    let _reader_gone = match stream {
        Stream::Stdout => io::stdout().write_all(bytes).and_then(|()| io::stdout().flush()),
        Stream::Stderr => io::stderr().write_all(bytes),
    };
}

fn read_files(options: &ProgramOptions) -> Result<Vec<(String, Vec<u8>)>> {
    let read = |file: &String| {
        let (host, guest) = two_paths(file);
        let bytes = fs::read(host).map_err(Error::file("cannot read", host))?;
        Ok((guest.to_owned(), bytes))
    };
    options.file.iter().map(read).collect()
}
