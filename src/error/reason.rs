//! Why the kernel refuses, as far as it can be known.

use core::fmt;

use rustix::io::Errno;

use crate::{FlowTableType, KernelRelease};

/// Who lacks what a request needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Lacking {
    /// This crate does not know the kernel's ABI.
    Build,
    /// The kernel is too old, or built or loaded without it.
    Kernel,
    /// The device's driver refuses it.
    Driver,
    /// The card's firmware does not offer it.
    Firmware,
    /// This function of the card (a virtual function, say) may not do it; another may.
    Function,
    /// The caller may not do it.
    Privilege,
}

/// Why the kernel refused.
///
/// An errno alone tells little: the same one means an old kernel here and an old firmware there. Where asking once
/// more tells them apart, that has been done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The kernel has it only since a later release.
    KernelTooOld {
        /// The first release that has it.
        since: KernelRelease,
        /// The release that is running.
        running: KernelRelease,
    },
    /// The firmware lacks a capability, here by the name it has in `mlx5_ifc.h`.
    NoCapability(&'static str),
    /// Neither the kernel's version nor the firmware's capabilities explain it: this driver does not offer the object
    /// or method on this device.
    Absent,
    /// The caller lacks `CAP_NET_RAW`.
    NoNetRaw {
        /// The release that is running: which user namespace counts depends on it.
        running: KernelRelease,
    },
    /// The driver takes anchors of this type only since a later release.
    TypeTooNew {
        /// The type asked for.
        table_type: FlowTableType,
        /// The first release that takes it.
        since: KernelRelease,
        /// The release that is running.
        running: KernelRelease,
    },
    /// No known release of the driver takes anchors of this type.
    TypeRefused(FlowTableType),
    /// Only the manager of the card's embedded switch has FDB tables, and this function is not.
    NotEswitchManager,
    /// This function has no flow tables of this type.
    NoFlowTables(FlowTableType),
    /// The device is gone: unplugged, unbound from its driver, or being reset.
    DeviceGone,
    /// Something else uses the object, or the firmware is busy.
    Busy,
    /// For now: the device is not ready, or a limit of the RDMA cgroup is reached.
    TryAgain,
    /// The kernel or the firmware has no memory left for it.
    NoMemory,
    /// The device's pool of flow tables is used up.
    NoSpace,
    /// There is no such object: it has been destroyed.
    NoSuchObject,
    /// The file is not an RDMA device, or the kernel was built without the ioctl ABI.
    NoIoctl,
    /// A number that this device does not have, such as a port, or a combination that the driver does not take.
    Invalid,
    /// The driver does not implement it.
    NotImplemented,
    /// The errno says all that is known.
    Unknown,
}

impl Reason {
    /// What an errno means whatever was asked.
    pub(crate) fn of(errno: Errno) -> Self {
        match errno {
            Errno::PROTONOSUPPORT => Self::Absent,
            Errno::NOTTY => Self::NoIoctl,
            Errno::IO => Self::DeviceGone,
            Errno::BUSY => Self::Busy,
            Errno::AGAIN => Self::TryAgain,
            Errno::NOMEM => Self::NoMemory,
            Errno::NOSPC => Self::NoSpace,
            Errno::NOENT => Self::NoSuchObject,
            Errno::INVAL => Self::Invalid,
            Errno::OPNOTSUPP => Self::NotImplemented,
            _ => Self::Unknown,
        }
    }

    pub(super) const fn lacking(self) -> Option<Lacking> {
        Some(match self {
            Self::KernelTooOld { .. } | Self::NoIoctl => Lacking::Kernel,
            Self::NoCapability(_) => Lacking::Firmware,
            Self::Absent | Self::TypeTooNew { .. } | Self::TypeRefused(_) | Self::NotImplemented => {
                Lacking::Driver
            }
            Self::NoNetRaw { .. } => Lacking::Privilege,
            Self::NotEswitchManager | Self::NoFlowTables(_) => Lacking::Function,
            Self::DeviceGone
            | Self::Busy
            | Self::TryAgain
            | Self::NoMemory
            | Self::NoSpace
            | Self::NoSuchObject
            | Self::Invalid
            | Self::Unknown => return None,
        })
    }

