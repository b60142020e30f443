//! `rdma/ib_user_ioctl_cmds.h`: objects, methods and attributes of the core, the same for every driver.
//!
//! The docs of an attribute say its class: a *handle* (in, new, destroyed), a *constant* (always 8 bytes, the value
//! itself), *flags* (the same), *in* (bytes to the kernel: up to 8 inline, more by address), *out* (by address),
//! *enum* (an element and its bytes), a *file descriptor*.

/// The bits of an id that say whose it is: 0 the core's, 1 the driver's.
pub const UVERBS_ID_NS_MASK: u16 = 0xf000;
/// Position of the bits that say whose an id is.
pub const UVERBS_ID_NS_SHIFT: u32 = 12;

/// First object, method or attribute id of the driver. Named so since Linux 6.11; before it is written out.
pub const UVERBS_ID_DRIVER_NS: u16 = 1 << UVERBS_ID_NS_SHIFT;
/// First id of the driver's own attributes in a method that has [`UVERBS_ATTR_UHW_IN`]. Named so since Linux 6.11.
pub const UVERBS_ID_DRIVER_NS_WITH_UHW: u16 = 0x1002;

/// In: the driver's part of a request.
pub const UVERBS_ATTR_UHW_IN: u16 = 0x1000;
/// Out: the driver's part of a response.
pub const UVERBS_ATTR_UHW_OUT: u16 = 0x1001;

// Objects

/// The device itself; it has methods, but no handles.
pub const UVERBS_OBJECT_DEVICE: u16 = 0;
/// Protection domain.
pub const UVERBS_OBJECT_PD: u16 = 1;
/// Completion channel, a file descriptor.
pub const UVERBS_OBJECT_COMP_CHANNEL: u16 = 2;
/// Completion queue.
pub const UVERBS_OBJECT_CQ: u16 = 3;
/// Queue pair.
pub const UVERBS_OBJECT_QP: u16 = 4;
/// Shared receive queue.
pub const UVERBS_OBJECT_SRQ: u16 = 5;
/// Address handle.
pub const UVERBS_OBJECT_AH: u16 = 6;
/// Memory region.
pub const UVERBS_OBJECT_MR: u16 = 7;
/// Memory window.
pub const UVERBS_OBJECT_MW: u16 = 8;
/// Steering rule.
pub const UVERBS_OBJECT_FLOW: u16 = 9;
/// Extended reliable connection domain.
pub const UVERBS_OBJECT_XRCD: u16 = 10;
/// Indirection table of receive work queues.
pub const UVERBS_OBJECT_RWQ_IND_TBL: u16 = 11;
/// Work queue.
pub const UVERBS_OBJECT_WQ: u16 = 12;
/// What a steering rule may do to a packet besides sending it somewhere.
pub const UVERBS_OBJECT_FLOW_ACTION: u16 = 13;
/// Device memory.
pub const UVERBS_OBJECT_DM: u16 = 14;
/// Counters of a steering rule.
pub const UVERBS_OBJECT_COUNTERS: u16 = 15;
/// Queue of asynchronous events, a file descriptor.
pub const UVERBS_OBJECT_ASYNC_EVENT: u16 = 16;
/// DMA hints (since Linux 6.17).
pub const UVERBS_OBJECT_DMAH: u16 = 17;
/// Device memory as a DMA buffer, a file descriptor (since Linux 7.0).
pub const UVERBS_OBJECT_DMABUF: u16 = 18;
/// Completion counter (since the 7 series).
pub const UVERBS_OBJECT_COMP_CNTR: u16 = 19;

// DEVICE

/// A command of the older `write()` interface.
pub const UVERBS_METHOD_INVOKE_WRITE: u16 = 0;
/// The handles of one object type; needs no context, so it also tells whether the type exists.
pub const UVERBS_METHOD_INFO_HANDLES: u16 = 1;
/// Attributes of a port.
pub const UVERBS_METHOD_QUERY_PORT: u16 = 2;
/// Makes an open file a context; once for each file.
pub const UVERBS_METHOD_GET_CONTEXT: u16 = 3;
/// What `GET_CONTEXT` answered (since Linux 5.9).
pub const UVERBS_METHOD_QUERY_CONTEXT: u16 = 4;
/// All GIDs of a device (since Linux 5.10).
pub const UVERBS_METHOD_QUERY_GID_TABLE: u16 = 5;
/// One GID (since Linux 5.10).
pub const UVERBS_METHOD_QUERY_GID_ENTRY: u16 = 6;
/// Speed of a port (since Linux 7.0).
pub const UVERBS_METHOD_QUERY_PORT_SPEED: u16 = 7;
/// Limits of completion counters (since the 7 series).
pub const UVERBS_METHOD_QUERY_COMP_CNTR_CAPS: u16 = 8;

/// In: `INVOKE_WRITE`, the request without its header.
pub const UVERBS_ATTR_CORE_IN: u16 = 0;
/// Out: `INVOKE_WRITE`, the response.
pub const UVERBS_ATTR_CORE_OUT: u16 = 1;
/// Constant: `INVOKE_WRITE`, which command.
pub const UVERBS_ATTR_WRITE_CMD: u16 = 2;

