//! What a kernel module says of itself, in its section `.modinfo`: strings `key=value`, each with a NUL.

use object::{Object as _, ObjectSection as _};

/// Names of the modules that `image`, an unpacked `.ko`, must find loaded.
///
/// # Errors
/// It is not a module, as text.
pub(super) fn depends(image: &[u8]) -> Result<Vec<String>, String> {
    let file = object::File::parse(image).map_err(|error| error.to_string())?;
    let section = file.section_by_name(".modinfo").ok_or("it has no section .modinfo")?;
    let data = section.data().map_err(|error| error.to_string())?;
    Ok(depends_in(data))
}

fn depends_in(modinfo: &[u8]) -> Vec<String> {
    modinfo
        .split(|&byte| byte == 0)
        .filter_map(|field| field.strip_prefix(b"depends="))
        .flat_map(|names| names.split(|&byte| byte == b','))
        .filter(|name| !name.is_empty())
        .map(|name| canonical(&String::from_utf8_lossy(name)))
        .collect()
}

/// A module's name as the kernel writes it: files and users have `-` where it has `_`.
pub(super) fn canonical(name: &str) -> String {
    name.replace('-', "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depends_of_modinfo() {
        let modinfo = b"license=GPL\0depends=mlx5_core,ib_uverbs,i2c-core\0\0name=mlx5_ib\0retpoline=Y\0";
        assert_eq!(depends_in(modinfo), ["mlx5_core", "ib_uverbs", "i2c_core"]);
        assert_eq!(depends_in(b"license=GPL\0depends=\0name=dummy\0"), [""; 0]);
        assert_eq!(depends_in(b"description=depends=x\0"), [""; 0]);
    }

    #[test]
    fn other_files_are_refused() {
        assert!(depends(b"#!/bin/sh\n").is_err());
    }
}
