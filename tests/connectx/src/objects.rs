//! Every object that lives on the card: its number, its owner, and which command made it.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::ops::RangeInclusive;

use serde::Serialize;
use uverbs_uapi::prm::{Field, MLX5_SHARED_RESOURCE_UID, cmd_hca_cap, opcode_name};

use crate::bar::LAST_UAR;
use crate::command::refusal::{Refusal, Syndrome};

/// The kinds of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "each is the firmware object of that name")]
pub enum Kind {
    Uar,
    EventQueue,
    CompletionQueue,
    QueuePair,
    DynamicConnection,
    SendQueue,
    ReceiveQueue,
    SharedReceiveQueue,
    XrcSharedReceiveQueue,
    ExtendedReceiveQueue,
    ReceiveMemoryPool,
    MemoryKey,
    Psv,
    ProtectionDomain,
    TransportDomain,
    XrcDomain,
    ReceiveTable,
    Tir,
    Tis,
    QueueCounter,
    SchedulingElement,
    FlowTable,
    FlowGroup,
    FlowEntry,
    FlowCounter,
    PacketReformat,
    ModifyHeader,
    UserContext,
    UserMemory,
    General,
}

impl Kind {
    /// The driver keeps one table for each of these families, so their members share one space of numbers.
    const fn number_space(self) -> Self {
        match self {
            Self::DynamicConnection | Self::SendQueue | Self::ReceiveQueue => Self::QueuePair,
            Self::XrcSharedReceiveQueue | Self::ExtendedReceiveQueue | Self::ReceiveMemoryPool => {
                Self::SharedReceiveQueue
            }
            other => other,
        }
    }

    /// The numbers of a space: as many as the field holds in which the guest reads them, or fewer. Page 0 of the BAR
    /// and the pages of the MSI-X table are no UARs, and none lies behind the BAR's end; the memory key index 1 would
    /// be the key 0x100, which ends the list of a receive WQE; uid 0xffff is everybody.
    const fn numbers(self) -> RangeInclusive<u32> {
        match self {
            Self::Uar => 0x10..=LAST_UAR,
            Self::MemoryKey => 0x40..=0xff_ffff,
            Self::EventQueue | Self::QueueCounter => 1..=0xff,
            Self::UserContext => 1..=0xfffe,
            Self::FlowEntry
            | Self::FlowCounter
            | Self::PacketReformat
            | Self::ModifyHeader
            | Self::SchedulingElement
            | Self::General => 1..=u32::MAX,
            _ => 1..=0xff_ffff,
        }
    }
}

/// Which object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Key {
    /// What it is.
    pub kind: Kind,
    /// Its number.
    pub id: u32,
}

/// Who made an object, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    /// 0 the kernel, `0xffff` shared, else a user context.
    pub uid: u16,
    /// The command that made it.
    pub opcode: u16,
}

/// An object that was still alive when nothing should be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Leak {
    /// Which object.
    #[serde(flatten)]
    pub key: Key,
    /// Its owner.
    pub uid: u16,
    /// The command that made it.
    pub creator: String,
}

impl fmt::Display for Leak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key: Key { kind, id }, uid, creator } = self;
        write!(f, "{kind:?} {id:#x} of uid {uid}, made by {creator}")
    }
}

/// The general capability that limits each kind: how many, as a power of two; none if it is 0.
const LIMITS: &[(Kind, Field)] = &[
    (Kind::CompletionQueue, cmd_hca_cap::LOG_MAX_CQ),
    (Kind::QueuePair, cmd_hca_cap::LOG_MAX_QP),
    (Kind::SendQueue, cmd_hca_cap::LOG_MAX_SQ),
    (Kind::ReceiveQueue, cmd_hca_cap::LOG_MAX_RQ),
    (Kind::SharedReceiveQueue, cmd_hca_cap::LOG_MAX_SRQ),
    (Kind::XrcSharedReceiveQueue, cmd_hca_cap::LOG_MAX_SRQ),
    (Kind::ReceiveMemoryPool, cmd_hca_cap::LOG_MAX_RMP),
    (Kind::MemoryKey, cmd_hca_cap::LOG_MAX_MKEY),
    (Kind::ProtectionDomain, cmd_hca_cap::LOG_MAX_PD),
    (Kind::TransportDomain, cmd_hca_cap::LOG_MAX_TRANSPORT_DOMAIN),
    (Kind::XrcDomain, cmd_hca_cap::LOG_MAX_XRCD),
    (Kind::ReceiveTable, cmd_hca_cap::LOG_MAX_RQT),
    (Kind::Tir, cmd_hca_cap::LOG_MAX_TIR),
    (Kind::Tis, cmd_hca_cap::LOG_MAX_TIS),
    (Kind::UserContext, cmd_hca_cap::LOG_MAX_UCTX),
    (Kind::UserMemory, cmd_hca_cap::LOG_MAX_UMEM),
];

