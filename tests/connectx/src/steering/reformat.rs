//! Packet reformats and header modifications: what they do to a frame.

use super::refuse;
use super::table::TableType;
use crate::command::refusal::{Refusal, Syndrome};
use crate::packet::headers::{Headers, Transport};
use crate::packet::{Packet, edit};
use uverbs_uapi::prm::{self, Field, add_action_in, copy_action_in, set_action_in};

/// Where bytes are inserted or removed.
///
/// C: `MLX5_REFORMAT_CONTEXT_ANCHOR_*` (`include/linux/mlx5/mlx5_ifc.h`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Mac,
    Vlan,
    Ip,
    Transport,
}

impl Anchor {
    fn read(number: u64) -> Result<Self, Refusal> {
        Ok(match number {
            1 => Self::Mac,
            2 => Self::Vlan,
            7 => Self::Ip,
            9 => Self::Transport,
            _ => return refuse(Syndrome::BadReformat, format!("reformat anchor {number}")),
        })
    }

    fn place(self, frame: &[u8]) -> Option<usize> {
        let outer = Headers::parse(frame).outer;
        match self {
            Self::Mac => outer.ethernet,
            Self::Vlan => outer.ethernet.map(|at| at + 12),
            Self::Ip => outer.network.map(|n| n.at),
            Self::Transport => match outer.transport? {
                Transport::Tcp(at) | Transport::Udp(at) => Some(at),
                Transport::Icmp(_) | Transport::Icmpv6(_) | Transport::Esp(_) => None,
            },
        }
    }
}

/// A packet reformat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reformat {
    /// Puts a tunnel header in front of the frame.
    Encapsulate(Vec<u8>),
    /// Puts a tunnel header in the place of the Ethernet header.
    EncapsulateL3(Vec<u8>),
    /// Takes a tunnel over IP away and puts an Ethernet header there.
    DecapsulateL3(Vec<u8>),
    /// Inserts bytes.
    Insert { anchor: Anchor, offset: usize, data: Vec<u8> },
    /// Removes bytes.
    Remove { anchor: Anchor, offset: usize, length: usize },
}

impl Reformat {
    /// Reads a `packet_reformat_context_in` and its data.
    pub(super) fn read(context: &[u8]) -> Result<Self, Refusal> {
        use prm::packet_reformat_context_in as layout;
        let kind = u8::try_from(layout::REFORMAT_TYPE.get(context)).unwrap_or(u8::MAX);
        let size = usize::try_from(layout::REFORMAT_DATA_SIZE.get(context)).unwrap_or(usize::MAX);
        let offset = usize::try_from(layout::REFORMAT_PARAM_1.get(context)).unwrap_or(usize::MAX);
        let start = layout::REFORMAT_DATA.byte();
        let data = || {
            context.get(start..start + size).map(<[u8]>::to_vec).ok_or_else(|| {
                Refusal::new(Syndrome::ShortInput, format!("{size} bytes of reformat data are announced"))
            })
        };
        let anchor = || Anchor::read(layout::REFORMAT_PARAM_0.get(context));
        Ok(match kind {
            prm::MLX5_REFORMAT_TYPE_L2_TO_VXLAN
            | prm::MLX5_REFORMAT_TYPE_L2_TO_NVGRE
            | prm::MLX5_REFORMAT_TYPE_L2_TO_L2_TUNNEL => Self::Encapsulate(data()?),
            prm::MLX5_REFORMAT_TYPE_L2_TO_L3_TUNNEL => Self::EncapsulateL3(data()?),
            prm::MLX5_REFORMAT_TYPE_L3_TUNNEL_TO_L2 => {
                let data = data()?;
                // An Ethernet header with or without one VLAN tag.
                if !matches!(size, 14 | 18) {
                    return refuse(Syndrome::BadReformat, format!("an Ethernet header of {size} bytes"));
                }
                Self::DecapsulateL3(data)
            }
            prm::MLX5_REFORMAT_TYPE_INSERT_HDR => Self::Insert { anchor: anchor()?, offset, data: data()? },
            prm::MLX5_REFORMAT_TYPE_REMOVE_HDR => Self::Remove { anchor: anchor()?, offset, length: size },
            _ => return refuse(Syndrome::BadReformat, format!("reformat type {kind:#x}")),
        })
    }

