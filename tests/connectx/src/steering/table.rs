//! Flow tables and their groups.

use super::entry::Entry;
use super::index::{Criteria, Index};
use crate::command::refusal::{Refusal, Syndrome};
use std::collections::BTreeMap;
use uverbs_uapi::prm;

/// The type of a flow table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum TableType {
    /// What a function receives.
    NicRx = prm::FS_FT_NIC_RX,
    /// What a function sends.
    NicTx = prm::FS_FT_NIC_TX,
    /// From the switch to a vport.
    EgressAcl = prm::FS_FT_ESW_EGRESS_ACL,
    /// From a vport into the switch.
    IngressAcl = prm::FS_FT_ESW_INGRESS_ACL,
    /// The switch.
    Fdb = prm::FS_FT_FDB,
    /// Copies of what is received.
    SnifferRx = prm::FS_FT_SNIFFER_RX,
    /// Copies of what is sent.
    SnifferTx = prm::FS_FT_SNIFFER_TX,
    /// RDMA traffic received.
    RdmaRx = prm::FS_FT_RDMA_RX,
    /// RDMA traffic sent.
    RdmaTx = prm::FS_FT_RDMA_TX,
}

impl TableType {
    /// All types.
    pub const ALL: [Self; 9] = [
        Self::NicRx,
        Self::NicTx,
        Self::EgressAcl,
        Self::IngressAcl,
        Self::Fdb,
        Self::SnifferRx,
        Self::SnifferTx,
        Self::RdmaRx,
        Self::RdmaTx,
    ];

    /// The number in a command.
    #[must_use]
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// The name in the trace.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NicRx => "nic_rx",
            Self::NicTx => "nic_tx",
            Self::EgressAcl => "egress_acl",
            Self::IngressAcl => "ingress_acl",
            Self::Fdb => "fdb",
            Self::SnifferRx => "sniffer_rx",
            Self::SnifferTx => "sniffer_tx",
            Self::RdmaRx => "rdma_rx",
            Self::RdmaTx => "rdma_tx",
        }
    }

    /// Whether packets of this type may end in a receive object.
    #[must_use]
    pub const fn receives(self) -> bool {
        matches!(self, Self::NicRx | Self::RdmaRx | Self::SnifferRx | Self::SnifferTx)
    }

    /// Whether packets of this type may be sent to a vport.
    #[must_use]
    pub const fn switches(self) -> bool {
        matches!(self, Self::Fdb | Self::EgressAcl | Self::IngressAcl)
    }
}

impl TryFrom<u64> for TableType {
    type Error = Refusal;

    fn try_from(number: u64) -> Result<Self, Refusal> {
        Self::ALL
            .into_iter()
            .find(|t| u64::from(t.number()) == number)
            .ok_or_else(|| Refusal::new(Syndrome::UnknownTableType, format!("type {number:#x}")))
    }
}

/// What a table does with a packet that no entry takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Miss {
    /// What the type does by default.
    Default,
    /// On to this table.
    Table(u32),
    /// On to the other domain.
    SwitchDomain,
}

/// A group: a range of entries that compare the same fields.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) id: u32,
    pub(super) first: u32,
    pub(super) last: u32,
    pub(super) criteria: Criteria,
    pub(super) index: Index,
}

/// A flow table.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) kind: TableType,
    pub(super) level: u8,
    pub(super) log_size: u8,
    pub(super) uid: u16,
    pub(super) miss: Miss,
    /// Entries may add headers.
    pub(super) reformat: bool,
    /// Entries may remove headers.
    pub(super) decap: bool,
    /// The context as the creator wrote it, for queries.
    pub(super) context: Vec<u8>,
    /// Groups by first index: they do not overlap, so this is also the order of their entries.
    pub(super) groups: BTreeMap<u32, Group>,
    pub(super) entries: BTreeMap<u32, Entry>,
    /// Packets that no entry took.
    pub(super) misses: u64,
}

impl Table {
    pub(super) fn group(&self, id: u32) -> Option<&Group> {
        self.groups.values().find(|g| g.id == id)
    }

    pub(super) fn group_mut(&mut self, id: u32) -> Option<&mut Group> {
        self.groups.values_mut().find(|g| g.id == id)
    }

    /// The entry with the lowest index that takes `image` and that `accepts` lets.
    pub(super) fn find(&self, image: &[u8], accepts: impl Fn(&Entry) -> bool) -> Option<(u32, u32)> {
        self.groups.values().find_map(|group| {
            let candidates = group.index.candidates(&group.criteria, image)?;
            let hit = candidates.iter().find(|index| self.entries.get(index).is_some_and(&accepts))?;
            Some((group.id, *hit))
        })
    }
}
