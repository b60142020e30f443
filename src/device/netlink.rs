//! Devices as the kernel tells them through `NETLINK_RDMA`.
//!
//! In the kernel tree: `drivers/infiniband/core/nldev.c`. No privilege is needed. The kernel tells only the devices of
//! this network namespace, where devices belong to one.

use rustix::{
    fd::OwnedFd,
    io::Errno,
    net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with},
};
use uverbs_uapi::rdma_netlink as nl;

use super::Number;
use crate::{DriverId, NodeGuid};

/// Kinds of messages that every netlink family has (`linux/netlink.h`).
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
const NLM_F_REQUEST: u16 = 1;
const NLM_F_DUMP: u16 = 0x300;
/// The list changed while it was told.
const NLM_F_DUMP_INTR: u16 = 0x10;
/// The bits of an attribute's type that are no flags.
const NLA_TYPE_MASK: u16 = 0x3fff;
/// Bytes of a message's header.
const HEADER: usize = 16;
/// The kernel's messages are at most this long, unless the reader has shown that it has more room.
const ROOM: usize = 8192;
/// How often a list that changes meanwhile is asked for again.
const ATTEMPTS: u32 = 10;

const GET: u16 = nl::rdma_nl_get_type(nl::RDMA_NL_NLDEV, nl::RDMA_NLDEV_CMD_GET);
const GET_CHARDEV: u16 = nl::rdma_nl_get_type(nl::RDMA_NL_NLDEV, nl::RDMA_NLDEV_CMD_GET_CHARDEV);

/// A device, as the list has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) index: u32,
    pub(super) name: String,
    pub(super) node_guid: Option<NodeGuid>,
    pub(super) firmware: Option<String>,
    pub(super) ports: Option<u32>,
}

/// The character device of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CharDevice {
    /// `uverbs0`.
    pub(super) name: String,
    pub(super) number: Number,
    pub(super) abi: Option<u32>,
    pub(super) driver: DriverId,
}

/// A socket to the kernel's RDMA core.
#[derive(Debug)]
pub(super) struct Socket {
    fd: OwnedFd,
    sequence: u32,
}

impl Socket {
    pub(super) fn open() -> Result<Self, Errno> {
        let fd =
            socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, Some(netlink::RDMA))?;
        Ok(Self { fd, sequence: 0 })
    }

    /// All devices, in no particular order.
    pub(super) fn devices(&mut self) -> Result<Vec<Listed>, Errno> {
        for _ in 0..ATTEMPTS {
            let mut devices = Vec::new();
            let changed = self.ask(GET, NLM_F_DUMP, &[], |body| devices.extend(listed(body)))?;
            if !changed {
                return Ok(devices);
            }
        }
        Err(Errno::AGAIN)
    }

    /// The character device through which user space uses the device `index`.
    pub(super) fn char_device(&mut self, index: u32) -> Result<CharDevice, Errno> {
        let mut request = Vec::with_capacity(24);
        put(&mut request, nl::RDMA_NLDEV_ATTR_DEV_INDEX, &index.to_ne_bytes());
        put(&mut request, nl::RDMA_NLDEV_ATTR_CHARDEV_TYPE, b"uverbs\0");
        let mut found = None;
        self.ask(GET_CHARDEV, 0, &request, |body| found = char_device(body))?;
        found.ok_or(Errno::NODATA)
    }

    /// Sends a request and reads its answers to the end. Tells whether what was told changed meanwhile.
    fn ask(
        &mut self,
        kind: u16,
        flags: u16,
        attributes: &[u8],
        mut answer: impl FnMut(&[u8]),
    ) -> Result<bool, Errno> {
        self.sequence += 1;
        let mut request = Vec::with_capacity(HEADER + attributes.len());
        let length = u32::try_from(HEADER + attributes.len()).map_err(|_| Errno::MSGSIZE)?;
        request.extend_from_slice(&length.to_ne_bytes());
        request.extend_from_slice(&kind.to_ne_bytes());
        request.extend_from_slice(&(NLM_F_REQUEST | flags).to_ne_bytes());
        request.extend_from_slice(&self.sequence.to_ne_bytes());
        // From whom: the kernel knows.
        request.extend_from_slice(&[0; 4]);
        request.extend_from_slice(attributes);
        retry(|| send(&self.fd, &request, SendFlags::empty()))?;

        let mut buffer = [0; ROOM];
        let mut changed = false;
        loop {
            // With TRUNC the length is the message's, not that of what fitted.
            let (_, length) = retry(|| recv(&self.fd, &mut buffer[..], RecvFlags::TRUNC))?;
            let received = buffer.get(..length).ok_or(Errno::MSGSIZE)?;
            for message in messages(received).filter(|message| message.sequence == self.sequence) {
                changed |= message.flags & NLM_F_DUMP_INTR != 0;
                match message.kind {
                    NLMSG_DONE => return status(message.body).map(|()| changed),
                    NLMSG_ERROR => {
                        status(message.body)?;
                        return Err(Errno::PROTO);
                    }
                    kind_of_answer if kind_of_answer == kind => {
                        answer(message.body);
                        if flags & NLM_F_DUMP == 0 {
                            return Ok(changed);
                        }
                    }
                    _ => {}
                }
            }
        }
    }
}

