//! Adding and removing headers.

use uverbs_uapi::prm::{
    self, alloc_packet_reformat_context_in as alloc_in, alloc_packet_reformat_context_out as alloc_out,
    packet_reformat_context_in as reformat_in,
};

use super::{Invalid, shared::Shared};
use crate::{
    Context, DestroyError, Result,
    devx::{Inbox, Object},
};

/// What is done to a packet's headers.
///
/// To remove a tunnel's headers up to the inner Ethernet header, no such object is needed: see
/// [`Actions::decapsulate`](super::Actions::decapsulate).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReformatKind {
    /// Puts the given headers in front of the packet, such as Ethernet, IP, UDP and VXLAN headers.
    #[doc(alias = "MLX5_REFORMAT_TYPE_L2_TO_L2_TUNNEL")]
    EncapsulateL2,
    /// Puts the given headers in place of the packet's Ethernet header.
    #[doc(alias = "MLX5_REFORMAT_TYPE_L2_TO_L3_TUNNEL")]
    EncapsulateL3,
    /// Puts the given Ethernet header in place of a tunnel's headers up to the inner IP header.
    #[doc(alias = "MLX5_REFORMAT_TYPE_L3_TUNNEL_TO_L2")]
    DecapsulateL3,
}

/// Room for headers; together with the command a round number.
const MOST: usize = 256;

/// Headers to add or to put in place of others, for entries of own tables.
///
/// A handle: clones are the same object, which goes when the last clone and entry is gone.
#[doc(alias = "MLX5_CMD_OP_ALLOC_PACKET_REFORMAT_CONTEXT")]
#[derive(Clone, Debug)]
pub struct PacketReformat(Shared);

impl PacketReformat {
    /// Gives the firmware the headers, at most 256 bytes.
    ///
    /// # Errors
    /// [`Error::Refused`](crate::Error::Refused) if the card cannot do it or takes fewer bytes.
    pub fn create(context: &Context, kind: ReformatKind, headers: &[u8]) -> Result<Self> {
        if headers.len() > MOST {
            let (what, value) = ("length of the headers", headers.len() as u64);
            return Err(Invalid::TooGreat { what, value, maximum: MOST as u64 }.into());
        }
        let number = match kind {
            ReformatKind::EncapsulateL2 => prm::MLX5_REFORMAT_TYPE_L2_TO_L2_TUNNEL,
            ReformatKind::EncapsulateL3 => prm::MLX5_REFORMAT_TYPE_L2_TO_L3_TUNNEL,
            ReformatKind::DecapsulateL3 => prm::MLX5_REFORMAT_TYPE_L3_TUNNEL_TO_L2,
        };
        let context_at = alloc_in::PACKET_REFORMAT_CONTEXT;
        let data = context_at.then(reformat_in::REFORMAT_DATA).byte();
        let mut inbox =
            Inbox::<{ alloc_in::SIZE + MOST }>::new(prm::MLX5_CMD_OP_ALLOC_PACKET_REFORMAT_CONTEXT);
        inbox.set(context_at.then(reformat_in::REFORMAT_TYPE), number.into());
        inbox.set(context_at.then(reformat_in::REFORMAT_DATA_SIZE), headers.len() as u64);
        inbox.fill_from(data, headers);
        // The structure has room for two bytes; the command is as long as what follows makes it, in whole words.
        let length = alloc_in::SIZE.max((data + headers.len()).next_multiple_of(4));
        let id = alloc_out::PACKET_REFORMAT_ID;
        Shared::create::<{ alloc_out::SIZE }>(context, &inbox.as_ref()[..length], id).map(Self)
    }

    /// The firmware's number of the object.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.0.id()
    }

    /// The firmware object.
    #[must_use]
    pub fn object(&self) -> &Object {
        self.0.object()
    }

    /// Destroys the object.
    ///
    /// # Errors
    /// With the object: [`Invalid::InUse`] if an entry or another clone holds it; the firmware's.
    pub fn destroy(self) -> Result<(), DestroyError<Self>> {
        self.0.destroy().map_err(|(shared, error)| DestroyError::new(Self(shared), error))
    }
}
