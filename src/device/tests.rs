//! Discovery and opening, in trees of files that look like sysfs and /dev.
//!
//! A tree's nodes are links to `/dev/null`, whose number (1:3) its sysfs gives the device; commands go to the fake
//! kernel. What happens to a damaged tree was compared with what libibverbs does to the same (44 and 65); where ours
//! differs, it is by design, and said next to the case.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use rustix::io::Errno;
use tempfile::TempDir;

use super::*;
use crate::{Lacking, command::fake};

/// The number of `/dev/null`.
const NULL: &str = "1:3";

struct Tree {
    root: TempDir,
}

impl Tree {
    /// A tree with no device yet.
    fn new() -> Self {
        let tree = Self { root: TempDir::new().unwrap() };
        tree.write("sys/class/infiniband_verbs/abi_version", "6\n");
        fs::create_dir_all(tree.path("dev/infiniband")).unwrap();
        tree
    }

    /// A tree with one mlx5 device, `mlx5_0` at `uverbs0`.
    fn with_one() -> Self {
        let tree = Self::new();
        tree.add("mlx5_0", "uverbs0", NULL);
        tree
    }

    fn add(&self, name: &str, uverbs: &str, number: &str) {
        let function = format!(
            "sys/devices/pci0000:00/0000:00:0{}.0",
            uverbs.len() + usize::from(name.as_bytes()[5]) % 2
        );
        let function = function.as_str();
        self.write(&format!("{function}/infiniband_verbs/{uverbs}/ibdev"), &format!("{name}\n"));
        self.write(&format!("{function}/infiniband_verbs/{uverbs}/dev"), &format!("{number}\n"));
        self.write(&format!("{function}/infiniband_verbs/{uverbs}/abi_version"), "1\n");
        self.write(&format!("{function}/infiniband/{name}/node_guid"), "0c42:a103:0012:3456\n");
        self.write(&format!("{function}/infiniband/{name}/fw_ver"), "22.35.1012\n");
        self.write(&format!("{function}/infiniband/{name}/ports/1/state"), "4: ACTIVE\n");
        self.link(&format!("{function}/driver"), &self.path("sys/bus/pci/drivers/mlx5_core"));
        self.link(&format!("{function}/infiniband_verbs/{uverbs}/device"), &self.path(function));
        self.link(&format!("{function}/infiniband/{name}/device"), &self.path(function));
        let place = self.path(&format!("{function}/infiniband_verbs/{uverbs}"));
        self.link(&format!("sys/class/infiniband_verbs/{uverbs}"), &place);
        self.link(&format!("sys/dev/char/{number}"), &place);
        self.link(
            &format!("sys/class/infiniband/{name}"),
            &self.path(&format!("{function}/infiniband/{name}")),
        );
        self.link(&format!("dev/infiniband/{uverbs}"), Path::new("/dev/null"));
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn link(&self, path: &str, target: &Path) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::create_dir_all(target).ok();
        symlink(target, path).unwrap();
    }

    fn remove(&self, path: &str) {
        let path = self.path(path);
        if path.is_dir() && !path.is_symlink() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
            .unwrap();
    }

    fn roots(&self) -> Roots {
        Roots::new(self.path("sys"), self.path("dev"))
    }
}

#[test]
fn a_device_is_found_by_list_and_by_name_alike() {
    let tree = Tree::with_one();
    for device in [tree.roots().list().unwrap().remove(0), tree.roots().by_name("mlx5_0").unwrap()] {
        assert_eq!((device.name(), device.driver()), ("mlx5_0", DriverId::MLX5));
        assert_eq!(device.node(), tree.path("dev/infiniband/uverbs0"));
        assert_eq!(device.node_guid().map(|guid| guid.to_string()).as_deref(), Some("0c42:a103:0012:3456"));
        assert_eq!(device.firmware_version().as_deref(), Some("22.35.1012"));
        assert_eq!(device.ports(), Some(1));
        assert_eq!(device.index(), None, "netlink is not asked in a tree");
        assert!(device.pci_address().is_some_and(|address| address.starts_with("0000:00:0")));
        assert_eq!(device.kernel_driver().as_deref(), Some("mlx5_core"));
        device.access().unwrap();
        fake::install(|_| Ok(()));
        device.open().unwrap();
        assert!(device.open_devx().unwrap().is_devx());
    }
}

