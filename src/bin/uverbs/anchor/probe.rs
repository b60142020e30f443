//! `uverbs anchor probe`: which anchors work here, and why the others do not.

use uverbs::{
    Context, Device, FlowTableType, HcaCapabilities, KernelRelease, Object, Priority, SteeringAnchor,
};

use crate::cli::ProbeArguments;
use crate::event::{Basis, Event, Probe};
use crate::failure::{Failure, While};
use crate::output::Output;
use crate::privilege;
use crate::table::Table;

pub(crate) fn run(arguments: &ProbeArguments, output: &mut Output) -> Result<(), Failure> {
    let name = &arguments.target.device;
    let while_probing = || format!("cannot probe {name}");
    let context = Device::by_name(name).and_then(|device| device.open()).while_doing(while_probing)?;
    let facts = Facts::ask(&context).while_doing(while_probing)?;

    let mut table = Table::with_head(["type", "works", "why"]);
    for table_type in FlowTableType::ALL {
        let answer = if arguments.create { attempt(&context, table_type) } else { facts.judge(table_type) };
        let Answer { works, basis, reason } = answer;
        if output.is_json() {
            let probe =
                Probe { device: name.clone(), table_type: table_type.to_string(), works, basis, reason };
            output.json(&Event::Probe(probe))?;
        } else {
            table.row([table_type.to_string(), if works { "yes" } else { "no" }.to_owned(), reason]);
        }
    }
    if !output.is_json() {
        output.text(table)?;
    }
    if let Some(cap_net_raw) = privilege::has_net_raw() {
        let text = if cap_net_raw {
            ""
        } else {
            "This process lacks CAP_NET_RAW, which creating an anchor needs.\n"
        };
        output.print(&Event::Caller { cap_net_raw }, text)?;
    }
    Ok(())
}

struct Answer {
    works: bool,
    basis: Basis,
    reason: String,
}

/// Creates an anchor and destroys it.
fn attempt(context: &Context, table_type: FlowTableType) -> Answer {
    let outcome = SteeringAnchor::create(context, table_type, Priority::default())
        .and_then(|anchor| anchor.destroy().map_err(uverbs::Error::from));
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
    /// The firmware lets users point to shared objects; `None` where it cannot be asked.
    shared: Option<bool>,
    /// The function manages the eswitch; `None` where it cannot be asked.
    eswitch_manager: Option<bool>,
}

impl Facts {
    fn ask(context: &Context) -> uverbs::Result<Self> {
        // Without DEVX in the kernel there is no way to the capabilities; the answers say what they then rest on.
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
        let answer = |works, basis, reason: &str| Answer { works, basis, reason: reason.to_owned() };
        // Only the attempt itself would tell for certain.
        let expected = |works, reason: &str| {
            answer(works, Basis::Expected, &format!("expected from the kernel's version: {reason}"))
        };
        if !self.offered {
            return match self.shared {
                _ if kernel < KernelRelease::new(6, 0) => {
                    answer(false, Basis::Asked, &format!("Linux {kernel} has no steering anchors, 6.0 has"))
                }
                Some(false) => {
                    answer(false, Basis::Asked, "the firmware lacks shared_object_to_user_object_allowed")
                }
                _ => answer(false, Basis::Asked, "the kernel does not offer steering anchors on this device"),
            };
        }
        match (table_type.expected_on(kernel), table_type, self.eswitch_manager) {
            (Err(_), FlowTableType::NicTx, _) => {
                expected(false, &format!("the driver of Linux {kernel} refuses it, 6.4 allows it"))
            }
            (Err(_), ..) => expected(false, "no known driver allows it"),
            (Ok(()), FlowTableType::NicRx, _) => {
                answer(true, Basis::Asked, "the kernel offers steering anchors on this device")
            }
            (Ok(()), FlowTableType::Fdb, Some(false)) => {
                answer(false, Basis::Asked, "this function is not the eswitch manager")
            }
            (Ok(()), FlowTableType::Fdb, Some(true)) => {
                answer(true, Basis::Asked, "this function is the eswitch manager")
            }
            (Ok(()), FlowTableType::Fdb, None) => {
                expected(true, &format!("Linux {kernel} allows it on an eswitch manager"))
            }
            (Ok(()), ..) => expected(true, &format!("Linux {kernel} allows it")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: Facts = Facts {
        kernel: KernelRelease::new(6, 12),
        offered: true,
        shared: Some(true),
        eswitch_manager: Some(true),
    };

    #[test]
    fn answers_name_what_decides() {
        use Basis::{Asked, Expected};
        use FlowTableType::{Fdb, NicRx, NicTx, RdmaRx, RdmaTx};
        let (v5_10, v6_1) = (KernelRelease::new(5, 10), KernelRelease::new(6, 1));
        for (facts, table_type, works, basis, word) in [
            (GOOD, NicRx, true, Asked, "offers"),
            (GOOD, NicTx, true, Expected, "expected from the kernel's version"),
            (GOOD, Fdb, true, Asked, "eswitch manager"),
            (GOOD, RdmaRx, false, Expected, "no known driver"),
            (GOOD, RdmaTx, false, Expected, "no known driver"),
            (Facts { kernel: v6_1, ..GOOD }, NicTx, false, Expected, "6.4"),
            (Facts { kernel: v6_1, ..GOOD }, NicRx, true, Asked, "offers"),
            (Facts { eswitch_manager: Some(false), ..GOOD }, Fdb, false, Asked, "not the eswitch manager"),
            (Facts { eswitch_manager: None, ..GOOD }, Fdb, true, Expected, "expected"),
            (Facts { offered: false, shared: Some(false), ..GOOD }, NicRx, false, Asked, "shared_object"),
            (Facts { offered: false, shared: None, ..GOOD }, NicRx, false, Asked, "does not offer"),
            (Facts { offered: false, shared: None, kernel: v5_10, ..GOOD }, RdmaTx, false, Asked, "5.10"),
        ] {
            let answer = facts.judge(table_type);
            let got = (answer.works, answer.basis, answer.reason.contains(word));
            assert_eq!(got, (works, basis, true), "{table_type}: {}", answer.reason);
        }
    }
}
