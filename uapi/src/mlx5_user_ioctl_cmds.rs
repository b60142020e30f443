//! `rdma/mlx5_user_ioctl_cmds.h`: objects, methods and attributes of the mlx5 driver.
//!
//! See [`ib_user_ioctl_cmds`](crate::ib_user_ioctl_cmds) for what the classes of attributes mean.

// Objects

/// Firmware commands; no handles.
pub const MLX5_IB_OBJECT_DEVX: u16 = 0x1000;
/// A firmware object.
pub const MLX5_IB_OBJECT_DEVX_OBJ: u16 = 0x1001;
/// User memory registered with the firmware.
pub const MLX5_IB_OBJECT_DEVX_UMEM: u16 = 0x1002;
/// What a steering rule compares.
pub const MLX5_IB_OBJECT_FLOW_MATCHER: u16 = 0x1003;
/// Answers of asynchronous firmware queries, a file descriptor.
pub const MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD: u16 = 0x1004;
/// Events of firmware objects, a file descriptor.
pub const MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD: u16 = 0x1005;
/// Doorbell page of an emulated VirtIO device.
pub const MLX5_IB_OBJECT_VAR: u16 = 0x1006;
/// Packet pacing entry.
pub const MLX5_IB_OBJECT_PP: u16 = 0x1007;
/// Doorbell page (since Linux 5.7).
pub const MLX5_IB_OBJECT_UAR: u16 = 0x1008;
/// Steering anchor (since Linux 6.0; needs `shared_object_to_user_object_allowed` of the firmware).
pub const MLX5_IB_OBJECT_STEERING_ANCHOR: u16 = 0x1009;

// DEVICE (of the core)

/// Vport and steering attributes of a port (not in Linux 5.10).
pub const MLX5_IB_METHOD_QUERY_PORT: u16 = 0x1000;
/// Where sysfs has the data direct function (since Linux 6.12).
pub const MLX5_IB_METHOD_GET_DATA_DIRECT_SYSFS_PATH: u16 = 0x1001;

/// In, `u32`: `QUERY_PORT`, the port, from 1 (not in Linux 5.10).
pub const MLX5_IB_ATTR_QUERY_PORT_PORT_NUM: u16 = 0x1000;
/// Out, [`Mlx5IbUapiQueryPort`](crate::mlx5_user_ioctl_verbs::Mlx5IbUapiQueryPort) (not in Linux 5.10).
pub const MLX5_IB_ATTR_QUERY_PORT: u16 = 0x1001;
/// Out, text: `GET_DATA_DIRECT_SYSFS_PATH` (since Linux 6.12).
pub const MLX5_IB_ATTR_GET_DATA_DIRECT_SYSFS_PATH: u16 = 0x1000;
/// Out, [`Mlx5IbAllocUcontextResp`](crate::mlx5_abi::Mlx5IbAllocUcontextResp): the core's `QUERY_CONTEXT`.
pub const MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX: u16 = 0x1000;

// PD (of the core)

/// The firmware's number of a protection domain.
pub const MLX5_IB_METHOD_PD_QUERY: u16 = 0x1000;
/// Handle: `PD_QUERY`.
pub const MLX5_IB_ATTR_QUERY_PD_HANDLE: u16 = 0x1000;
/// Out, `u32`: `PD_QUERY`, the number.
pub const MLX5_IB_ATTR_QUERY_PD_RESP_PDN: u16 = 0x1001;

// CQ, QP, SRQ, MR (of the core)

/// In, `u32`: doorbell page of a new completion queue (since Linux 6.11).
pub const MLX5_IB_ATTR_CREATE_CQ_UAR_INDEX: u16 = 0x1002;
/// In: memory of a completion queue's doorbell record (since the 7 series).
pub const MLX5_IB_ATTR_CREATE_CQ_DBR_BUF_UMEM: u16 = 0x1003;
/// In: memory of a queue pair's doorbell record (since the 7 series).
pub const MLX5_IB_ATTR_CREATE_QP_DBR_BUF_UMEM: u16 = 0x1002;
/// In: memory of a shared receive queue's doorbell record (since the 7 series).
pub const MLX5_IB_ATTR_CREATE_SRQ_DBR_BUF_UMEM: u16 = 0x1002;
/// Flags: the core's `REG_DMABUF_MR`, data direct (since Linux 6.12).
pub const MLX5_IB_ATTR_REG_DMABUF_MR_ACCESS_FLAGS: u16 = 0x1000;

