//! An open device: what it is, and what it can do.

mod attributes;
mod capabilities;
mod gid;
mod guid;
mod handles;
mod object;
mod owned;
mod port;
#[cfg(test)]
mod tests;

use std::{
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    sync::{Arc, OnceLock},
};

use rustix::{
    io::Errno,
    process::{Pid, getpid},
};

pub(crate) use self::owned::Owned;
#[cfg(test)]
pub(crate) use self::tests::{fake_context, inherited_context};
pub use self::{
    attributes::{DeviceAttributes, Mlx5Attributes},
    capabilities::{CapabilityGroup, HcaCapabilities},
    gid::{Gid, GidEntry, GidType},
    guid::NodeGuid,
    object::Object,
    port::{LinkLayer, PortAttributes, PortState},
};
use crate::{
    DriverId, Error, Result, Roots,
    command::{Command, Refusal, Reply},
    error::Reason,
    get_context::{self, Devx, Granted},
};

/// An open device, and this process's right to use it.
///
/// Clones are the same context; it is closed when the last clone, and the last object made on it, is dropped.
///
/// # Fork
///
/// A child shares its parent's open file, and so the objects on it. The process that opened the context is
/// remembered, and dropping an object in another does not destroy it.
#[doc(alias("ibv_context", "ibv_open_device", "mlx5dv_open_device"))]
#[derive(Clone, Debug)]
pub struct Context(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    fd: OwnedFd,
    driver: DriverId,
    /// Empty if the context was adopted and nobody has asked yet.
    devx: OnceLock<bool>,
    granted: Granted,
    owner: Pid,
}

impl Context {
    /// Makes a context on a device that was just opened.
    pub(crate) fn on(fd: OwnedFd, driver: DriverId, devx: Devx) -> Result<Self> {
        match get_context::get_context(fd.as_fd(), driver.get(), devx) {
            Ok(granted) => Ok(Self::of(fd, driver, OnceLock::from(devx == Devx::Yes), granted)),
            Err(refusal) => Err(explain(fd.as_fd(), driver, devx, refusal)),
        }
    }

    fn of(fd: OwnedFd, driver: DriverId, devx: OnceLock<bool>, granted: Granted) -> Self {
        Self(Arc::new(Inner { fd, driver, devx, granted, owner: getpid() }))
    }

    /// Adopts an open file of an RDMA device: one that another process has opened and passed on, say.
    ///
    /// If there is no context on it yet, one is made, without DEVX.
    ///
    /// # Errors
    /// [`Error::OtherDevice`] if the file is not an RDMA device's; otherwise the kernel's.
    #[doc(alias = "ibv_import_device")]
    pub fn from_fd(fd: OwnedFd) -> Result<Self> {
        Roots::default().adopt(fd, Devx::No)
    }

    /// Adopts an open file of an RDMA device for DEVX. If there is no context on it yet, one is made.
    ///
    /// # Errors
    /// As [`from_fd`](Self::from_fd); and if the context that is there has no DEVX: `EINVAL`.
    pub fn from_fd_devx(fd: OwnedFd) -> Result<Self> {
        Roots::default().adopt(fd, Devx::Yes)
    }

    /// Uses the context on `fd`, or makes one.
    pub(crate) fn adopt(fd: OwnedFd, driver: DriverId, devx: Devx) -> Result<Self> {
        let refusal = match get_context::get_context(fd.as_fd(), driver.get(), devx) {
            Ok(granted) => return Ok(Self::of(fd, driver, OnceLock::from(devx == Devx::Yes), granted)),
            Err(refusal) => refusal,
        };
        if refusal.errno != Errno::INVAL {
            return Err(explain(fd.as_fd(), driver, devx, refusal));
        }
        // Perhaps there is a context already. Who can tell has one, and who cannot (only some drivers can) would have
        // answered GET_CONTEXT, were there none.
        let granted = match get_context::query_context(fd.as_fd(), driver.get()) {
            Ok(granted) => granted,
            Err(Refusal { errno: Errno::OPNOTSUPP, .. }) => Granted::unknown(),
            Err(_) => return Err(explain(fd.as_fd(), driver, devx, refusal)),
        };
        let context = Self::of(fd, driver, OnceLock::new(), granted);
        if devx == Devx::No || context.is_devx() {
            Ok(context)
        } else {
            Err(explain(context.fd(), driver, devx, refusal))
        }
    }

    /// The device's driver.
    #[must_use]
    pub fn driver(&self) -> DriverId {
        self.0.driver
    }

    /// Whether firmware commands may be sent.
    ///
    /// Of an adopted context nobody knows; the first call finds out by sending a harmless one.
    #[must_use]
    pub fn is_devx(&self) -> bool {
        *self.0.devx.get_or_init(|| capabilities::may_send_commands(self))
    }

    /// Number of completion vectors; 0 if the context was adopted and the driver does not tell.
    #[doc(alias = "num_comp_vectors")]
    #[must_use]
    pub fn completion_vectors(&self) -> u32 {
        self.0.granted.completion_vectors
    }

