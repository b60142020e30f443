//! The least that a program needs: one device, one anchor, the id of its flow table.
//!
//! Without a name it takes the first mlx5 device. Needs Linux 6.0 and `CAP_NET_RAW`. As a static file it has less than
//! 480 KiB, most of it Rust's standard library:
//!
//! ```console
//! $ cargo build --release --target x86_64-unknown-linux-musl --example first_anchor
//! # target/x86_64-unknown-linux-musl/release/examples/first_anchor mlx5_0
//! 0x10
//! ```
#![forbid(unsafe_code)]

use std::{
    env,
    error::Error as _,
    io::{self, Write},
    process::ExitCode,
};

use uverbs::{Device, DriverId, FlowTableId, FlowTableType, Priority, SteeringAnchor};

/// The device of this name, or the first of the driver mlx5.
fn device(name: Option<&str>) -> uverbs::Result<Option<Device>> {
    match name {
        Some(name) => Device::by_name(name).map(Some),
        None => Ok(Device::list()?.into_iter().find(|device| device.driver() == DriverId::MLX5)),
    }
}

/// Makes an anchor, and destroys it again.
fn first_anchor(device: &Device) -> uverbs::Result<FlowTableId> {
    let anchor = SteeringAnchor::create(&device.open()?, FlowTableType::NicRx, Priority::new(5)?)?;
    let id = anchor.id();
    anchor.destroy()?;
    Ok(id)
}

/// One line for what went wrong and the kernel's word on it, one for what to do.
fn report(error: &uverbs::Error) -> ExitCode {
    match error.source() {
        Some(source) => eprintln!("error: {error}: {source}"),
        None => eprintln!("error: {error}"),
    }
    if let Some(hint) = error.hint() {
        eprintln!("hint: {hint}");
    }
    ExitCode::FAILURE
}

fn main() -> ExitCode {
    let found = device(env::args().nth(1).as_deref());
    match found.and_then(|device| device.as_ref().map(first_anchor).transpose()) {
        Ok(Some(id)) if writeln!(io::stdout(), "{id}").is_ok() => ExitCode::SUCCESS,
        Ok(Some(_)) => ExitCode::FAILURE,
        Ok(None) => {
            eprintln!("error: no mlx5 device");
            ExitCode::FAILURE
        }
        Err(error) => report(&error),
    }
}
