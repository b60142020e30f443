//! Packets on the emulated card's wire, and ordinary sockets behind it.

use std::fmt::Write;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use libtest_mimic::Failed;
use nix::ifaddrs::getifaddrs;
use serde_json::{Value, json};
use socket2::{SockFilter, SockRef};

use crate::Lab;
use crate::card::Card;

/// Who sends what the tests inject; nobody has this address.
pub(crate) const PEER: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
const PEER_MAC: [u8; 6] = [2, 0, 0, 0, 0, 1];

/// A port that no test steers: what is sent here arrives, and shows that what was sent before has been dealt with.
const FENCE: u16 = 4999;

/// How long a packet may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// How much longer than the fence a packet may take, if it is on another queue.
const GRACE: Duration = Duration::from_millis(30);

/// The wire, and the interface of the device under test.
pub(crate) struct Wire {
    pub(crate) card: Card,
    interface: PathBuf,
    mac: [u8; 6],
    address: Ipv4Addr,
    fence: UdpSocket,
    sequence: u32,
}

impl Wire {
    /// Connects; `None` on a real card, whose wire is not ours, or if the interface has no address.
    pub(crate) fn connect(lab: &Lab) -> Result<Option<Self>, Failed> {
        let Some(card) = Card::connect() else { return Ok(None) };
        let networks = format!("/sys/class/infiniband/{}/device/net", lab.device);
        let Some(name) = fs::read_dir(networks)?.next().transpose()?.map(|entry| entry.file_name()) else {
            return Ok(None);
        };
        let name = name.to_string_lossy().into_owned();
        let address = getifaddrs()?
            .filter(|found| found.interface_name == name)
            .find_map(|found| found.address?.as_sockaddr_in().map(nix::sys::socket::SockaddrIn::ip));
        let Some(address) = address else { return Ok(None) };
        let interface = PathBuf::from("/sys/class/net").join(&name);
        let mac =
            mac(&fs::read_to_string(interface.join("address"))?).ok_or("the interface has no MAC address")?;
        let fence = listen(FENCE)?;
        Ok(Some(Self { card, interface, mac, address, fence, sequence: 0 }))
    }

    /// Whether a new datagram to this port, behind which `socket` listens, gets there.
    ///
    /// There is no waiting for what does not come: a datagram to another port follows, and comes later.
    pub(crate) fn arrives(&mut self, socket: &UdpSocket) -> Result<bool, Failed> {
        self.arrives_from(socket, 7)
    }

    /// The same, from this source port.
    pub(crate) fn arrives_from(&mut self, socket: &UdpSocket, source: u16) -> Result<bool, Failed> {
        let payload = self.payload();
        self.inject(source, socket.local_addr()?.port(), &payload)?;
        self.wait_for_fence()?;
        receives(socket, &payload)
    }

    /// A datagram that was not sent before.
    pub(crate) fn payload(&mut self) -> Vec<u8> {
        self.sequence += 1;
        format!("datagram {}", self.sequence).into_bytes()
    }

    /// Waits until everything injected before has been dealt with.
    pub(crate) fn wait_for_fence(&mut self) -> Result<(), Failed> {
        let payload = self.payload();
        self.inject(7, FENCE, &payload)?;
        self.fence.set_read_timeout(Some(PATIENCE))?;
        let mut buffer = [0; 64];
        let begin = Instant::now();
        while begin.elapsed() < PATIENCE {
            let length = self.fence.recv(&mut buffer)?;
            if buffer[..length] == payload {
                return Ok(());
            }
        }
        Err("the fence does not arrive".into())
    }

    /// Puts a datagram on the wire.
    pub(crate) fn inject(&mut self, source: u16, destination: u16, payload: &[u8]) -> Result<(), Failed> {
        let frame = udp(PEER_MAC, self.mac, (PEER, source), (self.address, destination), payload);
        self.inject_frame(&frame)
    }

    /// Puts a frame on the wire.
    pub(crate) fn inject_frame(&mut self, frame: &[u8]) -> Result<(), Failed> {
        self.card.ask(&json!({"do": "inject", "frame": hex(frame)}))?;
        Ok(())
    }

    /// Frames that the host has sent since last asked.
    pub(crate) fn sent(&mut self) -> Result<Vec<Vec<u8>>, Failed> {
        let answer = self.card.ask(&json!({"do": "sent"}))?;
        let frames = answer["frames"].as_array().ok_or("no frames")?;
        Ok(frames.iter().filter_map(Value::as_str).filter_map(unhex).collect())
    }

    /// Sends a datagram to everybody on the link, which needs no address resolution, and whether it gets onto the wire.
    pub(crate) fn leaves(&mut self, socket: &UdpSocket) -> Result<bool, Failed> {
        socket.set_broadcast(true)?;
        let payload = self.payload();
        self.sent()?;
        socket.send_to(&payload, (self.broadcast(), 7))?;
        // Sending is over when the card has seen it; give the queue a moment.
        let begin = Instant::now();
        while begin.elapsed() < GRACE * 3 {
            // A short frame is padded.
            let holds = |frame: &Vec<u8>| frame.windows(payload.len()).any(|part| part == payload);
            if self.sent()?.iter().any(holds) {
                return Ok(true);
            }
            std::thread::sleep(GRACE / 10);
        }
        Ok(false)
    }

