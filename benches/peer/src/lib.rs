//! The same work done by this crate, by rdma-core, and by the bare kernel, measured in one run of one guest.
//!
//! A *peer* is a program that does the work: `ours` on this crate's typed API, `c/rdma_core.c` on libibverbs and libmlx5
//! as they are, `c/floor.c` on nothing but ioctls whose buffers are built once. Peers wait for a line
//! `SCENARIO COUNT` and answer with `COUNT` samples in ticks of the processor's clock, which are instructions where the
//! machine counts them. The *harness* asks them in turn and prints [`Line`]s; the lab on the host makes rows of them.

#![forbid(unsafe_code)]

use serde::{Deserialize, Serialize};

#[cfg(feature = "programs")]
pub mod ours;

/// Who does the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Peer {
    /// This crate's typed API.
    Ours,
    /// libibverbs and libmlx5, as a distribution ships them.
    RdmaCore,
    /// The same, linked into one static program.
    RdmaCoreStatic,
    /// Ioctls whose buffers are built once: what the kernel alone costs.
    Floor,
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// An anchor is created, its priority being held: ticks.
    Create,
    /// Such an anchor is destroyed: ticks.
    Destroy,
    /// Both: time, as a ratio to the floor's.
    PairTime,
    /// Both: calls of the heap.
    PairHeapCalls,
    /// The first anchor of its priority is created and destroyed: ticks.
    FirstReference,
    /// A program opens a device that it has listed, and that is in use already: ticks.
    Open,
    /// It does so again: ticks.
    OpenAgain,
    /// All devices are listed: ticks.
    List,
    /// The device of a name is found: ticks.
    Name,
    /// The GIDs in use are read: ticks.
    Gids,
    /// A flow table entry is asked for, short of the kernel: ticks.
    Entry,
    /// A program runs from its start to the first id to its end, and knows the device's name: time, as a ratio to the
    /// floor's.
    NamedTime,
    /// The same in ticks.
    Named,
    /// The same, but the device is looked for: time, as a ratio to the floor's.
    ListedTime,
    /// The same in ticks.
    Listed,
    /// Ioctls of RDMA on that way.
    Ioctls,
    /// Firmware commands on that way.
    FirmwareCommands,
    /// Firmware commands on that way with DEVX.
    FirmwareCommandsDevx,
    /// System calls on that way, without those by which any such program starts, prints a line and ends.
    Syscalls,
    /// Memory mapped on that way, in KiB.
    MappedMemory,
    /// Peak memory on that way, in KiB.
    PeakMemory,
    /// Size of the static program that goes that way, in KiB.
    StaticSize,
    /// Size of the least program that makes an anchor, in KiB.
    BareSize,
}

/// What a cost may grow with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Axis {
    /// Anchors alive.
    Handles,
    /// Threads that create and destroy at the same time.
    Threads,
    /// Cards in the machine.
    Cards,
}

/// A line that the harness prints.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Line {
    /// A quantity, of one peer.
    Value {
        /// What.
        quantity: Quantity,
        /// Whose.
        peer: Peer,
        /// How much.
        value: f64,
    },
    /// The cost of one operation where there are so many of something.
    Point {
        /// Of what.
        axis: Axis,
        /// How many.
        count: u32,
        /// What is done.
        quantity: Quantity,
        /// By whom.
        peer: Peer,
        /// Ticks.
        value: f64,
    },
}
