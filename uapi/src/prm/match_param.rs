//! What packets are compared by: the mask of a flow group or matcher, the value of an entry or flow.

use crate::prm_layouts;

prm_layouts! {
    pub(super) const LAYOUTS;

    /// All that may be compared, in parts of 64 bytes. The kernel has room for 512 bytes of it, nothing more.
    fte_match_param: 512 {
        /// [`fte_match_set_lyr_2_4`](super::fte_match_set_lyr_2_4) of the outermost headers.
        OUTER_HEADERS: 0x0/512,
        /// [`fte_match_set_misc`](super::fte_match_set_misc).
        MISC_PARAMETERS: 0x200/512,
        /// [`fte_match_set_lyr_2_4`](super::fte_match_set_lyr_2_4) of the headers inside a tunnel.
        INNER_HEADERS: 0x400/512,
        /// [`fte_match_set_misc2`](super::fte_match_set_misc2).
        MISC_PARAMETERS_2: 0x600/512,
        /// [`fte_match_set_misc3`](super::fte_match_set_misc3).
        MISC_PARAMETERS_3: 0x800/512,
        /// [`fte_match_set_misc4`](super::fte_match_set_misc4).
        MISC_PARAMETERS_4: 0xa00/512,
        /// [`fte_match_set_misc5`](super::fte_match_set_misc5).
        MISC_PARAMETERS_5: 0xc00/512,
        /// [`fte_match_set_misc6`](super::fte_match_set_misc6).
        MISC_PARAMETERS_6: 0xe00/512,
    }

    /// Ethernet, IP, TCP and UDP headers.
    fte_match_set_lyr_2_4: 64 {
        SMAC_47_16: 0x0/32,
        SMAC_15_0: 0x20/16,
        ETHERTYPE: 0x30/16,
        DMAC_47_16: 0x40/32,
        DMAC_15_0: 0x60/16,
        /// Priority of the first VLAN tag.
        FIRST_PRIO: 0x70/3,
        /// Drop eligible bit of the first VLAN tag.
        FIRST_CFI: 0x73/1,
        /// Id of the first VLAN tag.
        FIRST_VID: 0x74/12,
        IP_PROTOCOL: 0x80/8,
        IP_DSCP: 0x88/6,
        IP_ECN: 0x8e/2,
        /// Has a customer VLAN tag.
        CVLAN_TAG: 0x90/1,
        /// Has a service VLAN tag.
        SVLAN_TAG: 0x91/1,
        /// Is a fragment.
        FRAG: 0x92/1,
        /// 4 or 6.
        IP_VERSION: 0x93/4,
        /// From the least significant bit: FIN, SYN, RST, PSH, ACK, URG, ECE, CWR, NS.
        TCP_FLAGS: 0x97/9,
        TCP_SPORT: 0xa0/16,
        TCP_DPORT: 0xb0/16,
        L4_TYPE: 0xc0/2,
        L4_TYPE_EXT: 0xc2/4,
        IPV4_IHL: 0xd0/4,
        /// Time to live, or hop limit.
        TTL_HOPLIMIT: 0xd8/8,
        UDP_SPORT: 0xe0/16,
        UDP_DPORT: 0xf0/16,
        /// IPv6 source address.
        SRC_IPV4_SRC_IPV6: 0x100/128,
        /// IPv4 source address: the last word of the IPv6 one.
        SRC_IPV4: 0x160/32,
        /// IPv6 destination address.
        DST_IPV4_DST_IPV6: 0x180/128,
        /// IPv4 destination address: the last word of the IPv6 one.
        DST_IPV4: 0x1e0/32,
    }

    /// Where a packet comes from, second VLAN tag, tunnels, RDMA transport.
    fte_match_set_misc: 64 {
        GRE_C_PRESENT: 0x0/1,
        GRE_K_PRESENT: 0x2/1,
        GRE_S_PRESENT: 0x3/1,
        SOURCE_VHCA_PORT: 0x4/4,
        /// Number of the send queue it comes from.
        SOURCE_SQN: 0x8/24,
        SOURCE_ESWITCH_OWNER_VHCA_ID: 0x20/16,
        /// The vport it comes from.
        SOURCE_PORT: 0x30/16,
        OUTER_SECOND_PRIO: 0x40/3,
        OUTER_SECOND_CFI: 0x43/1,
        OUTER_SECOND_VID: 0x44/12,
        INNER_SECOND_PRIO: 0x50/3,
        INNER_SECOND_CFI: 0x53/1,
        INNER_SECOND_VID: 0x54/12,
        OUTER_SECOND_CVLAN_TAG: 0x60/1,
        INNER_SECOND_CVLAN_TAG: 0x61/1,
        OUTER_SECOND_SVLAN_TAG: 0x62/1,
        INNER_SECOND_SVLAN_TAG: 0x63/1,
        GRE_PROTOCOL: 0x70/16,
        GRE_KEY: 0x80/32,
        VXLAN_VNI: 0xa0/24,
        /// Opcode of the RDMA base transport header.
        BTH_OPCODE: 0xb8/8,
        GENEVE_VNI: 0xc0/24,
        GENEVE_TLV_OPTION_0_EXIST: 0xde/1,
        GENEVE_OAM: 0xdf/1,
        OUTER_IPV6_FLOW_LABEL: 0xec/20,
        INNER_IPV6_FLOW_LABEL: 0x10c/20,
        GENEVE_OPT_LEN: 0x12a/6,
        GENEVE_PROTOCOL_TYPE: 0x130/16,
        /// Queue pair that the RDMA base transport header names.
        BTH_DST_QP: 0x148/24,
        INNER_ESP_SPI: 0x160/32,
        OUTER_ESP_SPI: 0x180/32,
    }

    /// MPLS labels and metadata registers.
    fte_match_set_misc2: 64 {
        OUTER_FIRST_MPLS: 0x0/32,
        INNER_FIRST_MPLS: 0x20/32,
        OUTER_FIRST_MPLS_OVER_GRE: 0x40/32,
        OUTER_FIRST_MPLS_OVER_UDP: 0x60/32,
        METADATA_REG_C_7: 0x80/32,
        METADATA_REG_C_6: 0xa0/32,
        METADATA_REG_C_5: 0xc0/32,
        METADATA_REG_C_4: 0xe0/32,
        METADATA_REG_C_3: 0x100/32,
        METADATA_REG_C_2: 0x120/32,
        METADATA_REG_C_1: 0x140/32,
        METADATA_REG_C_0: 0x160/32,
        /// Register A; on the transmit side the sender sets it.
        METADATA_REG_A: 0x180/32,
        PSP_SYNDROME: 0x1a0/8,
        MACSEC_SYNDROME: 0x1a8/8,
        IPSEC_SYNDROME: 0x1b0/8,
        IPSEC_NEXT_HEADER: 0x1b8/8,
    }

    /// TCP numbers, VXLAN-GPE, ICMP, GENEVE option, GTP-U.
    fte_match_set_misc3: 64 {
        INNER_TCP_SEQ_NUM: 0x0/32,
        OUTER_TCP_SEQ_NUM: 0x20/32,
        INNER_TCP_ACK_NUM: 0x40/32,
        OUTER_TCP_ACK_NUM: 0x60/32,
        OUTER_VXLAN_GPE_VNI: 0x88/24,
        OUTER_VXLAN_GPE_NEXT_PROTOCOL: 0xa0/8,
        OUTER_VXLAN_GPE_FLAGS: 0xa8/8,
        ICMP_HEADER_DATA: 0xc0/32,
        ICMPV6_HEADER_DATA: 0xe0/32,
        ICMP_TYPE: 0x100/8,
        ICMP_CODE: 0x108/8,
        ICMPV6_TYPE: 0x110/8,
        ICMPV6_CODE: 0x118/8,
        GENEVE_TLV_OPTION_0_DATA: 0x120/32,
        GTPU_TEID: 0x140/32,
        GTPU_MSG_TYPE: 0x160/8,
        GTPU_MSG_FLAGS: 0x168/8,
        GTPU_DW_2: 0x180/32,
        GTPU_FIRST_EXT_DW_0: 0x1a0/32,
        GTPU_DW_0: 0x1c0/32,
    }

    /// What a programmable parser finds.
    fte_match_set_misc4: 64 {
        PROG_SAMPLE_FIELD_VALUE_0: 0x0/32,
        PROG_SAMPLE_FIELD_ID_0: 0x20/32,
        PROG_SAMPLE_FIELD_VALUE_1: 0x40/32,
        PROG_SAMPLE_FIELD_ID_1: 0x60/32,
        PROG_SAMPLE_FIELD_VALUE_2: 0x80/32,
        PROG_SAMPLE_FIELD_ID_2: 0xa0/32,
        PROG_SAMPLE_FIELD_VALUE_3: 0xc0/32,
        PROG_SAMPLE_FIELD_ID_3: 0xe0/32,
    }

    /// MACsec tag, the words of a tunnel header.
    fte_match_set_misc5: 64 {
        MACSEC_TAG_0: 0x0/32,
        MACSEC_TAG_1: 0x20/32,
        MACSEC_TAG_2: 0x40/32,
        MACSEC_TAG_3: 0x60/32,
        TUNNEL_HEADER_0: 0x80/32,
        TUNNEL_HEADER_1: 0xa0/32,
        TUNNEL_HEADER_2: 0xc0/32,
        TUNNEL_HEADER_3: 0xe0/32,
    }

    /// PSP.
    fte_match_set_misc6: 64 {
        PSP_VERSION: 0x1a/4,
    }

    /// An MPLS label.
    fte_match_mpls: 4 {
        MPLS_LABEL: 0x0/20,
        /// Traffic class.
        MPLS_EXP: 0x14/3,
        /// Bottom of the stack.
        MPLS_S_BOS: 0x17/1,
        MPLS_TTL: 0x18/8,
    }
}
