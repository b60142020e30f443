//! `rdma/rdma_user_ioctl_cmds.h`: the ioctl itself, its header and its attributes.
//!
//! A command is one block of memory: an [`IbUverbsIoctlHdr`], then `num_attrs` times [`IbUverbsAttr`]. The kernel
//! reads it and writes into it, so it has to be writable and nobody else's for as long as the call runs.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// The ioctl type (`_IOC_TYPE`) of all RDMA character devices.
pub const RDMA_IOCTL_MAGIC: u8 = 0x1b;

/// The request number: `_IOWR(RDMA_IOCTL_MAGIC, 1, struct ib_uverbs_ioctl_hdr)`.
///
/// Its size field counts the header alone, whatever the number of attributes behind it. The number is the same on
/// every architecture.
pub const RDMA_VERBS_IOCTL: u32 = 0xc018_1b01;

/// The flags of an [`IbUverbsAttr`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(transparent)]
pub struct UverbsAttrFlags(u16);

bitflags::bitflags! {
    impl UverbsAttrFlags: u16 {
        /// To the kernel: if the method does not know this attribute, fail (`EPROTONOSUPPORT`) instead of ignoring it.
        #[doc(alias = "UVERBS_ATTR_F_MANDATORY")]
        const MANDATORY = 1 << 0;
        /// From the kernel: this output was written. Meaningless in mandatory outputs of a call that succeeded.
        #[doc(alias = "UVERBS_ATTR_F_VALID_OUTPUT")]
        const VALID_OUTPUT = 1 << 1;
        const _ = !0;
    }
}

/// One attribute of a command.
#[doc(alias = "ib_uverbs_attr")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C, align(8))]
pub struct IbUverbsAttr {
    /// Which attribute of the method.
    pub attr_id: u16,
    /// Bytes of data, or of an array of handles; 0 for a handle or a file descriptor.
    pub len: u16,
    /// [`UverbsAttrFlags`].
    pub flags: UverbsAttrFlags,
    /// The element chosen (first byte) of an attribute that is an enum; 0 in all others.
    pub attr_data: u16,
    /// Input of up to 8 bytes (from the first byte of this field on), an address, a handle or a file descriptor.
    /// The kernel writes new handles and file descriptors here.
    pub data: u64,
}

assert_layout!(IbUverbsAttr: 16 { attr_id: 0, len: 2, flags: 4, attr_data: 6, data: 8 });

/// The head of a command; its attributes follow at once.
#[doc(alias = "ib_uverbs_ioctl_hdr")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C, align(8))]
pub struct IbUverbsIoctlHdr {
    /// Bytes of header and attributes together; at most a page.
    pub length: u16,
    /// Which object.
    pub object_id: u16,
    /// Which method of the object.
    pub method_id: u16,
    /// Number of attributes behind the header.
    pub num_attrs: u16,
    /// 0.
    pub reserved1: u64,
    /// `enum rdma_driver_id` of the device; the kernel refuses any other (`EINVAL`).
    pub driver_id: u32,
    /// 0.
    pub reserved2: u32,
}

assert_layout!(IbUverbsIoctlHdr: 24 {
    length: 0, object_id: 2, method_id: 4, num_attrs: 6, reserved1: 8, driver_id: 16, reserved2: 20,
});
