//! Ports.

use core::fmt;

use uverbs_uapi::{ib_user_ioctl_cmds as cmds, ib_user_ioctl_verbs::IbUverbsQueryPortRespEx};
use zerocopy::FromZeros;

use super::Context;
use crate::{
    Result,
    command::{
        Command, Method,
        class::{ConstIn, Out},
    },
};

const QUERY_PORT: Method = Method::new(cmds::UVERBS_OBJECT_DEVICE, cmds::UVERBS_METHOD_QUERY_PORT);
const PORT_NUM: ConstIn = ConstIn(cmds::UVERBS_ATTR_QUERY_PORT_PORT_NUM);
const RESP: Out<IbUverbsQueryPortRespEx> = Out::new(cmds::UVERBS_ATTR_QUERY_PORT_RESP);

/// What a port says of itself.
#[doc(alias("ibv_port_attr", "ib_uverbs_query_port_resp_ex"))]
#[derive(Clone, Copy, Debug)]
pub struct PortAttributes(IbUverbsQueryPortRespEx);

impl PortAttributes {
    pub(super) fn query(context: &Context, port: u32) -> Result<Self> {
        let mut response = IbUverbsQueryPortRespEx::new_zeroed();
        let mut command = Command::<2>::new(QUERY_PORT, context.driver_number());
        command.constant(PORT_NUM, port.into());
        command.out(RESP, &mut response);
        context.send(command)?;
        Ok(Self(response))
    }

    /// The kernel's whole answer.
    #[must_use]
    pub const fn raw(&self) -> &IbUverbsQueryPortRespEx {
        &self.0
    }

    /// The link's state.
    #[must_use]
    pub const fn state(&self) -> PortState {
        PortState::from_kernel(self.0.legacy_resp.state)
    }

    /// What is below RDMA on this port.
    #[must_use]
    pub const fn link_layer(&self) -> LinkLayer {
        LinkLayer::from_kernel(self.0.legacy_resp.link_layer)
    }

    /// The greatest MTU, in bytes.
    #[must_use]
    pub const fn max_mtu(&self) -> u32 {
        mtu(self.0.legacy_resp.max_mtu)
    }

    /// The MTU in use, in bytes.
    #[must_use]
    pub const fn active_mtu(&self) -> u32 {
        mtu(self.0.legacy_resp.active_mtu)
    }

    /// Entries of the GID table, most of them empty.
    #[must_use]
    pub const fn gid_table_len(&self) -> u32 {
        self.0.legacy_resp.gid_tbl_len
    }

    /// The local id on an InfiniBand link; 0 on Ethernet.
    #[must_use]
    pub const fn lid(&self) -> u16 {
        self.0.legacy_resp.lid
    }

    /// The longest message, in bytes.
    #[must_use]
    pub const fn max_message_size(&self) -> u32 {
        self.0.legacy_resp.max_msg_sz
    }
}

/// Bytes of the kernel's `enum ib_mtu`; 0 for a number that it does not have.
const fn mtu(number: u8) -> u32 {
    match number {
        1..=5 => 128 << number,
        _ => 0,
    }
}

macro_rules! kernel_enum {
    ($(#[$doc:meta])* $name:ident($int:ty) { $($(#[$variant_doc:meta])* $variant:ident = $value:literal, $text:literal;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)*
            /// A number that this crate does not know.
            Other($int),
        }

        impl $name {
            pub(super) const fn from_kernel(value: $int) -> Self {
                match value {
                    $($value => Self::$variant,)*
                    other => Self::Other(other),
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Self::$variant => f.pad($text),)*
                    Self::Other(value) => write!(f, "unknown ({value})"),
                }
            }
        }
    };
}
pub(super) use kernel_enum;

kernel_enum! {
    /// The state of a port's link.
    #[doc(alias("ibv_port_state", "ib_port_state"))]
    PortState(u8) {
        /// No change of state.
        Nop = 0, "no change";
        /// No link.
        Down = 1, "down";
        /// The link is there; nobody has configured it yet.
        Init = 2, "init";
        /// Configured, and ready to become active.
        Armed = 3, "armed";
        /// In use.
        Active = 4, "active";
        /// Was active; the link is gone for a moment.
        ActiveDefer = 5, "active defer";
    }
}

kernel_enum! {
    /// What is below RDMA on a port.
    #[doc(alias = "IBV_LINK_LAYER_ETHERNET")]
    LinkLayer(u8) {
        /// The driver does not say.
        Unspecified = 0, "unspecified";
        /// InfiniBand.
        InfiniBand = 1, "InfiniBand";
        /// Ethernet: RoCE or iWARP.
        Ethernet = 2, "Ethernet";
    }
}
