//! What errors say.

use std::error::Error as _;

use rustix::io::Errno;

use super::*;
use crate::{
    FlowTableType, KernelRelease,
    command::{Method, Refusal},
};

fn refused(errno: Errno) -> Error {
    Refusal { method: Method::new(0x1009, 0x1000), errno }.into()
}

#[test]
fn an_error_is_one_line_and_its_source_the_errno() {
    let error = refused(Errno::IO);
    assert_eq!(error.to_string(), "STEERING_ANCHOR.CREATE: the device is gone or being reset");
    assert!(error.source().unwrap().to_string().starts_with("EIO: "));
    assert!(error.source().unwrap().source().is_none());
    assert_eq!(error.errno(), Some(5));
}

#[test]
fn every_errno_the_kernel_documents_has_a_name() {
    for raw in [1, 2, 5, 6, 9, 11, 12, 13, 14, 16, 19, 22, 24, 25, 28, 38, 75, 93, 95, 110, 121] {
        let errno = super::Errno::from(Errno::from_raw_os_error(raw));
        assert!(errno.name().is_some_and(|name| name.starts_with('E')), "{raw}");
        assert!(errno.to_string().contains(&raw.to_string()), "{errno}");
    }
    let unnamed = super::Errno::from(Errno::from_raw_os_error(77));
    assert!(unnamed.to_string().starts_with("errno 77"));
}

/// The rule about user namespaces changed in 6.17, and the hint with it.
#[test]
fn the_hint_about_privileges_follows_the_kernel() {
    for (minor, words) in
        [(1, "before Linux 6.17"), (16, "before Linux 6.17"), (17, "owns the device's network")]
    {
        let reason = Reason::NoNetRaw { running: KernelRelease::new(6, minor) };
        let error =
            Error::kernel(Refusal { method: Method::new(0x1009, 0x1000), errno: Errno::PERM }, reason);
        let hint = error.hint().unwrap();
        assert!(hint.contains("CAP_NET_RAW") && hint.contains(words), "{hint}");
        assert_eq!(error.lacking(), Some(Lacking::Privilege));
    }
}

#[test]
fn kinds_of_unsupported_read_differently() {
    let running = KernelRelease::new(5, 10);
    let since = KernelRelease::new(6, 0);
    let reasons = [
        Reason::KernelTooOld { since, running },
        Reason::NoCapability("shared_object_to_user_object_allowed"),
        Reason::Absent,
        Reason::TypeTooNew { table_type: FlowTableType::NicTx, since, running },
        Reason::TypeRefused(FlowTableType::RdmaRx),
        Reason::NotEswitchManager,
        Reason::NoFlowTables(FlowTableType::NicTx),
        Reason::NotImplemented,
    ];
    let mut texts: Vec<String> = reasons.iter().map(ToString::to_string).collect();
    texts.sort_unstable();
    texts.dedup();
    assert_eq!(texts.len(), reasons.len());
    assert!(reasons.iter().all(|reason| reason.lacking().is_some()));
}

#[test]
fn io_errors_keep_the_error_and_its_kind() {
    use std::io::ErrorKind;
    for (error, kind) in [
        (refused(Errno::PERM), ErrorKind::PermissionDenied),
        (refused(Errno::NOENT), ErrorKind::NotFound),
        (refused(Errno::BUSY), ErrorKind::ResourceBusy),
        (Error::NoSuchDevice { name: "mlx5_9".to_owned() }, ErrorKind::NotFound),
        (Error::NotMlx5 { driver: crate::DriverId::RXE }, ErrorKind::Unsupported),
        (Error::PriorityOutOfRange { value: 16 }, ErrorKind::InvalidInput),
    ] {
        let text = error.to_string();
        let io = std::io::Error::from(error);
        assert_eq!((io.kind(), io.to_string()), (kind, text));
        assert!(io.get_ref().unwrap().downcast_ref::<Error>().is_some());
    }
}

#[test]
fn a_node_that_cannot_be_opened_says_what_to_do() {
    for (errno, lacking, gone) in [
        (Errno::NOENT, None, false),
        (Errno::ACCESS, Some(Lacking::Privilege), false),
        (Errno::PERM, Some(Lacking::Privilege), false),
        (Errno::NXIO, None, true),
        (Errno::NODEV, None, true),
        (Errno::IO, None, true),
    ] {
        let error = Error::Node { path: "/dev/infiniband/uverbs0".into(), errno: errno.into() };
        assert_eq!((error.lacking(), error.is_device_gone()), (lacking, gone), "{errno:?}");
        assert!(error.to_string().contains("/dev/infiniband/uverbs0") && error.hint().is_some());
        assert!(!gone || error.hint().unwrap().contains("again"), "{errno:?}");
    }
}

#[test]
fn errors_cross_threads() {
    fn check<T: Send + Sync + 'static>() {}
    check::<Error>();
    check::<DestroyError<crate::SteeringAnchor>>();
}