/// The accounts. By default nothing limits how many objects live but their numbers.
#[derive(Debug, Default)]
pub struct Objects {
    limits: HashMap<Kind, u64>,
    counts: HashMap<Kind, u64>,
    live: BTreeMap<Key, Owner>,
    spaces: HashMap<Kind, Space>,
}

/// A space of numbers.
#[derive(Debug, Default)]
struct Space {
    /// Where the search for a free number begins: behind the newest, so that a number is not soon used again.
    next: u32,
    /// The runs of numbers in use, by their first: how many.
    used: BTreeMap<u32, u32>,
}

impl Space {
    /// The first of `count` free numbers in a row.
    fn take(&mut self, numbers: &RangeInclusive<u32>, count: u32) -> Option<u32> {
        let begin = self.next.max(*numbers.start());
        let first = self
            .search(begin, *numbers.end(), count)
            .or_else(|| self.search(*numbers.start(), *numbers.end(), count))?;
        self.used.insert(first, count);
        self.next = first.saturating_add(count);
        Some(first)
    }

    fn search(&self, mut first: u32, end: u32, count: u32) -> Option<u32> {
        if let Some((&before, &length)) = self.used.range(..first).next_back() {
            first = first.max(before.saturating_add(length));
        }
        loop {
            let last = first.checked_add(count.checked_sub(1)?).filter(|&last| last <= end)?;
            match self.used.range(first..=last).next() {
                None => return Some(first),
                Some((&taken, &length)) => first = taken.checked_add(length)?,
            }
        }
    }
}

impl Objects {
    /// Accounts with the limits that the general capabilities tell.
    #[must_use]
    pub fn limited(general: &[u8]) -> Self {
        let limit = |field: Field| match field.get(general) {
            0 => 0,
            log => 1 << log.min(32),
        };
        Self { limits: LIMITS.iter().map(|&(kind, field)| (kind, limit(field))).collect(), ..Self::default() }
    }

    /// A new number of this kind, alive from now on.
    ///
    /// # Errors
    /// If there are as many as the card takes.
    pub fn allocate(&mut self, kind: Kind, uid: u16, opcode: u16) -> Result<u32, Refusal> {
        self.allocate_run(kind, uid, opcode, 1)
    }

    /// The first of `count` numbers in a row, which live and die as one object.
    ///
    /// # Errors
    /// As [`Objects::allocate`], if there are not as many free numbers in a row, or if none is wanted.
    pub fn allocate_run(&mut self, kind: Kind, uid: u16, opcode: u16, count: u32) -> Result<u32, Refusal> {
        let limit = self.limits.get(&kind).copied().unwrap_or(u64::MAX);
        let alive = self.counts.entry(kind).or_default();
        if *alive >= limit {
            return Err(Refusal::new(Syndrome::TooMany, format!("{alive} of kind {kind:?} of {limit}")));
        }
        let space = kind.number_space();
        let id = self.spaces.entry(space).or_default().take(&space.numbers(), count);
        let id = id.ok_or_else(|| Refusal::new(Syndrome::NumbersExhausted, format!("{kind:?}")))?;
        self.live.insert(Key { kind, id }, Owner { uid, opcode });
        *alive += 1;
        Ok(id)
    }

    /// Whether `uid` may refer to the object.
    ///
    /// # Errors
    /// If there is none, or if it belongs to another user and is not shared. The kernel (uid 0) may use all.
    pub fn check(&self, kind: Kind, id: u32, uid: u16) -> Result<(), Refusal> {
        let Some(owner) = self.live.get(&Key { kind, id }) else {
            return Err(Refusal::new(Syndrome::NoSuchObject, format!("{kind:?} {id:#x}")));
        };
        if uid == 0 || uid == owner.uid || owner.uid == MLX5_SHARED_RESOURCE_UID {
            return Ok(());
        }
        let detail = format!("{kind:?} {id:#x} of uid {}", owner.uid);
        Err(Refusal::new(Syndrome::ForeignObject, detail))
    }

    /// Ends the object.
    ///
    /// # Errors
    /// As [`Objects::check`].
    pub fn release(&mut self, kind: Kind, id: u32, uid: u16) -> Result<(), Refusal> {
        self.check(kind, id, uid)?;
        self.live.remove(&Key { kind, id });
        if let Some(alive) = self.counts.get_mut(&kind) {
            *alive = alive.saturating_sub(1);
        }
        if let Some(space) = self.spaces.get_mut(&kind.number_space()) {
            space.used.remove(&id);
        }
        Ok(())
    }

    /// What lives now, in the order of kinds and numbers.
    #[must_use]
    pub fn live(&self) -> Vec<Leak> {
        self.live.iter().map(|(&key, owner)| describe(key, *owner)).collect()
    }

    /// What a user context still owns.
    #[must_use]
    pub fn of(&self, uid: u16) -> Vec<Leak> {
        let own = self.live.iter().filter(|(key, owner)| owner.uid == uid && key.kind != Kind::UserContext);
        own.map(|(&key, owner)| describe(key, *owner)).collect()
    }

