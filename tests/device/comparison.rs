//! Field by field: the same work by rdma-core's libraries (`tests/peer/anchor.c`) and by the crate, as the kernel is
//! asked for it.

use std::collections::BTreeSet;
use std::fmt::{self, Write as _};
use std::process::Command;
use std::sync::Arc;

use lab_trace::Report;
use libtest_mimic::Failed;
use uverbs::flow::{Actions, FlowMatcher, FlowTable, Headers, Match};
use uverbs::{Device, FlowTableType, Priority, SteeringAnchor};

use crate::devx::devx;
use crate::expectation::Expectation;
use crate::recorded::{self, Fields, STEPS};
use crate::{Lab, Outcome, Test, ensure, equal, passed, peer, program, skip};

pub(crate) const TESTS: &[Test] = &[("comparison::the_kernel_is_asked_as_rdma_core_asks_it", same)];

/// A field that is not the same on both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Difference<'a> {
    step: &'a str,
    field: &'a str,
    ours: &'a str,
    theirs: &'a str,
}

/// The differences that are meant, and why. An anchor has none.
const MEANT: [(Difference<'static>, &str); 5] = [
    (
        Difference { step: "create matcher", field: "MATCH_MASK length", ours: "64", theirs: "512" },
        "the parts of the mask up to the last that counts; the kernel takes the others for zero",
    ),
    (
        Difference {
            step: "create matcher",
            field: "attributes",
            ours: "HANDLE MATCH_MASK FLOW_TYPE MATCH_CRITERIA FT_TYPE",
            theirs: "HANDLE MATCH_MASK MATCH_CRITERIA FLOW_TYPE FT_TYPE",
        },
        "in the order of their numbers; the kernel takes any",
    ),
    (
        Difference { step: "create flow", field: "MATCH_VALUE length", ours: "64", theirs: "512" },
        "as long as the matcher's mask",
    ),
    (
        Difference {
            step: "create flow",
            field: "attributes",
            ours: "HANDLE MATCH_VALUE DEST_DEVX MATCHER",
            theirs: "HANDLE MATCH_VALUE MATCHER DEST_DEVX",
        },
        "in the order of their numbers; the kernel takes any",
    ),
    (
        Difference { step: "destroy flow", field: "method", ours: "0x1001", theirs: "0x0" },
        "the driver's method, as it was the driver's that created the flow; rdma-core's is the core's own",
    ),
];

impl fmt::Display for Difference<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { step, field, ours, theirs } = self;
        write!(f, "{step}, {field}: {ours}, rdma-core: {theirs}")
    }
}

fn differences<'a>(ours: &'a [Fields], theirs: &'a [Fields]) -> BTreeSet<Difference<'a>> {
    let mut found = BTreeSet::new();
    for (((step, _), ours), theirs) in STEPS.iter().zip(ours).zip(theirs) {
        for field in ours.keys().chain(theirs.keys()) {
            let of = |side: &'a Fields| side.get(field).map_or("nothing", String::as_str);
            if of(ours) != of(theirs) {
                found.insert(Difference { step, field, ours: of(ours), theirs: of(theirs) });
            }
        }
    }
    found
}

/// What is wrong with the differences found, and all of the steps in which they are.
fn complaint(found: &BTreeSet<Difference>, ours: &[Fields], theirs: &[Fields]) -> Result<String, fmt::Error> {
    let meant = BTreeSet::from(MEANT.map(|(difference, _)| difference));
    let mut text = String::new();
    for difference in found.iter().filter(|each| !meant.contains(each) || each.step.ends_with(" anchor")) {
        writeln!(text, "not meant: {difference}")?;
    }
    for (difference, reason) in MEANT.iter().filter(|(each, _)| !found.contains(each)) {
        writeln!(text, "not found: {difference} ({reason})")?;
    }
    let steps: BTreeSet<_> = found.symmetric_difference(&meant).map(|difference| difference.step).collect();
    for (((step, _), ours), theirs) in STEPS.iter().zip(ours).zip(theirs) {
        if steps.contains(step) {
            writeln!(text, "\n{step}:\n  by the crate {ours:#?}\n  by rdma-core {theirs:#?}")?;
        }
    }
    Ok(text)
}