    /// What the kernel's RDMA core offers beyond the device: `IB_UVERBS_CORE_SUPPORT_*`.
    #[must_use]
    pub fn core_support(&self) -> u64 {
        self.0.granted.core_support
    }

    /// Asks the device what it is, and how many objects of each kind it can have.
    ///
    /// # Errors
    /// The kernel's.
    #[doc(alias("ibv_query_device_ex", "IB_USER_VERBS_EX_CMD_QUERY_DEVICE"))]
    pub fn query_device(&self) -> Result<DeviceAttributes> {
        DeviceAttributes::query(self)
    }

    /// Asks the port `port`, from 1, what it is.
    ///
    /// # Errors
    /// `EINVAL` if there is no such port.
    #[doc(alias("ibv_query_port", "UVERBS_METHOD_QUERY_PORT"))]
    pub fn query_port(&self, port: u32) -> Result<PortAttributes> {
        PortAttributes::query(self, port)
    }

    /// The GIDs of all ports. Since Linux 5.10.
    ///
    /// # Errors
    /// The kernel's.
    #[doc(alias("ibv_query_gid_table", "UVERBS_METHOD_QUERY_GID_TABLE"))]
    pub fn gids(&self) -> Result<Vec<GidEntry>> {
        gid::table(self)
    }

    /// The GID at `index` of the port `port`, from 1. Since Linux 5.10.
    ///
    /// # Errors
    /// `EINVAL` if there is no such port or index, `ENODATA` if the entry is empty.
    #[doc(alias("ibv_query_gid_ex", "UVERBS_METHOD_QUERY_GID_ENTRY"))]
    pub fn gid(&self, port: u32, index: u32) -> Result<GidEntry> {
        gid::entry(self, port, index)
    }

    /// What the mlx5 driver said when the context was made.
    ///
    /// # Errors
    /// [`Error::NotMlx5`] on a device of another driver.
    #[doc(alias = "mlx5dv_query_device")]
    pub fn mlx5(&self) -> Result<Mlx5Attributes> {
        self.require_mlx5()?;
        Ok(Mlx5Attributes(self.0.granted.mlx5))
    }

    /// The firmware's general capabilities. Needs no DEVX context.
    ///
    /// # Errors
    /// [`Error::NotMlx5`] on a device of another driver; `EPROTONOSUPPORT` if the firmware has no user contexts, without
    /// which the kernel offers no way to ask.
    pub fn hca_capabilities(&self) -> Result<HcaCapabilities> {
        self.hca_capabilities_of(CapabilityGroup::General)
    }

    /// The firmware's capabilities of one group. Needs no DEVX context.
    ///
    /// # Errors
    /// As [`hca_capabilities`](Self::hca_capabilities); [`Error::Refused`] if the firmware does not know the group.
    pub fn hca_capabilities_of(&self, group: CapabilityGroup) -> Result<HcaCapabilities> {
        HcaCapabilities::query(self, group)
    }

    /// Whether the kernel offers objects of this kind on this device. Asks only: no privilege, nothing is made.
    ///
    /// # Errors
    /// The kernel's, if it cannot say.
    #[doc(alias = "UVERBS_METHOD_INFO_HANDLES")]
    pub fn supports(&self, object: Object) -> Result<bool> {
        handles::supports(self.fd(), self.0.driver, object)
    }

    /// The handles of all live objects of this kind on this context.
    ///
    /// # Errors
    /// `ENOENT` if the kernel does not offer the kind on this device.
    #[doc(alias = "UVERBS_METHOD_INFO_HANDLES")]
    pub fn handles(&self, object: Object) -> Result<Vec<u32>> {
        handles::list(self.fd(), self.0.driver, object)
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.0.fd.as_fd()
    }

    /// What every command names the driver by.
    pub(crate) fn driver_number(&self) -> u32 {
        self.0.driver.get()
    }

    pub(crate) fn send<const N: usize>(&self, command: Command<'_, N>) -> Result<Reply<N>> {
        Ok(command.send(self.fd())?)
    }

    /// Refuses what only mlx5 devices have.
    #[inline]
    pub(crate) fn require_mlx5(&self) -> Result<()> {
        let driver = self.0.driver;
        if driver == DriverId::MLX5 { Ok(()) } else { Err(Error::NotMlx5 { driver }) }
    }

    /// Whether this is the process that opened the context, and so has to destroy what was made on it.
    pub(crate) fn is_ours(&self) -> bool {
        self.0.owner == getpid()
    }
}

impl AsFd for Context {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd()
    }
}

/// Finds out why there is no context.
#[cold]
fn explain(fd: BorrowedFd<'_>, driver: DriverId, devx: Devx, refusal: Refusal) -> Error {
    let no_devx =
        || driver == DriverId::MLX5 && handles::supports(fd, driver, Object::DEVX).is_ok_and(|has| !has);
    if devx == Devx::Yes && refusal.errno == Errno::INVAL && no_devx() {
        return Error::kernel(refusal, Reason::NoCapability("log_max_uctx"));
    }
    refusal.into()
}
