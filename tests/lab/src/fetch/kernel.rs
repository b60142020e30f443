//! Stock kernels: which there are, where each comes from, and a kernel at hand.

use std::{
    fmt, fs,
    path::{Path, PathBuf},
    str::FromStr,
};

use clap::ValueEnum;

use super::{
    apt::Archive,
    error::{AtPath, Error, Result},
    modules::{Module, Tree},
    product::{Parts, Product, only_entry, rename},
    sources::Release,
};

/// A stock kernel that the lab knows: the newest generic image of a suite of Debian.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, ValueEnum)]
pub(crate) enum KernelName {
    /// Before steering anchors: from bullseye.
    #[value(name = "5.10")]
    V5_10,
    /// From bookworm.
    #[value(name = "6.1")]
    V6_1,
    /// From trixie.
    #[value(name = "6.12")]
    V6_12,
    /// The newest one: from trixie-backports.
    #[value(name = "7")]
    V7,
}

impl KernelName {
    /// All of them, from the oldest to the newest.
    pub(crate) const ALL: [Self; 4] = [Self::V5_10, Self::V6_1, Self::V6_12, Self::V7];

    /// The name, as the user types it.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::V5_10 => "5.10",
            Self::V6_1 => "6.1",
            Self::V6_12 => "6.12",
            Self::V7 => "7",
        }
    }

    /// The release of Debian whose kernel it is.
    pub(super) const fn release(self) -> Release {
        match self {
            Self::V5_10 => Release::Bullseye,
            Self::V6_1 => Release::Bookworm,
            Self::V6_12 | Self::V7 => Release::Trixie,
        }
    }

    /// The suite it comes from, if not the release's own.
    pub(super) const fn suite(self) -> Option<&'static str> {
        match self {
            Self::V7 => Some("trixie-backports"),
            Self::V5_10 | Self::V6_1 | Self::V6_12 => None,
        }
    }
}

impl fmt::Display for KernelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for KernelName {
    type Err = String;

    fn from_str(name: &str) -> std::result::Result<Self, String> {
        <Self as ValueEnum>::from_str(name, false)
    }
}

/// Of the thousands of modules, those that no RDMA device in a virtual machine needs: three quarters of it.
const LEFT_OUT: [&str; 14] = [
    "--exclude=./usr/share",
    "--exclude=./boot/System.map*",
    "--exclude=*/kernel/sound",
    "--exclude=*/kernel/fs/[!9fno]*",
    "--exclude=*/kernel/drivers/gpu",
    "--exclude=*/kernel/drivers/iio",
    "--exclude=*/kernel/drivers/media",
    "--exclude=*/kernel/drivers/net/ethernet/[!m]*",
    "--exclude=*/kernel/drivers/net/wireless",
    "--exclude=*/kernel/drivers/platform",
    "--exclude=*/kernel/drivers/scsi",
    "--exclude=*/kernel/drivers/staging",
    "--exclude=*/kernel/drivers/usb",
    "--exclude=*/kernel/net/bluetooth",
];

impl Product for KernelName {
    fn name(&self) -> String {
        format!("kernel {self}")
    }

    fn folder(&self) -> PathBuf {
        Path::new("kernels").join(self.as_str())
    }

    fn release(&self) -> Release {
        (*self).release()
    }

    fn suite(&self) -> Option<&'static str> {
        (*self).suite()
    }

    /// The newest image is what the metapackage of the generic flavour depends on. Since 7.3 an image
    /// is itself split: the kernel in `linux-binary-*`, the modules in `linux-modules-*`, and which modules
    /// are built in tells `linux-base-*`.
    fn parts(&self, archive: &Archive) -> Result<Parts> {
        const PARTS: [&str; 4] = ["linux-image-", "linux-base-", "linux-binary-", "linux-modules-"];
        let of_image = |name: &str| PARTS.iter().any(|part| name.starts_with(part));
        let packages = archive.select(&["linux-image-amd64"], of_image)?;
        Ok(Parts { packages, closure: false })
    }

    fn choice(&self, _package: &str) -> &'static [&'static str] {
        &LEFT_OUT
    }

    fn arrange(&self, unpacked: &Path, finished: &Path) -> Result<()> {
        let modules = ["lib/modules", "usr/lib/modules"]
            .iter()
            .find_map(|folder| only_entry(&unpacked.join(folder)))
            .ok_or_else(|| Error::unavailable(&self.name(), "its packages hold no folder of modules"))?;
        let release = modules.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let image = [unpacked.join("boot").join(format!("vmlinuz-{release}")), modules.join("vmlinuz")]
            .into_iter()
            .find(|path| path.exists())
            .ok_or_else(|| Error::unavailable(&self.name(), "its packages hold no vmlinuz"))?;
        rename(&image, &finished.join("vmlinuz"))?;
        rename(&modules, &finished.join("modules"))?;
        let path = finished.join("release");
        fs::write(&path, release).at(&path)
    }
}

