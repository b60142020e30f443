//! Steering anchors: a way back from own flow tables into the kernel's steering.
//!
//! A packet that a program has taken into flow tables of its own (see the crate's module `flow`) is lost to the
//! kernel, unless it is forwarded to a [`SteeringAnchor`]'s [id](SteeringAnchor::id): the id of a flow table from which
//! it goes on through the kernel's table of the anchor's type and priority, as if nothing had happened.
//!
//! Since Linux 6.0, on cards whose firmware lets users refer to shared objects. What works:
//!
//! | type | needs |
//! |---|---|
//! | [`NicRx`](FlowTableType::NicRx) | Linux 6.0 |
//! | [`NicTx`](FlowTableType::NicTx) | Linux 6.4 |
//! | [`Fdb`](FlowTableType::Fdb) | Linux 6.0, and the function that manages the embedded switch |
//! | [`RdmaRx`](FlowTableType::RdmaRx), [`RdmaTx`](FlowTableType::RdmaTx) | no known kernel takes them |
//!
//! In the kernel tree: `drivers/infiniband/hw/mlx5/fs.c`.

#[cfg(feature = "std")]
mod anchor;
pub(crate) mod call;
mod flow_table;
mod priority;
#[cfg(all(test, feature = "std"))]
mod tests;

#[cfg(feature = "std")]
pub use self::anchor::SteeringAnchor;
pub use self::{
    flow_table::{FlowTableId, FlowTableType},
    priority::Priority,
};
