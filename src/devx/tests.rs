use std::{
    cell::Cell,
    os::fd::{IntoRawFd, OwnedFd},
    rc::Rc,
    sync::atomic::Ordering,
};

use rustix::{
    io::Errno,
    net::{AddressFamily, SocketFlags, SocketType, socketpair},
};
use uverbs_uapi::{
    mlx5_user_ioctl_cmds as cmds,
    prm::{self, create_flow_table_in, query_fte_in, query_hca_cap_in, set_fte_in},
};

use super::{
    AsyncCommands, EventContent, Events, Inbox, Object, Refused, SharedMemory, ShortInbox, Status, Uar,
    UarMapping, Umem, UmemAccess, event_queue_number, execute,
};
use crate::{
    Context, DriverId, Error,
    command::fake::{self, Sent},
    get_context::Devx,
};

const NOP: u16 = prm::MLX5_CMD_OP_NOP;

fn context() -> Context {
    fake::install(|_| Ok(()));
    Context::on(fake::file(), DriverId::MLX5, Devx::Yes).expect("the fake grants it")
}

/// An object of the handle 7.
fn object(context: &Context) -> Object {
    fake::install(|sent| {
        sent.create(cmds::MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE, 7);
        Ok(())
    });
    Object::create(context, Inbox::<16>::new(prm::MLX5_CMD_OP_ALLOC_PD).as_ref(), &mut [0; 16])
        .expect("the fake makes it")
}

/// Id, length and content of each attribute.
fn attributes(sent: &Sent<'_>) -> Vec<(u16, u16, u64)> {
    let bytes = sent.bytes();
    let number = |at: usize| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
    let data = |at: usize| u64::from_ne_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
    (24..bytes.len()).step_by(16).map(|at| (number(at), number(at + 2), data(at + 8))).collect()
}

