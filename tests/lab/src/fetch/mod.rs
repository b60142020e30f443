//! What a boot needs and the workspace does not build: QEMU, stock kernels, their headers, and a sysroot for the C
//! programs that the device tests compare with.
//!
//! On Debian for x86-64 all of it comes as packages, through the machine's own apt configuration, into a
//! folder of the lab's own ([`Store`]): no root, nothing installed, no change to the machine. Each thing
//! ([`product::Product`]) is fetched once, when it is first asked for, and is complete from the moment its
//! folder has its name. Elsewhere QEMU is taken from `PATH`, and the user gives a kernel.

mod apt;
mod error;
mod headers;
mod kernel;
mod modinfo;
mod modules;
mod peer;
mod product;
mod qemu;
mod sources;
mod store;
mod sysroot;
mod unpack;

pub(crate) use error::{Error, Result};
pub(crate) use kernel::{Kernel, KernelName};
pub(crate) use qemu::Qemu;
pub(crate) use store::Store;

/// Download QEMU, the kernels, their headers and a sysroot, so that later commands need no network.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Request {
    /// A kernel to fetch, may be given again; all of them when none is named.
    #[arg(long = "kernel", value_name = "KERNEL")]
    kernels: Vec<KernelName>,
    /// Ask the mirrors again, and replace what has become old.
    #[arg(long)]
    update: bool,
    /// Fetch rdma-core's programs and libraries too: the peer that the device tests compare with.
    #[arg(long)]
    peer: bool,
}

/// Does what `request` says and tells on standard error what is there, and why something is not.
///
/// # Errors
/// QEMU cannot be had, or a kernel that was asked for by name, or no kernel at all.
pub(crate) fn run(store: &Store, request: &Request) -> Result<()> {
    let by_name = !request.kernels.is_empty();
    let kernels = if by_name { &request.kernels[..] } else { &KernelName::ALL[..] };

    let qemu = if request.update { store.update_qemu()? } else { store.qemu()? };
    say(&format!("QEMU: {}", qemu.version()));
    let mut missing = None;
    let mut present = 0;
    for &name in kernels {
        let kernel = if request.update { store.update_kernel(name) } else { store.kernel(name) };
        match kernel {
            Ok(kernel) => {
                present += 1;
                say(&format!("kernel {name}: {}", kernel.release));
                // The headers only tell whether our numbers are right: their absence stops no boot.
                if let Err(error) = store.headers(name, request.update) {
                    say(&error.to_string());
                }
            }
            // The last failure may be this function's own.
            Err(error) => {
                if let Some(earlier) = missing.replace(error) {
                    say(&earlier.to_string());
                }
            }
        }
    }
    let sysroot = if request.update { store.update_sysroot() } else { store.sysroot() };
    // Only C programs want it.
    match sysroot {
        Ok(sysroot) => say(&format!("sysroot: {}", sysroot.display())),
        Err(error) => say(&error.to_string()),
    }
    if request.peer {
        let peer = store.peer(request.update)?;
        say(&format!("peer: {}", peer.display()));
    }
    say(&format!("all of it is in {}", store.dir().display()));
    match missing {
        Some(error) if by_name || present == 0 => return Err(error),
        Some(error) => say(&error.to_string()),
        None => {}
    }
    Ok(())
}

/// A line of progress.
fn say(line: &str) {
    eprintln!("fetch: {line}");
}
