//! The program of the job: started, listened to, signalled, waited for.

use std::{
    io::{self, Read},
    os::unix::process::CommandExt,
    process::{Command, Stdio},
    sync::Arc,
    thread::{self, JoinHandle},
};

use lab_guest::{Job, ToGuest, ToHost};
use nix::{
    errno::Errno,
    sys::{
        signal::{Signal, kill, killpg},
        wait::{WaitStatus, wait},
    },
    unistd::Pid,
};

use crate::{channel::Channel, context};

/// The folder in which the program runs, and to which it may write.
pub(crate) const FOLDER: &str = "/tmp";
const NOBODY: u32 = 65534;

/// Runs the program to its end and gives its exit code, or 128 + signal.
pub(crate) fn run(job: &Job, channel: &Arc<Channel>) -> io::Result<u8> {
    let name = job.program.file_name().unwrap_or_default();
    let mut command = Command::new(&job.program);
    command.arg0(name).args(&job.args).env_clear().envs(job.env.iter().cloned()).current_dir(FOLDER);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A group of its own, so that a signal reaches the program's children as it does at a terminal.
    command.process_group(0);
    if job.unprivileged {
        // Leaving uid 0 empties the capability sets, and std drops the supplementary groups.
        command.uid(NOBODY).gid(NOBODY);
    }
    let mut child = command.spawn().map_err(|error| context("start the program", error))?;
    let pid = Pid::from_raw(child.id().try_into().expect("the kernel's process ids are positive i32"));
    let listeners = [
        listen(child.stdout.take(), channel, ToHost::Stdout),
        listen(child.stderr.take(), channel, ToHost::Stderr),
    ];
    let orders = Arc::clone(channel);
    // Not joined: it waits for the host, which has nothing more to say once the program has ended.
    thread::spawn(move || obey(&orders, pid));

    let code = reap(pid)?;
    for listener in listeners.into_iter().flatten() {
        listener.join().expect("a listener does not panic")?;
    }
    Ok(code)
}

/// Sends on what comes out of a pipe, until its last writer is gone.
fn listen<P: Read + Send + 'static>(
    pipe: Option<P>,
    channel: &Arc<Channel>,
    message: fn(Vec<u8>) -> ToHost,
) -> Option<JoinHandle<io::Result<()>>> {
    let (mut pipe, channel) = (pipe?, Arc::clone(channel));
    Some(thread::spawn(move || {
        let mut buffer = [0; 16 << 10];
        loop {
            match pipe.read(&mut buffer)? {
                0 => return Ok(()),
                length => channel.send(&message(buffer[..length].to_vec()))?,
            }
        }
    }))
}

/// Does what the host says, for as long as the host speaks sense.
fn obey(channel: &Channel, program: Pid) {
    while let Ok(Some(ToGuest::Signal(number))) = channel.receive() {
        if let Ok(signal) = Signal::try_from(number) {
            // The program may have ended meanwhile; then there is nobody to tell.
            let _gone = killpg(program, signal);
        }
    }
}

/// Waits for the program as the parent of all, then ends whatever it left behind.
fn reap(program: Pid) -> io::Result<u8> {
    let code = loop {
        match wait() {
            Ok(WaitStatus::Exited(pid, code)) if pid == program => {
                break u8::try_from(code & 0xff).expect("masked to 8 bits");
            }
            Ok(WaitStatus::Signaled(pid, signal, _)) if pid == program => break 128 + signal as u8,
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return Err(context("wait for the program", error)),
        }
    };
    // To process 1, "all" is all but itself. Those left would hold the pipes, and the card, open.
    let _none_left = kill(Pid::from_raw(-1), Signal::SIGKILL);
    loop {
        match wait() {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(Errno::ECHILD) => return Ok(code),
            Err(error) => return Err(context("wait for the program's children", error)),
        }
    }
}
