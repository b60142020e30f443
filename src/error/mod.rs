//! What went wrong, who lacks what, and what to do about it.
//!
//! [`Error`] displays as one line. [`Error::hint`] says what to do, [`Error::lacking`] who lacks what the request
//! needs, and the [source](core::error::Error::source) is the kernel's errno.

mod errno;
pub(crate) mod names;
mod reason;

#[cfg(feature = "std")]
use std::{path::PathBuf, string::String};

pub use self::{
    errno::Errno,
    reason::{Lacking, Reason},
};
#[cfg(feature = "std")]
use crate::DriverId;
pub use crate::command::Method;
use crate::command::{Refusal, TooLong};

/// A result whose error is [`Error`].
pub type Result<T, E = Error> = core::result::Result<T, E>;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The kernel refused a method of an object.
    #[error("{method}: {reason}")]
    #[non_exhaustive]
    Kernel {
        /// What was asked.
        method: Method,
        /// What the kernel answered.
        #[source]
        errno: Errno,
        /// Why, as far as it can be known.
        reason: Reason,
    },
    /// A priority is too great. Nothing was sent: the kernel would take it, and look outside of its own tables.
    #[error("priority {value} is not in 0..=15")]
    #[non_exhaustive]
    PriorityOutOfRange {
        /// What was asked for.
        value: u16,
    },
    /// The number of a flow table has more than 24 bits.
    #[error("{value:#x} is not the id of a flow table: it has more than 24 bits")]
    #[non_exhaustive]
    FlowTableIdOutOfRange {
        /// What was given.
        value: u32,
    },
    /// A text does not say what it should.
    #[error("not a {what}: expected {expected}")]
    #[non_exhaustive]
    Unreadable {
        /// What it should say.
        what: &'static str,
        /// How it would.
        expected: &'static str,
    },
    /// A buffer is longer than the 65535 bytes that an attribute can carry. Nothing was sent.
    #[error("{}", TooLong(*.length))]
    #[non_exhaustive]
    TooLong {
        /// How long it is.
        length: usize,
    },
    /// A system call other than one on a device failed.
    #[error("cannot {doing}")]
    #[non_exhaustive]
    Io {
        /// What was to be done.
        doing: &'static str,
        /// What the kernel answered.
        #[source]
        errno: Errno,
    },
    /// The firmware refused a command.
    #[cfg(feature = "std")]
    #[error(transparent)]
    Refused(#[from] crate::devx::Refused),
    /// A firmware command is shorter than its structure. Nothing was sent.
    #[cfg(feature = "std")]
    #[error(transparent)]
    ShortInbox(#[from] crate::devx::ShortInbox),
    /// A request that could only fail, or do harm. Nothing was sent.
    #[cfg(feature = "std")]
    #[error(transparent)]
    Invalid(#[from] crate::flow::Invalid),
    /// There is no device of this name.
    #[cfg(feature = "std")]
    #[error("there is no RDMA device {name:?}")]
    #[non_exhaustive]
    NoSuchDevice {
        /// What was asked for.
        name: String,
    },
    /// The kernel knows no RDMA devices that user space may use.
    #[cfg(feature = "std")]
    #[error("{} is missing: no ib_uverbs in this kernel", .path.display())]
    #[non_exhaustive]
    NoUverbs {
        /// Where they would be.
        path: PathBuf,
        /// What the kernel answered.
        #[source]
        errno: Errno,
    },
    /// The kernel speaks a version of the ABI that this crate does not know.
    #[cfg(feature = "std")]
    #[error("{} is {found}, and this crate knows {known}", .path.display())]
    #[non_exhaustive]
    AbiVersion {
        /// Where the version is said.
        path: PathBuf,
        /// What it is; 0 if it cannot be read.
        found: u32,
        /// The version that this crate knows.
        known: u32,
    },
    /// The device's node cannot be opened.
    #[cfg(feature = "std")]
    #[error("cannot open {}", .path.display())]
    #[non_exhaustive]
    Node {
        /// The node.
        path: PathBuf,
        /// What the kernel answered.
        #[source]
        errno: Errno,
    },
    /// A node, or an open file, is not the device it should be.
    #[cfg(feature = "std")]
    #[error("{what} is not {expected}")]
    #[non_exhaustive]
    OtherDevice {
        /// What was opened or given.
        what: String,
        /// What it should be.
        expected: String,
    },
    /// sysfs cannot be read.
    #[cfg(feature = "std")]
    #[error("cannot read {}", .path.display())]
    #[non_exhaustive]
    Sysfs {
        /// What was to be read.
        path: PathBuf,
        /// What the kernel answered.
        #[source]
        errno: Errno,
    },
    /// Something that only mlx5 devices have was asked of another. Nothing was sent.
    #[cfg(feature = "std")]
    #[error("only mlx5 devices have it, and this one's driver is {driver}")]
    #[non_exhaustive]
    NotMlx5 {
        /// The device's driver.
        driver: DriverId,
    },
    /// The kernel does not say which driver the device has, and every command has to name it.
    #[cfg(feature = "std")]
    #[error("the driver of {device} is not known")]
    #[non_exhaustive]
    UnknownDriver {
        /// The device.
        device: String,
    },
}

impl Error {
    /// The kernel refused, and more is known than the errno.
    pub(crate) fn kernel(refusal: Refusal, reason: Reason) -> Self {
        Self::Kernel { method: refusal.method, errno: refusal.errno.into(), reason }
    }

    /// A system call failed that is none on a device.
    #[cfg(feature = "std")]
    pub(crate) fn io(doing: &'static str, errno: rustix::io::Errno) -> Self {
        Self::Io { doing, errno: errno.into() }
    }

    /// The kernel's errno, positive; `None` if the kernel was not asked or did not refuse.
    #[must_use]
    pub const fn errno(&self) -> Option<i32> {
        match self {
            Self::Kernel { errno, .. } | Self::Io { errno, .. } => Some(errno.raw()),
            #[cfg(feature = "std")]
            Self::Node { errno, .. } | Self::Sysfs { errno, .. } | Self::NoUverbs { errno, .. } => {
                Some(errno.raw())
            }
            // What the kernel says when the firmware refuses.
            #[cfg(feature = "std")]
            Self::Refused(_) => Some(rustix::io::Errno::REMOTEIO.raw_os_error()),
            _ => None,
        }
    }

    /// Who lacks what the request needs, where that is what it failed for.
    #[must_use]
    pub const fn lacking(&self) -> Option<Lacking> {
        match self {
            Self::Kernel { reason, .. } => reason.lacking(),
            #[cfg(feature = "std")]
            Self::NoUverbs { .. } => Some(Lacking::Kernel),
            #[cfg(feature = "std")]
            Self::AbiVersion { .. } => Some(Lacking::Build),
            #[cfg(feature = "std")]
            Self::NotMlx5 { .. } => Some(Lacking::Driver),
            #[cfg(feature = "std")]
            Self::Node { errno, .. } if is_permission(*errno) => Some(Lacking::Privilege),
            #[cfg(feature = "std")]
            Self::Invalid(crate::flow::Invalid::NoIgnoreFlowLevel { .. }) => Some(Lacking::Firmware),
            #[cfg(feature = "std")]
            Self::Invalid(crate::flow::Invalid::NoTables { .. }) => Some(Lacking::Function),
            _ => None,
        }
    }

    /// What to do about it, in one or two sentences.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Kernel { reason, .. } => reason.hint(),
            Self::PriorityOutOfRange { .. } => Some("0 is matched first, 15 last"),
            #[cfg(feature = "std")]
            Self::NoSuchDevice { .. } => Some(
                "`uverbs devices` lists them; where RDMA devices belong to network namespaces, only those of this \
                 one are seen",
            ),
            #[cfg(feature = "std")]
            Self::NoUverbs { .. } => Some("load the module: modprobe ib_uverbs; in a container, mount sysfs"),
            #[cfg(feature = "std")]
            Self::AbiVersion { .. } => Some("use a version of this crate that knows the kernel's"),
            #[cfg(feature = "std")]
            Self::Node { errno, .. } => node_hint(*errno),
            #[cfg(feature = "std")]
            Self::OtherDevice { .. } => {
                Some("the device was replaced meanwhile, or /dev is not the kernel's: list the devices again")
            }
            #[cfg(feature = "std")]
            Self::NotMlx5 { .. } => Some("choose a device whose driver is mlx5: `uverbs devices` lists them"),
            #[cfg(feature = "std")]
            Self::UnknownDriver { .. } => {
                Some("let the process open netlink sockets: the kernel tells the driver there")
            }
            #[cfg(feature = "std")]
            Self::Invalid(crate::flow::Invalid::NoIgnoreFlowLevel { .. }) => {
                Some("a newer firmware may have it; `uverbs show` tells the card's capabilities")
            }
            #[cfg(feature = "std")]
            Self::Invalid(crate::flow::Invalid::NoTables { .. }) => {
                Some("use another function of the card, such as the one that manages the eswitch")
            }
            _ => None,
        }
    }

    /// Whether the device is gone: unplugged, unbound from its driver, or being reset. What was made on it is gone too.
    #[must_use]
    pub const fn is_device_gone(&self) -> bool {
        match self {
            Self::Kernel { reason, .. } => matches!(reason, Reason::DeviceGone),
            #[cfg(feature = "std")]
            Self::Node { errno, .. } => matches!(
                rustix::io::Errno::from_raw_os_error(errno.raw()),
                rustix::io::Errno::NXIO | rustix::io::Errno::IO | rustix::io::Errno::NODEV
            ),
            _ => false,
        }
    }
}

