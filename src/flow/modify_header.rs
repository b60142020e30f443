//! Changing header fields and metadata.

use uverbs_uapi::prm::{
    self, add_action_in, alloc_modify_header_context_in as alloc_in,
    alloc_modify_header_context_out as alloc_out, copy_action_in, set_action_in,
};

use super::{Invalid, MetadataRegister, firmware, shared::Shared};
use crate::{
    Context, DestroyError, FlowTableType, Result,
    devx::{Inbox, Object},
};

/// A part of a packet, up to 32 bits wide, that an action can change.
///
/// C: `enum mlx5_modify_header_field` in `include/linux/mlx5/mlx5_ifc.h`; fields not named here by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HeaderField(u16);

impl HeaderField {
    /// First 4 bytes of the Ethernet source address.
    pub const ETHERNET_SOURCE_HIGH: Self = Self(prm::MLX5_ACTION_IN_FIELD_OUT_SMAC_47_16);
    /// Last 2 bytes of the Ethernet source address.
    pub const ETHERNET_SOURCE_LOW: Self = Self(prm::MLX5_ACTION_IN_FIELD_OUT_SMAC_15_0);
    /// Ethertype.
    pub const ETHERTYPE: Self = Self(prm::MLX5_ACTION_IN_FIELD_OUT_ETHERTYPE);
    /// First 4 bytes of the Ethernet destination address.
    pub const ETHERNET_DESTINATION_HIGH: Self = Self(prm::MLX5_ACTION_IN_FIELD_OUT_DMAC_47_16);
    /// Last 2 bytes of the Ethernet destination address.
    pub const ETHERNET_DESTINATION_LOW: Self = Self(prm::MLX5_ACTION_IN_FIELD_OUT_DMAC_15_0);
    /// Differentiated services code point.
    pub const DSCP: Self = Self(prm::MLX5_ACTION_IN_FIELD_OUT_IP_DSCP);
    /// TCP flags.
    pub const TCP_FLAGS: Self = Self(prm::MLX5_ACTION_IN_FIELD_OUT_TCP_FLAGS);
    /// TCP source port.
    pub const TCP_SOURCE: Self = Self(prm::MLX5_ACTION_IN_FIELD_OUT_TCP_SPORT);
    /// TCP destination port.
    pub const TCP_DESTINATION: Self = Self(prm::MLX5_ACTION_IN_FIELD_OUT_TCP_DPORT);
    /// Time to live of IPv4.
    pub const IPV4_TTL: Self = Self(prm::MLX5_ACTION_IN_FIELD_OUT_IP_TTL);
    /// UDP source port.
    pub const UDP_SOURCE: Self = Self(prm::MLX5_ACTION_IN_FIELD_OUT_UDP_SPORT);
    /// UDP destination port.
    pub const UDP_DESTINATION: Self = Self(prm::MLX5_ACTION_IN_FIELD_OUT_UDP_DPORT);
    /// IPv4 source address.
    pub const IPV4_SOURCE: Self = Self(prm::MLX5_ACTION_IN_FIELD_OUT_SIPV4);
    /// IPv4 destination address.
    pub const IPV4_DESTINATION: Self = Self(prm::MLX5_ACTION_IN_FIELD_OUT_DIPV4);
    /// Id of the first VLAN tag.
    pub const VLAN_ID: Self = Self(prm::MLX5_ACTION_IN_FIELD_OUT_FIRST_VID);
    /// Hop limit of IPv6.
    pub const IPV6_HOP_LIMIT: Self = Self(prm::MLX5_ACTION_IN_FIELD_OUT_IPV6_HOPLIMIT);

    /// The field that the firmware numbers so.
    ///
    /// # Errors
    /// If the number has more than 12 bits.
    pub const fn from_number(number: u16) -> Result<Self, Invalid> {
        if number < 1 << 12 {
            Ok(Self(number))
        } else {
            Err(Invalid::TooGreat { what: "header field", value: number as u64, maximum: (1 << 12) - 1 })
        }
    }

    /// A metadata register.
    #[must_use]
    pub const fn metadata(register: MetadataRegister) -> Self {
        Self(match register {
            MetadataRegister::A => prm::MLX5_ACTION_IN_FIELD_METADATA_REG_A,
            MetadataRegister::C0 => prm::MLX5_ACTION_IN_FIELD_METADATA_REG_C_0,
            MetadataRegister::C1 => prm::MLX5_ACTION_IN_FIELD_METADATA_REG_C_1,
            MetadataRegister::C2 => prm::MLX5_ACTION_IN_FIELD_METADATA_REG_C_2,
            MetadataRegister::C3 => prm::MLX5_ACTION_IN_FIELD_METADATA_REG_C_3,
            MetadataRegister::C4 => prm::MLX5_ACTION_IN_FIELD_METADATA_REG_C_4,
            MetadataRegister::C5 => prm::MLX5_ACTION_IN_FIELD_METADATA_REG_C_5,
            MetadataRegister::C6 => prm::MLX5_ACTION_IN_FIELD_METADATA_REG_C_6,
            MetadataRegister::C7 => prm::MLX5_ACTION_IN_FIELD_METADATA_REG_C_7,
        })
    }

    /// The firmware's number.
    #[must_use]
    pub const fn number(self) -> u16 {
        self.0
    }
}

