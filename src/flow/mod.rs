//! The sandbox: own flow tables, and the kernel's flows that lead packets into them.
//!
//! ```text
//!  wire ──▶ kernel's tables ── Flow ──▶ FlowTable ── FlowEntry ──▶ SteeringAnchor ──▶ kernel's tables ──▶ sockets
//!           of priority p               own, DEVX                  of priority q > p   of priority q
//! ```
//!
//! A [`FlowMatcher`] and a [`Flow`] take packets out of the kernel's steering into a [`FlowTable`] of this process.
//! There, the first [`FlowEntry`] that matches decides: drop, count, mark, change, forward to another table, or hand
//! back to the kernel through a [`SteeringAnchor`](crate::SteeringAnchor). What packets have to be is a [`Match`],
//! what happens to them are [`Actions`].
//!
//! What the types see to:
//!
//! * **Order.** Everything holds what it leads to, so it does not matter in what order things are dropped; an anchor
//!   cannot be destroyed while an entry points to it, which would drop packets without a sound. `destroy` says if
//!   something is still in use, and gives the object back.
//! * **No circles.** An anchor leads *into* the kernel's table of its priority. A flow of priority p into tables from
//!   which an anchor of priority p or less is reached is refused, in whichever order flows, entries and misses are
//!   added or changed.
//! * **Levels.** A table forwards to tables of higher levels only; the levels are chosen here
//!   ([`FlowTableBuilder::before`], [`FlowTableBuilder::behind`]) and checked against the card. An anchor lies below
//!   them all: entries say so to the card, if it can do that.
//!
//! Own tables need a context opened by [`Device::open_devx`](crate::Device::open_devx), and no privilege. Flows need
//! `CAP_NET_RAW`.

mod actions;
mod capabilities;
mod counter;
mod entry;
mod firmware;
mod group;
mod identity;
mod invalid;
mod kept;
mod modify_header;
mod parameters;
mod reformat;
mod roads;
mod rule;
mod shared;
mod table;
mod tag;
#[cfg(test)]
mod tests;

pub use self::{
    actions::{Actions, Destination, VlanTag},
    capabilities::FlowTableCapabilities,
    counter::{Count, FlowCounter},
    entry::FlowEntry,
    group::FlowGroup,
    invalid::Invalid,
    modify_header::{HeaderChange, HeaderField, ModifyHeader},
    parameters::{
        Contradiction, Headers, Masked, Match, MatchBuilder, MetadataRegister, MplsStack, VlanKind,
    },
    reformat::{PacketReformat, ReformatKind},
    rule::{Flow, FlowBuilder, FlowMatcher, FlowTarget},
    table::{FlowTable, FlowTableBuilder},
    tag::FlowTag,
};
