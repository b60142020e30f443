//! Flow steering: tables, groups, entries, and the way of a packet through them.
//!
//! Points where real firmware may do otherwise are marked with the word *model*:
//! - which status and syndrome a refusal has, and the order of the checks;
//! - a table that is a destination (of an entry, or of a miss) cannot be destroyed; nor can a counter, reformat or
//!   header modification that an entry uses;
//! - a user may send packets to shared tables (uid 0xffff), but not change them;
//! - a miss may lead to any level;
//! - where a packet goes that no table takes: see [`pipeline`];
//! - a flow tag stays until another entry sets one; octets are counted as the frame was before the entry changed it.

pub mod index;
pub mod limits;
pub mod pipeline;
pub mod way;

mod command;
mod counter;
mod entry;
mod reformat;
mod table;
mod uses;
mod view;

pub use counter::Count;
pub use entry::{Actions, Destination, Target};
pub use limits::{Limits, TypeLimits};
pub use pipeline::{End, Outcome};
pub use table::{Miss, TableType};
pub use view::{EntryView, GroupView, RootView, TableView};

use crate::command::refusal::{Refusal, Syndrome};
use counter::Counters;
use reformat::{Modification, Reformat};
use std::collections::{BTreeMap, HashMap};
use table::Table;
use uses::Uses;

/// Where the way of a packet begins: one root for each type of table, vport and queue pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Root {
    kind: TableType,
    vport: u16,
    underlay_qpn: u32,
}

/// All steering objects of the card.
#[derive(Debug)]
pub struct Steering {
    limits: Limits,
    tables: BTreeMap<u32, Table>,
    roots: BTreeMap<Root, u32>,
    counters: Counters,
    reformats: HashMap<u32, Reformat>,
    modifications: HashMap<u32, Modification>,
    uses: Uses,
}

impl Steering {
    /// No objects yet.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            tables: BTreeMap::new(),
            roots: BTreeMap::new(),
            counters: Counters::default(),
            reformats: HashMap::new(),
            modifications: HashMap::new(),
            uses: Uses::default(),
        }
    }

    /// What the flow counter `id` has counted.
    pub fn count(&mut self, id: u32) -> Option<Count> {
        self.counters.get_mut(id).map(|c| *c)
    }
}

/// A refusal as the result of anything.
fn refuse<T>(syndrome: Syndrome, detail: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal::new(syndrome, detail))
}

#[cfg(test)]
mod tests;