#[test]
fn a_command_travels_whole_and_its_answer_comes_back() {
    let context = context();
    fake::install(|sent| {
        let [(0x1000, 16, _), (0x1001, 20, _)] = attributes(sent)[..] else {
            panic!("{:?}", attributes(sent))
        };
        assert_eq!(sent.pointed(0x1000), [0x08, 0x0d, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(sent.pointed(0x1001), [0; 20], "the answer's place is cleared first");
        sent.write(0x1001, &[0, 1, 2, 3]);
        Ok(())
    });
    let mut outbox = [0xff; 20];
    execute(&context, Inbox::<16>::new(NOP).variant(3).as_ref(), &mut outbox).expect("the fake does it");
    assert_eq!(outbox[..5], [0, 1, 2, 3, 0]);
}

#[test]
fn a_refusal_is_read_only_if_it_is_the_firmwares() {
    let context = context();
    let run = |errno: Errno, status: u8| {
        fake::install(move |sent| {
            sent.write(0x1001, &[status, 0, 0, 0, 0, 0, 0x12, 0x34]);
            Err(errno)
        });
        execute(&context, Inbox::<16>::new(NOP).as_ref(), &mut [0; 16]).expect_err("the fake refuses")
    };
    match run(Errno::REMOTEIO, 2) {
        Error::Refused(Refused { opcode: NOP, status: Status::BAD_OPERATION, syndrome: 0x1234, .. }) => {}
        other => panic!("{other:?}"),
    }
    for (errno, status) in [(Errno::INVAL, 2), (Errno::IO, 2), (Errno::REMOTEIO, 0)] {
        let error = run(errno, status);
        assert!(matches!(error, Error::Kernel { .. }), "{error:?}");
        assert_eq!(error.errno(), Some(errno.raw_os_error()));
    }
}

#[test]
fn a_command_shorter_than_its_structure_is_not_sent() {
    let context = context();
    let object = object(&context);
    let cases = [
        (NOP, 16),
        (prm::MLX5_CMD_OP_CREATE_FLOW_TABLE, create_flow_table_in::SIZE),
        (prm::MLX5_CMD_OP_SET_FLOW_TABLE_ENTRY, set_fte_in::SIZE),
        (prm::MLX5_CMD_OP_QUERY_FLOW_TABLE_ENTRY, query_fte_in::SIZE),
        (prm::MLX5_CMD_OP_CREATE_MKEY, 272),
        (prm::MLX5_CMD_OP_QUERY_HCA_CAP, query_hca_cap_in::SIZE),
    ];
    for (opcode, smallest) in cases {
        let mut inbox = vec![0; smallest];
        inbox[..2].copy_from_slice(&opcode.to_be_bytes());
        fake::install(|_| Ok(()));
        for result in [
            execute(&context, &inbox[..smallest - 1], &mut [0; 16]),
            object.query(&inbox[..smallest - 1], &mut [0; 16]),
            object.modify(&inbox[..smallest - 1], &mut [0; 16]),
            Object::create(&context, &inbox[..smallest - 1], &mut [0; 16]).map(drop),
        ] {
            match result {
                Err(Error::ShortInbox(short)) => {
                    assert_eq!(short, ShortInbox { length: smallest - 1, smallest });
                }
                other => panic!("{opcode:#x}: {other:?}"),
            }
        }
        assert_eq!(fake::sent(), 0);
        object.query(&inbox, &mut [0; 16]).expect("the fake does it");
        assert_eq!(fake::sent(), 1);
    }
    assert!(matches!(execute(&context, &[], &mut []), Err(Error::ShortInbox(_))));
    let long = vec![0; 1 << 16];
    assert!(matches!(execute(&context, &long, &mut []), Err(Error::TooLong { length: 65536, .. })));
}

#[test]
fn an_object_is_destroyed_once_and_given_back_if_it_is_not() {
    let context = context();
    let counted = || {
        let count = Rc::new(Cell::new(0));
        let counts = Rc::clone(&count);
        fake::install(move |sent| {
            assert_eq!(attributes(sent), [(0x1000, 0, 7)]);
            counts.set(counts.get() + 1);
            if counts.get() == 1 { Err(Errno::BUSY) } else { Ok(()) }
        });
        count
    };
    let first = object(&context);
    let count = counted();
    let refused = first.destroy().expect_err("the fake is busy the first time");
    assert_eq!(refused.error().errno(), Some(Errno::BUSY.raw_os_error()));
    let object_again = refused.into_object();
    assert_eq!(object_again.created_by(), prm::MLX5_CMD_OP_ALLOC_PD);
    object_again.destroy().expect("the fake destroys it");
    assert_eq!(count.get(), 2, "a destroyed object is not destroyed again when it is dropped");

    let second = object(&context);
    let count = counted();
    drop(second);
    assert_eq!(count.get(), 1);
}

#[test]
fn memory_is_given_back_or_never_freed() {
    let context = context();
    let memory = SharedMemory::new(5000);
    assert_eq!(memory.len(), 8192);
    memory.write(4093, b"across a page");
    let mut bytes = [0; 13];
    memory.read(4093, &mut bytes);
    assert_eq!(&bytes, b"across a page");
    memory.word(2).store(0x1234_5678, Ordering::Release);
    memory.read(8, &mut bytes[..4]);
    assert_eq!(bytes[..4], 0x1234_5678_u32.to_ne_bytes());

    fake::install(|_| Err(Errno::NOMEM));
    let refused = Umem::register(&context, memory, UmemAccess::LOCAL_WRITE).expect_err("the fake refuses");
    let memory = refused.into_object();
    memory.read(4093, &mut bytes);
    assert_eq!(&bytes, b"across a page");

    fake::install(|sent| {
        let [(0x1000, 0, _), (0x1001, 8, address), (0x1002, 8, 8192), (0x1003, 8, 1), (0x1004, 4, _)] =
            attributes(sent)[..]
        else {
            panic!("{:?}", attributes(sent))
        };
        assert_eq!(address % 4096, 0);
        sent.create(0x1000, 3);
        sent.write(0x1004, &77_u32.to_ne_bytes());
        Ok(())
    });
    let umem = Umem::register(&context, memory, UmemAccess::LOCAL_WRITE).expect("the fake takes it");
    assert_eq!(umem.id(), 77);
    fake::install(|_| Err(Errno::BUSY));
    let umem = umem.deregister().expect_err("the fake is busy").into_object();
    assert!(umem.memory().is_some(), "the card may still write");
    fake::install(|_| Ok(()));
    let memory = umem.deregister().expect("the fake lets go").expect("it was ours");
    memory.read(4093, &mut bytes);
    assert_eq!(&bytes, b"across a page");
}

#[test]
fn a_doorbell_page_has_a_number_and_a_place() {
    let context = context();
    for (mapping, number) in [(UarMapping::WriteCombining, 0), (UarMapping::Uncached, 1)] {
        fake::install(move |sent| {
            if sent.method().method() == cmds::MLX5_IB_METHOD_UAR_OBJ_ALLOC {
                assert_eq!(attributes(sent)[1], (0x1001, 8, number));
                sent.write(0x1002, &0x1000_u64.to_ne_bytes());
                sent.write(0x1003, &4096_u32.to_ne_bytes());
                sent.write(0x1004, &5_u32.to_ne_bytes());
            }
            Ok(())
        });
        let uar = Uar::allocate(&context, mapping).expect("the fake has one");
        assert_eq!((uar.page(), uar.mmap_offset(), uar.mmap_length()), (5, 0x1000, 4096));
        uar.destroy().expect("the fake frees it");
        assert_eq!(fake::sent(), 2);
    }
}

#[test]
fn a_vector_has_an_event_queue() {
    let context = context();
    fake::install(|sent| {
        assert_eq!(attributes(sent)[0], (0x1000, 4, u64::from_ne_bytes([3, 0, 0, 0, 0, 0, 0, 0])));
        sent.write(0x1001, &9_u32.to_ne_bytes());
        Ok(())
    });
    assert_eq!(event_queue_number(&context, 3).expect("the fake knows"), 9);
}

/// Two ends of a channel that keeps messages apart, as the kernel's files do.
fn channel() -> (OwnedFd, OwnedFd) {
    socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::empty(), None).expect("two sockets")
}

/// Has the next new file of a command be `fd`.
fn give(fd: OwnedFd) {
    let fd = Cell::new(Some(fd));
    fake::install(move |sent| {
        if let Some(fd) = fd.take() {
            sent.create(0x1000, u32::try_from(fd.into_raw_fd()).expect("not negative"));
        }
        Ok(())
    });
}

#[test]
fn answers_are_read_whole_and_without_waiting() {
    let context = context();
    let object = object(&context);
    let (ours, kernels) = channel();
    give(ours);
    let answers = AsyncCommands::create(&context).expect("the fake opens it");
    assert_eq!(answers.read().expect("nothing is no error"), None);

    fake::install(|sent| {
        let attributes = attributes(sent);
        assert_eq!(attributes[0], (0x1000, 0, 7));
        assert_eq!((attributes[1].0, attributes[1].1), (0x1001, 16));
        assert_eq!(attributes[3], (0x1003, 8, 42));
        assert_eq!(attributes[4], (0x1004, 8, 24));
        Ok(())
    });
    object.query_async(&answers, 42, Inbox::<16>::new(NOP).as_ref(), 24).expect("the fake takes it");
    fake::install(|_| Ok(()));
    let message = [&42_u64.to_ne_bytes()[..], &[3, 0, 0, 0, 0, 0, 0, 9], &[0x5a; 16]].concat();
    rustix::io::write(&kernels, &message).expect("there is room");
    let answer = answers.read().expect("it is readable").expect("it is there");
    assert_eq!((answer.id, &answer.outbox), (42, &message[8..].to_vec()));
    let refused = answer.refused(NOP).expect("status 3 is a refusal");
    assert_eq!((refused.status, refused.syndrome), (Status::BAD_PARAMETER, 9));
    assert_eq!(answers.read().expect("nothing is no error"), None);
}

#[test]
fn events_are_read_whole_or_by_cookie() {
    let context = context();
    let object = object(&context);
    for (content, flag) in [(EventContent::Whole, 0), (EventContent::CookieOnly, 1)] {
        let (ours, kernels) = channel();
        give(ours);
        let events = Events::create(&context, content).expect("the fake opens it");
        fake::install(move |sent| {
            let attributes = attributes(sent);
            assert_eq!(attributes[1], (0x1001, 0, 7));
            assert_eq!(attributes[2].1, 4);
            assert_eq!(attributes[3], (0x1004, 8, 0xc00c1e + flag));
            Ok(())
        });
        events.subscribe(Some(&object), &[0x13, 0x1b], 0xc00c1e + flag).expect("the fake takes it");
        assert_eq!(events.read().expect("nothing is no error"), None);
        let entry = (content == EventContent::Whole).then_some([0x77; 64]);
        let message = [&5_u64.to_ne_bytes()[..], entry.as_ref().map_or(&[], |entry| &entry[..])].concat();
        rustix::io::write(&kernels, &message).expect("there is room");
        let event = events.read().expect("it is readable").expect("it is there");
        assert_eq!((event.cookie, event.entry), (5, entry));
    }
    fake::install(|_| Ok(()));
}
