//! The tracer: one loop over what happens to the traced threads.

use std::{collections::BTreeMap, ffi::OsString, fs, io, process::Stdio};

use lab_trace::{Exit, Open, Report};
use nix::{
    errno::Errno,
    sys::{
        ptrace::{self, Event, Options},
        signal::Signal,
        wait::{WaitPidFlag, WaitStatus, waitpid},
    },
    unistd::Pid,
};
use syscalls::Sysno;
use uverbs_uapi::rdma_user_ioctl_cmds::RDMA_VERBS_IOCTL;

use crate::{Error, command, memory};

/// A system call that has begun, and what is to be done when it ends.
enum Call {
    Other,
    /// The place in [`Report::opens`].
    Open(usize),
    /// How many bytes.
    Map(u64),
    /// The place in [`Report::commands`], and the block's address.
    Command(usize, u64),
}

/// What is known of the traced threads.
struct Tracer {
    root: Pid,
    /// The program has begun: what was before was this program's.
    begun: bool,
    /// The threads that were seen, and the calls in which they are.
    threads: BTreeMap<Pid, Option<Call>>,
    report: Report,
}

/// Runs the program to the end of its last thread and child.
pub(crate) fn trace(program: &[OsString]) -> Result<Report, Error> {
    let name = || program.first().cloned().unwrap_or_default().into();
    let child = std::process::Command::new("/proc/self/exe")
        .args(["--become-traced", "--"])
        .args(program)
        .stdin(Stdio::inherit())
        .spawn()
        .map_err(|reason| Error::Start { program: name(), reason })?;
    let root = Pid::from_raw(child.id().try_into().expect("the kernel's process ids are positive i32"));
    match waitpid(root, Some(WaitPidFlag::WUNTRACED)) {
        Ok(WaitStatus::Stopped(..)) => {}
        Ok(_) => return Err(Error::NotStarted(name())),
        Err(errno) => return Err(Error::System("wait for the program", errno)),
    }
    let options = Options::PTRACE_O_TRACESYSGOOD
        | Options::PTRACE_O_TRACEEXEC
        | Options::PTRACE_O_TRACEEXIT
        | Options::PTRACE_O_TRACECLONE
        | Options::PTRACE_O_TRACEFORK
        | Options::PTRACE_O_TRACEVFORK
        | Options::PTRACE_O_EXITKILL;
    ptrace::setoptions(root, options)
        .and_then(|()| ptrace::syscall(root, None))
        .map_err(|errno| Error::System("trace the program", errno))?;

    let report = Report {
        program: program.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        ..Report::default()
    };
    let threads = BTreeMap::from([(root, None)]);
    let mut tracer = Tracer { root, begun: false, threads, report };
    tracer.until_all_ended()?;
    if tracer.begun { Ok(tracer.report) } else { Err(Error::NotStarted(name())) }
}

impl Tracer {
    fn until_all_ended(&mut self) -> Result<(), Error> {
        loop {
            let status = match waitpid(None, Some(WaitPidFlag::__WALL)) {
                Ok(status) => status,
                Err(Errno::EINTR) => continue,
                Err(Errno::ECHILD) => return Ok(()),
                Err(errno) => return Err(Error::System("wait for the program", errno)),
            };
            self.take(status).map_err(|errno| Error::System("trace the program", errno))?;
        }
    }

    fn take(&mut self, status: WaitStatus) -> nix::Result<()> {
        let (pid, signal) = match status {
            WaitStatus::PtraceSyscall(pid) => (pid, self.boundary(pid).map(|()| None)),
            WaitStatus::PtraceEvent(pid, _, event) => {
                self.event(pid, event);
                (pid, Ok(None))
            }
            // A new thread stops once, before its first instruction.
            WaitStatus::Stopped(pid, Signal::SIGSTOP) if !self.threads.contains_key(&pid) => {
                self.threads.insert(pid, None);
                (pid, Ok(None))
            }
            WaitStatus::Stopped(pid, signal) => (pid, Ok(Some(signal))),
            WaitStatus::Exited(pid, code) => {
                self.ended(pid, Exit::Code(code));
                return Ok(());
            }
            WaitStatus::Signaled(pid, signal, _) => {
                self.ended(pid, Exit::Signal(signal as i32));
                return Ok(());
            }
            WaitStatus::Continued(_) | WaitStatus::StillAlive => return Ok(()),
        };
        match signal.and_then(|signal| ptrace::syscall(pid, signal)) {
            // Killed in the meantime: its end is still to be told.
            Err(Errno::ESRCH) => Ok(()),
            other => other,
        }
    }

