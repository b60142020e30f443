//! The command interface: the queue in the guest's memory, commands and answers, refusals.

pub mod lengths;
pub mod queue;
pub mod refusal;
mod request;

pub use request::{Answer, Reply, Request};