/// Starts over when a signal came in between.
fn retry<T>(mut call: impl FnMut() -> Result<T, Errno>) -> Result<T, Errno> {
    loop {
        match call() {
            Err(Errno::INTR) => {}
            result => return result,
        }
    }
}

/// The errno at the beginning of an error message, or of the end of a list; 0 is none.
fn status(body: &[u8]) -> Result<(), Errno> {
    match body.first_chunk().map(|bytes| i32::from_ne_bytes(*bytes)) {
        Some(0) => Ok(()),
        Some(negative) => Err(Errno::from_raw_os_error(negative.saturating_neg())),
        None => Err(Errno::PROTO),
    }
}

struct Message<'a> {
    kind: u16,
    flags: u16,
    sequence: u32,
    body: &'a [u8],
}

/// The messages in what was received, up to one that is not whole.
fn messages(mut bytes: &[u8]) -> impl Iterator<Item = Message<'_>> {
    core::iter::from_fn(move || {
        let length = u32_at(bytes, 0)? as usize;
        let body = bytes.get(HEADER..length)?;
        let message =
            Message { kind: u16_at(bytes, 4)?, flags: u16_at(bytes, 6)?, sequence: u32_at(bytes, 8)?, body };
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or(&[]);
        Some(message)
    })
}

/// The attributes of a message, up to one that is not whole: type and content.
fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    core::iter::from_fn(move || {
        let length = usize::from(u16_at(bytes, 0)?);
        let content = bytes.get(4..length)?;
        let kind = u16_at(bytes, 2)? & NLA_TYPE_MASK;
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or(&[]);
        Some((kind, content))
    })
}

/// Appends an attribute.
fn put(request: &mut Vec<u8>, kind: u16, content: &[u8]) {
    let length = u16::try_from(4 + content.len()).unwrap_or(u16::MAX);
    request.extend_from_slice(&length.to_ne_bytes());
    request.extend_from_slice(&kind.to_ne_bytes());
    request.extend_from_slice(content);
    request.resize(request.len().next_multiple_of(4), 0);
}

/// Reads one device of the list; one without index or name is none.
fn listed(body: &[u8]) -> Option<Listed> {
    let mut device = Listed::default();
    let mut index = None;
    for (kind, content) in attributes(body) {
        match kind {
            nl::RDMA_NLDEV_ATTR_DEV_INDEX => index = u32_at(content, 0),
            nl::RDMA_NLDEV_ATTR_DEV_NAME => device.name = text(content)?,
            nl::RDMA_NLDEV_ATTR_NODE_GUID => device.node_guid = u64_at(content, 0).map(NodeGuid::new),
            nl::RDMA_NLDEV_ATTR_FW_VERSION => device.firmware = text(content).filter(|text| !text.is_empty()),
            // In this message, the number of ports.
            nl::RDMA_NLDEV_ATTR_PORT_INDEX => device.ports = u32_at(content, 0),
            _ => {}
        }
    }
    device.index = index?;
    (!device.name.is_empty()).then_some(device)
}

fn char_device(body: &[u8]) -> Option<CharDevice> {
    let (mut name, mut number, mut abi, mut driver) = (None, None, None, DriverId::UNKNOWN);
    for (kind, content) in attributes(body) {
        match kind {
            nl::RDMA_NLDEV_ATTR_CHARDEV_NAME => name = text(content),
            nl::RDMA_NLDEV_ATTR_CHARDEV => number = u64_at(content, 0).map(Number::from_kernel),
            nl::RDMA_NLDEV_ATTR_CHARDEV_ABI => {
                abi = u64_at(content, 0).and_then(|abi| u32::try_from(abi).ok());
            }
            nl::RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID => driver = DriverId::new(u32_at(content, 0)?),
            _ => {}
        }
    }
    Some(CharDevice { name: name?, number: number?, abi, driver })
}

