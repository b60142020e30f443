//! The job of one run, as the guest's init gets it.

use std::{env, net::Ipv4Addr, path::PathBuf, time::Duration};

use lab_guest::{Job, PROGRAM_DIR};

use crate::{
    card::Profile,
    fetch::Kernel,
    machine::CONTROL_PORT,
    options::{MachineOptions, ProgramOptions, two_paths},
};

/// The name the driver gives to the first card; the others' differ in the number.
const DEVICE: &str = "mlx5_0";
/// How long the driver may take to bring the card up once it is loaded.
const PATIENCE: Duration = Duration::from_secs(30);
/// From a block that is nobody's (RFC 5737); the wire's other end is what the program makes of it.
pub(crate) const ADDRESS: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 2);

/// Where a program of the host lies in the guest.
pub(crate) fn program_path(name: &str) -> PathBuf {
    PathBuf::from(PROGRAM_DIR).join(name)
}

/// A program of the host as a file of the guest.
pub(crate) fn program_file(name: &str, image: Vec<u8>) -> (String, Vec<u8>) {
    (format!("{PROGRAM_DIR}/{name}"), image)
}

/// A job that runs one program with the cards in place.
pub(crate) fn for_program(
    program: PathBuf,
    args: Vec<String>,
    kernel: &Kernel,
    machine: &MachineOptions,
    profile: Profile,
    options: &ProgramOptions,
) -> Job {
    let kernel_name = kernel.name.map_or_else(|| kernel.release.clone(), |name| name.to_string());
    let control = format!("/dev/virtio-ports/{CONTROL_PORT}");
    let path = format!("{PROGRAM_DIR}:/bin:/usr/bin:/sbin:/usr/sbin");
    let lab = [
        ("PATH", path),
        ("HOME", "/tmp".to_owned()),
        ("UVERBS_TEST_DEVICE", DEVICE.to_owned()),
        ("UVERBS_LAB_PROFILE", profile.to_string()),
        ("UVERBS_LAB_KERNEL", kernel_name),
        ("CONNECTX_CONTROL", control),
    ];
    let mut env: Vec<_> = lab.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    if let Ok(backtrace) = env::var("RUST_BACKTRACE") {
        env.push(("RUST_BACKTRACE".to_owned(), backtrace));
    }
    env.extend(options.env.iter().cloned());
    Job {
        wait_for: (0..machine.cards)
            .flat_map(|card| {
                [format!("/sys/class/infiniband/mlx5_{card}"), format!("/dev/infiniband/uverbs{card}")]
            })
            .map(PathBuf::from)
            .collect(),
        patience: PATIENCE,
        rxe: options.rxe,
        address: options.net.then_some(ADDRESS),
        program,
        args,
        env,
        unprivileged: options.unprivileged,
        outputs: options.out.iter().map(|out| two_paths(out).0.to_owned()).collect(),
    }
}
