//! Groups of entries that ask about the same fields.

use std::{ops::RangeInclusive, sync::Arc};

use uverbs_uapi::prm::{self, create_flow_group_in as create_in, create_flow_group_out as create_out};

use super::{Actions, FlowEntry, FlowTable, Invalid, Match, firmware, kept::Kept, shared::number};
use crate::{
    DestroyError, Result,
    devx::{Inbox, Object},
};

/// A range of a table's entries that ask about the same fields of packets.
///
/// A handle: clones are the same group, which goes when the last clone and entry is gone. Made by
/// [`FlowTable::group`].
#[doc(alias("MLX5_CMD_OP_CREATE_FLOW_GROUP", "mlx5dv_dr_matcher"))]
#[derive(Clone, Debug)]
pub struct FlowGroup(Arc<Group>);

#[derive(Debug)]
struct Group {
    kept: Kept<Object, FlowTable>,
    about: About,
}

#[derive(Debug)]
struct About {
    id: u32,
    first: u32,
    last: u32,
    criteria: Match,
}

impl FlowGroup {
    pub(super) fn create(table: &FlowTable, first: u32, last: u32, criteria: &Match) -> Result<Self> {
        let mut inbox = Inbox::<{ create_in::SIZE }>::new(prm::MLX5_CMD_OP_CREATE_FLOW_GROUP);
        inbox.set(create_in::TABLE_TYPE, firmware::table_type(table.table_type()).into());
        inbox.set(create_in::TABLE_ID, table.id().get().into());
        inbox.set(create_in::START_FLOW_INDEX, first.into());
        inbox.set(create_in::END_FLOW_INDEX, last.into());
        inbox.set(create_in::MATCH_CRITERIA_ENABLE, criteria.criteria().into());
        inbox.fill_from(create_in::MATCH_CRITERIA.byte(), criteria.mask());
        let mut outbox = [0; create_out::SIZE];
        let object = Object::create(table.context(), inbox.as_ref(), &mut outbox)?;
        let about =
            About { id: number(create_out::GROUP_ID, &outbox), first, last, criteria: criteria.clone() };
        Ok(Self(Arc::new(Group { kept: Kept::new(object, table.clone()), about })))
    }

    /// Makes the entry `index`, counted from the table's first: packets that match `criteria` are subject to
    /// `actions`. Of several entries that match, the first one acts.
    ///
    /// One system call, and no allocation here, unless there are several destinations.
    ///
    /// # Errors
    /// [`Invalid`] if the match is not about the group's fields, packets would go in circles, or the card cannot lead
    /// them to an anchor; [`Error::Refused`](crate::Error::Refused) if the card refuses.
    pub fn entry(&self, index: u32, criteria: &Match, actions: Actions) -> Result<FlowEntry> {
        let About { first, last, criteria: of_group, .. } = &self.0.about;
        let (first, last) = (*first, *last);
        if !(first..=last).contains(&index) {
            return Err(Invalid::Index { index, first, last }.into());
        }
        if !criteria.has_criteria_of(of_group) {
            return Err(Invalid::Criteria.into());
        }
        FlowEntry::create(self, index, criteria, actions)
    }

    /// The firmware's number of the group.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.0.about.id
    }

    /// The entries that the group has room for.
    #[must_use]
    pub fn range(&self) -> RangeInclusive<u32> {
        self.0.about.first..=self.0.about.last
    }

    /// The table.
    #[must_use]
    pub fn table(&self) -> &FlowTable {
        self.0.kept.needs()
    }

    /// The firmware object.
    #[must_use]
    pub fn object(&self) -> &Object {
        self.0.kept.object()
    }

    /// Destroys the group.
    ///
    /// # Errors
    /// With the group: [`Invalid::InUse`] if an entry or another clone holds it; the firmware's.
    #[doc(alias = "MLX5_CMD_OP_DESTROY_FLOW_GROUP")]
    pub fn destroy(self) -> Result<(), DestroyError<Self>> {
        let group =
            Arc::try_unwrap(self.0).map_err(|group| DestroyError::new(Self(group), Invalid::InUse.into()))?;
        let Group { kept, about } = group;
        kept.destroy()
            .map_err(|(kept, error)| DestroyError::new(Self(Arc::new(Group { kept, about })), error))
    }
}
