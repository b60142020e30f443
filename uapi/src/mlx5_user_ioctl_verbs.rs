//! `rdma/mlx5_user_ioctl_verbs.h`: what the mlx5 driver's ioctl methods carry.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

// Flow table types. Not the firmware's numbers, see [`prm`](crate::prm).

/// What the function receives.
pub const MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_RX: u32 = 0;
/// What the function sends.
pub const MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_TX: u32 = 1;
/// The embedded switch.
pub const MLX5_IB_UAPI_FLOW_TABLE_TYPE_FDB: u32 = 2;
/// RDMA traffic received.
pub const MLX5_IB_UAPI_FLOW_TABLE_TYPE_RDMA_RX: u32 = 3;
/// RDMA traffic sent.
pub const MLX5_IB_UAPI_FLOW_TABLE_TYPE_RDMA_TX: u32 = 4;
/// RDMA transport received, of one port (since Linux 6.15).
pub const MLX5_IB_UAPI_FLOW_TABLE_TYPE_RDMA_TRANSPORT_RX: u32 = 5;
/// RDMA transport sent, of one port (since Linux 6.15).
pub const MLX5_IB_UAPI_FLOW_TABLE_TYPE_RDMA_TRANSPORT_TX: u32 = 6;

// Packet reformat types

/// Removes a tunnel header over Ethernet.
pub const MLX5_IB_UAPI_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TUNNEL_TO_L2: u32 = 0;
/// Adds one.
pub const MLX5_IB_UAPI_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L2_TUNNEL: u32 = 1;
/// Removes a tunnel header over IP and adds an Ethernet header.
pub const MLX5_IB_UAPI_FLOW_ACTION_PACKET_REFORMAT_TYPE_L3_TUNNEL_TO_L2: u32 = 2;
/// Removes the Ethernet header and adds a tunnel header over IP.
pub const MLX5_IB_UAPI_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L3_TUNNEL: u32 = 3;

// Doorbell pages

/// Write-combining.
pub const MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF: u32 = 0;
/// Not cached.
pub const MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC: u32 = 1;
/// For emulated PCI transactions (since Linux 7.1).
pub const MLX5_IB_UAPI_VAR_ALLOC_FLAG_TLP: u32 = 1;

// Packet pacing

/// An entry of its own, never shared.
pub const MLX5_IB_UAPI_PP_ALLOC_FLAGS_DEDICATED_INDEX: u32 = 1;

// Events of firmware objects

/// Only the cookie, not the event.
pub const MLX5_IB_UAPI_DEVX_CR_EV_CH_FLAGS_OMIT_DATA: u32 = 1;

// Device memory

/// Memory on the chip.
pub const MLX5_IB_UAPI_DM_TYPE_MEMIC: u32 = 0;
/// For steering by software.
pub const MLX5_IB_UAPI_DM_TYPE_STEERING_SW_ICM: u32 = 1;
/// For header modification by software.
pub const MLX5_IB_UAPI_DM_TYPE_HEADER_MODIFY_SW_ICM: u32 = 2;
/// For patterns of header modification (since Linux 6.1).
pub const MLX5_IB_UAPI_DM_TYPE_HEADER_MODIFY_PATTERN_SW_ICM: u32 = 3;
/// For encapsulation (since Linux 6.7).
pub const MLX5_IB_UAPI_DM_TYPE_ENCAP_SW_ICM: u32 = 4;

// What QUERY_PORT answered, as in `Mlx5IbUapiQueryPort::flags`

/// `vport` (not in Linux 5.10).
pub const MLX5_IB_UAPI_QUERY_PORT_VPORT: u64 = 1;
/// `vport_vhca_id` (not in Linux 5.10).
pub const MLX5_IB_UAPI_QUERY_PORT_VPORT_VHCA_ID: u64 = 2;
/// `vport_steering_icm_rx` (not in Linux 5.10).
pub const MLX5_IB_UAPI_QUERY_PORT_VPORT_STEERING_ICM_RX: u64 = 4;
/// `vport_steering_icm_tx` (not in Linux 5.10).
pub const MLX5_IB_UAPI_QUERY_PORT_VPORT_STEERING_ICM_TX: u64 = 8;
/// `reg_c0` (not in Linux 5.10).
pub const MLX5_IB_UAPI_QUERY_PORT_VPORT_REG_C0: u64 = 0x10;
/// `esw_owner_vhca_id` (not in Linux 5.10).
pub const MLX5_IB_UAPI_QUERY_PORT_ESW_OWNER_VHCA_ID: u64 = 0x20;

/// A register's value under a mask (not in Linux 5.10).
#[doc(alias = "mlx5_ib_uapi_reg")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Mlx5IbUapiReg {
    /// The value.
    pub value: u32,
    /// The bits that count.
    pub mask: u32,
}

assert_layout!(Mlx5IbUapiReg: 8 { value: 0, mask: 4 });

/// A port as steering sees it (not in Linux 5.10). `flags` says which fields the kernel filled.
#[doc(alias = "mlx5_ib_uapi_query_port")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C, align(8))]
pub struct Mlx5IbUapiQueryPort {
    /// `MLX5_IB_UAPI_QUERY_PORT_*`.
    pub flags: u64,
    /// The vport's number.
    pub vport: u16,
    /// Id of the vport's function.
    pub vport_vhca_id: u16,
    /// Id of the function that owns the embedded switch.
    pub esw_owner_vhca_id: u16,
    /// 0.
    pub rsvd0: u16,
    /// Where the vport's receive steering begins, in the card's memory.
    pub vport_steering_icm_rx: u64,
    /// Where its transmit steering begins.
    pub vport_steering_icm_tx: u64,
    /// What metadata register C0 has in packets of this vport.
    pub reg_c0: Mlx5IbUapiReg,
}

assert_layout!(Mlx5IbUapiQueryPort: 40 {
    flags: 0, vport: 8, vport_vhca_id: 10, esw_owner_vhca_id: 12, rsvd0: 14, vport_steering_icm_rx: 16,
    vport_steering_icm_tx: 24, reg_c0: 32,
});

/// What precedes an answer read from an asynchronous command file descriptor.
#[doc(alias = "mlx5_ib_uapi_devx_async_cmd_hdr")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C, align(8))]
pub struct Mlx5IbUapiDevxAsyncCmdHdr {
    /// The number the query was given.
    pub wr_id: u64,
}

assert_layout!(Mlx5IbUapiDevxAsyncCmdHdr: 8 { wr_id: 0 });

/// What precedes an event read from an asynchronous event file descriptor.
#[doc(alias = "mlx5_ib_uapi_devx_async_event_hdr")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C, align(8))]
pub struct Mlx5IbUapiDevxAsyncEventHdr {
    /// The number the subscription was given.
    pub cookie: u64,
}

assert_layout!(Mlx5IbUapiDevxAsyncEventHdr: 8 { cookie: 0 });
