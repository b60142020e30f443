//! Large send offload: one large TCP or UDP datagram becomes many.

use super::checksum::put;
use super::edit::set_lengths;
use super::headers::{Headers, Layer, Transport, be16, be32};

/// TCP flags that only the last segment keeps: FIN, PSH.
const LAST_ONLY: u16 = 0x09;
/// The TCP flag that only the first segment keeps: CWR.
const FIRST_ONLY: u16 = 0x80;

/// Cuts `payload` into pieces of at most `size` bytes, each behind a copy of `header`, whose numbers go on from segment
/// to segment: lengths, IPv4 identification, TCP sequence number and flags. Checksums are left to the caller.
///
/// The innermost transport header is the one that is cut. A `size` of 0 does not cut at all.
#[must_use]
pub fn segments(header: &[u8], payload: &[u8], size: usize) -> Vec<Vec<u8>> {
    let size = if size == 0 { payload.len().max(1) } else { size };
    let count = payload.len().div_ceil(size).max(1);
    (0..count)
        .map(|index| {
            let piece = &payload[(index * size).min(payload.len())..((index + 1) * size).min(payload.len())];
            let mut frame = [header, piece].concat();
            number(&mut frame, index, count, index * size);
            frame
        })
        .collect()
}

fn number(frame: &mut [u8], index: usize, count: usize, sent: usize) {
    // The header announces the length of the whole: correct it outside in, so that the parser sees the inner layer.
    let end = frame.len();
    if let Some(network) = Headers::parse(frame).outer.network {
        set_lengths(frame, &network, end);
    }
    if let Some(network) = Headers::parse(frame).inner.and_then(|i| i.network) {
        set_lengths(frame, &network, end);
    }
    let headers = Headers::parse(frame);
    for layer in [Some(headers.outer), headers.inner].into_iter().flatten() {
        identify(frame, &layer, index);
    }
    let innermost = headers.inner.unwrap_or(headers.outer);
    if let Some(Transport::Tcp(at)) = innermost.transport {
        advance(frame, at, index, count, sent);
    }
}

#[expect(clippy::cast_possible_truncation, reason = "identification and sequence numbers wrap")]
fn identify(frame: &mut [u8], layer: &Layer, index: usize) {
    if let Some(network) = layer.network.filter(|n| n.version == 4) {
        let first = be16(frame, network.at + 4).unwrap_or(0);
        put(frame, network.at + 4, first.wrapping_add(index as u16));
    }
}

#[expect(clippy::cast_possible_truncation, reason = "identification and sequence numbers wrap")]
fn advance(frame: &mut [u8], tcp: usize, index: usize, count: usize, sent: usize) {
    let sequence = be32(frame, tcp + 4).unwrap_or(0).wrapping_add(sent as u32);
    if let Some(bytes) = frame.get_mut(tcp + 4..tcp + 8) {
        bytes.copy_from_slice(&sequence.to_be_bytes());
    }
    let mut flags = be16(frame, tcp + 12).unwrap_or(0);
    if index + 1 < count {
        flags &= !LAST_ONLY;
    }
    if index > 0 {
        flags &= !FIRST_ONLY;
    }
    put(frame, tcp + 12, flags);
}
