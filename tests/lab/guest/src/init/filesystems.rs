//! The kernel's own file systems, and the folders a program may expect.

use std::fs;

use nix::mount::{MsFlags, mount};

/// Where, which, with which options.
const MOUNTS: [(&str, &str, &str); 5] = [
    ("/proc", "proc", ""),
    ("/sys", "sysfs", ""),
    ("/dev", "devtmpfs", ""),
    ("/dev/shm", "tmpfs", "mode=1777"),
    ("/tmp", "tmpfs", "mode=1777"),
];

/// Mounts them all.
pub(crate) fn mount_all() -> std::io::Result<()> {
    for (target, kind, options) in MOUNTS {
        fs::create_dir_all(target)?;
        mount(Some(kind), target, Some(kind), MsFlags::empty(), Some(options))?;
    }
    Ok(())
}
