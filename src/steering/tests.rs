//! Anchors against the fake kernel.

use rustix::io::Errno;
use uverbs_uapi::prm::{cmd_hca_cap, query_hca_cap_out};

use super::{FlowTableType, Priority, SteeringAnchor, call};
use crate::{
    Context, DriverId, Error, KernelRelease, Lacking, Reason,
    command::{Method, fake},
    context::{fake_context, inherited_context},
};

const QUERY_CAPABILITIES: Method = Method::new(0x1000, 0x1000);

/// A context on a kernel that answers anchor creation with `errno`, and a firmware with or without the capabilities.
fn refusing(errno: Errno, shared: bool, eswitch_manager: bool) -> Context {
    let context = fake_context(DriverId::MLX5);
    fake::install(move |sent| match sent.method() {
        call::CREATE => Err(errno),
        QUERY_CAPABILITIES => {
            let mut outbox = [0; query_hca_cap_out::SIZE];
            let mut set =
                |field, on: bool| query_hca_cap_out::CAPABILITY.then(field).set(&mut outbox, on.into());
            set(cmd_hca_cap::SHARED_OBJECT_TO_USER_OBJECT_ALLOWED, shared);
            set(cmd_hca_cap::ESWITCH_MANAGER, eswitch_manager);
            sent.write(0x1001, &outbox);
            Ok(())
        }
        other => panic!("{other} was not to be sent"),
    });
    context
}

/// Who lacks what, for each errno that the kernel's anchor code has.
#[test]
fn each_errno_says_who_lacks_what() {
    use FlowTableType::{Fdb, NicRx, NicTx, RdmaRx, RdmaTx};

    let running = KernelRelease::running();
    let (old, no_nic_tx) = (running < KernelRelease::new(6, 0), running < KernelRelease::new(6, 4));
    let nic_tx = |reason| {
        if no_nic_tx {
            Reason::TypeTooNew { table_type: NicTx, since: KernelRelease::new(6, 4), running }
        } else {
            reason
        }
    };
    let absent =
        |reason| if old { Reason::KernelTooOld { since: KernelRelease::new(6, 0), running } } else { reason };
    let who = |reason: Reason| {
        if let Reason::KernelTooOld { .. } = reason { Lacking::Kernel } else { Lacking::Firmware }
    };
    let no_shared = absent(Reason::NoCapability("shared_object_to_user_object_allowed"));
    for (errno, table_type, (shared, manager), reason, lacking) in [
        (Errno::PROTONOSUPPORT, NicRx, (false, true), no_shared, Some(who(no_shared))),
        (Errno::PERM, NicRx, (true, true), Reason::NoNetRaw { running }, Some(Lacking::Privilege)),
        (Errno::OPNOTSUPP, Fdb, (true, false), Reason::NotEswitchManager, Some(Lacking::Function)),
        (Errno::OPNOTSUPP, Fdb, (true, true), Reason::NoFlowTables(Fdb), Some(Lacking::Function)),
        (Errno::OPNOTSUPP, NicTx, (true, false), Reason::NoFlowTables(NicTx), Some(Lacking::Function)),
        (Errno::INVAL, RdmaRx, (true, true), Reason::TypeRefused(RdmaRx), Some(Lacking::Driver)),
        (Errno::INVAL, RdmaTx, (true, true), Reason::TypeRefused(RdmaTx), Some(Lacking::Driver)),
        (Errno::INVAL, NicTx, (true, true), nic_tx(Reason::Invalid), no_nic_tx.then_some(Lacking::Driver)),
        (Errno::INVAL, NicRx, (true, true), Reason::Invalid, None),
        (Errno::IO, NicRx, (true, true), Reason::DeviceGone, None),
        (Errno::NOSPC, NicRx, (true, true), Reason::NoSpace, None),
        (Errno::NOMEM, NicRx, (true, true), Reason::NoMemory, None),
        (Errno::BUSY, NicRx, (true, true), Reason::Busy, None),
        (Errno::AGAIN, NicRx, (true, true), Reason::TryAgain, None),
        (Errno::FAULT, NicRx, (true, true), Reason::Unknown, None),
    ] {
        let context = refusing(errno, shared, manager);
        let error = SteeringAnchor::create(&context, table_type, Priority::default()).unwrap_err();
        let Error::Kernel { method, errno: kept, reason: found } = &error else { panic!("{error:?}") };
        assert_eq!((*method, kept.raw(), *found), (call::CREATE, errno.raw_os_error(), reason), "{error}");
        assert_eq!(error.lacking(), lacking, "{error}");
        assert!(lacking.is_none() || error.hint().is_some(), "{error}");
        assert_eq!(error.is_device_gone(), errno == Errno::IO);
    }
}

