//! Own flow tables.

use std::{
    ops::{Bound, RangeBounds},
    sync::{Arc, Mutex, PoisonError},
};

use uverbs_uapi::prm::{
    self, command_out, create_flow_table_in as create_in, create_flow_table_out as create_out,
    flow_table_context as table_context, modify_flow_table_in as modify_in,
};

use super::{
    Destination, FlowGroup, FlowTableCapabilities, Invalid, Match,
    actions::{Leads, Roads},
    firmware,
    kept::Kept,
    roads::{Place, PlaceId},
    shared::number,
};
use crate::{
    Context, DestroyError, FlowTableId, FlowTableType, Priority, Result,
    devx::{Inbox, Object},
};

/// The lowest level of an own table: above the kernel's tables of every priority, so that any flow can lead to it.
const LOWEST_LEVEL: u8 = 33;

/// A flow table of this process.
///
/// A handle: clones are the same table, which goes when the last clone, group, entry, and flow that leads to it is
/// gone. So it does not matter in what order they are dropped.
///
/// Packets that match no entry are dropped on the receive side, unless the table is built with
/// [`miss_to`](FlowTableBuilder::miss_to).
///
/// ```no_run
/// # use std::sync::Arc;
/// # use uverbs::{Context, FlowTableType, SteeringAnchor, flow::{Actions, FlowTable, Match}};
/// # fn example(context: &Context, anchor: Arc<SteeringAnchor>) -> uverbs::Result<()> {
/// let table = FlowTable::builder(context, FlowTableType::NicRx).build()?;
/// let everything = table.group(.., &Match::any())?.entry(0, &Match::any(), Actions::forward_to(&anchor))?;
/// # Ok(())
/// # }
/// ```
#[doc(alias("MLX5_CMD_OP_CREATE_FLOW_TABLE", "mlx5dv_dr_table"))]
#[derive(Clone, Debug)]
pub struct FlowTable(Arc<Table>);

#[derive(Debug)]
struct Table {
    kept: Kept<Object, Mutex<Roads<Miss>>>,
    // Behind `kept`: the ways from here have to be gone before the place is.
    place: Place,
    about: About,
}

#[derive(Clone, Copy, Debug)]
struct About {
    id: FlowTableId,
    table_type: FlowTableType,
    level: u8,
    log_size: u8,
    ignores_flow_level: bool,
}

/// Where packets go that match no entry.
#[derive(Debug)]
struct Miss(Option<Destination>);

impl Leads for Miss {
    fn destinations(&self) -> &[Destination] {
        self.0.as_slice()
    }
}

/// What the firmware has to be told of a miss: action and table.
fn encode_miss(miss: Option<&Destination>) -> Result<(u8, u32), Invalid> {
    match miss {
        None => Ok((prm::MLX5_FLOW_TABLE_MISS_ACTION_DEF, 0)),
        Some(Destination::Anchor(anchor)) => Ok((prm::MLX5_FLOW_TABLE_MISS_ACTION_FWD, anchor.id().get())),
        Some(Destination::ForeignAnchor { id, .. }) => Ok((prm::MLX5_FLOW_TABLE_MISS_ACTION_FWD, id.get())),
        Some(Destination::Table(table)) => Ok((prm::MLX5_FLOW_TABLE_MISS_ACTION_FWD, table.id().get())),
        Some(Destination::Tir(_) | Destination::Vport(_) | Destination::Uplink) => Err(Invalid::Verdict),
    }
}