#[cfg(feature = "std")]
const fn is_permission(errno: Errno) -> bool {
    use rustix::io::Errno as E;
    matches!(E::from_raw_os_error(errno.raw()), E::ACCESS | E::PERM)
}

#[cfg(feature = "std")]
const fn node_hint(errno: Errno) -> Option<&'static str> {
    use rustix::io::Errno as E;
    match E::from_raw_os_error(errno.raw()) {
        E::NOENT => {
            Some("the kernel has the device, this /dev does not: in a container, pass the node into it")
        }
        E::ACCESS => Some("look at the node's mode and owner: it is 0666 unless udev has a rule of its own"),
        E::PERM => Some(
            "the container's device cgroup forbids the node, or the device belongs to another network namespace \
             (rdma system show)",
        ),
        E::NXIO | E::IO | E::NODEV => Some("the device is going away or being reset: list the devices again"),
        _ => None,
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Self::kernel(refusal, Reason::of(refusal.errno))
    }
}

impl From<TooLong> for Error {
    fn from(TooLong(length): TooLong) -> Self {
        Self::TooLong { length }
    }
}

#[cfg(feature = "std")]
impl From<crate::flow::Contradiction> for Error {
    fn from(contradiction: crate::flow::Contradiction) -> Self {
        Self::Invalid(contradiction.into())
    }
}

