//! What this crate refuses before it asks the kernel.

use thiserror::Error;

use super::Contradiction;
use crate::{FlowTableType, Priority};

/// A request that could only fail, or that would do harm if it did not. Nothing has been sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Invalid {
    /// The packets would come back to where they came from: an anchor leads *into* the kernel's table of its
    /// priority, where the flow finds them again.
    #[error(
        "packets would go in circles: a flow of priority {flow} leads to an anchor of priority {anchor}, which has to \
         be greater"
    )]
    Loop {
        /// The flow that leads into own tables.
        flow: Priority,
        /// The anchor they lead to.
        anchor: Priority,
    },
    /// Tables, anchors, matchers and actions of different types do not go together.
    #[error("a {found} object does not go with a {wanted} one")]
    TableType {
        /// The type of the table or matcher.
        wanted: FlowTableType,
        /// The type of what was to go with it.
        found: FlowTableType,
    },
    /// Firmware objects belong to the context that made them.
    #[error("the object belongs to another context")]
    OtherContext,
    /// The anchor is of another device.
    #[error("the anchor belongs to another device")]
    OtherDevice,
    /// Packets go from lower to higher levels.
    #[error(
        "a table at level {from} cannot forward to one at level {to}: build it with `before` or `behind`"
    )]
    LevelOrder {
        /// Level of the table that forwards.
        from: u8,
        /// Level of the table it forwards to.
        to: u8,
    },
    /// There is no level for the table.
    #[error("no level is left for the table: it would have to lie from {lowest} to {highest}")]
    NoLevel {
        /// The lowest level it could have.
        lowest: u8,
        /// The highest.
        highest: u8,
    },
    /// The table lies too low for a flow of this priority to lead to it.
    #[error(
        "a table at level {level} is too low for flows of priority {priority}: those lead above level {table}"
    )]
    BelowFlow {
        /// Level of the table.
        level: u8,
        /// Priority of the flow.
        priority: Priority,
        /// Level of the kernel's table of that priority.
        table: u8,
    },
    /// The card does not let a process forward to an anchor, which lies at a lower level than any own table.
    #[error(
        "the card lacks ignore_flow_level for {table_type} tables, without which no entry can lead to an anchor"
    )]
    NoIgnoreFlowLevel {
        /// Type of the table.
        table_type: FlowTableType,
    },
    /// This function has no such tables.
    #[error("this function of the card has no {table_type} flow tables")]
    NoTables {
        /// Type of the table.
        table_type: FlowTableType,
    },
    /// A number is greater than what it is written to can hold, or than the card's limit.
    #[error("{what}: {value:#x} is more than {maximum:#x}")]
    TooGreat {
        /// What the number is.
        what: &'static str,
        /// The number.
        value: u64,
        /// The greatest.
        maximum: u64,
    },
    /// The group is empty or does not lie in its table.
    #[error("entries {first} to {last} are no part of a table of {entries}")]
    Range {
        /// First entry asked for.
        first: u32,
        /// Last entry asked for.
        last: u32,
        /// Entries of the table.
        entries: u32,
    },
    /// The entry does not lie in its group.
    #[error("entry {index} is not in the group of entries {first} to {last}")]
    Index {
        /// Index asked for.
        index: u32,
        /// First entry of the group.
        first: u32,
        /// Last entry of the group.
        last: u32,
    },
    /// The match asks about other bits of a packet than its group or matcher.
    #[error("the match does not ask about the same fields as the group or matcher it is for")]
    Criteria,
    /// An entry drops, allows, or forwards.
    #[error("an entry either forwards, or drops, or allows")]
    Verdict,
    /// More destinations than this crate sends in one command.
    #[error("{count} destinations are more than the {maximum} of one entry")]
    Destinations {
        /// How many were asked for.
        count: usize,
        /// How many there may be.
        maximum: usize,
    },
    /// Something still uses the object, or holds another handle of it.
    #[error("the object is still in use")]
    InUse,
    /// No packet matches.
    #[error(transparent)]
    Contradiction(#[from] Contradiction),
}