impl FlowTable {
    /// A table of one entry, as [`build`](FlowTableBuilder::build) makes it unless told otherwise.
    pub const fn builder(context: &Context, table_type: FlowTableType) -> FlowTableBuilder<'_> {
        FlowTableBuilder {
            context,
            table_type,
            log_size: 0,
            behind: None,
            before: None,
            miss: None,
            reformats: false,
            decapsulates: false,
        }
    }

    /// Makes a group of the entries in `range`, which ask about the same fields of packets as `criteria`; what it
    /// wants of them makes no difference.
    ///
    /// # Errors
    /// If the range is empty or does not lie in the table; [`Error::Refused`](crate::Error::Refused) if it overlaps
    /// another group or the card cannot match such fields.
    pub fn group(&self, range: impl RangeBounds<u32>, criteria: &Match) -> Result<FlowGroup> {
        let entries = self.entries();
        let first = match range.start_bound() {
            Bound::Included(&first) => first,
            Bound::Excluded(&before) => before.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let last = match range.end_bound() {
            Bound::Included(&last) => Some(last),
            Bound::Excluded(&end) => end.checked_sub(1),
            Bound::Unbounded => Some(entries - 1),
        };
        match last {
            Some(last) if first <= last && last < entries => FlowGroup::create(self, first, last, criteria),
            last => Err(Invalid::Range { first, last: last.unwrap_or(0), entries }.into()),
        }
    }

    /// Changes where packets go that match no entry; `None`: the default, which drops them on the receive side.
    ///
    /// The card has to be able to, see [`FlowTableCapabilities::can_modify_tables`].
    ///
    /// # Errors
    /// [`Invalid::Loop`]; [`Error::Refused`](crate::Error::Refused). The old way stays then.
    #[doc(alias = "MLX5_CMD_OP_MODIFY_FLOW_TABLE")]
    pub fn set_miss(&self, destination: Option<Destination>) -> Result<()> {
        let (action, id) = encode_miss(destination.as_ref())?;
        destination.iter().try_for_each(|destination| destination.check(self))?;
        let mut miss = self.0.kept.needs().lock().unwrap_or_else(PoisonError::into_inner);
        let new = Roads::add(self.place(), Miss(destination))?;
        let mut inbox = Inbox::<{ modify_in::SIZE }>::new(prm::MLX5_CMD_OP_MODIFY_FLOW_TABLE);
        inbox.set(modify_in::MODIFY_FIELD_SELECT, prm::MLX5_MODIFY_FLOW_TABLE_MISS_TABLE_ID.into());
        inbox.set(modify_in::TABLE_TYPE, firmware::table_type(self.table_type()).into());
        inbox.set(modify_in::TABLE_ID, self.id().get().into());
        let context = modify_in::FLOW_TABLE_CONTEXT;
        inbox.set(context.then(table_context::TABLE_MISS_ACTION), action.into());
        inbox.set(context.then(table_context::TABLE_MISS_ID), id.into());
        self.object().modify(inbox.as_ref(), &mut [0; command_out::SIZE])?;
        *miss = new;
        Ok(())
    }

    /// The firmware's number of the table.
    #[must_use]
    pub fn id(&self) -> FlowTableId {
        self.0.about.id
    }

    /// The table's type.
    #[must_use]
    pub fn table_type(&self) -> FlowTableType {
        self.0.about.table_type
    }

    /// The table's level: it can forward to own tables of higher ones.
    #[must_use]
    pub fn level(&self) -> u8 {
        self.0.about.level
    }

    /// How many entries it has room for.
    #[must_use]
    pub fn entries(&self) -> u32 {
        1 << self.0.about.log_size
    }

    /// The context that the table belongs to.
    #[must_use]
    pub fn context(&self) -> &Context {
        self.object().context()
    }

    /// The firmware object.
    #[must_use]
    pub fn object(&self) -> &Object {
        self.0.kept.object()
    }

    pub(super) fn place(&self) -> PlaceId {
        self.0.place.id()
    }

    pub(super) fn ignores_flow_level(&self) -> bool {
        self.0.about.ignores_flow_level
    }

    /// Refuses a flow that the card would, since its table lies above this one.
    pub(super) fn check_flow(&self, priority: Priority) -> Result<(), Invalid> {
        // Priority p of the receive and the transmit side is the kernel's level 2p + 1.
        let table = match self.table_type() {
            FlowTableType::NicRx | FlowTableType::NicTx => {
                u8::try_from(priority.get() * 2 + 1).unwrap_or(u8::MAX)
            }
            _ => return Ok(()),
        };
        let level = self.level();
        if level > table { Ok(()) } else { Err(Invalid::BelowFlow { level, priority, table }) }
    }

    /// Destroys the table.
    ///
    /// # Errors
    /// With the table: [`Invalid::InUse`] if a group, a flow, an entry of another table, or another clone holds it; the
    /// firmware's.
    #[doc(alias = "MLX5_CMD_OP_DESTROY_FLOW_TABLE")]
    pub fn destroy(self) -> Result<(), DestroyError<Self>> {
        let table =
            Arc::try_unwrap(self.0).map_err(|table| DestroyError::new(Self(table), Invalid::InUse.into()))?;
        let Table { kept, place, about } = table;
        match kept.destroy() {
            Ok(()) => {
                drop(place);
                Ok(())
            }
            Err((kept, error)) => Err(DestroyError::new(Self(Arc::new(Table { kept, place, about })), error)),
        }
    }
}

/// A [`FlowTable`] in the making.
#[derive(Clone, Debug)]
#[must_use]
pub struct FlowTableBuilder<'a> {
    context: &'a Context,
    table_type: FlowTableType,
    log_size: u8,
    behind: Option<u8>,
    before: Option<u8>,
    miss: Option<Destination>,
    reformats: bool,
    decapsulates: bool,
}

