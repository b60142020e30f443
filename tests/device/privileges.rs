//! Who may do what.

use uverbs::{FlowTableType, Lacking};

use crate::expectation::Expectation;
use crate::{Lab, Outcome, Test, child, ensure, passed, skip};

pub(crate) const TESTS: &[Test] =
    &[("privileges::without_cap_net_raw_an_anchor_is_refused_with_a_hint", without_cap_net_raw)];

fn without_cap_net_raw(lab: &Lab) -> Outcome {
    if !nix::unistd::geteuid().is_root() {
        return skip("only root can give up its privileges");
    }
    let expected = match Expectation::of(&lab.open()?)?.anchor(FlowTableType::NicRx) {
        Ok(()) => Lacking::Privilege,
        Err(absent @ (Lacking::Kernel | Lacking::Firmware)) => absent,
        Err(other) => return Err(format!("NIC RX anchors cannot lack {other:?}").into()),
    };
    let report = child::run_unprivileged(&lab.device, "report-anchor")?;
    ensure(report.starts_with(&format!("Some({expected:?})")), &report)?;
    ensure(expected != Lacking::Privilege || report.contains("CAP_NET_RAW"), &report)?;
    passed()
}