#[cfg(feature = "std")]
impl From<Error> for std::io::Error {
    /// Keeps the error whole, under the kind of its errno.
    fn from(error: Error) -> Self {
        let kind = match error.errno() {
            Some(errno) => Self::from_raw_os_error(errno).kind(),
            None => match error {
                Error::NoSuchDevice { .. } => std::io::ErrorKind::NotFound,
                Error::NotMlx5 { .. } | Error::AbiVersion { .. } => std::io::ErrorKind::Unsupported,
                Error::UnknownDriver { .. } | Error::OtherDevice { .. } => std::io::ErrorKind::Other,
                _ => std::io::ErrorKind::InvalidInput,
            },
        };
        Self::new(kind, error)
    }
}

/// An object could not be destroyed: here it is, with the error.
///
/// The object lives on; trying again may succeed, and so does its drop. Converts into its [`Error`], which drops the
/// object.
#[cfg(feature = "std")]
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct DestroyError<T: core::fmt::Debug> {
    object: T,
    #[source]
    error: Error,
}

#[cfg(feature = "std")]
impl<T: core::fmt::Debug> DestroyError<T> {
    pub(crate) const fn new(object: T, error: Error) -> Self {
        Self { object, error }
    }

    /// Why it could not be destroyed.
    #[must_use]
    pub const fn error(&self) -> &Error {
        &self.error
    }

    /// The object.
    #[must_use]
    pub fn into_object(self) -> T {
        self.object
    }

    /// The object, and why it could not be destroyed.
    #[must_use]
    pub fn into_parts(self) -> (T, Error) {
        (self.object, self.error)
    }
}

#[cfg(feature = "std")]
impl<T: core::fmt::Debug> From<DestroyError<T>> for Error {
    fn from(failed: DestroyError<T>) -> Self {
        failed.error
    }
}

#[cfg(all(test, feature = "std"))]
mod tests;
