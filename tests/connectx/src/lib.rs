//! An emulated ConnectX: a vfio-user server that the unmodified mlx5 driver brings up.
//!
//! The card is a model: it executes the commands that the driver and its users send, holds their objects, refuses
//! what firmware refuses, and sends packets through the flow tables it was given. Where it is not known what real
//! firmware does, the word *model* says so.
//!
//! ```text
//! server ─ transport ─ card ┬ pci, bar          what QEMU and the driver see
//!        └ control          ├ command           the command queue, requests, refusals
//!                           ├ family::*         commands on ports, user contexts, queue pairs, …
//!                           ├ steering, queues  flow tables; completion, send and receive queues
//!                           ├ eq, memory        events and DMA
//!                           └ objects           who owns what, and what is left at the end
//! ```
#![forbid(unsafe_code)]

pub mod bar;
pub mod capabilities;
mod card;
pub mod command;
mod config;
mod control;
pub mod datapath;
pub mod eq;
mod family;
mod faults;
pub mod layouts;
pub mod memory;
pub mod objects;
pub mod packet;
pub mod pci;
mod profile;
pub mod queues;
mod report;
mod server;
pub mod steering;
mod trace;
mod transport;
pub mod wire;

pub use config::Config;
pub use faults::{BadFault, Fault};
pub use profile::{Profile, UnknownProfile};
pub use report::Report;
pub use server::{Server, Stop};
