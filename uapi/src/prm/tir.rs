//! Transport interface receive objects: where steering hands packets to receive queues.

use crate::prm_layouts;

/// `tirc::DISP_TYPE`: to the queue `INLINE_RQN`.
pub const MLX5_TIRC_DISP_TYPE_DIRECT: u8 = 0;
/// `tirc::DISP_TYPE`: to a queue of `INDIRECT_TABLE`, by hash.
pub const MLX5_TIRC_DISP_TYPE_INDIRECT: u8 = 1;
/// `tirc::RX_HASH_FN`: none.
pub const MLX5_RX_HASH_FN_NONE: u8 = 0;
/// `tirc::RX_HASH_FN`: exclusive or.
pub const MLX5_RX_HASH_FN_INVERTED_XOR8: u8 = 1;
/// `tirc::RX_HASH_FN`: Toeplitz.
pub const MLX5_RX_HASH_FN_TOEPLITZ: u8 = 2;
/// `tirc::SELF_LB_BLOCK`: not what the same interface sent to one.
pub const MLX5_TIRC_SELF_LB_BLOCK_BLOCK_UNICAST: u8 = 1;
/// `tirc::SELF_LB_BLOCK`: not what the same interface sent to many.
pub const MLX5_TIRC_SELF_LB_BLOCK_BLOCK_MULTICAST: u8 = 2;

prm_layouts! {
    pub(super) const LAYOUTS;

    /// Creates a receive object.
    create_tir_in: 272 {
        OPCODE: 0x0/16,
        UID: 0x10/16,
        OP_MOD: 0x30/16,
        CTX: 0x100/1920,
    }

    /// A new receive object.
    create_tir_out: 16 {
        STATUS: 0x0/8,
        ICM_ADDRESS_63_40: 0x8/24,
        SYNDROME: 0x20/32,
        ICM_ADDRESS_39_32: 0x40/8,
        /// Its number, which destinations name it by.
        TIRN: 0x48/24,
        ICM_ADDRESS_31_0: 0x60/32,
    }

    /// Destroys a receive object.
    destroy_tir_in: 16 {
        OPCODE: 0x0/16,
        UID: 0x10/16,
        OP_MOD: 0x30/16,
        TIRN: 0x48/24,
    }

    /// What a receive object is.
    tirc: 240 {
        /// `MLX5_TIRC_DISP_TYPE_*`.
        DISP_TYPE: 0x20/4,
        TLS_EN: 0x24/1,
        LRO_TIMEOUT_PERIOD_USECS: 0x84/16,
        PACKET_MERGE_MASK: 0x94/4,
        LRO_MAX_IP_PAYLOAD_SIZE: 0x98/8,
        /// Number of a receive queue.
        INLINE_RQN: 0xe8/24,
        RX_HASH_SYMMETRIC: 0x100/1,
        TUNNELED_OFFLOAD_EN: 0x102/1,
        INDIRECT_TABLE: 0x108/24,
        /// `MLX5_RX_HASH_FN_*`.
        RX_HASH_FN: 0x120/4,
        /// `MLX5_TIRC_SELF_LB_BLOCK_*`.
        SELF_LB_BLOCK: 0x126/2,
        TRANSPORT_DOMAIN: 0x128/24,
        /// First of the key's ten words.
        RX_HASH_TOEPLITZ_KEY: 0x140/32,
        RX_HASH_FIELD_SELECTOR_OUTER: 0x280/32,
        RX_HASH_FIELD_SELECTOR_INNER: 0x2a0/32,
    }

    /// What the hash is taken over.
    rx_hash_field_select: 4 {
        /// 0 IPv4, 1 IPv6.
        L3_PROT_TYPE: 0x0/1,
        /// 0 TCP, 1 UDP.
        L4_PROT_TYPE: 0x1/1,
        /// Bit set: source address, destination address, source port, destination port, SPI.
        SELECTED_FIELDS: 0x2/30,
    }
}