    pub(super) fn hint(self) -> Option<&'static str> {
        /// Since this release a user namespace's own root may do what only the initial one's could before.
        const NAMESPACES_COUNT: KernelRelease = KernelRelease::new(6, 17);

        Some(match self {
            Self::KernelTooOld { .. } => "run a newer kernel; updating the firmware will not help",
            Self::NoCapability(_) => {
                "the kernel would allow it: update the card's firmware, or use a card (or function) that has the capability"
            }
            Self::Absent => {
                "the kernel's driver does not offer this here; see whether mlx5_ib was built with user access to the \
                 hardware (CONFIG_INFINIBAND_USER_ACCESS)"
            }
            Self::NoNetRaw { running } if running < NAMESPACES_COUNT => {
                "run it as root or with CAP_NET_RAW in the initial user namespace: before Linux 6.17, a container's \
                 root in a user namespace of its own is not enough"
            }
            Self::NoNetRaw { .. } => {
                "run it as root or with CAP_NET_RAW in the user namespace that owns the device's network namespace \
                 (the initial one, if RDMA devices are shared between network namespaces)"
            }
            Self::TypeTooNew { .. } => "run a newer kernel, or use a type that this one takes",
            Self::TypeRefused(_) => {
                "use nic-rx, nic-tx or fdb: an anchor needs a rule that ignores levels, and the driver allows that in \
                 tables of these types alone"
            }
            Self::NotEswitchManager => {
                "use the physical function (or, on a SmartNIC, the embedded processor) that manages the embedded \
                 switch"
            }
            Self::NoFlowTables(_) => "use another type, or a function that has tables of this one",
            Self::DeviceGone => {
                "what was made on it is gone with it; find the device again and open it anew. A reset is over within \
                 seconds"
            }
            Self::Busy => {
                "try again; if it stays so, another thread or an entry of a flow table still uses the object"
            }
            Self::TryAgain => {
                "try again in a moment; if it stays so, look at rdma.max of this process's cgroup"
            }
            Self::NoMemory => "free memory, or objects on the card",
            Self::NoSpace => {
                "release anchors and flow tables, of this or another process: the pool is the device's"
            }
            Self::NoIoctl => "give the file of an RDMA device: /dev/infiniband/uverbsN",
            Self::NoSuchObject | Self::Invalid | Self::NotImplemented | Self::Unknown => return None,
        })
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::KernelTooOld { since, running } => {
                write!(f, "the kernel has it since Linux {since}, this is Linux {running}")
            }
            Self::NoCapability(name) => write!(f, "the firmware lacks the capability {name}"),
            Self::Absent => f.write_str("the driver does not offer it on this device"),
            Self::NoNetRaw { .. } => f.write_str("the caller lacks CAP_NET_RAW"),
            Self::TypeTooNew { table_type, since, running } => {
                write!(
                    f,
                    "the driver takes {table_type} anchors since Linux {since}, this is Linux {running}"
                )
            }
            Self::TypeRefused(table_type) => {
                write!(f, "the driver takes no {table_type} anchors, in no known release of Linux")
            }
            Self::NotEswitchManager => f.write_str("this function is not the eswitch manager"),
            Self::NoFlowTables(table_type) => write!(f, "this function has no {table_type} flow tables"),
            Self::DeviceGone => f.write_str("the device is gone or being reset"),
            Self::Busy => f.write_str("the object or the firmware is busy"),
            Self::TryAgain => f.write_str("the device is not ready, or a cgroup limit is reached"),
            Self::NoMemory => f.write_str("the kernel or the card has no memory left for it"),
            Self::NoSpace => f.write_str("the device has no flow tables left"),
            Self::NoSuchObject => f.write_str("there is no such object"),
            Self::NoIoctl => f.write_str("not an RDMA device, or a kernel without its ioctl ABI"),
            Self::Invalid => f.write_str("the device does not take these values"),
            Self::NotImplemented => f.write_str("the driver does not implement it"),
            Self::Unknown => f.write_str("the kernel refused"),
        }
    }
}
