//! What goes over the wire, byte by byte.
//!
//! The golden bytes were recorded from rdma-core 44 and 65 (which agree). Ours are the same but for
//! `GET_CONTEXT`, where the request differs by design: no bfregs, and DEVX only when asked for.

use core::cell::RefCell;
use std::rc::Rc;

use proptest::prelude::*;
use rustix::{
    fd::{AsRawFd, IntoRawFd},
    io::Errno,
};
use uverbs_uapi::ib_user_ioctl_verbs::RDMA_DRIVER_MLX5;

use super::{class::*, fake::Sent, *};
use crate::{
    FlowTableType, Priority,
    get_context::{self, Devx},
    steering::call,
};

/// Compares with bytes in hex; `PP` is an address: eight bytes that are not all zero.
fn assert_bytes(found: &[u8], golden: &str) {
    let golden: Vec<&str> = golden.split_whitespace().filter(|word| !word.starts_with('|')).collect();
    let mut at = 0;
    for word in golden {
        if word == "PP" {
            assert!(found[at..at + 8].iter().any(|&byte| byte != 0), "an address at {at}: {found:02x?}");
            at += 8;
        } else {
            assert_eq!(found[at], u8::from_str_radix(word, 16).unwrap(), "byte {at} of {found:02x?}");
            at += 1;
        }
    }
    assert_eq!(at, found.len(), "the length");
}

