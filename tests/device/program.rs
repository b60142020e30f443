//! The project's programs: found in the path, where the lab puts them, and judged by how they end.

use std::path::PathBuf;
use std::process::{Command, Output};

use libtest_mimic::Failed;

use crate::equal;

/// The program, if it is in the path: in the lab it has to be.
pub(crate) fn find(name: &str) -> Result<Option<Command>, Failed> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found: Option<PathBuf> =
        std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file());
    match found {
        None if std::env::var_os("UVERBS_LAB_PROFILE").is_some() => {
            Err(format!("{name} is not in the path").into())
        }
        found => Ok(found.map(Command::new)),
    }
}

/// Fails with all that the program printed, unless it ended with `code`. Gives its standard error.
pub(crate) fn ended(output: &Output, code: i32) -> Result<String, Failed> {
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    equal(&errors, output.status.code(), Some(code))?;
    Ok(errors)
}
