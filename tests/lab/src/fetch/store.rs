//! The folder everything is fetched into, and how a product gets there: whole or not at all.

use std::{
    env, fs,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use nix::fcntl::{Flock, FlockArg};

use super::{
    apt::Archive,
    error::{AtPath, Error, Result},
    headers::Headers,
    kernel::{Kernel, KernelName},
    peer::Peer,
    product::{Product, rename},
    qemu::{self, Qemu},
    say,
    sysroot::Sysroot,
    unpack::unpack,
};

/// How many seconds the lists of a release are good for when something is missing.
const LISTS_LAST: u64 = 60 * 60;

/// In each product's folder: the packages it is made of, one a line.
const STAMP: &str = "packages";

/// Folders that were not finished.
const UNFINISHED: &str = ".unfinished-";

/// `target/lab`.
#[derive(Debug)]
pub(crate) struct Store {
    dir: PathBuf,
    opened: SystemTime,
}

impl Store {
    /// Opens `$UVERBS_LAB_DIR`, or else the folder `lab` in cargo's target folder.
    ///
    /// # Errors
    /// The folder cannot be made.
    pub(crate) fn open() -> Result<Self> {
        let dir = env::var_os("UVERBS_LAB_DIR").map_or_else(|| target_dir().join("lab"), PathBuf::from);
        fs::create_dir_all(&dir).at(&dir)?;
        let dir = dir.canonicalize().at(&dir)?;
        Ok(Self { dir, opened: SystemTime::now() })
    }

    /// The folder; it exists.
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// A kernel, fetched if it is not there.
    ///
    /// # Errors
    /// It cannot be had.
    pub(crate) fn kernel(&self, name: KernelName) -> Result<Kernel> {
        Kernel::open(name, &self.provide(&name, false)?)
    }

    /// The newest image of a kernel.
    pub(super) fn update_kernel(&self, name: KernelName) -> Result<Kernel> {
        Kernel::open(name, &self.provide(&name, true)?)
    }

    /// QEMU, fetched if it is not there; where no packages can be had the one in `PATH`.
    ///
    /// # Errors
    /// It cannot be had, or is too old.
    pub(crate) fn qemu(&self) -> Result<Qemu> {
        self.find_qemu(false)
    }

    /// The newest QEMU.
    pub(super) fn update_qemu(&self) -> Result<Qemu> {
        self.find_qemu(true)
    }

    fn find_qemu(&self, update: bool) -> Result<Qemu> {
        match self.provide(&qemu::Package, update) {
            Ok(tree) => Qemu::in_tree(&tree),
            Err(Error::Unavailable { what, reason }) => Qemu::at(Path::new(qemu::PROGRAM)).map_err(|error| {
                Error::unavailable(&what, format!("{reason}; and the one in PATH does not do: {error}"))
            }),
            Err(error) => Err(error),
        }
    }

    /// The headers of a kernel: a folder with `libc-dev` and `common`.
    pub(super) fn headers(&self, name: KernelName, update: bool) -> Result<PathBuf> {
        self.provide(&Headers(name), update)
    }

    /// rdma-core and its friends: the root of a file system.
    pub(crate) fn peer(&self, update: bool) -> Result<PathBuf> {
        self.provide(&Peer, update)
    }

    /// A root for `cc --sysroot`, with rdma-core's headers and libraries; fetched if it is not there.
    ///
    /// # Errors
    /// It cannot be had.
    pub(crate) fn sysroot(&self) -> Result<PathBuf> {
        self.provide(&Sysroot, false)
    }

    /// The same, of the newest packages.
    pub(super) fn update_sysroot(&self) -> Result<PathBuf> {
        self.provide(&Sysroot, true)
    }

    /// The folder of `product`, made first if it is not there, or if it is old and an `update` is wanted.
    fn provide(&self, product: &impl Product, update: bool) -> Result<PathBuf> {
        let dir = self.dir.join(product.folder());
        if dir.exists() && !update {
            return Ok(dir);
        }
        let _lock = self.lock()?;
        // Another process may have made it while this one waited.
        if dir.exists() && !update {
            return Ok(dir);
        }
        let fresh = if update { self.opened } else { self.opened - Duration::from_secs(LISTS_LAST) };
        let archive = Archive::open(&self.dir.join("apt"), product, fresh)?;
        let parts = product.parts(&archive)?;
        let stamp = parts.stamp();
        if fs::read_to_string(dir.join(STAMP)).is_ok_and(|old| old == stamp) {
            return Ok(dir);
        }

        let downloads = self.dir.join("downloads").join(product.folder());
        // Half of a download is good only for the lists it began with.
        let begun = fs::metadata(&downloads).and_then(|metadata| metadata.modified()).ok();
        if begun.is_some_and(|begun| archive.lists_date().is_none_or(|lists| lists > begun)) {
            fs::remove_dir_all(&downloads).at(&downloads)?;
        }
        archive.download(&parts, &downloads)?;
        say(&format!("{}: unpacking", product.name()));
        let unpacked = self.scratch()?;
        for deb in debs_in(&downloads)? {
            let package = deb.file_name().unwrap_or_default().to_string_lossy();
            let package = package.split('_').next().unwrap_or_default();
            unpack(&deb, unpacked.path(), product.choice(package))?;
        }
        let finished = self.scratch()?;
        product.arrange(unpacked.path(), finished.path())?;
        let path = finished.path().join(STAMP);
        fs::write(&path, stamp).at(&path)?;
        self.put(finished, &dir)?;
        fs::remove_dir_all(&downloads).at(&downloads)?;
        Ok(dir)
    }

    /// Gives a finished folder its name. The lock is held.
    fn put(&self, finished: tempfile::TempDir, dir: &Path) -> Result<()> {
        if let Some(parent) = dir.parent() {
            fs::create_dir_all(parent).at(parent)?;
        }
        // Held until the new one is in place; then it takes the old one with it.
        let old = self.scratch()?;
        if dir.exists() {
            rename(dir, &old.path().join("old"))?;
        }
        rename(&finished.keep(), dir)
    }

    /// A folder that vanishes, on the same file system as the products.
    fn scratch(&self) -> Result<tempfile::TempDir> {
        use std::os::unix::fs::PermissionsExt as _;
        tempfile::Builder::new()
            .prefix(UNFINISHED)
            .permissions(fs::Permissions::from_mode(0o755))
            .tempdir_in(&self.dir)
            .at(&self.dir)
    }

    /// Waits until no other process fetches, and clears away what a killed one left.
    fn lock(&self) -> Result<Flock<fs::File>> {
        let path = self.dir.join("lock");
        let file = fs::File::create(&path).at(&path)?;
        let lock = Flock::lock(file, FlockArg::LockExclusiveNonblock)
            .or_else(|(file, _)| {
                say("waiting for another process that fetches");
                Flock::lock(file, FlockArg::LockExclusive)
            })
            .map_err(|(_, errno)| std::io::Error::from(errno))
            .at(&path)?;
        for entry in fs::read_dir(&self.dir).at(&self.dir)?.flatten() {
            if entry.file_name().to_string_lossy().starts_with(UNFINISHED) {
                fs::remove_dir_all(entry.path()).at(&entry.path())?;
            }
        }
        Ok(lock)
    }
}

/// Cargo's target folder.
fn target_dir() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(
        || {
            let package = Path::new(env!("CARGO_MANIFEST_DIR"));
            package.ancestors().nth(2).unwrap_or(package).join("target")
        },
        PathBuf::from,
    )
}

/// The packages that were downloaded, in order.
fn debs_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).at(folder)?;
    let mut debs: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    debs.retain(|path| path.extension().is_some_and(|extension| extension == "deb"));
    debs.sort();
    Ok(debs)
}
