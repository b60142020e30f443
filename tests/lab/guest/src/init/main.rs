//! The guest's init: sets the stage, runs one program, tells the host, powers off.

#![forbid(unsafe_code)]

mod channel;
mod filesystems;
mod kernel_log;
mod modules;
mod netlink;
mod network;
mod power;
mod program;

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use lab_guest::{JOB_PATH, Job, ToHost};

use crate::channel::Channel;

fn main() {
    if let Err(error) = stage_and_run() {
        // There is no channel yet, or no more: the console is what is left.
        eprintln!("lab-init: {error}");
    }
    power::off();
}

/// Everything from the first mount to the program's end.
fn stage_and_run() -> io::Result<()> {
    filesystems::mount_all().map_err(|error| context("mount the file systems", error))?;
    let job = std::fs::read(JOB_PATH)
        .and_then(|bytes| Job::from_bytes(&bytes))
        .map_err(|error| context("read the job", error))?;
    // The channel is a module too: what goes wrong before it is there, is told when it is.
    let loaded = modules::load_all();
    let channel = Arc::new(Channel::open().map_err(|error| context("open the channel to the host", error))?);
    let outcome = loaded.and_then(|()| run(&job, &channel));
    if let Err(error) = outcome {
        channel.send(&ToHost::Failed { reason: error.to_string(), kernel_log: kernel_log::tail() })?;
    }
    Ok(())
}

fn run(job: &Job, channel: &Arc<Channel>) -> io::Result<()> {
    wait_for(&job.wait_for, job.patience)?;
    network::set_up(job)?;
    channel.send(&ToHost::Ready { uptime: kernel_log::uptime()? })?;
    let code = program::run(job, channel)?;
    for name in &job.outputs {
        let path = Path::new(program::FOLDER).join(name);
        // The host knows what it asked for and misses what is not there.
        if let Ok(bytes) = std::fs::read(path) {
            channel.send(&ToHost::File { name: name.clone(), bytes })?;
        }
    }
    // The driver gives everything back, so that the card can tell what was left behind.
    power::release_cards()?;
    channel.send(&ToHost::Exit { code })
}

fn wait_for(paths: &[PathBuf], patience: Duration) -> io::Result<()> {
    let deadline = Instant::now() + patience;
    for path in paths {
        while !path.exists() {
            if Instant::now() > deadline {
                return Err(io::Error::other(format!(
                    "{} did not appear within {} s",
                    path.display(),
                    patience.as_secs()
                )));
            }
            thread::sleep(Duration::from_millis(10));
        }
    }
    Ok(())
}

/// An error that says what could not be done.
fn context(what: &str, error: impl std::fmt::Display) -> io::Error {
    io::Error::other(format!("cannot {what}: {error}"))
}