#[test]
fn anchors_of_the_same_type_and_priority_are_told_apart_by_their_handle() {
    let context = fake_context(DriverId::MLX5);
    let mut handles = 0..;
    fake::install(move |sent| {
        if sent.method() == call::CREATE {
            sent.create(0x1000, handles.next().unwrap());
            sent.write(0x1003, &0x51_u32.to_ne_bytes());
        }
        Ok(())
    });
    let create = || SteeringAnchor::create(&context, FlowTableType::NicRx, Priority::MAX).unwrap();
    let (first, second) = (create(), create());
    assert_eq!((first.handle(), second.handle()), (0, 1));
    assert_eq!((first.id(), first.id().get()), (second.id(), 0x51));
    assert_eq!((first.table_type(), first.priority()), (FlowTableType::NicRx, Priority::MAX));
    first.destroy().unwrap();
    assert_eq!(fake::sent(), 3, "a destroyed anchor is not destroyed again by its drop");
    drop(second);
    assert_eq!(fake::sent(), 4, "a drop destroys");
}

#[test]
fn a_whole_anchor_takes_two_commands_and_no_heap() {
    let context = fake_context(DriverId::MLX5);
    fake::install(|_| Ok(()));
    let before = fake::allocations();
    let anchor = SteeringAnchor::create(&context, FlowTableType::NicRx, Priority::default()).unwrap();
    anchor.destroy().unwrap();
    assert_eq!((fake::sent(), fake::allocations()), (2, before));
}

#[test]
fn an_anchor_that_cannot_be_destroyed_is_given_back() {
    let context = fake_context(DriverId::MLX5);
    let mut refusals = 1;
    fake::install(move |sent| {
        if sent.method() == call::DESTROY && refusals > 0 {
            refusals -= 1;
            return Err(Errno::BUSY);
        }
        Ok(())
    });
    let anchor = SteeringAnchor::create(&context, FlowTableType::NicRx, Priority::default()).unwrap();
    let failed = anchor.destroy().unwrap_err();
    assert_eq!(failed.error().errno(), Some(Errno::BUSY.raw_os_error()));
    failed.into_object().destroy().unwrap();
    assert_eq!(fake::sent(), 3);
}

/// After a fork, parent and child hold the same kernel object.
#[test]
fn a_drop_in_a_child_leaves_the_parents_anchor_alone() {
    let context = inherited_context();
    fake::install(|_| Ok(()));
    let create = || SteeringAnchor::create(&context, FlowTableType::NicRx, Priority::default()).unwrap();
    drop(create());
    assert_eq!(fake::sent(), 1, "the drop sends nothing");
    create().destroy().unwrap();
    assert_eq!(fake::sent(), 3, "what is asked for is done");
}

#[test]
fn another_driver_is_refused_before_anything_is_sent() {
    let context = fake_context(DriverId::RXE);
    fake::install(|_| Ok(()));
    let error = SteeringAnchor::create(&context, FlowTableType::NicRx, Priority::default()).unwrap_err();
    assert!(matches!(error, Error::NotMlx5 { driver: DriverId::RXE }), "{error:?}");
    assert!(error.to_string().contains("mlx5") && error.to_string().contains("rxe"));
    assert_eq!((error.errno(), error.lacking(), fake::sent()), (None, Some(Lacking::Driver), 0));
}
