//! What the kernel creates for a user of DEVX, and the form of general objects.

use crate::prm_layouts;

/// `uctx::CAP`: may send raw Ethernet.
pub const MLX5_UCTX_CAP_RAW_TX: u32 = 1;
/// `uctx::CAP`: may use internal resources of the device.
pub const MLX5_UCTX_CAP_INTERNAL_DEV_RES: u32 = 2;
/// `uctx::CAP`: may steer RDMA transport of this function (since Linux 6.15).
pub const MLX5_UCTX_CAP_RDMA_CTRL: u32 = 8;
/// `uctx::CAP`: may steer RDMA transport of other functions (since Linux 6.15).
pub const MLX5_UCTX_CAP_RDMA_CTRL_OTHER_VHCA: u32 = 0x10;

prm_layouts! {
    pub(super) const LAYOUTS;

    /// Creates a user context.
    create_uctx_in: 64 {
        OPCODE: 0x0/16,
        OP_MOD: 0x30/16,
        UCTX: 0x80/384,
    }

    /// What a user context may do.
    uctx: 48 {
        /// `MLX5_UCTX_CAP_*`.
        CAP: 0x0/32,
    }

    /// A new user context.
    create_uctx_out: 16 {
        STATUS: 0x0/8,
        SYNDROME: 0x20/32,
        /// The uid of the objects it owns.
        UID: 0x50/16,
    }

    /// Destroys a user context and every object it owns.
    destroy_uctx_in: 16 {
        OPCODE: 0x0/16,
        OP_MOD: 0x30/16,
        UID: 0x50/16,
    }

    /// Registers user memory. Longer by its pages, 8 bytes each.
    create_umem_in: 48 {
        OPCODE: 0x0/16,
        UID: 0x10/16,
        OP_MOD: 0x30/16,
        UMEM: 0x80/256,
    }

    /// User memory. Longer by its pages.
    umem: 32 {
        /// The device translates addresses.
        ATS: 0x80/1,
        /// Page size, as a power of two, less 12.
        LOG_PAGE_SIZE: 0x9b/5,
        /// Offset in the first page.
        PAGE_OFFSET: 0xa0/32,
        NUM_OF_MTT: 0xc0/64,
        /// First of the pages.
        MTT: 0x100/64,
    }

    /// Registered user memory.
    create_umem_out: 16 {
        STATUS: 0x0/8,
        SYNDROME: 0x20/32,
        UMEM_ID: 0x48/24,
    }

    /// Deregisters user memory.
    destroy_umem_in: 16 {
        OPCODE: 0x0/16,
        UID: 0x10/16,
        OP_MOD: 0x30/16,
        UMEM_ID: 0x48/24,
    }

    /// A page.
    mtt: 8 {
        /// Upper half of its address.
        PTAG_63_32: 0x0/32,
        /// Lower half of its address, without the last 8 bits.
        PTAG_31_8: 0x20/24,
        WR_EN: 0x3e/1,
        RD_EN: 0x3f/1,
    }

    /// The head of every command about a general object.
    general_obj_in_cmd_hdr: 16 {
        OPCODE: 0x0/16,
        UID: 0x10/16,
        VHCA_TUNNEL_ID: 0x20/16,
        /// Which type of general object.
        OBJ_TYPE: 0x30/16,
        OBJ_ID: 0x40/32,
        /// Number of objects to create, as a power of two.
        LOG_OBJ_RANGE: 0x63/5,
    }

    /// The head of every answer about a general object.
    general_obj_out_cmd_hdr: 16 {
        STATUS: 0x0/8,
        SYNDROME: 0x20/32,
        OBJ_ID: 0x40/32,
    }
}
