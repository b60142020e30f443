//! The tables as they stand, for the control socket and for tests.

use super::Steering;
use super::table::Miss;
use serde::Serialize;

/// A flow table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TableView {
    /// Its id.
    pub table: u32,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Its level.
    pub level: u8,
    /// Number of entries that it has room for, as a power of two.
    pub log_size: u8,
    /// Its owner.
    pub uid: u16,
    /// The table that misses go to.
    pub miss: Option<u32>,
    /// Its groups.
    pub groups: Vec<GroupView>,
    /// Its entries, by index.
    pub entries: Vec<EntryView>,
    /// Packets that an entry took, entries since deleted not included.
    pub hits: u64,
    /// Packets that no entry took.
    pub misses: u64,
    /// How often it is a destination.
    pub references: usize,
}

/// A flow group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GroupView {
    /// Its id.
    pub group: u32,
    /// First index.
    pub first: u32,
    /// Last index.
    pub last: u32,
}

/// An entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EntryView {
    /// Its index in the table.
    pub index: u32,
    /// Id of its group.
    pub group: u32,
    /// Its owner.
    pub uid: u16,
    /// Packets that it took.
    pub hits: u64,
}

/// A root.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RootView {
    /// Type of the table.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The vport whose root it is.
    pub vport: u16,
    /// The queue pair whose root it is, 0 for all.
    pub underlay_qpn: u32,
    /// Id of the table.
    pub table: u32,
}

impl Steering {
    /// Every flow table, by id.
    #[must_use]
    pub fn tables(&self) -> Vec<TableView> {
        let view = |(&id, table): (&u32, &super::table::Table)| TableView {
            table: id,
            kind: table.kind.name(),
            level: table.level,
            log_size: table.log_size,
            uid: table.uid,
            miss: match table.miss {
                Miss::Table(id) => Some(id),
                Miss::Default | Miss::SwitchDomain => None,
            },
            groups: table
                .groups
                .values()
                .map(|g| GroupView { group: g.id, first: g.first, last: g.last })
                .collect(),
            entries: table
                .entries
                .iter()
                .map(|(&index, e)| EntryView { index, group: e.says.group, uid: e.uid, hits: e.hits })
                .collect(),
            hits: table.entries.values().map(|e| e.hits).sum(),
            misses: table.misses,
            references: self.uses.of(super::uses::Used::Table(id)),
        };
        self.tables.iter().map(view).collect()
    }

    /// Every root.
    #[must_use]
    pub fn roots(&self) -> Vec<RootView> {
        self.roots
            .iter()
            .map(|(root, &table)| RootView {
                kind: root.kind.name(),
                vport: root.vport,
                underlay_qpn: root.underlay_qpn,
                table,
            })
            .collect()
    }
}
