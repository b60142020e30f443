//! What entries refer to: flow counters, packet reformats, header modifications.

use crate::prm_layouts;

// Packet reformats: `packet_reformat_context_in::REFORMAT_TYPE`. Not the numbers of `mlx5_user_ioctl_verbs`.

/// Adds a VXLAN header.
pub const MLX5_REFORMAT_TYPE_L2_TO_VXLAN: u8 = 0x0;
/// Adds an NVGRE header.
pub const MLX5_REFORMAT_TYPE_L2_TO_NVGRE: u8 = 0x1;
/// Adds a tunnel header in front of the Ethernet header.
pub const MLX5_REFORMAT_TYPE_L2_TO_L2_TUNNEL: u8 = 0x2;
/// Removes a tunnel header over IP and adds an Ethernet header.
pub const MLX5_REFORMAT_TYPE_L3_TUNNEL_TO_L2: u8 = 0x3;
/// Removes the Ethernet header and adds a tunnel header over IP.
pub const MLX5_REFORMAT_TYPE_L2_TO_L3_TUNNEL: u8 = 0x4;
/// Inserts bytes anywhere (since Linux 5.14).
pub const MLX5_REFORMAT_TYPE_INSERT_HDR: u8 = 0xf;
/// Removes bytes anywhere (since Linux 5.15).
pub const MLX5_REFORMAT_TYPE_REMOVE_HDR: u8 = 0x10;

// Header modifications: `set_action_in::ACTION_TYPE`

/// Writes a value: [`set_action_in`].
pub const MLX5_ACTION_TYPE_SET: u8 = 1;
/// Adds a value: [`add_action_in`].
pub const MLX5_ACTION_TYPE_ADD: u8 = 2;
/// Copies a field: [`copy_action_in`] (since Linux 5.6).
pub const MLX5_ACTION_TYPE_COPY: u8 = 3;

// Fields that may be modified: `set_action_in::FIELD`