    /// The broadcast address of the /24 network that the interface is in.
    fn broadcast(&self) -> Ipv4Addr {
        let [a, b, c, _] = self.address.octets();
        Ipv4Addr::new(a, b, c, 255)
    }

    /// Takes the interface down and up again.
    pub(crate) fn bounce(&self) -> Result<(), Failed> {
        const UP: u32 = 1;
        let path = self.interface.join("flags");
        let flags = fs::read_to_string(&path)?;
        let flags = u32::from_str_radix(flags.trim().trim_start_matches("0x"), 16)?;
        fs::write(&path, format!("{:#x}", flags & !UP))?;
        fs::write(&path, format!("{:#x}", flags | UP))?;
        self.wait_for_carrier()
    }

    /// Sets the greatest size of a packet, and gives the old one.
    pub(crate) fn set_mtu(&self, mtu: u32) -> Result<u32, Failed> {
        let path = self.interface.join("mtu");
        let old = fs::read_to_string(&path)?.trim().parse()?;
        fs::write(&path, mtu.to_string())?;
        self.wait_for_carrier()?;
        Ok(old)
    }

    fn wait_for_carrier(&self) -> Result<(), Failed> {
        let begin = Instant::now();
        while begin.elapsed() < PATIENCE {
            if fs::read_to_string(self.interface.join("operstate"))?.trim() == "up" {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Err("the link does not come up".into())
    }
}

/// An ordinary socket.
pub(crate) fn listen(port: u16) -> Result<UdpSocket, Failed> {
    Ok(UdpSocket::bind(SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), port))?)
}

/// Lets the socket take packets with this mark (`skb->mark`) only, in place of what it took before.
pub(crate) fn take_marked(socket: &UdpSocket, mark: u32) -> Result<(), Failed> {
    // linux/bpf_common.h, linux/filter.h
    const BPF_LD_W_ABS: u16 = 0x20;
    const BPF_JMP_JEQ_K: u16 = 0x15;
    const BPF_RET_K: u16 = 0x06;
    const SKF_AD_MARK: u32 = 0xffff_f000 + 20;
    let filter = [
        SockFilter::new(BPF_LD_W_ABS, 0, 0, SKF_AD_MARK),
        SockFilter::new(BPF_JMP_JEQ_K, 0, 1, mark),
        SockFilter::new(BPF_RET_K, 0, 0, u32::MAX),
        SockFilter::new(BPF_RET_K, 0, 0, 0),
    ];
    Ok(SockRef::from(socket).attach_filter(&filter)?)
}

/// Whether exactly this datagram is, or is about to be, in the socket.
pub(crate) fn receives(socket: &UdpSocket, payload: &[u8]) -> Result<bool, Failed> {
    socket.set_read_timeout(Some(GRACE))?;
    let mut buffer = vec![0; 10_000];
    match socket.recv(&mut buffer) {
        Ok(length) if buffer[..length] == *payload => Ok(true),
        Ok(length) => Err(format!("another datagram arrives, of {length} bytes").into()),
        Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn udp(
    source_mac: [u8; 6],
    destination_mac: [u8; 6],
    source: (Ipv4Addr, u16),
    destination: (Ipv4Addr, u16),
    payload: &[u8],
) -> Vec<u8> {
    let length = |header: usize| u16::try_from(header + payload.len()).expect("a datagram").to_be_bytes();
    let mut ip = vec![0x45, 0];
    ip.extend(length(28));
    ip.extend([0, 0, 0x40, 0, 64, 17, 0, 0]);
    ip.extend(source.0.octets());
    ip.extend(destination.0.octets());
    let checksum = checksum(&ip).to_be_bytes();
    ip[10..12].copy_from_slice(&checksum);

    let mut frame = [destination_mac, source_mac].concat();
    frame.extend([0x08, 0x00]);
    frame.extend(ip);
    frame.extend(source.1.to_be_bytes());
    frame.extend(destination.1.to_be_bytes());
    frame.extend(length(8));
    // No checksum, which IPv4 allows.
    frame.extend([0, 0]);
    frame.extend(payload);
    frame
}

fn checksum(bytes: &[u8]) -> u16 {
    let sum: u32 = bytes.chunks_exact(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]]))).sum();
    // One's complement addition is addition modulo 0xffff.
    u16::try_from(0xffff - sum % 0xffff).expect("at most 0xffff")
}

fn mac(text: &str) -> Option<[u8; 6]> {
    let bytes: Vec<u8> = text.trim().split(':').map_while(|byte| u8::from_str_radix(byte, 16).ok()).collect();
    bytes.try_into().ok()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(text.get(at..at + 2)?, 16).ok()).collect()
}
