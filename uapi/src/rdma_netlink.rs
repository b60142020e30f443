//! `rdma/rdma_netlink.h`: devices as `NETLINK_RDMA` tells of them.

/// The netlink family, from `linux/netlink.h`.
pub const NETLINK_RDMA: u32 = 20;
/// The client of `NETLINK_RDMA` that knows devices.
pub const RDMA_NL_NLDEV: u16 = 5;

/// The message type of operation `op` of `client`.
#[doc(alias = "RDMA_NL_GET_TYPE")]
#[must_use]
pub const fn rdma_nl_get_type(client: u16, op: u16) -> u16 {
    (client << 10) + op
}

// Operations

/// Devices: one by index, or all (a dump).
pub const RDMA_NLDEV_CMD_GET: u16 = 1;
/// Ports: one, or all of a device (a dump).
pub const RDMA_NLDEV_CMD_PORT_GET: u16 = 5;
/// Settings of the whole subsystem.
pub const RDMA_NLDEV_CMD_SYS_GET: u16 = 6;
/// How many objects each device has (a dump).
pub const RDMA_NLDEV_CMD_RES_GET: u16 = 9;
/// The character device of a device.
pub const RDMA_NLDEV_CMD_GET_CHARDEV: u16 = 15;
/// Contexts: who has them open (a dump; since Linux 5.15).
pub const RDMA_NLDEV_CMD_RES_CTX_GET: u16 = 22;
/// Events: devices come and go (since Linux 6.12).
pub const RDMA_NLDEV_CMD_MONITOR: u16 = 28;

// Attributes: device

/// `u32`: the device's index.
pub const RDMA_NLDEV_ATTR_DEV_INDEX: u16 = 1;
/// Text: its name.
pub const RDMA_NLDEV_ATTR_DEV_NAME: u16 = 2;
/// `u32`: the port, from 1; in the answer to GET the number of ports.
pub const RDMA_NLDEV_ATTR_PORT_INDEX: u16 = 3;
/// `u64`: capabilities of the device, or of the port.
pub const RDMA_NLDEV_ATTR_CAP_FLAGS: u16 = 4;
/// Text: firmware version.
pub const RDMA_NLDEV_ATTR_FW_VERSION: u16 = 5;
/// `u64`: GUID of the device.
pub const RDMA_NLDEV_ATTR_NODE_GUID: u16 = 6;
/// `u64`: GUID of the card or system.
pub const RDMA_NLDEV_ATTR_SYS_IMAGE_GUID: u16 = 7;
/// `u8`: `RDMA_NODE_*`.
pub const RDMA_NLDEV_ATTR_DEV_NODE_TYPE: u16 = 14;
/// Text: `ib`, `roce`, `iw`, `opa`, `usnic`.
pub const RDMA_NLDEV_ATTR_DEV_PROTOCOL: u16 = 67;
/// `u8`: adaptive moderation is on.
pub const RDMA_NLDEV_ATTR_DEV_DIM: u16 = 84;

// Attributes: port

/// `u64`: subnet prefix.
pub const RDMA_NLDEV_ATTR_SUBNET_PREFIX: u16 = 8;
/// `u32`: local id.
pub const RDMA_NLDEV_ATTR_LID: u16 = 9;
/// `u32`: local id of the subnet manager.
pub const RDMA_NLDEV_ATTR_SM_LID: u16 = 10;
/// `u8`: local id mask.
pub const RDMA_NLDEV_ATTR_LMC: u16 = 11;
/// `u8`: logical state.
pub const RDMA_NLDEV_ATTR_PORT_STATE: u16 = 12;
/// `u8`: physical state.
pub const RDMA_NLDEV_ATTR_PORT_PHYS_STATE: u16 = 13;
/// `u32`: index of the network interface.
pub const RDMA_NLDEV_ATTR_NDEV_INDEX: u16 = 50;
/// Text: its name.
pub const RDMA_NLDEV_ATTR_NDEV_NAME: u16 = 51;

// Attributes: character device

/// Text: which one is asked for, `uverbs`.
pub const RDMA_NLDEV_ATTR_CHARDEV_TYPE: u16 = 69;
/// Text: its name below `/dev/infiniband`.
pub const RDMA_NLDEV_ATTR_CHARDEV_NAME: u16 = 70;
/// `u64`: the ABI version of the driver.
pub const RDMA_NLDEV_ATTR_CHARDEV_ABI: u16 = 71;
/// `u64`: its device number.
pub const RDMA_NLDEV_ATTR_CHARDEV: u16 = 72;
/// `u32`: `RDMA_DRIVER_*`.
pub const RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID: u16 = 73;

// Attributes: subsystem

/// `u8`: 1 if all network namespaces share devices.
pub const RDMA_NLDEV_SYS_ATTR_NETNS_MODE: u16 = 66;
/// `u8`: 1 if pinned memory is copied at fork (since Linux 5.13).
pub const RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK: u16 = 93;

// Node types

/// InfiniBand or RoCE channel adapter.
pub const RDMA_NODE_IB_CA: u8 = 1;
/// InfiniBand switch.
pub const RDMA_NODE_IB_SWITCH: u8 = 2;
/// InfiniBand router.
pub const RDMA_NODE_IB_ROUTER: u8 = 3;
/// iWARP adapter.
pub const RDMA_NODE_RNIC: u8 = 4;
/// usNIC.
pub const RDMA_NODE_USNIC: u8 = 5;
/// usNIC over UDP.
pub const RDMA_NODE_USNIC_UDP: u8 = 6;
/// None of these.
pub const RDMA_NODE_UNSPECIFIED: u8 = 7;
