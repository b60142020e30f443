//! `cargo lab test`: every test there is, on the host and in guests.

use std::{
    io::{self, BufRead, BufReader, Write},
    process::Stdio,
    time::{Duration, Instant},
};

use crate::{
    boot::{Lab, Task},
    card::Profile,
    commands::exec::pass_through,
    error::{Error, Result},
    fetch::{Kernel, KernelName, Store},
    job,
    options::{MachineOptions, ProgramOptions},
    payload::{self, Payload},
    run::Stream,
    tally::Tally,
};

/// Run the host's tests, and the device tests in the guest on each kernel and profile
///
/// The last line tells the sum, `N passed, N failed`, and how many were skipped if any were.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Kernel to test on, may be given again; all of them when none is named
    #[arg(long, value_name = "K")]
    kernel: Vec<KernelName>,
    /// Leave the host's tests out
    #[arg(long)]
    no_host: bool,
    #[command(flatten)]
    machine: MachineOptions,
    /// Only tests whose name holds this text
    #[arg(value_name = "FILTER")]
    filter: Option<String>,
}

/// How long all device tests of one boot may take.
const PATIENCE: Duration = Duration::from_mins(10);
/// The kernels on which each profile is tried; `default` is tried on all.
const PROFILE_KERNELS: [KernelName; 3] = [KernelName::V6_1, KernelName::V6_12, KernelName::V7];

pub(crate) fn run(arguments: &Arguments) -> Result<u8> {
    let mut tally = Tally::default();
    if !arguments.no_host {
        tally += host_tests(arguments.filter.as_deref())?;
    }
    let store = Store::open()?;
    let lab = Lab {
        store: &store,
        qemu: arguments.machine.qemu(&store)?,
        options: &arguments.machine,
        patience: PATIENCE,
        init: payload::build(Payload::Init)?,
    };
    let program = [job::program_file(Payload::DeviceTests.name(), payload::build(Payload::DeviceTests)?)];
    let kernels = if arguments.kernel.is_empty() { &KernelName::ALL[..] } else { &arguments.kernel[..] };
    for &name in kernels {
        let kernel = match store.kernel(name) {
            Ok(kernel) => kernel,
            // A suite may leave the mirrors: that is no fault of what is tested.
            Err(error) if arguments.kernel.is_empty() => {
                println!("device tests on {name}: skipped: {error}");
                tally.skipped += 1;
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        for profile in Profile::ALL {
            if profile == Profile::default() || PROFILE_KERNELS.contains(&name) {
                tally += device_tests(&lab, &kernel, profile, &program, arguments.filter.as_deref());
            }
        }
    }
    println!("\n{tally}");
    Ok(u8::from(tally.failed > 0))
}

/// One boot: all device tests on a kernel and a profile.
fn device_tests(
    lab: &Lab,
    kernel: &Kernel,
    profile: Profile,
    program: &[(String, Vec<u8>)],
    filter: Option<&str>,
) -> Tally {
    let title = format!("device tests on Linux {}, profile {profile}", kernel.release);
    println!("\n{title}");
    let started = Instant::now();
    let args = filter.map(str::to_owned).into_iter().collect();
    let mut job = job::for_program(
        job::program_path(Payload::DeviceTests.name()),
        args,
        kernel,
        profile,
        &ProgramOptions { rxe: true, net: true, ..ProgramOptions::default() },
    );
    job.env.push(("RUST_BACKTRACE".to_owned(), "1".to_owned()));
    let mut output = Vec::new();
    let result =
        lab.run(kernel, profile, &Task { job: &job, files: program, root: None }, &mut |stream, bytes| {
            if stream == Stream::Stdout {
                output.extend_from_slice(bytes);
            }
            pass_through(stream, bytes);
        });
    let mut tally = Tally::of(&String::from_utf8_lossy(&output));
    match result {
        Ok(outcome) if outcome.code == 0 || tally.failed > 0 => {}
        Ok(outcome) => {
            println!("{title}: the tests ended with {} and named no failed test", outcome.code);
            tally.failed += 1;
        }
        Err(error) => {
            println!("{title}: {error}");
            tally.failed += 1;
        }
    }
    if tally.total() == 0 {
        println!("{title}: no test ran");
    }
    println!("{title}: {tally}, {:.1} s", started.elapsed().as_secs_f32());
    tally
}

/// Everything cargo tests on the host; its output passes through.
fn host_tests(filter: Option<&str>) -> Result<Tally> {
    let mut command = payload::cargo();
    // The tool's tests want the tool.
    command
        .args(["test", "--workspace", "--features", "uverbs/cli", "--no-fail-fast"])
        .args(filter.map(|filter| ["--", filter]).into_iter().flatten());
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(Error::system("start cargo"))?;
    let mut output = String::new();
    for line in child.stdout.take().into_iter().flat_map(|stdout| BufReader::new(stdout).lines()) {
        let line = line.map_err(Error::system("read cargo's output"))?;
        let _reader_gone = writeln!(io::stdout(), "{line}");
        output.push_str(&line);
        output.push('\n');
    }
    let status = child.wait().map_err(Error::system("wait for cargo"))?;
    let mut tally = Tally::of(&output);
    if !status.success() && tally.failed == 0 {
        println!("host tests: cargo failed ({status}), though no test did");
        tally.failed += 1;
    }
    println!("\nhost tests: {tally}");
    Ok(tally)
}
