//! The command interface.

pub mod refusal;