/// What each damage to the tree does to list and open.
#[test]
fn damaged_trees() {
    /// How opening ends.
    #[derive(Debug, PartialEq)]
    enum Open {
        Works,
        Node(Errno),
        OtherDevice,
        AbiVersion,
    }
    type Damage = fn(&Tree);
    let cases: [(&str, Damage, Option<Open>); 14] = [
        ("nothing", |_| {}, Some(Open::Works)),
        // libibverbs hides the device; here it is listed, and asked why, it tells.
        ("the node is missing", |tree| tree.remove("dev/infiniband/uverbs0"), Some(Open::Node(Errno::NOENT))),
        // libibverbs says ENOENT, of a second place where it looks for the node.
        (
            "the node is another device",
            |tree| {
                tree.remove("dev/infiniband/uverbs0");
                tree.link("dev/infiniband/uverbs0", Path::new("/dev/zero"));
            },
            Some(Open::OtherDevice),
        ),
        (
            "the node is a plain file",
            |tree| {
                tree.remove("dev/infiniband/uverbs0");
                tree.write("dev/infiniband/uverbs0", "");
            },
            Some(Open::OtherDevice),
        ),
        ("no ibdev", |tree| tree.remove("sys/class/infiniband_verbs/uverbs0/ibdev"), None),
        ("no dev", |tree| tree.remove("sys/class/infiniband_verbs/uverbs0/dev"), None),
        ("dev is garbage", |tree| tree.write("sys/class/infiniband_verbs/uverbs0/dev", "231-192"), None),
        (
            "ibdev leads elsewhere",
            |tree| tree.write("sys/class/infiniband_verbs/uverbs0/ibdev", "../x"),
            None,
        ),
        // libibverbs hides the device and warns on the standard error.
        (
            "another ABI of the driver",
            |tree| tree.write("sys/class/infiniband_verbs/uverbs0/abi_version", "2\n"),
            Some(Open::AbiVersion),
        ),
        // libibverbs looks the PCI id up in a table, so a new card is not found; here the driver's name counts.
        ("no modalias", |_| {}, Some(Open::Works)),
        (
            "a stray uverbs7",
            |tree| fs::create_dir(tree.path("sys/class/infiniband_verbs/uverbs7")).unwrap(),
            Some(Open::Works),
        ),
        (
            "a stray file",
            |tree| tree.write("sys/class/infiniband_verbs/README", "no device"),
            Some(Open::Works),
        ),
        ("no GUID", |tree| tree.remove("sys/class/infiniband/mlx5_0/node_guid"), Some(Open::Works)),
        (
            "the GUID is garbage",
            |tree| tree.write("sys/class/infiniband/mlx5_0/node_guid", "none"),
            Some(Open::Works),
        ),
    ];
    for (what, damage, expected) in cases {
        let tree = Tree::with_one();
        damage(&tree);
        fake::install(|_| Ok(()));
        let devices = tree.roots().list().unwrap();
        let opened = devices.first().map(|device| match device.open() {
            Ok(_) => Open::Works,
            Err(Error::Node { errno, .. }) => Open::Node(Errno::from_raw_os_error(errno.raw())),
            Err(Error::OtherDevice { .. }) => Open::OtherDevice,
            Err(Error::AbiVersion { found: 2, known: 1, .. }) => Open::AbiVersion,
            Err(error) => panic!("{what}: {error:?}"),
        });
        assert_eq!((devices.len() <= 1, opened), (true, expected), "{what}");
        if what.contains("GUID") {
            // libibverbs says 0.
            assert_eq!(devices[0].node_guid(), None, "{what}");
        }
    }
}

