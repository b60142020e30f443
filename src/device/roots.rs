//! Where devices are looked for.

use std::{
    borrow::Cow,
    os::fd::{AsFd, OwnedFd},
    path::{Path, PathBuf},
};

use rustix::{fs::FileType, io::Errno};
use uverbs_uapi::ib_user_verbs::IB_USER_VERBS_ABI_VERSION;

use super::{Device, Number, name, netlink, sysfs};
use crate::{Context, DriverId, Error, Result, get_context::Devx};

/// Where sysfs and the device nodes are: `/sys` and `/dev`, unless a test or a container has them elsewhere.
///
/// With other roots than the default, only they are looked at, and the kernel is not asked through netlink: then a
/// device has no [index](Device::index), and the driver of one that is not mlx5 is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roots {
    sys: Cow<'static, Path>,
    dev: Cow<'static, Path>,
}

impl Default for Roots {
    fn default() -> Self {
        Self { sys: Cow::Borrowed(Path::new("/sys")), dev: Cow::Borrowed(Path::new("/dev")) }
    }
}

impl Roots {
    /// sysfs at `sys`, and the nodes in `dev`.
    pub fn new(sys: impl Into<PathBuf>, dev: impl Into<PathBuf>) -> Self {
        Self { sys: Cow::Owned(sys.into()), dev: Cow::Owned(dev.into()) }
    }

    /// All RDMA devices that user space may use, in the order of the kernel's index (or, without netlink, of the nodes'
    /// numbers).
    ///
    /// The kernel is asked once, through netlink; where that fails, sysfs is read. A device whose node is missing is
    /// listed: [`Device::access`] says why it cannot be opened.
    ///
    /// # Errors
    /// [`Error::NoUverbs`] if the kernel has no uverbs, [`Error::AbiVersion`] if it speaks another version.
    pub fn list(&self) -> Result<Vec<Device>> {
        if *self == Self::default() {
            match self.list_by_netlink() {
                Ok(devices) if !devices.is_empty() => return Ok(devices),
                // sysfs is complete too, and says more plainly what is missing.
                Ok(_) | Err(_) => {}
            }
        }
        self.list_by_sysfs()
    }

    /// The RDMA device of this name, without listing all.
    ///
    /// Index, GUID and what else [`list`](Self::list) knows are looked up when asked for.
    ///
    /// # Errors
    /// [`Error::NoSuchDevice`]; otherwise as [`list`](Self::list).
    pub fn by_name(&self, name: &str) -> Result<Device> {
        let no_such_device = || Error::NoSuchDevice { name: name.to_owned() };
        if !name::is_device(name) {
            return Err(no_such_device());
        }
        match self.look_up(name) {
            Some(device) => Ok(device),
            None => self.list()?.into_iter().find(|device| device.name() == name).ok_or_else(no_such_device),
        }
    }

    fn list_by_netlink(&self) -> Result<Vec<Device>, Errno> {
        let mut socket = netlink::Socket::open()?;
        let listed = socket.devices()?;
        let mut devices = Vec::<Device>::with_capacity(listed.len());
        for listed in listed {
            match socket.char_device(listed.index) {
                Ok(node) if name::is_uverbs(&node.name) => {
                    let device = Device::listed(self, listed, node);
                    // The kernel tells them in this order, though nothing promises it: as a rule this is a push.
                    let place = devices.partition_point(|earlier| earlier.index < device.index);
                    devices.insert(place, device);
                }
                // Not for user space, or gone since.
                Ok(_) | Err(Errno::OPNOTSUPP | Errno::NODEV | Errno::INVAL | Errno::NODATA) => {}
                Err(errno) => return Err(errno),
            }
        }
        Ok(devices)
    }

    fn list_by_sysfs(&self) -> Result<Vec<Device>> {
        let class = self.class();
        let mut names = match sysfs::names(&class, name::is_uverbs) {
            Ok(names) => names,
            Err(errno @ (Errno::NOENT | Errno::NOTDIR)) => {
                return Err(Error::NoUverbs { path: class, errno: errno.into() });
            }
            Err(errno) => return Err(Error::Sysfs { path: class, errno: errno.into() }),
        };
        let path = class.join("abi_version");
        let found = sysfs::read(&path).ok().and_then(|text| text.parse().ok()).unwrap_or(0);
        if found != IB_USER_VERBS_ABI_VERSION {
            return Err(Error::AbiVersion { path, found, known: IB_USER_VERBS_ABI_VERSION });
        }
        names.sort_unstable_by_key(|name| name::uverbs_number(name));
        // One that cannot be read is on its way out, or in.
        Ok(names.into_iter().filter_map(|uverbs| self.read_device(uverbs)).collect())
    }