/// Upper 32 bits of the source MAC address.
pub const MLX5_ACTION_IN_FIELD_OUT_SMAC_47_16: u16 = 0x01;
/// Lower 16 bits of the source MAC address.
pub const MLX5_ACTION_IN_FIELD_OUT_SMAC_15_0: u16 = 0x02;
/// Ethernet type.
pub const MLX5_ACTION_IN_FIELD_OUT_ETHERTYPE: u16 = 0x03;
/// Upper 32 bits of the destination MAC address.
pub const MLX5_ACTION_IN_FIELD_OUT_DMAC_47_16: u16 = 0x04;
/// Lower 16 bits of the destination MAC address.
pub const MLX5_ACTION_IN_FIELD_OUT_DMAC_15_0: u16 = 0x05;
/// Differentiated services code point.
pub const MLX5_ACTION_IN_FIELD_OUT_IP_DSCP: u16 = 0x06;
/// TCP flags.
pub const MLX5_ACTION_IN_FIELD_OUT_TCP_FLAGS: u16 = 0x07;
/// TCP source port.
pub const MLX5_ACTION_IN_FIELD_OUT_TCP_SPORT: u16 = 0x08;
/// TCP destination port.
pub const MLX5_ACTION_IN_FIELD_OUT_TCP_DPORT: u16 = 0x09;
/// Time to live.
pub const MLX5_ACTION_IN_FIELD_OUT_IP_TTL: u16 = 0x0a;
/// UDP source port.
pub const MLX5_ACTION_IN_FIELD_OUT_UDP_SPORT: u16 = 0x0b;
/// UDP destination port.
pub const MLX5_ACTION_IN_FIELD_OUT_UDP_DPORT: u16 = 0x0c;
/// IPv6 source address, first of four words.
pub const MLX5_ACTION_IN_FIELD_OUT_SIPV6_127_96: u16 = 0x0d;
/// IPv6 source address, second word.
pub const MLX5_ACTION_IN_FIELD_OUT_SIPV6_95_64: u16 = 0x0e;
/// IPv6 source address, third word.
pub const MLX5_ACTION_IN_FIELD_OUT_SIPV6_63_32: u16 = 0x0f;
/// IPv6 source address, fourth word.
pub const MLX5_ACTION_IN_FIELD_OUT_SIPV6_31_0: u16 = 0x10;
/// IPv6 destination address, first of four words.
pub const MLX5_ACTION_IN_FIELD_OUT_DIPV6_127_96: u16 = 0x11;
/// IPv6 destination address, second word.
pub const MLX5_ACTION_IN_FIELD_OUT_DIPV6_95_64: u16 = 0x12;
/// IPv6 destination address, third word.
pub const MLX5_ACTION_IN_FIELD_OUT_DIPV6_63_32: u16 = 0x13;
/// IPv6 destination address, fourth word.
pub const MLX5_ACTION_IN_FIELD_OUT_DIPV6_31_0: u16 = 0x14;
/// IPv4 source address.
pub const MLX5_ACTION_IN_FIELD_OUT_SIPV4: u16 = 0x15;
/// IPv4 destination address.
pub const MLX5_ACTION_IN_FIELD_OUT_DIPV4: u16 = 0x16;
/// VLAN id.
pub const MLX5_ACTION_IN_FIELD_OUT_FIRST_VID: u16 = 0x17;
/// Hop limit.
pub const MLX5_ACTION_IN_FIELD_OUT_IPV6_HOPLIMIT: u16 = 0x47;
/// Metadata register A.
pub const MLX5_ACTION_IN_FIELD_METADATA_REG_A: u16 = 0x49;
/// Metadata register B, which is in the completion.
pub const MLX5_ACTION_IN_FIELD_METADATA_REG_B: u16 = 0x50;
/// Metadata register C0.
pub const MLX5_ACTION_IN_FIELD_METADATA_REG_C_0: u16 = 0x51;
/// Metadata register C1.
pub const MLX5_ACTION_IN_FIELD_METADATA_REG_C_1: u16 = 0x52;
/// Metadata register C2.
pub const MLX5_ACTION_IN_FIELD_METADATA_REG_C_2: u16 = 0x53;
/// Metadata register C3.
pub const MLX5_ACTION_IN_FIELD_METADATA_REG_C_3: u16 = 0x54;
/// Metadata register C4.
pub const MLX5_ACTION_IN_FIELD_METADATA_REG_C_4: u16 = 0x55;
/// Metadata register C5.
pub const MLX5_ACTION_IN_FIELD_METADATA_REG_C_5: u16 = 0x56;
/// Metadata register C6.
pub const MLX5_ACTION_IN_FIELD_METADATA_REG_C_6: u16 = 0x57;
/// Metadata register C7.
pub const MLX5_ACTION_IN_FIELD_METADATA_REG_C_7: u16 = 0x58;
/// TCP sequence number.
pub const MLX5_ACTION_IN_FIELD_OUT_TCP_SEQ_NUM: u16 = 0x59;
/// TCP acknowledgement number.
pub const MLX5_ACTION_IN_FIELD_OUT_TCP_ACK_NUM: u16 = 0x5b;