#[test]
fn a_kernel_without_uverbs_or_with_another_abi_is_named() {
    let tree = Tree::with_one();
    tree.write("sys/class/infiniband_verbs/abi_version", "7\n");
    let error = tree.roots().list().unwrap_err();
    assert!(matches!(error, Error::AbiVersion { found: 7, known: 6, .. }), "{error:?}");
    assert!(error.to_string().contains('7') && error.to_string().contains('6'));
    assert_eq!(error.lacking(), Some(Lacking::Build));
    tree.remove("sys/class/infiniband_verbs/abi_version");
    assert!(matches!(tree.roots().list(), Err(Error::AbiVersion { found: 0, .. })));
    tree.remove("sys/class/infiniband_verbs");
    let error = tree.roots().list().unwrap_err();
    assert!(matches!(error, Error::NoUverbs { .. }), "{error:?}");
    assert_eq!((error.errno(), error.lacking()), (Some(Errno::NOENT.raw_os_error()), Some(Lacking::Kernel)));
    assert!(error.hint().unwrap().contains("ib_uverbs"));
    assert_eq!(Tree::new().roots().list().unwrap().len(), 0, "uverbs, and no device");
}

#[test]
fn roots_may_end_in_slashes() {
    let tree = Tree::with_one();
    let slashes = |path: &str| PathBuf::from(format!("{}///", tree.path(path).display()));
    let roots = Roots::new(slashes("sys"), slashes("dev"));
    fake::install(|_| Ok(()));
    roots.list().unwrap()[0].open().unwrap();
    roots.by_name("mlx5_0").unwrap().open().unwrap();
}

#[test]
fn the_order_is_that_of_the_nodes_numbers() {
    let tree = Tree::new();
    for (name, uverbs) in [("mlx5_2", "uverbs10"), ("mlx5_1", "uverbs9"), ("mlx5_0", "uverbs2")] {
        tree.write(&format!("sys/class/infiniband_verbs/{uverbs}/ibdev"), name);
        tree.write(&format!("sys/class/infiniband_verbs/{uverbs}/dev"), NULL);
    }
    let devices = tree.roots().list().unwrap();
    let nodes: Vec<_> = devices.iter().map(|device| device.node().file_name().unwrap()).collect();
    assert_eq!(nodes, ["uverbs2", "uverbs9", "uverbs10"]);
}

#[test]
fn names_that_are_none_are_refused_without_a_look() {
    let tree = Tree::with_one();
    for name in ["mlx5_9", "", "..", "a/b", "mlx5_0/../mlx5_0", "\0"] {
        let error = tree.roots().by_name(name).unwrap_err();
        assert!(matches!(&error, Error::NoSuchDevice { name: refused } if refused == name), "{error:?}");
    }
}

/// Two devices on one parent: the node is found by what it says, not by its place.
#[test]
fn devices_with_the_same_parent_are_told_apart() {
    let tree = Tree::with_one();
    let parent = tree.path("sys/class/infiniband/mlx5_0/device").canonicalize().unwrap();
    let other = parent.join("infiniband_verbs/uverbs1");
    fs::create_dir_all(&other).unwrap();
    fs::write(other.join("ibdev"), "rxe0\n").unwrap();
    symlink(&other, tree.path("sys/class/infiniband_verbs/uverbs1")).unwrap();
    assert_eq!(tree.roots().by_name("mlx5_0").unwrap().node(), tree.path("dev/infiniband/uverbs0"));
}

