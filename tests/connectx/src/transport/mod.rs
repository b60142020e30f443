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
