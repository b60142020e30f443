//! Layouts that only the card needs, in the kernel's names; those that users need too are in [`uverbs_uapi::prm`].

uverbs_uapi::prm_layouts! {
    /// The function: pages, interface, adapter.
    manage_pages_in: 16 {
        INPUT_NUM_ENTRIES: 0x60/32,
        PAS: 0x80/64,
    }
    manage_pages_out: 16 {
        OUTPUT_NUM_ENTRIES: 0x40/32,
        PAS: 0x80/64,
    }
    query_pages_out: 16 {
        NUM_PAGES: 0x60/32,
    }
    query_issi_out: 112 {
        CURRENT_ISSI: 0x50/16,
        SUPPORTED_ISSI_DW0: 0x360/32,
    }
    query_adapter_out: 272 {
        QUERY_ADAPTER_STRUCT: 0x80/2048,
    }
    query_adapter_param_block: 256 {
        IEEE_VENDOR_ID: 0xc8/24,
        VSD_VENDOR_ID: 0xf0/16,
        VSD_CONTD_PSID: 0x780/8,
    }
    query_special_contexts_out: 32 {
        DUMP_FILL_MKEY: 0x40/32,
        RESD_LKEY: 0x60/32,
    }
    set_hca_cap_in: 4112 {
        CAPABILITY: 0x80/32768,
    }
    /// Event queues.
    create_eq_in: 272 {
        EVENT_BITMASK: 0x2c0/64,
        EQ_CONTEXT_ENTRY: 0x80/512,
        PAS: 0x880/64,
    }
    create_eq_out: 16 {
        EQ_NUMBER: 0x58/8,
    }
    destroy_eq_in: 16 {
        EQ_NUMBER: 0x58/8,
    }
    eqc: 64 {
        LOG_EQ_SIZE: 0x63/5,
        UAR_PAGE: 0x68/24,
        INTR: 0xb4/12,
        LOG_PAGE_SIZE: 0xc3/5,
    }
    /// Vports and registers.
    query_vport_state_out: 16 {
        ADMIN_STATE: 0x78/4,
        STATE: 0x7c/4,
    }
    query_nic_vport_context_out: 272 {
        NIC_VPORT_CONTEXT: 0x80/2048,
    }
    modify_nic_vport_context_in: 512 {
        FIELD_SELECT: 0x60/32,
        NIC_VPORT_CONTEXT: 0x800/2048,
    }
    nic_vport_context: 256 {
        MIN_WQE_INLINE_MODE: 0x5/3,
        DISABLE_MC_LOCAL_LB: 0x1d/1,
        DISABLE_UC_LOCAL_LB: 0x1e/1,
        ROCE_EN: 0x1f/1,
        MTU: 0x130/16,
        SYSTEM_IMAGE_GUID: 0x140/64,
        PORT_GUID: 0x180/64,
        NODE_GUID: 0x1c0/64,
        PROMISC_UC: 0x780/1,
        PROMISC_MC: 0x781/1,
        PROMISC_ALL: 0x782/1,
        ALLOWED_LIST_TYPE: 0x785/3,
        PERMANENT_ADDRESS: 0x7a0/64,
    }
    access_register_in: 16 {
        REGISTER_ID: 0x50/16,
        ARGUMENT: 0x60/32,
        REGISTER_DATA: 0x80/32,
    }
    access_register_out: 16 {
        REGISTER_DATA: 0x80/32,
    }
    ptys_reg: 64 {
        LOCAL_PORT: 0x8/8,
        PROTO_MASK: 0x1d/3,
        ETH_PROTO_CAPABILITY: 0x60/32,
        ETH_PROTO_ADMIN: 0xc0/32,
        ETH_PROTO_OPER: 0x120/32,
        EXT_ETH_PROTO_CAPABILITY: 0x40/32,
        EXT_ETH_PROTO_ADMIN: 0xa0/32,
        EXT_ETH_PROTO_OPER: 0x100/32,
    }
    pmtu_reg: 16 {
        LOCAL_PORT: 0x8/8,
        MAX_MTU: 0x20/16,
        ADMIN_MTU: 0x40/16,
        OPER_MTU: 0x60/16,
    }
    paos_reg: 16 {
        LOCAL_PORT: 0x8/8,
        ADMIN_STATUS: 0x14/4,
        OPER_STATUS: 0x1c/4,
    }
    query_hca_vport_context_out: 528 {
        HCA_VPORT_CONTEXT: 0x80/4096,
    }
    hca_vport_context: 512 {
        VPORT_STATE: 0x11c/4,
    }
    query_hca_vport_gid_out: 16 {
        GIDS_NUM: 0x60/16,
    }
    query_roce_address_out: 48 {
        ROCE_ADDRESS: 0x80/256,
    }
    set_roce_address_in: 48 {
        ROCE_ADDRESS_INDEX: 0x40/16,
        ROCE_ADDRESS: 0x80/256,
    }
    /// Objects that are little more than a number here.
    alloc_uar_out: 16 {
        UAR: 0x48/24,
    }
    dealloc_uar_in: 16 {
        UAR: 0x48/24,
    }
    alloc_q_counter_out: 16 {
        COUNTER_SET_ID: 0x58/8,
    }
    dealloc_q_counter_in: 16 {
        COUNTER_SET_ID: 0x58/8,
    }
    create_mkey_in: 272 {
        MEMORY_KEY_MKEY_ENTRY: 0x80/512,
    }
    mkc: 64 {
        PD: 0x68/24,
    }
    create_mkey_out: 16 {
        MKEY_INDEX: 0x48/24,
    }
    destroy_mkey_in: 16 {
        MKEY_INDEX: 0x48/24,
    }
    alloc_pd_out: 16 {
        PD: 0x48/24,
    }
    dealloc_pd_in: 16 {
        PD: 0x48/24,
    }
    alloc_transport_domain_out: 16 {
        TRANSPORT_DOMAIN: 0x48/24,
    }
    dealloc_transport_domain_in: 16 {
        TRANSPORT_DOMAIN: 0x48/24,
    }
    alloc_xrcd_out: 16 {
        XRCD: 0x48/24,
    }
    dealloc_xrcd_in: 16 {
        XRCD: 0x48/24,
    }
    create_qp_in: 272 {
        INPUT_QPN: 0x48/24,
        OPT_PARAM_MASK: 0x80/32,
        QPC: 0xc0/1856,
    }
    create_qp_out: 16 {
        QPN: 0x48/24,
    }
    destroy_qp_in: 16 {
        QPN: 0x48/24,
    }
    query_qp_in: 16 {
        QPN: 0x48/24,
    }
    /// As before Linux 6.3, which asks for more behind it.
    query_qp_out: 272 {
        OPT_PARAM_MASK: 0x80/32,
        QPC: 0xc0/1856,
    }
    qpc: 232 {
        STATE: 0x0/4,
        CQN_SND: 0x3e8/24,
        CQN_RCV: 0x4e8/24,
    }
    create_dct_in: 128 {
        DCT_CONTEXT_ENTRY: 0x80/512,
    }
    dctc: 64 {
        CQN: 0x48/24,
        PD: 0xc8/24,
    }
    create_dct_out: 16 {
        DCTN: 0x48/24,
    }
    destroy_dct_in: 16 {
        DCTN: 0x48/24,
    }
    create_rmp_out: 16 {
        RMPN: 0x48/24,
    }
    destroy_rmp_in: 16 {
        RMPN: 0x48/24,
    }
    create_srq_in: 272 {
        SRQ_CONTEXT_ENTRY: 0x80/512,
    }
    srqc: 64 {
        PD: 0xc8/24,
    }
    create_srq_out: 16 {
        SRQN: 0x48/24,
    }
    destroy_srq_in: 16 {
        SRQN: 0x48/24,
    }
    create_xrc_srq_in: 272 {
        XRC_SRQ_CONTEXT_ENTRY: 0x80/512,
    }
    xrc_srqc: 64 {
        PD: 0xc8/24,
    }
    create_xrc_srq_out: 16 {
        XRC_SRQN: 0x48/24,
    }
    destroy_xrc_srq_in: 16 {
        XRC_SRQN: 0x48/24,
    }
    create_xrq_out: 16 {
        XRQN: 0x48/24,
    }
    destroy_xrq_in: 16 {
        XRQN: 0x48/24,
    }
    create_psv_out: 32 {
        PSV0_INDEX: 0x88/24,
    }
    destroy_psv_in: 16 {
        PSVN: 0x48/24,
    }
    create_scheduling_element_out: 64 {
        SCHEDULING_ELEMENT_ID: 0x80/32,
    }
    destroy_scheduling_element_in: 64 {
        SCHEDULING_ELEMENT_ID: 0x60/32,
    }
}
