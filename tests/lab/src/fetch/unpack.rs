//! Takes Debian packages apart, without dpkg's database and without root.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use super::error::{AtPath, Error, Result};

/// Unpacks the package in the file `deb` into `folder`; `choice` are tar's options and patterns that choose
/// among its files.
///
/// # Errors
/// `dpkg-deb` or `tar` is not there or fails.
pub(super) fn unpack(deb: &Path, folder: &Path, choice: &[&str]) -> Result<()> {
    let mut reader = Command::new("dpkg-deb")
        .arg("--fsys-tarfile")
        .arg(deb)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .at(Path::new("dpkg-deb"))?;
    let mut tar = Command::new("tar");
    tar.args(["-x", "--no-same-owner", "--wildcards", "-C"]).arg(folder).args(choice);
    if let Some(pipe) = reader.stdout.take() {
        tar.stdin(pipe);
    }
    let unpacked = tar.output().at(Path::new("tar"))?;
    let read = reader.wait().at(Path::new("dpkg-deb"))?;
    for (program, status) in [("dpkg-deb", read), ("tar", unpacked.status)] {
        if !status.success() {
            return Err(Error::Program {
                program: format!("{program} for {}", deb.display()),
                status: status.to_string(),
                message: String::from_utf8_lossy(&unpacked.stderr).trim().to_owned(),
            });
        }
    }
    Ok(())
}
