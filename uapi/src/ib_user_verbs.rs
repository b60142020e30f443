//! `rdma/ib_user_verbs.h`: the older `write()` interface, of which a few commands live on inside
//! [`UVERBS_METHOD_INVOKE_WRITE`](crate::ib_user_ioctl_cmds::`UVERBS_METHOD_INVOKE_WRITE`).

use zerocopy::big_endian::U64;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// What `/sys/class/infiniband_verbs/abi_version` says.
pub const IB_USER_VERBS_ABI_VERSION: u32 = 6;

// Commands

/// Makes an open file a context.
pub const IB_USER_VERBS_CMD_GET_CONTEXT: u32 = 0;
/// Attributes of the device: [`IbUverbsQueryDeviceResp`].
pub const IB_USER_VERBS_CMD_QUERY_DEVICE: u32 = 1;
/// Attributes of a port: [`IbUverbsQueryPortResp`].
pub const IB_USER_VERBS_CMD_QUERY_PORT: u32 = 2;
/// A new protection domain: [`IbUverbsAllocPdResp`].
pub const IB_USER_VERBS_CMD_ALLOC_PD: u32 = 3;
/// Frees a protection domain: [`IbUverbsDeallocPd`].
pub const IB_USER_VERBS_CMD_DEALLOC_PD: u32 = 4;
/// The extended form, [`IbUverbsExQueryDeviceResp`]; with [`IB_USER_VERBS_CMD_FLAG_EXTENDED`].
pub const IB_USER_VERBS_EX_CMD_QUERY_DEVICE: u32 = 1;
/// The bits of a command that say which it is.
pub const IB_USER_VERBS_CMD_COMMAND_MASK: u32 = 0xff;
/// The command has the extended form.
pub const IB_USER_VERBS_CMD_FLAG_EXTENDED: u32 = 0x80000000;
// Flags of a device that a user of raw packets meets, as in `device_cap_flags_ex`

/// Says when a port becomes active (named since Linux 5.19).
pub const IB_UVERBS_DEVICE_PORT_ACTIVE_EVENT: u64 = 0x400;
/// Has a system image GUID (named since Linux 5.19).
pub const IB_UVERBS_DEVICE_SYS_IMAGE_GUID: u64 = 0x800;
/// Makes RNR NAKs for reliable connections (named since Linux 5.19).
pub const IB_UVERBS_DEVICE_RC_RNR_NAK_GEN: u64 = 0x1000;
/// Shared receive queues may be resized (named since Linux 5.19).
pub const IB_UVERBS_DEVICE_SRQ_RESIZE: u64 = 0x2000;
/// Memory windows (named since Linux 5.19).
pub const IB_UVERBS_DEVICE_MEM_WINDOW: u64 = 0x20000;
/// IP checksums on datagrams (named since Linux 5.19).
pub const IB_UVERBS_DEVICE_UD_IP_CSUM: u64 = 0x40000;
/// Extended reliable connections (named since Linux 5.19).
pub const IB_UVERBS_DEVICE_XRC: u64 = 0x100000;
/// Memory management extensions (named since Linux 5.19).
pub const IB_UVERBS_DEVICE_MEM_MGT_EXTENSIONS: u64 = 0x200000;
/// Memory windows of type 2B (named since Linux 5.19).
pub const IB_UVERBS_DEVICE_MEM_WINDOW_TYPE_2B: u64 = 0x1000000;
/// IP checksums on raw packets (named since Linux 5.19).
pub const IB_UVERBS_DEVICE_RAW_IP_CSUM: u64 = 0x4000000;
/// Steering rules (named since Linux 5.19).
pub const IB_UVERBS_DEVICE_MANAGED_FLOW_STEERING: u64 = 0x20000000;
/// Raw packets may be received with their check sequence (named since Linux 5.19).
pub const IB_UVERBS_DEVICE_RAW_SCATTER_FCS: u64 = 0x400000000;
/// Writes to memory may be padded to a cache line (named since Linux 5.19).
pub const IB_UVERBS_DEVICE_PCI_WRITE_END_PADDING: u64 = 0x1000000000;

