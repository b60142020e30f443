//! Contexts against the fake kernel.

use std::{cell::Cell, rc::Rc};

use uverbs_uapi::{
    ib_user_ioctl_verbs::{IbUverbsGidEntry, IbUverbsQueryPortRespEx},
    ib_user_verbs::IbUverbsExQueryDeviceResp,
};
use zerocopy::{FromZeros, IntoBytes};

use super::*;
use crate::{
    Lacking,
    command::{Method, fake},
};

const GET_CONTEXT: Method = Method::new(0, 3);
const QUERY_CONTEXT: Method = Method::new(0, 4);
const INFO_HANDLES: Method = Method::new(0, 1);
const DEVX_OTHER: Method = Method::new(0x1000, 0x1000);

/// A context that a kernel gave which answers everything.
pub(crate) fn fake_context(driver: DriverId) -> Context {
    fake::install(|_| Ok(()));
    Context::on(fake::file(), driver, Devx::No).unwrap()
}

/// A context that another process has opened: what a child of it holds after a fork.
pub(crate) fn inherited_context() -> Context {
    let inner = Inner {
        fd: fake::file(),
        driver: DriverId::MLX5,
        devx: OnceLock::from(false),
        granted: Granted::unknown(),
        owner: Pid::INIT,
    };
    Context(Arc::new(inner))
}

#[test]
fn a_context_crosses_threads() {
    fn check<T: Send + Sync + Clone>() {}
    check::<Context>();
}

#[test]
fn opening_takes_one_command_and_asks_for_devx_only_when_told_to() {
    for devx in [Devx::No, Devx::Yes] {
        fake::install(move |sent| {
            assert_eq!(sent.method(), GET_CONTEXT);
            sent.write(0, &8_u32.to_ne_bytes());
            Ok(())
        });
        let context = Context::on(fake::file(), DriverId::MLX5, devx).unwrap();
        assert_eq!((context.is_devx(), context.completion_vectors()), (devx == Devx::Yes, 8));
        assert_eq!(fake::sent(), 1);
        assert!(context.is_ours());
    }
}

/// An adopted file may have a context or none, and its driver may tell or not.
#[test]
fn a_file_is_adopted_with_and_without_a_context() {
    struct Case {
        driver: DriverId,
        wanted: Devx,
        get: Result<(), Errno>,
        query: Result<(), Errno>,
        command: Result<(), Errno>,
        adopted: Option<bool>,
    }
    const MLX5: DriverId = DriverId::MLX5;
    let fresh = Case {
        driver: MLX5,
        wanted: Devx::No,
        get: Ok(()),
        query: Ok(()),
        command: Ok(()),
        adopted: Some(false),
    };
    let there = Case { get: Err(Errno::INVAL), adopted: Some(true), ..fresh };
    for case in [
        Case { wanted: Devx::Yes, adopted: Some(true), ..fresh },
        // A context is there; whether it is one for DEVX shows when it sends.
        Case { command: Err(Errno::REMOTEIO), ..there },
        Case { command: Err(Errno::INVAL), adopted: Some(false), ..there },
        Case { command: Err(Errno::PROTONOSUPPORT), adopted: Some(false), ..there },
        Case { wanted: Devx::Yes, ..there },
        Case { wanted: Devx::Yes, command: Err(Errno::INVAL), adopted: None, ..there },
        // rxe cannot tell of a context, and none is there only if GET_CONTEXT works.
        Case { driver: DriverId::RXE, query: Err(Errno::OPNOTSUPP), adopted: Some(false), ..there },
        Case { query: Err(Errno::INVAL), adopted: None, ..there },
        Case { get: Err(Errno::IO), adopted: None, ..fresh },
        fresh,
        there,
    ] {
        let Case { get, query, command, .. } = case;
        fake::install(move |sent| match sent.method() {
            GET_CONTEXT => get,
            QUERY_CONTEXT => query,
            DEVX_OTHER => {
                // The firmware's word for "I do not know this command".
                let status = if command == Err(Errno::REMOTEIO) { 2 } else { 0 };
                sent.write(0x1001, &[status]);
                command
            }
            INFO_HANDLES => Ok(()),
            other => panic!("{other}"),
        });
        let found = Context::adopt(fake::file(), case.driver, case.wanted);
        match (found, case.adopted) {
            (Ok(context), Some(devx)) => assert_eq!(context.is_devx(), devx),
            // The first refusal is the one that is told.
            (Err(error), None) => assert_eq!(error.errno(), get.err().map(Errno::raw_os_error)),
            (found, adopted) => panic!("{found:?}, expected {adopted:?}"),
        }
    }
}

