//! The end of a run.

use std::{convert::Infallible, fs, io, path::Path, thread, time::Duration};

use nix::{
    sys::reboot::{RebootMode, reboot},
    unistd::sync,
};

use crate::context;

const DRIVER: &str = "/sys/bus/pci/drivers/mlx5_core";

/// Unbinds the driver from every card it drives.
pub(crate) fn release_cards() -> io::Result<()> {
    let Ok(entries) = fs::read_dir(DRIVER) else { return Ok(()) };
    for entry in entries {
        let name = entry?.file_name();
        // Devices are the entries named like 0000:00:02.0; the rest are the driver's own files.
        if name.to_string_lossy().contains(':') {
            fs::write(Path::new(DRIVER).join("unbind"), name.as_encoded_bytes())
                .map_err(|error| context("unbind the card's driver", error))?;
        }
    }
    Ok(())
}

/// Powers the guest off.
pub(crate) fn off() -> ! {
    sync();
    let Err(error): Result<Infallible, _> = reboot(RebootMode::RB_POWER_OFF);
    eprintln!("lab-init: cannot power off: {error}");
    loop {
        // An init that returns panics the kernel; the host gives up on its own.
        thread::sleep(Duration::from_hours(1));
    }
}