// DM (of the core)

/// Maps an operation's address of device memory (not in Linux 5.10).
pub const MLX5_IB_METHOD_DM_MAP_OP_ADDR: u16 = 0x1000;
/// Where device memory lies (not in Linux 5.10).
pub const MLX5_IB_METHOD_DM_QUERY: u16 = 0x1001;

/// Out, `u64`: the core's `DM_ALLOC`, offset or ICM address.
pub const MLX5_IB_ATTR_ALLOC_DM_RESP_START_OFFSET: u16 = 0x1000;
/// Out, `u16`: the core's `DM_ALLOC`, page to map.
pub const MLX5_IB_ATTR_ALLOC_DM_RESP_PAGE_INDEX: u16 = 0x1001;
/// Constant: the core's `DM_ALLOC`, `MLX5_IB_UAPI_DM_TYPE_*`.
pub const MLX5_IB_ATTR_ALLOC_DM_REQ_TYPE: u16 = 0x1002;
/// Handle: `DM_MAP_OP_ADDR` (not in Linux 5.10).
pub const MLX5_IB_ATTR_DM_MAP_OP_ADDR_REQ_HANDLE: u16 = 0x1000;
/// In, `u8`: `DM_MAP_OP_ADDR`, the operation (not in Linux 5.10).
pub const MLX5_IB_ATTR_DM_MAP_OP_ADDR_REQ_OP: u16 = 0x1001;
/// Out, `u64`: `DM_MAP_OP_ADDR`, offset in the page (not in Linux 5.10).
pub const MLX5_IB_ATTR_DM_MAP_OP_ADDR_RESP_START_OFFSET: u16 = 0x1002;
/// Out, `u16`: `DM_MAP_OP_ADDR`, page to map (not in Linux 5.10).
pub const MLX5_IB_ATTR_DM_MAP_OP_ADDR_RESP_PAGE_INDEX: u16 = 0x1003;
/// Handle: `DM_QUERY` (not in Linux 5.10).
pub const MLX5_IB_ATTR_QUERY_DM_REQ_HANDLE: u16 = 0x1000;
/// Out, `u64`: `DM_QUERY`, offset in the page (not in Linux 5.10).
pub const MLX5_IB_ATTR_QUERY_DM_RESP_START_OFFSET: u16 = 0x1001;
/// Out, `u16`: `DM_QUERY`, page to map (not in Linux 5.10).
pub const MLX5_IB_ATTR_QUERY_DM_RESP_PAGE_INDEX: u16 = 0x1002;
/// Out, `u64`: `DM_QUERY`, length (not in Linux 5.10).
pub const MLX5_IB_ATTR_QUERY_DM_RESP_LENGTH: u16 = 0x1003;

// DEVX

/// A firmware command that is about no object.
pub const MLX5_IB_METHOD_DEVX_OTHER: u16 = 0x1000;
/// The firmware's number of a doorbell page of this context.
pub const MLX5_IB_METHOD_DEVX_QUERY_UAR: u16 = 0x1001;
/// The firmware's number of a completion vector's event queue.
pub const MLX5_IB_METHOD_DEVX_QUERY_EQN: u16 = 0x1002;
/// Has events sent to a file descriptor.
pub const MLX5_IB_METHOD_DEVX_SUBSCRIBE_EVENT: u16 = 0x1003;

