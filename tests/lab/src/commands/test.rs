//! `cargo lab test`: every test there is, on the host and in guests.

use std::{
    env,
    io::{self, BufRead, BufReader, Write},
    num::NonZero,
    process::Stdio,
    sync::{Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use crate::{
    boot::{Lab, Task},
    card::Profile,
    cc::{self, Linkage},
    commands::bench::{self, Bench},
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
    /// Guests that run at a time (as many as there are processors, up to 4)
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    jobs: Option<u8>,
    #[command(flatten)]
    machine: MachineOptions,
    /// Only tests whose name holds this text
    #[arg(value_name = "FILTER")]
    filter: Option<String>,
}

/// The name of the peer in the guest.
const PEER: &str = "peer-anchor";
/// How long all device tests of one boot may take.
const PATIENCE: Duration = Duration::from_mins(10);
/// Limits of costs are limits on this kernel.
const MEASURED_KERNEL: KernelName = KernelName::V6_12;
/// More guests than these at a time want a user who knows how much memory there is: each has a gigabyte.
const MOST_JOBS: usize = 4;

impl Arguments {
    /// How many guests run at a time.
    fn jobs(&self) -> usize {
        let processors = || thread::available_parallelism().map_or(1, NonZero::get);
        self.jobs.map_or_else(|| processors().min(MOST_JOBS), usize::from)
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<u8> {
    let mut tally = Tally::default();
    if !arguments.no_host {
        tally += host_tests(arguments.filter.as_deref())?;
    }
    let store = Store::open()?;
    let lab = Lab::new(&store, &arguments.machine, PATIENCE)?;
    // The tests run the others, too.
    let payloads = [Payload::DeviceTests, Payload::Tool, Payload::FirstAnchor, Payload::Trace];
    let programs = payloads
        .map(|payload| payload::build(payload).map(|image| job::program_file(payload.name(), image)))
        .into_iter()
        .chain(peer(&store, &mut tally)?.map(Ok))
        .collect::<Result<Vec<_>>>()?;
    let filter = arguments.filter.as_deref();
    let kernels = kernels(&store, &arguments.kernel, &mut tally)?;
    let measured = kernels.iter().find(|kernel| kernel.name == Some(MEASURED_KERNEL));
    let bench = measured.filter(|_| bench::has_tests(filter)).map(|kernel| costs(&store, kernel, &mut tally));
    let bench = bench.transpose()?.flatten();
    let boots = kernels
        .iter()
        .flat_map(|kernel| profiles(kernel).map(move |profile| Boot::DeviceTests(kernel, profile)))
        .chain(bench.as_ref().map(Boot::Costs));

    let (queue, sum) = (Mutex::new(boots), Mutex::new(tally));
    let next = || lock(&queue).next();
    thread::scope(|scope| {
        for _ in 0..arguments.jobs() {
            scope.spawn(|| {
                while let Some(boot) = next() {
                    let (tally, report) = match boot {
                        Boot::DeviceTests(kernel, profile) => {
                            device_tests(&lab, kernel, profile, &programs, filter)
                        }
                        Boot::Costs(bench) => cost_tests(bench, &arguments.machine, filter),
                    };
                    // The sum's lock keeps the reports apart, too.
                    let mut sum = lock(&sum);
                    println!("\n{report}");
                    *sum += tally;
                }
            });
        }
    });
    let tally = *lock(&sum);
    println!("\n{tally}");
    Ok(u8::from(tally.failed > 0))
}

/// What one guest is for.
enum Boot<'a> {
    DeviceTests(&'a Kernel, Profile),
    Costs(&'a Bench<'a>),
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The kernels to test on. Of those that nobody named, one that cannot be had is skipped: a suite may leave the mirrors,
/// which is no fault of what is tested.
fn kernels(store: &Store, named: &[KernelName], tally: &mut Tally) -> Result<Vec<Kernel>> {
    let wanted = if named.is_empty() { &KernelName::ALL[..] } else { named };
    let mut kernels = Vec::new();
    for &name in wanted {
        match store.kernel(name) {
            Ok(kernel) => kernels.push(kernel),
            Err(error) if named.is_empty() => {
                println!("device tests on {name}: skipped: {error}");
                tally.skipped += 1;
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(kernels)
}

/// The same work as the crate's by rdma-core's libraries, for tests that compare. Skipped where these cannot be had.
fn peer(store: &Store, tally: &mut Tally) -> Result<Option<(String, Vec<u8>)>> {
    let source = payload::workspace().join("tests/peer/anchor.c");
    match cc::image(store, &source, Linkage::Static, &[], &[]) {
        Ok(image) => Ok(Some(job::program_file(PEER, image))),
        Err(Error::Fetch(error)) if env::var_os("CI").is_none() => {
            println!("comparison with rdma-core: skipped: {error}");
            tally.skipped += 1;
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// What it takes to compare costs with rdma-core's. Skipped where it cannot be had.
fn costs<'a>(store: &'a Store, kernel: &'a Kernel, tally: &mut Tally) -> Result<Option<Bench<'a>>> {
    match Bench::new(store, kernel) {
        Ok(bench) => Ok(Some(bench)),
        Err(Error::Fetch(error)) if env::var_os("CI").is_none() => {
            println!("costs beside rdma-core: skipped: {error}");
            tally.skipped += 1;
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// One boot: the costs that are the same in every run.
fn cost_tests(bench: &Bench, machine: &MachineOptions, filter: Option<&str>) -> (Tally, String) {
    let started = Instant::now();
    let (tally, report) = bench.test(machine, filter).unwrap_or_else(|error| {
        (Tally { failed: 1, ..Tally::default() }, format!("costs could not be measured: {error}\n"))
    });
    let seconds = started.elapsed().as_secs_f32();
    (tally, format!("costs on Linux {}\n{report}costs: {tally}, {seconds:.1} s", bench.release()))
}

/// The profiles to test a kernel with. The oldest has no anchors that a profile could take away.
fn profiles(kernel: &Kernel) -> impl Iterator<Item = Profile> + use<> {
    let oldest = kernel.name == Some(KernelName::V5_10);
    Profile::ALL.into_iter().filter(move |&profile| !oldest || profile == Profile::default())
}

/// One boot: all device tests on a kernel and a profile. What they came to, and all there is to read about them.
fn device_tests(
    lab: &Lab,
    kernel: &Kernel,
    profile: Profile,
    programs: &[(String, Vec<u8>)],
    filter: Option<&str>,
) -> (Tally, String) {
    let title = format!("device tests on Linux {}, profile {profile}", kernel.release);
    eprintln!("lab: {title}");
    let started = Instant::now();
    let args = filter.map(str::to_owned).into_iter().collect();
    let options = ProgramOptions { rxe: true, net: true, ..ProgramOptions::default() };
    let path = job::program_path(Payload::DeviceTests.name());
    let mut job = job::for_program(path, args, kernel, lab.machine(), profile, &options);
    job.env.push(("RUST_BACKTRACE".to_owned(), "1".to_owned()));
    let peer = job::program_path(PEER).to_string_lossy().into_owned();
    if programs.iter().any(|(path, _)| *path == peer) {
        job.env.push(("UVERBS_PEER".to_owned(), peer));
    }

    let (mut output, mut all) = (Vec::new(), format!("{title}\n").into_bytes());
    let task = Task { job: &job, files: programs, root: None };
    let result = lab.run(kernel, profile, &task, &mut |stream, bytes| {
        if stream == Stream::Stdout {
            output.extend_from_slice(bytes);
        }
        all.extend_from_slice(bytes);
    });
    let mut tally = Tally::of(&String::from_utf8_lossy(&output));
    let mut report = String::from_utf8_lossy(&all).into_owned();
    let mut remark = |text: &str| report.extend(["\n", &title, ": ", text]);
    match result {
        Ok(outcome) if outcome.code == 0 || tally.failed > 0 => {}
        Ok(outcome) => {
            remark(&format!("the tests ended with {} and named no failed test", outcome.code));
            tally.failed += 1;
        }
        Err(error) => {
            remark(&error.to_string());
            tally.failed += 1;
        }
    }
    if tally.total() == 0 {
        remark("no test ran");
    }
    remark(&format!("{tally}, {:.1} s", started.elapsed().as_secs_f32()));
    (tally, report)
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
