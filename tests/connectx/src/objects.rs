//! Every object that lives on the card: its number, its owner, and which command made it.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use serde::Serialize;
use uverbs_uapi::prm::{MLX5_SHARED_RESOURCE_UID, opcode_name};

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

    /// Where a space begins. Page 0 of the BAR and the pages of the MSI-X table are no UARs; the memory key index 1
    /// would be the key 0x100, which ends the list of a receive WQE.
    const fn first(self) -> u32 {
        match self {
            Self::Uar => 0x10,
            Self::MemoryKey => 0x40,
            _ => 1,
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

/// The accounts.
#[derive(Debug, Default)]
pub struct Objects {
    live: BTreeMap<Key, Owner>,
    next: HashMap<Kind, u32>,
}

impl Objects {
    /// A new number of this kind, alive from now on.
    pub fn allocate(&mut self, kind: Kind, uid: u16, opcode: u16) -> u32 {
        self.allocate_run(kind, uid, opcode, 1)
    }

    /// The first of `count` numbers in a row, which live and die as one object.
    pub fn allocate_run(&mut self, kind: Kind, uid: u16, opcode: u16, count: u32) -> u32 {
        let space = kind.number_space();
        let next = self.next.entry(space).or_insert(space.first());
        let id = *next;
        *next = next.wrapping_add(count);
        self.live.insert(Key { kind, id }, Owner { uid, opcode });
        id
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
        *self = Self::default();
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
    use crate::command::refusal::Syndrome;

    #[test]
    fn a_user_has_its_own_objects_and_the_shared_ones_only() {
        let mut objects = Objects::default();
        let mut make = |uid| objects.allocate(Kind::FlowTable, uid, 0x930);
        let (kernels, own, shared, other) = (make(0), make(3), make(0xffff), make(4));
        let refused = |id| objects.check(Kind::FlowTable, id, 3).err().map(|refusal| refusal.syndrome);
        assert_eq!(refused(own), None);
        assert_eq!(refused(shared), None);
        assert_eq!(refused(kernels), Some(Syndrome::ForeignObject));
        assert_eq!(refused(other), Some(Syndrome::ForeignObject));
        assert_eq!(refused(99), Some(Syndrome::NoSuchObject));
        assert!(
            [kernels, own, shared, other].into_iter().all(|id| objects.check(Kind::FlowTable, id, 0).is_ok())
        );
    }

    #[test]
    fn families_share_numbers_and_a_number_is_not_used_twice() {
        let mut objects = Objects::default();
        let first = objects.allocate(Kind::SendQueue, 0, 0x904);
        let second = objects.allocate(Kind::ReceiveQueue, 0, 0x908);
        assert_ne!(first, second);
        assert!(objects.release(Kind::SendQueue, first, 0).is_ok());
        assert!(objects.release(Kind::SendQueue, first, 0).is_err());
        assert_ne!(objects.allocate(Kind::QueuePair, 0, 0x500), first);
        assert_eq!(objects.reset().len(), 2);
        assert!(objects.live().is_empty());
    }
}
