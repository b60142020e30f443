//! The wire from both ends, with real files and sockets.

use super::*;
use crate::steering::way::{Direction, Verdict};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::error::Error;

type Result = std::result::Result<(), Box<dyn Error>>;

fn is_readable(wire: &Wire) -> std::result::Result<bool, Box<dyn Error>> {
    Ok(poll(&mut [PollFd::new(wire, PollFlags::IN)], Some(&NEVER))? > 0)
}

fn frame(number: u8) -> Vec<u8> {
    vec![number; 60 + usize::from(number)]
}

#[test]
fn frames_of_a_file_come_in_order_once_told_to_start() -> Result {
    for (magic, nanoseconds) in [(0xa1b2_c3d4_u32, false), (0xa1b2_3c4d, true)] {
        for big_endian in [false, true] {
            let folder = tempfile::tempdir()?;
            let path = folder.path().join("in.pcap");
            let word = |v: u32| if big_endian { v.to_be_bytes() } else { v.to_le_bytes() };
            let half = |v: u16| if big_endian { v.to_be_bytes() } else { v.to_le_bytes() };
            let mut bytes = [&word(magic)[..], &half(2), &half(4), &[0; 8], &word(65535), &word(1)].concat();
            for number in 0..3 {
                let length = u32::try_from(frame(number).len())?;
                bytes.extend([word(1), word(u32::from(nanoseconds)), word(length), word(length)].concat());
                bytes.extend(frame(number));
            }
            std::fs::write(&path, bytes)?;
            let mut wire = Wire::open(&WireConfig { input: Some(path), ..WireConfig::default() })?;
            assert!(!is_readable(&wire)? && wire.receive(|| true).is_none());
            wire.start();
            assert!(is_readable(&wire)? && !wire.input_done());
            for number in 0..3 {
                let got = wire.receive(|| true);
                assert_eq!(got, Some(Incoming { bytes: frame(number), input: Some(u64::from(number) + 1) }));
            }
            assert!(wire.input_done() && wire.receive(|| true).is_none() && !is_readable(&wire)?);
            assert_eq!(wire.received(), 3);
        }
    }
    Ok(())
}

#[test]
fn a_file_waits_for_room_but_not_for_ever() -> Result {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("in.pcap");
    Output::create(&path)?.write(&frame(1));
    let mut wire = Wire::open(&WireConfig { input: Some(path), at_once: true, ..WireConfig::default() })?;
    let mut asked = 0;
    let got = loop {
        if let Some(incoming) = wire.receive(|| false) {
            break incoming;
        }
        asked += 1;
        assert!(asked <= PATIENCE, "the file never gave up waiting");
        // The timer, not a busy loop, wakes the caller.
        let second = Timespec { tv_sec: 1, tv_nsec: 0 };
        assert_eq!(poll(&mut [PollFd::new(&wire, PollFlags::IN)], Some(&second))?, 1);
    };
    assert_eq!((got.bytes, asked), (frame(1), PATIENCE));
    Ok(())
}

#[test]
fn something_that_is_no_capture_of_ethernet_is_refused() -> Result {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("in.pcap");
    let raw_ip =
        [&0xa1b2_c3d4_u32.to_le_bytes()[..], &[2, 0, 4, 0], &[0; 8], &[0xff, 0xff, 0, 0, 101, 0, 0, 0]]
            .concat();
    for bytes in [&b""[..], b"text", b"more text than a capture's header would be", &raw_ip] {
        std::fs::write(&path, bytes)?;
        assert!(Wire::open(&WireConfig { input: Some(path.clone()), ..WireConfig::default() }).is_err());
    }
    Ok(())
}

#[test]
fn a_peer_and_the_card_talk_and_short_frames_are_padded() -> Result {
    let folder = tempfile::tempdir()?;
    let (ours, theirs) = (folder.path().join("card"), folder.path().join("peer"));
    let output = folder.path().join("out.pcap");
    let mut wire = Wire::open(&WireConfig {
        socket: Some(ours.clone()),
        output: Some(output.clone()),
        ..WireConfig::default()
    })?;
    let peer = UnixDatagram::bind(&theirs)?;
    peer.send_to(&[7; 20], &ours)?;
    assert!(is_readable(&wire)?);
    let got = wire.receive(|| true).ok_or("nothing came")?;
    assert_eq!(got.bytes, [&[7; 20][..], &[0; 40]].concat());

    wire.send(vec![8; 14]);
    let mut buffer = [0; 100];
    let length = peer.recv(&mut buffer)?;
    assert_eq!(buffer[..length], [&[8; 14][..], &[0; 46]].concat());
    wire.send(frame(200));
    assert_eq!(wire.take_sent().len(), 2);
    assert!(wire.take_sent().is_empty() && wire.file_error().is_none());
    drop(wire);
    assert!(!ours.exists(), "the socket stays behind");

    // What was written can be read back.
    let mut again = Wire::open(&WireConfig { input: Some(output), at_once: true, ..WireConfig::default() })?;
    assert_eq!(again.receive(|| true).map(|i| i.bytes.len()), Some(60));
    assert_eq!(again.receive(|| true).map(|i| i.bytes), Some(frame(200)));
    Ok(())
}

#[test]
fn the_record_is_a_whole_json_document_after_each_frame() -> Result {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("trace.json");
    let mut wire = Wire::open(&WireConfig { trace: Some(path.clone()), ..WireConfig::default() })?;
    for number in 0..3u64 {
        let read: Vec<serde_json::Value> = serde_json::from_slice(&std::fs::read(&path)?)?;
        assert_eq!(read.len() as u64, number);
        wire.record(Way {
            frame: number + 1,
            direction: Direction::Rx,
            input: None,
            length: 60,
            packet: "a frame".into(),
            hops: Vec::new(),
            verdict: Verdict::dropped("nic_rx", "there is no root table"),
            copies: Vec::new(),
        });
    }
    let read: Vec<serde_json::Value> = serde_json::from_slice(&std::fs::read(&path)?)?;
    assert_eq!(read[2]["frame"], 3);
    assert_eq!(read[2]["verdict"]["type"], "dropped");
    assert_eq!(read[2]["verdict"]["where"], "nic_rx");
    assert_eq!(wire.take_ways().len(), 3);
    Ok(())
}
