//! `uverbs anchor probe`: which anchors work here, and why the others do not.

use uverbs::{Context, Device, FlowTableType, HcaCapabilities, KernelRelease, Object, Priority, SteeringAnchor};

use crate::cli::ProbeArguments;
use crate::event::{self, Basis, Event};
use crate::failure::{Failure, While};
use crate::output::Output;
use crate::table::Table;

/// The first kernel that has steering anchors.
const FIRST_KERNEL: KernelRelease = KernelRelease { major: 6, minor: 0 };

pub(crate) fn run(arguments: &ProbeArguments, output: &mut Output) -> Result<(), Failure> {
    let name = &arguments.target.device;
    let while_probing = || format!("cannot probe {name}");
    let context = Device::by_name(name).and_then(|device| device.open()).while_doing(while_probing)?;
    let facts = Facts::ask(&context).while_doing(while_probing)?;

    let mut table = Table::with_head(["type", "works", "basis", "why"]);
    for table_type in FlowTableType::ALL {
        let answer = if arguments.create { attempt(&context, table_type) } else { facts.judge(table_type) };
        if output.is_json() {
            output.json(&Event::Probe(event::Probe {
                device: name.clone(),
                table_type: table_type.to_string(),
                works: answer.works,
                basis: answer.basis,
                reason: answer.reason,
            }))?;
        } else {
            table.row([
                table_type.to_string(),
                if answer.works { "yes" } else { "no" }.to_owned(),
                basis_text(answer.basis).to_owned(),
                answer.reason,
            ]);
        }
    }
    if !output.is_json() {
        output.text(table)?;
    }
    Ok(())
}

fn basis_text(basis: Basis) -> &'static str {
    match basis {
        Basis::Asked => "asked",
        Basis::Expected => "expected",
        Basis::Tried => "tried",
    }
}

struct Answer {
    works: bool,
    basis: Basis,
    reason: String,
}

/// Creates an anchor and destroys it.
fn attempt(context: &Context, table_type: FlowTableType) -> Answer {
    let outcome = SteeringAnchor::create(context, table_type, Priority::default())
        .and_then(|anchor| anchor.destroy().map_err(|refused| refused.into_parts().1));
    let (works, reason) = match outcome {
        Ok(()) => (true, "created and destroyed".to_owned()),
        Err(error) => (false, error.to_string()),
    };
    Answer { works, basis: Basis::Tried, reason }
}

/// What can be known without creating anything.
struct Facts {
    kernel: KernelRelease,
    /// The kernel offers steering anchors on this device.
    offered: bool,
    /// The firmware lets kernel tables be shared with users; `None` where it cannot be asked.
    shared: Option<bool>,
    /// The function manages the eswitch; `None` where it cannot be asked.
    eswitch_manager: Option<bool>,
}

impl Facts {
    fn ask(context: &Context) -> uverbs::Result<Self> {
        // Without DEVX in the kernel there is no way to the capabilities; the answers then say what they rest on.
        let capabilities = context.hca_capabilities().ok();
        Ok(Self {
            kernel: KernelRelease::running(),
            offered: context.supports(Object::STEERING_ANCHOR)?,
            shared: capabilities.as_ref().map(HcaCapabilities::shared_object_to_user_object_allowed),
            eswitch_manager: capabilities.as_ref().map(HcaCapabilities::eswitch_manager),
        })
    }

    fn judge(&self, table_type: FlowTableType) -> Answer {
        let kernel = self.kernel;
        let yes = |basis, reason: &str| Answer { works: true, basis, reason: reason.to_owned() };
        let no = |basis, reason: String| Answer { works: false, basis, reason };
        if !self.offered {
            let reason = match self.shared {
                _ if kernel < FIRST_KERNEL => format!("Linux {kernel} has no steering anchors, {FIRST_KERNEL} has"),
                Some(false) => "the firmware lacks shared_object_to_user_object_allowed".to_owned(),
                _ => "the kernel does not offer steering anchors on this device".to_owned(),
            };
            return no(Basis::Asked, reason);
        }
        if table_type.expected_on(kernel).is_err() {
            let reason = match table_type {
                FlowTableType::NicTx => format!("expected from the kernel's version: the driver of Linux {kernel} refuses this type, 6.4 allows it"),
                _ => "expected from the kernel's version: no known driver allows this type".to_owned(),
            };
            return no(Basis::Expected, reason);
        }
        match (table_type, self.eswitch_manager) {
            (FlowTableType::Fdb, Some(false)) => no(Basis::Asked, "this function is not the eswitch manager".to_owned()),
            (FlowTableType::Fdb, Some(true)) => yes(Basis::Asked, "this function is the eswitch manager"),
            (FlowTableType::NicRx, _) => yes(Basis::Asked, "the kernel offers steering anchors on this device"),
            _ => yes(Basis::Expected, "expected from the kernel's version"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEW: Facts = Facts {
        kernel: KernelRelease { major: 6, minor: 12 },
        offered: true,
        shared: Some(true),
        eswitch_manager: Some(true),
    };

    #[test]
    fn answers_name_what_decides() {
        use Basis::{Asked, Expected};
        use FlowTableType::{Fdb, NicRx, NicTx, RdmaRx, RdmaTx};
        let (v5_10, v6_1) = (KernelRelease { major: 5, minor: 10 }, KernelRelease { major: 6, minor: 1 });
        for (facts, table_type, works, basis, word) in [
            (NEW, NicRx, true, Asked, "offers"),
            (NEW, NicTx, true, Expected, "expected from the kernel's version"),
            (NEW, Fdb, true, Asked, "eswitch manager"),
            (NEW, RdmaRx, false, Expected, "no known driver"),
            (NEW, RdmaTx, false, Expected, "no known driver"),
            (Facts { kernel: v6_1, ..NEW }, NicTx, false, Expected, "6.4"),
            (Facts { kernel: v6_1, ..NEW }, NicRx, true, Asked, "offers"),
            (Facts { eswitch_manager: Some(false), ..NEW }, Fdb, false, Asked, "not the eswitch manager"),
            (Facts { eswitch_manager: None, ..NEW }, Fdb, true, Expected, "expected"),
            (Facts { offered: false, shared: Some(false), ..NEW }, NicRx, false, Asked, "shared_object_to_user"),
            (Facts { offered: false, shared: None, ..NEW }, NicRx, false, Asked, "does not offer"),
            (Facts { offered: false, shared: None, kernel: v5_10, ..NEW }, RdmaTx, false, Asked, "Linux 5.10"),
        ] {
            let answer = facts.judge(table_type);
            let got = (answer.works, answer.basis, answer.reason.contains(word));
            assert_eq!(got, (works, basis, true), "{table_type}: {}", answer.reason);
        }
    }
}
