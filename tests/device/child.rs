//! Processes of their own: holders that are killed, unprivileged callers, and callers whose system calls are counted.
//!
//! A child is this very program, started with `--child ROLE DEVICE`.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};

use libtest_mimic::Failed;
use nix::sys::ptrace;
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{Pid, getppid};
use uverbs::{Device, FlowTableType, Priority, SteeringAnchor};

/// An unprivileged user: no capabilities.
const NOBODY: u32 = 65534;

type Role = fn(&str) -> Result<(), Box<dyn std::error::Error>>;

const ROLES: &[(&str, Role)] = &[
    ("leave-anchor", leave_anchor),
    ("hold-anchor", hold_anchor),
    ("report-anchor", report_anchor),
    ("refused-priority", refused_priority),
    ("create-and-destroy", create_and_destroy),
    ("name-to-close", name_to_close),
    ("become-first-anchor", crate::examples::become_first_anchor),
    ("build-on-anchor", crate::sandbox::build_on_anchor),
    ("build-like-peer", crate::comparison::build_like_peer),
];

/// Plays a child's part, if this process is one.
pub(crate) fn main_if_child() -> Option<ExitCode> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, flag, role, device] = &arguments[..] else { return None };
    if flag != "--child" {
        return None;
    }
    let play = ROLES.iter().find(|(name, _)| name == role).map(|(_, play)| play)?;
    Some(match play(device) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    })
}

fn anchor(device: &str) -> uverbs::Result<SteeringAnchor> {
    SteeringAnchor::create(&Device::by_name(device)?.open()?, FlowTableType::NicRx, Priority::new(9)?)
}

/// Ends without destroying its anchor.
fn leave_anchor(device: &str) -> Result<(), Box<dyn std::error::Error>> {
    let anchor = anchor(device)?;
    println!("{}", anchor.id().get());
    std::mem::forget(anchor);
    Ok(())
}

/// Holds an anchor until its input ends, which it does not before the process is killed.
fn hold_anchor(device: &str) -> Result<(), Box<dyn std::error::Error>> {
    let anchor = anchor(device)?;
    println!("{}", anchor.id().get());
    std::io::stdin().read_to_end(&mut Vec::new())?;
    drop(anchor);
    Ok(())
}

/// Tries to create an anchor and tells how that went.
#[expect(clippy::unnecessary_wraps, reason = "a role like the others")]
fn report_anchor(device: &str) -> Result<(), Box<dyn std::error::Error>> {
    match anchor(device) {
        Ok(anchor) => println!("{}", anchor.id().get()),
        Err(error) => println!("{:?}\n{error}\n{}", error.lacking(), error.hint().unwrap_or_default()),
    }
    Ok(())
}

/// Waits until the tracer is there, then marks the begin and the end of what it counts.
fn counted<T>(work: impl FnOnce() -> T) -> std::io::Result<T> {
    std::io::stdin().read_exact(&mut [0])?;
    getppid();
    let result = work();
    getppid();
    Ok(result)
}

fn refused_priority(device: &str) -> Result<(), Box<dyn std::error::Error>> {
    let context = Device::by_name(device)?.open()?;
    let refused = counted(|| {
        Priority::new(16)
            .and_then(|priority| SteeringAnchor::create(&context, FlowTableType::NicRx, priority))
    })?;
    refused.err().map(drop).ok_or_else(|| "priority 16 is accepted".into())
}

fn create_and_destroy(device: &str) -> Result<(), Box<dyn std::error::Error>> {
    let context = Device::by_name(device)?.open()?;
    let priority = Priority::new(9)?;
    counted(|| {
        Ok::<_, uverbs::Error>(SteeringAnchor::create(&context, FlowTableType::NicRx, priority)?.destroy()?)
    })??;
    Ok(())
}

fn name_to_close(device: &str) -> Result<(), Box<dyn std::error::Error>> {
    counted(|| Ok::<_, uverbs::Error>(anchor(device)?.destroy()?))??;
    Ok(())
}

fn command(device: &str, role: &str) -> std::io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["--child", role, device]).stdin(Stdio::piped()).stdout(Stdio::piped());
    Ok(command)
}

/// Runs a child to its end and gives what it printed.
pub(crate) fn run(device: &str, role: &str) -> Result<String, Failed> {
    output(command(device, role)?)
}

/// The same, as a user without privileges.
pub(crate) fn run_unprivileged(device: &str, role: &str) -> Result<String, Failed> {
    run_unprivileged_with(device, role, &[])
}

/// The same, with environment variables.
pub(crate) fn run_unprivileged_with(
    device: &str,
    role: &str,
    env: &[(&str, String)],
) -> Result<String, Failed> {
    let mut command = command(device, role)?;
    command.uid(NOBODY).gid(NOBODY).envs(env.iter().map(|(name, value)| (name, value)));
    output(command)
}

