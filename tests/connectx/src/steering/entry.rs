//! A flow table entry: what a command says it matches and does.

use super::refuse;
use crate::command::refusal::{Refusal, Syndrome};
use std::fmt;
use uverbs_uapi::prm::{
    self, Field, dest_format_struct, extended_dest_format, flow_context, flow_counter_list,
};

/// What an entry does, as a bit set of `MLX5_FLOW_CONTEXT_ACTION_*`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Actions(pub u16);

impl Actions {
    /// All that this card does.
    const KNOWN: u16 = prm::MLX5_FLOW_CONTEXT_ACTION_ALLOW
        | prm::MLX5_FLOW_CONTEXT_ACTION_DROP
        | prm::MLX5_FLOW_CONTEXT_ACTION_FWD_DEST
        | prm::MLX5_FLOW_CONTEXT_ACTION_COUNT
        | prm::MLX5_FLOW_CONTEXT_ACTION_PACKET_REFORMAT
        | prm::MLX5_FLOW_CONTEXT_ACTION_DECAP
        | prm::MLX5_FLOW_CONTEXT_ACTION_MOD_HDR
        | prm::MLX5_FLOW_CONTEXT_ACTION_VLAN_POP
        | prm::MLX5_FLOW_CONTEXT_ACTION_VLAN_PUSH
        | prm::MLX5_FLOW_CONTEXT_ACTION_VLAN_POP_2
        | prm::MLX5_FLOW_CONTEXT_ACTION_VLAN_PUSH_2;

    /// Names in the order in which they take effect.
    const NAMES: [(u16, &'static str); 11] = [
        (prm::MLX5_FLOW_CONTEXT_ACTION_COUNT, "COUNT"),
        (prm::MLX5_FLOW_CONTEXT_ACTION_DECAP, "DECAP"),
        (prm::MLX5_FLOW_CONTEXT_ACTION_VLAN_POP, "VLAN_POP"),
        (prm::MLX5_FLOW_CONTEXT_ACTION_VLAN_POP_2, "VLAN_POP_2"),
        (prm::MLX5_FLOW_CONTEXT_ACTION_MOD_HDR, "MOD_HDR"),
        (prm::MLX5_FLOW_CONTEXT_ACTION_VLAN_PUSH, "VLAN_PUSH"),
        (prm::MLX5_FLOW_CONTEXT_ACTION_VLAN_PUSH_2, "VLAN_PUSH_2"),
        (prm::MLX5_FLOW_CONTEXT_ACTION_PACKET_REFORMAT, "REFORMAT"),
        (prm::MLX5_FLOW_CONTEXT_ACTION_ALLOW, "ALLOW"),
        (prm::MLX5_FLOW_CONTEXT_ACTION_DROP, "DROP"),
        (prm::MLX5_FLOW_CONTEXT_ACTION_FWD_DEST, "FWD"),
    ];

    /// Whether all of `bits` are set.
    #[must_use]
    pub const fn has(self, bits: u16) -> bool {
        self.0 & bits == bits
    }
}

impl fmt::Display for Actions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<_> = Self::NAMES.iter().filter(|n| self.has(n.0)).map(|n| n.1).collect();
        f.write_str(&words.join(" "))
    }
}

/// Where an entry sends a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A flow table.
    Table(u32),
    /// A receive object.
    Tir(u32),
    /// A vport.
    Vport(u16),
    /// The wire.
    Uplink,
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Table(id) => write!(f, "table {id:#x}"),
            Self::Tir(id) => write!(f, "TIR {id:#x}"),
            Self::Vport(number) => write!(f, "vport {number:#x}"),
            Self::Uplink => f.write_str("uplink"),
        }
    }
}

/// One destination of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Destination {
    /// Where to.
    pub target: Target,
    /// A packet reformat for this destination only.
    pub reformat: Option<u32>,
}

/// The limit on the lists of an entry: more than any driver uses, few enough to hold.
const MOST_DESTINATIONS: usize = 64;

/// An entry as a command describes it.
#[derive(Clone, Debug)]
pub(super) struct Description {
    pub(super) group: u32,
    pub(super) actions: Actions,
    pub(super) tag: u32,
    pub(super) source: u8,
    pub(super) destinations: Vec<Destination>,
    pub(super) counters: Vec<u32>,
    pub(super) reformat: Option<u32>,
    pub(super) modification: Option<u32>,
    pub(super) vlans: [u32; 2],
    pub(super) ignore_level: bool,
    pub(super) value: Vec<u8>,
}

