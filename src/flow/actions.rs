//! What an entry does with a packet.

use std::sync::Arc;

use uverbs_uapi::prm;

use super::{
    FlowCounter, FlowTable, FlowTag, Invalid, ModifyHeader, PacketReformat,
    identity::{same_context, same_device},
    roads::{self, PlaceId, Way},
};
use crate::{FlowTableId, FlowTableType, Priority, SteeringAnchor};

/// Where an entry sends a packet.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Destination {
    /// Back into the kernel's steering. As long as an entry holds the anchor, it cannot be destroyed.
    Anchor(Arc<SteeringAnchor>),
    /// Back into the kernel's steering, through an anchor that somebody else holds. Should they destroy the last
    /// anchor of this type and priority, the packets are dropped.
    ///
    /// The caller states the type and the priority, so that circles can be refused.
    ForeignAnchor {
        /// The anchor's id.
        id: FlowTableId,
        /// Its type.
        table_type: FlowTableType,
        /// Its priority.
        priority: Priority,
    },
    /// Another own table, at a higher level.
    Table(FlowTable),
    /// A receive side TIR of this number, which the caller keeps in existence.
    Tir(u32),
    /// A vport, for [`FlowTableType::Fdb`].
    Vport(u16),
    /// The wire, for [`FlowTableType::Fdb`].
    Uplink,
}

impl From<Arc<SteeringAnchor>> for Destination {
    fn from(anchor: Arc<SteeringAnchor>) -> Self {
        Self::Anchor(anchor)
    }
}

impl From<&Arc<SteeringAnchor>> for Destination {
    fn from(anchor: &Arc<SteeringAnchor>) -> Self {
        Self::Anchor(Arc::clone(anchor))
    }
}

impl From<FlowTable> for Destination {
    fn from(table: FlowTable) -> Self {
        Self::Table(table)
    }
}

impl From<&FlowTable> for Destination {
    fn from(table: &FlowTable) -> Self {
        Self::Table(table.clone())
    }
}

impl Destination {
    /// Type and number in a destination list.
    fn encode(&self) -> (u8, u32) {
        match self {
            Self::Anchor(anchor) => (prm::MLX5_IFC_FLOW_DESTINATION_TYPE_FLOW_TABLE, anchor.id().get()),
            Self::ForeignAnchor { id, .. } => (prm::MLX5_IFC_FLOW_DESTINATION_TYPE_FLOW_TABLE, id.get()),
            Self::Table(table) => (prm::MLX5_IFC_FLOW_DESTINATION_TYPE_FLOW_TABLE, table.id().get()),
            Self::Tir(number) => (prm::MLX5_IFC_FLOW_DESTINATION_TYPE_TIR, *number),
            Self::Vport(number) => (prm::MLX5_IFC_FLOW_DESTINATION_TYPE_VPORT, (*number).into()),
            Self::Uplink => (prm::MLX5_IFC_FLOW_DESTINATION_TYPE_UPLINK, 0),
        }
    }

    /// Whether it lies at a level that no own table is below: an anchor's is 1.
    const fn is_below(&self) -> bool {
        matches!(self, Self::Anchor(_) | Self::ForeignAnchor { .. })
    }

    /// The way that it is on the map of [`roads`].
    pub(super) fn way(&self) -> Option<Way> {
        match self {
            Self::Anchor(anchor) => Some(Way::Anchor(anchor.priority())),
            Self::ForeignAnchor { priority, .. } => Some(Way::Anchor(*priority)),
            Self::Table(table) => Some(Way::Table(table.place())),
            Self::Tir(_) | Self::Vport(_) | Self::Uplink => None,
        }
    }

    /// Whether an entry of `table` can lead here, or the table itself for what matches no entry.
    pub(super) fn check(&self, table: &FlowTable) -> Result<(), Invalid> {
        let of_type = |found| match table.table_type() {
            wanted if wanted == found => Ok(()),
            wanted => Err(Invalid::TableType { wanted, found }),
        };
        match self {
            Self::Anchor(anchor) => {
                of_type(anchor.table_type())?;
                same_device(table.context(), anchor.context())
            }
            Self::ForeignAnchor { table_type, .. } => of_type(*table_type),
            Self::Table(next) => {
                of_type(next.table_type())?;
                same_context(table.context(), next.object())?;
                let (from, to) = (table.level(), next.level());
                (to > from).then_some(()).ok_or(Invalid::LevelOrder { from, to })
            }
            Self::Tir(number) => at_most("number of a TIR", *number, 0xff_ffff),
            Self::Vport(_) | Self::Uplink => of_type(FlowTableType::Fdb),
        }
    }
}

