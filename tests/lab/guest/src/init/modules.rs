//! Kernel modules.

use std::{
    fs::{self, File},
    io,
    path::Path,
};

use lab_guest::{MODULE_DIR, MODULE_LIST};
use nix::{
    errno::Errno,
    kmod::{ModuleInitFlags, finit_module},
};

use crate::context;

/// Loads all modules of the initramfs in their order; one that is there already is no error.
pub(crate) fn load_all() -> io::Result<()> {
    let list = fs::read_to_string(MODULE_LIST).map_err(|error| context("read the list of modules", error))?;
    for name in list.lines() {
        let what = format!("load the module {name}");
        let file = File::open(Path::new(MODULE_DIR).join(name)).map_err(|error| context(&what, error))?;
        match finit_module(&file, c"", ModuleInitFlags::empty()) {
            Ok(()) | Err(Errno::EEXIST) => {}
            Err(error) => return Err(context(&what, error)),
        }
    }
    Ok(())
}
