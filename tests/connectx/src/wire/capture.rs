//! Capture files: pcap and pcapng to read, pcap to write.

use pcap_file::pcap::{PcapHeader, PcapPacket, PcapReader, PcapWriter};
use pcap_file::pcapng::{Block, PcapNgReader};
use pcap_file::{DataLink, Endianness, PcapError};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The first bytes of a pcapng file.
const PCAPNG: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];

/// The frames of a capture file, in order.
#[derive(Debug, Default)]
pub(super) struct Input {
    frames: VecDeque<Vec<u8>>,
    given: u64,
}

impl Input {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let mut file = BufReader::new(File::open(path)?);
        let mut magic = [0; 4];
        file.read_exact(&mut magic)?;
        file.seek(SeekFrom::Start(0))?;
        let frames = if magic == PCAPNG { read_pcapng(file) } else { read_pcap(file) };
        let frames = frames.map_err(|error| io::Error::other(format!("{}: {error}", path.display())))?;
        Ok(Self { frames, given: 0 })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// The next frame and its number, from 1.
    pub(super) fn next(&mut self) -> Option<(u64, Vec<u8>)> {
        let frame = self.frames.pop_front()?;
        self.given += 1;
        Some((self.given, frame))
    }
}

fn ethernet(link: DataLink) -> Result<(), PcapError> {
    if link == DataLink::ETHERNET {
        Ok(())
    } else {
        Err(PcapError::InvalidField("not a capture of Ethernet frames"))
    }
}

fn read_pcap(file: impl Read) -> Result<VecDeque<Vec<u8>>, PcapError> {
    let mut reader = PcapReader::new(file)?;
    ethernet(reader.header().datalink)?;
    let mut frames = VecDeque::new();
    while let Some(packet) = reader.next_packet() {
        frames.push_back(packet?.data.into_owned());
    }
    Ok(frames)
}

fn read_pcapng(file: impl Read) -> Result<VecDeque<Vec<u8>>, PcapError> {
    let mut reader = PcapNgReader::new(file)?;
    let mut frames = VecDeque::new();
    while let Some(block) = reader.next_block() {
        match block? {
            Block::InterfaceDescription(interface) => ethernet(interface.linktype)?,
            Block::EnhancedPacket(packet) => frames.push_back(packet.data.into_owned()),
            Block::SimplePacket(packet) => frames.push_back(packet.data.into_owned()),
            Block::Packet(packet) => frames.push_back(packet.data.into_owned()),
            _ => {}
        }
    }
    Ok(frames)
}

/// A capture file that is being written: little endian, microseconds, which every reader knows.
pub(super) struct Output {
    writer: PcapWriter<File>,
    error: Option<io::Error>,
}

impl std::fmt::Debug for Output {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Output").field("error", &self.error).finish_non_exhaustive()
    }
}

impl Output {
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        let header = PcapHeader { endianness: Endianness::Little, ..PcapHeader::default() };
        let writer = PcapWriter::with_header(File::create(path)?, header).map_err(io::Error::other)?;
        Ok(Self { writer, error: None })
    }

    /// Appends a frame; after an error nothing more is written.
    pub(super) fn write(&mut self, frame: &[u8]) {
        if self.error.is_some() {
            return;
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        let length = u32::try_from(frame.len()).unwrap_or(u32::MAX);
        if let Err(error) = self.writer.write_packet(&PcapPacket::new(now, length, frame)) {
            self.error = Some(io::Error::other(error));
        }
    }

    pub(super) fn error(&self) -> Option<&io::Error> {
        self.error.as_ref()
    }
}
