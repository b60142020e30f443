//! What goes into the guest's memory before it boots: the modules, and the parts of one run.

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use lab_guest::{JOB_PATH, Job, MODULE_DIR, MODULE_LIST, PROGRAM_DIR};

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
    /// The program it runs.
    pub(crate) program: &'a [u8],
    /// More files: their path in the guest, and their content.
    pub(crate) others: &'a [(String, Vec<u8>)],
}

/// Writes the whole initramfs of a run.
pub(crate) fn write(to: &Path, store: &Store, kernel: &Kernel, files: &GuestFiles) -> Result<()> {
    let modules = module_archive(store, kernel, files.job.rxe)?;
    let write = || -> io::Result<()> {
        let mut out = BufWriter::new(File::create(to)?);
        io::copy(&mut File::open(&modules)?, &mut out)?;
        let mut archive = Archive::new(out);
        archive.console()?;
        archive.program("/init", files.init)?;
        archive.file(JOB_PATH, &files.job.to_bytes())?;
        archive.program(&format!("{PROGRAM_DIR}/{}", files.job.program), files.program)?;
        for (path, content) in files.others {
            archive.program(path, content)?;
        }
        archive.finish()?.flush()
    };
    write().map_err(Error::file("cannot write", to))
}

/// The archive with the kernel's modules, made anew only when the kernel is another one.
fn module_archive(store: &Store, kernel: &Kernel, rxe: bool) -> Result<PathBuf> {
    let required: Vec<_> = MODULES.into_iter().chain(RXE_MODULES.into_iter().filter(|_| rxe)).collect();
    let names = required.join("+");
    let folder = store.dir().join("initramfs");
    let path = folder.join(format!("{}-{names}-{:016x}.cpio", kernel.release, vmlinux::fingerprint(kernel)?));
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