/// A text that ends with a NUL.
fn text(content: &[u8]) -> Option<String> {
    let end = content.iter().position(|&byte| byte == 0).unwrap_or(content.len());
    core::str::from_utf8(&content[..end]).ok().map(str::to_owned)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Devices are told as the kernel tells them, and what is cut off or unknown is passed over.
    #[test]
    fn a_device_is_read() {
        let mut body = Vec::new();
        put(&mut body, nl::RDMA_NLDEV_ATTR_DEV_INDEX, &7u32.to_ne_bytes());
        put(&mut body, nl::RDMA_NLDEV_ATTR_DEV_NAME, b"mlx5_0\0");
        put(&mut body, nl::RDMA_NLDEV_ATTR_PORT_INDEX, &1u32.to_ne_bytes());
        put(&mut body, 0x3ff0, b"something new");
        put(&mut body, nl::RDMA_NLDEV_ATTR_FW_VERSION, b"22.35.1012\0");
        put(&mut body, nl::RDMA_NLDEV_ATTR_NODE_GUID, &0x0c42_a103_0012_3456u64.to_ne_bytes());
        let expected = Listed {
            index: 7,
            name: "mlx5_0".to_owned(),
            node_guid: Some(NodeGuid::new(0x0c42_a103_0012_3456)),
            firmware: Some("22.35.1012".to_owned()),
            ports: Some(1),
        };
        assert_eq!(listed(&body), Some(expected.clone()));
        assert_eq!(listed(&body[..body.len() - 1]), Some(Listed { node_guid: None, ..expected }));
        assert_eq!(listed(&body[..8]), None, "a device without a name");
        assert_eq!(listed(&body[8..]), None, "a device without an index");
    }

    #[test]
    fn a_character_device_is_read() {
        let mut body = Vec::new();
        put(&mut body, nl::RDMA_NLDEV_ATTR_CHARDEV_ABI, &1u64.to_ne_bytes());
        put(&mut body, nl::RDMA_NLDEV_ATTR_CHARDEV, &((231u64 << 8) + 192).to_ne_bytes());
        put(&mut body, nl::RDMA_NLDEV_ATTR_CHARDEV_NAME, b"uverbs0\0");
        let without_driver = char_device(&body).unwrap();
        assert_eq!(without_driver.driver, DriverId::UNKNOWN);
        put(&mut body, nl::RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID, &1u32.to_ne_bytes());
        let found = char_device(&body).unwrap();
        let expected = CharDevice {
            name: "uverbs0".to_owned(),
            number: Number { major: 231, minor: 192 },
            abi: Some(1),
            driver: DriverId::MLX5,
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn messages_end_where_one_is_not_whole() {
        let message = |kind: u16, body: &[u8]| {
            let mut bytes = Vec::new();
            bytes.extend_from_slice(&u32::try_from(HEADER + body.len()).unwrap().to_ne_bytes());
            bytes.extend_from_slice(&kind.to_ne_bytes());
            bytes.extend_from_slice(&[0; 10]);
            bytes.extend_from_slice(body);
            bytes.resize(bytes.len().next_multiple_of(4), 0);
            bytes
        };
        let both = [message(GET, b"12345"), message(NLMSG_DONE, &0i32.to_ne_bytes())].concat();
        let kinds = |bytes: &[u8]| messages(bytes).map(|message| message.kind).collect::<Vec<_>>();
        assert_eq!(kinds(&both), [GET, NLMSG_DONE]);
        assert_eq!(kinds(&both[..both.len() - 1]), [GET]);
        assert_eq!(kinds(&[0; 64]), [0u16; 0], "a length of 0 does not loop");
        assert_eq!(status(&(-95i32).to_ne_bytes()), Err(Errno::OPNOTSUPP));
    }

    /// The kernel of this machine, whatever it has.
    #[test]
    #[cfg_attr(miri, ignore = "needs a kernel")]
    fn asking_ends() {
        if let Ok(mut socket) = Socket::open() {
            for device in socket.devices().unwrap_or_default() {
                assert!(!device.name.is_empty());
            }
        }
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_strange(bytes in proptest::collection::vec(any::<u8>(), 0..256)) {
            for message in messages(&bytes) {
                let _ = (status(message.body), listed(message.body), char_device(message.body));
            }
            let _ = (listed(&bytes), char_device(&bytes));
        }
    }
}
