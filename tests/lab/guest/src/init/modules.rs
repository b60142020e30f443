//! Kernel modules.

use std::{ffi::CString, fs::File, io, path::Path};

use lab_guest::{MODULE_DIR, Module};
use nix::{
    errno::Errno,
    kmod::{ModuleInitFlags, finit_module},
};

use crate::context;

/// Loads them in their order; one that is there already is no error.
pub(crate) fn load(modules: &[Module]) -> io::Result<()> {
    for module in modules {
        let what = format!("load the module {}", module.file);
        let file =
            File::open(Path::new(MODULE_DIR).join(&module.file)).map_err(|error| context(&what, error))?;
        let parameters = CString::new(module.parameters.as_str())?;
        match finit_module(&file, &parameters, ModuleInitFlags::empty()) {
            Ok(()) | Err(Errno::EEXIST) => {}
            Err(error) => return Err(context(&what, error)),
        }
    }
    Ok(())
}