/// A kernel to boot, and its modules.
#[derive(Debug)]
pub(crate) struct Kernel {
    /// Which one, unless the user gave it.
    pub(crate) name: Option<KernelName>,
    /// What `uname -r` says in it.
    pub(crate) release: String,
    /// The file to boot.
    pub(crate) image: PathBuf,
    modules: Tree,
}

impl Kernel {
    /// A kernel of the store, in `dir`.
    pub(super) fn open(name: KernelName, dir: &Path) -> Result<Self> {
        let path = dir.join("release");
        let release = fs::read_to_string(&path).at(&path)?.trim().to_owned();
        let modules = Tree::open(&dir.join("modules"))?.keep_unpacked();
        Ok(Self { name: Some(name), release, image: dir.join("vmlinuz"), modules })
    }

    /// A kernel of the user's: its image, and its folder in `/lib/modules`.
    ///
    /// # Errors
    /// There is no such file or folder.
    pub(crate) fn from_files(image: &Path, modules: &Path) -> Result<Self> {
        fs::File::open(image).at(image)?;
        let modules_dir = modules.canonicalize().at(modules)?;
        let release = modules_dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let modules = Tree::open(&modules_dir)?;
        Ok(Self { name: None, release, image: image.to_owned(), modules })
    }

    /// Modules by name and all they depend on, in an order in which they can be loaded. What is built into
    /// the kernel is left out. Of the `optional` ones those that this kernel does not have are left out
    /// too; they come first, because others find them only by an alias (a checksum, a cipher).
    ///
    /// # Errors
    /// A required module is not there, or a file cannot be read.
    pub(crate) fn modules(&self, required: &[&str], optional: &[&str]) -> Result<Vec<Module>> {
        let mut modules = Vec::new();
        for name in optional {
            if self.modules.has_file(name) {
                self.modules.load(&self.release, name, None, &mut modules)?;
            }
        }
        for name in required {
            self.modules.load(&self.release, name, None, &mut modules)?;
        }
        Ok(modules)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_what_the_user_types() {
        assert_eq!(KernelName::ALL, *KernelName::value_variants());
        for name in KernelName::ALL {
            assert_eq!(name.to_string().parse(), Ok(name));
            assert_eq!(name.to_possible_value().unwrap().get_name(), name.as_str());
        }
        assert!("6".parse::<KernelName>().is_err());
    }

    #[test]
    fn both_layouts_of_an_image_are_arranged_alike() {
        for (image, modules) in [
            ("boot/vmlinuz-1.2-amd64", "lib/modules/1.2-amd64"),
            ("usr/lib/modules/1.2-amd64/vmlinuz", "usr/lib/modules/1.2-amd64"),
        ] {
            let (unpacked, finished) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
            let kernel = unpacked.path().join(modules).join("kernel");
            fs::create_dir_all(&kernel).unwrap();
            fs::create_dir_all(unpacked.path().join("boot")).unwrap();
            fs::write(unpacked.path().join(image), "image").unwrap();
            KernelName::V6_1.arrange(unpacked.path(), finished.path()).unwrap();
            assert!(finished.path().join("modules/kernel").is_dir(), "{image}");
            let kernel = Kernel::open(KernelName::V6_1, finished.path()).unwrap();
            assert_eq!(kernel.release, "1.2-amd64");
            assert_eq!(fs::read_to_string(kernel.image).unwrap(), "image");
        }
    }

    #[test]
    fn a_kernel_of_the_users_is_named_by_its_modules() {
        let folder = tempfile::tempdir().unwrap();
        let (image, modules) = (folder.path().join("bzImage"), folder.path().join("1.2-own"));
        let error = Kernel::from_files(&image, &modules).unwrap_err().to_string();
        assert!(error.contains("bzImage: No such file"), "{error}");
        fs::write(&image, "image").unwrap();
        let error = Kernel::from_files(&image, &modules).unwrap_err().to_string();
        assert!(error.contains("1.2-own: No such file"), "{error}");
        fs::create_dir(&modules).unwrap();
        let kernel = Kernel::from_files(&image, &modules).unwrap();
        assert_eq!((kernel.name, kernel.release.as_str()), (None, "1.2-own"));
        assert!(kernel.modules(&[], &["crc32_generic"]).unwrap().is_empty());
        let error = kernel.modules(&["mlx5_ib"], &[]).unwrap_err().to_string();
        assert_eq!(error, "kernel 1.2-own has no module mlx5_ib");
    }

    #[test]
    fn packages_without_a_kernel_are_refused() {
        let (unpacked, finished) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let error = KernelName::V7.arrange(unpacked.path(), finished.path()).unwrap_err();
        assert_eq!(error.to_string(), "kernel 7 cannot be had: its packages hold no folder of modules");
        fs::create_dir_all(unpacked.path().join("lib/modules/1.2")).unwrap();
        let error = KernelName::V7.arrange(unpacked.path(), finished.path()).unwrap_err();
        assert_eq!(error.to_string(), "kernel 7 cannot be had: its packages hold no vmlinuz");
    }
}