/// In: `DEVX_OTHER`, the firmware command.
pub const MLX5_IB_ATTR_DEVX_OTHER_CMD_IN: u16 = 0x1000;
/// Out: `DEVX_OTHER`, its answer.
pub const MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT: u16 = 0x1001;
/// In, `u32`: `DEVX_QUERY_UAR`, index in this context.
pub const MLX5_IB_ATTR_DEVX_QUERY_UAR_USER_IDX: u16 = 0x1000;
/// Out, `u32`: `DEVX_QUERY_UAR`, the number.
pub const MLX5_IB_ATTR_DEVX_QUERY_UAR_DEV_IDX: u16 = 0x1001;
/// In, `u32`: `DEVX_QUERY_EQN`, the vector.
pub const MLX5_IB_ATTR_DEVX_QUERY_EQN_USER_VEC: u16 = 0x1000;
/// Out, `u32`: `DEVX_QUERY_EQN`, the number.
pub const MLX5_IB_ATTR_DEVX_QUERY_EQN_DEV_EQN: u16 = 0x1001;
/// File descriptor: `DEVX_SUBSCRIBE_EVENT`, where events go.
pub const MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_HANDLE: u16 = 0x1000;
/// Handle, optional: `DEVX_SUBSCRIBE_EVENT`, whose events.
pub const MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_OBJ_HANDLE: u16 = 0x1001;
/// In, `u16` each, at most 16: `DEVX_SUBSCRIBE_EVENT`, which events.
pub const MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_TYPE_NUM_LIST: u16 = 0x1002;
/// In, `u32`, optional: `DEVX_SUBSCRIBE_EVENT`, an eventfd to wake instead.
pub const MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_NUM: u16 = 0x1003;
/// In, `u64`, optional: `DEVX_SUBSCRIBE_EVENT`, comes back with each event.
pub const MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_COOKIE: u16 = 0x1004;

// DEVX_OBJ

/// Creates a firmware object.
pub const MLX5_IB_METHOD_DEVX_OBJ_CREATE: u16 = 0x1000;
/// Destroys one, with the command the kernel prepared when it was created.
pub const MLX5_IB_METHOD_DEVX_OBJ_DESTROY: u16 = 0x1001;
/// A firmware command that changes an object.
pub const MLX5_IB_METHOD_DEVX_OBJ_MODIFY: u16 = 0x1002;
/// A firmware command that reads an object.
pub const MLX5_IB_METHOD_DEVX_OBJ_QUERY: u16 = 0x1003;
/// The same, answered through a file descriptor.
pub const MLX5_IB_METHOD_DEVX_OBJ_ASYNC_QUERY: u16 = 0x1004;

/// Handle, new: `DEVX_OBJ_CREATE`.
pub const MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE: u16 = 0x1000;
/// In: `DEVX_OBJ_CREATE`, the firmware command.
pub const MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN: u16 = 0x1001;
/// Out: `DEVX_OBJ_CREATE`, its answer.
pub const MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT: u16 = 0x1002;
/// Handle, destroyed: `DEVX_OBJ_DESTROY`.
pub const MLX5_IB_ATTR_DEVX_OBJ_DESTROY_HANDLE: u16 = 0x1000;
/// Handle of any type: `DEVX_OBJ_MODIFY`.
pub const MLX5_IB_ATTR_DEVX_OBJ_MODIFY_HANDLE: u16 = 0x1000;
/// In: `DEVX_OBJ_MODIFY`, the firmware command.
pub const MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN: u16 = 0x1001;
/// Out: `DEVX_OBJ_MODIFY`, its answer.
pub const MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_OUT: u16 = 0x1002;
/// Handle of any type: `DEVX_OBJ_QUERY`.
pub const MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE: u16 = 0x1000;
/// In: `DEVX_OBJ_QUERY`, the firmware command.
pub const MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN: u16 = 0x1001;
/// Out: `DEVX_OBJ_QUERY`, its answer.
pub const MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT: u16 = 0x1002;
/// Handle of any type: `DEVX_OBJ_ASYNC_QUERY`.
pub const MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_HANDLE: u16 = 0x1000;
/// In: `DEVX_OBJ_ASYNC_QUERY`, the firmware command.
pub const MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_CMD_IN: u16 = 0x1001;
/// File descriptor: `DEVX_OBJ_ASYNC_QUERY`, where the answer goes.
pub const MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_FD: u16 = 0x1002;
/// In, `u64`: `DEVX_OBJ_ASYNC_QUERY`, comes back with the answer.
pub const MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_WR_ID: u16 = 0x1003;
/// Constant: `DEVX_OBJ_ASYNC_QUERY`, length of the answer.
pub const MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_OUT_LEN: u16 = 0x1004;

