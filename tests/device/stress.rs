//! Many times, and from many threads.

use std::fs;

use libtest_mimic::Failed;
use uverbs::{FlowTableType, Priority, SteeringAnchor};

use crate::card::Card;
use crate::expectation::Expectation;
use crate::{Lab, Outcome, Test, ensure, equal, passed, skip};

pub(crate) const TESTS: &[Test] = &[
    ("stress::ten_thousand_anchors_leave_memory_and_descriptors_flat", ten_thousand),
    ("stress::eight_threads_share_a_context", eight_threads),
    ("stress::many_lists_leave_memory_and_descriptors_flat", many_lists),
];

/// Resident memory in KiB and open descriptors of this process.
fn usage() -> Result<(u64, usize), Failed> {
    let status = fs::read_to_string("/proc/self/status")?;
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
    let resident = resident.trim_end_matches("kB").trim().parse()?;
    Ok((resident, fs::read_dir("/proc/self/fd")?.count()))
}

/// Asserts that `work` leaves memory and descriptors as they were.
fn stays_flat(work: impl Fn() -> Result<(), Failed>) -> Result<(), Failed> {
    work()?;
    let before = usage()?;
    work()?;
    let after = usage()?;
    equal("open descriptors", after.1, before.1)?;
    // A page or two come and go with the reading of /proc itself.
    ensure(after.0 <= before.0 + 64, format!("memory grew from {} to {} KiB", before.0, after.0))
}

fn ten_thousand(lab: &Lab) -> Outcome {
    let context = lab.open()?;
    if Expectation::of(&context)?.anchor(FlowTableType::NicRx).is_err() {
        return skip("this kernel and device have no NIC RX anchor");
    }
    let priority = Priority::new(4)?;
    // Held, so that the loop costs no firmware command: the kernel and this library are under test, not the card.
    let held = SteeringAnchor::create(&context, FlowTableType::NicRx, priority)?;
    let objects = Card::connect().map(|mut card| card.objects()).transpose()?;
    stays_flat(|| {
        for _ in 0..5_000 {
            let anchor = SteeringAnchor::create(&context, FlowTableType::NicRx, priority)?;
            equal("id", anchor.id(), held.id())?;
            anchor.destroy()?;
        }
        Ok(())
    })?;
    equal("objects on the card", Card::connect().map(|mut card| card.objects()).transpose()?, objects)?;
    passed()
}

fn eight_threads(lab: &Lab) -> Outcome {
    let context = lab.open()?;
    if Expectation::of(&context)?.anchor(FlowTableType::NicRx).is_err() {
        return skip("this kernel and device have no NIC RX anchor");
    }
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8u16)
            .map(|number| {
                let context = context.clone();
                scope.spawn(move || -> Result<(), Failed> {
                    for round in 0..100 {
                        let priority = Priority::new((number + round) % 16)?;
                        let first = SteeringAnchor::create(&context, FlowTableType::NicRx, priority)?;
                        let second = SteeringAnchor::create(&context, FlowTableType::NicRx, priority)?;
                        equal("ids", second.id(), first.id())?;
                        first.destroy()?;
                    }
                    Ok(())
                })
            })
            .collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().unwrap_or_else(|_| Err("a thread panicked".into())))
    })?;
    equal("anchors left", context.handles(uverbs::Object::STEERING_ANCHOR)?.len(), 0)?;
    passed()
}

fn many_lists(_: &Lab) -> Outcome {
    stays_flat(|| {
        for _ in 0..500 {
            ensure(!uverbs::Device::list()?.is_empty(), "the list is empty")?;
        }
        Ok(())
    })?;
    passed()
}
