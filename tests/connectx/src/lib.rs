//! An emulated ConnectX: a vfio-user server that the unmodified mlx5 driver brings up.
#![forbid(unsafe_code)]

pub mod bar;
pub mod capabilities;
pub mod command;
pub mod eq;
mod family;
pub mod layouts;
pub mod memory;
pub mod objects;
pub mod packet;
pub mod pci;
pub mod steering;
mod transport;
