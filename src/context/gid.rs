//! GIDs: the addresses of ports.

use core::fmt;
use std::net::Ipv6Addr;

use rustix::io::Errno;
use uverbs_uapi::{ib_user_ioctl_cmds as cmds, ib_user_ioctl_verbs::IbUverbsGidEntry};
use zerocopy::{FromZeros, IntoBytes};

use super::{Context, port::kernel_enum};
use crate::{
    Result,
    command::{
        Command, Method, Refusal,
        class::{BytesOut, ConstIn, FlagsIn, Out},
    },
};

const QUERY_GID_TABLE: Method = Method::new(cmds::UVERBS_OBJECT_DEVICE, cmds::UVERBS_METHOD_QUERY_GID_TABLE);
const TABLE_ENTRY_SIZE: ConstIn = ConstIn(cmds::UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE);
const TABLE_FLAGS: FlagsIn = FlagsIn(cmds::UVERBS_ATTR_QUERY_GID_TABLE_FLAGS);
const TABLE_ENTRIES: BytesOut = BytesOut(cmds::UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES);
const TABLE_COUNT: Out<u64> = Out::new(cmds::UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES);

const QUERY_GID_ENTRY: Method = Method::new(cmds::UVERBS_OBJECT_DEVICE, cmds::UVERBS_METHOD_QUERY_GID_ENTRY);
const ENTRY_PORT: ConstIn = ConstIn(cmds::UVERBS_ATTR_QUERY_GID_ENTRY_PORT);
const ENTRY_INDEX: ConstIn = ConstIn(cmds::UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX);
const ENTRY_FLAGS: FlagsIn = FlagsIn(cmds::UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS);
const ENTRY: Out<IbUverbsGidEntry> = Out::new(cmds::UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY);

/// Entries of the first buffer. The kernel's work grows with the buffer, not with what is in it.
const FEW: usize = 8;
/// Entries of the greatest buffer: an attribute carries at most 65535 bytes.
const MOST: usize = u16::MAX as usize / size_of::<IbUverbsGidEntry>();

/// Reads the entries in use, of all ports.
pub(super) fn table(context: &Context) -> Result<Vec<GidEntry>> {
    let mut capacity = FEW;
    loop {
        let mut entries = vec![IbUverbsGidEntry::new_zeroed(); capacity];
        let mut count = 0;
        let mut command = Command::<4>::new(QUERY_GID_TABLE, context.driver_number());
        command.constant(TABLE_ENTRY_SIZE, size_of::<IbUverbsGidEntry>() as u64);
        command.flags(TABLE_FLAGS, 0);
        command.bytes_out(TABLE_ENTRIES, entries.as_mut_slice().as_mut_bytes())?;
        command.out(TABLE_COUNT, &mut count);
        match command.send(context.fd()) {
            Ok(_) => {
                entries.truncate(usize::try_from(count).unwrap_or(usize::MAX));
                return Ok(entries.into_iter().map(GidEntry).collect());
            }
            // There are more than fit.
            Err(Refusal { errno: Errno::INVAL, .. }) if capacity < MOST => capacity = MOST.min(capacity * 8),
            Err(refusal) => return Err(refusal.into()),
        }
    }
}

pub(super) fn entry(context: &Context, port: u32, index: u32) -> Result<GidEntry> {
    let mut entry = IbUverbsGidEntry::new_zeroed();
    let mut command = Command::<4>::new(QUERY_GID_ENTRY, context.driver_number());
    command.constant(ENTRY_PORT, port.into());
    command.constant(ENTRY_INDEX, index.into());
    command.flags(ENTRY_FLAGS, 0);
    command.out(ENTRY, &mut entry);
    context.send(command)?;
    Ok(GidEntry(entry))
}

/// A global id: the address of a port, 128 bits. Displayed as the IPv6 address that it is or looks like.
#[doc(alias = "ibv_gid")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Gid([u8; 16]);

impl Gid {
    /// The bytes, the most significant first.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0
    }
}

impl fmt::Display for Gid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ipv6Addr::from(self.0).fmt(f)
    }
}

kernel_enum! {
    /// How a GID is used.
    #[doc(alias("ibv_gid_type", "ib_uverbs_gid_type"))]
    GidType(u32) {
        /// InfiniBand.
        Ib = 0, "IB";
        /// RoCE in Ethernet frames.
        RoceV1 = 1, "RoCE v1";
        /// RoCE in UDP.
        RoceV2 = 2, "RoCE v2";
    }
}

/// An entry of the GID table.
#[doc(alias("ibv_gid_entry", "ib_uverbs_gid_entry"))]
#[derive(Clone, Copy, Debug)]
pub struct GidEntry(IbUverbsGidEntry);

impl GidEntry {
    /// The GID.
    #[must_use]
    pub const fn gid(&self) -> Gid {
        Gid(self.0.gid)
    }

    /// Its place in the port's table.
    #[must_use]
    pub const fn index(&self) -> u32 {
        self.0.gid_index
    }

    /// The port, from 1.
    #[must_use]
    pub const fn port(&self) -> u32 {
        self.0.port_num
    }

    /// How it is used.
    #[must_use]
    pub const fn gid_type(&self) -> GidType {
        GidType::from_kernel(self.0.gid_type)
    }

    /// The index of the network interface that it belongs to, if there is one.
    #[must_use]
    pub const fn netdev_index(&self) -> Option<u32> {
        match self.0.netdev_ifindex {
            0 => None,
            index => Some(index),
        }
    }
}