/// The attributes of a device.
#[doc(alias = "ib_uverbs_query_device_resp")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C, align(8))]
pub struct IbUverbsQueryDeviceResp {
    /// Firmware version; mlx5: major in the upper 32 bits, then minor and patch of 16 bits each.
    pub fw_ver: u64,
    /// GUID of the device.
    pub node_guid: U64,
    /// GUID of the card or system that the device is a part of.
    pub sys_image_guid: U64,
    /// Size of the greatest memory region, in bytes.
    pub max_mr_size: u64,
    /// Page sizes supported, as a bit set.
    pub page_size_cap: u64,
    /// Vendor, an IEEE OUI.
    pub vendor_id: u32,
    /// The vendor's part number; mlx5: the PCI device id.
    pub vendor_part_id: u32,
    /// The vendor's hardware version.
    pub hw_ver: u32,
    /// Most queue pairs.
    pub max_qp: u32,
    /// Most requests in a work queue.
    pub max_qp_wr: u32,
    /// Lower half of `device_cap_flags_ex`.
    pub device_cap_flags: u32,
    /// Most scatter/gather entries in a request.
    pub max_sge: u32,
    /// Most scatter/gather entries in an RDMA read.
    pub max_sge_rd: u32,
    /// Most completion queues.
    pub max_cq: u32,
    /// Most entries in a completion queue.
    pub max_cqe: u32,
    /// Most memory regions.
    pub max_mr: u32,
    /// Most protection domains.
    pub max_pd: u32,
    /// Most reads and atomics a queue pair answers at once.
    pub max_qp_rd_atom: u32,
    /// The same for end-to-end contexts.
    pub max_ee_rd_atom: u32,
    /// The same for the whole device.
    pub max_res_rd_atom: u32,
    /// Most reads and atomics a queue pair starts at once.
    pub max_qp_init_rd_atom: u32,
    /// The same for end-to-end contexts.
    pub max_ee_init_rd_atom: u32,
    /// Atomic operations: 0 none, 1 atomic within the device, 2 with the processor too.
    pub atomic_cap: u32,
    /// Most end-to-end contexts.
    pub max_ee: u32,
    /// Most reliable datagram domains.
    pub max_rdd: u32,
    /// Most memory windows.
    pub max_mw: u32,
    /// Most raw IPv6 queue pairs.
    pub max_raw_ipv6_qp: u32,
    /// Most raw Ethernet queue pairs, in the older sense.
    pub max_raw_ethy_qp: u32,
    /// Most multicast groups.
    pub max_mcast_grp: u32,
    /// Most queue pairs in a multicast group.
    pub max_mcast_qp_attach: u32,
    /// Most queue pairs in all multicast groups.
    pub max_total_mcast_qp_attach: u32,
    /// Most address handles.
    pub max_ah: u32,
    /// Most fast memory regions; 0 since Linux 5.8.
    pub max_fmr: u32,
    /// Most mappings of a fast memory region; 0 since Linux 5.8.
    pub max_map_per_fmr: u32,
    /// Most shared receive queues.
    pub max_srq: u32,
    /// Most requests in a shared receive queue.
    pub max_srq_wr: u32,
    /// Most scatter entries in a request of a shared receive queue.
    pub max_srq_sge: u32,
    /// Most partitions.
    pub max_pkeys: u16,
    /// Delay of an acknowledgement: 4.096 µs times two to this power.
    pub local_ca_ack_delay: u8,
    /// Number of ports.
    pub phys_port_cnt: u8,
    /// 0.
    pub reserved: [u8; 4],
}

assert_layout!(IbUverbsQueryDeviceResp: 176 {
    fw_ver: 0, node_guid: 8, sys_image_guid: 16, max_mr_size: 24, page_size_cap: 32, vendor_id: 40, vendor_part_id: 44,
    hw_ver: 48, max_qp: 52, max_qp_wr: 56, device_cap_flags: 60, max_sge: 64, max_sge_rd: 68, max_cq: 72, max_cqe: 76,
    max_mr: 80, max_pd: 84, max_qp_rd_atom: 88, max_ee_rd_atom: 92, max_res_rd_atom: 96, max_qp_init_rd_atom: 100,
    max_ee_init_rd_atom: 104, atomic_cap: 108, max_ee: 112, max_rdd: 116, max_mw: 120, max_raw_ipv6_qp: 124,
    max_raw_ethy_qp: 128, max_mcast_grp: 132, max_mcast_qp_attach: 136, max_total_mcast_qp_attach: 140, max_ah: 144,
    max_fmr: 148, max_map_per_fmr: 152, max_srq: 156, max_srq_wr: 160, max_srq_sge: 164, max_pkeys: 168,
    local_ca_ack_delay: 170, phys_port_cnt: 171, reserved: 172,
});

