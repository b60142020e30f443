//! Kinds of kernel objects.

use core::fmt;

use uverbs_uapi::{ib_user_ioctl_cmds as core_cmds, mlx5_user_ioctl_cmds as mlx5};

use crate::error::names;

/// A kind of object that the kernel may offer on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Object(u16);

macro_rules! objects {
    ($($(#[$doc:meta])* $name:ident = $module:ident::$number:ident;)*) => {
        impl Object {
            $($(#[$doc])* #[doc = concat!("\n\nC: `", stringify!($number), "`.")] pub const $name: Self = Self($module::$number);)*
        }
    };
}

objects! {
    /// The device itself.
    DEVICE = core_cmds::UVERBS_OBJECT_DEVICE;
    /// Protection domains.
    PD = core_cmds::UVERBS_OBJECT_PD;
    /// Completion queues.
    CQ = core_cmds::UVERBS_OBJECT_CQ;
    /// Queue pairs.
    QP = core_cmds::UVERBS_OBJECT_QP;
    /// Memory regions.
    MR = core_cmds::UVERBS_OBJECT_MR;
    /// Flows: rules in the kernel's own flow tables.
    FLOW = core_cmds::UVERBS_OBJECT_FLOW;
    /// What a flow does with packets.
    FLOW_ACTION = core_cmds::UVERBS_OBJECT_FLOW_ACTION;
    /// mlx5: firmware commands. Offered if the firmware has user contexts (`log_max_uctx`).
    DEVX = mlx5::MLX5_IB_OBJECT_DEVX;
    /// mlx5: firmware objects.
    DEVX_OBJ = mlx5::MLX5_IB_OBJECT_DEVX_OBJ;
    /// mlx5: memory registered with the firmware.
    DEVX_UMEM = mlx5::MLX5_IB_OBJECT_DEVX_UMEM;
    /// mlx5: what flows compare.
    FLOW_MATCHER = mlx5::MLX5_IB_OBJECT_FLOW_MATCHER;
    /// mlx5: doorbell pages (since Linux 5.7).
    UAR = mlx5::MLX5_IB_OBJECT_UAR;
    /// mlx5: steering anchors (since Linux 6.0). Offered if the firmware lets users refer to shared objects.
    STEERING_ANCHOR = mlx5::MLX5_IB_OBJECT_STEERING_ANCHOR;
}

impl Object {
    /// The kind of the number `number`.
    #[must_use]
    pub const fn new(number: u16) -> Self {
        Self(number)
    }

    /// The kernel's number.
    #[must_use]
    pub const fn get(self) -> u16 {
        self.0
    }
}

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match names::object(self.0) {
            Some(name) => f.pad(name),
            None => write!(f, "object {:#x}", self.0),
        }
    }
}
