//! `GET_CONTEXT`: what makes an open file a user of the device.
//!
//! Always the ioctl, with all 32 bytes of mlx5's request: Linux 7 reads what is missing from its stack. No doorbell
//! pages are asked for (`DYN_UAR` and no bfregs): an anchor needs none, and there is less that can fail. libmlx5 sends
//! 16 and 4 bfregs, and maps pages.

use rustix::fd::BorrowedFd;
use uverbs_uapi::{
    ib_user_ioctl_cmds as cmds, ib_user_ioctl_verbs::RDMA_DRIVER_MLX5, mlx5_abi as abi,
    mlx5_user_ioctl_cmds::MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX,
};
use zerocopy::FromZeros;

use crate::command::{
    Command, Method, Refusal,
    class::{Out, StructIn},
};

const OBJECT: u16 = cmds::UVERBS_OBJECT_DEVICE;

pub(crate) const GET_CONTEXT: Method = Method::new(OBJECT, cmds::UVERBS_METHOD_GET_CONTEXT);
const NUM_COMP_VECTORS: Out<u32> = Out::new(cmds::UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS);
const CORE_SUPPORT: Out<u64> = Out::new(cmds::UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT);
const REQUEST: StructIn<abi::Mlx5IbAllocUcontextReqV2> = StructIn::new(cmds::UVERBS_ATTR_UHW_IN);
const RESPONSE: Out<abi::Mlx5IbAllocUcontextResp> = Out::new(cmds::UVERBS_ATTR_UHW_OUT);

const QUERY_CONTEXT: Method = Method::new(OBJECT, cmds::UVERBS_METHOD_QUERY_CONTEXT);
const QUERY_NUM_COMP_VECTORS: Out<u32> = Out::new(cmds::UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS);
const QUERY_CORE_SUPPORT: Out<u64> = Out::new(cmds::UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT);
const QUERY_RESPONSE: Out<abi::Mlx5IbAllocUcontextResp> = Out::new(MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX);

/// Whether a context may send firmware commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Devx {
    No,
    Yes,
}

/// What the kernel tells of a context.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Granted {
    pub(crate) completion_vectors: u32,
    pub(crate) core_support: u64,
    /// All zero on a device of another driver.
    pub(crate) mlx5: abi::Mlx5IbAllocUcontextResp,
}

impl Granted {
    /// Of a driver that does not tell.
    pub(crate) fn unknown() -> Self {
        Self { completion_vectors: 0, core_support: 0, mlx5: FromZeros::new_zeroed() }
    }
}

/// Makes a context on the open file `fd` of a device of the driver `driver`.
pub(crate) fn get_context(fd: BorrowedFd<'_>, driver: u32, devx: Devx) -> Result<Granted, Refusal> {
    let request = abi::Mlx5IbAllocUcontextReqV2 {
        flags: if devx == Devx::Yes { abi::MLX5_IB_ALLOC_UCTX_DEVX } else { 0 },
        max_cqe_version: 1,
        lib_caps: abi::MLX5_LIB_CAP_4K_UAR | abi::MLX5_LIB_CAP_DYN_UAR,
        ..FromZeros::new_zeroed()
    };
    let mut granted = Granted::unknown();
    let mut command = Command::<4>::new(GET_CONTEXT, driver);
    command.out(NUM_COMP_VECTORS, &mut granted.completion_vectors);
    command.out(CORE_SUPPORT, &mut granted.core_support);
    if driver == RDMA_DRIVER_MLX5 {
        command.struct_in(REQUEST, &request);
        command.out(RESPONSE, &mut granted.mlx5);
    }
    command.send(fd)?;
    Ok(granted)
}

/// Asks for what `GET_CONTEXT` has answered. Of the drivers, only some can tell.
#[cfg_attr(not(feature = "std"), expect(dead_code, reason = "without std no file is adopted"))]
pub(crate) fn query_context(fd: BorrowedFd<'_>, driver: u32) -> Result<Granted, Refusal> {
    let mut granted = Granted::unknown();
    let mut command = Command::<3>::new(QUERY_CONTEXT, driver);
    command.out(QUERY_NUM_COMP_VECTORS, &mut granted.completion_vectors);
    command.out(QUERY_CORE_SUPPORT, &mut granted.core_support);
    if driver == RDMA_DRIVER_MLX5 {
        command.out(QUERY_RESPONSE, &mut granted.mlx5);
    }
    command.send(fd)?;
    Ok(granted)
}