/// The extended query of a device: all zero.
#[doc(alias = "ib_uverbs_ex_query_device")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct IbUverbsExQueryDevice {
    /// 0.
    pub comp_mask: u32,
    /// 0.
    pub reserved: u32,
}

assert_layout!(IbUverbsExQueryDevice: 8 { comp_mask: 0, reserved: 4 });

/// On-demand paging.
#[doc(alias = "ib_uverbs_odp_caps")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C, align(8))]
pub struct IbUverbsOdpCaps {
    /// Supported at all (1), and for the whole address space (2).
    pub general_caps: u64,
    /// Operations on reliable connections.
    #[doc(alias = "per_transport_caps.rc_odp_caps")]
    pub rc_odp_caps: u32,
    /// Operations on unreliable connections.
    #[doc(alias = "per_transport_caps.uc_odp_caps")]
    pub uc_odp_caps: u32,
    /// Operations on datagrams.
    #[doc(alias = "per_transport_caps.ud_odp_caps")]
    pub ud_odp_caps: u32,
    /// 0.
    pub reserved: u32,
}

assert_layout!(IbUverbsOdpCaps: 24 { general_caps: 0, rc_odp_caps: 8, uc_odp_caps: 12, ud_odp_caps: 16, reserved: 20 });

/// Receive side scaling.
#[doc(alias = "ib_uverbs_rss_caps")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct IbUverbsRssCaps {
    /// Queue pair types, as a bit set.
    pub supported_qpts: u32,
    /// Most indirection tables.
    pub max_rwq_indirection_tables: u32,
    /// Most entries in an indirection table.
    pub max_rwq_indirection_table_size: u32,
    /// 0.
    pub reserved: u32,
}

assert_layout!(IbUverbsRssCaps: 16 {
    supported_qpts: 0, max_rwq_indirection_tables: 4, max_rwq_indirection_table_size: 8, reserved: 12,
});

/// Tag matching.
#[doc(alias = "ib_uverbs_tm_caps")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct IbUverbsTmCaps {
    /// Size of the greatest rendezvous request, in bytes.
    pub max_rndv_hdr_size: u32,
    /// Most entries in a matching list.
    pub max_num_tags: u32,
    /// Transports supported.
    pub flags: u32,
    /// Most list operations at once.
    pub max_ops: u32,
    /// Most scatter entries in a matching entry.
    pub max_sge: u32,
    /// 0.
    pub reserved: u32,
}

assert_layout!(IbUverbsTmCaps: 24 {
    max_rndv_hdr_size: 0, max_num_tags: 4, flags: 8, max_ops: 12, max_sge: 16, reserved: 20,
});

/// Moderation of completion events.
#[doc(alias = "ib_uverbs_cq_moderation_caps")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct IbUverbsCqModerationCaps {
    /// Most completions in one event.
    pub max_cq_moderation_count: u16,
    /// Longest wait for more, in microseconds.
    pub max_cq_moderation_period: u16,
    /// 0.
    pub reserved: u32,
}

assert_layout!(IbUverbsCqModerationCaps: 8 {
    max_cq_moderation_count: 0, max_cq_moderation_period: 2, reserved: 4,
});

/// The attributes of a device, extended. `response_length` says how much of it the kernel wrote.
#[doc(alias = "ib_uverbs_ex_query_device_resp")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C, align(8))]
pub struct IbUverbsExQueryDeviceResp {
    /// What the older form of the query says.
    pub base: IbUverbsQueryDeviceResp,
    /// 0.
    pub comp_mask: u32,
    /// Bytes written.
    pub response_length: u32,
    /// On-demand paging.
    pub odp_caps: IbUverbsOdpCaps,
    /// The bits that completion time stamps have.
    pub timestamp_mask: u64,
    /// Frequency of the time stamp clock, in kHz.
    pub hca_core_clock: u64,
    /// `IB_UVERBS_DEVICE_*`, and flags that are the kernel's own.
    pub device_cap_flags_ex: u64,
    /// Receive side scaling.
    pub rss_caps: IbUverbsRssCaps,
    /// Most receive work queues.
    pub max_wq_type_rq: u32,
    /// What raw packets may do.
    pub raw_packet_caps: u32,
    /// Tag matching.
    pub tm_caps: IbUverbsTmCaps,
    /// Moderation of completion events.
    pub cq_moderation_caps: IbUverbsCqModerationCaps,
    /// Device memory, in bytes.
    pub max_dm_size: u64,
    /// On-demand paging on extended reliable connections.
    pub xrc_odp_caps: u32,
    /// 0.
    pub reserved: u32,
}

