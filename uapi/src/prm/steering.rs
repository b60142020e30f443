//! Flow tables, flow groups, flow table entries.

use crate::prm_layouts;

// Types of flow table. Not the numbers of `mlx5_user_ioctl_verbs`. The kernel's names are private to the driver before
// Linux 6.15.

/// What a function receives.
pub const FS_FT_NIC_RX: u8 = 0x0;
/// What a function sends.
pub const FS_FT_NIC_TX: u8 = 0x1;
/// What a vport may receive from the switch.
pub const FS_FT_ESW_EGRESS_ACL: u8 = 0x2;
/// What a vport may send into the switch.
pub const FS_FT_ESW_INGRESS_ACL: u8 = 0x3;
/// The embedded switch.
pub const FS_FT_FDB: u8 = 0x4;
/// Copies of what is received.
pub const FS_FT_SNIFFER_RX: u8 = 0x5;
/// Copies of what is sent.
pub const FS_FT_SNIFFER_TX: u8 = 0x6;
/// RDMA traffic received.
pub const FS_FT_RDMA_RX: u8 = 0x7;
/// RDMA traffic sent.
pub const FS_FT_RDMA_TX: u8 = 0x8;
/// Choice of a port of a link aggregate.
pub const FS_FT_PORT_SEL: u8 = 0x9;
/// The receive half of the switch.
pub const FS_FT_FDB_RX: u8 = 0xa;
/// The transmit half of the switch.
pub const FS_FT_FDB_TX: u8 = 0xb;
/// RDMA transport received.
pub const FS_FT_RDMA_TRANSPORT_RX: u8 = 0xd;
/// RDMA transport sent.
pub const FS_FT_RDMA_TRANSPORT_TX: u8 = 0xe;

// What a table does with a packet that no entry takes: `flow_table_context::TABLE_MISS_ACTION`

/// What the type of the table does by default.
pub const MLX5_FLOW_TABLE_MISS_ACTION_DEF: u8 = 0;
/// On to the table `TABLE_MISS_ID`.
pub const MLX5_FLOW_TABLE_MISS_ACTION_FWD: u8 = 1;
/// On to the other domain: from RDMA to the network interface.
pub const MLX5_FLOW_TABLE_MISS_ACTION_SWITCH_DOMAIN: u8 = 2;

// What a packet may be sent to: `dest_format_struct::DESTINATION_TYPE`

/// A vport.
pub const MLX5_IFC_FLOW_DESTINATION_TYPE_VPORT: u8 = 0x0;
/// A flow table.
pub const MLX5_IFC_FLOW_DESTINATION_TYPE_FLOW_TABLE: u8 = 0x1;
/// A receive object.
pub const MLX5_IFC_FLOW_DESTINATION_TYPE_TIR: u8 = 0x2;
/// Another function's receive side (since Linux 6.17).
pub const MLX5_IFC_FLOW_DESTINATION_TYPE_VHCA_RX: u8 = 0x4;
/// A sampler.
pub const MLX5_IFC_FLOW_DESTINATION_TYPE_FLOW_SAMPLER: u8 = 0x6;
/// The wire.
pub const MLX5_IFC_FLOW_DESTINATION_TYPE_UPLINK: u8 = 0x8;
/// The root table of a type (since Linux 6.5).
pub const MLX5_IFC_FLOW_DESTINATION_TYPE_TABLE_TYPE: u8 = 0xa;

// What an entry does, bits of `flow_context::ACTION`

