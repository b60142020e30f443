//! The peer that this crate is.

use std::{
    error::Error,
    io::{BufRead, Write},
    process::ExitCode,
    sync::Arc,
    thread,
};

use seccompiler::{SeccompAction, SeccompFilter, TargetArch};
use tick_counter::{start, stop};
use uverbs::{
    Context, Device, FlowTableType, Priority, SteeringAnchor,
    flow::{Actions, FlowTable, Headers, Match},
};

/// Priority of the anchors that are held, so that one more needs no firmware command.
const HELD_PRIORITY: u16 = 3;
/// Priority at which no anchor is held, so that each one is the first.
const FREE_PRIORITY: u16 = 5;
/// With fewer handles held, the kernel allocates a node of its handle table in each call.
const HELD_HANDLES: usize = 4;
/// Pairs of create and destroy of each of several threads.
const PAIRS_OF_A_THREAD: usize = 200;
/// The same port as the other peers'.
const UDP_PORT: u16 = 5000;

type Result<T, E = Box<dyn Error>> = std::result::Result<T, E>;

/// The program: `ours DEVICE` answers what is asked on standard input, `ours DEVICE first` and `first-devx` go from the
/// name to the first id and end, `ours DEVICE open` tells what it takes to open a device that was listed, `ours DEVICE
/// nothing` only prints a line.
///
/// `heap_calls` counts the calls of the heap so far, where they are counted.
#[must_use]
pub fn main(heap_calls: fn() -> Option<u64>) -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let device = arguments.next().unwrap_or_default();
    let done = match arguments.next().as_deref() {
        Some("nothing") => {
            println!("nothing");
            Ok(())
        }
        Some("first") => Device::by_name(&device)
            .and_then(|device| device.open())
            .map_err(Into::into)
            .and_then(|context| first(&context)),
        Some("first-devx") => Device::by_name(&device)
            .and_then(|device| device.open_devx())
            .map_err(Into::into)
            .and_then(|context| first(&context)),
        Some("open") => open(&device),
        _ => Ours::new(&device, heap_calls).and_then(|mut ours| ours.serve()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ours: {device}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// From an open device to an id.
fn first(context: &Context) -> Result<()> {
    let anchor = create(context, FREE_PRIORITY)?;
    println!("{}", anchor.id());
    Ok(anchor.destroy()?)
}

/// To open a device from the list, as long as this process has not yet opened any.
fn open(name: &str) -> Result<()> {
    let device = Device::list()?.into_iter().find(|device| device.name() == name).ok_or("no such device")?;
    let begin = start();
    let context = device.open()?;
    println!("{}", stop() - begin);
    drop(context);
    Ok(())
}

fn create(context: &Context, priority: u16) -> uverbs::Result<SteeringAnchor> {
    SteeringAnchor::create(context, FlowTableType::NicRx, Priority::new(priority)?)
}

fn pair(context: &Context, priority: u16) -> uverbs::Result<()> {
    create(context, priority)?.destroy()?;
    Ok(())
}

/// What a peer holds while it is asked.
struct Ours {
    device: Device,
    context: Context,
    held: Vec<SteeringAnchor>,
    heap_calls: fn() -> Option<u64>,
}

impl Ours {
    fn new(name: &str, heap_calls: fn() -> Option<u64>) -> Result<Self> {
        let device = Device::by_name(name)?;
        let context = device.open_devx()?;
        let held =
            (0..HELD_HANDLES).map(|_| create(&context, HELD_PRIORITY)).collect::<uverbs::Result<_>>()?;
        Ok(Self { device, context, held, heap_calls })
    }

    fn serve(&mut self) -> Result<()> {
        for line in std::io::stdin().lock().lines() {
            let line = line?;
            let (scenario, count) = line.split_once(' ').ok_or("a line of SCENARIO COUNT expected")?;
            let answer = match self.run(scenario, count.parse()?) {
                Ok(Some(samples)) => {
                    samples.iter().fold("ok".to_owned(), |line, sample| format!("{line} {sample}"))
                }
                Ok(None) => "none".to_owned(),
                Err(error) => format!("error {error}"),
            };
            writeln!(std::io::stdout(), "{answer}")?;
        }
        Ok(())
    }

    fn run(&mut self, scenario: &str, count: usize) -> Result<Option<Vec<u64>>> {
        let context = &self.context;
        let samples = match scenario {
            "clock" => sample(count, || Ok(()), |()| Ok(()), drop)?,
            "create" => sample(count, || Ok(()), |()| create(context, HELD_PRIORITY), drop)?,
            "destroy" => {
                sample(count, || create(context, HELD_PRIORITY), |anchor| Ok(anchor.destroy()?), drop)?
            }
            "pairs" => {
                let begin = start();
                for _ in 0..count {
                    pair(context, HELD_PRIORITY)?;
                }
                vec![stop() - begin]
            }
            "first-reference" => sample(count, || Ok(()), |()| pair(context, FREE_PRIORITY), drop)?,
            "open" => sample(count, || Ok(()), |()| self.device.open(), drop)?,
            "list" => sample(count, || Ok(()), |()| Device::list().map(drop), drop)?,
            "name" => sample(count, || Ok(()), |()| Device::by_name(self.device.name()).map(drop), drop)?,
            "gids" => sample(count, || Ok(()), |()| context.gids().map(drop), drop)?,
            "entry" => entry(context, count)?,
            "many" => many(context, count)?,
            "threads" => vec![threads(context, count)?],
            "heap" => match (self.heap_calls)() {
                Some(before) => {
                    pair(context, HELD_PRIORITY)?;
                    // Counted before the answer takes its place on the heap.
                    let after = (self.heap_calls)().unwrap_or(before);
                    vec![after - before]
                }
                None => return Ok(None),
            },
            "hold" => {
                self.held.push(create(context, FREE_PRIORITY)?);
                Vec::new()
            }
            _ => return Ok(None),
        };
        Ok(Some(samples))
    }
}

/// Measures `measured` alone, `count` times, each time on what `before` gives it.
fn sample<B, M>(
    count: usize,
    before: impl Fn() -> uverbs::Result<B>,
    measured: impl Fn(B) -> uverbs::Result<M>,
    after: impl Fn(M),
) -> Result<Vec<u64>> {
    let mut samples = Vec::with_capacity(count);
    for _ in 0..count {
        let given = before()?;
        let begin = start();
        let made = measured(given);
        let end = stop();
        after(made?);
        samples.push(end - begin);
    }
    Ok(samples)
}

/// What it takes to ask the firmware for an entry. From here on no ioctl reaches the kernel's driver.
fn entry(context: &Context, count: usize) -> Result<Vec<u64>> {
    let anchor = Arc::new(create(context, HELD_PRIORITY)?);
    let criteria = Match::builder().outer(&Headers::new().udp_destination(UDP_PORT)).build()?;
    let table = FlowTable::builder(context, FlowTableType::NicRx).log_size(10).build()?;
    let group = table.group(.., &criteria)?;
    answer_ioctls_with_success()?;
    let mut samples = Vec::with_capacity(count);
    for index in 0..u32::try_from(count)? {
        let begin = start();
        let entry = group.entry(index, &criteria, Actions::forward_to(&anchor));
        samples.push(stop() - begin);
        drop(entry?);
    }
    Ok(samples)
}

/// Each ioctl succeeds at once and does nothing, so that only the caller's part is left.
fn answer_ioctls_with_success() -> Result<()> {
    let ioctl = nix::libc::SYS_ioctl;
    let filter = SeccompFilter::new(
        [(ioctl, Vec::new())].into(),
        SeccompAction::Allow,
        SeccompAction::Errno(0),
        TargetArch::x86_64,
    )?;
    let program: seccompiler::BpfProgram = filter.try_into()?;
    Ok(seccompiler::apply_filter(&program)?)
}

/// To create `count` anchors, and to destroy them.
fn many(context: &Context, count: usize) -> Result<Vec<u64>> {
    let mut anchors = Vec::with_capacity(count);
    let begin = start();
    for _ in 0..count {
        anchors.push(create(context, HELD_PRIORITY)?);
    }
    let full = stop();
    for anchor in anchors {
        anchor.destroy()?;
    }
    Ok(vec![full - begin, stop() - full])
}

/// As many threads at the same time.
fn threads(context: &Context, count: usize) -> Result<u64> {
    let begin = start();
    thread::scope(|scope| {
        let work = || (0..PAIRS_OF_A_THREAD).try_for_each(|_| pair(context, HELD_PRIORITY));
        let threads: Vec<_> = (0..count).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("a pair does not panic"))
    })?;
    Ok(stop() - begin)
}
