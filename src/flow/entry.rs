//! Entries of own flow tables.

use uverbs_uapi::prm::{
    self, dest_format_struct as destination, flow_context, flow_counter_list as counter,
    set_fte_in as set_in, set_fte_out as set_out,
};

use super::{
    Actions, FlowGroup, Match,
    actions::{Encoded, MAX_DESTINATIONS, Roads},
    firmware,
    kept::Kept,
};
use crate::{
    DestroyError, Result,
    devx::{Inbox, Object},
};

/// A command with room for every destination and a counter.
type SetEntry = Inbox<{ set_in::SIZE + MAX_DESTINATIONS * destination::SIZE + counter::SIZE }>;

/// Variants of the command.
const CREATE: u16 = 0;
const MODIFY: u16 = 1;

/// Which parts of an entry a modification is about.
const MODIFY_ACTION: u64 = 1 << prm::MLX5_SET_FTE_MODIFY_ENABLE_MASK_ACTION;
const MODIFY_TAG: u64 = 1 << prm::MLX5_SET_FTE_MODIFY_ENABLE_MASK_FLOW_TAG;
const MODIFY_DESTINATIONS: u64 = 1 << prm::MLX5_SET_FTE_MODIFY_ENABLE_MASK_DESTINATION_LIST;
const MODIFY_COUNTERS: u64 = 1 << prm::MLX5_SET_FTE_MODIFY_ENABLE_MASK_FLOW_COUNTERS;

/// An entry of a [`FlowTable`](super::FlowTable): what happens to packets that match.
///
/// Made by [`FlowGroup::entry`]. It holds what its actions lead to, so none of that can be destroyed, by this process,
/// as long as a packet might need it.
#[doc(alias("MLX5_CMD_OP_SET_FLOW_TABLE_ENTRY", "fte", "mlx5dv_dr_rule"))]
#[derive(Debug)]
pub struct FlowEntry {
    kept: Kept<Object, Needs>,
    index: u32,
}

/// In the order in which it is let go of.
#[derive(Debug)]
struct Needs {
    roads: Roads<Actions>,
    group: FlowGroup,
}

impl FlowEntry {
    pub(super) fn create(group: &FlowGroup, index: u32, criteria: &Match, actions: Actions) -> Result<Self> {
        let table = group.table();
        let encoded = actions.encode(table)?;
        let roads = Roads::add(table.place(), actions)?;
        let (mut inbox, length) = command(CREATE, group, index, roads.actions(), &encoded);
        inbox.fill_from(set_in::FLOW_CONTEXT.then(flow_context::MATCH_VALUE).byte(), criteria.value());
        let object = Object::create(table.context(), &inbox.as_ref()[..length], &mut [0; set_out::SIZE])?;
        Ok(Self { kept: Kept::new(object, Needs { roads, group: group.clone() }), index })
    }

    /// Changes the actions in place: a packet finds either the old ones or the new ones.
    ///
    /// One system call. What the old actions led to is let go of when it is done.
    ///
    /// # Errors
    /// As [`FlowGroup::entry`]. The old actions stay then.
    pub fn change(&mut self, actions: Actions) -> Result<()> {
        let Needs { roads, group } = self.kept.needs();
        let table = group.table();
        let (old, new) = (roads.actions().encode(table)?, actions.encode(table)?);
        let what = difference(roads.actions(), &old, &actions, &new);
        let roads = Roads::add(table.place(), actions)?;
        if what != 0 {
            let (mut inbox, length) = command(MODIFY, group, self.index, roads.actions(), &new);
            inbox.set(set_in::MODIFY_ENABLE_MASK, what);
            self.object().modify(&inbox.as_ref()[..length], &mut [0; set_out::SIZE])?;
        }
        self.kept.needs_mut().roads = roads;
        Ok(())
    }

    /// What happens to packets that match.
    pub fn actions(&self) -> &Actions {
        self.kept.needs().roads.actions()
    }

