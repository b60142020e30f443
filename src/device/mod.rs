//! RDMA devices: find them, and open one.

mod name;
mod netlink;
mod roots;
mod sysfs;
#[cfg(test)]
mod tests;

use core::fmt;
use std::{
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use rustix::{
    fs::{FileType, Mode, OFlags, Stat},
    io::Errno,
};
use uverbs_uapi::mlx5_abi::MLX5_IB_UVERBS_ABI_VERSION;

pub use self::roots::Roots;
use crate::{Context, DriverId, Error, NodeGuid, Result, get_context::Devx};

/// Number of a character device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Number {
    major: u32,
    minor: u32,
}

impl Number {
    fn of(stat: &Stat) -> Self {
        Self { major: rustix::fs::major(stat.st_rdev), minor: rustix::fs::minor(stat.st_rdev) }
    }

    /// Undoes the kernel's `huge_encode_dev`.
    #[expect(clippy::cast_possible_truncation, reason = "masked to 12 and 20 bits")]
    const fn from_kernel(value: u64) -> Self {
        Self { major: (value >> 8 & 0xfff) as u32, minor: (value & 0xff | value >> 12 & 0xf_ff00) as u32 }
    }

    /// Reads `231:192`.
    fn from_sysfs(text: &str) -> Option<Self> {
        let (major, minor) = text.split_once(':')?;
        Some(Self { major: major.parse().ok()?, minor: minor.parse().ok()? })
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

/// An RDMA device, not opened.
///
/// What discovery did not have to ask for is looked up when it is: a device found [by name](Self::by_name) reads its
/// GUID from sysfs, one that was [listed](Self::list) has it already.
///
/// ```no_run
/// # fn main() -> uverbs::Result<()> {
/// for device in uverbs::Device::list()? {
///     println!("{} is {}, driver {}", device.node().display(), device.name(), device.driver());
/// }
/// # Ok(())
/// # }
/// ```
#[doc(alias = "ibv_device")]
#[derive(Clone, Debug)]
pub struct Device {
    roots: Roots,
    name: String,
    uverbs: String,
    node: PathBuf,
    driver: OnceLock<DriverId>,
    number: Option<Number>,
    abi: Option<u32>,
    index: Option<u32>,
    node_guid: Option<NodeGuid>,
    firmware: Option<String>,
    ports: Option<u32>,
}

impl Device {
    /// All RDMA devices of this system: [`Roots::list`] with `/sys` and `/dev`.
    ///
    /// # Errors
    /// As there.
    #[doc(alias = "ibv_get_device_list")]
    pub fn list() -> Result<Vec<Self>> {
        Roots::default().list()
    }

    /// The RDMA device of this name: [`Roots::by_name`] with `/sys` and `/dev`.
    ///
    /// # Errors
    /// As there.
    pub fn by_name(name: &str) -> Result<Self> {
        Roots::default().by_name(name)
    }

    fn named(roots: &Roots, name: String, uverbs: String) -> Self {
        Self {
            node: roots.node(&uverbs),
            roots: roots.clone(),
            name,
            uverbs,
            driver: OnceLock::new(),
            number: None,
            abi: None,
            index: None,
            node_guid: None,
            firmware: None,
            ports: None,
        }
    }

    fn listed(roots: &Roots, listed: netlink::Listed, node: netlink::CharDevice) -> Self {
        Self {
            driver: OnceLock::from(node.driver),
            number: Some(node.number),
            abi: node.abi,
            index: Some(listed.index),
            node_guid: listed.node_guid,
            firmware: listed.firmware,
            ports: listed.ports,
            ..Self::named(roots, listed.name, node.name)
        }
    }

    /// The name: `mlx5_0`, `rocep3s0`. An administrator may change it at any time.
    #[doc(alias = "ibv_get_device_name")]
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The kernel's index, which no other device gets while the system runs; `None` if only sysfs was asked.
    #[doc(alias("ibv_get_device_index", "RDMA_NLDEV_ATTR_DEV_INDEX"))]
    #[must_use]
    pub const fn index(&self) -> Option<u32> {
        self.index
    }

    /// The globally unique id; `None` if the kernel does not tell it.
    #[doc(alias = "ibv_get_device_guid")]
    #[must_use]
    pub fn node_guid(&self) -> Option<NodeGuid> {
        self.node_guid.or_else(|| NodeGuid::from_sysfs(&self.read("node_guid")?))
    }

    /// The firmware's version, as the driver writes it: `22.35.1012`; `None` if the kernel does not tell it.
    #[must_use]
    pub fn firmware_version(&self) -> Option<String> {
        self.firmware.clone().or_else(|| self.read("fw_ver").filter(|text| !text.is_empty()))
    }

    /// The driver; [`DriverId::UNKNOWN`] if the kernel does not tell it.
    #[must_use]
    pub fn driver(&self) -> DriverId {
        *self.driver.get_or_init(|| self.roots.driver_of(self))
    }

    /// Number of ports; `None` if the kernel does not tell it.
    #[must_use]
    pub fn ports(&self) -> Option<u32> {
        self.ports.or_else(|| {
            let directory = self.roots.devices().join(&self.name).join("ports");
            let ports = sysfs::names(&directory, |name| name.parse::<u32>().is_ok()).ok()?;
            u32::try_from(ports.len()).ok()
        })
    }

    /// The node that user space opens: `/dev/infiniband/uverbs0`.
    #[must_use]
    pub fn node(&self) -> &Path {
        &self.node
    }

    /// The PCI address, `0000:3b:00.0`; `None` if it is not a PCI function.
    #[must_use]
    pub fn pci_address(&self) -> Option<String> {
        sysfs::link_name(&self.sysfs("device")).filter(|name| name::is_pci_address(name))
    }

    /// The kernel's driver of the PCI function (or whatever the device is part of): `mlx5_core`.
    #[must_use]
    pub fn kernel_driver(&self) -> Option<String> {
        sysfs::link_name(&self.sysfs("device/driver"))
    }

    /// Whether this process may open the device. Opens it, and closes it again.
    ///
    /// # Errors
    /// Why not: as [`open`](Self::open).
    pub fn access(&self) -> Result<()> {
        self.open_node().map(drop)
    }

    /// Opens the device, without DEVX: for anchors and queries.
    ///
    /// # Errors
    /// [`Error::Node`] with the kernel's first errno if the node cannot be opened; [`Error::OtherDevice`] if it is
    /// not, or no longer, this device; [`Error::UnknownDriver`]; [`Error::AbiVersion`]; [`Error::Kernel`] if the kernel
    /// refuses a context.
    #[doc(alias("ibv_open_device", "mlx5dv_open_device"))]
    pub fn open(&self) -> Result<Context> {
        self.open_for(Devx::No)
    }

    /// Opens the device for firmware commands too.
    ///
    /// # Errors
    /// As [`open`](Self::open); the [reason](crate::Reason) of an `EINVAL` says if the firmware has no user contexts.
    #[doc(alias = "MLX5DV_CONTEXT_FLAGS_DEVX")]
    pub fn open_devx(&self) -> Result<Context> {
        self.open_for(Devx::Yes)
    }

    fn open_for(&self, devx: Devx) -> Result<Context> {
        // Every command names the device's driver, and the kernel refuses any other. So there is no need to look it up
        // if it is the one that it most likely is.
        let likely = self.driver.get().copied().unwrap_or(DriverId::MLX5);
        match self.open_as(likely, devx) {
            Err(error) if error.errno() == Some(Errno::INVAL.raw_os_error()) && self.driver() != likely => {
                self.open_as(self.driver(), devx)
            }
            result => result,
        }
    }

    fn open_as(&self, driver: DriverId, devx: Devx) -> Result<Context> {
        if driver == DriverId::UNKNOWN {
            return Err(Error::UnknownDriver { device: self.name.clone() });
        }
        if devx == Devx::Yes && driver != DriverId::MLX5 {
            return Err(Error::NotMlx5 { driver });
        }
        match self.abi {
            Some(found) if driver == DriverId::MLX5 && found != MLX5_IB_UVERBS_ABI_VERSION => {
                let path = self.sysfs("abi_version");
                Err(Error::AbiVersion { path, found, known: MLX5_IB_UVERBS_ABI_VERSION })
            }
            _ => Context::on(self.open_node()?, driver, devx),
        }
    }

    /// Opens the node and makes sure that it is this device.
    fn open_node(&self) -> Result<OwnedFd> {
        let node = |errno: rustix::io::Errno| Error::Node { path: self.node.clone(), errno: errno.into() };
        let fd = rustix::fs::open(&self.node, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()).map_err(node)?;
        let stat = rustix::fs::fstat(&fd).map_err(node)?;
        let number = Number::of(&stat);
        let is_device = FileType::from_raw_mode(stat.st_mode) == FileType::CharacterDevice;
        let is_this = match self.number {
            Some(expected) => number == expected,
            // Found by name: its number was not asked for then, and what the number is now comes to the same.
            None => self.roots.uverbs_of(number).is_some_and(|uverbs| uverbs == self.uverbs),
        };
        if is_device && is_this {
            Ok(fd)
        } else {
            let what = self.node.display().to_string();
            Err(Error::OtherDevice { what, expected: format!("the device {}", self.name) })
        }
    }

    /// An attribute of the device in sysfs.
    fn read(&self, attribute: &str) -> Option<String> {
        sysfs::read(&self.roots.devices().join(&self.name).join(attribute)).ok()
    }

    /// A path below the character device's place in sysfs.
    fn sysfs(&self, path: &str) -> PathBuf {
        self.roots.class().join(&self.uverbs).join(path)
    }
}