fn at_most(what: &'static str, value: u32, maximum: u64) -> Result<(), Invalid> {
    let value = u64::from(value);
    if value <= maximum { Ok(()) } else { Err(Invalid::TooGreat { what, value, maximum }) }
}

/// None, one or several: the usual one needs no allocation.
#[derive(Clone, Debug, Default)]
enum Destinations {
    #[default]
    None,
    One(Destination),
    Many(Vec<Destination>),
}

impl Destinations {
    fn as_slice(&self) -> &[Destination] {
        match self {
            Self::None => &[],
            Self::One(destination) => core::slice::from_ref(destination),
            Self::Many(destinations) => destinations,
        }
    }

    fn push(self, destination: Destination) -> Self {
        match self {
            Self::None => Self::One(destination),
            Self::One(first) => Self::Many(vec![first, destination]),
            Self::Many(mut destinations) => {
                destinations.push(destination);
                Self::Many(destinations)
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Forward,
    Drop,
    Allow,
}

/// A VLAN tag to put on a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VlanTag {
    /// Ethertype: 0x8100 for a customer tag, 0x88a8 for a service tag.
    pub ethertype: u16,
    /// Priority, 0 to 7.
    pub priority: u8,
    /// Id, 0 to 4095.
    pub id: u16,
}

impl VlanTag {
    fn encode(self) -> Result<u32, Invalid> {
        at_most("VLAN id", self.id.into(), prm::vlan::VID.max())?;
        at_most("VLAN priority", self.priority.into(), prm::vlan::PRIO.max())?;
        let mut bytes = [0; prm::vlan::SIZE];
        prm::vlan::ETHTYPE.set(&mut bytes, self.ethertype.into());
        prm::vlan::PRIO.set(&mut bytes, self.priority.into());
        prm::vlan::VID.set(&mut bytes, self.id.into());
        Ok(u32::from_be_bytes(bytes))
    }
}

/// What an entry does with the packets that match it: where they go, and what happens to them on the way.
///
/// ```no_run
/// # use std::sync::Arc;
/// # use uverbs::{Context, SteeringAnchor, flow::{Actions, Destination, FlowCounter}};
/// # fn example(context: &Context, anchor: Arc<SteeringAnchor>) -> uverbs::Result<()> {
/// let counter = FlowCounter::create(context)?;
/// let back = Actions::forward_to(&anchor).count(&counter);
/// let back_and_here = Actions::forward_to(&anchor).also_to(Destination::Tir(7));
/// let gone = Actions::drop().count(&counter);
/// # Ok(())
/// # }
/// ```
#[doc(alias = "flow_context")]
#[derive(Clone, Debug)]
#[must_use]
pub struct Actions {
    verdict: Verdict,
    destinations: Destinations,
    counter: Option<FlowCounter>,
    tag: Option<FlowTag>,
    reformat: Option<PacketReformat>,
    modify: Option<ModifyHeader>,
    decapsulate: bool,
    pop_vlan: u8,
    push_vlan: [Option<VlanTag>; 2],
}

impl Actions {
    const fn of(verdict: Verdict, destinations: Destinations) -> Self {
        Self {
            verdict,
            destinations,
            counter: None,
            tag: None,
            reformat: None,
            modify: None,
            decapsulate: false,
            pop_vlan: 0,
            push_vlan: [None; 2],
        }
    }

    /// Sends packets there.
    #[doc(alias = "MLX5_FLOW_CONTEXT_ACTION_FWD_DEST")]
    pub fn forward_to(destination: impl Into<Destination>) -> Self {
        Self::of(Verdict::Forward, Destinations::One(destination.into()))
    }

    /// Drops packets.
    #[doc(alias = "MLX5_FLOW_CONTEXT_ACTION_DROP")]
    pub const fn drop() -> Self {
        Self::of(Verdict::Drop, Destinations::None)
    }

    /// Lets packets go their usual way; of a transmit side table, to the wire.
    #[doc(alias = "MLX5_FLOW_CONTEXT_ACTION_ALLOW")]
    pub const fn allow() -> Self {
        Self::of(Verdict::Allow, Destinations::None)
    }

    /// Sends a copy of each packet there as well.
    pub fn also_to(mut self, destination: impl Into<Destination>) -> Self {
        self.destinations = self.destinations.push(destination.into());
        self
    }

    /// Counts packets.
    #[doc(alias = "MLX5_FLOW_CONTEXT_ACTION_COUNT")]
    pub fn count(mut self, counter: &FlowCounter) -> Self {
        self.counter = Some(counter.clone());
        self
    }

    /// Marks packets.
    #[doc(alias = "flow_tag")]
    pub const fn tag(mut self, tag: FlowTag) -> Self {
        self.tag = Some(tag);
        self
    }

    /// Adds or replaces headers. The table has to be built with
    /// [`reformats`](super::FlowTableBuilder::reformats).
    #[doc(alias = "MLX5_FLOW_CONTEXT_ACTION_PACKET_REFORMAT")]
    pub fn reformat(mut self, reformat: &PacketReformat) -> Self {
        self.reformat = Some(reformat.clone());
        self
    }

    /// Changes header fields or metadata.
    #[doc(alias = "MLX5_FLOW_CONTEXT_ACTION_MOD_HDR")]
    pub fn modify(mut self, modify: &ModifyHeader) -> Self {
        self.modify = Some(modify.clone());
        self
    }

    /// Removes a tunnel's headers up to the inner Ethernet header. The table has to be built with
    /// [`decapsulates`](super::FlowTableBuilder::decapsulates).
    #[doc(alias = "MLX5_FLOW_CONTEXT_ACTION_DECAP")]
    pub const fn decapsulate(mut self) -> Self {
        self.decapsulate = true;
        self
    }

    /// Removes the outer VLAN tag; called twice, two.
    #[doc(alias = "MLX5_FLOW_CONTEXT_ACTION_VLAN_POP")]
    pub const fn pop_vlan(mut self) -> Self {
        self.pop_vlan = self.pop_vlan.saturating_add(1);
        self
    }

    /// Puts a VLAN tag on packets; called twice, two, the later one outside.
    #[doc(alias = "MLX5_FLOW_CONTEXT_ACTION_VLAN_PUSH")]
    pub const fn push_vlan(mut self, tag: VlanTag) -> Self {
        self.push_vlan = match self.push_vlan {
            [None, _] => [Some(tag), None],
            [first, _] => [first, Some(tag)],
        };
        self
    }

    /// Where packets go: nowhere if they are dropped or allowed.
    #[must_use]
    pub fn destinations(&self) -> &[Destination] {
        self.destinations.as_slice()
    }

    /// The counter.
    #[must_use]
    pub const fn counter(&self) -> Option<&FlowCounter> {
        self.counter.as_ref()
    }

    /// What the firmware has to be told, for an entry of `table`.
    pub(super) fn encode(&self, table: &FlowTable) -> Result<Encoded, Invalid> {
        self.check(table)?;
        let mut encoded = Encoded {
            action: match self.verdict {
                Verdict::Forward => prm::MLX5_FLOW_CONTEXT_ACTION_FWD_DEST,
                Verdict::Drop => prm::MLX5_FLOW_CONTEXT_ACTION_DROP,
                Verdict::Allow => prm::MLX5_FLOW_CONTEXT_ACTION_ALLOW,
            },
            ignore_flow_level: self.destinations().iter().any(Destination::is_below),
            tag: self.tag.map_or(0, FlowTag::get),
            ..Encoded::default()
        };
        let action = &mut encoded.action;
        if let Some(counter) = &self.counter {
            *action |= prm::MLX5_FLOW_CONTEXT_ACTION_COUNT;
            encoded.counter = Some(counter.id());
        }
        if let Some(reformat) = &self.reformat {
            *action |= prm::MLX5_FLOW_CONTEXT_ACTION_PACKET_REFORMAT;
            encoded.reformat = reformat.id();
        }
        if let Some(modify) = &self.modify {
            *action |= prm::MLX5_FLOW_CONTEXT_ACTION_MOD_HDR;
            encoded.modify = modify.id();
        }
        if self.decapsulate {
            *action |= prm::MLX5_FLOW_CONTEXT_ACTION_DECAP;
        }
        if self.pop_vlan > 0 {
            *action |= prm::MLX5_FLOW_CONTEXT_ACTION_VLAN_POP;
        }
        if self.pop_vlan > 1 {
            *action |= prm::MLX5_FLOW_CONTEXT_ACTION_VLAN_POP_2;
        }
        let pushes = [prm::MLX5_FLOW_CONTEXT_ACTION_VLAN_PUSH, prm::MLX5_FLOW_CONTEXT_ACTION_VLAN_PUSH_2];
        for ((tag, bit), encoded) in self.push_vlan.into_iter().zip(pushes).zip(&mut encoded.push_vlan) {
            if let Some(tag) = tag {
                *action |= bit;
                *encoded = tag.encode()?;
            }
        }
        Ok(encoded)
    }

    fn check(&self, table: &FlowTable) -> Result<(), Invalid> {
        let destinations = self.destinations();
        if (self.verdict == Verdict::Forward) == destinations.is_empty() {
            return Err(Invalid::Verdict);
        }
        if destinations.len() > MAX_DESTINATIONS {
            return Err(Invalid::Destinations { count: destinations.len(), maximum: MAX_DESTINATIONS });
        }
        destinations.iter().try_for_each(|destination| destination.check(table))?;
        if destinations.iter().any(Destination::is_below) && !table.ignores_flow_level() {
            return Err(Invalid::NoIgnoreFlowLevel { table_type: table.table_type() });
        }
        if let Some(modify) = &self.modify {
            let (wanted, found) = (table.table_type(), modify.table_type());
            if wanted != found {
                return Err(Invalid::TableType { wanted, found });
            }
        }
        let objects = [
            self.counter.as_ref().map(FlowCounter::object),
            self.reformat.as_ref().map(PacketReformat::object),
            self.modify.as_ref().map(ModifyHeader::object),
        ];
        objects.into_iter().flatten().try_for_each(|object| same_context(table.context(), object))
    }

    /// Destinations as they are listed in an entry.
    pub(super) fn destination_list(&self) -> impl Iterator<Item = (u8, u32)> {
        self.destinations().iter().map(Destination::encode)
    }
}

/// The most destinations of an entry that this crate sends, so that a command fits the stack.
pub(super) const MAX_DESTINATIONS: usize = 64;

/// Actions as numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Encoded {
    pub(super) action: u16,
    pub(super) ignore_flow_level: bool,
    pub(super) tag: u32,
    pub(super) counter: Option<u32>,
    pub(super) reformat: u32,
    pub(super) modify: u32,
    pub(super) push_vlan: [u32; 2],
}

/// The ways that an entry's actions, or a table's miss, add to the map.
///
/// What it leads to is let go of with it.
#[derive(Debug)]
pub(super) struct Roads<A: Leads> {
    from: PlaceId,
    actions: A,
}

/// Leads to destinations.
pub(super) trait Leads {
    fn destinations(&self) -> &[Destination];
}

impl Leads for Actions {
    fn destinations(&self) -> &[Destination] {
        self.destinations()
    }
}

impl<A: Leads> Roads<A> {
    /// Adds the ways that lead from a table, unless packets would go in circles.
    pub(super) fn add(from: PlaceId, actions: A) -> Result<Self, Invalid> {
        let ways = || actions.destinations().iter().filter_map(Destination::way);
        for (added, way) in ways().enumerate() {
            if let Err(refused) = roads::add(from, way) {
                ways().take(added).for_each(|way| roads::remove(from, way));
                return Err(refused);
            }
        }
        Ok(Self { from, actions })
    }

    pub(super) const fn actions(&self) -> &A {
        &self.actions
    }
}

impl<A: Leads> Drop for Roads<A> {
    fn drop(&mut self) {
        for way in self.actions.destinations().iter().filter_map(Destination::way) {
            roads::remove(self.from, way);
        }
    }
}
