//! The commands of `cargo lab`, one file each.

pub(crate) mod bench;
pub(crate) mod demo;
pub(crate) mod exec;
pub(crate) mod peer;
pub(crate) mod run;
pub(crate) mod test;