// DEVX_UMEM

/// Registers memory.
pub const MLX5_IB_METHOD_DEVX_UMEM_REG: u16 = 0x1000;
/// Deregisters it.
pub const MLX5_IB_METHOD_DEVX_UMEM_DEREG: u16 = 0x1001;

/// Handle, new: `DEVX_UMEM_REG`.
pub const MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE: u16 = 0x1000;
/// In, `u64`: `DEVX_UMEM_REG`, address, or offset in a DMA buffer.
pub const MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR: u16 = 0x1001;
/// In, `u64`: `DEVX_UMEM_REG`, length.
pub const MLX5_IB_ATTR_DEVX_UMEM_REG_LEN: u16 = 0x1002;
/// Flags, optional: `DEVX_UMEM_REG`, `IB_UVERBS_ACCESS_*`.
pub const MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS: u16 = 0x1003;
/// Out, `u32`: `DEVX_UMEM_REG`, the firmware's id.
pub const MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID: u16 = 0x1004;
/// Constant, optional: `DEVX_UMEM_REG`, page sizes allowed (since Linux 5.12).
pub const MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP: u16 = 0x1005;
/// File descriptor, optional: `DEVX_UMEM_REG`, a DMA buffer (since Linux 6.1).
pub const MLX5_IB_ATTR_DEVX_UMEM_REG_DMABUF_FD: u16 = 0x1006;
/// Handle, destroyed: `DEVX_UMEM_DEREG`.
pub const MLX5_IB_ATTR_DEVX_UMEM_DEREG_HANDLE: u16 = 0x1000;

// DEVX_ASYNC_CMD_FD, DEVX_ASYNC_EVENT_FD

/// Opens a file descriptor for answers.
pub const MLX5_IB_METHOD_DEVX_ASYNC_CMD_FD_ALLOC: u16 = 0x1000;
/// Opens a file descriptor for events.
pub const MLX5_IB_METHOD_DEVX_ASYNC_EVENT_FD_ALLOC: u16 = 0x1000;

/// File descriptor, new: `DEVX_ASYNC_CMD_FD_ALLOC`.
pub const MLX5_IB_ATTR_DEVX_ASYNC_CMD_FD_ALLOC_HANDLE: u16 = 0x1000;
/// File descriptor, new: `DEVX_ASYNC_EVENT_FD_ALLOC`.
pub const MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_HANDLE: u16 = 0x1000;
/// Flags: `DEVX_ASYNC_EVENT_FD_ALLOC`, `MLX5_IB_UAPI_DEVX_CR_EV_CH_FLAGS_*`.
pub const MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_FLAGS: u16 = 0x1001;

// VAR

/// Allocates a doorbell page.
pub const MLX5_IB_METHOD_VAR_OBJ_ALLOC: u16 = 0x1000;
/// Frees it.
pub const MLX5_IB_METHOD_VAR_OBJ_DESTROY: u16 = 0x1001;

/// Handle, new: `VAR_OBJ_ALLOC`.
pub const MLX5_IB_ATTR_VAR_OBJ_ALLOC_HANDLE: u16 = 0x1000;
/// Out, `u64`: `VAR_OBJ_ALLOC`, offset to give mmap.
pub const MLX5_IB_ATTR_VAR_OBJ_ALLOC_MMAP_OFFSET: u16 = 0x1001;
/// Out, `u32`: `VAR_OBJ_ALLOC`, length to give mmap.
pub const MLX5_IB_ATTR_VAR_OBJ_ALLOC_MMAP_LENGTH: u16 = 0x1002;
/// Out, `u32`: `VAR_OBJ_ALLOC`, the firmware's number of the page.
pub const MLX5_IB_ATTR_VAR_OBJ_ALLOC_PAGE_ID: u16 = 0x1003;
/// Flags, optional: `VAR_OBJ_ALLOC`, `MLX5_IB_UAPI_VAR_ALLOC_FLAG_*` (since Linux 7.1).
pub const MLX5_IB_ATTR_VAR_OBJ_ALLOC_FLAGS: u16 = 0x1004;
/// Handle, destroyed: `VAR_OBJ_DESTROY`.
pub const MLX5_IB_ATTR_VAR_OBJ_DESTROY_HANDLE: u16 = 0x1000;