prm_layouts! {
    pub(super) const LAYOUTS;

    /// Allocates flow counters.
    alloc_flow_counter_in: 16 {
        OPCODE: 0x0/16,
        OP_MOD: 0x30/16,
        /// Number of counters, as a power of two.
        FLOW_COUNTER_BULK_LOG_SIZE: 0x73/5,
        /// Number of counters: 128 times this, a power of two; 0 allocates one.
        FLOW_COUNTER_BULK: 0x78/8,
    }

    /// New flow counters.
    alloc_flow_counter_out: 16 {
        STATUS: 0x0/8,
        SYNDROME: 0x20/32,
        /// Id of the first; the others follow it.
        FLOW_COUNTER_ID: 0x40/32,
    }

    /// Frees flow counters.
    dealloc_flow_counter_in: 16 {
        OPCODE: 0x0/16,
        OP_MOD: 0x30/16,
        FLOW_COUNTER_ID: 0x40/32,
    }

    /// Reads flow counters.
    query_flow_counter_in: 32 {
        OPCODE: 0x0/16,
        OP_MOD: 0x30/16,
        /// Sets them to 0.
        CLEAR: 0xc0/1,
        /// How many, from `FLOW_COUNTER_ID` on; 0 is one.
        NUM_OF_COUNTERS: 0xd0/16,
        FLOW_COUNTER_ID: 0xe0/32,
    }

    /// Flow counters. Longer by one [`traffic_counter`](super::traffic_counter) each.
    query_flow_counter_out: 16 {
        STATUS: 0x0/8,
        SYNDROME: 0x20/32,
        /// First of the counters.
        FLOW_STATISTICS: 0x80/128,
    }

    /// What a flow counter counted.
    traffic_counter: 16 {
        PACKETS: 0x0/64,
        /// Bytes.
        OCTETS: 0x40/64,
    }

    /// Creates a packet reformat. Longer by the rest of its data.
    alloc_packet_reformat_context_in: 36 {
        OPCODE: 0x0/16,
        OP_MOD: 0x30/16,
        PACKET_REFORMAT_CONTEXT: 0xe0/64,
    }

    /// What a packet reformat does. Longer by the rest of its data, which begins at `REFORMAT_DATA`.
    packet_reformat_context_in: 8 {
        /// `MLX5_REFORMAT_TYPE_*`.
        REFORMAT_TYPE: 0x0/8,
        /// Where bytes are inserted or removed: after which header.
        REFORMAT_PARAM_0: 0xc/4,
        /// Bytes of data.
        REFORMAT_DATA_SIZE: 0x16/10,
        /// Where bytes are inserted or removed: offset behind it.
        REFORMAT_PARAM_1: 0x20/8,
        /// First byte of data.
        REFORMAT_DATA: 0x30/8,
    }

    /// A new packet reformat.
    alloc_packet_reformat_context_out: 16 {
        STATUS: 0x0/8,
        SYNDROME: 0x20/32,
        PACKET_REFORMAT_ID: 0x40/32,
    }

    /// Destroys a packet reformat.
    dealloc_packet_reformat_context_in: 16 {
        OPCODE: 0x0/16,
        OP_MOD: 0x30/16,
        PACKET_REFORMAT_ID: 0x40/32,
    }

    /// Creates a header modification. Longer by its actions, 8 bytes each.
    alloc_modify_header_context_in: 16 {
        OPCODE: 0x0/16,
        OP_MOD: 0x30/16,
        /// `FS_FT_*`.
        TABLE_TYPE: 0x60/8,
        NUM_OF_ACTIONS: 0x78/8,
        /// First of the actions.
        ACTIONS: 0x80/64,
    }

    /// A new header modification.
    alloc_modify_header_context_out: 16 {
        STATUS: 0x0/8,
        SYNDROME: 0x20/32,
        MODIFY_HEADER_ID: 0x40/32,
    }

    /// Destroys a header modification.
    dealloc_modify_header_context_in: 16 {
        OPCODE: 0x0/16,
        OP_MOD: 0x30/16,
        MODIFY_HEADER_ID: 0x40/32,
    }

    /// Writes a value into a field.
    set_action_in: 8 {
        /// `MLX5_ACTION_TYPE_SET`.
        ACTION_TYPE: 0x0/4,
        /// `MLX5_ACTION_IN_FIELD_*`.
        FIELD: 0x4/12,
        /// First bit of the field, from the least significant.
        OFFSET: 0x13/5,
        /// Number of bits; 0 is 32.
        LENGTH: 0x1b/5,
        DATA: 0x20/32,
    }

    /// Adds a value to a field.
    add_action_in: 8 {
        /// `MLX5_ACTION_TYPE_ADD`.
        ACTION_TYPE: 0x0/4,
        /// `MLX5_ACTION_IN_FIELD_*`.
        FIELD: 0x4/12,
        DATA: 0x20/32,
    }

    /// Copies one field to another.
    copy_action_in: 8 {
        /// `MLX5_ACTION_TYPE_COPY`.
        ACTION_TYPE: 0x0/4,
        /// `MLX5_ACTION_IN_FIELD_*`.
        SRC_FIELD: 0x4/12,
        SRC_OFFSET: 0x13/5,
        /// Number of bits; 0 is 32.
        LENGTH: 0x1b/5,
        /// `MLX5_ACTION_IN_FIELD_*`.
        DST_FIELD: 0x24/12,
        DST_OFFSET: 0x33/5,
    }
}