impl Description {
    /// Reads a `flow_context` and the lists behind it.
    pub(super) fn read(context: &[u8], ignore_level: bool) -> Result<Self, Refusal> {
        let get = |field: Field| field.get(context);
        let number = |field: Field| u32::try_from(get(field)).unwrap_or(u32::MAX);
        let small = |field: Field| u16::try_from(get(field)).unwrap_or(u16::MAX);
        let actions = Actions(small(flow_context::ACTION));
        let count = |field: Field| usize::try_from(get(field)).unwrap_or(usize::MAX);
        let (destinations, counters) =
            (count(flow_context::DESTINATION_LIST_SIZE), count(flow_context::FLOW_COUNTER_LIST_SIZE));
        if destinations > MOST_DESTINATIONS || counters > MOST_DESTINATIONS {
            return refuse(
                Syndrome::BadDestination,
                format!("{destinations} destinations, {counters} counters"),
            );
        }
        let extended = get(flow_context::EXTENDED_DESTINATION) != 0;
        let step = if extended { extended_dest_format::SIZE } else { dest_format_struct::SIZE };
        let list = context.get(flow_context::SIZE..).unwrap_or(&[]);
        // A counter takes as much room in the list as a destination: so the kernel writes it.
        let needed = (destinations + counters) * step;
        if list.len() < needed {
            let have = list.len();
            return refuse(
                Syndrome::ShortInput,
                format!("the list has {have} bytes, its sizes say {needed}"),
            );
        }
        let (destination_list, counter_list) = list.split_at(destinations * step);
        let has = |bit| actions.has(bit);
        Ok(Self {
            group: number(flow_context::GROUP_ID),
            actions,
            tag: number(flow_context::FLOW_TAG),
            source: u8::try_from(get(flow_context::FLOW_SOURCE)).unwrap_or(0),
            destinations: if has(prm::MLX5_FLOW_CONTEXT_ACTION_FWD_DEST) {
                destination_list.chunks_exact(step).map(destination).collect::<Result<_, _>>()?
            } else {
                Vec::new()
            },
            counters: if has(prm::MLX5_FLOW_CONTEXT_ACTION_COUNT) {
                counter_list[..counters * step]
                    .chunks_exact(step)
                    .map(|c| u32::try_from(flow_counter_list::FLOW_COUNTER_ID.get(c)).unwrap_or(0))
                    .collect()
            } else {
                Vec::new()
            },
            reformat: has(prm::MLX5_FLOW_CONTEXT_ACTION_PACKET_REFORMAT)
                .then(|| number(flow_context::PACKET_REFORMAT_ID)),
            modification: has(prm::MLX5_FLOW_CONTEXT_ACTION_MOD_HDR)
                .then(|| number(flow_context::MODIFY_HEADER_ID)),
            vlans: [number(flow_context::PUSH_VLAN), number(flow_context::PUSH_VLAN_2)],
            ignore_level,
            value: context.get(flow_context::MATCH_VALUE.bytes()).unwrap_or(&[]).to_vec(),
        })
    }

    /// Refuses actions that contradict each other. *Model*: which do.
    pub(super) fn check_actions(&self) -> Result<(), Refusal> {
        let has = |bit| self.actions.has(bit);
        let unknown = self.actions.0 & !Actions::KNOWN;
        if unknown != 0 {
            return refuse(Syndrome::BadAction, format!("actions {unknown:#x} are not on this card"));
        }
        let (allow, drop, forward) = (
            has(prm::MLX5_FLOW_CONTEXT_ACTION_ALLOW),
            has(prm::MLX5_FLOW_CONTEXT_ACTION_DROP),
            has(prm::MLX5_FLOW_CONTEXT_ACTION_FWD_DEST),
        );
        if u8::from(allow) + u8::from(drop) + u8::from(forward) > 1 {
            return refuse(Syndrome::BadAction, format!("{} at once", self.actions));
        }
        if forward && self.destinations.is_empty() {
            return refuse(Syndrome::BadAction, "FWD without a destination");
        }
        if has(prm::MLX5_FLOW_CONTEXT_ACTION_COUNT) && self.counters.is_empty() {
            return refuse(Syndrome::BadAction, "COUNT without a counter");
        }
        Ok(())
    }

    /// Every packet reformat that the entry names.
    pub(super) fn reformats(&self) -> impl Iterator<Item = u32> + '_ {
        self.reformat.into_iter().chain(self.destinations.iter().filter_map(|d| d.reformat))
    }

    /// Every table that the entry sends to.
    pub(super) fn tables(&self) -> impl Iterator<Item = u32> + '_ {
        self.destinations.iter().filter_map(|d| match d.target {
            Target::Table(id) => Some(id),
            Target::Tir(_) | Target::Vport(_) | Target::Uplink => None,
        })
    }
}

fn destination(bytes: &[u8]) -> Result<Destination, Refusal> {
    let id = u32::try_from(dest_format_struct::DESTINATION_ID.get(bytes)).unwrap_or(u32::MAX);
    let kind = u8::try_from(dest_format_struct::DESTINATION_TYPE.get(bytes)).unwrap_or(u8::MAX);
    let target = match kind {
        prm::MLX5_IFC_FLOW_DESTINATION_TYPE_FLOW_TABLE => Target::Table(id),
        prm::MLX5_IFC_FLOW_DESTINATION_TYPE_TIR => Target::Tir(id),
        // Vport numbers have 16 bits; the uplink may be named as a vport.
        prm::MLX5_IFC_FLOW_DESTINATION_TYPE_VPORT => match u16::try_from(id) {
            Ok(crate::packet::UPLINK) => Target::Uplink,
            Ok(number) => Target::Vport(number),
            Err(_) => return refuse(Syndrome::BadDestination, format!("vport {id:#x}")),
        },
        prm::MLX5_IFC_FLOW_DESTINATION_TYPE_UPLINK => Target::Uplink,
        _ => return refuse(Syndrome::BadDestination, format!("destination type {kind:#x}")),
    };
    let reformat = (dest_format_struct::PACKET_REFORMAT.get(bytes) != 0
        && bytes.len() >= extended_dest_format::SIZE)
        .then(|| u32::try_from(extended_dest_format::PACKET_REFORMAT_ID.get(bytes)).unwrap_or(u32::MAX));
    Ok(Destination { target, reformat })
}

/// An entry in its table.
#[derive(Debug)]
pub(super) struct Entry {
    /// Number under which the accounts know it.
    pub(super) serial: u32,
    pub(super) uid: u16,
    pub(super) says: Description,
    /// The context as the creator wrote it, for queries.
    pub(super) context: Vec<u8>,
    pub(super) hits: u64,
}
