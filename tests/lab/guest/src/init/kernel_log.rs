//! The kernel's log and clock.

use std::{
    fs::{self, OpenOptions},
    io::{self, Read},
    os::unix::fs::OpenOptionsExt,
    time::Duration,
};

use nix::{errno::Errno, fcntl::OFlag};

use crate::context;

/// As many lines as a reader wants to see below an error.
const LINES: usize = 60;

/// Time since the kernel started its clock.
pub(crate) fn uptime() -> io::Result<Duration> {
    let text = fs::read_to_string("/proc/uptime")?;
    let seconds = text
        .split(' ')
        .next()
        .and_then(|word| word.parse().ok())
        .ok_or_else(|| context("read the kernel's clock", &text))?;
    Ok(Duration::from_secs_f64(seconds))
}

/// The last lines of the log, each with its time, or why they cannot be had.
pub(crate) fn tail() -> String {
    read().map_or_else(
        |error| format!("(the kernel's log cannot be read: {error})"),
        |lines| lines[lines.len().saturating_sub(LINES)..].join("\n"),
    )
}

/// Every record there is. One read of the device gives one record: `level,sequence,microseconds,flags;text`.
fn read() -> io::Result<Vec<String>> {
    let mut log = OpenOptions::new().read(true).custom_flags(OFlag::O_NONBLOCK.bits()).open("/dev/kmsg")?;
    let mut lines = Vec::new();
    let mut record = [0; 8192];
    loop {
        match log.read(&mut record) {
            Ok(length) => lines.push(line(&String::from_utf8_lossy(&record[..length]))),
            Err(error) if error.raw_os_error() == Some(Errno::EAGAIN as i32) => return Ok(lines),
            // Records were overwritten between two reads; the next read goes on with the oldest one left.
            Err(error) if error.raw_os_error() == Some(Errno::EPIPE as i32) => {}
            Err(error) => return Err(error),
        }
    }
}

fn line(record: &str) -> String {
    let (head, text) = record.split_once(';').unwrap_or(("", record));
    let text = text.lines().next().unwrap_or_default();
    match head.split(',').nth(2).and_then(|time| time.parse::<u64>().ok()) {
        Some(time) => format!("[{:5}.{:06}] {text}", time / 1_000_000, time % 1_000_000),
        None => text.to_owned(),
    }
}