assert_layout!(IbUverbsExQueryDeviceResp: 304 {
    base: 0, comp_mask: 176, response_length: 180, odp_caps: 184, timestamp_mask: 208, hca_core_clock: 216,
    device_cap_flags_ex: 224, rss_caps: 232, max_wq_type_rq: 248, raw_packet_caps: 252, tm_caps: 256,
    cq_moderation_caps: 280, max_dm_size: 288, xrc_odp_caps: 296, reserved: 300,
});

/// A port.
#[doc(alias = "ib_uverbs_query_port_resp")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct IbUverbsQueryPortResp {
    /// `IB_UVERBS_PCF_*`.
    pub port_cap_flags: u32,
    /// Longest message, in bytes.
    pub max_msg_sz: u32,
    /// Packets with a bad partition key.
    pub bad_pkey_cntr: u32,
    /// Packets with a bad queue key.
    pub qkey_viol_cntr: u32,
    /// Entries in the GID table.
    pub gid_tbl_len: u32,
    /// Entries in the partition table.
    pub pkey_tbl_len: u16,
    /// Local id; 0 on Ethernet.
    pub lid: u16,
    /// Local id of the subnet manager.
    pub sm_lid: u16,
    /// State of the port: 1 down, 2 initializing, 3 armed, 4 active, 5 active but deferred.
    pub state: u8,
    /// Greatest MTU: 1 to 5 are 256 to 4096 bytes.
    pub max_mtu: u8,
    /// The MTU in use, in the same numbers.
    pub active_mtu: u8,
    /// Local id mask.
    pub lmc: u8,
    /// Most virtual lanes.
    pub max_vl_num: u8,
    /// Service level of the subnet manager.
    pub sm_sl: u8,
    /// Time-out of the subnet.
    pub subnet_timeout: u8,
    /// What the subnet manager did at start.
    pub init_type_reply: u8,
    /// Lanes: 1, 2, 4, 8, 16 are 1, 4, 8, 12, 2 of them.
    pub active_width: u8,
    /// Speed of a lane, a code of the InfiniBand specification.
    pub active_speed: u8,
    /// Physical state: 3 disabled, 5 link up.
    pub phys_state: u8,
    /// 1 InfiniBand, 2 Ethernet.
    pub link_layer: u8,
    /// `IB_UVERBS_QPF_*`.
    pub flags: u8,
    /// 0.
    pub reserved: u8,
}

assert_layout!(IbUverbsQueryPortResp: 40 {
    port_cap_flags: 0, max_msg_sz: 4, bad_pkey_cntr: 8, qkey_viol_cntr: 12, gid_tbl_len: 16, pkey_tbl_len: 20, lid: 22,
    sm_lid: 24, state: 26, max_mtu: 27, active_mtu: 28, lmc: 29, max_vl_num: 30, sm_sl: 31, subnet_timeout: 32,
    init_type_reply: 33, active_width: 34, active_speed: 35, phys_state: 36, link_layer: 37, flags: 38, reserved: 39,
});

/// A new protection domain.
#[doc(alias = "ib_uverbs_alloc_pd_resp")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct IbUverbsAllocPdResp {
    /// Its handle.
    pub pd_handle: u32,
}

assert_layout!(IbUverbsAllocPdResp: 4 { pd_handle: 0 });

/// Frees a protection domain.
#[doc(alias = "ib_uverbs_dealloc_pd")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct IbUverbsDeallocPd {
    /// Its handle.
    pub pd_handle: u32,
}

assert_layout!(IbUverbsDeallocPd: 4 { pd_handle: 0 });