/// Lets the packet pass.
pub const MLX5_FLOW_CONTEXT_ACTION_ALLOW: u16 = 0x1;
/// Drops it.
pub const MLX5_FLOW_CONTEXT_ACTION_DROP: u16 = 0x2;
/// Sends it to the destinations listed.
pub const MLX5_FLOW_CONTEXT_ACTION_FWD_DEST: u16 = 0x4;
/// Counts it in the counters listed.
pub const MLX5_FLOW_CONTEXT_ACTION_COUNT: u16 = 0x8;
/// Adds or removes headers, as `PACKET_REFORMAT_ID` says.
pub const MLX5_FLOW_CONTEXT_ACTION_PACKET_REFORMAT: u16 = 0x10;
/// Removes a tunnel header.
pub const MLX5_FLOW_CONTEXT_ACTION_DECAP: u16 = 0x20;
/// Changes header fields, as `MODIFY_HEADER_ID` says.
pub const MLX5_FLOW_CONTEXT_ACTION_MOD_HDR: u16 = 0x40;
/// Removes a VLAN tag.
pub const MLX5_FLOW_CONTEXT_ACTION_VLAN_POP: u16 = 0x80;
/// Adds the VLAN tag `PUSH_VLAN`.
pub const MLX5_FLOW_CONTEXT_ACTION_VLAN_PUSH: u16 = 0x100;
/// Removes a second VLAN tag.
pub const MLX5_FLOW_CONTEXT_ACTION_VLAN_POP_2: u16 = 0x400;
/// Adds the VLAN tag `PUSH_VLAN_2`.
pub const MLX5_FLOW_CONTEXT_ACTION_VLAN_PUSH_2: u16 = 0x800;
/// Decrypts.
pub const MLX5_FLOW_CONTEXT_ACTION_CRYPTO_DECRYPT: u16 = 0x1000;
/// Encrypts.
pub const MLX5_FLOW_CONTEXT_ACTION_CRYPTO_ENCRYPT: u16 = 0x2000;
/// Runs an operation such as a meter.
pub const MLX5_FLOW_CONTEXT_ACTION_EXECUTE_ASO: u16 = 0x4000;

// Where a packet in the switch comes from: `flow_context::FLOW_SOURCE`

/// Anywhere.
pub const MLX5_FLOW_CONTEXT_FLOW_SOURCE_ANY_VPORT: u8 = 0;
/// The wire.
pub const MLX5_FLOW_CONTEXT_FLOW_SOURCE_UPLINK: u8 = 1;
/// A vport.
pub const MLX5_FLOW_CONTEXT_FLOW_SOURCE_LOCAL_VPORT: u8 = 2;

// Positions of bits in `set_fte_in::MODIFY_ENABLE_MASK`

/// Replaces the action.
pub const MLX5_SET_FTE_MODIFY_ENABLE_MASK_ACTION: u8 = 0;
/// Replaces the tag.
pub const MLX5_SET_FTE_MODIFY_ENABLE_MASK_FLOW_TAG: u8 = 1;
/// Replaces the destinations.
pub const MLX5_SET_FTE_MODIFY_ENABLE_MASK_DESTINATION_LIST: u8 = 2;
/// Replaces the counters.
pub const MLX5_SET_FTE_MODIFY_ENABLE_MASK_FLOW_COUNTERS: u8 = 3;

// Positions of bits in `create_flow_group_in::MATCH_CRITERIA_ENABLE`

/// `fte_match_param::OUTER_HEADERS` counts.
pub const MLX5_CREATE_FLOW_GROUP_IN_MATCH_CRITERIA_ENABLE_OUTER_HEADERS: u8 = 0;
/// `fte_match_param::MISC_PARAMETERS` counts.
pub const MLX5_CREATE_FLOW_GROUP_IN_MATCH_CRITERIA_ENABLE_MISC_PARAMETERS: u8 = 1;
/// `fte_match_param::INNER_HEADERS` counts.
pub const MLX5_CREATE_FLOW_GROUP_IN_MATCH_CRITERIA_ENABLE_INNER_HEADERS: u8 = 2;
/// `fte_match_param::MISC_PARAMETERS_2` counts.
pub const MLX5_CREATE_FLOW_GROUP_IN_MATCH_CRITERIA_ENABLE_MISC_PARAMETERS_2: u8 = 3;
/// `fte_match_param::MISC_PARAMETERS_3` counts.
pub const MLX5_QUERY_FLOW_GROUP_IN_MATCH_CRITERIA_ENABLE_MISC_PARAMETERS_3: u8 = 4;
/// `fte_match_param::MISC_PARAMETERS_4` counts.
pub const MLX5_QUERY_FLOW_GROUP_IN_MATCH_CRITERIA_ENABLE_MISC_PARAMETERS_4: u8 = 5;
/// `fte_match_param::MISC_PARAMETERS_5` counts.
pub const MLX5_QUERY_FLOW_GROUP_IN_MATCH_CRITERIA_ENABLE_MISC_PARAMETERS_5: u8 = 6;
/// `fte_match_param::MISC_PARAMETERS_6` counts (since Linux 6.18).
pub const MLX5_QUERY_FLOW_GROUP_IN_MATCH_CRITERIA_ENABLE_MISC_PARAMETERS_6: u8 = 7;

// What `modify_flow_table_in::MODIFY_FIELD_SELECT` replaces

