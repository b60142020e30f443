//! Names of objects and methods, for messages.

use core::fmt;

use uverbs_uapi::{ib_user_ioctl_cmds as core_cmds, mlx5_user_ioctl_cmds as mlx5};

use crate::command::Method;

/// An object with its number, and those of its methods that this crate sends.
type Named = (u16, &'static str, &'static [(u16, &'static str)]);

/// The kernel's names without their prefixes.
const OBJECTS: &[Named] = &[
    (
        core_cmds::UVERBS_OBJECT_DEVICE,
        "DEVICE",
        &[
            (core_cmds::UVERBS_METHOD_INVOKE_WRITE, "INVOKE_WRITE"),
            (core_cmds::UVERBS_METHOD_INFO_HANDLES, "INFO_HANDLES"),
            (core_cmds::UVERBS_METHOD_QUERY_PORT, "QUERY_PORT"),
            (core_cmds::UVERBS_METHOD_GET_CONTEXT, "GET_CONTEXT"),
            (core_cmds::UVERBS_METHOD_QUERY_CONTEXT, "QUERY_CONTEXT"),
            (core_cmds::UVERBS_METHOD_QUERY_GID_TABLE, "QUERY_GID_TABLE"),
            (core_cmds::UVERBS_METHOD_QUERY_GID_ENTRY, "QUERY_GID_ENTRY"),
        ],
    ),
    (core_cmds::UVERBS_OBJECT_PD, "PD", &[]),
    (core_cmds::UVERBS_OBJECT_COMP_CHANNEL, "COMP_CHANNEL", &[]),
    (core_cmds::UVERBS_OBJECT_CQ, "CQ", &[]),
    (core_cmds::UVERBS_OBJECT_QP, "QP", &[]),
    (core_cmds::UVERBS_OBJECT_SRQ, "SRQ", &[]),
    (core_cmds::UVERBS_OBJECT_AH, "AH", &[]),
    (core_cmds::UVERBS_OBJECT_MR, "MR", &[]),
    (core_cmds::UVERBS_OBJECT_MW, "MW", &[]),
    (
        core_cmds::UVERBS_OBJECT_FLOW,
        "FLOW",
        &[
            (core_cmds::UVERBS_METHOD_FLOW_DESTROY, "DESTROY"),
            (mlx5::MLX5_IB_METHOD_CREATE_FLOW, "CREATE_FLOW"),
            (mlx5::MLX5_IB_METHOD_DESTROY_FLOW, "DESTROY_FLOW"),
        ],
    ),
    (core_cmds::UVERBS_OBJECT_XRCD, "XRCD", &[]),
    (core_cmds::UVERBS_OBJECT_RWQ_IND_TBL, "RWQ_IND_TBL", &[]),
    (core_cmds::UVERBS_OBJECT_WQ, "WQ", &[]),
    (
        core_cmds::UVERBS_OBJECT_FLOW_ACTION,
        "FLOW_ACTION",
        &[
            (core_cmds::UVERBS_METHOD_FLOW_ACTION_DESTROY, "DESTROY"),
            (mlx5::MLX5_IB_METHOD_FLOW_ACTION_CREATE_MODIFY_HEADER, "CREATE_MODIFY_HEADER"),
            (mlx5::MLX5_IB_METHOD_FLOW_ACTION_CREATE_PACKET_REFORMAT, "CREATE_PACKET_REFORMAT"),
        ],
    ),
    (core_cmds::UVERBS_OBJECT_DM, "DM", &[]),
    (core_cmds::UVERBS_OBJECT_COUNTERS, "COUNTERS", &[]),
    (core_cmds::UVERBS_OBJECT_ASYNC_EVENT, "ASYNC_EVENT", &[]),
    (core_cmds::UVERBS_OBJECT_DMAH, "DMAH", &[]),
    (core_cmds::UVERBS_OBJECT_DMABUF, "DMABUF", &[]),
    (core_cmds::UVERBS_OBJECT_COMP_CNTR, "COMP_CNTR", &[]),
    (
        mlx5::MLX5_IB_OBJECT_DEVX,
        "DEVX",
        &[
            (mlx5::MLX5_IB_METHOD_DEVX_OTHER, "OTHER"),
            (mlx5::MLX5_IB_METHOD_DEVX_QUERY_UAR, "QUERY_UAR"),
            (mlx5::MLX5_IB_METHOD_DEVX_QUERY_EQN, "QUERY_EQN"),
            (mlx5::MLX5_IB_METHOD_DEVX_SUBSCRIBE_EVENT, "SUBSCRIBE_EVENT"),
        ],
    ),
    (
        mlx5::MLX5_IB_OBJECT_DEVX_OBJ,
        "DEVX_OBJ",
        &[
            (mlx5::MLX5_IB_METHOD_DEVX_OBJ_CREATE, "CREATE"),
            (mlx5::MLX5_IB_METHOD_DEVX_OBJ_DESTROY, "DESTROY"),
            (mlx5::MLX5_IB_METHOD_DEVX_OBJ_MODIFY, "MODIFY"),
            (mlx5::MLX5_IB_METHOD_DEVX_OBJ_QUERY, "QUERY"),
            (mlx5::MLX5_IB_METHOD_DEVX_OBJ_ASYNC_QUERY, "ASYNC_QUERY"),
        ],
    ),
    (
        mlx5::MLX5_IB_OBJECT_DEVX_UMEM,
        "DEVX_UMEM",
        &[(mlx5::MLX5_IB_METHOD_DEVX_UMEM_REG, "REG"), (mlx5::MLX5_IB_METHOD_DEVX_UMEM_DEREG, "DEREG")],
    ),
    (
        mlx5::MLX5_IB_OBJECT_FLOW_MATCHER,
        "FLOW_MATCHER",
        &[
            (mlx5::MLX5_IB_METHOD_FLOW_MATCHER_CREATE, "CREATE"),
            (mlx5::MLX5_IB_METHOD_FLOW_MATCHER_DESTROY, "DESTROY"),
        ],
    ),
    (
        mlx5::MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD,
        "DEVX_ASYNC_CMD_FD",
        &[(mlx5::MLX5_IB_METHOD_DEVX_ASYNC_CMD_FD_ALLOC, "ALLOC")],
    ),
    (
        mlx5::MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD,
        "DEVX_ASYNC_EVENT_FD",
        &[(mlx5::MLX5_IB_METHOD_DEVX_ASYNC_EVENT_FD_ALLOC, "ALLOC")],
    ),
    (mlx5::MLX5_IB_OBJECT_VAR, "VAR", &[]),
    (mlx5::MLX5_IB_OBJECT_PP, "PP", &[]),
    (
        mlx5::MLX5_IB_OBJECT_UAR,
        "UAR",
        &[(mlx5::MLX5_IB_METHOD_UAR_OBJ_ALLOC, "ALLOC"), (mlx5::MLX5_IB_METHOD_UAR_OBJ_DESTROY, "DESTROY")],
    ),
    (
        mlx5::MLX5_IB_OBJECT_STEERING_ANCHOR,
        "STEERING_ANCHOR",
        &[
            (mlx5::MLX5_IB_METHOD_STEERING_ANCHOR_CREATE, "CREATE"),
            (mlx5::MLX5_IB_METHOD_STEERING_ANCHOR_DESTROY, "DESTROY"),
        ],
    ),
];

fn find(object: u16) -> Option<&'static Named> {
    OBJECTS.iter().find(|named| named.0 == object)
}

#[cfg(feature = "std")]
pub(crate) fn object(object: u16) -> Option<&'static str> {
    find(object).map(|named| named.1)
}

/// `STEERING_ANCHOR.CREATE`, or numbers where there is no name.
impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let object = find(self.object());
        match object {
            Some((_, name, _)) => f.write_str(name)?,
            None => write!(f, "object {:#x}", self.object())?,
        }
        match object.and_then(|(.., methods)| methods.iter().find(|named| named.0 == self.method())) {
            Some((_, name)) => write!(f, ".{name}"),
            None => write!(f, " method {:#x}", self.method()),
        }
    }
}