/// The number of a node may be another device's by the time it is opened.
#[test]
fn a_number_that_was_reused_is_noticed() {
    let tree = Tree::with_one();
    let device = tree.roots().by_name("mlx5_0").unwrap();
    tree.remove("sys/dev/char/1:3");
    tree.link("sys/dev/char/1:3", &tree.path("sys/devices/other/infiniband_verbs/uverbs5"));
    fake::install(|_| Ok(()));
    assert!(matches!(device.open(), Err(Error::OtherDevice { .. })));
    let listed = tree.roots().list().unwrap().remove(0);
    tree.remove("dev/infiniband/uverbs0");
    tree.link("dev/infiniband/uverbs0", Path::new("/dev/zero"));
    assert!(matches!(listed.open(), Err(Error::OtherDevice { .. })));
    assert_eq!(fake::sent(), 0, "nothing is sent to the wrong device");
}

/// A rename between list and open changes nothing: the node counts.
#[test]
fn a_renamed_device_still_opens() {
    let tree = Tree::with_one();
    let device = tree.roots().list().unwrap().remove(0);
    tree.write("sys/class/infiniband_verbs/uverbs0/ibdev", "rocep0s4\n");
    fake::install(|_| Ok(()));
    device.open().unwrap();
}

#[test]
fn the_driver_of_another_device_is_not_guessed() {
    let tree = Tree::with_one();
    let function = tree.path("sys/class/infiniband/mlx5_0/device").canonicalize().unwrap();
    fs::remove_file(function.join("driver")).unwrap();
    fs::create_dir_all(tree.path("sys/bus/pci/drivers/ice")).unwrap();
    symlink(tree.path("sys/bus/pci/drivers/ice"), function.join("driver")).unwrap();
    let device = tree.roots().by_name("mlx5_0").unwrap();
    // The kernel refuses commands that name another driver than the device's.
    fake::install(|_| Err(Errno::INVAL));
    assert!(matches!(device.open(), Err(Error::UnknownDriver { .. })));
    assert_eq!((device.driver(), device.kernel_driver().as_deref()), (DriverId::UNKNOWN, Some("ice")));
    assert!(matches!(device.open(), Err(Error::UnknownDriver { .. })));
    assert!(matches!(device.open_devx(), Err(Error::UnknownDriver { .. })));
}

/// Found by name, a device is taken for an mlx5 one until the kernel says otherwise; its refusals are its own.
#[test]
fn a_refusal_of_an_mlx5_device_is_told_as_it_is() {
    let tree = Tree::with_one();
    for errno in [Errno::INVAL, Errno::AGAIN, Errno::IO] {
        fake::install(move |_| Err(errno));
        let error = tree.roots().by_name("mlx5_0").unwrap().open().unwrap_err();
        assert_eq!((error.errno(), fake::sent()), (Some(errno.raw_os_error()), 1), "{error:?}");
    }
}

#[test]
fn a_file_is_adopted_if_it_is_an_rdma_device() {
    let tree = Tree::with_one();
    fake::install(|_| Ok(()));
    let context = tree.roots().adopt(fake::file(), Devx::No).unwrap();
    assert_eq!(context.driver(), DriverId::MLX5);
    let plain = fs::File::open(tree.path("sys/class/infiniband_verbs/abi_version")).unwrap();
    assert!(matches!(tree.roots().adopt(plain.into(), Devx::No), Err(Error::OtherDevice { .. })));
    let other = fs::File::open("/dev/zero").unwrap();
    assert!(matches!(tree.roots().adopt(other.into(), Devx::No), Err(Error::OtherDevice { .. })));
}

#[test]
fn numbers_are_read_from_kernel_and_sysfs() {
    for (value, text, (major, minor)) in [
        ((231 << 8) + 192, "231:192", (231, 192)),
        (0x12 << 20 | 0xabc << 8 | 0x34, "2748:4660", (0xabc, 0x1234)),
    ] {
        let number = Number { major, minor };
        assert_eq!((Number::from_kernel(value), number.to_string().as_str()), (number, text));
        assert_eq!(Number::from_sysfs(text), Some(number));
    }
    for text in ["", "231", "231:", ":192", "a:b", "231:192:1"] {
        assert_eq!(Number::from_sysfs(text), None, "{text:?}");
    }
}