/// Runs a program to its end and gives what it asked of the kernel.
fn record(mut trace: Command, program: &Command) -> Result<Report, Failed> {
    let file = tempfile::NamedTempFile::new()?;
    trace.arg("--json").arg(file.path()).arg("--").arg(program.get_program()).args(program.get_args());
    program::ended(&trace.output()?, 0)?;
    Ok(serde_json::from_reader(file)?)
}

/// A child's part: what `tests/peer/anchor.c` does, in its order.
pub(crate) fn build_like_peer(device: &str) -> Result<(), Box<dyn std::error::Error>> {
    let context = Device::by_name(device)?.open_devx()?;
    let rx = FlowTableType::NicRx;
    let anchor = Arc::new(SteeringAnchor::create(&context, rx, Priority::new(3)?)?);
    let table = FlowTable::builder(&context, rx).log_size(2).build()?;
    let group = table.group(.., &Match::any())?;
    let entry = group.entry(0, &Match::any(), Actions::forward_to(&anchor))?;
    let criteria = Match::builder().outer(&Headers::new().ipv4().udp_destination(5000)).build()?;
    let matcher = FlowMatcher::create(&context, rx, Priority::new(0)?, &criteria)?;
    let flow = matcher.flow(&criteria, &table).create()?;
    flow.destroy()?;
    matcher.destroy()?;
    entry.destroy()?;
    group.destroy()?;
    table.destroy()?;
    Arc::into_inner(anchor).ok_or("the anchor is held")?.destroy()?;
    Ok(())
}

fn same(lab: &Lab) -> Outcome {
    let Some(mut peer) = peer::program() else { return skip("UVERBS_PEER names no program") };
    let (Some(trace), Some(trace_again)) = (program::find("lab-trace")?, program::find("lab-trace")?) else {
        return skip("lab-trace is not in the path");
    };
    if devx(lab)?.is_err() || Expectation::of(&lab.open()?)?.anchor(FlowTableType::NicRx).is_err() {
        return skip("there are no anchors here");
    }
    peer.arg(&lab.device);
    let mut own = Command::new(std::env::current_exe()?);
    own.args(["--child", "build-like-peer", &lab.device]);
    let theirs = recorded::steps(&record(trace, &peer)?.commands)?;
    let commands = record(trace_again, &own)?.commands;
    let ours = recorded::steps(&commands)?;
    let found = differences(&ours, &theirs);
    let complaint = complaint(&found, &ours, &theirs)?;
    ensure(complaint.is_empty(), complaint)?;
    every_attribute_counts(&commands, &theirs, &found)
}

/// The comparison notices when any one attribute of ours is another.
fn every_attribute_counts(
    commands: &[lab_trace::Command],
    theirs: &[Fields],
    found: &BTreeSet<Difference>,
) -> Outcome {
    let mut steps = 0;
    for at in 0..commands.len() {
        if !recorded::is_step(&commands[at]) {
            continue;
        }
        steps += 1;
        for attribute in 0..commands[at].attributes.len() {
            let mut changed = commands.to_vec();
            let value = &mut changed[at].attributes[attribute];
            let what = format!("another attribute {:#x} of {:?}", value.id, STEPS[steps - 1]);
            match value.before.memory.as_mut().and_then(|memory| memory.0.last_mut()) {
                Some(byte) => *byte ^= 1,
                None => value.before.data ^= 1,
            }
            let ours = recorded::steps(&changed)?;
            ensure(differences(&ours, theirs) != *found, format!("{what} is not noticed"))?;
        }
    }
    equal("steps", steps, STEPS.len())?;
    passed()
}