/// Records what is sent and lets `answer` answer.
fn record(mut answer: impl FnMut(&mut Sent<'_>) -> Result<(), Errno> + 'static) -> Rc<RefCell<Vec<Vec<u8>>>> {
    let log = Rc::new(RefCell::new(Vec::new()));
    let writer = Rc::clone(&log);
    fake::install(move |sent| {
        writer.borrow_mut().push(sent.bytes());
        answer(sent)
    });
    log
}

#[test]
fn the_request_is_the_literal_number() {
    assert_eq!(REQUEST, 0xC018_1B01);
    assert_eq!(MAX_ATTRIBUTES, 254);
}

#[test]
#[cfg(target_endian = "little")]
fn anchor_create_and_destroy_are_the_recorded_bytes() {
    let log = record(|sent| {
        if sent.method() == call::CREATE {
            sent.create(0x1000, 7);
            sent.write(0x1003, &0x2a_u32.to_ne_bytes());
        }
        Ok(())
    });
    let file = fake::fd();
    let created = call::create(file, FlowTableType::Fdb, Priority::new(9).unwrap());
    let (handle, id) = created.unwrap();
    assert_eq!((handle, id.get()), (7, 0x2a));
    call::destroy(file, handle).unwrap();
    assert_bytes(
        &log.borrow()[0],
        "58 00 09 10 00 10 04 00 | 00 00 00 00 00 00 00 00 | 01 00 00 00 | 00 00 00 00 ||
         00 10 00 00 01 00 00 00 | 00 00 00 00 00 00 00 00 ||
         01 10 08 00 01 00 00 00 | 02 00 00 00 00 00 00 00 ||
         02 10 02 00 01 00 00 00 | 09 00 00 00 00 00 00 00 ||
         03 10 04 00 01 00 00 00 PP",
    );
    assert_bytes(
        &log.borrow()[1],
        "28 00 09 10 01 10 01 00 | 00 00 00 00 00 00 00 00 | 01 00 00 00 | 00 00 00 00 ||
         00 10 00 00 01 00 00 00 | 07 00 00 00 00 00 00 00",
    );
}

#[test]
#[cfg(target_endian = "little")]
fn get_context_differs_from_rdma_core_in_the_request_alone() {
    for (devx, flags) in [(Devx::No, "00"), (Devx::Yes, "01")] {
        let request = Rc::new(RefCell::new(Vec::new()));
        let seen = Rc::clone(&request);
        let log = record(move |sent| {
            *seen.borrow_mut() = sent.pointed(0x1000);
            sent.write(0, &4_u32.to_ne_bytes());
            sent.write(0x1001, &[0xff; 72]);
            Ok(())
        });
        let granted = get_context::get_context(fake::fd(), RDMA_DRIVER_MLX5, devx).unwrap();
        assert_eq!(granted.completion_vectors, 4);
        assert_eq!(granted.mlx5.dump_fill_mkey, u32::MAX);
        assert_bytes(
            &log.borrow()[0],
            "58 00 00 00 03 00 04 00 | 00 00 00 00 00 00 00 00 | 01 00 00 00 | 00 00 00 00 ||
             00 00 04 00 01 00 00 00 PP || 01 00 08 00 01 00 00 00 PP ||
             00 10 20 00 01 00 00 00 PP || 01 10 48 00 01 00 00 00 PP",
        );
        // rdma-core: 16 bfregs (10 00 00 00), 4 of them of low latency (04 00 00 00), DEVX first. The rest is equal.
        let golden = format!(
            "00 00 00 00 | 00 00 00 00 | {flags} 00 00 00 | 00 00 00 00 | 01 00 00 00 00 00 00 00 | \
             03 00 00 00 00 00 00 00"
        );
        assert_bytes(&request.borrow(), &golden);
    }
}

/// A context of another driver is asked for without mlx5's part.
#[test]
#[cfg(target_endian = "little")]
fn get_context_of_another_driver_has_no_mlx5_part() {
    const RXE: u32 = 14;

    let log = record(|_| Ok(()));
    get_context::get_context(fake::fd(), RXE, Devx::No).unwrap();
    assert_bytes(
        &log.borrow()[0],
        "38 00 00 00 03 00 02 00 | 00 00 00 00 00 00 00 00 | 0e 00 00 00 | 00 00 00 00 ||
         00 00 04 00 01 00 00 00 PP || 01 00 08 00 01 00 00 00 PP",
    );
}

#[test]
#[cfg(target_endian = "little")]
fn a_devx_object_is_created_with_the_recorded_bytes() {
    let log = record(|sent| {
        assert_eq!(sent.pointed(0x1001), [0xab; 64]);
        sent.create(0x1000, 3);
        sent.write(0x1002, &[0xcd; 16]);
        Ok(())
    });
    let (inbox, mut outbox) = ([0xab; 64], [0; 16]);
    let mut command = Command::<3>::new(Method::new(0x1001, 0x1000), RDMA_DRIVER_MLX5);
    let new = command.new_handle(NewHandle(0x1000));
    command.bytes_in(BytesIn(0x1001), &inbox).unwrap();
    command.bytes_out(BytesOut(0x1002), &mut outbox).unwrap();
    assert_eq!(command.send(fake::fd()).unwrap().handle(new), 3);
    assert_eq!(outbox, [0xcd; 16]);
    assert_bytes(
        &log.borrow()[0],
        "48 00 01 10 00 10 03 00 | 00 00 00 00 00 00 00 00 | 01 00 00 00 | 00 00 00 00 ||
         00 10 00 00 01 00 00 00 | 00 00 00 00 00 00 00 00 ||
         01 10 40 00 01 00 00 00 PP || 02 10 10 00 01 00 00 00 PP",
    );
}

/// The kernel writes a new handle before it is through with a command: on failure it is nobody's.
#[test]
fn a_refused_command_gives_no_handle() {
    record(|sent| {
        sent.create(0x1000, 5);
        Err(Errno::PERM)
    });
    let refusal = call::create(fake::fd(), FlowTableType::NicRx, Priority::default()).unwrap_err();
    assert_eq!(refusal, Refusal { method: call::CREATE, errno: Errno::PERM });
}

#[test]
fn handle_0_is_a_handle() {
    record(|sent| {
        sent.create(0x1000, 0);
        Ok(())
    });
    let mut command = Command::<1>::new(Method::new(0x1009, 0x1000), RDMA_DRIVER_MLX5);
    let new = command.new_handle(NewHandle(0x1000));
    assert_eq!(command.send(fake::fd()).unwrap().handle(new), 0);
}

#[test]
#[cfg_attr(miri, ignore = "needs a kernel's file descriptors")]
fn a_new_file_is_owned_once() {
    record(|sent| {
        let new = fake::file().into_raw_fd();
        sent.create(0, u32::try_from(new).unwrap());
        Ok(())
    });
    let mut command = Command::<1>::new(Method::new(16, 0), RDMA_DRIVER_MLX5);
    command.new_fd(NewFd(0));
    let fd = command.send(fake::fd()).unwrap().into_fd().unwrap();
    assert!(rustix::fs::fstat(&fd).is_ok());
    let command = Command::<1>::new(Method::new(16, 0), RDMA_DRIVER_MLX5);
    fake::install(|_| Ok(()));
    assert!(command.send(fake::fd()).unwrap().into_fd().is_none(), "none was asked for");
}

#[test]
fn what_is_too_long_is_not_sent() {
    fake::install(|_| Ok(()));
    let bytes = vec![0; 65536];
    let mut command = Command::<3>::new(Method::new(0, 0), RDMA_DRIVER_MLX5);
    assert_eq!(command.bytes_in(BytesIn(0), &bytes), Err(TooLong(65536)));
    assert_eq!(command.bytes_in(BytesIn(0), &bytes[1..]), Ok(()));
    assert_eq!(command.handles(HandleArray(1), &vec![0; 16384]), Err(TooLong(65536)));
    assert!(TooLong(65536).to_string().contains("65536"));
    assert_eq!(fake::sent(), 0);
}

/// The one promise of the command path: no heap, one call each.
#[test]
fn an_anchor_is_created_and_destroyed_without_a_heap_and_with_one_call_each() {
    fake::install(|sent| {
        if sent.method() == call::CREATE {
            sent.write(0x1003, &1_u32.to_ne_bytes());
        }
        Ok(())
    });
    let file = fake::fd();
    let before = fake::allocations();
    let (handle, _) = call::create(file, FlowTableType::NicRx, Priority::default()).unwrap();
    assert_eq!(fake::sent(), 1);
    call::destroy(file, handle).unwrap();
    assert_eq!(fake::sent(), 2);
    assert_eq!(fake::allocations(), before);
    // The count counts.
    drop(vec![0_u8; 100]);
    assert_ne!(fake::allocations(), before);
}

/// An attribute, as a test asks for it.
#[derive(Clone, Debug)]
enum Asked {
    NewHandle,
    Handle(u32),
    Handles(Vec<u32>),
    Constant(u64),
    Flags(u64),
    Element(u8, u16),
    Value(u32),
    Struct([u8; 12]),
    BytesIn(Vec<u8>),
    Out(u32),
    BytesOut(Vec<u8>),
    Fd,
    RawFd,
}

fn asked() -> impl Strategy<Value = Asked> {
    prop_oneof![
        Just(Asked::NewHandle),
        any::<u32>().prop_map(Asked::Handle),
        proptest::collection::vec(any::<u32>(), 0..5).prop_map(Asked::Handles),
        any::<u64>().prop_map(Asked::Constant),
        any::<u64>().prop_map(Asked::Flags),
        any::<(u8, u16)>().prop_map(|(element, value)| Asked::Element(element, value)),
        any::<u32>().prop_map(Asked::Value),
        any::<[u8; 12]>().prop_map(Asked::Struct),
        proptest::collection::vec(any::<u8>(), 0..40).prop_map(Asked::BytesIn),
        any::<u32>().prop_map(Asked::Out),
        proptest::collection::vec(any::<u8>(), 0..40).prop_map(Asked::BytesOut),
        Just(Asked::Fd),
        Just(Asked::RawFd),
    ]
}

/// Reads an attribute the way the kernel's parser does, from raw bytes: id, length, flags, element, data.
fn decode(frame: &[u8], index: usize) -> (u16, u16, u16, [u8; 2], [u8; 8]) {
    let attribute = &frame[24 + 16 * index..][..16];
    let half = |at: usize| u16::from_ne_bytes([attribute[at], attribute[at + 1]]);
    (half(0), half(2), half(4), [attribute[6], attribute[7]], attribute[8..].try_into().unwrap())
}

/// Up to 8 bytes lie in the data, from its first byte on, and zeros behind them.
fn padded(bytes: &[u8]) -> [u8; 8] {
    let mut data = [0; 8];
    data[..bytes.len()].copy_from_slice(bytes);
    data
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 16 } else { 256 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_class_travels_as_the_kernel_reads_it(
        object in any::<u16>(), method in any::<u16>(), driver in any::<u32>(),
        wanted in proptest::collection::vec(asked(), 0..12),
    ) {
        let answered = wanted.clone();
        let log = record(move |sent| {
            for (id, asked) in (0..).zip(&answered) {
                match asked {
                    Asked::NewHandle => sent.create(id, 1000 + u32::from(id)),
                    Asked::Out(value) => sent.write(id, &value.to_ne_bytes()),
                    Asked::BytesOut(bytes) => sent.write(id, bytes),
                    Asked::Struct(bytes) => assert_eq!(sent.pointed(id), bytes),
                    Asked::BytesIn(bytes) if bytes.len() > 8 => assert_eq!(&sent.pointed(id), bytes),
                    Asked::Handles(handles) if handles.len() > 2 => {
                        assert_eq!(sent.pointed(id), handles.as_bytes());
                    }
                    _ => {}
                }
            }
            Ok(())
        });

        let file = fake::fd();
        let mut slots = Vec::new();
        let mut words = vec![0_u32; wanted.len()];
        let mut buffers: Vec<Vec<u8>> = wanted
            .iter()
            .map(|asked| if let Asked::BytesOut(bytes) = asked { vec![0; bytes.len()] } else { Vec::new() })
            .collect();
        let mut command = Command::<12>::new(Method::new(object, method), driver);
        for (((id, asked), word), buffer) in (0..).zip(&wanted).zip(&mut words).zip(&mut buffers) {
            match asked {
                Asked::NewHandle => slots.push((id, command.new_handle(NewHandle(id)))),
                Asked::Handle(handle) => command.handle(Handle(id), *handle),
                Asked::Handles(handles) => command.handles(HandleArray(id), handles).unwrap(),
                Asked::Constant(value) => command.constant(ConstIn(id), *value),
                Asked::Flags(flags) => command.flags(FlagsIn(id), *flags),
                Asked::Element(element, value) => command.element(EnumIn(id), *element, value),
                Asked::Value(value) => command.value_in(ValueIn::new(id), value),
                Asked::Struct(bytes) => command.struct_in(StructIn::new(id), bytes),
                Asked::BytesIn(bytes) => command.bytes_in(BytesIn(id), bytes).unwrap(),
                Asked::Out(_) => command.out(Out::new(id), word),
                Asked::BytesOut(_) => command.bytes_out(BytesOut(id), buffer).unwrap(),
                Asked::Fd => command.fd(Fd(id), file),
                Asked::RawFd => command.raw_fd(RawFd(id), file),
            }
        }
        let reply = command.send(file).unwrap();
        for (id, slot) in slots {
            prop_assert_eq!(reply.handle(slot), 1000 + u32::from(id));
        }

        let frame = log.borrow()[0].clone();
        let count = u16::try_from(wanted.len()).unwrap();
        let mut header = Vec::new();
        for half in [24 + 16 * count, object, method, count] {
            header.extend_from_slice(&half.to_ne_bytes());
        }
        header.extend_from_slice(&[0; 8]);
        header.extend_from_slice(&driver.to_ne_bytes());
        header.extend_from_slice(&[0; 4]);
        prop_assert_eq!(&frame[..24], &header[..]);
        prop_assert_eq!(frame.len(), 24 + 16 * wanted.len());

        let descriptor = u64::try_from(file.as_raw_fd()).unwrap().to_ne_bytes();
        for (index, asked) in wanted.iter().enumerate() {
            let (id, len, flags, element, data) = decode(&frame, index);
            prop_assert_eq!((usize::from(id), flags), (index, 1));
            let len = usize::from(len);
            match asked {
                Asked::NewHandle => prop_assert_eq!((len, element, data), (0, [0; 2], [0; 8])),
                Asked::Handle(handle) => {
                    prop_assert_eq!((len, element, data), (0, [0; 2], u64::from(*handle).to_ne_bytes()));
                }
                Asked::Constant(value) | Asked::Flags(value) => {
                    prop_assert_eq!((len, element, data), (8, [0; 2], value.to_ne_bytes()));
                }
                Asked::Element(chosen, value) => {
                    prop_assert_eq!((len, element, data), (2, [*chosen, 0], padded(&value.to_ne_bytes())));
                }
                Asked::Value(value) => {
                    prop_assert_eq!((len, element, data), (4, [0; 2], padded(&value.to_ne_bytes())));
                }
                Asked::Handles(handles) if handles.len() <= 2 => {
                    prop_assert_eq!((len, element, data), (4 * handles.len(), [0; 2], padded(handles.as_bytes())));
                }
                Asked::BytesIn(bytes) if bytes.len() <= 8 => {
                    prop_assert_eq!((len, element, data), (bytes.len(), [0; 2], padded(bytes)));
                }
                // Content was compared when it was sent.
                Asked::Handles(handles) => prop_assert_eq!((len, element), (4 * handles.len(), [0; 2])),
                Asked::BytesIn(bytes) => prop_assert_eq!((len, element), (bytes.len(), [0; 2])),
                Asked::Struct(_) => prop_assert_eq!((len, element), (12, [0; 2])),
                Asked::Out(value) => {
                    prop_assert_eq!((len, element), (4, [0; 2]));
                    prop_assert_eq!(words[index], *value);
                }
                Asked::BytesOut(bytes) => {
                    prop_assert_eq!((len, element), (bytes.len(), [0; 2]));
                    prop_assert_eq!(&buffers[index], bytes);
                }
                Asked::Fd | Asked::RawFd => prop_assert_eq!((len, element, data), (0, [0; 2], descriptor)),
            }
        }
    }
}

/// Names in messages: the kernel's where there is one.
#[test]
fn methods_are_named() {
    for (object, method, name) in [
        (0x1009, 0x1000, "STEERING_ANCHOR.CREATE"),
        (0, 3, "DEVICE.GET_CONTEXT"),
        (0x1000, 0x1000, "DEVX.OTHER"),
        (0x1001, 0x1999, "DEVX_OBJ method 0x1999"),
        (0x1fff, 1, "object 0x1fff method 0x1"),
    ] {
        let found: String = Method::new(object, method).to_string();
        assert_eq!(found, name);
    }
}