// PP

/// Allocates a packet pacing entry.
pub const MLX5_IB_METHOD_PP_OBJ_ALLOC: u16 = 0x1000;
/// Frees it.
pub const MLX5_IB_METHOD_PP_OBJ_DESTROY: u16 = 0x1001;

/// Handle, new: `PP_OBJ_ALLOC`.
pub const MLX5_IB_ATTR_PP_OBJ_ALLOC_HANDLE: u16 = 0x1000;
/// In, at most 48 bytes: `PP_OBJ_ALLOC`, the firmware's rate limit context.
pub const MLX5_IB_ATTR_PP_OBJ_ALLOC_CTX: u16 = 0x1001;
/// Flags: `PP_OBJ_ALLOC`, `MLX5_IB_UAPI_PP_ALLOC_FLAGS_*`.
pub const MLX5_IB_ATTR_PP_OBJ_ALLOC_FLAGS: u16 = 0x1002;
/// Out, `u16`: `PP_OBJ_ALLOC`, index of the entry.
pub const MLX5_IB_ATTR_PP_OBJ_ALLOC_INDEX: u16 = 0x1003;
/// Handle, destroyed: `PP_OBJ_DESTROY`.
pub const MLX5_IB_ATTR_PP_OBJ_DESTROY_HANDLE: u16 = 0x1000;

// UAR

/// Allocates a doorbell page.
pub const MLX5_IB_METHOD_UAR_OBJ_ALLOC: u16 = 0x1000;
/// Frees it.
pub const MLX5_IB_METHOD_UAR_OBJ_DESTROY: u16 = 0x1001;

/// Handle, new: `UAR_OBJ_ALLOC`.
pub const MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE: u16 = 0x1000;
/// Constant: `UAR_OBJ_ALLOC`, `MLX5_IB_UAPI_UAR_ALLOC_TYPE_*`.
pub const MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE: u16 = 0x1001;
/// Out, `u64`: `UAR_OBJ_ALLOC`, offset to give mmap.
pub const MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET: u16 = 0x1002;
/// Out, `u32`: `UAR_OBJ_ALLOC`, length to give mmap.
pub const MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH: u16 = 0x1003;
/// Out, `u32`: `UAR_OBJ_ALLOC`, the firmware's number of the page.
pub const MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID: u16 = 0x1004;
/// Handle, destroyed: `UAR_OBJ_DESTROY`.
pub const MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE: u16 = 0x1000;

// STEERING_ANCHOR

/// Creates an anchor; needs `CAP_NET_RAW` (since Linux 6.0).
pub const MLX5_IB_METHOD_STEERING_ANCHOR_CREATE: u16 = 0x1000;
/// Destroys it (since Linux 6.0).
pub const MLX5_IB_METHOD_STEERING_ANCHOR_DESTROY: u16 = 0x1001;

/// Handle, new: `STEERING_ANCHOR_CREATE` (since Linux 6.0).
pub const MLX5_IB_ATTR_STEERING_ANCHOR_CREATE_HANDLE: u16 = 0x1000;
/// Constant: `STEERING_ANCHOR_CREATE`, `MLX5_IB_UAPI_FLOW_TABLE_TYPE_*` (since Linux 6.0).
pub const MLX5_IB_ATTR_STEERING_ANCHOR_FT_TYPE: u16 = 0x1001;
/// In, `u16`, inline: `STEERING_ANCHOR_CREATE`. The kernel indexes an array with it and checks nothing: never above 15 (since Linux 6.0).
pub const MLX5_IB_ATTR_STEERING_ANCHOR_PRIORITY: u16 = 0x1002;
/// Declared *in*, but the kernel writes a `u32` to the address given: `STEERING_ANCHOR_CREATE`, the flow table id (since Linux 6.0).
pub const MLX5_IB_ATTR_STEERING_ANCHOR_FT_ID: u16 = 0x1003;
/// Handle, destroyed: `STEERING_ANCHOR_DESTROY` (since Linux 6.0).
pub const MLX5_IB_ATTR_STEERING_ANCHOR_DESTROY_HANDLE: u16 = 0x1000;

