//! `cargo lab exec`: any static program in the guest.

use std::{
    fs,
    io::{self, Write},
    path::PathBuf,
};

use crate::{
    boot::{self, Lab, Task},
    error::{Error, Result},
    fetch::Store,
    job,
    options::{RunOptions, two_paths},
    payload,
    run::Stream,
};

/// Run any static program in the guest
///
/// Its output, its exit status and the signals meant for it pass through. The lab's own failures exit with 125.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    options: RunOptions,
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
    let image = payload::read_static(&arguments.binary)?;
    let program = Program::of_host(&name, image, arguments.args);
    run_program(&arguments.options, program)
}

/// A program, what it is called with, and what it needs around it.
pub(crate) struct Program {
    /// Where it lies in the guest.
    pub(crate) path: PathBuf,
    pub(crate) args: Vec<String>,
    /// Itself, unless it is in the root.
    pub(crate) files: Vec<(String, Vec<u8>)>,
    /// A folder of the host that becomes the guest's root.
    pub(crate) root: Option<PathBuf>,
}

impl Program {
    /// One that the host brings, with nothing around it.
    pub(crate) fn of_host(name: &str, image: Vec<u8>, args: Vec<String>) -> Self {
        Self { path: job::program_path(name), args, files: vec![job::program_file(name, image)], root: None }
    }
}

/// Boots once for one program, and gives its exit code.
pub(crate) fn run_program(options: &RunOptions, program: Program) -> Result<u8> {
    let RunOptions { kernel, machine, program: options } = options;
    let store = Store::open()?;
    let kernel = kernel.kernel(&store)?;
    let lab = Lab::new(&store, machine, boot::PATIENCE)?;
    let mut job =
        job::for_program(program.path, program.args, &kernel, machine, machine.card.profile, options);
    // Frames that come in are to be received.
    job.address = job.address.or_else(|| machine.card.wire_in.is_some().then_some(job::ADDRESS));
    let mut files = program.files;
    for file in &options.file {
        let (host, guest) = two_paths(file);
        files.push((guest.to_owned(), fs::read(host).map_err(Error::file("cannot read", host))?));
    }
    let task = Task { job: &job, files: &files, root: program.root.as_deref() };
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
