//! QEMU with the device `vfio-user-pci`, which came with 10.1.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use super::{
    apt::{Archive, output},
    error::{Error, Result},
    product::{Parts, Product, rename},
    sources::Release,
};

/// Its name in `PATH` and in the package.
pub(super) const PROGRAM: &str = "qemu-system-x86_64";

/// The device that connects a guest to an emulated card.
const DEVICE: &str = "vfio-user-pci";

/// Where Debian keeps libraries.
const LIBRARIES: &str = "usr/lib/x86_64-linux-gnu";

/// QEMU as a package, with every library down to the C library: it runs whatever the machine has.
#[derive(Debug)]
pub(super) struct Package;

impl Product for Package {
    fn name(&self) -> String {
        "QEMU".to_owned()
    }

    fn folder(&self) -> PathBuf {
        PathBuf::from("qemu")
    }

    fn release(&self) -> Release {
        Release::Trixie
    }

    fn suite(&self) -> Option<&'static str> {
        Some("trixie-backports")
    }

    fn parts(&self, archive: &Archive) -> Result<Parts> {
        let packages = archive.select(&["qemu-system-x86"], |_| false)?;
        Ok(Parts { packages, closure: true })
    }

    fn choice(&self, _package: &str) -> &'static [&'static str] {
        &[
            "--exclude=./etc",
            "--exclude=./var",
            "--exclude=./usr/share/doc",
            "--exclude=./usr/share/locale",
            "--exclude=./usr/share/man",
        ]
    }

    fn arrange(&self, unpacked: &Path, finished: &Path) -> Result<()> {
        rename(&unpacked.join("usr"), &finished.join("usr"))
    }
}

/// A QEMU that can be run.
#[derive(Debug)]
pub(crate) struct Qemu {
    program: PathBuf,
    /// Its own tree, if it is not installed.
    tree: Option<PathBuf>,
    version: String,
}

impl Qemu {
    /// A QEMU of the user's; a bare name is looked up in `PATH`.
    ///
    /// # Errors
    /// It cannot be run, or has no vfio-user.
    pub(crate) fn at(program: &Path) -> Result<Self> {
        Self { program: program.to_owned(), tree: None, version: String::new() }.checked()
    }

    /// The one that was unpacked into `tree`.
    pub(super) fn in_tree(tree: &Path) -> Result<Self> {
        let program = tree.join("usr/bin").join(PROGRAM);
        Self { program, tree: Some(tree.to_owned()), version: String::new() }.checked()
    }

    /// Its version, as it tells it.
    pub(crate) fn version(&self) -> &str {
        &self.version
    }

    /// A command that runs it and wants the caller's arguments.
    pub(crate) fn command(&self) -> Command {
        let Some(tree) = &self.tree else { return Command::new(&self.program) };
        let libraries = tree.join(LIBRARIES);
        let mut command = Command::new(libraries.join("ld-linux-x86-64.so.2"));
        command.arg("--library-path").arg(&libraries).arg(&self.program);
        for data in ["qemu", "seabios"] {
            command.arg("-L").arg(tree.join("usr/share").join(data));
        }
        // Or else a QEMU that is installed lends its modules, which are of another version.
        command.env("QEMU_MODULE_DIR", libraries.join("qemu"));
        command
    }

    /// Asks QEMU what it is.
    fn checked(self) -> Result<Self> {
        let what = "a QEMU with vfio-user";
        let devices = self.ask(&["-device", "help"]).map_err(|error| {
            Error::unavailable(what, format!("{error} (QEMU 10.1 or newer can be given by --qemu FILE)"))
        })?;
        let version = self.ask(&["--version"])?.lines().next().unwrap_or_default().to_owned();
        if devices.contains(DEVICE) {
            return Ok(Self { version, ..self });
        }
        let reason = format!("{} is {version}: {DEVICE} came with 10.1", self.program.display());
        Err(Error::unavailable(what, reason))
    }

    fn ask(&self, arguments: &[&str]) -> Result<String> {
        let output = output(self.command().args(arguments))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        Err(Error::Program {
            program: self.program.display().to_string(),
            status: output.status.to_string(),
            message: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program that answers as QEMU does. Another process writes it: as long as one of ours could have
    /// it open for writing, in the moment between fork and exec of any test, it cannot be run.
    fn fake(devices: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("qemu");
        let script = format!(
            "#!/bin/sh\nif [ \"$1\" = --version ]; then echo 'QEMU emulator version 9.9.9'; else echo '{devices}'; fi\n"
        );
        let write = "printf %s \"$1\" > \"$0\" && chmod 755 \"$0\"";
        assert!(Command::new("sh").args(["-c", write]).arg(&path).arg(script).status().unwrap().success());
        (folder, path)
    }

    #[test]
    fn asks_for_the_device() {
        let (_folder, path) = fake("name \"vfio-user-pci\", bus PCI");
        let qemu = Qemu::at(&path).unwrap();
        assert_eq!(qemu.version(), "QEMU emulator version 9.9.9");
        assert_eq!(qemu.command().get_program(), path);

        let (_folder, path) = fake("name \"vfio-pci\", bus PCI");
        let error = Qemu::at(&path).unwrap_err().to_string();
        assert!(error.ends_with("is QEMU emulator version 9.9.9: vfio-user-pci came with 10.1"), "{error}");
    }

    #[test]
    fn one_that_is_not_there_is_named() {
        let error = Qemu::at(Path::new("/nowhere/qemu")).unwrap_err().to_string();
        assert!(error.contains("/nowhere/qemu: No such file"), "{error}");
        assert!(error.contains("--qemu FILE"), "{error}");
    }

    #[test]
    fn runs_from_its_own_tree() {
        let tree = PathBuf::from("/tree");
        let qemu = Qemu { program: tree.join("usr/bin/q"), tree: Some(tree), version: String::new() };
        let command = qemu.command();
        assert_eq!(command.get_program(), "/tree/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2");
        assert_eq!(
            command.get_args().collect::<Vec<_>>(),
            [
                "--library-path",
                "/tree/usr/lib/x86_64-linux-gnu",
                "/tree/usr/bin/q",
                "-L",
                "/tree/usr/share/qemu",
                "-L",
                "/tree/usr/share/seabios"
            ]
        );
    }
}
