//! What a call costs in system calls: exact numbers, the same on every kernel.

use uverbs::FlowTableType;

use crate::child::Syscalls;
use crate::expectation::Expectation;
use crate::{Lab, Outcome, Test, ensure, equal, passed, skip};

pub(crate) const TESTS: &[Test] = &[
    ("syscalls::an_anchor_is_created_and_destroyed_with_one_ioctl_each", one_each),
    ("syscalls::from_a_name_to_an_id_to_close_takes_few_calls", name_to_close),
];

fn one_each(lab: &Lab) -> Outcome {
    if Expectation::of(&lab.open()?)?.anchor(FlowTableType::NicRx).is_err() {
        return skip("this kernel and device have no NIC RX anchor");
    }
    let calls = Syscalls::of(&lab.device, "create-and-destroy")?;
    equal("ioctls", calls.count("ioctl"), 2)?;
    equal("system calls", calls.total(), 2)?;
    passed()
}

fn name_to_close(lab: &Lab) -> Outcome {
    if Expectation::of(&lab.open()?)?.anchor(FlowTableType::NicRx).is_err() {
        return skip("this kernel and device have no NIC RX anchor");
    }
    let calls = Syscalls::of(&lab.device, "name-to-close")?;
    equal("ioctls", calls.count("ioctl"), 3)?;
    ensure(calls.total() <= 11, format!("{} system calls: {calls:?}", calls.total()))?;
    passed()
}
