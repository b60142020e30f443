//! Layouts of queue commands and contexts, which only the card needs.

uverbs_uapi::prm_layouts! {
    /// Creates a completion queue; the page list follows.
    create_cq_in: 272 {
        OPCODE: 0x0/16,
        UID: 0x10/16,
        OP_MOD: 0x30/16,
        CQ_CONTEXT: 0x80/512,
        CQ_UMEM_VALID: 0x2e0/1,
    }

    /// A new completion queue.
    create_cq_out: 16 {
        STATUS: 0x0/8,
        SYNDROME: 0x20/32,
        CQN: 0x48/24,
    }

    /// Destroys a completion queue.
    destroy_cq_in: 16 {
        OPCODE: 0x0/16,
        UID: 0x10/16,
        OP_MOD: 0x30/16,
        CQN: 0x48/24,
    }

    /// Changes a completion queue.
    modify_cq_in: 272 {
        OPCODE: 0x0/16,
        UID: 0x10/16,
        OP_MOD: 0x30/16,
        CQN: 0x48/24,
        CQ_CONTEXT: 0x80/512,
    }

    /// A completion queue as it stands.
    query_cq_out: 272 {
        STATUS: 0x0/8,
        SYNDROME: 0x20/32,
        CQ_CONTEXT: 0x80/512,
    }

    /// What a completion queue is.
    cqc: 64 {
        STATUS: 0x0/4,
        /// 0: 64 bytes, 1: 128 bytes.
        CQE_SZ: 0x8/3,
        /// Overrun ignored.
        OI: 0xe/1,
        /// In units of 64 bytes.
        PAGE_OFFSET: 0x54/6,
        LOG_CQ_SIZE: 0x63/5,
        UAR_PAGE: 0x68/24,
        CQ_PERIOD: 0x84/12,
        CQ_MAX_COUNT: 0x90/16,
        C_EQN_OR_APU_ELEMENT: 0xa0/32,
        /// Plus 12.
        LOG_PAGE_SIZE: 0xc3/5,
        CONSUMER_COUNTER: 0x148/24,
        PRODUCER_COUNTER: 0x168/24,
        DBR_ADDR: 0x1c0/64,
    }

    /// Creates a receive queue; the page list follows.
    create_rq_in: 272 {
        OPCODE: 0x0/16,
        UID: 0x10/16,
        OP_MOD: 0x30/16,
        CTX: 0x100/1920,
    }

    /// A new receive queue.
    create_rq_out: 16 {
        STATUS: 0x0/8,
        SYNDROME: 0x20/32,
        RQN: 0x48/24,
    }

    /// Changes a receive queue.
    modify_rq_in: 272 {
        OPCODE: 0x0/16,
        UID: 0x10/16,
        OP_MOD: 0x30/16,
        /// The state it is in.
        RQ_STATE: 0x40/4,
        RQN: 0x48/24,
        MODIFY_BITMASK: 0x80/64,
        CTX: 0x100/1920,
    }

    /// Destroys a receive queue.
    destroy_rq_in: 16 {
        OPCODE: 0x0/16,
        UID: 0x10/16,
        OP_MOD: 0x30/16,
        RQN: 0x48/24,
    }

    /// A receive queue as it stands.
    query_rq_out: 272 {
        STATUS: 0x0/8,
        SYNDROME: 0x20/32,
        RQ_CONTEXT: 0x100/1920,
    }

    /// What a receive queue is.
    rqc: 240 {
        /// VLAN tags stay in the packet.
        VSD: 0x3/1,
        /// 0: buffers of its own, 1: of a shared pool.
        MEM_RQ_TYPE: 0x4/4,
        /// 0 reset, 1 ready, 3 error.
        STATE: 0x8/4,
        HAIRPIN: 0xe/1,
        CQN: 0x48/24,
        RMPN: 0x88/24,
        WQ: 0x180/1536,
    }

    /// Creates a send queue; the page list follows.
    create_sq_in: 272 {
        OPCODE: 0x0/16,
        UID: 0x10/16,
        OP_MOD: 0x30/16,
        CTX: 0x100/1920,
    }

    /// A new send queue.
    create_sq_out: 16 {
        STATUS: 0x0/8,
        SYNDROME: 0x20/32,
        SQN: 0x48/24,
    }

    /// Changes a send queue.
    modify_sq_in: 272 {
        OPCODE: 0x0/16,
        UID: 0x10/16,
        OP_MOD: 0x30/16,
        /// The state it is in.
        SQ_STATE: 0x40/4,
        SQN: 0x48/24,
        MODIFY_BITMASK: 0x80/64,
        CTX: 0x100/1920,
    }

    /// Destroys a send queue.
    destroy_sq_in: 16 {
        OPCODE: 0x0/16,
        UID: 0x10/16,
        OP_MOD: 0x30/16,
        SQN: 0x48/24,
    }

    /// A send queue as it stands.
    query_sq_out: 272 {
        STATUS: 0x0/8,
        SYNDROME: 0x20/32,
        SQ_CONTEXT: 0x100/1920,
    }

    /// What a send queue is.
    sqc: 240 {
        /// 0 reset, 1 ready, 3 error.
        STATE: 0x8/4,
        HAIRPIN: 0xe/1,
        CQN: 0x48/24,
        TIS_LST_SZ: 0x100/16,
        TIS_NUM_0: 0x168/24,
        WQ: 0x180/1536,
    }

    /// Where the entries of a send or receive queue lie.
    wq: 192 {
        /// 0 linked list, 1 cyclic, 2 and 3 the same with strides.
        WQ_TYPE: 0x0/4,
        /// In units of 64 bytes.
        PAGE_OFFSET: 0x2b/5,
        PD: 0x48/24,
        DBR_ADDR: 0x80/64,
        LOG_WQ_STRIDE: 0x10c/4,
        /// Plus 12.
        LOG_WQ_PG_SZ: 0x113/5,
        LOG_WQ_SZ: 0x11b/5,
        DBR_UMEM_VALID: 0x120/1,
        WQ_UMEM_VALID: 0x121/1,
    }

    /// Creates an indirection table; its list follows.
    create_rqt_in: 272 {
        OPCODE: 0x0/16,
        UID: 0x10/16,
        OP_MOD: 0x30/16,
        RQT_CONTEXT: 0x100/1920,
    }

    /// A new indirection table.
    create_rqt_out: 16 {
        STATUS: 0x0/8,
        SYNDROME: 0x20/32,
        RQTN: 0x48/24,
    }

    /// Changes an indirection table.
    modify_rqt_in: 272 {
        OPCODE: 0x0/16,
        UID: 0x10/16,
        OP_MOD: 0x30/16,
        RQTN: 0x48/24,
        BITMASK: 0x80/64,
        CTX: 0x100/1920,
    }

    /// Destroys an indirection table.
    destroy_rqt_in: 16 {
        OPCODE: 0x0/16,
        UID: 0x10/16,
        OP_MOD: 0x30/16,
        RQTN: 0x48/24,
    }

    /// An indirection table as it stands.
    query_rqt_out: 272 {
        STATUS: 0x0/8,
        SYNDROME: 0x20/32,
        RQT_CONTEXT: 0x100/1920,
    }

    /// What an indirection table is; its list follows.
    rqtc: 240 {
        RQT_MAX_SIZE: 0xb0/16,
        RQT_ACTUAL_SIZE: 0xd0/16,
    }

    /// Changes a receive object.
    modify_tir_in: 272 {
        OPCODE: 0x0/16,
        UID: 0x10/16,
        OP_MOD: 0x30/16,
        TIRN: 0x48/24,
        BITMASK: 0x80/64,
        CTX: 0x100/1920,
    }

    /// Which parts of a receive object change.
    modify_tir_bitmask: 8 {
        SELF_LB_EN: 0x3b/1,
        HASH: 0x3d/1,
    }

    /// A receive object as it stands.
    query_tir_out: 272 {
        STATUS: 0x0/8,
        SYNDROME: 0x20/32,
        TIR_CONTEXT: 0x100/1920,
    }

    /// Creates a transmit object.
    create_tis_in: 192 {
        OPCODE: 0x0/16,
        UID: 0x10/16,
        OP_MOD: 0x30/16,
        CTX: 0x100/1280,
    }

    /// A new transmit object.
    create_tis_out: 16 {
        STATUS: 0x0/8,
        SYNDROME: 0x20/32,
        TISN: 0x48/24,
    }

    /// Changes a transmit object.
    modify_tis_in: 192 {
        OPCODE: 0x0/16,
        UID: 0x10/16,
        OP_MOD: 0x30/16,
        TISN: 0x48/24,
        BITMASK: 0x80/64,
        CTX: 0x100/1280,
    }

    /// Destroys a transmit object.
    destroy_tis_in: 16 {
        OPCODE: 0x0/16,
        UID: 0x10/16,
        OP_MOD: 0x30/16,
        TISN: 0x48/24,
    }

    /// A transmit object as it stands.
    query_tis_out: 176 {
        STATUS: 0x0/8,
        SYNDROME: 0x20/32,
        TIS_CONTEXT: 0x80/1280,
    }
}
