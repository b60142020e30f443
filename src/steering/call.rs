//! The two commands of a steering anchor. Neither allocates; each is one system call.

use rustix::fd::BorrowedFd;
use uverbs_uapi::{ib_user_ioctl_verbs::RDMA_DRIVER_MLX5, mlx5_user_ioctl_cmds as cmds};

use super::{FlowTableId, FlowTableType, Priority};
use crate::command::{
    Command, Method, Refusal,
    class::{ConstIn, Handle, NewHandle, Out, ValueIn},
};

const OBJECT: u16 = cmds::MLX5_IB_OBJECT_STEERING_ANCHOR;

pub(crate) const CREATE: Method = Method::new(OBJECT, cmds::MLX5_IB_METHOD_STEERING_ANCHOR_CREATE);
const CREATE_HANDLE: NewHandle = NewHandle(cmds::MLX5_IB_ATTR_STEERING_ANCHOR_CREATE_HANDLE);
const FT_TYPE: ConstIn = ConstIn(cmds::MLX5_IB_ATTR_STEERING_ANCHOR_FT_TYPE);
const PRIORITY: ValueIn<u16> = ValueIn::new(cmds::MLX5_IB_ATTR_STEERING_ANCHOR_PRIORITY);
/// Declared an input by the kernel, which then writes through it: an inline value would be taken for an address, and
/// the fault would destroy an anchor that others share.
const FT_ID: Out<u32> = Out::new(cmds::MLX5_IB_ATTR_STEERING_ANCHOR_FT_ID);

pub(crate) const DESTROY: Method = Method::new(OBJECT, cmds::MLX5_IB_METHOD_STEERING_ANCHOR_DESTROY);
const DESTROY_HANDLE: Handle = Handle(cmds::MLX5_IB_ATTR_STEERING_ANCHOR_DESTROY_HANDLE);

/// Creates an anchor on the open mlx5 device `fd`: its handle, and its id.
#[inline]
pub(crate) fn create(
    fd: BorrowedFd<'_>,
    table_type: FlowTableType,
    priority: Priority,
) -> Result<(u32, FlowTableId), Refusal> {
    let mut id = 0;
    let mut command = Command::<4>::new(CREATE, RDMA_DRIVER_MLX5);
    let new = command.new_handle(CREATE_HANDLE);
    command.constant(FT_TYPE, u64::from(table_type.to_kernel()));
    command.value_in(PRIORITY, &priority.get());
    command.out(FT_ID, &mut id);
    let handle = command.send(fd)?.handle(new);
    Ok((handle, FlowTableId::from_kernel(id)))
}

/// Destroys the anchor `handle` of the open mlx5 device `fd`.
#[inline]
pub(crate) fn destroy(fd: BorrowedFd<'_>, handle: u32) -> Result<(), Refusal> {
    let mut command = Command::<1>::new(DESTROY, RDMA_DRIVER_MLX5);
    command.handle(DESTROY_HANDLE, handle);
    command.send(fd).map(drop)
}