    /// The name in the trace.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Encapsulate(_) => "encapsulate",
            Self::EncapsulateL3(_) => "encapsulate L3",
            Self::DecapsulateL3(_) => "decapsulate L3",
            Self::Insert { .. } => "insert header",
            Self::Remove { .. } => "remove header",
        }
    }

    /// Whether the table must allow encapsulation, rather than decapsulation.
    pub(super) fn adds(&self) -> bool {
        !matches!(self, Self::DecapsulateL3(_) | Self::Remove { .. })
    }

    /// Does it; false if the frame has not the headers that it needs.
    pub(super) fn apply(&self, frame: &mut Vec<u8>) -> bool {
        match self {
            Self::Encapsulate(header) => {
                edit::encapsulate(frame, header);
                true
            }
            Self::EncapsulateL3(header) => edit::encapsulate_l3(frame, header).is_some(),
            Self::DecapsulateL3(header) => edit::decapsulate_l3(frame, header).is_some(),
            Self::Insert { anchor, offset, data } => {
                let place = anchor.place(frame).map(|at| at + offset).filter(|&at| at <= frame.len());
                if let Some(at) = place {
                    edit::insert(frame, at, data);
                }
                place.is_some()
            }
            Self::Remove { anchor, offset, length } => {
                let place =
                    anchor.place(frame).map(|at| at + offset).filter(|&at| at + length <= frame.len());
                if let Some(at) = place {
                    edit::remove(frame, at, *length);
                }
                place.is_some()
            }
        }
    }
}

/// A field that a modification reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Operand {
    /// `MLX5_ACTION_IN_FIELD_*`.
    number: u16,
    /// First bit, from the least significant.
    offset: u32,
}

impl Operand {
    fn read(number: u64, offset: u64) -> Result<Self, Refusal> {
        let number = u16::try_from(number).unwrap_or(u16::MAX);
        if !Self::known(number) {
            return refuse(Syndrome::BadHeaderModification, format!("field {number:#x}"));
        }
        Ok(Self { number, offset: u32::try_from(offset).unwrap_or(0) })
    }

    const fn known(number: u16) -> bool {
        matches!(
            number,
            prm::MLX5_ACTION_IN_FIELD_OUT_SMAC_47_16..=prm::MLX5_ACTION_IN_FIELD_OUT_FIRST_VID
                | prm::MLX5_ACTION_IN_FIELD_OUT_IPV6_HOPLIMIT
                | prm::MLX5_ACTION_IN_FIELD_METADATA_REG_A
                | prm::MLX5_ACTION_IN_FIELD_METADATA_REG_B..=prm::MLX5_ACTION_IN_FIELD_METADATA_REG_C_7
                | prm::MLX5_ACTION_IN_FIELD_OUT_TCP_SEQ_NUM
                | prm::MLX5_ACTION_IN_FIELD_OUT_TCP_ACK_NUM
        )
    }

    fn register(self, packet: &mut Packet) -> Option<&mut u32> {
        let metadata = &mut packet.metadata;
        match self.number {
            prm::MLX5_ACTION_IN_FIELD_METADATA_REG_A => Some(&mut metadata.reg_a),
            prm::MLX5_ACTION_IN_FIELD_METADATA_REG_B => Some(&mut metadata.reg_b),
            n @ prm::MLX5_ACTION_IN_FIELD_METADATA_REG_C_0..=prm::MLX5_ACTION_IN_FIELD_METADATA_REG_C_7 => {
                metadata.reg_c.get_mut(usize::from(n - prm::MLX5_ACTION_IN_FIELD_METADATA_REG_C_0))
            }
            _ => None,
        }
    }

    /// The field as it stands, and its width.
    fn get(self, packet: &mut Packet) -> Option<(u32, u32)> {
        if let Some(register) = self.register(packet) {
            return Some((*register, 32));
        }
        let place = self.place(packet)?;
        Some((u32::try_from(place.get(&packet.bytes)).ok()?, u32::try_from(place.width).ok()?))
    }