    fn ended(&mut self, pid: Pid, exit: Exit) {
        self.threads.remove(&pid);
        if pid == self.root {
            self.report.exit = exit;
        }
    }

    fn event(&mut self, pid: Pid, event: i32) {
        if event == Event::PTRACE_EVENT_EXEC as i32 {
            self.begun = true;
            // Whichever thread called, the process goes on under its own number, and in the call.
            self.threads.insert(pid, Some(Call::Other));
        } else if event == Event::PTRACE_EVENT_EXIT as i32 && self.begun {
            // The last moment at which the memory is there.
            let peak = peak_resident(pid).unwrap_or_default();
            self.report.peak_resident_bytes = self.report.peak_resident_bytes.max(peak);
        }
    }

    /// A thread enters a call or leaves it.
    fn boundary(&mut self, pid: Pid) -> nix::Result<()> {
        let registers = ptrace::getregs(pid)?;
        let call = match self.threads.get_mut(&pid).and_then(Option::take) {
            Some(call) => {
                self.leave(pid, &call, registers.rax.cast_signed());
                None
            }
            None if self.begun => {
                let arguments = [registers.rdi, registers.rsi, registers.rdx];
                Some(self.enter(pid, registers.orig_rax, arguments))
            }
            None => Some(Call::Other),
        };
        self.threads.insert(pid, call);
        Ok(())
    }

    fn enter(&mut self, pid: Pid, number: u64, [first, second, third]: [u64; 3]) -> Call {
        let call = usize::try_from(number).ok().and_then(Sysno::new);
        let name = call.map_or_else(|| number.to_string(), |call| call.name().to_owned());
        *self.report.syscalls.entry(name).or_default() += 1;
        match call {
            Some(Sysno::open | Sysno::creat) => self.open(pid, first),
            Some(Sysno::openat | Sysno::openat2) => self.open(pid, second),
            Some(Sysno::mmap) => Call::Map(second),
            Some(Sysno::ioctl) if second == u64::from(RDMA_VERBS_IOCTL) => {
                match command::begin(pid, descriptor(first), third) {
                    Some(command) => {
                        self.report.commands.push(command);
                        Call::Command(self.report.commands.len() - 1, third)
                    }
                    None => Call::Other,
                }
            }
            _ => Call::Other,
        }
    }

    fn open(&mut self, pid: Pid, path: u64) -> Call {
        let path = memory::read_text(pid, path).unwrap_or_default();
        self.report.opens.push(Open { path, result: 0 });
        Call::Open(self.report.opens.len() - 1)
    }

    fn leave(&mut self, pid: Pid, call: &Call, result: i64) {
        match *call {
            Call::Open(at) => self.report.opens[at].result = result,
            Call::Map(bytes) if !is_error(result) => self.report.mapped_bytes += bytes,
            Call::Other | Call::Map(_) => {}
            Call::Command(at, address) => {
                command::finish(pid, address, &mut self.report.commands[at], result);
            }
        }
    }
}

/// The kernel looks at the low half of a register that holds a descriptor.
fn descriptor(register: u64) -> i32 {
    let [a, b, c, d, ..] = register.to_le_bytes();
    i32::from_le_bytes([a, b, c, d])
}

/// The kernel's convention: the last page of numbers.
fn is_error(result: i64) -> bool {
    (-4095..0).contains(&result)
}

/// `VmHWM` of a process, in bytes.
fn peak_resident(pid: Pid) -> io::Result<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let kibibytes = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    Ok(kibibytes.unwrap_or_default() * 1024)
}