// FLOW_MATCHER

/// Creates a matcher.
pub const MLX5_IB_METHOD_FLOW_MATCHER_CREATE: u16 = 0x1000;
/// Destroys it, unless a flow uses it (`EBUSY`).
pub const MLX5_IB_METHOD_FLOW_MATCHER_DESTROY: u16 = 0x1001;

/// Handle, new: `FLOW_MATCHER_CREATE`.
pub const MLX5_IB_ATTR_FLOW_MATCHER_CREATE_HANDLE: u16 = 0x1000;
/// In: `FLOW_MATCHER_CREATE`, `fte_match_param`. The kernel takes 640 bytes into a place of 512: never more than 512.
pub const MLX5_IB_ATTR_FLOW_MATCHER_MATCH_MASK: u16 = 0x1001;
/// Enum, `MLX5_IB_FLOW_TYPE_*`: `FLOW_MATCHER_CREATE`; a normal one comes with its priority, a `u16`.
pub const MLX5_IB_ATTR_FLOW_MATCHER_FLOW_TYPE: u16 = 0x1002;
/// In, `u8`: `FLOW_MATCHER_CREATE`, which parts of the mask count.
pub const MLX5_IB_ATTR_FLOW_MATCHER_MATCH_CRITERIA: u16 = 0x1003;
/// Flags, optional: `FLOW_MATCHER_CREATE`; not together with `FT_TYPE`.
pub const MLX5_IB_ATTR_FLOW_MATCHER_FLOW_FLAGS: u16 = 0x1004;
/// Constant, optional: `FLOW_MATCHER_CREATE`, `MLX5_IB_UAPI_FLOW_TABLE_TYPE_*`; receive side if absent.
pub const MLX5_IB_ATTR_FLOW_MATCHER_FT_TYPE: u16 = 0x1005;
/// In, `u32`, optional: `FLOW_MATCHER_CREATE`, port of an RDMA transport table (since Linux 6.15).
pub const MLX5_IB_ATTR_FLOW_MATCHER_IB_PORT: u16 = 0x1006;
/// Handle, destroyed: `FLOW_MATCHER_DESTROY`.
pub const MLX5_IB_ATTR_FLOW_MATCHER_DESTROY_HANDLE: u16 = 0x1000;

/// At a priority, for what the mask says.
pub const MLX5_IB_FLOW_TYPE_NORMAL: u8 = 0;
/// A copy of all traffic.
pub const MLX5_IB_FLOW_TYPE_SNIFFER: u8 = 1;
/// What no other flow takes.
pub const MLX5_IB_FLOW_TYPE_ALL_DEFAULT: u8 = 2;
/// Multicast that no other flow takes.
pub const MLX5_IB_FLOW_TYPE_MC_DEFAULT: u8 = 3;

// FLOW (of the core)

/// Creates a steering rule in a table of the kernel; needs `CAP_NET_RAW`.
pub const MLX5_IB_METHOD_CREATE_FLOW: u16 = 0x1000;
/// Removes it.
pub const MLX5_IB_METHOD_DESTROY_FLOW: u16 = 0x1001;

