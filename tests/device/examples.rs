//! The examples that show how little it takes.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::Command;

use uverbs::{FlowTableType, Lacking, Priority, SteeringAnchor};

use crate::expectation::Expectation;
use crate::program::{self, ended};
use crate::{Lab, Outcome, Test, child, ensure, equal, passed, skip};

pub(crate) const TESTS: &[Test] = &[
    ("examples::first_anchor_prints_the_id_that_everybody_gets", prints_the_id),
    ("examples::first_anchor_says_what_is_wrong", says_what_is_wrong),
    ("examples::first_anchor_takes_little_memory", takes_little_memory),
];

/// The priority that the examples use.
const PRIORITY: u16 = 5;
/// The most memory that a static program with std may have taken at its end.
const MOST_KIB: u64 = 450;

macro_rules! program {
    ($name:literal) => {
        match program::find($name)? {
            Some(program) => program,
            None => return skip(concat!($name, " is not in the path")),
        }
    };
}

fn prints_the_id(lab: &Lab) -> Outcome {
    let context = lab.open()?;
    if Expectation::of(&context)?.anchor(FlowTableType::NicRx).is_err() {
        return skip("this kernel and device have no NIC RX anchor");
    }
    // Held meanwhile, so that the kernel cannot give another id to the next.
    let anchor = SteeringAnchor::create(&context, FlowTableType::NicRx, Priority::new(PRIORITY)?)?;
    for arguments in [vec![lab.device.as_str()], vec![]] {
        let output = program!("first_anchor").args(&arguments).output()?;
        ended(&output, 0)?;
        equal("output", String::from_utf8(output.stdout)?, format!("{}\n", anchor.id()))?;
    }
    passed()
}

fn says_what_is_wrong(lab: &Lab) -> Outcome {
    let errors = ended(&program!("first_anchor").arg("no such device").output()?, 1)?;
    ensure(errors.contains("\"no such device\"") && errors.contains("hint: "), errors)?;
    let output = program!("first_anchor").arg(&lab.device).output()?;
    let reason = match Expectation::of(&lab.open()?)?.anchor(FlowTableType::NicRx) {
        Ok(()) => return passed(),
        Err(Lacking::Kernel) => "Linux 6.0",
        Err(Lacking::Firmware) => "shared_object_to_user_object_allowed",
        Err(other) => return Err(format!("NIC RX anchors cannot lack {other:?}").into()),
    };
    let errors = ended(&output, 1)?;
    ensure(errors.contains(reason) && errors.contains("hint: "), format!("{reason} is not named: {errors}"))?;
    passed()
}

fn takes_little_memory(lab: &Lab) -> Outcome {
    if Expectation::of(&lab.open()?)?.anchor(FlowTableType::NicRx).is_err() {
        return skip("this kernel and device have no NIC RX anchor");
    }
    program!("first_anchor");
    let kib = child::peak_memory(&lab.device, "become-first-anchor")?;
    ensure(kib <= MOST_KIB, format!("{kib} KiB at the peak, more than {MOST_KIB}"))?;
    passed()
}

/// Becomes the example, once the tracer is there.
pub(crate) fn become_first_anchor(device: &str) -> Result<(), Box<dyn std::error::Error>> {
    std::io::stdin().read_exact(&mut [0])?;
    Err(Command::new("first_anchor").arg(device).exec().into())
}
