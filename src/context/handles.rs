//! Which kinds of objects there are, and which objects.

use rustix::{fd::BorrowedFd, io::Errno};
use uverbs_uapi::ib_user_ioctl_cmds as cmds;
use zerocopy::IntoBytes;

use super::Object;
use crate::{
    DriverId, Result,
    command::{
        Command, Method, Refusal,
        class::{BytesOut, ConstIn, Out},
    },
};

const INFO_HANDLES: Method = Method::new(cmds::UVERBS_OBJECT_DEVICE, cmds::UVERBS_METHOD_INFO_HANDLES);
const OBJECT_ID: ConstIn = ConstIn(cmds::UVERBS_ATTR_INFO_OBJECT_ID);
/// Optional by the kernel's declaration; yet without it the answer is always `ENOENT`.
const TOTAL: Out<u32> = Out::new(cmds::UVERBS_ATTR_INFO_TOTAL_HANDLES);
const LIST: BytesOut = BytesOut(cmds::UVERBS_ATTR_INFO_HANDLES_LIST);

/// Asks for as many handles as `list` has room for; answers how many were written.
fn info(
    fd: BorrowedFd<'_>,
    driver: DriverId,
    object: Object,
    list: &mut [u32],
) -> Result<Result<u32, Refusal>> {
    let mut total = 0;
    let mut command = Command::<3>::new(INFO_HANDLES, driver.get());
    command.constant(OBJECT_ID, object.get().into());
    command.out(TOTAL, &mut total);
    command.bytes_out(LIST, list.as_mut_bytes())?;
    Ok(command.send(fd).map(|_| total))
}

pub(super) fn supports(fd: BorrowedFd<'_>, driver: DriverId, object: Object) -> Result<bool> {
    match info(fd, driver, object, &mut [0])? {
        Ok(_) => Ok(true),
        // The kernel says ENOENT of a kind that it does not have; sandboxes that know only some kinds say EINVAL.
        Err(Refusal { errno: Errno::NOENT | Errno::INVAL, .. }) => Ok(false),
        Err(refusal) => Err(refusal.into()),
    }
}

pub(super) fn list(fd: BorrowedFd<'_>, driver: DriverId, object: Object) -> Result<Vec<u32>> {
    /// As many as an attribute carries.
    const MOST: usize = u16::MAX as usize / size_of::<u32>();

    let mut handles = vec![0; 64];
    loop {
        let total = info(fd, driver, object, &mut handles)?? as usize;
        if total < handles.len() || handles.len() == MOST {
            handles.truncate(total);
            return Ok(handles);
        }
        handles.resize(MOST.min(handles.len() * 16), 0);
    }
}