    /// The entry's place in its table.
    #[must_use]
    pub const fn index(&self) -> u32 {
        self.index
    }

    /// The group.
    #[must_use]
    pub fn group(&self) -> &FlowGroup {
        &self.kept.needs().group
    }

    /// The firmware object.
    #[must_use]
    pub fn object(&self) -> &Object {
        self.kept.object()
    }

    /// Removes the entry; afterwards, what it led to is let go of.
    ///
    /// # Errors
    /// The firmware's, with the entry.
    #[doc(alias = "MLX5_CMD_OP_DELETE_FLOW_TABLE_ENTRY")]
    #[expect(clippy::result_large_err, reason = "the entry itself is given back, by value like all others")]
    pub fn destroy(self) -> Result<(), DestroyError<Self>> {
        let Self { kept, index } = self;
        kept.destroy().map_err(|(kept, error)| DestroyError::new(Self { kept, index }, error))
    }
}

/// The parts in which two actions differ, as the firmware names them.
fn difference(old_actions: &Actions, old: &Encoded, new_actions: &Actions, new: &Encoded) -> u64 {
    let action = |encoded: &Encoded| (encoded.action, encoded.reformat, encoded.modify, encoded.push_vlan);
    let parts = [
        (action(old) != action(new), MODIFY_ACTION),
        (old.tag != new.tag, MODIFY_TAG),
        (!old_actions.destination_list().eq(new_actions.destination_list()), MODIFY_DESTINATIONS),
        (old.counter != new.counter, MODIFY_COUNTERS),
    ];
    parts.into_iter().filter(|(differs, _)| *differs).fold(0, |mask, (_, part)| mask | part)
}

/// A command that sets an entry, without its match, and how long it is.
fn command(
    variant: u16,
    group: &FlowGroup,
    index: u32,
    actions: &Actions,
    encoded: &Encoded,
) -> (SetEntry, usize) {
    let table = group.table();
    let mut inbox = SetEntry::new(prm::MLX5_CMD_OP_SET_FLOW_TABLE_ENTRY).variant(variant);
    inbox.set(set_in::TABLE_TYPE, firmware::table_type(table.table_type()).into());
    inbox.set(set_in::TABLE_ID, table.id().get().into());
    inbox.set(set_in::IGNORE_FLOW_LEVEL, encoded.ignore_flow_level.into());
    inbox.set(set_in::FLOW_INDEX, index.into());
    let mut set = |field, value| inbox.set(set_in::FLOW_CONTEXT.then(field), value);
    set(flow_context::PUSH_VLAN, encoded.push_vlan[0].into());
    set(flow_context::GROUP_ID, group.id().into());
    set(flow_context::FLOW_TAG, encoded.tag.into());
    set(flow_context::ACTION, encoded.action.into());
    set(flow_context::DESTINATION_LIST_SIZE, actions.destinations().len() as u64);
    set(flow_context::FLOW_COUNTER_LIST_SIZE, encoded.counter.is_some().into());
    set(flow_context::PACKET_REFORMAT_ID, encoded.reformat.into());
    set(flow_context::MODIFY_HEADER_ID, encoded.modify.into());
    set(flow_context::PUSH_VLAN_2, encoded.push_vlan[1].into());

    // The list lies behind the structure: destinations first, then counters.
    let mut at = set_in::SIZE;
    for (kind, id) in actions.destination_list() {
        let mut item = [0; destination::SIZE];
        destination::DESTINATION_TYPE.set(&mut item, kind.into());
        destination::DESTINATION_ID.set(&mut item, id.into());
        inbox.fill_from(at, &item);
        at += item.len();
    }
    if let Some(id) = encoded.counter {
        let mut item = [0; counter::SIZE];
        counter::FLOW_COUNTER_ID.set(&mut item, id.into());
        inbox.fill_from(at, &item);
        at += item.len();
    }
    (inbox, at)
}