/// Constant: `INFO_HANDLES`, which object type.
pub const UVERBS_ATTR_INFO_OBJECT_ID: u16 = 0;
/// Out, `u32`: `INFO_HANDLES`, the number of handles. Without it the call fails (`ENOENT`).
pub const UVERBS_ATTR_INFO_TOTAL_HANDLES: u16 = 1;
/// Out, `u32` each: `INFO_HANDLES`, the handles. Without it the call fails (`EINVAL`).
pub const UVERBS_ATTR_INFO_HANDLES_LIST: u16 = 2;

/// Constant: `QUERY_PORT`, the port, from 1.
pub const UVERBS_ATTR_QUERY_PORT_PORT_NUM: u16 = 0;
/// Out, [`IbUverbsQueryPortRespEx`](crate::ib_user_ioctl_verbs::IbUverbsQueryPortRespEx).
pub const UVERBS_ATTR_QUERY_PORT_RESP: u16 = 1;

/// Out, `u32`: `GET_CONTEXT`, number of completion vectors.
pub const UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS: u16 = 0;
/// Out, `u64`: `GET_CONTEXT`, `IB_UVERBS_CORE_SUPPORT_*`.
pub const UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT: u16 = 1;
/// In, `i32` each: `GET_CONTEXT`, file descriptors of user capabilities (since Linux 6.15).
pub const UVERBS_ATTR_GET_CONTEXT_FD_ARR: u16 = 2;

/// Out, `u32`: `QUERY_CONTEXT`, number of completion vectors.
pub const UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS: u16 = 0;
/// Out, `u64`: `QUERY_CONTEXT`, `IB_UVERBS_CORE_SUPPORT_*`.
pub const UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT: u16 = 1;

/// Constant: `QUERY_GID_TABLE`, size of one entry of the answer.
pub const UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE: u16 = 0;
/// Flags: `QUERY_GID_TABLE`, none yet.
pub const UVERBS_ATTR_QUERY_GID_TABLE_FLAGS: u16 = 1;
/// Out, [`IbUverbsGidEntry`](crate::ib_user_ioctl_verbs::IbUverbsGidEntry) each: `QUERY_GID_TABLE`, the entries in use.
pub const UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES: u16 = 2;
/// Out, `u64`: `QUERY_GID_TABLE`, number of entries written.
pub const UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES: u16 = 3;

/// Constant: `QUERY_GID_ENTRY`, the port, from 1.
pub const UVERBS_ATTR_QUERY_GID_ENTRY_PORT: u16 = 0;
/// Constant: `QUERY_GID_ENTRY`, which entry of the port's table.
pub const UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX: u16 = 1;
/// Flags: `QUERY_GID_ENTRY`, none yet, but it must be given.
pub const UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS: u16 = 2;
/// Out, [`IbUverbsGidEntry`](crate::ib_user_ioctl_verbs::IbUverbsGidEntry): `QUERY_GID_ENTRY`.
pub const UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY: u16 = 3;

/// Constant: `QUERY_PORT_SPEED`, the port, from 1 (since Linux 7.0).
pub const UVERBS_ATTR_QUERY_PORT_SPEED_PORT_NUM: u16 = 0;
/// Out, `u64`: `QUERY_PORT_SPEED`, the speed (since Linux 7.0).
pub const UVERBS_ATTR_QUERY_PORT_SPEED_RESP: u16 = 1;

/// Out, `u32`: `QUERY_COMP_CNTR_CAPS`, most counters (since the 7 series).
pub const UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_MAX_COUNTERS: u16 = 0;
/// Out, `u64`: `QUERY_COMP_CNTR_CAPS`, greatest value (since the 7 series).
pub const UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_MAX_VALUE: u16 = 1;
/// Out, `u32`: `QUERY_COMP_CNTR_CAPS`, operations that may be counted (since the 7 series).
pub const UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_SUPPORTED_QP_ATTACH_OPS: u16 = 2;

// PD

/// Frees a protection domain; they are allocated by `write()` command.
pub const UVERBS_METHOD_PD_DESTROY: u16 = 0;
/// Handle, destroyed: `PD_DESTROY`.
pub const UVERBS_ATTR_DESTROY_PD_HANDLE: u16 = 0;

// MR

/// Registers device memory.
pub const UVERBS_METHOD_DM_MR_REG: u16 = 0;
/// Deregisters a memory region.
pub const UVERBS_METHOD_MR_DESTROY: u16 = 1;
/// Handle, destroyed: `MR_DESTROY`.
pub const UVERBS_ATTR_DESTROY_MR_HANDLE: u16 = 0;

// FLOW

/// Removes a steering rule; creating one is the driver's.
pub const UVERBS_METHOD_FLOW_DESTROY: u16 = 0;
/// Handle, destroyed: `FLOW_DESTROY`.
pub const UVERBS_ATTR_DESTROY_FLOW_HANDLE: u16 = 0;

// FLOW_ACTION

/// Frees an action; creating one is the driver's.
pub const UVERBS_METHOD_FLOW_ACTION_DESTROY: u16 = 1;
/// Handle, destroyed: `FLOW_ACTION_DESTROY`.
pub const UVERBS_ATTR_DESTROY_FLOW_ACTION_HANDLE: u16 = 0;

// ASYNC_EVENT

/// Opens a queue of asynchronous events.
pub const UVERBS_METHOD_ASYNC_EVENT_ALLOC: u16 = 0;
/// File descriptor, new: `ASYNC_EVENT_ALLOC`.
pub const UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE: u16 = 0;
