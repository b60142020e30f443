//! What must hold on any mlx5 device: in the lab on the emulated card, or on a real one.
//!
//! `UVERBS_TEST_DEVICE=mlx5_0 cargo test --test device` runs these tests on that device. Without the variable each
//! is reported as ignored, with the reason. What is expected follows from what the device says of itself and from
//! the running kernel's version, so that a feature is asserted where it must work and its refusal where it must not.
#![forbid(unsafe_code)]

mod anchors;
mod card;
mod child;
mod comparison;
mod context;
mod device;
mod devx;
mod examples;
mod expectation;
mod peer;
mod privileges;
mod program;
mod recorded;
mod sandbox;
mod stress;
mod syscalls;
mod tool;
mod unbind;
mod wire;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Completion, Failed, Trial};
use uverbs::{Context, Device};

/// The outcome of a test that may find that it cannot run here.
type Outcome = Result<Completion, Failed>;

/// A test: its name and what it does with the device under test.
type Test = (&'static str, fn(&Lab) -> Outcome);

/// Where the tests run.
struct Lab {
    /// The name of the device under test.
    device: String,
}

impl Lab {
    fn device(&self) -> Result<Device, Failed> {
        Ok(Device::by_name(&self.device)?)
    }

    fn open(&self) -> Result<Context, Failed> {
        Ok(self.device()?.open()?)
    }
}

fn main() -> ExitCode {
    if let Some(code) = child::main_if_child() {
        return code;
    }
    let mut arguments = Arguments::from_args();
    // The card's accounts are of the whole card: two tests at once would see each other's objects.
    arguments.test_threads = Some(1);
    let device = std::env::var("UVERBS_TEST_DEVICE").ok();
    let tests: Vec<Test> = [
        device::TESTS,
        context::TESTS,
        anchors::TESTS,
        tool::TESTS,
        privileges::TESTS,
        devx::TESTS,
        sandbox::TESTS,
        syscalls::TESTS,
        examples::TESTS,
        peer::TESTS,
        comparison::TESTS,
        stress::TESTS,
        // Last: takes the device away and brings it back.
        unbind::TESTS,
    ]
    .concat();
    let trials = tests
        .into_iter()
        .map(|(name, test)| {
            let device = device.clone();
            Trial::ignorable_test(name, move || match device {
                Some(device) => test(&Lab { device }),
                None => skip("UVERBS_TEST_DEVICE names no mlx5 device"),
            })
        })
        .collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// The test passed.
#[expect(clippy::unnecessary_wraps, reason = "the last line of every test, whose type this is")]
fn passed() -> Outcome {
    Ok(Completion::Completed)
}

/// The test cannot run here, and why.
#[expect(clippy::unnecessary_wraps, reason = "the last line of a test, whose type this is")]
fn skip(reason: &str) -> Outcome {
    Ok(Completion::ignored_with(reason))
}

/// Fails a test with the values that differ.
#[expect(clippy::needless_pass_by_value, reason = "as `assert_eq!`, which takes literals too")]
fn equal<T: PartialEq + std::fmt::Debug>(what: &str, found: T, expected: T) -> Result<(), Failed> {
    if found == expected {
        Ok(())
    } else {
        Err(format!("{what}: found {found:?}, expected {expected:?}").into())
    }
}

/// Fails a test unless `condition` holds.
fn ensure(condition: bool, message: impl std::fmt::Display) -> Result<(), Failed> {
    if condition { Ok(()) } else { Err(message.to_string().into()) }
}
