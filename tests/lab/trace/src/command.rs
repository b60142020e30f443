//! The block of memory of an ioctl `RDMA_VERBS_IOCTL`, before and after.

use lab_trace::{Attribute, Bytes, Command, Value};
use nix::unistd::Pid;
use uverbs_uapi::rdma_user_ioctl_cmds::{IbUverbsAttr, IbUverbsIoctlHdr};
use zerocopy::FromBytes as _;

use crate::memory;

/// A command as it is sent; what comes after is as before until [`finish`] looks.
pub(crate) fn begin(pid: Pid, fd: i32, address: u64) -> Option<Command> {
    let bytes = memory::read(pid, address, size_of::<IbUverbsIoctlHdr>())?;
    let header = IbUverbsIoctlHdr::read_from_bytes(&bytes).ok()?;
    let attributes = attributes(pid, address, header.num_attrs)?
        .iter()
        .map(|attribute| {
            let before = value(pid, attribute);
            Attribute {
                id: attribute.attr_id,
                length: attribute.len,
                element: attribute.attr_data,
                after: before.clone(),
                before,
            }
        })
        .collect();
    Some(Command {
        fd,
        object: header.object_id,
        method: header.method_id,
        length: header.length,
        driver: header.driver_id,
        reserved: (header.reserved1, header.reserved2),
        attributes,
        result: 0,
    })
}

/// Adds what the kernel answered.
pub(crate) fn finish(pid: Pid, address: u64, command: &mut Command, result: i64) {
    command.result = result;
    let count = u16::try_from(command.attributes.len()).unwrap_or(u16::MAX);
    let after = attributes(pid, address, count).unwrap_or_default();
    for (attribute, after) in command.attributes.iter_mut().zip(&after) {
        attribute.after = value(pid, after);
    }
}

fn attributes(pid: Pid, address: u64, count: u16) -> Option<Vec<IbUverbsAttr>> {
    let address = address.checked_add(size_of::<IbUverbsIoctlHdr>() as u64)?;
    let bytes = memory::read(pid, address, usize::from(count) * size_of::<IbUverbsAttr>())?;
    bytes
        .chunks_exact(size_of::<IbUverbsAttr>())
        .map(|bytes| IbUverbsAttr::read_from_bytes(bytes).ok())
        .collect()
}

fn value(pid: Pid, attribute: &IbUverbsAttr) -> Value {
    let memory = match attribute.len {
        0 => None,
        length => memory::read(pid, attribute.data, length.into()),
    };
    Value { flags: attribute.flags.bits(), data: attribute.data, memory: memory.map(Bytes) }
}
