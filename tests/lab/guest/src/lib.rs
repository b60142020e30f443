//! What the lab's host and its guest say to each other.
//!
//! The host puts a [`Job`] into the guest's initramfs at [`JOB_PATH`]. The guest's init (the program `lab-init` of this
//! package) loads the modules, runs the job's program, and tells the host by [`ToHost`] messages what happens; the host
//! answers with [`ToGuest`]. Messages travel over the virtio-serial port [`CHANNEL_PORT`], framed by [`channel`]: the
//! kernel's console is never used for them.

#![forbid(unsafe_code)]

pub mod channel;
mod job;
mod message;

pub use job::{JOB_PATH, Job, MODULE_DIR, MODULE_LIST, PROGRAM_DIR};
pub use message::{ToGuest, ToHost};

/// Name of the virtio-serial port that carries the messages.
pub const CHANNEL_PORT: &str = "lab.channel";
