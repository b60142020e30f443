//! C programs, compiled by the machine's compiler against the sysroot that the lab fetched: the peers of our own.

use std::{
    env,
    ffi::{OsStr, OsString},
    fs, io,
    path::Path,
    process::{Command, Stdio},
};

use crate::{
    error::{Error, Result},
    fetch::Store,
};

/// Where the sysroot has its libraries.
const LIBRARIES: &str = "usr/lib/x86_64-linux-gnu";

/// What a program is linked with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Linkage {
    /// The shared libraries of the C library and rdma-core: runs in the peer's root.
    Dynamic,
    /// The same libraries, in the program; of rdma-core's drivers mlx5's alone. Runs anywhere.
    Static,
    /// Nothing at all, not even the C library's start. Runs anywhere.
    Freestanding,
}

impl Linkage {
    /// Before the source.
    fn options(self) -> &'static [&'static str] {
        match self {
            Self::Dynamic => &[],
            Self::Static => &["-static", "-DRDMA_STATIC_PROVIDERS=mlx5"],
            Self::Freestanding => &["-static", "-nostdlib", "-ffreestanding"],
        }
    }

    /// Behind it: a library is searched for what is missing so far.
    fn libraries(self) -> &'static [&'static str] {
        match self {
            Self::Dynamic => &["-lmlx5", "-libverbs"],
            Self::Static => {
                &["-Wl,--start-group", "-lmlx5", "-libverbs", "-lnl-route-3", "-lnl-3", "-Wl,--end-group"]
            }
            Self::Freestanding => &[],
        }
    }
}

/// One program to compile.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Compile<'a> {
    /// Its only source.
    pub(crate) source: &'a Path,
    /// Where the program goes; its folder exists.
    pub(crate) output: &'a Path,
    pub(crate) linkage: Linkage,
    /// Macros, `NAME` or `NAME=VALUE`.
    pub(crate) defines: &'a [String],
    /// Options of the linker, such as `-s`.
    pub(crate) linker: &'a [&'a str],
}

impl Compile<'_> {
    /// Compiles and links. Warnings are errors.
    ///
    /// # Errors
    /// There is no compiler or no sysroot; or the program is wrong, with the compiler's own words.
    pub(crate) fn run(&self, store: &Store) -> Result<()> {
        self.run_with(&compiler(), &store.sysroot()?)
    }

    fn run_with(&self, compiler: &OsStr, sysroot: &Path) -> Result<()> {
        // What the linker has to say of a good program is about glibc: that a static one finds no name server.
        let output =
            self.command(compiler, sysroot).output().map_err(|error| cannot_run(compiler, &error))?;
        if output.status.success() {
            return Ok(());
        }
        let words = String::from_utf8_lossy(&output.stderr);
        Err(Error::Build(format!("{} could not be compiled:\n{}", self.source.display(), words.trim_end())))
    }

    fn command(&self, compiler: &OsStr, sysroot: &Path) -> Command {
        let option = |name: &str, path: &Path| [OsStr::new(name), path.as_os_str()].join(OsStr::new(""));
        let mut command = Command::new(compiler);
        command
            .arg(option("--sysroot=", sysroot))
            // Before the compiler's own folders, from which it would go on to the machine's C library.
            .arg(option("-B", &sysroot.join(LIBRARIES)))
            .args(["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror"])
            .args(self.linkage.options())
            .args(self.defines.iter().map(|define| format!("-D{define}")))
            .args(self.linker.iter().map(|option| format!("-Wl,{option}")))
            .arg("-o")
            .args([self.output, self.source])
            .args(self.linkage.libraries())
            .stdin(Stdio::null());
        command
    }
}

/// Compiles a program that is only wanted in memory: for a guest.
///
/// # Errors
/// Those of [`Compile::run`].
pub(crate) fn image(
    store: &Store,
    source: &Path,
    linkage: Linkage,
    defines: &[String],
    linker: &[&str],
) -> Result<Vec<u8>> {
    let folder = tempfile::tempdir().map_err(Error::system("make a temporary folder"))?;
    let output = folder.path().join("program");
    Compile { source, output: &output, linkage, defines, linker }.run(store)?;
    fs::read(&output).map_err(Error::file("cannot read", output))
}

/// The one the user wants, or the machine's.
fn compiler() -> OsString {
    env::var_os("CC").unwrap_or_else(|| "cc".into())
}

fn cannot_run(compiler: &OsStr, error: &io::Error) -> Error {
    Error::Build(format!(
        "the C compiler {} cannot be run: {error}; install one (Debian: apt-get install gcc) or name one by CC=FILE",
        compiler.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payload::read_static;

    /// Compiles `text`, and gives the folder with `program`. Nothing where no sysroot can be had.
    fn compile(text: &str, linkage: Linkage, defines: &[String]) -> Option<(tempfile::TempDir, Result<()>)> {
        let store = Store::open().unwrap();
        if let Err(error) = store.sysroot() {
            assert!(env::var_os("CI").is_none(), "{error}");
            eprintln!("skipped: {error}");
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let (source, output) = (folder.path().join("program.c"), folder.path().join("program"));
        fs::write(&source, text).unwrap();
        let result = Compile { source: &source, output: &output, linkage, defines, linker: &[] }.run(&store);
        Some((folder, result))
    }

    const WITH_VERBS: &str = "#include <infiniband/mlx5dv.h>\n\
         int main(void) { return ibv_get_device_list(NULL) && mlx5dv_is_supported(NULL); }\n";
    const WITH_NOTHING: &str = "void _start(void) {\n\
         __asm__ volatile(\"syscall\" : : \"a\"(60), \"D\"(CODE) : \"rcx\", \"r11\"); }\n";

    #[test]
    fn a_static_program_holds_its_libraries_and_a_dynamic_one_wants_them() {
        let Some((folder, result)) = compile(WITH_VERBS, Linkage::Static, &[]) else { return };
        result.unwrap();
        read_static(&folder.path().join("program")).unwrap();
        let Some((folder, result)) = compile(WITH_VERBS, Linkage::Dynamic, &[]) else { return };
        result.unwrap();
        read_static(&folder.path().join("program")).unwrap_err();
        let image = fs::read(folder.path().join("program")).unwrap();
        for library in ["libmlx5.so.1", "libibverbs.so.1"] {
            assert!(image.windows(library.len()).any(|bytes| bytes == library.as_bytes()), "{library}");
        }
    }

    #[test]
    fn a_freestanding_program_runs_as_it_was_defined() {
        let defines = ["CODE=42".to_owned()];
        let Some((folder, result)) = compile(WITH_NOTHING, Linkage::Freestanding, &defines) else { return };
        result.unwrap();
        let program = folder.path().join("program");
        read_static(&program).unwrap();
        assert_eq!(Command::new(program).status().unwrap().code(), Some(42));
    }

    #[test]
    fn a_warning_is_an_error() {
        let text = "int main(void) { int unused; }\n";
        let Some((_folder, result)) = compile(text, Linkage::Dynamic, &[]) else { return };
        let error = result.unwrap_err().to_string();
        assert!(error.contains("program.c could not be compiled") && error.contains("unused"), "{error}");
    }

    #[test]
    fn a_missing_compiler_is_named_with_what_to_install() {
        let path = Path::new("program");
        let compile =
            Compile { source: path, output: path, linkage: Linkage::Dynamic, defines: &[], linker: &[] };
        let error = compile.run_with(OsStr::new("/nowhere/cc"), path).unwrap_err().to_string();
        assert!(error.contains("/nowhere/cc") && error.contains("apt-get install gcc"), "{error}");
    }
}
