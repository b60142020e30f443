//! What a device says of itself.

use uverbs_uapi::{
    ib_user_ioctl_cmds as cmds,
    ib_user_verbs::{
        IB_USER_VERBS_CMD_FLAG_EXTENDED, IB_USER_VERBS_EX_CMD_QUERY_DEVICE, IbUverbsExQueryDevice,
        IbUverbsExQueryDeviceResp,
    },
    mlx5_abi::Mlx5IbAllocUcontextResp,
};
use zerocopy::{FromZeros, IntoBytes};

use super::{Context, NodeGuid};
use crate::{
    Result,
    command::{
        Command, Method,
        class::{BytesIn, BytesOut, ConstIn},
    },
};

const INVOKE_WRITE: Method = Method::new(cmds::UVERBS_OBJECT_DEVICE, cmds::UVERBS_METHOD_INVOKE_WRITE);
const CORE_IN: BytesIn = BytesIn(cmds::UVERBS_ATTR_CORE_IN);
const CORE_OUT: BytesOut = BytesOut(cmds::UVERBS_ATTR_CORE_OUT);
const WRITE_CMD: ConstIn = ConstIn(cmds::UVERBS_ATTR_WRITE_CMD);

/// What a device is, and how many objects of each kind it can have.
#[doc(alias("ibv_device_attr_ex", "ib_uverbs_ex_query_device_resp"))]
#[derive(Clone, Copy, Debug)]
pub struct DeviceAttributes(IbUverbsExQueryDeviceResp);

impl DeviceAttributes {
    pub(super) fn query(context: &Context) -> Result<Self> {
        let request = IbUverbsExQueryDevice::new_zeroed();
        let mut response = IbUverbsExQueryDeviceResp::new_zeroed();
        let mut command = Command::<3>::new(INVOKE_WRITE, context.driver_number());
        command.bytes_in(CORE_IN, request.as_bytes())?;
        command.bytes_out(CORE_OUT, response.as_mut_bytes())?;
        let number = IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_QUERY_DEVICE;
        command.constant(WRITE_CMD, number.into());
        context.send(command)?;
        Ok(Self(response))
    }

    /// The kernel's whole answer. Only its first `response_length` bytes were written, the rest is zero.
    #[must_use]
    pub const fn raw(&self) -> &IbUverbsExQueryDeviceResp {
        &self.0
    }

    /// The firmware's version, the way mlx5 writes it: `22.35.1012`.
    #[must_use]
    pub fn firmware_version(&self) -> String {
        let version = self.0.base.fw_ver;
        format!("{}.{}.{:04}", version >> 32, version >> 16 & 0xffff, version & 0xffff)
    }

    /// The device's globally unique id.
    #[must_use]
    pub fn node_guid(&self) -> NodeGuid {
        NodeGuid::new(self.0.base.node_guid.get())
    }

    /// The id that all devices of one card have in common.
    #[must_use]
    pub fn sys_image_guid(&self) -> NodeGuid {
        NodeGuid::new(self.0.base.sys_image_guid.get())
    }

    /// The vendor: an IEEE number, not a PCI one.
    #[must_use]
    pub const fn vendor_id(&self) -> u32 {
        self.0.base.vendor_id
    }

    /// The vendor's number of the part; of an mlx5 device, its PCI device id.
    #[must_use]
    pub const fn vendor_part_id(&self) -> u32 {
        self.0.base.vendor_part_id
    }

    /// The hardware's revision.
    #[must_use]
    pub const fn hw_version(&self) -> u32 {
        self.0.base.hw_ver
    }

    /// Number of ports; they count from 1.
    #[must_use]
    pub const fn ports(&self) -> u8 {
        self.0.base.phys_port_cnt
    }

    /// The most queue pairs.
    #[must_use]
    pub const fn max_qp(&self) -> u32 {
        self.0.base.max_qp
    }

    /// The most completion queues.
    #[must_use]
    pub const fn max_cq(&self) -> u32 {
        self.0.base.max_cq
    }

    /// The most memory regions.
    #[must_use]
    pub const fn max_mr(&self) -> u32 {
        self.0.base.max_mr
    }

    /// The most protection domains.
    #[must_use]
    pub const fn max_pd(&self) -> u32 {
        self.0.base.max_pd
    }

    /// Bytes of the longest memory region.
    #[must_use]
    pub const fn max_mr_size(&self) -> u64 {
        self.0.base.max_mr_size
    }

    /// The device's clock in kHz; 0 if it tells none.
    #[must_use]
    pub const fn hca_core_clock(&self) -> u64 {
        self.0.hca_core_clock
    }
}

/// What the mlx5 driver says of a context.
#[doc(alias = "mlx5_ib_alloc_ucontext_resp")]
#[derive(Clone, Copy, Debug)]
pub struct Mlx5Attributes(pub(super) Mlx5IbAllocUcontextResp);

impl Mlx5Attributes {
    /// The driver's whole answer. Only its first `response_length` bytes were written, the rest is zero.
    #[must_use]
    pub const fn raw(&self) -> &Mlx5IbAllocUcontextResp {
        &self.0
    }

    /// Number of ports.
    #[must_use]
    pub const fn ports(&self) -> u16 {
        self.0.num_ports
    }

    /// Bytes of a doorbell page.
    #[must_use]
    pub const fn uar_size(&self) -> u64 {
        1 << (self.0.log_uar_size & 63)
    }

    /// Bytes of a cache line, as the card aligns what it writes.
    #[must_use]
    pub const fn cache_line_size(&self) -> u32 {
        self.0.cache_line_size
    }

    /// The version of completion queue entries: 0, or 1 with user indices.
    #[must_use]
    pub const fn cqe_version(&self) -> u8 {
        self.0.cqe_version
    }
}
