//! Options that several commands share.

use std::{path::PathBuf, time::Duration};

use clap::Args;

use crate::{
    card,
    error::{Error, Result},
    fetch::{Kernel, KernelName, Qemu, Store},
};

/// Which kernel boots.
#[derive(Debug, Args)]
pub(crate) struct KernelOptions {
    /// Kernel to boot
    #[arg(long, value_name = "K", default_value_t = KernelName::V6_12)]
    kernel: KernelName,
    /// A kernel of your own in place of Debian's
    #[arg(long, value_name = "FILE", requires = "modules", conflicts_with = "kernel")]
    kernel_image: Option<PathBuf>,
    /// The folder of its modules (lib/modules/RELEASE)
    #[arg(long, value_name = "DIR", requires = "kernel_image")]
    modules: Option<PathBuf>,
}

impl KernelOptions {
    /// The kernel, downloaded if it has to be.
    pub(crate) fn kernel(&self, store: &Store) -> Result<Kernel> {
        match (&self.kernel_image, &self.modules) {
            (Some(image), Some(modules)) => Ok(Kernel::from_files(image, modules)?),
            _ => Ok(store.kernel(self.kernel)?),
        }
    }
}

/// The machine around the kernel.
#[derive(Debug, Clone, Args)]
pub(crate) struct MachineOptions {
    /// A QEMU of your own, 10.1 or newer
    #[arg(long, value_name = "FILE")]
    pub(crate) qemu: Option<PathBuf>,
    /// Processors of the guest
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) cpus: u8,
    /// Cards of the machine; options that name a file are about the first
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=4))]
    pub(crate) cards: u8,
    /// Let the processor's clock count the instructions that the guest executes: exact, and slow
    #[arg(long)]
    pub(crate) icount: bool,
    /// Give up on a guest after this many seconds (120; 600 for tests)
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,
    /// Write the guest's console to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) console: Option<PathBuf>,
    /// Do not fail on a complaint of the guest's kernel that holds this text
    #[arg(long, value_name = "TEXT")]
    pub(crate) allow_console: Vec<String>,
    /// Do not fail when the card still holds objects at the end
    #[arg(long)]
    pub(crate) allow_leaks: bool,
    /// Say on standard error how long each stage took
    #[arg(long, short)]
    pub(crate) verbose: bool,
    #[command(flatten)]
    pub(crate) card: card::Options,
}

impl MachineOptions {
    pub(crate) fn qemu(&self, store: &Store) -> Result<Qemu> {
        match &self.qemu {
            Some(program) => Ok(Qemu::at(program)?),
            None => Ok(store.qemu()?),
        }
    }
}

/// Everything about one run of one program.
#[derive(Debug, Args)]
pub(crate) struct RunOptions {
    #[command(flatten)]
    pub(crate) kernel: KernelOptions,
    #[command(flatten)]
    pub(crate) machine: MachineOptions,
    #[command(flatten)]
    pub(crate) program: ProgramOptions,
}

/// What the program finds in the guest.
#[derive(Debug, Default, Args)]
pub(crate) struct ProgramOptions {
    /// Run the program as nobody, without any capability
    #[arg(long)]
    pub(crate) unprivileged: bool,
    /// Set an environment variable of the program
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    pub(crate) env: Vec<(String, String)>,
    /// Put a file of the host into the guest (at the same path, if none is given)
    #[arg(long, value_name = "HOST[:GUEST]")]
    pub(crate) file: Vec<String>,
    /// Bring a file of the guest to the host when the program has ended (relative paths: from the program's folder)
    #[arg(long, value_name = "GUEST[:HOST]")]
    pub(crate) out: Vec<String>,
    /// Give the card's network interface the address 192.0.2.2/24 and bring it up (--wire-in does so too)
    #[arg(long)]
    pub(crate) net: bool,
    /// Add a second RDMA device, `rxe0`, that is not mlx5's
    #[arg(long)]
    pub(crate) rxe: bool,
}

/// `FROM:TO`, or `BOTH`.
pub(crate) fn two_paths(text: &str) -> (&str, &str) {
    text.split_once(':').unwrap_or((text, text))
}

/// `NAME=VALUE`.
fn pair(text: &str) -> Result<(String, String)> {
    let (name, value) = text.split_once('=').ok_or_else(|| Error::Usage("NAME=VALUE expected".to_owned()))?;
    Ok((name.to_owned(), value.to_owned()))
}

/// No guest needs more than a day.
const LONGEST: u64 = 24 * 60 * 60;

fn seconds(text: &str) -> Result<Duration> {
    match text.parse() {
        Ok(seconds) if (1..=LONGEST).contains(&seconds) => Ok(Duration::from_secs(seconds)),
        _ => Err(Error::Usage(format!("a whole number of seconds expected, from 1 to {LONGEST}"))),
    }
}