    fn read_device(&self, uverbs: String) -> Option<Device> {
        let directory = self.class().join(&uverbs);
        let name = sysfs::read(&directory.join("ibdev")).ok().filter(|name| name::is_device(name))?;
        let number = Number::from_sysfs(&sysfs::read(&directory.join("dev")).ok()?)?;
        let driver = self.driver(&uverbs).unwrap_or(DriverId::UNKNOWN).into();
        let abi = sysfs::read(&directory.join("abi_version")).ok().and_then(|text| text.parse().ok());
        Some(Device { driver, number: Some(number), abi, ..Device::named(self, name, uverbs) })
    }

    /// The device `name`, by its place in sysfs alone: that of a device which is part of a PCI function.
    fn look_up(&self, name: &str) -> Option<Device> {
        let parent = self.devices().join(name).join("device");
        let mut nodes = sysfs::first_names(&parent.join("infiniband_verbs"), name::is_uverbs).ok()?;
        if nodes.len() > 1 {
            // Several devices have this parent.
            nodes.retain(|uverbs| {
                sysfs::read(&self.class().join(uverbs).join("ibdev")).is_ok_and(|of| of == name)
            });
        }
        Some(Device::named(self, name.to_owned(), nodes.pop()?))
    }

    /// The driver of a device that was found by name.
    pub(super) fn driver_of(&self, device: &Device) -> DriverId {
        self.driver(&device.uverbs)
            .unwrap_or_else(|| self.listed_driver(|listed| listed.uverbs == device.uverbs))
    }

    /// The driver of the device that `wanted` takes, if the kernel can be asked.
    fn listed_driver(&self, wanted: impl Fn(&Device) -> bool) -> DriverId {
        let devices = if *self == Self::default() { self.list_by_netlink() } else { Ok(Vec::new()) };
        devices
            .unwrap_or_default()
            .iter()
            .find(|device| wanted(device))
            .map_or(DriverId::UNKNOWN, Device::driver)
    }

    /// The driver of `uverbsN`, if sysfs gives it away.
    fn driver(&self, uverbs: &str) -> Option<DriverId> {
        let name = sysfs::link_name(&self.class().join(uverbs).join("device/driver"))?;
        (name == "mlx5_core").then_some(DriverId::MLX5)
    }

    /// Where sysfs has the character devices.
    pub(super) fn class(&self) -> PathBuf {
        self.sys.join("class/infiniband_verbs")
    }

    /// Where sysfs has the devices.
    pub(super) fn devices(&self) -> PathBuf {
        self.sys.join("class/infiniband")
    }

    pub(super) fn node(&self, uverbs: &str) -> PathBuf {
        self.dev.join("infiniband").join(uverbs)
    }

    /// The name of the uverbs device with this number, as the kernel has it now.
    pub(super) fn uverbs_of(&self, number: Number) -> Option<String> {
        let target = sysfs::link(&self.sys.join("dev/char").join(number.to_string())).ok()?;
        let uverbs = target.file_name()?.to_str().filter(|name| name::is_uverbs(name))?;
        target.parent()?.ends_with("infiniband_verbs").then(|| uverbs.to_owned())
    }

    /// Takes over an open file, of which it finds out the driver.
    pub(crate) fn adopt(&self, fd: OwnedFd, devx: Devx) -> Result<Context> {
        let stat = rustix::fs::fstat(fd.as_fd())
            .map_err(|errno| Error::Io { doing: "look at the file", errno: errno.into() })?;
        let number = Number::of(&stat);
        let is_device = FileType::from_raw_mode(stat.st_mode) == FileType::CharacterDevice;
        let uverbs = if is_device { self.uverbs_of(number) } else { None };
        let by_sysfs = uverbs.as_deref().and_then(|uverbs| self.driver(uverbs));
        let driver = match by_sysfs {
            Some(driver) => driver,
            None if is_device => self.listed_driver(|listed| listed.number == Some(number)),
            None => DriverId::UNKNOWN,
        };
        match (driver, uverbs) {
            (DriverId::UNKNOWN, Some(device)) => Err(Error::UnknownDriver { device }),
            (DriverId::UNKNOWN, None) => {
                Err(Error::OtherDevice { what: "the file".to_owned(), expected: "an RDMA device".to_owned() })
            }
            (driver, _) => Context::adopt(fd, driver, devx),
        }
    }
}
