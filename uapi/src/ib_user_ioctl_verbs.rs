//! `rdma/ib_user_ioctl_verbs.h`: what the core's ioctl methods carry.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::ib_user_verbs::IbUverbsQueryPortResp;

// Drivers, as in `IbUverbsIoctlHdr::driver_id`

/// No driver; never a device's.
pub const RDMA_DRIVER_UNKNOWN: u32 = 0;
/// NVIDIA ConnectX-4 and later, BlueField.
pub const RDMA_DRIVER_MLX5: u32 = 1;
/// NVIDIA ConnectX-2 and 3.
pub const RDMA_DRIVER_MLX4: u32 = 2;
/// Chelsio T3.
pub const RDMA_DRIVER_CXGB3: u32 = 3;
/// Chelsio T4 to T6.
pub const RDMA_DRIVER_CXGB4: u32 = 4;
/// Mellanox InfiniHost.
pub const RDMA_DRIVER_MTHCA: u32 = 5;
/// Broadcom NetXtreme-C and E.
pub const RDMA_DRIVER_BNXT_RE: u32 = 6;
/// Emulex OneConnect.
pub const RDMA_DRIVER_OCRDMA: u32 = 7;
/// Intel NetEffect.
pub const RDMA_DRIVER_NES: u32 = 8;
/// Intel X722.
pub const RDMA_DRIVER_I40IW: u32 = 9;
/// Intel X722, E810 and later; the number of the driver before it (since Linux 5.14).
pub const RDMA_DRIVER_IRDMA: u32 = 9;
/// VMware's paravirtual device.
pub const RDMA_DRIVER_VMW_PVRDMA: u32 = 10;
/// Marvell FastLinQ.
pub const RDMA_DRIVER_QEDR: u32 = 11;
/// HiSilicon.
pub const RDMA_DRIVER_HNS: u32 = 12;
/// Cisco usNIC.
pub const RDMA_DRIVER_USNIC: u32 = 13;
/// RoCE in software.
pub const RDMA_DRIVER_RXE: u32 = 14;
/// Intel Omni-Path.
pub const RDMA_DRIVER_HFI1: u32 = 15;
/// Intel TrueScale.
pub const RDMA_DRIVER_QIB: u32 = 16;
/// Amazon's elastic fabric adapter.
pub const RDMA_DRIVER_EFA: u32 = 17;
/// iWARP in software.
pub const RDMA_DRIVER_SIW: u32 = 18;
/// Alibaba (since Linux 6.1).
pub const RDMA_DRIVER_ERDMA: u32 = 19;
/// Microsoft Azure (since Linux 6.2).
pub const RDMA_DRIVER_MANA: u32 = 20;
/// AMD Pensando (since Linux 6.18).
pub const RDMA_DRIVER_IONIC: u32 = 21;

// What the core supports

/// Access flags in the optional range are accepted.
pub const IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS: u64 = 1;
/// The driver checks its part of every request (since the 7 series).
pub const IB_UVERBS_CORE_SUPPORT_ROBUST_UDATA: u64 = 2;

// Access to memory

/// The device may write.
pub const IB_UVERBS_ACCESS_LOCAL_WRITE: u32 = 1;
/// Peers may write.
pub const IB_UVERBS_ACCESS_REMOTE_WRITE: u32 = 2;
/// Peers may read.
pub const IB_UVERBS_ACCESS_REMOTE_READ: u32 = 4;
/// Peers may do atomic operations.
pub const IB_UVERBS_ACCESS_REMOTE_ATOMIC: u32 = 8;
/// The device may write out of order.
pub const IB_UVERBS_ACCESS_RELAXED_ORDERING: u32 = 0x100000;

// Kinds of GID

/// InfiniBand.
pub const IB_UVERBS_GID_TYPE_IB: u32 = 0;
/// RoCE, its own Ethernet type.
pub const IB_UVERBS_GID_TYPE_ROCE_V1: u32 = 1;
/// RoCE in UDP.
pub const IB_UVERBS_GID_TYPE_ROCE_V2: u32 = 2;

// Capabilities of a port, as in `IbUverbsQueryPortResp::port_cap_flags`

/// A subnet manager runs here.
pub const IB_UVERBS_PCF_SM: u32 = 0x2;
/// Connection management.
pub const IB_UVERBS_PCF_CM_SUP: u32 = 0x10000;
/// GIDs are made from IP addresses (RoCE). Not a flag of the InfiniBand specification.
pub const IB_UVERBS_PCF_IP_BASED_GIDS: u32 = 0x4000000;

// Flags of a port, as in `IbUverbsQueryPortResp::flags`

/// Every packet needs a global route header.
pub const IB_UVERBS_QPF_GRH_REQUIRED: u8 = 1;

/// A port, in all detail. The answer to `UVERBS_METHOD_QUERY_PORT`.
#[doc(alias = "ib_uverbs_query_port_resp_ex")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct IbUverbsQueryPortRespEx {
    /// What the older interface says of a port.
    pub legacy_resp: IbUverbsQueryPortResp,
    /// `CapabilityMask2` of the InfiniBand specification.
    pub port_cap_flags2: u16,
    /// 0.
    pub reserved: [u8; 2],
    /// The speed, where `legacy_resp.active_speed` is too small for it (since Linux 6.7; 0 before).
    pub active_speed_ex: u32,
}

assert_layout!(IbUverbsQueryPortRespEx: 48 {
    legacy_resp: 0, port_cap_flags2: 40, reserved: 42, active_speed_ex: 44,
});

/// One GID. The answer to `UVERBS_METHOD_QUERY_GID_ENTRY` and `UVERBS_METHOD_QUERY_GID_TABLE`.
#[doc(alias = "ib_uverbs_gid_entry")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C, align(8))]
pub struct IbUverbsGidEntry {
    /// The GID, as on the wire.
    pub gid: [u8; 16],
    /// Its place in the port's table.
    pub gid_index: u32,
    /// The port, from 1.
    pub port_num: u32,
    /// `IB_UVERBS_GID_TYPE_*`.
    pub gid_type: u32,
    /// Index of the network interface it belongs to; 0 if there is none.
    pub netdev_ifindex: u32,
}

assert_layout!(IbUverbsGidEntry: 32 { gid: 0, gid_index: 16, port_num: 20, gid_type: 24, netdev_ifindex: 28 });