#[test]
fn a_firmware_without_user_contexts_is_named() {
    for (has_devx, lacking) in [(Err(Errno::NOENT), Some(Lacking::Firmware)), (Ok(()), None)] {
        fake::install(move |sent| if sent.method() == GET_CONTEXT { Err(Errno::INVAL) } else { has_devx });
        let error = Context::on(fake::file(), DriverId::MLX5, Devx::Yes).unwrap_err();
        assert_eq!(error.lacking(), lacking, "{error}");
        assert_eq!(error.to_string().contains("log_max_uctx"), lacking.is_some(), "{error}");
    }
}

#[test]
fn objects_are_there_or_not_or_the_kernel_cannot_say() {
    let context = fake_context(DriverId::MLX5);
    for (answer, expected) in [
        (Ok(()), Some(true)),
        (Err(Errno::NOENT), Some(false)),
        (Err(Errno::INVAL), Some(false)),
        (Err(Errno::IO), None),
        (Err(Errno::NOTTY), None),
    ] {
        fake::install(move |sent| {
            assert_eq!((sent.method(), sent.attribute(0).map(|id| id.data)), (INFO_HANDLES, Some(0x1009)));
            answer
        });
        assert_eq!(context.supports(Object::STEERING_ANCHOR).ok(), expected, "{answer:?}");
    }
}

#[test]
fn handles_are_listed_however_many_there_are() {
    let context = fake_context(DriverId::MLX5);
    for count in [0, 1, 63, 64, 65, 1000, 16383] {
        fake::install(move |sent| {
            let room = u32::from(sent.attribute(2).unwrap().len) / 4;
            let handles: Vec<u32> = (0..count).take(room as usize).collect();
            sent.write(2, handles.as_bytes());
            sent.write(1, &count.min(room).to_ne_bytes());
            Ok(())
        });
        let handles = context.handles(Object::STEERING_ANCHOR).unwrap();
        assert_eq!(handles, (0..count).collect::<Vec<_>>());
    }
}

#[test]
fn the_gid_table_is_asked_for_again_with_more_room() {
    for (count, calls) in [(0, 1), (2, 1), (8, 1), (9, 2), (64, 2), (65, 3), (2047, 4)] {
        let context = fake_context(DriverId::MLX5);
        let asked = Rc::new(Cell::new(0));
        let counter = Rc::clone(&asked);
        fake::install(move |sent| {
            counter.set(counter.get() + 1);
            if usize::from(sent.attribute(2).unwrap().len) < count * 32 {
                return Err(Errno::INVAL);
            }
            let entry = |index: usize| IbUverbsGidEntry {
                gid_index: u32::try_from(index).unwrap(),
                port_num: 1,
                gid_type: 2,
                ..FromZeros::new_zeroed()
            };
            let entries: Vec<_> = (0..count).map(entry).collect();
            sent.write(2, entries.as_bytes());
            sent.write(3, &(count as u64).to_ne_bytes());
            Ok(())
        });
        let gids = context.gids().unwrap();
        assert_eq!((gids.len(), asked.get()), (count, calls));
        assert!(gids.iter().all(|gid| gid.gid_type() == GidType::RoceV2 && gid.netdev_index().is_none()));
    }
}

/// EINVAL for any other reason ends too, with the kernel's word.
#[test]
fn a_gid_table_that_cannot_be_read_is_an_error() {
    let context = fake_context(DriverId::MLX5);
    fake::install(|_| Err(Errno::INVAL));
    assert_eq!(context.gids().unwrap_err().errno(), Some(22));
    assert_eq!(fake::sent(), 4);
}

