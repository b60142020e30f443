//! An emulated ConnectX: a vfio-user server that the unmodified mlx5 driver brings up.
#![forbid(unsafe_code)]

pub mod command;
pub mod memory;
