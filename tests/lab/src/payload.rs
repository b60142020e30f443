//! The programs that go into the guest: static ones, built by cargo for the musl target.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use object::{
    Architecture, Endianness, Object as _,
    elf::DT_NEEDED,
    read::elf::{Dyn as _, ElfFile64, ProgramHeader as _},
};
use serde::Deserialize;

use crate::error::{Error, Result};

/// The target without a dynamic loader.
const TARGET: &str = "x86_64-unknown-linux-musl";

/// What can be built for the guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Payload {
    /// The guest's init.
    Init,
    /// The command-line tool.
    Tool,
    /// The example of the least that a program needs.
    FirstAnchor,
    /// The device tests.
    DeviceTests,
    /// Who counts a program's system calls.
    Trace,
    /// What is measured: this crate's peer, the same with a heap that counts, and who asks the peers.
    Ours,
    OursHeap,
    Harness,
}

impl Payload {
    fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::Init => &["build", "--release", "--package=lab-guest", "--bin=lab-init"],
            Self::Tool => &["build", "--release", "--package=uverbs", "--bin=uverbs", "--features=cli"],
            Self::FirstAnchor => &["build", "--release", "--package=uverbs", "--example=first_anchor"],
            Self::DeviceTests => &["test", "--no-run", "--package=uverbs", "--test=device"],
            Self::Trace => &["build", "--release", "--package=lab-trace", "--bin=lab-trace"],
            Self::Ours => {
                &["build", "--profile=speed", "--package=peers", "--features=programs", "--bin=ours"]
            }
            Self::OursHeap => {
                &["build", "--profile=speed", "--package=peers", "--features=programs", "--bin=ours-heap"]
            }
            Self::Harness => {
                &["build", "--profile=speed", "--package=peers", "--features=programs", "--bin=harness"]
            }
        }
    }

    /// How many bytes it may have, if that is a promise of the project to those who copy it onto a host.
    fn limit(self) -> Option<usize> {
        match self {
            Self::Tool => Some(1024 << 10),
            Self::FirstAnchor => Some(480 << 10),
            Self::Init | Self::DeviceTests | Self::Trace | Self::Ours | Self::OursHeap | Self::Harness => {
                None
            }
        }
    }

    /// The name under which it lies in the guest.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Init => "lab-init",
            Self::Tool => "uverbs",
            Self::FirstAnchor => "first_anchor",
            Self::DeviceTests => "device-tests",
            Self::Trace => "lab-trace",
            Self::Ours => "ours",
            Self::OursHeap => "ours-heap",
            Self::Harness => "harness",
        }
    }
}

/// Builds a payload, with cargo's own progress on standard error, and reads it.
pub(crate) fn build(payload: Payload) -> Result<Vec<u8>> {
    ensure_target()?;
    let path = cargo_build(payload)?;
    let program = read_static(&path)?;
    match payload.limit() {
        Some(limit) if program.len() > limit => Err(Error::Build(format!(
            "{} has {} bytes, and may have at most {limit}",
            path.display(),
            program.len()
        ))),
        _ => Ok(program),
    }
}

/// Reads a program, and makes sure that it can run in a guest where there is nothing but itself.
pub(crate) fn read_static(path: &Path) -> Result<Vec<u8>> {
    let program = fs::read(path).map_err(Error::file("cannot read", path))?;
    match dependencies(&program) {
        Ok(dependencies) if dependencies.is_empty() => Ok(program),
        Ok(dependencies) => Err(Error::Usage(format!(
            "{} is not static: it wants {}; the guest has no libraries",
            path.display(),
            dependencies.join(", ")
        ))),
        Err(reason) => Err(Error::Usage(format!("{} cannot run in the guest: {reason}", path.display()))),
    }
}

/// What a program needs beside itself: a dynamic loader, shared libraries.
fn dependencies(program: &[u8]) -> Result<Vec<String>, String> {
    let malformed = |error| format!("not a proper ELF file ({error})");
    let elf = ElfFile64::<Endianness>::parse(program).map_err(malformed)?;
    if elf.architecture() != Architecture::X86_64 {
        return Err("not an x86-64 program".to_owned());
    }
    let endian = elf.endian();
    let mut wanted = Vec::new();
    for header in elf.elf_program_headers() {
        if let Some(loader) = header.interpreter(endian, program).map_err(malformed)? {
            wanted.push(String::from_utf8_lossy(loader).into_owned());
        }
        let dynamic = header.dynamic(endian, program).map_err(malformed)?.unwrap_or_default();
        let libraries = dynamic.iter().filter(|entry| entry.tag(endian) == DT_NEEDED).count();
        if libraries > 0 {
            wanted.push(format!("{libraries} shared libraries"));
        }
    }
    Ok(wanted)
}

/// Cargo, at the workspace.
pub(crate) fn cargo() -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(workspace());
    cargo
}

/// The folder of the workspace.
pub(crate) fn workspace() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// One line of cargo's JSON output, as far as it matters here.
#[derive(Deserialize)]
struct CargoMessage {
    reason: String,
    executable: Option<PathBuf>,
}

fn cargo_build(payload: Payload) -> Result<PathBuf> {
    let mut command = cargo();
    command.args(payload.arguments()).args([
        "--target",
        TARGET,
        "--message-format=json-render-diagnostics",
        "--quiet",
    ]);
    let output = command.stderr(Stdio::inherit()).output().map_err(Error::system("start cargo"))?;
    let name = payload.name();
    if !output.status.success() {
        return Err(Error::Build(format!("{name} could not be built ({})", output.status)));
    }
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(|line| serde_json::from_str::<CargoMessage>(line).ok())
        .filter(|message| message.reason == "compiler-artifact")
        .find_map(|message| message.executable)
        .ok_or_else(|| Error::Build(format!("cargo built no program for {name}")))
}

/// Adds the target's standard library where rustup can.
fn ensure_target() -> Result<()> {
    if has_target()? {
        return Ok(());
    }
    eprintln!("lab: adding the Rust target {TARGET}");
    let added = Command::new("rustup").args(["target", "add", TARGET]).current_dir(workspace()).status();
    match added {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Error::Build(format!("`rustup target add {TARGET}` failed ({status})"))),
        Err(_) => Err(Error::Build(format!(
            "this Rust has no standard library for {TARGET}, and there is no rustup to add it; \
             install it the way this Rust was installed (some distributions package it as rust-std-static-{TARGET})"
        ))),
    }
}

fn has_target() -> Result<bool> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc)
        .args(["--print", "target-libdir", "--target", TARGET])
        .current_dir(workspace())
        .output()
        .map_err(Error::system("start rustc"))?;
    Ok(output.status.success() && Path::new(String::from_utf8_lossy(&output.stdout).trim_end()).is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dynamic_program_is_refused_with_what_it_wants() {
        // This test itself is one.
        let error = read_static(&env::current_exe().unwrap()).unwrap_err().to_string();
        assert!(error.contains("ld-linux-x86-64.so.2") && error.contains("shared libraries"), "{error}");
    }

    #[test]
    fn what_is_no_program_is_refused() {
        let error = read_static(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))).unwrap_err();
        assert!(error.to_string().contains("not a proper ELF file"), "{error}");
        assert!(matches!(read_static(Path::new("/does/not/exist")), Err(Error::File { .. })));
    }
}