    fn set(self, packet: &mut Packet, value: u32) {
        if let Some(register) = self.register(packet) {
            *register = value;
        } else if let Some(place) = self.place(packet) {
            place.set(&mut packet.bytes, u64::from(value) & place.max());
        }
    }

    fn place(self, packet: &Packet) -> Option<Field> {
        edit::place(self.number, &Headers::parse(&packet.bytes).outer)
            .filter(|p| p.width <= 32 && (p.offset + p.width).div_ceil(8) <= packet.bytes.len())
    }
}

/// One step of a header modification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Set { to: Operand, length: u32, data: u32 },
    Add { to: Operand, data: u32 },
    Copy { from: Operand, to: Operand, length: u32 },
}

/// A header modification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Modification {
    pub(super) kind: TableType,
    steps: Vec<Step>,
}

impl Modification {
    /// Reads the actions of an `alloc_modify_header_context_in`, 8 bytes each.
    pub(super) fn read(kind: TableType, actions: &[u8]) -> Result<Self, Refusal> {
        let steps = actions.chunks_exact(set_action_in::SIZE).map(Step::read).collect::<Result<_, _>>()?;
        Ok(Self { kind, steps })
    }

    /// Does it to `packet`. A step whose header the frame does not have does nothing (*model*).
    pub(super) fn apply(&self, packet: &mut Packet) {
        let mut bytes = std::mem::take(&mut packet.bytes);
        edit::keeping_checksums(&mut bytes, |frame| {
            std::mem::swap(frame, &mut packet.bytes);
            for step in &self.steps {
                step.apply(packet);
            }
            std::mem::swap(frame, &mut packet.bytes);
        });
        packet.bytes = bytes;
    }
}

impl Step {
    fn read(bytes: &[u8]) -> Result<Self, Refusal> {
        // A length of 0 is 32 bits.
        let length = |field: Field| match u32::try_from(field.get(bytes)) {
            Ok(0) | Err(_) => 32,
            Ok(length) => length,
        };
        let data = |field: Field| u32::try_from(field.get(bytes)).unwrap_or(0);
        match u8::try_from(set_action_in::ACTION_TYPE.get(bytes)).unwrap_or(0) {
            prm::MLX5_ACTION_TYPE_SET => {
                let to = Operand::read(set_action_in::FIELD.get(bytes), set_action_in::OFFSET.get(bytes))?;
                Ok(Self::Set { to, length: length(set_action_in::LENGTH), data: data(set_action_in::DATA) })
            }
            prm::MLX5_ACTION_TYPE_ADD => {
                let to = Operand::read(add_action_in::FIELD.get(bytes), 0)?;
                Ok(Self::Add { to, data: data(add_action_in::DATA) })
            }
            prm::MLX5_ACTION_TYPE_COPY => {
                let from = Operand::read(
                    copy_action_in::SRC_FIELD.get(bytes),
                    copy_action_in::SRC_OFFSET.get(bytes),
                )?;
                let to = Operand::read(
                    copy_action_in::DST_FIELD.get(bytes),
                    copy_action_in::DST_OFFSET.get(bytes),
                )?;
                Ok(Self::Copy { from, to, length: length(copy_action_in::LENGTH) })
            }
            kind => refuse(Syndrome::BadHeaderModification, format!("action type {kind}")),
        }
    }

    fn apply(self, packet: &mut Packet) {
        match self {
            Self::Set { to, length, data } => merge(packet, to, length, data),
            Self::Add { to, data } => {
                if let Some((old, _)) = to.get(packet) {
                    to.set(packet, old.wrapping_add(data));
                }
            }
            Self::Copy { from, to, length } => {
                if let Some((value, _)) = from.get(packet) {
                    merge(packet, to, length, value >> from.offset);
                }
            }
        }
    }
}

/// Writes the lower `length` bits of `data` at the operand's offset, the rest of the field stays.
fn merge(packet: &mut Packet, to: Operand, length: u32, data: u32) {
    let Some((old, _)) = to.get(packet) else { return };
    let mask = (if length >= 32 { u32::MAX } else { (1 << length) - 1 }) << to.offset;
    to.set(packet, old & !mask | data << to.offset & mask);
}
