//! Capabilities: what the device and its firmware can do.

use crate::prm_layouts;

// Which capabilities are asked for: `query_hca_cap_in::OP_MOD` is one of these times two, plus the mode.

/// [`cmd_hca_cap`].
pub const MLX5_CAP_GENERAL: u16 = 0x00;
/// [`per_protocol_networking_offload_caps`].
pub const MLX5_CAP_ETHERNET_OFFLOADS: u16 = 0x01;
/// On-demand paging.
pub const MLX5_CAP_ODP: u16 = 0x02;
/// Atomic operations.
pub const MLX5_CAP_ATOMIC: u16 = 0x03;
/// [`roce_cap`].
pub const MLX5_CAP_ROCE: u16 = 0x04;
/// IPoIB.
pub const MLX5_CAP_IPOIB_OFFLOADS: u16 = 0x05;
/// IPoIB, enhanced.
pub const MLX5_CAP_IPOIB_ENHANCED_OFFLOADS: u16 = 0x06;
/// [`flow_table_nic_cap`].
pub const MLX5_CAP_FLOW_TABLE: u16 = 0x07;
/// [`flow_table_eswitch_cap`].
pub const MLX5_CAP_ESWITCH_FLOW_TABLE: u16 = 0x08;
/// [`e_switch_cap`].
pub const MLX5_CAP_ESWITCH: u16 = 0x09;
/// Quality of service.
pub const MLX5_CAP_QOS: u16 = 0x0c;
/// Debugging.
pub const MLX5_CAP_DEBUG: u16 = 0x0d;
/// Device memory.
pub const MLX5_CAP_DEV_MEM: u16 = 0x0f;
/// TLS.
pub const MLX5_CAP_TLS: u16 = 0x11;
/// Emulation of VirtIO devices.
pub const MLX5_CAP_VDPA_EMULATION: u16 = 0x13;
/// Events of firmware objects.
pub const MLX5_CAP_DEV_EVENT: u16 = 0x14;
/// IPsec.
pub const MLX5_CAP_IPSEC: u16 = 0x15;
/// Encryption (since Linux 6.2).
pub const MLX5_CAP_CRYPTO: u16 = 0x1a;
/// MACsec (since Linux 6.1).
pub const MLX5_CAP_MACSEC: u16 = 0x1f;
/// [`cmd_hca_cap_2`] (since Linux 5.14).
pub const MLX5_CAP_GENERAL_2: u16 = 0x20;
/// Choice of a port of a link aggregate (since Linux 5.16).
pub const MLX5_CAP_PORT_SELECTION: u16 = 0x25;
/// Virtualization (since Linux 6.0).
pub const MLX5_CAP_ADV_VIRTUALIZATION: u16 = 0x26;
/// RDMA transport tables (since Linux 6.15).
pub const MLX5_CAP_ADV_RDMA: u16 = 0x28;

// The mode: the lowest bit of `query_hca_cap_in::OP_MOD`

/// The most the device can.
pub const HCA_CAP_OPMOD_GET_MAX: u16 = 0;
/// What is in effect.
pub const HCA_CAP_OPMOD_GET_CUR: u16 = 1;

// `cmd_hca_cap::PORT_TYPE`

/// InfiniBand.
pub const MLX5_CAP_PORT_TYPE_IB: u8 = 0;
/// Ethernet.
pub const MLX5_CAP_PORT_TYPE_ETH: u8 = 1;