    /// Forgets everything, and tells what was alive.
    pub fn reset(&mut self) -> Vec<Leak> {
        let live = self.live();
        *self = Self { limits: std::mem::take(&mut self.limits), ..Self::default() };
        live
    }
}

fn describe(key: Key, owner: Owner) -> Leak {
    let creator = opcode_name(owner.opcode).map_or_else(|| format!("{:#06x}", owner.opcode), str::to_owned);
    Leak { key, uid: owner.uid, creator }
}

#[cfg(test)]
mod tests {
    use super::{Kind, Objects};
    use crate::command::refusal::{Refusal, Syndrome};
    use uverbs_uapi::prm::cmd_hca_cap;

    #[test]
    fn a_user_has_its_own_objects_and_the_shared_ones_only() -> Result<(), Refusal> {
        let mut objects = Objects::default();
        let mut make = |uid| objects.allocate(Kind::FlowTable, uid, 0x930);
        let (kernels, own, shared, other) = (make(0)?, make(3)?, make(0xffff)?, make(4)?);
        let refused = |id| objects.check(Kind::FlowTable, id, 3).err().map(|refusal| refusal.syndrome);
        assert_eq!(refused(own), None);
        assert_eq!(refused(shared), None);
        assert_eq!(refused(kernels), Some(Syndrome::ForeignObject));
        assert_eq!(refused(other), Some(Syndrome::ForeignObject));
        assert_eq!(refused(99), Some(Syndrome::NoSuchObject));
        assert!(
            [kernels, own, shared, other].into_iter().all(|id| objects.check(Kind::FlowTable, id, 0).is_ok())
        );
        Ok(())
    }

    #[test]
    fn families_share_numbers_and_a_number_is_not_soon_used_again() -> Result<(), Refusal> {
        let mut objects = Objects::default();
        let first = objects.allocate(Kind::SendQueue, 0, 0x904)?;
        let second = objects.allocate(Kind::ReceiveQueue, 0, 0x908)?;
        assert_ne!(first, second);
        objects.release(Kind::SendQueue, first, 0)?;
        assert!(objects.release(Kind::SendQueue, first, 0).is_err());
        assert_ne!(objects.allocate(Kind::QueuePair, 0, 0x500)?, first);
        assert_eq!(objects.reset().len(), 2);
        assert!(objects.live().is_empty());
        Ok(())
    }

    #[test]
    fn numbers_fit_their_field_come_again_and_end() -> Result<(), Refusal> {
        let mut objects = Objects::default();
        for _ in 0..1000 {
            let id = objects.allocate(Kind::EventQueue, 0, 0x301)?;
            assert!((1..=0xff).contains(&id));
            objects.release(Kind::EventQueue, id, 0)?;
        }
        let mut seen: Vec<_> =
            (0..0xff).map(|_| objects.allocate(Kind::EventQueue, 0, 0x301)).collect::<Result<_, _>>()?;
        seen.sort_unstable();
        assert_eq!(seen, (1..=0xff).collect::<Vec<_>>());
        let refused = objects.allocate(Kind::EventQueue, 0, 0x301).err().map(|refusal| refusal.syndrome);
        assert_eq!(refused, Some(Syndrome::NumbersExhausted));
        objects.release(Kind::EventQueue, 7, 0)?;
        assert_eq!(objects.allocate(Kind::EventQueue, 0, 0x301)?, 7);
        Ok(())
    }

    #[test]
    fn as_many_live_as_the_capability_says_and_a_reset_does_not_change_that() -> Result<(), Refusal> {
        let mut general = vec![0; cmd_hca_cap::SIZE];
        cmd_hca_cap::LOG_MAX_UCTX.set(&mut general, 1);
        let mut objects = Objects::limited(&general);
        let refused = |objects: &mut Objects, kind| {
            objects.allocate(kind, 0, 0xa04).err().map(|refusal| refusal.syndrome)
        };
        let first = objects.allocate(Kind::UserContext, 0, 0xa04)?;
        assert_eq!(refused(&mut objects, Kind::UserContext), None);
        assert_eq!(refused(&mut objects, Kind::UserContext), Some(Syndrome::TooMany));
        objects.release(Kind::UserContext, first, 0)?;
        assert_eq!(refused(&mut objects, Kind::UserContext), None);
        assert_eq!(objects.reset().len(), 2);
        assert_eq!(refused(&mut objects, Kind::UserContext), None);
        assert_eq!(refused(&mut objects, Kind::UserMemory), Some(Syndrome::TooMany), "0 is none");
        Ok(())
    }

    #[test]
    fn a_run_overlaps_nothing() -> Result<(), Refusal> {
        let mut objects = Objects::default();
        let mut run = |count| objects.allocate_run(Kind::FlowCounter, 0, 0x939, count);
        assert_eq!((run(1)?, run(128)?, run(1)?), (1, 2, 130));
        assert!(run(0).is_err());
        assert!(run(u32::MAX).is_err());
        assert_eq!(run(u32::MAX - 131)?, 131);
        Ok(())
    }
}