fn output(mut command: Command) -> Result<String, Failed> {
    let output = command.stdin(Stdio::null()).output()?;
    crate::ensure(output.status.success(), format!("{command:?}: {}", output.status))?;
    Ok(String::from_utf8(output.stdout)?)
}

/// A child that runs until it is killed.
pub(crate) struct Holder {
    child: Child,
    _input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Holder {
    pub(crate) fn start(device: &str, role: &str) -> Result<Self, Failed> {
        let mut child = command(device, role)?.spawn()?;
        let input = child.stdin.take().ok_or("no input")?;
        let output = child.stdout.take().ok_or("no output")?;
        Ok(Self { child, _input: input, output: BufReader::new(output) })
    }

    /// The next line that the child prints.
    pub(crate) fn line(&mut self) -> Result<String, Failed> {
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        Ok(line.trim_end().to_owned())
    }

    /// Kills the child as `kill -9` does, and waits until it is gone.
    pub(crate) fn kill(mut self) -> Result<(), Failed> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}

/// Starts a child that waits for the tracer, with the tracer there.
fn traced(device: &str, role: &str, options: ptrace::Options) -> Result<(Child, Pid), Failed> {
    let mut child = command(device, role)?.spawn()?;
    let pid = Pid::from_raw(i32::try_from(child.id())?);
    ptrace::seize(pid, options)?;
    ptrace::interrupt(pid)?;
    child.stdin.take().ok_or("no input")?.write_all(b"g")?;
    Ok((child, pid))
}

/// The most memory, in KiB, that a child's last program has had resident. (`wait4` tells more: its parent's, too.)
pub(crate) fn peak_memory(device: &str, role: &str) -> Result<u64, Failed> {
    let (_child, pid) = traced(device, role, ptrace::Options::PTRACE_O_TRACEEXIT)?;
    let mut peak = None;
    loop {
        match waitpid(pid, None)? {
            WaitStatus::Exited(_, 0) => return peak.ok_or_else(|| "it did not stop at its exit".into()),
            WaitStatus::PtraceEvent(_, _, event) => {
                if event == ptrace::Event::PTRACE_EVENT_EXIT as i32 {
                    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
                    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
                    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")).ok_or("no VmHWM")?;
                    peak = Some(kib.parse()?);
                }
                ptrace::cont(pid, None)?;
            }
            WaitStatus::Stopped(_, signal) => ptrace::cont(pid, signal)?,
            other => return Err(format!("the child {role}: {other:?}").into()),
        }
    }
}

/// The system calls of a stretch of a child's work.
#[derive(Debug, Default)]
pub(crate) struct Syscalls {
    counts: BTreeMap<u64, usize>,
}

/// System call numbers of x86-64 that the tests name.
const NAMES: &[(&str, u64)] = &[("ioctl", 16), ("fcntl", 72), ("getppid", 110)];

impl Syscalls {
    /// Runs the child of `role` under a tracer.
    pub(crate) fn of(device: &str, role: &str) -> Result<Self, Failed> {
        let (_child, pid) = traced(device, role, ptrace::Options::PTRACE_O_TRACESYSGOOD)?;
        let (mut calls, mut marks, mut entering) = (Self::default(), 0, false);
        loop {
            match waitpid(pid, None)? {
                WaitStatus::Exited(_, 0) => break,
                WaitStatus::PtraceSyscall(_) => {
                    entering = !entering;
                    let number = ptrace::getregs(pid)?.orig_rax;
                    if entering && number == Self::number("getppid") {
                        marks += 1;
                    } else if entering && marks == 1 {
                        *calls.counts.entry(number).or_default() += 1;
                    }
                    ptrace::syscall(pid, None)?;
                }
                WaitStatus::PtraceEvent(..) => ptrace::syscall(pid, None)?,
                WaitStatus::Stopped(_, signal) => ptrace::syscall(pid, signal)?,
                other => return Err(format!("the child {role}: {other:?}").into()),
            }
        }
        crate::equal("marks", marks, 2)?;
        Ok(calls)
    }

    fn number(name: &str) -> u64 {
        NAMES.iter().find(|(known, _)| *known == name).map_or_else(|| panic!("{name}"), |(_, number)| *number)
    }

    /// How often the call of this name was made.
    pub(crate) fn count(&self, name: &str) -> usize {
        self.counts.get(&Self::number(name)).copied().unwrap_or(0)
    }

    /// All calls but `fcntl`, by which the standard library of a build with debug assertions asks before each close.
    pub(crate) fn total(&self) -> usize {
        self.counts.values().sum::<usize>() - self.count("fcntl")
    }
}
