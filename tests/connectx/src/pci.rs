//! The PCI configuration space.

/// Size of the extended configuration space.
pub const SIZE: usize = 4096;
/// Size of the one BAR.
pub const BAR0_SIZE: u64 = 32 << 20;
/// MSI-X vectors.
pub const VECTORS: u16 = 64;

/// A physical and a virtual function of a ConnectX-6 Dx.
pub const PHYSICAL: u16 = 0x101d;
/// See [`PHYSICAL`].
pub const VIRTUAL: u16 = 0x101e;

const MELLANOX: u16 = 0x15b3;
const SUBSYSTEM: u16 = 0x0001;
const ETHERNET_CONTROLLER: [u8; 3] = [0x00, 0x00, 0x02];
/// Memory, 64 bits, prefetchable.
const BAR0_TYPE: u32 = 0b1100;
const HAS_CAPABILITIES: u16 = 1 << 4;

const PM: u8 = 0x40;
const EXPRESS: u8 = 0x60;
const MSIX: u8 = 0x9c;
const MSIX_CONTROL: u8 = MSIX + 2;
const MSIX_TABLE: u32 = 0x4000;
const MSIX_PENDING: u32 = 0x5000;

/// What the guest may write: command, cache line, latency, interrupt line, power state, express device control, and
/// the two upper bits of the MSI-X control word.
const WRITABLE: &[(u8, u8)] = &[
    (0x04, 0xff),
    (0x05, 0xff),
    (0x0c, 0xff),
    (0x0d, 0xff),
    (0x3c, 0xff),
    (PM + 4, 0x03),
    (EXPRESS + 8, 0xff),
    (EXPRESS + 9, 0x7f),
    (MSIX_CONTROL + 1, 0xc0),
];

/// The configuration space of a function.
#[derive(Debug)]
pub struct Config {
    device: u16,
    bytes: Vec<u8>,
}

impl Config {
    /// The space of a function with this device id, as after reset.
    #[must_use]
    pub fn new(device: u16) -> Self {
        let mut bytes = vec![0; SIZE];
        let mut put = |at: u8, value: &[u8]| {
            let at = usize::from(at);
            bytes[at..at + value.len()].copy_from_slice(value);
        };
        put(0x00, &MELLANOX.to_le_bytes());
        put(0x02, &device.to_le_bytes());
        put(0x06, &HAS_CAPABILITIES.to_le_bytes());
        put(0x09, &ETHERNET_CONTROLLER);
        put(0x10, &BAR0_TYPE.to_le_bytes());
        put(0x2c, &MELLANOX.to_le_bytes());
        put(0x2e, &SUBSYSTEM.to_le_bytes());
        put(0x34, &[PM]);
        put(0x3d, &[1]); // INTA
        put(PM, &[0x01, EXPRESS, 0x03, 0x00, 0x08]); // version 3, no soft reset
        put(EXPRESS, &[0x10, MSIX, 0x02, 0x00]); // version 2, an endpoint
        put(EXPRESS + 4, &0x1000_8fe2_u32.to_le_bytes()); // can be reset by itself
        put(EXPRESS + 0x0c, &0x0000_0103_u32.to_le_bytes()); // x16, 8 GT/s
        put(EXPRESS + 0x12, &0x0103_u16.to_le_bytes());
        put(MSIX, &[0x11, 0x00]);
        put(MSIX_CONTROL, &(VECTORS - 1).to_le_bytes());
        put(MSIX + 4, &MSIX_TABLE.to_le_bytes());
        put(MSIX + 8, &MSIX_PENDING.to_le_bytes());
        Self { device, bytes }
    }

    /// Reads; behind the end all is 0.
    pub fn read(&self, offset: u64, buffer: &mut [u8]) {
        let offset = usize::try_from(offset).unwrap_or(SIZE);
        for (index, byte) in buffer.iter_mut().enumerate() {
            *byte = self.bytes.get(offset.saturating_add(index)).copied().unwrap_or(0);
        }
    }

    /// Writes what may be written; QEMU keeps the BAR by itself.
    pub fn write(&mut self, offset: u64, bytes: &[u8]) {
        let offset = usize::try_from(offset).unwrap_or(SIZE);
        for (index, byte) in bytes.iter().enumerate() {
            let at = offset.saturating_add(index);
            if let Some((_, mask)) = WRITABLE.iter().find(|(writable, _)| usize::from(*writable) == at) {
                self.bytes[at] = self.bytes[at] & !mask | byte & mask;
            }
        }
    }

    /// Back to what it was after power-on.
    pub fn reset(&mut self) {
        *self = Self::new(self.device);
    }
}

#[cfg(test)]
mod tests {
    use super::{BAR0_TYPE, Config, MSIX_CONTROL, PHYSICAL};

    fn read<const N: usize>(config: &Config, at: u64) -> [u8; N] {
        let mut bytes = [0; N];
        config.read(at, &mut bytes);
        bytes
    }

    #[test]
    fn identity_and_vector_count_cannot_be_overwritten() {
        let mut config = Config::new(PHYSICAL);
        config.write(0, &[0xff; 64]);
        config.write(MSIX_CONTROL.into(), &[0xff; 2]);
        assert_eq!(read(&config, 0), [0xb3, 0x15, 0x1d, 0x10]);
        assert_eq!(read(&config, 0x10), BAR0_TYPE.to_le_bytes());
        assert_eq!(read(&config, MSIX_CONTROL.into()), [63, 0xc0]);
    }

    #[test]
    fn the_capability_list_ends() {
        let config = Config::new(PHYSICAL);
        let (mut at, mut found) = (read::<1>(&config, 0x34)[0], Vec::new());
        while at != 0 {
            let [id, next] = read(&config, at.into());
            found.push(id);
            at = next;
            assert!(found.len() < 10);
        }
        assert_eq!(found, [0x01, 0x10, 0x11]);
    }
}
