//! Frames: from bytes to the headers in them and to the image that flow tables match, and back to bytes.
//!
//! Nothing here knows of tables or queues, and nothing here panics, whatever bytes it is given.

pub mod checksum;
pub mod edit;
pub mod headers;
pub mod image;
pub mod segment;
pub mod words;

pub use headers::Headers;
pub use image::Image;

/// The vport number of the uplink, the port towards the wire.
///
/// C: `MLX5_VPORT_UPLINK` (`include/linux/mlx5/vport.h`).
pub const UPLINK: u16 = 0xffff;

/// The shortest frame on a wire, in bytes, without the frame check sequence.
pub const SHORTEST: usize = 60;

/// What goes with a frame through the card, beside its bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    /// The vport that the frame comes from.
    pub source_port: u16,
    /// The send queue that the frame comes from, 0 for the wire.
    pub source_sqn: u32,
    /// Register A: on transmit, what the send queue entry says.
    pub reg_a: u32,
    /// Register B: on receive, what the completion reports.
    pub reg_b: u32,
    /// Registers C, 0 to 7.
    pub reg_c: [u32; 8],
    /// The flow tag that the completion reports, 24 bits.
    pub flow_tag: u32,
}

/// A frame on its way through the card.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// From the destination MAC address on, without the frame check sequence.
    pub bytes: Vec<u8>,
    /// What goes with it.
    pub metadata: Metadata,
}

impl Packet {
    /// A frame that came in from the wire.
    #[must_use]
    pub fn from_wire(bytes: Vec<u8>) -> Self {
        Self { bytes, metadata: Metadata { source_port: UPLINK, ..Metadata::default() } }
    }
}

/// Pads a frame to the shortest that a wire carries.
pub fn pad(frame: &mut Vec<u8>) {
    if frame.len() < SHORTEST {
        frame.resize(SHORTEST, 0);
    }
}

#[cfg(test)]
pub(crate) mod samples;
#[cfg(test)]
mod tests;
