//! Init's end of the channel, and the named virtio-serial ports it is one of.

use std::{
    fs::{self, File, OpenOptions, Permissions},
    io::{self, ErrorKind},
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
    sync::{Mutex, PoisonError},
};

use lab_guest::{CHANNEL_PORT, ToGuest, ToHost, channel};

const PORTS: &str = "/dev/virtio-ports";

/// Shared by the threads of init: each message goes out whole.
pub(crate) struct Channel {
    port: File,
    writer: Mutex<File>,
}

impl Channel {
    /// Names the ports as udev would, and opens the lab's own.
    pub(crate) fn open() -> io::Result<Self> {
        name_ports()?;
        let port = OpenOptions::new().read(true).write(true).open(Path::new(PORTS).join(CHANNEL_PORT))?;
        let writer = Mutex::new(port.try_clone()?);
        Ok(Self { port, writer })
    }

    pub(crate) fn send(&self, message: &ToHost) -> io::Result<()> {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        channel::send(&mut *writer, message)
    }

    /// Waits for the next message; `None` when the host is gone.
    pub(crate) fn receive(&self) -> io::Result<Option<ToGuest>> {
        channel::receive(&mut &self.port)
    }
}

/// Makes `/dev/virtio-ports/NAME` for each port, open to the program whoever it runs as.
fn name_ports() -> io::Result<()> {
    fs::create_dir_all(PORTS)?;
    let class = Path::new("/sys/class/virtio-ports");
    let entries = fs::read_dir(class)
        .map_err(|error| io::Error::new(ErrorKind::NotFound, format!("no virtio-serial device: {error}")))?;
    for entry in entries {
        let entry = entry?;
        // A port has its name only when the device gave it one.
        let Ok(name) = fs::read_to_string(entry.path().join("name")) else { continue };
        let node = Path::new("/dev").join(entry.file_name());
        fs::set_permissions(&node, Permissions::from_mode(0o666))?;
        symlink(node, Path::new(PORTS).join(name.trim_end()))?;
    }
    Ok(())
}
