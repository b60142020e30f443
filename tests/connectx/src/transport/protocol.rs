//! The vfio-user messages that QEMU sends: how they look, and what each asks of the card.
//!
//! Protocol 0.0, which is all that QEMU accepts; numbers are little-endian.

use std::fs::File;
use std::os::fd::OwnedFd;

use crate::memory::Memory;

/// Bytes of a message's header.
pub(super) const HEADER: usize = 16;
/// QEMU sends at most 1 MiB of data in one message: a longer one is none.
pub(super) const LONGEST: usize = HEADER + 64 + (1 << 20);

const VERSION: u16 = 1;
const DMA_MAP: u16 = 2;
const DMA_UNMAP: u16 = 3;
const GET_INFO: u16 = 4;
const GET_REGION_INFO: u16 = 5;
const GET_IRQ_INFO: u16 = 7;
const SET_IRQS: u16 = 8;
const REGION_READ: u16 = 9;
const REGION_WRITE: u16 = 10;
const RESET: u16 = 13;

const REPLY: u32 = 1;
const NO_REPLY: u32 = 1 << 4;
const ERROR: u32 = 1 << 5;
const EINVAL: u32 = 22;

const DEVICE_RESET: u32 = 1;
const DEVICE_PCI: u32 = 2;
const REGIONS: u32 = 9;
const IRQS: u32 = 5;
const READ_WRITE: u32 = 3;
const EVENTFD_NO_RESIZE: u32 = 1 | 8;
/// `SET_IRQS`: no data, or eventfds.
const IRQ_DATA_NONE: u32 = 1;
const IRQ_DATA_EVENTFD: u32 = 4;

const CAPABILITIES: &str = r#"{"capabilities":{"max_msg_fds":16,"max_data_xfer_size":1048576}}"#;

/// What the card is asked, in vfio's terms.
pub(crate) trait Device {
    /// Size of a region, 0 if there is none.
    fn region_size(&self, region: u32) -> u64;
    /// Number of interrupt vectors of an index.
    fn irq_count(&self, index: u32) -> u32;
    /// Reads a region.
    fn read(&mut self, region: u32, offset: u64, buffer: &mut [u8]);
    /// Writes a region.
    fn write(&mut self, memory: &Memory, region: u32, offset: u64, bytes: &[u8]);
    /// Sets or takes away the eventfd of a vector.
    fn set_irq(&mut self, index: u32, vector: u32, eventfd: Option<OwnedFd>);
    /// Resets the function.
    fn reset(&mut self);
}

/// A message's header.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    id: u16,
    command: u16,
    /// Bytes of the message, header included.
    pub(super) size: usize,
    flags: u32,
}

impl Header {
    pub(super) fn parse(bytes: &[u8; HEADER]) -> Self {
        let mut fields = Reader(bytes);
        Self { id: fields.u16(), command: fields.u16(), size: fields.u32() as usize, flags: fields.u32() }
    }
}

/// Executes a message and gives the reply, unless none is wanted.
pub(super) fn execute(
    header: Header,
    body: &[u8],
    fds: Vec<OwnedFd>,
    memory: &mut Memory,
    device: &mut dyn Device,
) -> Option<Vec<u8>> {
    let answer = answer(header.command, body, fds, memory, device);
    if header.flags & NO_REPLY != 0 {
        return None;
    }
    let (flags, errno, answer) = match answer {
        Some(answer) => (REPLY, 0, answer),
        None => (REPLY | ERROR, EINVAL, Vec::new()),
    };
    let mut reply = Vec::with_capacity(HEADER + answer.len());
    reply.extend(header.id.to_le_bytes());
    reply.extend(header.command.to_le_bytes());
    reply.extend(u32::try_from(HEADER + answer.len()).unwrap_or(u32::MAX).to_le_bytes());
    reply.extend(flags.to_le_bytes());
    reply.extend(errno.to_le_bytes());
    reply.extend(answer);
    Some(reply)
}

/// The body of the reply; `None` if the message makes no sense.
fn answer(
    command: u16,
    body: &[u8],
    fds: Vec<OwnedFd>,
    memory: &mut Memory,
    device: &mut dyn Device,
) -> Option<Vec<u8>> {
    let mut fields = Reader(body);
    let mut reply = Vec::new();
    let mut put = |numbers: &[u32]| reply.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    match command {
        VERSION => {
            put(&[0]);
            reply.extend(CAPABILITIES.as_bytes());
            reply.push(0);
        }
        DMA_MAP => {
            let (_, _) = (fields.u32(), fields.u32());
            let (offset, address, size) = (fields.u64(), fields.u64(), fields.u64());
            memory.map(address, size, offset, fds.into_iter().next().map(File::from));
        }
        DMA_UNMAP => {
            let (_, _) = (fields.u32(), fields.u32());
            let (address, size) = (fields.u64(), fields.u64());
            memory.unmap(address, size);
            reply.extend(body.iter().take(24));
        }
        GET_INFO => put(&[16, DEVICE_RESET | DEVICE_PCI, REGIONS, IRQS]),
        GET_REGION_INFO => {
            let (_, _, region) = (fields.u32(), fields.u32(), fields.u32());
            let size = device.region_size(region);
            put(&[32, if size > 0 { READ_WRITE } else { 0 }, region, 0]);
            reply.extend(size.to_le_bytes());
            // QEMU only hands the offset back to itself.
            reply.extend((u64::from(region) << 40).to_le_bytes());
        }
        GET_IRQ_INFO => {
            let (_, _, index) = (fields.u32(), fields.u32(), fields.u32());
            let count = device.irq_count(index);
            put(&[16, if count > 0 { EVENTFD_NO_RESIZE } else { 0 }, index, count]);
        }
        SET_IRQS => {
            let (_, flags, index) = (fields.u32(), fields.u32(), fields.u32());
            let (start, count) = (fields.u32(), fields.u32());
            set_irqs(device, flags, index, start, count, fds);
        }
        REGION_READ => {
            let (offset, region, count) = (fields.u64(), fields.u32(), fields.u32() as usize);
            if count > LONGEST {
                return None;
            }
            let mut data = vec![0; count];
            device.read(region, offset, &mut data);
            reply.extend(body.iter().take(16));
            reply.extend(data);
        }
        REGION_WRITE => {
            let (offset, region, count) = (fields.u64(), fields.u32(), fields.u32() as usize);
            let data = fields.0.get(..count)?;
            device.write(memory, region, offset, data);
            reply.extend(body.iter().take(16));
        }
        RESET => device.reset(),
        _ => return None,
    }
    Some(reply)
}

fn set_irqs(device: &mut dyn Device, flags: u32, index: u32, start: u32, count: u32, fds: Vec<OwnedFd>) {
    let known = device.irq_count(index);
    let end = start.saturating_add(count).min(known);
    let mut fds = fds.into_iter();
    if flags & IRQ_DATA_NONE != 0 && count == 0 {
        (0..known).for_each(|vector| device.set_irq(index, vector, None));
    } else if flags & (IRQ_DATA_EVENTFD | IRQ_DATA_NONE) != 0 {
        // Fewer descriptors than vectors take the others away.
        (start..end).for_each(|vector| device.set_irq(index, vector, fds.next()));
    }
}

/// Reads numbers one after the other; behind the end they are 0.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        let there = N.min(self.0.len());
        bytes[..there].copy_from_slice(&self.0[..there]);
        self.0 = &self.0[there..];
        bytes
    }

    fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.take())
    }

    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }

    fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }
}