#[test]
fn the_device_is_read() {
    let context = fake_context(DriverId::MLX5);
    fake::install(|sent| {
        assert_eq!(sent.method(), Method::new(0, 0));
        assert_eq!(sent.attribute(2).map(|command| command.data), Some(0x8000_0001));
        assert_eq!(
            sent.attribute(0).map(|input| (input.len, input.data)),
            Some((8, 0)),
            "eight zero bytes, inline"
        );
        let mut response = IbUverbsExQueryDeviceResp::new_zeroed();
        response.base.fw_ver = (22 << 32) + (35 << 16) + 1012;
        response.base.node_guid.set(0x0c42_a103_0012_3456);
        response.base.phys_port_cnt = 1;
        sent.write(1, response.as_bytes());
        Ok(())
    });
    let device = context.query_device().unwrap();
    assert_eq!(device.firmware_version(), "22.35.1012");
    assert_eq!(device.node_guid().to_string(), "0c42:a103:0012:3456");
    assert_eq!(device.ports(), 1);
}

#[test]
fn a_port_is_read_whatever_its_numbers() {
    let context = fake_context(DriverId::MLX5);
    for (state, link_layer, mtu, text, bytes) in [
        (4, 2, 3, "active on Ethernet", 1024),
        (1, 1, 5, "down on InfiniBand", 4096),
        (99, 77, 9, "unknown (99) on unknown (77)", 0),
    ] {
        fake::install(move |sent| {
            assert_eq!(sent.attribute(0).map(|port| (port.len, port.data)), Some((8, 1)));
            let mut response = IbUverbsQueryPortRespEx::new_zeroed();
            response.legacy_resp.state = state;
            response.legacy_resp.link_layer = link_layer;
            response.legacy_resp.active_mtu = mtu;
            sent.write(1, response.as_bytes());
            Ok(())
        });
        let port = context.query_port(1).unwrap();
        assert_eq!(format!("{} on {}", port.state(), port.link_layer()), text);
        assert_eq!(port.active_mtu(), bytes);
    }
}

#[test]
fn what_only_mlx5_has_is_refused_to_others_before_anything_is_sent() {
    let context = fake_context(DriverId::RXE);
    fake::install(|_| Ok(()));
    assert!(matches!(context.mlx5(), Err(Error::NotMlx5 { driver: DriverId::RXE })));
    assert!(matches!(context.hca_capabilities(), Err(Error::NotMlx5 { .. })));
    assert_eq!(fake::sent(), 0);
    context.query_device().unwrap();
    assert_eq!(fake::sent(), 1);
}

#[test]
fn capabilities_are_asked_for_by_group() {
    let context = fake_context(DriverId::MLX5);
    for (group, op_mod) in [
        (CapabilityGroup::General, 0x01),
        (CapabilityGroup::FlowTable, 0x0f),
        (CapabilityGroup::EswitchFlowTable, 0x11),
        (CapabilityGroup::Eswitch, 0x13),
        (CapabilityGroup::General2, 0x41),
    ] {
        fake::install(move |sent| {
            assert_eq!(sent.pointed(0x1000), [1, 0, 0, 0, 0, 0, 0, op_mod, 0, 0, 0, 0, 0, 0, 0, 0]);
            let mut outbox = [0; 4112];
            outbox[16 + 2] = 0x80;
            outbox[16 + 0x8c] = 0x1f;
            sent.write(0x1001, &outbox);
            Ok(())
        });
        let capabilities = context.hca_capabilities_of(group).unwrap();
        let general = group == CapabilityGroup::General;
        assert_eq!(capabilities.shared_object_to_user_object_allowed(), general);
        assert_eq!(capabilities.log_max_uctx(), if general { 0x1f } else { 0 });
        assert_eq!((capabilities.raw().len(), capabilities.raw()[2]), (4096, 0x80));
    }
}