/// One change of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HeaderChange {
    /// Sets `length` bits of a field, from bit `offset` (0 is the lowest) on, to `value`.
    Set {
        /// The field.
        field: HeaderField,
        /// First bit, 0 to 31.
        offset: u8,
        /// How many bits, 1 to 32.
        length: u8,
        /// Their new value.
        value: u32,
    },
    /// Adds to a field; what overflows is lost. To subtract 1, add `u32::MAX`.
    Add {
        /// The field.
        field: HeaderField,
        /// What is added.
        value: u32,
    },
    /// Copies `length` bits from one field to another.
    Copy {
        /// Where from.
        source: HeaderField,
        /// First bit there, 0 to 31.
        source_offset: u8,
        /// Where to.
        destination: HeaderField,
        /// First bit there, 0 to 31.
        destination_offset: u8,
        /// How many bits, 1 to 32.
        length: u8,
    },
}

/// Size of one change in the firmware's format.
const CHANGE: usize = 8;
/// The most changes of one action; no card does as many.
const MOST: usize = 64;

impl HeaderChange {
    fn encode(self) -> Result<[u8; CHANGE], Invalid> {
        let mut bytes = [0; CHANGE];
        let bits = |offset: u8, length: u8| match offset.checked_add(length) {
            // A length of 32 is written as 0.
            Some(end @ 1..=32) if length > 0 && end > offset => Ok(u64::from(length % 32)),
            _ => Err(Invalid::TooGreat {
                what: "bits of a header change",
                value: u64::from(offset) + u64::from(length),
                maximum: 32,
            }),
        };
        match self {
            Self::Set { field, offset, length, value } => {
                set_action_in::LENGTH.set(&mut bytes, bits(offset, length)?);
                set_action_in::ACTION_TYPE.set(&mut bytes, prm::MLX5_ACTION_TYPE_SET.into());
                set_action_in::FIELD.set(&mut bytes, field.0.into());
                set_action_in::OFFSET.set(&mut bytes, offset.into());
                set_action_in::DATA.set(&mut bytes, value.into());
            }
            Self::Add { field, value } => {
                add_action_in::ACTION_TYPE.set(&mut bytes, prm::MLX5_ACTION_TYPE_ADD.into());
                add_action_in::FIELD.set(&mut bytes, field.0.into());
                add_action_in::DATA.set(&mut bytes, value.into());
            }
            Self::Copy { source, source_offset, destination, destination_offset, length } => {
                bits(destination_offset, length)?;
                copy_action_in::LENGTH.set(&mut bytes, bits(source_offset, length)?);
                copy_action_in::ACTION_TYPE.set(&mut bytes, prm::MLX5_ACTION_TYPE_COPY.into());
                copy_action_in::SRC_FIELD.set(&mut bytes, source.0.into());
                copy_action_in::SRC_OFFSET.set(&mut bytes, source_offset.into());
                copy_action_in::DST_FIELD.set(&mut bytes, destination.0.into());
                copy_action_in::DST_OFFSET.set(&mut bytes, destination_offset.into());
            }
        }
        Ok(bytes)
    }
}

/// Changes of header fields and metadata, for entries of own tables.
///
/// A handle: clones are the same object, which goes when the last clone and entry is gone.
#[doc(alias = "MLX5_CMD_OP_ALLOC_MODIFY_HEADER_CONTEXT")]
#[derive(Clone, Debug)]
pub struct ModifyHeader {
    shared: Shared,
    table_type: FlowTableType,
}

impl ModifyHeader {
    /// Gives the firmware changes, carried out in this order, for entries of tables of this type.
    ///
    /// # Errors
    /// If there are more than 64, or one is about more than the 32 bits of its field;
    /// [`Error::Refused`](crate::Error::Refused) if the card cannot do one of them.
    pub fn create(context: &Context, table_type: FlowTableType, changes: &[HeaderChange]) -> Result<Self> {
        if changes.len() > MOST {
            let (what, value) = ("number of header changes", changes.len() as u64);
            return Err(Invalid::TooGreat { what, value, maximum: MOST as u64 }.into());
        }
        let mut inbox =
            Inbox::<{ alloc_in::SIZE + MOST * CHANGE }>::new(prm::MLX5_CMD_OP_ALLOC_MODIFY_HEADER_CONTEXT);
        inbox.set(alloc_in::TABLE_TYPE, firmware::table_type(table_type).into());
        inbox.set(alloc_in::NUM_OF_ACTIONS, changes.len() as u64);
        for (at, change) in (alloc_in::SIZE..).step_by(CHANGE).zip(changes) {
            inbox.fill_from(at, &change.encode()?);
        }
        let (id, length) = (alloc_out::MODIFY_HEADER_ID, alloc_in::SIZE + changes.len() * CHANGE);
        let shared = Shared::create::<{ alloc_out::SIZE }>(context, &inbox.as_ref()[..length], id)?;
        Ok(Self { shared, table_type })
    }

    /// The firmware's number of the object.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.shared.id()
    }

    /// The type of the tables it is for.
    #[must_use]
    pub fn table_type(&self) -> FlowTableType {
        self.table_type
    }

    /// The firmware object.
    #[must_use]
    pub fn object(&self) -> &Object {
        self.shared.object()
    }

    /// Destroys the object.
    ///
    /// # Errors
    /// With the object: [`Invalid::InUse`] if an entry or another clone holds it; the firmware's.
    pub fn destroy(self) -> Result<(), DestroyError<Self>> {
        let Self { shared, table_type } = self;
        shared.destroy().map_err(|(shared, error)| DestroyError::new(Self { shared, table_type }, error))
    }
}
