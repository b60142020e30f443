//! rdma-core's own libraries on the same device: `tests/peer/anchor.c`.

use std::process::Command;

use uverbs::{FlowTableType, Lacking};

use crate::devx::devx;
use crate::expectation::Expectation;
use crate::{Lab, Outcome, Test, ensure, equal, passed, skip};

pub(crate) const TESTS: &[Test] =
    &[("peer::rdma_core_builds_the_sandbox_where_the_crate_can_and_nowhere_else", builds)];

/// What the program says that it did, one call a line; a number may follow.
const STEPS: [&str; 14] = [
    "mlx5dv_open_device",
    "mlx5dv_create_steering_anchor",
    "CREATE_FLOW_TABLE",
    "CREATE_FLOW_GROUP",
    "SET_FLOW_TABLE_ENTRY",
    "mlx5dv_create_flow_matcher",
    "mlx5dv_create_flow",
    "ibv_destroy_flow",
    "mlx5dv_destroy_flow_matcher",
    "mlx5dv_devx_obj_destroy entry",
    "mlx5dv_devx_obj_destroy group",
    "mlx5dv_devx_obj_destroy table",
    "mlx5dv_destroy_steering_anchor",
    "ibv_close_device",
];

/// The program, where there is one: the lab compiles it if rdma-core's libraries can be had.
pub(crate) fn program() -> Option<Command> {
    std::env::var_os("UVERBS_PEER").map(Command::new)
}

fn builds(lab: &Lab) -> Outcome {
    let Some(mut program) = program() else { return skip("UVERBS_PEER names no program") };
    let output = program.arg(&lab.device).output()?;
    let printed = String::from_utf8(output.stdout)?;
    let errors = String::from_utf8(output.stderr)?;
    let refused = |call: &str, text: &str| {
        equal(&errors, output.status.code(), Some(1))?;
        ensure(errors.contains(&format!("{call}: {text}")), &errors)
    };
    match (devx(lab)?, Expectation::of(&lab.open()?)?.anchor(FlowTableType::NicRx)) {
        (Err(_), _) => refused("mlx5dv_open_device", "Invalid argument")?,
        (Ok(_), Err(Lacking::Kernel | Lacking::Firmware)) => {
            refused("mlx5dv_create_steering_anchor", "Protocol not supported")?;
        }
        (Ok(_), Err(lacking)) => return Err(format!("an anchor is lacking by {lacking:?}").into()),
        (Ok(_), Ok(())) => {
            equal(&errors, output.status.code(), Some(0))?;
            let without_number =
                |line: &'_ str| line.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end().to_owned();
            equal(
                "steps",
                printed.lines().map(without_number).collect::<Vec<_>>(),
                STEPS.map(str::to_owned).to_vec(),
            )?;
        }
    }
    passed()
}
