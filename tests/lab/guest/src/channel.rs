//! Framing: each message is its length (four bytes, little endian) and its postcard encoding.

use std::io::{self, ErrorKind, Read, Write};

use serde::{Serialize, de::DeserializeOwned};

/// The longest encoding accepted: a length above it means that the two sides lost step.
pub const MAX_MESSAGE: u32 = 64 << 20;

/// Writes one message, in one write where the channel takes it.
///
/// # Errors
///
/// Those of the channel, and [`ErrorKind::InvalidInput`] for a message above [`MAX_MESSAGE`].
pub fn send(channel: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let mut frame = postcard::to_extend(message, vec![0; 4])
        .map_err(|error| io::Error::new(ErrorKind::InvalidInput, error))?;
    let length = frame.len() - 4;
    let too_long =
        || io::Error::new(ErrorKind::InvalidInput, format!("a message of {length} bytes is too long"));
    let length = u32::try_from(length).ok().filter(|&length| length <= MAX_MESSAGE).ok_or_else(too_long)?;
    frame[..4].copy_from_slice(&length.to_le_bytes());
    channel.write_all(&frame)
}

/// Reads one message; `None` when the other side closed the channel between two messages.
///
/// # Errors
///
/// Those of the channel, [`ErrorKind::UnexpectedEof`] when it closed within a message, and [`ErrorKind::InvalidData`] for
/// bytes that are no message.
pub fn receive<M: DeserializeOwned>(channel: &mut impl Read) -> io::Result<Option<M>> {
    let mut length = [0; 4];
    let first = loop {
        match channel.read(&mut length) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            other => break other?,
        }
    };
    if first == 0 {
        return Ok(None);
    }
    channel.read_exact(&mut length[first..])?;
    let length = u32::from_le_bytes(length);
    if length > MAX_MESSAGE {
        return Err(io::Error::new(ErrorKind::InvalidData, format!("a message claims {length} bytes")));
    }
    let mut bytes = vec![0; length as usize];
    channel.read_exact(&mut bytes)?;
    match postcard::take_from_bytes(&bytes) {
        Ok((message, [])) => Ok(Some(message)),
        Ok((_, rest)) => {
            Err(io::Error::new(ErrorKind::InvalidData, format!("{} bytes after a message", rest.len())))
        }
        Err(error) => Err(io::Error::new(ErrorKind::InvalidData, error)),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;
    use crate::{ToGuest, ToHost};

    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(any::<u8>(), 0..300)
    }

    fn message() -> impl Strategy<Value = ToHost> {
        prop_oneof![
            (0..10_000_000u64).prop_map(|ms| ToHost::Ready { uptime: Duration::from_millis(ms) }),
            bytes().prop_map(ToHost::Stdout),
            bytes().prop_map(ToHost::Stderr),
            ("[a-z/.]{0,40}", bytes()).prop_map(|(name, bytes)| ToHost::File { name, bytes }),
            any::<u8>().prop_map(|code| ToHost::Exit { code }),
            (".{0,40}", ".{0,200}").prop_map(|(reason, kernel_log)| ToHost::Failed { reason, kernel_log }),
        ]
    }

    /// A channel that gives at most `step` bytes a read, as a serial port does.
    struct Slow<'a> {
        bytes: &'a [u8],
        step: usize,
    }

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let most = self.step.min(buffer.len());
            self.bytes.read(&mut buffer[..most])
        }
    }

    fn receive_all(mut channel: Slow) -> io::Result<Vec<ToHost>> {
        std::iter::from_fn(|| receive(&mut channel).transpose()).collect()
    }

    proptest! {
        #[test]
        fn messages_survive_the_channel(messages in prop::collection::vec(message(), 0..6), step in 1usize..50) {
            let mut wire = Vec::new();
            for message in &messages {
                send(&mut wire, message).unwrap();
            }
            prop_assert_eq!(receive_all(Slow { bytes: &wire, step }).unwrap(), messages);
        }

        #[test]
        fn a_cut_message_is_an_error(message in message(), cut in any::<prop::sample::Index>()) {
            let mut wire = Vec::new();
            send(&mut wire, &message).unwrap();
            let cut = 1 + cut.index(wire.len() - 1);
            let error = receive_all(Slow { bytes: &wire[..cut], step: 7 }).unwrap_err();
            prop_assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
        }

        #[test]
        fn a_message_with_a_tail_is_an_error(message in message(), tail in prop::collection::vec(any::<u8>(), 1..20)) {
            let mut wire = Vec::new();
            send(&mut wire, &message).unwrap();
            wire.extend(&tail);
            let length = u32::try_from(wire.len() - 4).unwrap();
            wire[..4].copy_from_slice(&length.to_le_bytes());
            prop_assert_eq!(receive::<ToHost>(&mut &wire[..]).unwrap_err().kind(), ErrorKind::InvalidData);
        }

        #[test]
        fn noise_ends_in_an_error_or_in_messages(mut noise in prop::collection::vec(any::<u8>(), 0..200)) {
            // Keep the claimed length small, else most noise is only a cut message.
            if noise.len() > 3 {
                noise[1..4].fill(0);
            }
            let _ends = receive_all(Slow { bytes: &noise, step: 16 });
        }
    }

    #[test]
    fn a_length_above_the_limit_is_refused_before_it_is_allocated() {
        let error = receive::<ToGuest>(&mut &u32::MAX.to_le_bytes()[..]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidData);
    }
}