/// Handle, new: `CREATE_FLOW`.
pub const MLX5_IB_ATTR_CREATE_FLOW_HANDLE: u16 = 0x1000;
/// In: `CREATE_FLOW`, `fte_match_param`, at most 512 bytes, as in the matcher.
pub const MLX5_IB_ATTR_CREATE_FLOW_MATCH_VALUE: u16 = 0x1001;
/// Handle, optional: `CREATE_FLOW`, a queue pair as destination.
pub const MLX5_IB_ATTR_CREATE_FLOW_DEST_QP: u16 = 0x1002;
/// Handle, optional: `CREATE_FLOW`, a flow table or TIR made by DEVX as destination.
pub const MLX5_IB_ATTR_CREATE_FLOW_DEST_DEVX: u16 = 0x1003;
/// Handle: `CREATE_FLOW`, the matcher.
pub const MLX5_IB_ATTR_CREATE_FLOW_MATCHER: u16 = 0x1004;
/// Handles, optional, 1 or 2: `CREATE_FLOW`, what to do to the packet.
pub const MLX5_IB_ATTR_CREATE_FLOW_ARR_FLOW_ACTIONS: u16 = 0x1005;
/// In, `u32` below 2^24, optional: `CREATE_FLOW`, mark of the packet.
pub const MLX5_IB_ATTR_CREATE_FLOW_TAG: u16 = 0x1006;
/// Handles, optional, 1: `CREATE_FLOW`, a flow counter made by DEVX.
pub const MLX5_IB_ATTR_CREATE_FLOW_ARR_COUNTERS_DEVX: u16 = 0x1007;
/// In, `u32`, optional: `CREATE_FLOW`, which counter of the bulk.
pub const MLX5_IB_ATTR_CREATE_FLOW_ARR_COUNTERS_DEVX_OFFSET: u16 = 0x1008;
/// Flags, optional: `CREATE_FLOW`, `MLX5_IB_ATTR_CREATE_FLOW_FLAGS_*`.
pub const MLX5_IB_ATTR_CREATE_FLOW_FLAGS: u16 = 0x1009;
/// Handle, destroyed: `DESTROY_FLOW`.
pub const MLX5_IB_ATTR_DESTROY_FLOW_HANDLE: u16 = 0x1000;

/// The packet goes on as if no flow had taken it.
pub const MLX5_IB_ATTR_CREATE_FLOW_FLAGS_DEFAULT_MISS: u32 = 1;
/// The packet is dropped.
pub const MLX5_IB_ATTR_CREATE_FLOW_FLAGS_DROP: u32 = 2;

// FLOW_ACTION (of the core)

/// An action that changes header fields.
pub const MLX5_IB_METHOD_FLOW_ACTION_CREATE_MODIFY_HEADER: u16 = 0x1000;
/// An action that adds or removes headers.
pub const MLX5_IB_METHOD_FLOW_ACTION_CREATE_PACKET_REFORMAT: u16 = 0x1001;

/// Handle, new: `FLOW_ACTION_CREATE_MODIFY_HEADER`.
pub const MLX5_IB_ATTR_CREATE_MODIFY_HEADER_HANDLE: u16 = 0x1000;
/// In, 8 bytes each, at most 255: `FLOW_ACTION_CREATE_MODIFY_HEADER`, the firmware's actions.
pub const MLX5_IB_ATTR_CREATE_MODIFY_HEADER_ACTIONS_PRM: u16 = 0x1001;
/// Constant: `FLOW_ACTION_CREATE_MODIFY_HEADER`, `MLX5_IB_UAPI_FLOW_TABLE_TYPE_*`.
pub const MLX5_IB_ATTR_CREATE_MODIFY_HEADER_FT_TYPE: u16 = 0x1002;
/// Handle, new: `FLOW_ACTION_CREATE_PACKET_REFORMAT`.
pub const MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_HANDLE: u16 = 0x1000;
/// Constant: `FLOW_ACTION_CREATE_PACKET_REFORMAT`, `MLX5_IB_UAPI_FLOW_ACTION_PACKET_REFORMAT_TYPE_*`.
pub const MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_TYPE: u16 = 0x1001;
/// Constant: `FLOW_ACTION_CREATE_PACKET_REFORMAT`, `MLX5_IB_UAPI_FLOW_TABLE_TYPE_*`.
pub const MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_FT_TYPE: u16 = 0x1002;
/// In, optional: `FLOW_ACTION_CREATE_PACKET_REFORMAT`, the headers to add.
pub const MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_DATA_BUF: u16 = 0x1003;
