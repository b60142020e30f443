//! Linux RDMA verbs and mlx5 steering anchors in pure Rust.
//!
//! This crate talks to an RDMA device straight through the kernel's uverbs ioctls: no libibverbs, no libmlx5, no C. It
//! finds and opens a device ([`Device`]), asks it what it is and what it can do ([`Context`]), and makes steering
//! anchors ([`SteeringAnchor`]): flow table ids through which packets that a program has taken into flow tables of its
//! own return to the kernel's steering.
//!
//! ```no_run
//! use uverbs::{Device, FlowTableType, Priority, SteeringAnchor};
//!
//! fn main() -> uverbs::Result<()> {
//!     for device in Device::list()? {
//!         println!("{}: driver {}, node {}", device.name(), device.driver(), device.node().display());
//!     }
//!
//!     let context = Device::by_name("mlx5_0")?.open()?;
//!     let port = context.query_port(1)?;
//!     println!("port 1 is {}, with an MTU of {} bytes", port.state(), port.active_mtu());
//!
//!     // Needs CAP_NET_RAW. The same type and priority give the same id, in every process.
//!     let anchor = SteeringAnchor::create(&context, FlowTableType::NicRx, Priority::new(3)?)?;
//!     println!("forward packets to flow table {}", anchor.id());
//!
//!     // Dropping it would do as well; this way an error is seen.
//!     anchor.destroy()?;
//!     Ok(())
//! }
//! ```
//!
//! # For those who know the C API
//!
//! | C (`infiniband/verbs.h`, `mlx5dv.h`) | here |
//! |---|---|
//! | `ibv_get_device_list` | [`Device::list`] |
//! | `ibv_get_device_name`, `_index`, `_guid` | [`Device::name`], [`index`](Device::index), [`node_guid`](Device::node_guid) |
//! | `ibv_open_device` | [`Device::open`]: no DEVX, no doorbell pages, nothing mapped |
//! | `mlx5dv_open_device` with `MLX5DV_CONTEXT_FLAGS_DEVX` | [`Device::open_devx`]: no silent second try without |
//! | `ibv_import_device` | [`Context::from_fd`] |
//! | `ibv_close_device` | dropping the [`Context`] and what was made on it |
//! | `ibv_query_device_ex`, `ibv_query_port` | [`Context::query_device`], [`query_port`](Context::query_port) |
//! | `ibv_query_gid_table`, `ibv_query_gid_ex` | [`Context::gids`], [`gid`](Context::gid) |
//! | `mlx5dv_query_device` | [`Context::mlx5`], [`Context::hca_capabilities`] |
//! | `mlx5dv_create_steering_anchor` | [`SteeringAnchor::create`] |
//! | `mlx5dv_steering_anchor_attr.ft_type` | [`FlowTableType`] |
//! | `mlx5dv_steering_anchor_attr.priority` | [`Priority`]: 0 to 15 by type |
//! | `mlx5dv_steering_anchor_attr.comp_mask` | nothing: reserved and always 0 |
//! | `mlx5dv_steering_anchor.id` | [`SteeringAnchor::id`] |
//! | `mlx5dv_destroy_steering_anchor` | [`SteeringAnchor::destroy`], or drop |
//! | `errno` | [`Error`]: with it, who lacks what, and what to do |
//!
//! # Features
//!
//! * `std` (default): everything. Without it, the crate is `no_std`, allocates nothing, and offers
//!   [`bare`]: from the path of a node to an anchor.
//! * `cli`: the command-line tool.
#![cfg_attr(not(any(feature = "std", test)), no_std)]
#![deny(unsafe_code)]

pub mod bare;
#[cfg(feature = "bench-internals")]
#[doc(hidden)]
#[expect(unsafe_code, reason = "the system call on a device")]
pub mod command;
#[cfg(not(feature = "bench-internals"))]
#[expect(unsafe_code, reason = "the system call on a device")]
mod command;
#[cfg(feature = "std")]
pub mod context;
#[cfg(feature = "std")]
pub mod device;
#[cfg(feature = "std")]
pub mod devx;
#[cfg(feature = "std")]
mod driver;
pub mod error;
#[cfg(feature = "std")]
pub mod flow;
mod get_context;
mod kernel;
pub mod steering;

#[cfg(feature = "std")]
pub use self::{
    context::{
        CapabilityGroup, Context, DeviceAttributes, Gid, GidEntry, GidType, HcaCapabilities, LinkLayer,
        Mlx5Attributes, NodeGuid, Object, PortAttributes, PortState,
    },
    device::{Device, Roots},
    driver::DriverId,
    error::DestroyError,
    steering::SteeringAnchor,
};
/// The examples of the README and of the guide are tests too.
#[cfg(all(doctest, feature = "std"))]
#[doc = include_str!("../README.md")]
#[doc = include_str!("../docs/steering-anchors.md")]
struct Guides;

pub use self::{
    error::{Errno, Error, Lacking, Method, Reason, Result},
    kernel::KernelRelease,
    steering::{FlowTableId, FlowTableType, Priority},
};
