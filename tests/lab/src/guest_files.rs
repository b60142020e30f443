//! What goes into the guest's memory before it boots: the modules, and the parts of one run.

use std::{
    fs::{self, File},
    hash::{DefaultHasher, Hash, Hasher},
    io::{self, BufWriter, Write},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use lab_guest::{JOB_PATH, Job, MODULE_DIR, MODULE_LIST};

use crate::{
    error::{Error, Result},
    fetch::{Kernel, Store},
    initramfs::Archive,
    vmlinux,
};

/// The card's driver, with its verbs.
const MODULES: [&str; 3] = ["mlx5_core", "ib_uverbs", "mlx5_ib"];
/// The software device and an interface below it.
const RXE_MODULES: [&str; 2] = ["dummy", "rdma_rxe"];
/// Built in on some kernels: the way to the lab, and checksums that others find at run time.
const OPTIONAL_MODULES: [&str; 4] = ["virtio_pci", "virtio_console", "crc32c_generic", "crc32_generic"];

/// Everything of one run that is not the kernel's.
pub(crate) struct GuestFiles<'a> {
    /// The lab's init.
    pub(crate) init: &'a [u8],
    /// What init is to do.
    pub(crate) job: &'a Job,
    /// Programs and other files: their path in the guest, and their content.
    pub(crate) files: &'a [(String, Vec<u8>)],
    /// A folder of the host that becomes the guest's root.
    pub(crate) root: Option<&'a Path>,
}

/// Writes the whole initramfs of a run.
pub(crate) fn write(to: &Path, store: &Store, kernel: &Kernel, files: &GuestFiles) -> Result<()> {
    let modules = module_archive(store, kernel, files.job.rxe)?;
    let root = files.root.map(|root| root_archive(store, root)).transpose()?;
    let write = || -> io::Result<()> {
        let mut out = BufWriter::new(File::create(to)?);
        for part in root.iter().chain([&modules]) {
            io::copy(&mut File::open(part)?, &mut out)?;
        }
        let mut archive = Archive::new(out);
        archive.console()?;
        archive.program("/init", files.init)?;
        archive.file(JOB_PATH, &files.job.to_bytes())?;
        for (path, content) in files.files {
            archive.program(path, content)?;
        }
        archive.finish()?.flush()
    };
    write().map_err(Error::file("cannot write", to))
}

/// The archive with the kernel's modules, made anew only when the kernel is another one.
fn module_archive(store: &Store, kernel: &Kernel, rxe: bool) -> Result<PathBuf> {
    let required: Vec<_> = MODULES.into_iter().chain(RXE_MODULES.into_iter().filter(|_| rxe)).collect();
    // What the archive holds, and where, is as much a part of its identity as the kernel.
    let mut hasher = DefaultHasher::new();
    (vmlinux::fingerprint(&kernel.image)?, &required, OPTIONAL_MODULES, MODULE_DIR).hash(&mut hasher);
    let folder = store.dir().join("initramfs");
    let path = folder.join(format!("{}-{:016x}.cpio", kernel.release, hasher.finish()));
    if path.exists() {
        return Ok(path);
    }
    let modules = kernel.modules(&required, &OPTIONAL_MODULES)?;
    let write = || -> io::Result<()> {
        let mut archive = Archive::new(Vec::new());
        let mut list = String::new();
        for module in &modules {
            archive.file(&format!("{MODULE_DIR}/{}.ko", module.name), &module.image)?;
            list.push_str(&module.name);
            list.push_str(".ko\n");
        }
        archive.file(MODULE_LIST, list.as_bytes())?;
        vmlinux::write_whole(&folder, &path, &archive.finish()?)
    };
    write().map_err(Error::file("cannot write", &path))?;
    Ok(path)
}

/// Folders that Debian keeps below `/usr`, and to which older paths lead.
const MERGED: [&str; 4] = ["bin", "lib", "lib64", "sbin"];

/// The archive of a whole file system, made anew only when its root is another one.
fn root_archive(store: &Store, root: &Path) -> Result<PathBuf> {
    let folder = store.dir().join("initramfs");
    let path = folder.join(format!("root-{:016x}.cpio", vmlinux::fingerprint(root)?));
    if !path.exists() {
        let pack = || -> io::Result<Vec<u8>> {
            let mut archive = Archive::new(Vec::new());
            for name in MERGED.into_iter().filter(|name| root.join("usr").join(name).is_dir()) {
                archive.link(name, &format!("usr/{name}"))?;
            }
            add_folder(&mut archive, root, "")?;
            archive.finish()
        };
        let bytes = pack().map_err(Error::file("cannot pack", root))?;
        vmlinux::write_whole(&folder, &path, &bytes).map_err(Error::file("cannot write", &path))?;
    }
    Ok(path)
}

/// Adds what is in `root/inner`, links as links.
fn add_folder<W: Write>(archive: &mut Archive<W>, root: &Path, inner: &str) -> io::Result<()> {
    for entry in fs::read_dir(root.join(inner))? {
        let entry = entry?;
        let name = format!("{inner}/{}", entry.file_name().to_string_lossy());
        let name = name.trim_start_matches('/');
        let kind = entry.file_type()?;
        if kind.is_dir() {
            add_folder(archive, root, name)?;
        } else if kind.is_symlink() {
            archive.link(name, &fs::read_link(entry.path())?.to_string_lossy())?;
        } else if entry.metadata()?.permissions().mode() & 0o111 != 0 {
            archive.program(name, &fs::read(entry.path())?)?;
        } else {
            archive.file(name, &fs::read(entry.path())?)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use cpio::newc::Reader;

    use super::*;

    #[test]
    fn a_root_is_packed_with_its_links_and_modes() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("usr/bin")).unwrap();
        fs::write(root.path().join("usr/bin/tool"), "tool").unwrap();
        fs::set_permissions(root.path().join("usr/bin/tool"), fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(root.path().join("text"), "text").unwrap();
        symlink("tool", root.path().join("usr/bin/alias")).unwrap();

        let mut archive = Archive::new(Vec::new());
        add_folder(&mut archive, root.path(), "").unwrap();
        let bytes = archive.finish().unwrap();
        let mut rest = &bytes[..];
        let mut found = Vec::new();
        loop {
            let reader = Reader::new(rest).unwrap();
            if reader.entry().is_trailer() {
                break;
            }
            found.push((reader.entry().name().to_owned(), reader.entry().mode()));
            rest = reader.finish().unwrap();
        }
        found.sort();
        let expected = [
            ("text", 0o100644),
            ("usr", 0o040755),
            ("usr/bin", 0o040755),
            ("usr/bin/alias", 0o120777),
            ("usr/bin/tool", 0o100755),
        ];
        assert_eq!(found, expected.map(|(name, mode)| (name.to_owned(), mode)));
    }
}