/// The miss action and its table.
pub const MLX5_MODIFY_FLOW_TABLE_MISS_TABLE_ID: u16 = 0x1;
/// The next table of a link aggregate's master.
pub const MLX5_MODIFY_FLOW_TABLE_LAG_NEXT_TABLE_ID: u16 = 0x8000;

prm_layouts! {
    pub(super) const LAYOUTS;

    /// What a flow table is.
    flow_table_context: 40 {
        /// Entries may add headers.
        REFORMAT_EN: 0x0/1,
        /// Entries may remove headers.
        DECAP_EN: 0x1/1,
        /// The user writes entries itself, into the card's memory.
        SW_OWNER: 0x2/1,
        /// The way of a packet ends here.
        TERMINATION_TABLE: 0x3/1,
        /// `MLX5_FLOW_TABLE_MISS_ACTION_*`.
        TABLE_MISS_ACTION: 0x4/4,
        /// A packet goes from table to table only to a higher level, unless the entry ignores levels.
        LEVEL: 0x8/8,
        RTC_VALID: 0x10/1,
        /// Number of entries, as a power of two.
        LOG_SIZE: 0x18/8,
        TABLE_MISS_ID: 0x28/24,
        LAG_MASTER_NEXT_TABLE_ID: 0x48/24,
        /// The rule table context; of the switch, its receive side.
        RTC_ID_0: 0xc0/32,
        /// Where the transmit side of the switch's table begins in the card's memory.
        SW_OWNER_ICM_ROOT_1: 0xc0/64,
        /// The rule table context of the switch's transmit side.
        RTC_ID_1: 0xe0/32,
        /// Where the table begins in the card's memory; of the switch, its receive side.
        SW_OWNER_ICM_ROOT_0: 0x100/64,
    }

    /// Creates a flow table.
    create_flow_table_in: 64 {
        OPCODE: 0x0/16,
        UID: 0x10/16,
        /// 0.
        OP_MOD: 0x30/16,
        OTHER_VPORT: 0x40/1,
        OTHER_ESWITCH: 0x41/1,
        VPORT_NUMBER: 0x50/16,
        /// `FS_FT_*`.
        TABLE_TYPE: 0x80/8,
        ESWITCH_OWNER_VHCA_ID: 0x90/16,
        FLOW_TABLE_CONTEXT: 0xc0/320,
    }

    /// A new flow table.
    create_flow_table_out: 16 {
        STATUS: 0x0/8,
        ICM_ADDRESS_63_40: 0x8/24,
        SYNDROME: 0x20/32,
        ICM_ADDRESS_39_32: 0x40/8,
        /// Its id, which destinations name it by.
        TABLE_ID: 0x48/24,
        ICM_ADDRESS_31_0: 0x60/32,
    }

    /// Destroys a flow table without groups.
    destroy_flow_table_in: 64 {
        OPCODE: 0x0/16,
        OP_MOD: 0x30/16,
        OTHER_VPORT: 0x40/1,
        OTHER_ESWITCH: 0x41/1,
        VPORT_NUMBER: 0x50/16,
        TABLE_TYPE: 0x80/8,
        ESWITCH_OWNER_VHCA_ID: 0x90/16,
        TABLE_ID: 0xa8/24,
    }

    /// Reads a flow table.
    query_flow_table_in: 64 {
        OPCODE: 0x0/16,
        OP_MOD: 0x30/16,
        TABLE_TYPE: 0x80/8,
        TABLE_ID: 0xa8/24,
    }

    /// A flow table.
    query_flow_table_out: 64 {
        STATUS: 0x0/8,
        SYNDROME: 0x20/32,
        FLOW_TABLE_CONTEXT: 0xc0/320,
    }

    /// Changes a flow table.
    modify_flow_table_in: 64 {
        OPCODE: 0x0/16,
        OP_MOD: 0x30/16,
        OTHER_VPORT: 0x40/1,
        OTHER_ESWITCH: 0x41/1,
        VPORT_NUMBER: 0x50/16,
        /// `MLX5_MODIFY_FLOW_TABLE_*`.
        MODIFY_FIELD_SELECT: 0x70/16,
        TABLE_TYPE: 0x80/8,
        ESWITCH_OWNER_VHCA_ID: 0x90/16,
        TABLE_ID: 0xa8/24,
        FLOW_TABLE_CONTEXT: 0xc0/320,
    }

    /// Makes a flow table the first of its type. Users cannot send it.
    set_flow_table_root_in: 64 {
        OPCODE: 0x0/16,
        /// 0 sets the root, 1 goes back to the default.
        OP_MOD: 0x30/16,
        OTHER_VPORT: 0x40/1,
        OTHER_ESWITCH: 0x41/1,
        VPORT_NUMBER: 0x50/16,
        ESWITCH_OWNER_VHCA_ID: 0x70/16,
        TABLE_TYPE: 0x80/8,
        TABLE_OF_OTHER_VPORT: 0x8f/1,
        TABLE_VPORT_NUMBER: 0x90/16,
        TABLE_ID: 0xa8/24,
        /// The queue pair of an IPoIB interface; 0 on Ethernet.
        UNDERLAY_QPN: 0xc8/24,
        TABLE_ESWITCH_OWNER_VHCA_ID_VALID: 0xe0/1,
        TABLE_ESWITCH_OWNER_VHCA_ID: 0xf0/16,
    }

    /// Creates a flow group: a range of entries that match the same fields.
    create_flow_group_in: 1024 {
        OPCODE: 0x0/16,
        OP_MOD: 0x30/16,
        OTHER_VPORT: 0x40/1,
        OTHER_ESWITCH: 0x41/1,
        VPORT_NUMBER: 0x50/16,
        TABLE_TYPE: 0x80/8,
        /// 0; 1 is a hash split group.
        GROUP_TYPE: 0x8c/4,
        ESWITCH_OWNER_VHCA_ID: 0x90/16,
        TABLE_ID: 0xa8/24,
        SOURCE_ESWITCH_OWNER_VHCA_ID_VALID: 0xc0/1,
        /// First index of the range.
        START_FLOW_INDEX: 0xe0/32,
        /// Last index of the range, included.
        END_FLOW_INDEX: 0x120/32,
        MATCH_DEFINER_ID: 0x150/16,
        /// Which parts of `MATCH_CRITERIA` count, bit set of `MLX5_CREATE_FLOW_GROUP_IN_MATCH_CRITERIA_ENABLE_*`.
        MATCH_CRITERIA_ENABLE: 0x1f8/8,
        /// The mask: [`fte_match_param`](crate::prm::fte_match_param).
        MATCH_CRITERIA: 0x200/4096,
    }

    /// A new flow group.
    create_flow_group_out: 16 {
        STATUS: 0x0/8,
        SYNDROME: 0x20/32,
        GROUP_ID: 0x48/24,
    }

    /// Destroys a flow group without entries.
    destroy_flow_group_in: 64 {
        OPCODE: 0x0/16,
        OP_MOD: 0x30/16,
        OTHER_VPORT: 0x40/1,
        OTHER_ESWITCH: 0x41/1,
        VPORT_NUMBER: 0x50/16,
        TABLE_TYPE: 0x80/8,
        ESWITCH_OWNER_VHCA_ID: 0x90/16,
        TABLE_ID: 0xa8/24,
        GROUP_ID: 0xc0/32,
    }

    /// Reads a flow group.
    query_flow_group_in: 64 {
        OPCODE: 0x0/16,
        OP_MOD: 0x30/16,
        TABLE_TYPE: 0x80/8,
        TABLE_ID: 0xa8/24,
        GROUP_ID: 0xc0/32,
    }

    /// A flow group.
    query_flow_group_out: 1024 {
        STATUS: 0x0/8,
        SYNDROME: 0x20/32,
        START_FLOW_INDEX: 0xe0/32,
        END_FLOW_INDEX: 0x120/32,
        MATCH_CRITERIA_ENABLE: 0x1f8/8,
        MATCH_CRITERIA: 0x200/4096,
    }

    /// What a flow table entry matches and does.
    ///
    /// A list follows it: first the destinations, 8 bytes each ([`dest_format_struct`](super::dest_format_struct)) or, if
    /// extended, 16 ([`extended_dest_format`](super::extended_dest_format)), then the counters, 8 bytes each
    /// ([`flow_counter_list`](super::flow_counter_list)).
    flow_context: 768 {
        PUSH_VLAN: 0x0/32,
        GROUP_ID: 0x20/32,
        /// Mark of the packet, in its completion.
        FLOW_TAG: 0x48/24,
        /// `MLX5_FLOW_CONTEXT_ACTION_*`.
        ACTION: 0x70/16,
        /// Destinations are 16 bytes each.
        EXTENDED_DESTINATION: 0x80/1,
        UPLINK_HAIRPIN_EN: 0x81/1,
        /// `MLX5_FLOW_CONTEXT_FLOW_SOURCE_*`.
        FLOW_SOURCE: 0x82/2,
        ENCRYPT_DECRYPT_TYPE: 0x84/4,
        /// Number of destinations in the list.
        DESTINATION_LIST_SIZE: 0x88/24,
        /// Number of counters in the list.
        FLOW_COUNTER_LIST_SIZE: 0xa8/24,
        PACKET_REFORMAT_ID: 0xc0/32,
        MODIFY_HEADER_ID: 0xe0/32,
        PUSH_VLAN_2: 0x100/32,
        ENCRYPT_DECRYPT_OBJ_ID: 0x120/32,
        /// The value: [`fte_match_param`](crate::prm::fte_match_param).
        MATCH_VALUE: 0x200/4096,
        EXECUTE_ASO: 0x1200/64,
    }

    /// A VLAN tag to add.
    vlan: 4 {
        ETHTYPE: 0x0/16,
        /// Priority.
        PRIO: 0x10/3,
        /// Drop eligible.
        CFI: 0x13/1,
        /// VLAN id.
        VID: 0x14/12,
    }

    /// A destination.
    dest_format_struct: 8 {
        /// `MLX5_IFC_FLOW_DESTINATION_TYPE_*`.
        DESTINATION_TYPE: 0x0/8,
        /// Id of a table, number of a TIR or vport.
        DESTINATION_ID: 0x8/24,
        DESTINATION_ESWITCH_OWNER_VHCA_ID_VALID: 0x20/1,
        /// A header is added for this destination; needs the extended form.
        PACKET_REFORMAT: 0x21/1,
        DESTINATION_TABLE_TYPE: 0x28/8,
        DESTINATION_ESWITCH_OWNER_VHCA_ID: 0x30/16,
    }

    /// A destination, extended.
    extended_dest_format: 16 {
        DESTINATION_ENTRY: 0x0/64,
        PACKET_REFORMAT_ID: 0x40/32,
    }

    /// A counter of an entry.
    flow_counter_list: 8 {
        FLOW_COUNTER_ID: 0x0/32,
    }

    /// Writes a flow table entry. Longer by the list of destinations and counters.
    set_fte_in: 832 {
        OPCODE: 0x0/16,
        /// 0 creates, 1 changes what `MODIFY_ENABLE_MASK` says.
        OP_MOD: 0x30/16,
        OTHER_VPORT: 0x40/1,
        OTHER_ESWITCH: 0x41/1,
        VPORT_NUMBER: 0x50/16,
        TABLE_TYPE: 0x80/8,
        ESWITCH_OWNER_VHCA_ID: 0x90/16,
        TABLE_ID: 0xa8/24,
        /// A destination may be at any level.
        IGNORE_FLOW_LEVEL: 0xc0/1,
        /// Bit set of `MLX5_SET_FTE_MODIFY_ENABLE_MASK_*`.
        MODIFY_ENABLE_MASK: 0xd8/8,
        /// Which entry; its group is in the context.
        FLOW_INDEX: 0x100/32,
        FLOW_CONTEXT: 0x200/6144,
    }

    /// The answer to [`set_fte_in`](super::set_fte_in).
    set_fte_out: 16 {
        STATUS: 0x0/8,
        SYNDROME: 0x20/32,
    }

    /// Reads a flow table entry.
    query_fte_in: 64 {
        OPCODE: 0x0/16,
        OP_MOD: 0x30/16,
        TABLE_TYPE: 0x80/8,
        TABLE_ID: 0xa8/24,
        FLOW_INDEX: 0x100/32,
    }

    /// A flow table entry. Longer by the list of destinations and counters.
    query_fte_out: 832 {
        STATUS: 0x0/8,
        SYNDROME: 0x20/32,
        FLOW_CONTEXT: 0x200/6144,
    }

    /// Removes a flow table entry.
    delete_fte_in: 64 {
        OPCODE: 0x0/16,
        OP_MOD: 0x30/16,
        OTHER_VPORT: 0x40/1,
        OTHER_ESWITCH: 0x41/1,
        VPORT_NUMBER: 0x50/16,
        TABLE_TYPE: 0x80/8,
        ESWITCH_OWNER_VHCA_ID: 0x90/16,
        TABLE_ID: 0xa8/24,
        FLOW_INDEX: 0x100/32,
    }
}
