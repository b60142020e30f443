//! An open device: what it tells of itself.

use std::os::fd::AsFd;

use uverbs::{Context, Object};

use crate::{Lab, Outcome, Test, ensure, equal, passed};

pub(crate) const TESTS: &[Test] = &[
    ("context::the_device_and_its_port_answer", queries),
    ("context::the_gid_table_and_the_single_gids_agree", gids),
    ("context::mlx5_answers_and_tells_it_again", mlx5),
    ("context::objects_are_asked_without_side_effect", objects),
    ("context::opening_maps_nothing", maps_nothing),
];

fn queries(lab: &Lab) -> Outcome {
    let context = lab.open()?;
    let attributes = context.query_device()?;
    ensure(attributes.ports() >= 1, "no port")?;
    let port = context.query_port(1)?;
    ensure(port.active_mtu() > 0 && port.active_mtu() <= port.max_mtu(), format!("{port:?}"))?;
    let beyond = u32::from(attributes.ports()) + 1;
    let error = context.query_port(beyond).err().ok_or("a port beyond the last answers")?;
    ensure(error.errno().is_some(), error.to_string())?;
    passed()
}

fn gids(lab: &Lab) -> Outcome {
    let context = lab.open()?;
    for entry in context.gids()? {
        let single = context.gid(entry.port(), entry.index())?;
        equal("GID", (single.gid(), single.gid_type()), (entry.gid(), entry.gid_type()))?;
    }
    ensure(context.gid(1, 100_000).is_err(), "a GID behind the end of the table")?;
    passed()
}

fn mlx5(lab: &Lab) -> Outcome {
    let context = lab.open()?;
    let first = context.mlx5()?;
    let adopted = Context::from_fd(context.as_fd().try_clone_to_owned()?)?;
    equal("mlx5 answer", adopted.mlx5()?.raw().log_uar_size, first.raw().log_uar_size)?;
    equal("ports", first.raw().num_ports, 1)?;
    passed()
}

fn objects(lab: &Lab) -> Outcome {
    let context = lab.open()?;
    equal("an object that no kernel has", context.supports(Object::new(0x1fff))?, false)?;
    // A device without user contexts has no DEVX at all, so it cannot be asked for its capabilities either.
    match context.hca_capabilities() {
        Ok(capabilities) => {
            ensure(capabilities.log_max_uctx() != 0, "DEVX without user contexts")?;
            equal("DEVX", context.supports(Object::DEVX)?, true)?;
        }
        Err(error) => {
            equal(&error.to_string(), context.supports(Object::DEVX)?, false)?;
            ensure(error.lacking().is_some(), format!("nobody lacks anything in {error:?}"))?;
        }
    }
    passed()
}

fn maps_nothing(lab: &Lab) -> Outcome {
    let maps = || std::fs::read_to_string("/proc/self/maps").map(|maps| maps.matches("infiniband").count());
    let _context = lab.open()?;
    equal("mappings of the device", maps()?, 0)?;
    passed()
}
