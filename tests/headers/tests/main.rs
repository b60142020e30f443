//! Checks every constant, struct and layout of `uverbs-uapi` against the headers of each supported kernel.
//!
//! The headers are those of Debian's packages `linux-libc-dev` and `linux-headers-…-common`, whose include folders
//! `cargo lab fetch` puts in `target/lab/headers/<kernel>/{libc-dev,common}/`; `UVERBS_HEADERS` names another place. The
//! checks of a kernel whose headers are missing are reported as ignored; with `CI` set, as failed.
//!
//! The C compiler evaluates the names in each header, so that nothing here knows C. `build.rs` lists what is to be
//! checked from the source of `uverbs-uapi`. A name that not every kernel has is checked both ways: it has to be absent
//! from the older ones.

mod compiler;
mod faults;
mod firmware;
mod history;
mod kernel;
mod user;
mod verdict;

use std::path::{Path, PathBuf};

use libtest_mimic::{Arguments, Failed, Trial};

use kernel::{Headers, SUPPORTED};
use user::Constant;

fn main() {
    let arguments = Arguments::from_args();
    let mut trials = faults::trials();
    for &(name, version) in SUPPORTED {
        match Headers::find(name, version) {
            Ok(headers) => trials.extend(kernel_trials(name, headers)),
            Err(reason) => trials.push(missing(name, reason)),
        }
    }
    libtest_mimic::run(&arguments, trials).exit();
}

/// The checks of one kernel.
fn kernel_trials(name: &str, headers: Headers) -> [Trial; 2] {
    let Headers { version, user, kernel } = headers;
    let scratch = scratch(name);
    let folder = scratch.join("firmware");
    [
        Trial::test(format!("user ABI of Linux {name}"), move || {
            let (_, constants) = constants();
            judge(&user::complaints(&constants, &user::structures(), &user, version, &scratch.join("user"))?)
        }),
        Trial::test(format!("firmware layouts of Linux {name}"), move || {
            let (constants, _) = constants();
            let card = [connectx::layouts::LAYOUTS, connectx::queues::layouts::LAYOUTS];
            let layouts = uverbs_uapi::prm::LAYOUTS.iter().copied().chain(card).collect::<Vec<_>>().concat();
            judge(&firmware::complaints(&layouts, &constants, &kernel, version, &folder)?)
        }),
    ]
}

/// The constants of the firmware, and those of the user ABI.
fn constants() -> (Vec<Constant>, Vec<Constant>) {
    user::constants().into_iter().partition(|constant| constant.module == "prm")
}

/// What stands for the checks of a kernel without headers.
fn missing(name: &str, reason: String) -> Trial {
    let in_ci = std::env::var_os("CI").is_some();
    if !in_ci {
        eprintln!("skipped: {reason}");
    }
    Trial::test(format!("headers of Linux {name}"), move || Err(Failed::from(reason)))
        .with_ignored_flag(!in_ci)
}

/// A folder for the compiler's files.
fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("headers").join(name)
}

fn judge(complaints: &[String]) -> Result<(), Failed> {
    if complaints.is_empty() { Ok(()) } else { Err(complaints.join("\n").into()) }
}
