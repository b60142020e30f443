//! A netlink request that the kernel answers with a mere yes or no.

use std::{io, os::fd::AsRawFd};

use nix::{
    errno::Errno,
    sys::socket::{AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, send, socket},
};

// linux/netlink.h
const NLM_F_REQUEST: u16 = 1;
const NLM_F_ACK: u16 = 4;
const NLMSG_ERROR: u16 = 2;
const HEADER: usize = 16;

/// The families init speaks.
#[derive(Clone, Copy)]
pub(crate) enum Family {
    /// Interfaces and addresses.
    Route,
    /// RDMA devices.
    Rdma,
}

/// A request under construction: header, fixed part, attributes.
pub(crate) struct Request {
    buffer: Vec<u8>,
}

impl Request {
    pub(crate) fn new(kind: u16) -> Self {
        let mut request = Self { buffer: Vec::new() };
        // struct nlmsghdr: length (filled in last), type, flags, sequence number, port
        request
            .u32(0)
            .bytes(&kind.to_ne_bytes())
            .bytes(&(NLM_F_REQUEST | NLM_F_ACK).to_ne_bytes())
            .u32(1)
            .u32(0);
        request
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.buffer.extend_from_slice(bytes);
        self
    }

    pub(crate) fn u32(&mut self, value: u32) -> &mut Self {
        self.bytes(&value.to_ne_bytes())
    }

    /// An attribute: its length, its type, the payload, zeros up to a multiple of four.
    pub(crate) fn attribute(&mut self, kind: u16, payload: &[u8]) -> &mut Self {
        let length = u16::try_from(4 + payload.len()).expect("init's attributes are short");
        self.bytes(&length.to_ne_bytes()).bytes(&kind.to_ne_bytes()).bytes(payload);
        self.buffer.resize(self.buffer.len().next_multiple_of(4), 0);
        self
    }

    /// Sends it and waits for the kernel's verdict.
    pub(crate) fn send(mut self, family: Family) -> io::Result<()> {
        let protocol = match family {
            Family::Route => SockProtocol::NetlinkRoute,
            Family::Rdma => SockProtocol::NetlinkRDMA,
        };
        let length = u32::try_from(self.buffer.len()).expect("init's requests are short");
        self.buffer[..4].copy_from_slice(&length.to_ne_bytes());
        let socket = socket(AddressFamily::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, protocol)?;
        send(socket.as_raw_fd(), &self.buffer, MsgFlags::empty())?;
        let mut answer = [0; 512];
        let length = recv(socket.as_raw_fd(), &mut answer, MsgFlags::empty())?;
        verdict(&answer[..length])
    }
}

/// Reads the error message that an acknowledgement is: header, then a negative errno or 0.
fn verdict(answer: &[u8]) -> io::Result<()> {
    let malformed = || io::Error::other("the kernel's netlink answer is no acknowledgement");
    let kind = answer.get(4..6).ok_or_else(malformed)?;
    let errno = answer.get(HEADER..HEADER + 4).ok_or_else(malformed)?;
    if kind != NLMSG_ERROR.to_ne_bytes() {
        return Err(malformed());
    }
    match i32::from_ne_bytes(errno.try_into().expect("four bytes")) {
        0 => Ok(()),
        errno => Err(Errno::from_raw(-errno).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_padded_but_their_length_is_not() {
        let mut request = Request::new(16);
        request.attribute(2, b"rxe0\0").attribute(3, b"");
        assert_eq!(request.buffer[HEADER..], [9, 0, 2, 0, b'r', b'x', b'e', b'0', 0, 0, 0, 0, 4, 0, 3, 0]);
    }

    #[test]
    fn the_verdict_is_the_errno_of_the_acknowledgement() {
        let answer = |kind: u16, errno: i32| {
            let mut answer = vec![0; HEADER];
            answer[4..6].copy_from_slice(&kind.to_ne_bytes());
            answer.extend(errno.to_ne_bytes());
            answer
        };
        assert!(verdict(&answer(NLMSG_ERROR, 0)).is_ok());
        let error = verdict(&answer(NLMSG_ERROR, -(Errno::EEXIST as i32))).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(Errno::EEXIST as i32));
        assert!(verdict(&answer(16, 0)).is_err());
        assert!(verdict(&answer(NLMSG_ERROR, 0)[..HEADER + 3]).is_err());
    }
}