prm_layouts! {
    pub(super) const LAYOUTS;

    /// Asks for capabilities. A user may send it without owning a user context.
    query_hca_cap_in: 16 {
        OPCODE: 0x0/16,
        /// `MLX5_CAP_*` times two, plus `HCA_CAP_OPMOD_*`.
        OP_MOD: 0x30/16,
        OTHER_FUNCTION: 0x40/1,
        EC_VF_FUNCTION: 0x41/1,
        FUNCTION_ID_TYPE: 0x43/1,
        FUNCTION_ID: 0x50/16,
    }

    /// Capabilities.
    query_hca_cap_out: 4112 {
        STATUS: 0x0/8,
        SYNDROME: 0x20/32,
        /// The layout that belongs to the capabilities asked for.
        CAPABILITY: 0x80/32768,
    }

    /// Capabilities of the device in general. Those that this project reads or an emulated device has to set; the struct has many more.
    cmd_hca_cap: 256 {
        /// Objects of users may refer to shared ones: steering anchors are possible.
        SHARED_OBJECT_TO_USER_OBJECT_ALLOWED: 0x10/1,
        /// [`cmd_hca_cap_2`](super::cmd_hca_cap_2) may be asked for.
        HCA_CAP_2: 0x20/1,
        /// Id of this function in the card.
        VHCA_ID: 0x30/16,
        LOG_MAX_SRQ_SZ: 0x80/8,
        LOG_MAX_QP_SZ: 0x88/8,
        EVENT_CAP: 0x90/1,
        LOG_MAX_QP: 0x9b/5,
        LOG_MAX_SRQ: 0xab/5,
        MAX_SGL_FOR_OPTIMIZED_PERFORMANCE: 0xc0/8,
        LOG_MAX_CQ_SZ: 0xc8/8,
        LOG_MAX_CQ: 0xdb/5,
        LOG_MAX_EQ_SZ: 0xe0/8,
        RELAXED_ORDERING_WRITE: 0xe8/1,
        LOG_MAX_MKEY: 0xea/6,
        TERMINATE_SCATTER_LIST_MKEY: 0xf6/1,
        REPEATED_MKEY: 0xf7/1,
        DUMP_FILL_MKEY: 0xf8/1,
        LOG_MAX_EQ: 0xfc/4,
        MAX_INDIRECTION: 0x100/8,
        FIXED_BUFFER_SIZE: 0x108/1,
        LOG_MAX_MRW_SZ: 0x109/7,
        LOG_MAX_BSF_LIST_SIZE: 0x112/6,
        NULL_MKEY: 0x119/1,
        LOG_MAX_KLM_LIST_SIZE: 0x11a/6,
        LOG_MAX_RA_REQ_DC: 0x12a/6,
        LOG_MAX_RA_RES_DC: 0x13a/6,
        LOG_MAX_RA_REQ_QP: 0x14a/6,
        LOG_MAX_RA_RES_QP: 0x15a/6,
        CC_QUERY_ALLOWED: 0x161/1,
        CC_MODIFY_ALLOWED: 0x162/1,
        CACHE_LINE_128BYTE: 0x164/1,
        GID_TABLE_SIZE: 0x170/16,
        OUT_OF_SEQ_CNT: 0x180/1,
        VPORT_COUNTERS: 0x181/1,
        RETRANSMISSION_Q_COUNTERS: 0x182/1,
        DEBUG: 0x183/1,
        MAX_QP_CNT: 0x186/10,
        PKEY_TABLE_SIZE: 0x190/16,
        /// Manages the vports of its port.
        VPORT_GROUP_MANAGER: 0x1a0/1,
        VHCA_GROUP_MANAGER: 0x1a1/1,
        IB_VIRT: 0x1a2/1,
        ETH_VIRT: 0x1a3/1,
        ETS: 0x1a5/1,
        /// [`flow_table_nic_cap`](super::flow_table_nic_cap) may be asked for: there are flow tables.
        NIC_FLOW_TABLE: 0x1a6/1,
        /// Manages the embedded switch.
        ESWITCH_MANAGER: 0x1a7/1,
        DEVICE_MEMORY: 0x1a8/1,
        MCAM_REG: 0x1a9/1,
        PCAM_REG: 0x1aa/1,
        LOCAL_CA_ACK_DELAY: 0x1ab/5,
        PORT_MODULE_EVENT: 0x1b0/1,
        ENHANCED_ERROR_Q_COUNTERS: 0x1b1/1,
        /// `MLX5_CAP_PORT_TYPE_*`.
        PORT_TYPE: 0x1b6/2,
        NUM_PORTS: 0x1b8/8,
        LOG_MAX_MSG: 0x1c3/5,
        MAX_TC: 0x1cc/4,
        TEMP_WARN_EVENT: 0x1d0/1,
        DCBX: 0x1d1/1,
        STAT_RATE_SUPPORT: 0x1e0/16,
        CQE_VERSION: 0x1fc/4,
        COMPACT_ADDRESS_VECTOR: 0x200/1,
        STRIDING_RQ: 0x201/1,
        IPOIB_ENHANCED_OFFLOADS: 0x203/1,
        IPOIB_BASIC_OFFLOADS: 0x204/1,
        REPEATED_BLOCK_DISABLED: 0x206/1,
        UMR_MODIFY_ENTITY_SIZE_DISABLED: 0x207/1,
        UMR_MODIFY_ATOMIC_DISABLED: 0x208/1,
        UMR_INDIRECT_MKEY_DISABLED: 0x209/1,
        UMR_FENCE: 0x20a/2,
        /// 0 if commands need no checksum.
        CMDIF_CHECKSUM: 0x210/2,
        WQ_SIGNATURE: 0x214/1,
        SCTR_DATA_CQE: 0x215/1,
        SHO: 0x217/1,
        DCT: 0x21a/1,
        QOS: 0x21b/1,
        /// [`per_protocol_networking_offload_caps`](super::per_protocol_networking_offload_caps) may be asked for.
        ETH_NET_OFFLOADS: 0x21c/1,
        /// [`roce_cap`](super::roce_cap) may be asked for.
        ROCE: 0x21d/1,
        ATOMIC: 0x21e/1,
        CQ_OI: 0x220/1,
        CQ_RESIZE: 0x221/1,
        CQ_MODERATION: 0x222/1,
        CQ_PERIOD_MODE_MODIFY: 0x223/1,
        CQ_EQ_REMAP: 0x226/1,
        PG: 0x227/1,
        BLOCK_LB_MC: 0x228/1,
        SCQE_BREAK_MODERATION: 0x22a/1,
        CQ_PERIOD_START_FROM_CQE: 0x22b/1,
        IMAICL: 0x231/1,
        QKV: 0x236/1,
        PKV: 0x237/1,
        SET_DETH_SQPN: 0x238/1,
        XRC: 0x23c/1,
        UD: 0x23d/1,
        UC: 0x23e/1,
        RC: 0x23f/1,
        /// Doorbell pages have 4 KiB, whatever the processor's.
        UAR_4K: 0x240/1,
        /// Size of the doorbell region in MiB, as a power of two.
        UAR_SZ: 0x24a/6,
        /// The kernel may own user memory.
        UMEM_UID_0: 0x252/1,
        LOG_PG_SZ: 0x258/8,
        BF: 0x260/1,
        DRIVER_VERSION: 0x261/1,
        PAD_TX_ETH_PACKET: 0x262/1,
        LOG_BF_REG_SIZE: 0x26b/5,
        LAG_MASTER: 0x27b/1,
        NUM_LAG_PORTS: 0x27c/4,
        MAX_WQE_SZ_SQ: 0x290/16,
        MAX_WQE_SZ_RQ: 0x2b0/16,
        MAX_WQE_SZ_SQ_DC: 0x2d0/16,
        MAX_QP_MCG: 0x2e7/25,
        LOG_MAX_MCG: 0x318/8,
        /// Sizes of bulks of flow counters, as a bit set.
        FLOW_COUNTER_BULK_ALLOC: 0x310/8,
        /// Number of flow counters, upper half.
        MAX_FLOW_COUNTER_31_16: 0x2c0/16,
        /// Number of flow counters, lower half.
        MAX_FLOW_COUNTER_15_0: 0x350/16,
        /// Counters in a bulk, as a power of two.
        LOG_MAX_FLOW_COUNTER_BULK: 0x348/8,
        LOG_MAX_TRANSPORT_DOMAIN: 0x323/5,
        LOG_MAX_PD: 0x32b/5,
        LOG_MAX_XRCD: 0x33b/5,
        LOG_MAX_RQ: 0x363/5,
        LOG_MAX_SQ: 0x36b/5,
        LOG_MAX_TIR: 0x373/5,
        LOG_MAX_TIS: 0x37b/5,
        BASIC_CYCLIC_RCV_WQE: 0x380/1,
        LOG_MAX_RMP: 0x383/5,
        LOG_MAX_RQT: 0x38b/5,
        LOG_MAX_RQT_SIZE: 0x393/5,
        LOG_MAX_TIS_PER_SQ: 0x39b/5,
        EXT_STRIDE_NUM_RANGE: 0x3a0/1,
        LOG_MAX_STRIDE_SZ_RQ: 0x3a3/5,
        LOG_MIN_STRIDE_SZ_RQ: 0x3ab/5,
        LOG_MAX_STRIDE_SZ_SQ: 0x3b3/5,
        LOG_MIN_STRIDE_SZ_SQ: 0x3bb/5,
        HAIRPIN: 0x3c0/1,
        LOG_MAX_HAIRPIN_QUEUES: 0x3c3/5,
        LOG_MAX_HAIRPIN_WQ_DATA_SZ: 0x3cb/5,
        LOG_MAX_HAIRPIN_NUM_PACKETS: 0x3d3/5,
        LOG_MIN_HAIRPIN_WQ_DATA_SZ: 0x3e3/5,
        LOG_MAX_WQ_SZ: 0x3db/5,
        NIC_VPORT_CHANGE_EVENT: 0x3e0/1,
        DISABLE_LOCAL_LB_UC: 0x3e1/1,
        DISABLE_LOCAL_LB_MC: 0x3e2/1,
        LOG_MAX_VLAN_LIST: 0x3eb/5,
        LOG_MAX_CURRENT_MC_LIST: 0x3f3/5,
        LOG_MAX_CURRENT_UC_LIST: 0x3fb/5,
        /// Types of general object, as a bit set.
        GENERAL_OBJ_TYPES: 0x400/64,
        /// How entries look in the card's memory: 0 ConnectX-5, 1 ConnectX-6 Dx, 2 ConnectX-7.
        STEERING_FORMAT_VERSION: 0x444/4,
        /// Number of user contexts, as a power of two; 0 if there is no DEVX.
        LOG_MAX_UCTX: 0x463/5,
        /// Number of user memories, as a power of two.
        LOG_MAX_UMEM: 0x46b/5,
        MAX_NUM_EQS: 0x470/16,
        LOG_MAX_L2_TABLE: 0x483/5,
        LOG_UAR_PAGE_SZ: 0x490/16,
        DEVICE_FREQUENCY_MHZ: 0x4c0/32,
        DEVICE_FREQUENCY_KHZ: 0x4e0/32,
        NUM_OF_UARS_PER_PAGE: 0x520/32,
        /// What the parser finds in packets, as a bit set.
        FLEX_PARSER_PROTOCOLS: 0x540/32,
        MAX_GENEVE_TLV_OPTIONS: 0x560/8,
        MAX_GENEVE_TLV_OPTION_DATA_LEN: 0x56b/5,
        CQE_COMPRESSION: 0x5bf/1,
        CQE_COMPRESSION_TIMEOUT: 0x5c0/16,
        CQE_COMPRESSION_MAX_NUM: 0x5d0/16,
        TAG_MATCHING: 0x5f0/1,
        LOG_MAX_XRQ: 0x5fb/5,
        NATIVE_PORT_NUM: 0x608/8,
        NUM_VHCA_PORTS: 0x610/8,
        /// Users may write flow tables themselves.
        SW_OWNER_ID: 0x61e/1,
        SF: 0x680/1,
        MAX_NUM_SF: 0x640/16,
        LOG_MAX_SF: 0x683/5,
        /// What user contexts may be given, `MLX5_UCTX_CAP_*`.
        UCTX_CAP: 0x6a0/32,
        MAX_NUM_MATCH_DEFINER: 0x6e0/16,
        /// Commands that may be sent for another function, as a bit set.
        VHCA_TUNNEL_COMMANDS: 0x780/64,
    }

    /// More capabilities of the device in general (since Linux 5.14).
    cmd_hca_cap_2: 256 {
        MIGRATABLE: 0x80/1,
        MAX_REFORMAT_INSERT_SIZE: 0xa0/8,
        MAX_REFORMAT_INSERT_OFFSET: 0xa8/8,
        MAX_REFORMAT_REMOVE_SIZE: 0xb0/8,
        MAX_REFORMAT_REMOVE_OFFSET: 0xb8/8,
        SF_EQ_USAGE: 0xd2/1,
        /// Objects of this function that may refer to another's, as a bit set.
        CROSS_VHCA_OBJECT_TO_OBJECT_SUPPORTED: 0xe0/32,
        /// Objects that another function may be let use, as a bit set.
        ALLOWED_OBJECT_FOR_OTHER_VHCA_ACCESS: 0x100/64,
        /// Types of flow table that may send to the root of another type, as a bit set.
        FLOW_TABLE_TYPE_2_TYPE: 0x1a0/8,
        SW_VHCA_ID_VALID: 0x221/1,
        SW_VHCA_ID: 0x222/14,
        /// More types of general object, as a bit set.
        GENERAL_OBJ_TYPES_127_64: 0x1c0/64,
    }

    /// Ethernet offloads.
    per_protocol_networking_offload_caps: 256 {
        CSUM_CAP: 0x0/1,
        VLAN_CAP: 0x1/1,
        LRO_CAP: 0x2/1,
        LRO_PSH_FLAG: 0x3/1,
        LRO_TIME_STAMP: 0x4/1,
        WQE_VLAN_INSERT: 0x7/1,
        SELF_LB_EN_MODIFIABLE: 0x8/1,
        MAX_LSO_CAP: 0xb/5,
        MULTI_PKT_SEND_WQE: 0x10/2,
        WQE_INLINE_MODE: 0x12/2,
        RSS_IND_TBL_CAP: 0x14/4,
        REG_UMR_SQ: 0x18/1,
        SCATTER_FCS: 0x19/1,
        ENHANCED_MULTI_PKT_SEND_WQE: 0x1a/1,
        TUNNEL_LSO_CONST_OUT_IP_ID: 0x1b/1,
        TUNNEL_LRO_GRE: 0x1c/1,
        TUNNEL_LRO_VXLAN: 0x1d/1,
        TUNNEL_STATELESS_GRE: 0x1e/1,
        TUNNEL_STATELESS_VXLAN: 0x1f/1,
        SWP: 0x20/1,
        SWP_CSUM: 0x21/1,
        SWP_LSO: 0x22/1,
        CQE_CHECKSUM_FULL: 0x23/1,
        TUNNEL_STATELESS_GENEVE_TX: 0x24/1,
        TUNNEL_STATELESS_MPLS_OVER_UDP: 0x25/1,
        TUNNEL_STATELESS_MPLS_OVER_GRE: 0x26/1,
        TUNNEL_STATELESS_VXLAN_GPE: 0x27/1,
        TUNNEL_STATELESS_IPV4_OVER_VXLAN: 0x28/1,
        TUNNEL_STATELESS_IP_OVER_IP: 0x29/1,
        INSERT_TRAILER: 0x2a/1,
        TUNNEL_STATELESS_IP_OVER_IP_RX: 0x2c/1,
        TUNNEL_STATELESS_IP_OVER_IP_TX: 0x2d/1,
        MAX_VXLAN_UDP_PORTS: 0x30/8,
        SWP_CSUM_L4_PARTIAL: 0x38/1,
        MAX_GENEVE_OPT_LEN: 0x3e/1,
        TUNNEL_STATELESS_GENEVE_RX: 0x3f/1,
        LRO_MIN_MSS_SIZE: 0x50/16,
        /// First of four.
        LRO_TIMER_SUPPORTED_PERIODS: 0x180/32,
    }

    /// RoCE.
    roce_cap: 256 {
        ROCE_APM: 0x0/1,
        SW_R_ROCE_SRC_UDP_PORT: 0x4/1,
        FL_RC_QP_WHEN_ROCE_DISABLED: 0x5/1,
        FL_RC_QP_WHEN_ROCE_ENABLED: 0x6/1,
        ROCE_CC_GENERAL: 0x7/1,
        QP_OOO_TRANSMIT_DEFAULT: 0x8/1,
        QP_TS_FORMAT: 0x1e/2,
        /// Kinds of network header, as a bit set.
        L3_TYPE: 0x8c/4,
        /// Versions, as a bit set.
        ROCE_VERSION: 0x98/8,
        R_ROCE_DEST_UDP_PORT: 0xb0/16,
        R_ROCE_MAX_SRC_UDP_PORT: 0xc0/16,
        R_ROCE_MIN_SRC_UDP_PORT: 0xd0/16,
        ROCE_ADDRESS_TABLE_SIZE: 0xf0/16,
    }

    /// Flow tables of a function.
    flow_table_nic_cap: 4096 {
        NIC_RX_MULTI_PATH_TIRS: 0x0/1,
        NIC_RX_MULTI_PATH_TIRS_FTS: 0x1/1,
        ALLOW_SNIFFER_AND_NIC_RX_SHARED_TIR: 0x2/1,
        SW_OWNER_REFORMAT_SUPPORTED: 0x7/1,
        ENCAP_GENERAL_HEADER: 0x20/1,
        LOG_MAX_PACKET_REFORMAT_CONTEXT: 0x2b/5,
        MAX_ENCAP_HEADER_SIZE: 0x36/10,
        /// [`flow_table_prop_layout`](super::flow_table_prop_layout) of what it receives.
        FLOW_TABLE_PROPERTIES_NIC_RECEIVE: 0x200/512,
        FLOW_TABLE_PROPERTIES_NIC_RECEIVE_RDMA: 0x400/512,
        FLOW_TABLE_PROPERTIES_NIC_RECEIVE_SNIFFER: 0x600/512,
        /// [`flow_table_prop_layout`](super::flow_table_prop_layout) of what it sends.
        FLOW_TABLE_PROPERTIES_NIC_TRANSMIT: 0x800/512,
        FLOW_TABLE_PROPERTIES_NIC_TRANSMIT_RDMA: 0xa00/512,
        FLOW_TABLE_PROPERTIES_NIC_TRANSMIT_SNIFFER: 0xc00/512,
        FT_FIELD_SUPPORT_2_NIC_RECEIVE: 0x1400/128,
        FT_FIELD_SUPPORT_2_NIC_RECEIVE_RDMA: 0x1500/128,
        FT_FIELD_SUPPORT_2_NIC_TRANSMIT_RDMA: 0x1800/128,
        SW_STEERING_NIC_RX_ACTION_DROP_ICM_ADDRESS: 0x2000/64,
        SW_STEERING_NIC_TX_ACTION_DROP_ICM_ADDRESS: 0x2040/64,
        SW_STEERING_NIC_TX_ACTION_ALLOW_ICM_ADDRESS: 0x2080/64,
    }

    /// Flow tables of the embedded switch.
    flow_table_eswitch_cap: 4096 {
        FDB_TO_VPORT_REG_C_ID: 0x0/8,
        FDB_UPLINK_HAIRPIN: 0xd/1,
        FDB_MULTI_PATH_ANY_TABLE_LIMIT_REGC: 0xe/1,
        FDB_DYNAMIC_TUNNEL: 0x10/1,
        FDB_MULTI_PATH_ANY_TABLE: 0x12/1,
        FDB_MODIFY_HEADER_FWD_TO_TABLE: 0x15/1,
        FDB_IPV4_TTL_MODIFY: 0x16/1,
        FLOW_SOURCE: 0x17/1,
        MULTI_FDB_ENCAP: 0x1a/1,
        EGRESS_ACL_FORWARD_TO_VPORT: 0x1b/1,
        FDB_MULTI_PATH_TO_TABLE: 0x1c/1,
        /// [`flow_table_prop_layout`](super::flow_table_prop_layout) of the switch itself.
        FLOW_TABLE_PROPERTIES_NIC_ESW_FDB: 0x200/512,
        FLOW_TABLE_PROPERTIES_ESW_ACL_INGRESS: 0x400/512,
        FLOW_TABLE_PROPERTIES_ESW_ACL_EGRESS: 0x600/512,
        FT_FIELD_SUPPORT_2_ESW_FDB: 0x1400/128,
        FT_FIELD_BITMASK_SUPPORT_2_ESW_FDB: 0x1480/128,
        SW_STEERING_FDB_ACTION_DROP_ICM_ADDRESS_RX: 0x1800/64,
        SW_STEERING_FDB_ACTION_DROP_ICM_ADDRESS_TX: 0x1840/64,
        SW_STEERING_UPLINK_ICM_ADDRESS_RX: 0x1880/64,
        SW_STEERING_UPLINK_ICM_ADDRESS_TX: 0x18c0/64,
    }

    /// What tables of one type can do.
    flow_table_prop_layout: 64 {
        /// There are tables of this type.
        FT_SUPPORT: 0x0/1,
        /// Entries may count.
        FLOW_COUNTER: 0x2/1,
        /// Entries may be changed.
        FLOW_MODIFY_EN: 0x3/1,
        /// The first table may be chosen.
        MODIFY_ROOT: 0x4/1,
        /// A table may name the one that misses go to.
        IDENTIFIED_MISS_TABLE_MODE: 0x5/1,
        /// Tables may be changed.
        FLOW_TABLE_MODIFY: 0x6/1,
        REFORMAT: 0x7/1,
        DECAP: 0x8/1,
        RESET_ROOT_TO_DEFAULT: 0x9/1,
        POP_VLAN: 0xa/1,
        PUSH_VLAN: 0xb/1,
        POP_VLAN_2: 0xd/1,
        PUSH_VLAN_2: 0xe/1,
        REFORMAT_AND_VLAN_ACTION: 0xf/1,
        /// Users may write entries themselves, in the format of ConnectX-5.
        SW_OWNER: 0x11/1,
        REFORMAT_L3_TUNNEL_TO_L2: 0x12/1,
        REFORMAT_L2_TO_L3_TUNNEL: 0x13/1,
        REFORMAT_AND_MODIFY_ACTION: 0x14/1,
        /// An entry may send to a table of any level.
        IGNORE_FLOW_LEVEL: 0x15/1,
        /// Misses may go to the other domain.
        TABLE_MISS_ACTION_DOMAIN: 0x17/1,
        TERMINATION_TABLE: 0x18/1,
        REFORMAT_AND_FWD_TO_TABLE: 0x19/1,
        FORWARD_VHCA_RX: 0x1a/1,
        IPSEC_ENCRYPT: 0x1c/1,
        IPSEC_DECRYPT: 0x1d/1,
        /// Users may write entries themselves, in the format of ConnectX-6 Dx and later.
        SW_OWNER_V2: 0x1e/1,
        TERMINATION_TABLE_RAW_TRAFFIC: 0x20/1,
        /// Entries in a table, as a power of two.
        LOG_MAX_FT_SIZE: 0x22/6,
        LOG_MAX_MODIFY_HEADER_CONTEXT: 0x28/8,
        MAX_MODIFY_HEADER_ACTIONS: 0x30/8,
        /// Number of levels.
        MAX_FT_LEVEL: 0x38/8,
        REFORMAT_ADD_ESP_TRASPORT: 0x40/1,
        REFORMAT_L2_TO_L3_ESP_TUNNEL: 0x41/1,
        REFORMAT_ADD_ESP_TRANSPORT_OVER_UDP: 0x42/1,
        REFORMAT_DEL_ESP_TRASPORT: 0x43/1,
        REFORMAT_L3_ESP_TUNNEL_TO_L2: 0x44/1,
        REFORMAT_DEL_ESP_TRANSPORT_OVER_UDP: 0x45/1,
        EXECUTE_ASO: 0x46/1,
        REFORMAT_L2_TO_L3_PSP_TUNNEL: 0x60/1,
        REFORMAT_L3_PSP_TUNNEL_TO_L2: 0x61/1,
        REFORMAT_INSERT: 0x62/1,
        REFORMAT_REMOVE: 0x63/1,
        MACSEC_ENCRYPT: 0x64/1,
        MACSEC_DECRYPT: 0x65/1,
        PSP_ENCRYPT: 0x66/1,
        PSP_DECRYPT: 0x67/1,
        REFORMAT_ADD_MACSEC: 0x68/1,
        REFORMAT_REMOVE_MACSEC: 0x69/1,
        REPARSE: 0x6a/1,
        CROSS_VHCA_OBJECT: 0x6c/1,
        REFORMAT_L2_TO_L3_AUDP_TUNNEL: 0x6d/1,
        REFORMAT_L3_AUDP_TUNNEL_TO_L2: 0x6e/1,
        IGNORE_FLOW_LEVEL_RTC_VALID: 0x6f/1,
        REFORMAT_DEL_PSP_TRANSPORT: 0x77/1,
        /// Number of tables, as a power of two.
        LOG_MAX_FT_NUM: 0x78/8,
        /// Counters in an entry, as a power of two.
        LOG_MAX_FLOW_COUNTER: 0x90/8,
        /// Destinations of an entry, as a power of two.
        LOG_MAX_DESTINATION: 0x98/8,
        /// Number of entries, as a power of two.
        LOG_MAX_FLOW: 0xb8/8,
        /// [`flow_table_fields_supported`](super::flow_table_fields_supported).
        FT_FIELD_SUPPORT: 0x100/128,
        /// The same, of fields that may be compared in part.
        FT_FIELD_BITMASK_SUPPORT: 0x180/128,
    }

    /// What entries may compare.
    flow_table_fields_supported: 16 {
        OUTER_DMAC: 0x0/1,
        OUTER_SMAC: 0x1/1,
        OUTER_ETHER_TYPE: 0x2/1,
        OUTER_IP_VERSION: 0x3/1,
        OUTER_FIRST_PRIO: 0x4/1,
        OUTER_FIRST_CFI: 0x5/1,
        OUTER_FIRST_VID: 0x6/1,
        OUTER_IPV4_TTL: 0x7/1,
        OUTER_SECOND_PRIO: 0x8/1,
        OUTER_SECOND_CFI: 0x9/1,
        OUTER_SECOND_VID: 0xa/1,
        OUTER_SIP: 0xc/1,
        OUTER_DIP: 0xd/1,
        OUTER_FRAG: 0xe/1,
        OUTER_IP_PROTOCOL: 0xf/1,
        OUTER_IP_ECN: 0x10/1,
        OUTER_IP_DSCP: 0x11/1,
        OUTER_UDP_SPORT: 0x12/1,
        OUTER_UDP_DPORT: 0x13/1,
        OUTER_TCP_SPORT: 0x14/1,
        OUTER_TCP_DPORT: 0x15/1,
        OUTER_TCP_FLAGS: 0x16/1,
        OUTER_GRE_PROTOCOL: 0x17/1,
        OUTER_GRE_KEY: 0x18/1,
        OUTER_VXLAN_VNI: 0x19/1,
        OUTER_GENEVE_VNI: 0x1a/1,
        OUTER_GENEVE_OAM: 0x1b/1,
        OUTER_GENEVE_PROTOCOL_TYPE: 0x1c/1,
        OUTER_GENEVE_OPT_LEN: 0x1d/1,
        SOURCE_VHCA_PORT: 0x1e/1,
        SOURCE_ESWITCH_PORT: 0x1f/1,
        INNER_DMAC: 0x20/1,
        INNER_SMAC: 0x21/1,
        INNER_ETHER_TYPE: 0x22/1,
        INNER_IP_VERSION: 0x23/1,
        INNER_FIRST_PRIO: 0x24/1,
        INNER_FIRST_CFI: 0x25/1,
        INNER_FIRST_VID: 0x26/1,
        INNER_SECOND_PRIO: 0x28/1,
        INNER_SECOND_CFI: 0x29/1,
        INNER_SECOND_VID: 0x2a/1,
        INNER_SIP: 0x2c/1,
        INNER_DIP: 0x2d/1,
        INNER_FRAG: 0x2e/1,
        INNER_IP_PROTOCOL: 0x2f/1,
        INNER_IP_ECN: 0x30/1,
        INNER_IP_DSCP: 0x31/1,
        INNER_UDP_SPORT: 0x32/1,
        INNER_UDP_DPORT: 0x33/1,
        INNER_TCP_SPORT: 0x34/1,
        INNER_TCP_DPORT: 0x35/1,
        INNER_TCP_FLAGS: 0x36/1,
        GENEVE_TLV_OPTION_0_DATA: 0x40/1,
        GENEVE_TLV_OPTION_0_EXIST: 0x41/1,
        OUTER_FIRST_MPLS_OVER_UDP: 0x45/4,
        OUTER_FIRST_MPLS_OVER_GRE: 0x49/4,
        INNER_FIRST_MPLS: 0x4d/4,
        OUTER_FIRST_MPLS: 0x51/4,
        OUTER_ESP_SPI: 0x57/1,
        BTH_DST_QP: 0x5a/1,
        METADATA_REG_C_7: 0x78/1,
        METADATA_REG_C_6: 0x79/1,
        METADATA_REG_C_5: 0x7a/1,
        METADATA_REG_C_4: 0x7b/1,
        METADATA_REG_C_3: 0x7c/1,
        METADATA_REG_C_2: 0x7d/1,
        METADATA_REG_C_1: 0x7e/1,
        METADATA_REG_C_0: 0x7f/1,
    }

    /// What else entries may compare (since Linux 5.18).
    flow_table_fields_supported_2: 16 {
        INNER_L4_TYPE_EXT: 0x0/1,
        OUTER_L4_TYPE_EXT: 0x1/1,
        INNER_L4_TYPE: 0x2/1,
        OUTER_L4_TYPE: 0x3/1,
        BTH_OPCODE: 0xe/1,
        TUNNEL_HEADER_0_1: 0x10/1,
        IPSEC_NEXT_HEADER: 0x2f/1,
    }

    /// The embedded switch.
    e_switch_cap: 256 {
        VPORT_SVLAN_STRIP: 0x0/1,
        VPORT_CVLAN_STRIP: 0x1/1,
        VPORT_SVLAN_INSERT: 0x2/1,
        VPORT_CVLAN_INSERT_IF_NOT_EXIST: 0x3/1,
        VPORT_CVLAN_INSERT_OVERWRITE: 0x4/1,
        VPORT_CVLAN_INSERT_ALWAYS: 0x6/1,
        ESW_SHARED_INGRESS_ACL: 0x7/1,
        ESW_UPLINK_INGRESS_ACL: 0x8/1,
        ROOT_FT_ON_OTHER_ESW: 0x9/1,
        ESW_VPORT_STATE_MAX_TX_SPEED: 0xb/1,
        ESW_FUNCTIONS_CHANGED: 0x19/1,
        ECPF_VPORT_EXISTS: 0x1b/1,
        COUNTER_ESWITCH_AFFINITY: 0x1c/1,
        MERGED_ESWITCH: 0x1d/1,
        NIC_VPORT_NODE_GUID_MODIFY: 0x1e/1,
        NIC_VPORT_PORT_GUID_MODIFY: 0x1f/1,
        VXLAN_ENCAP_DECAP: 0x20/1,
        NVGRE_ENCAP_DECAP: 0x21/1,
        LOG_MAX_FDB_ENCAP_UPLINK: 0x23/5,
        LOG_MAX_PACKET_REFORMAT_CONTEXT: 0x2b/5,
        MAX_ENCAP_HEADER_SIZE: 0x36/10,
        LOG_MAX_ESW_SF: 0x4b/5,
        ESW_SF_BASE_ID: 0x50/16,
        ESW_MANAGER_VPORT_NUMBER_VALID: 0x60/1,
        ESW_MANAGER_VPORT_NUMBER: 0x70/16,
    }
}
