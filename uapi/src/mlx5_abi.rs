//! `rdma/mlx5-abi.h`: the mlx5 driver's part of requests and responses of the core.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// What `abi_version` of an mlx5 device in sysfs says.
pub const MLX5_IB_UVERBS_ABI_VERSION: u32 = 1;

// `Mlx5IbAllocUcontextReqV2`

/// `flags`: the context may use DEVX.
pub const MLX5_IB_ALLOC_UCTX_DEVX: u32 = 1;
/// `lib_caps`: the user knows doorbell pages of 4 KiB.
pub const MLX5_LIB_CAP_4K_UAR: u64 = 1;
/// `lib_caps`: the user allocates doorbell pages itself; the context begins with none (since Linux 5.7).
pub const MLX5_LIB_CAP_DYN_UAR: u64 = 2;

// `Mlx5IbAllocUcontextResp`

/// `comp_mask`: `hca_core_clock_offset` is there.
pub const MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_CORE_CLOCK_OFFSET: u32 = 1;
/// `comp_mask`: `dump_fill_mkey` is there.
pub const MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_DUMP_FILL_MKEY: u32 = 2;
/// `comp_mask`: enhanced connection establishment.
pub const MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_ECE: u32 = 4;
/// `comp_mask`: a drained queue pair may send again (not in Linux 5.10).
pub const MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_SQD2RTS: u32 = 8;
/// `comp_mask`: time stamps in real time (not in Linux 5.10).
pub const MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_REAL_TIME_TS: u32 = 16;
/// `comp_mask`: memory keys of a context may be told apart by tag (not in Linux 5.10).
pub const MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_MKEY_UPDATE_TAG: u32 = 32;
/// `eth_min_inline`: not an Ethernet device.
pub const MLX5_USER_INLINE_MODE_NA: u8 = 0;
/// `eth_min_inline`: nothing has to be in the send request itself.
pub const MLX5_USER_INLINE_MODE_NONE: u8 = 1;
/// `eth_min_inline`: the Ethernet header has to be.
pub const MLX5_USER_INLINE_MODE_L2: u8 = 2;
/// `eth_min_inline`: the IP header too.
pub const MLX5_USER_INLINE_MODE_IP: u8 = 3;
/// `eth_min_inline`: the TCP or UDP header too.
pub const MLX5_USER_INLINE_MODE_TCP_UDP: u8 = 4;

/// The driver's part of `GET_CONTEXT`.
///
/// Always send all of it: Linux 7.3 reads what a shorter request leaves out from its own stack.
#[doc(alias = "mlx5_ib_alloc_ucontext_req_v2")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C, align(8))]
pub struct Mlx5IbAllocUcontextReqV2 {
    /// Doorbell registers wanted; 0 only with [`MLX5_LIB_CAP_DYN_UAR`].
    pub total_num_bfregs: u32,
    /// How many of them are for low latency.
    pub num_low_latency_bfregs: u32,
    /// [`MLX5_IB_ALLOC_UCTX_DEVX`] or 0.
    pub flags: u32,
    /// 0.
    pub comp_mask: u32,
    /// Newest completion queue entry format that the user knows: 0 or 1.
    pub max_cqe_version: u8,
    /// 0.
    pub reserved0: u8,
    /// 0.
    pub reserved1: u16,
    /// 0.
    pub reserved2: u32,
    /// `MLX5_LIB_CAP_*`.
    pub lib_caps: u64,
}

assert_layout!(Mlx5IbAllocUcontextReqV2: 32 {
    total_num_bfregs: 0, num_low_latency_bfregs: 4, flags: 8, comp_mask: 12, max_cqe_version: 16, reserved0: 17,
    reserved1: 18, reserved2: 20, lib_caps: 24,
});

/// The driver's answer to `GET_CONTEXT`, and to the core's `QUERY_CONTEXT`. `response_length` says how much of it the
/// kernel wrote.
#[doc(alias = "mlx5_ib_alloc_ucontext_resp")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C, align(8))]
pub struct Mlx5IbAllocUcontextResp {
    /// Most queue pairs.
    pub qp_tab_size: u32,
    /// Size of a doorbell register, in bytes; 0 without write combining.
    pub bf_reg_size: u32,
    /// Doorbell registers allocated.
    pub tot_bfregs: u32,
    /// Size of a cache line, in bytes.
    pub cache_line_size: u32,
    /// Size of the greatest send request, in bytes.
    pub max_sq_desc_sz: u16,
    /// Size of the greatest receive request, in bytes.
    pub max_rq_desc_sz: u16,
    /// Most blocks of 64 bytes in a send queue.
    pub max_send_wqebb: u32,
    /// Most requests in a receive queue.
    pub max_recv_wr: u32,
    /// Most requests in a shared receive queue.
    pub max_srq_recv_wr: u32,
    /// Number of ports.
    pub num_ports: u16,
    /// IPsec offloads; 0 since Linux 6.0.
    pub flow_action_flags: u16,
    /// `MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_*`.
    pub comp_mask: u32,
    /// Bytes written.
    pub response_length: u32,
    /// Completion queue entry format in use.
    pub cqe_version: u8,
    /// Commands of the core that take a driver's part.
    pub cmds_supp_uhw: u8,
    /// `MLX5_USER_INLINE_MODE_*`.
    pub eth_min_inline: u8,
    /// Formats of the clock page, as a bit set.
    pub clock_info_versions: u8,
    /// Offset of the clock in its page.
    pub hca_core_clock_offset: u64,
    /// Size of a doorbell page, as a power of two.
    pub log_uar_size: u32,
    /// Doorbell pages in one page of the processor.
    pub num_uars_per_page: u32,
    /// Doorbell registers that may be allocated one by one.
    pub num_dyn_bfregs: u32,
    /// Memory key that reads as zeros and swallows what is written.
    pub dump_fill_mkey: u32,
}

assert_layout!(Mlx5IbAllocUcontextResp: 72 {
    qp_tab_size: 0, bf_reg_size: 4, tot_bfregs: 8, cache_line_size: 12, max_sq_desc_sz: 16, max_rq_desc_sz: 18,
    max_send_wqebb: 20, max_recv_wr: 24, max_srq_recv_wr: 28, num_ports: 32, flow_action_flags: 34, comp_mask: 36,
    response_length: 40, cqe_version: 44, cmds_supp_uhw: 45, eth_min_inline: 46, clock_info_versions: 47,
    hca_core_clock_offset: 48, log_uar_size: 56, num_uars_per_page: 60, num_dyn_bfregs: 64, dump_fill_mkey: 68,
});
