//! `cargo lab peer`: rdma-core's and iproute2's programs in the guest.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{
    cc::{self, Linkage},
    commands::exec::{Program, run_program},
    error::{Error, Result},
    fetch::Store,
    options::RunOptions,
};

/// Where the root has its programs.
const PROGRAM_FOLDERS: [&str; 4] = ["usr/bin", "usr/sbin", "bin", "sbin"];

/// Run a program of rdma-core or iproute2 in the guest, unmodified: `ibv_devinfo`, `rdma`, `devlink`, …
///
/// A path stands for a program of the host that needs no more than their libraries; one that ends in `.c` is compiled
/// first, with the machine's C compiler.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    options: RunOptions,
    /// What a C program is linked with
    #[arg(long, value_enum, default_value_t = Linkage::Dynamic)]
    linkage: Linkage,
    /// Define a macro of a C program
    #[arg(long, value_name = "NAME[=VALUE]")]
    define: Vec<String>,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "PROGRAM ARGS")]
    command: Vec<String>,
}

pub(crate) fn run(arguments: Arguments) -> Result<u8> {
    let store = Store::open()?;
    let root = store.peer(false)?;
    let mut command = arguments.command.into_iter();
    let name = command.next().unwrap_or_default();
    let source = Path::new(&name);
    let program = if source.extension().is_some_and(|extension| extension == "c") {
        let image = cc::image(&store, source, arguments.linkage, &arguments.define, &[])?;
        let name = source.file_stem().unwrap_or_default().to_string_lossy();
        Program { root: Some(root), ..Program::of_host(&name, image, command.collect()) }
    } else {
        find(&name, command.collect(), root)?
    };
    run_program(&arguments.options, program)
}

fn find(name: &str, args: Vec<String>, root: PathBuf) -> Result<Program> {
    if name.contains('/') {
        let image = fs::read(name).map_err(Error::file("cannot read", name))?;
        let file_name = Path::new(name).file_name().unwrap_or_default().to_string_lossy().into_owned();
        return Ok(Program { root: Some(root), ..Program::of_host(&file_name, image, args) });
    }
    let found = PROGRAM_FOLDERS
        .iter()
        .map(|folder| Path::new(folder).join(name))
        .find(|path| root.join(path).exists());
    let path = found.ok_or_else(|| {
        Error::Usage(format!("{name} is no program of rdma-core or iproute2 in {}", root.display()))
    })?;
    Ok(Program { path: Path::new("/").join(path), args, files: Vec::new(), root: Some(root) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job;

    #[test]
    fn a_name_is_looked_up_in_the_root_and_a_path_on_the_host() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("usr/sbin")).unwrap();
        fs::write(root.path().join("usr/sbin/devlink"), "").unwrap();
        let find = |name: &str| find(name, Vec::new(), root.path().to_owned());

        let named = find("devlink").unwrap();
        assert_eq!((named.path.as_path(), named.files.len()), (Path::new("/usr/sbin/devlink"), 0));
        let own = find(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).unwrap();
        assert_eq!((own.path, own.files.len()), (job::program_path("Cargo.toml"), 1));
        assert!(matches!(find("ibv_nothing"), Err(Error::Usage(_))));
        assert!(matches!(find("./nothing"), Err(Error::File { .. })));
    }
}