impl FlowTableBuilder<'_> {
    /// Room for two to the power of `log_size` entries.
    pub const fn log_size(mut self, log_size: u8) -> Self {
        self.log_size = log_size;
        self
    }

    /// Entries of `table` will lead to this one, so it needs a higher level.
    #[doc(alias = "level")]
    pub fn behind(mut self, table: &FlowTable) -> Self {
        self.behind = self.behind.max(Some(table.level()));
        self
    }

    /// Entries of this table will lead to `table`, so it needs a lower level.
    #[doc(alias = "level")]
    pub fn before(mut self, table: &FlowTable) -> Self {
        let level = table.level();
        self.before = Some(self.before.map_or(level, |before| before.min(level)));
        self
    }

    /// Packets that match no entry go there: to an anchor, or to another own table, before which this one then lies.
    #[doc(alias("table_miss_action", "table_miss_id"))]
    pub fn miss_to(mut self, destination: impl Into<Destination>) -> Self {
        let destination = destination.into();
        if let Destination::Table(table) = &destination {
            self = self.before(table);
        }
        self.miss = Some(destination);
        self
    }

    /// Entries may add or replace headers.
    #[doc(alias = "reformat_en")]
    pub const fn reformats(mut self) -> Self {
        self.reformats = true;
        self
    }

    /// Entries may remove a tunnel's headers.
    #[doc(alias = "decap_en")]
    pub const fn decapsulates(mut self) -> Self {
        self.decapsulates = true;
        self
    }

    /// The level: as asked for, else in the middle, so that there is room before and behind.
    fn level(&self, highest: u8) -> Result<u8, Invalid> {
        let floor = LOWEST_LEVEL.min(highest);
        let lowest = self.behind.map_or(floor, |level| level.saturating_add(1).max(floor));
        let highest = self.before.map_or(highest, |level| level.saturating_sub(1).min(highest));
        if lowest > highest {
            return Err(Invalid::NoLevel { lowest, highest });
        }
        Ok(match (self.behind, self.before) {
            (Some(_), _) => lowest,
            (None, Some(_)) => highest,
            (None, None) => lowest.midpoint(highest),
        })
    }

    /// Makes the table: asks the card what it can do, then one command.
    ///
    /// # Errors
    /// [`Invalid`] if the function has no such tables, or none so large or at such a level;
    /// [`Error::Refused`](crate::Error::Refused) if the card refuses, for example a miss to an anchor; `EINVAL` if the
    /// context has no DEVX.
    pub fn build(self) -> Result<FlowTable> {
        let Self { context, table_type, log_size, .. } = self;
        let card = FlowTableCapabilities::query(context, table_type)?;
        if !card.is_supported() {
            return Err(Invalid::NoTables { table_type }.into());
        }
        if log_size > card.max_log_size() {
            let (value, maximum) = (log_size.into(), card.max_log_size().into());
            return Err(
                Invalid::TooGreat { what: "size of the table, as a power of two", value, maximum }.into()
            );
        }
        let level = self.level(card.max_level().saturating_sub(1))?;
        let (miss_action, miss_id) = encode_miss(self.miss.as_ref())?;

        let mut inbox = Inbox::<{ create_in::SIZE }>::new(prm::MLX5_CMD_OP_CREATE_FLOW_TABLE);
        inbox.set(create_in::TABLE_TYPE, firmware::table_type(table_type).into());
        let mut set = |field, value| inbox.set(create_in::FLOW_TABLE_CONTEXT.then(field), value);
        set(table_context::REFORMAT_EN, self.reformats.into());
        set(table_context::DECAP_EN, self.decapsulates.into());
        set(table_context::TABLE_MISS_ACTION, miss_action.into());
        set(table_context::TABLE_MISS_ID, miss_id.into());
        set(table_context::LEVEL, level.into());
        set(table_context::LOG_SIZE, log_size.into());
        let mut outbox = [0; create_out::SIZE];
        let object = Object::create(context, inbox.as_ref(), &mut outbox)?;

        let id = FlowTableId::new(number(create_out::TABLE_ID, &outbox))?;
        let about = About { id, table_type, level, log_size, ignores_flow_level: card.ignore_flow_level() };
        let place = Place::new();
        let miss = Roads::add(place.id(), Miss(self.miss))?;
        let table = FlowTable(Arc::new(Table { kept: Kept::new(object, Mutex::new(miss)), place, about }));
        Ok(table)
    }
}
