//! The vfio-user transport: messages with descriptors over a Unix socket.

pub(crate) mod protocol;

use std::io::{self, ErrorKind, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};

use self::protocol::{Device, HEADER, Header, LONGEST};
use crate::memory::Memory;

/// A connection to QEMU.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: UnixStream,
}

impl Connection {
    pub(crate) const fn new(stream: UnixStream) -> Self {
        Self { stream }
    }

    /// Takes one message and does what it asks. `false` once QEMU has closed the connection.
    pub(crate) fn serve(&mut self, memory: &mut Memory, device: &mut dyn Device) -> io::Result<bool> {
        let mut header = [0; HEADER];
        let Some(fds) = self.receive(&mut header)? else { return Ok(false) };
        let header = Header::parse(&header);
        if !(HEADER..=LONGEST).contains(&header.size) {
            let message = format!("a vfio-user message of {} bytes", header.size);
            return Err(io::Error::new(ErrorKind::InvalidData, message));
        }
        let mut body = vec![0; header.size - HEADER];
        self.stream.read_exact(&mut body)?;
        if let Some(reply) = protocol::execute(header, &body, fds, memory, device) {
            self.stream.write_all(&reply)?;
        }
        Ok(true)
    }

    /// Reads a header, with which a message's descriptors come. `None` at the end.
    fn receive(&mut self, header: &mut [u8; HEADER]) -> io::Result<Option<Vec<OwnedFd>>> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(16))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let slices = &mut [IoSliceMut::new(header)];
        let received = rustix::io::retry_on_intr(|| {
            recvmsg(&self.stream, slices, &mut ancillary, RecvFlags::CMSG_CLOEXEC)
        })?;
        let mut fds = Vec::new();
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(received) = message {
                fds.extend(received);
            }
        }
        if received.bytes == 0 {
            return Ok(None);
        }
        self.stream.read_exact(&mut header[received.bytes..])?;
        Ok(Some(fds))
    }
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, ErrorKind, Read, Write};
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;

    use proptest::prelude::*;

    use super::Connection;
    use super::protocol::Device;
    use crate::memory::Memory;

    /// A device that remembers what it was asked.
    #[derive(Default)]
    struct Register {
        value: Vec<u8>,
        vectors: Vec<u32>,
        resets: usize,
    }

    impl Device for Register {
        fn region_size(&self, region: u32) -> u64 {
            if region == 0 { 0x1000 } else { 0 }
        }

        fn irq_count(&self, index: u32) -> u32 {
            if index == 2 { 4 } else { 0 }
        }

        fn read(&mut self, _: u32, _: u64, buffer: &mut [u8]) {
            let length = buffer.len().min(self.value.len());
            buffer[..length].copy_from_slice(&self.value[..length]);
        }

        fn write(&mut self, _: &Memory, _: u32, _: u64, bytes: &[u8]) {
            bytes.clone_into(&mut self.value);
        }

        fn set_irq(&mut self, _: u32, vector: u32, _: Option<OwnedFd>) {
            self.vectors.push(vector);
        }

        fn reset(&mut self) {
            self.resets += 1;
        }
    }

    /// A message as QEMU writes it.
    fn message(command: u16, flags: u32, body: &[u8]) -> Vec<u8> {
        let mut bytes = [7_u16.to_le_bytes(), command.to_le_bytes()].concat();
        bytes.extend(u32::try_from(16 + body.len()).unwrap_or(u32::MAX).to_le_bytes());
        bytes.extend(flags.to_le_bytes());
        bytes.extend([0; 4]);
        bytes.extend(body);
        bytes
    }

    fn words(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// Sends messages and closes; gives what came back, and whether the card took them all.
    fn talk(device: &mut Register, memory: &mut Memory, messages: &[Vec<u8>]) -> io::Result<(Vec<u8>, bool)> {
        let (mut qemu, card) = UnixStream::pair()?;
        let mut connection = Connection::new(card);
        qemu.write_all(&messages.concat())?;
        qemu.shutdown(std::net::Shutdown::Write)?;
        let reader = std::thread::spawn(move || {
            let mut replies = Vec::new();
            match qemu.read_to_end(&mut replies) {
                // The card left without having read all.
                Err(error) if error.kind() != ErrorKind::ConnectionReset => Err(error),
                _ => Ok(replies),
            }
        });
        let taken = loop {
            match connection.serve(memory, device) {
                Ok(true) => {}
                Ok(false) => break true,
                Err(_) => break false,
            }
        };
        drop(connection);
        let replies = reader.join().map_err(|_| io::Error::other("the reader panicked"))??;
        Ok((replies, taken))
    }

    #[test]
    fn a_posted_write_has_no_reply_and_is_read_back() -> io::Result<()> {
        let mut device = Register::default();
        let write = [words(&[0x10, 0, 0, 4]), vec![1, 2, 3, 4]].concat();
        let messages = [message(10, 1 << 4, &write), message(9, 0, &words(&[0x10, 0, 0, 4]))];
        let (replies, taken) = talk(&mut device, &mut Memory::default(), &messages)?;
        assert!(taken);
        let reply = [words(&[9 << 16 | 7, 36, 1, 0, 0x10, 0, 0, 4]), vec![1, 2, 3, 4]].concat();
        assert_eq!(replies, reply);
        Ok(())
    }

    #[test]
    fn what_makes_no_sense_is_an_error_and_the_connection_stays() -> io::Result<()> {
        let mut device = Register::default();
        let short_write = message(10, 0, &words(&[0, 0, 0, 64]));
        let messages = [message(99, 0, &[]), short_write, message(13, 0, &[])];
        let (replies, taken) = talk(&mut device, &mut Memory::default(), &messages)?;
        assert!(taken);
        let error = |command: u32| words(&[command << 16 | 7, 16, 1 | 1 << 5, 22]);
        assert_eq!(replies, [error(99), error(10), words(&[13 << 16 | 7, 16, 1, 0])].concat());
        assert_eq!(device.resets, 1);
        Ok(())
    }

    #[test]
    fn vectors_end_where_the_device_says() -> io::Result<()> {
        let mut device = Register::default();
        let messages = [message(8, 0, &words(&[20, 0x24, 2, 2, u32::MAX]))];
        let (_, taken) = talk(&mut device, &mut Memory::default(), &messages)?;
        assert!(taken);
        assert_eq!(device.vectors, [2, 3]);
        Ok(())
    }

    proptest! {
        #[test]
        fn any_bytes_are_answered_or_end_the_connection(
            messages in proptest::collection::vec(
                prop_oneof![
                    8 => (0..16_u16, 0..0x40_u32, proptest::collection::vec(any::<u8>(), 0..64))
                        .prop_map(|(command, flags, body)| message(command, flags, &body)),
                    1 => proptest::collection::vec(any::<u8>(), 0..64),
                ],
                0..16,
            ),
        ) {
            let (mut device, mut memory) = (Register::default(), Memory::default());
            talk(&mut device, &mut memory, &messages)?;
            let mut buffer = [0; 16];
            // Whatever was announced, there is no file behind it.
            prop_assert!(memory.read(0, &mut buffer).is_err());
            prop_assert!(memory.write(u64::MAX, &buffer).is_err());
        }
    }
}
