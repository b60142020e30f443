//! Flow counters.

use uverbs_uapi::prm::{
    self, alloc_flow_counter_in as alloc_in, alloc_flow_counter_out as alloc_out,
    query_flow_counter_in as query_in, query_flow_counter_out as query_out, traffic_counter,
};

use super::shared::Shared;
use crate::{
    Context, DestroyError, Result,
    devx::{Inbox, Object},
};

/// Counts the packets of the entries and flows that name it.
///
/// A handle: clones are the same counter, which goes when the last clone, entry and flow is gone.
#[doc(alias = "MLX5_CMD_OP_ALLOC_FLOW_COUNTER")]
#[derive(Clone, Debug)]
pub struct FlowCounter(Shared);

/// What a counter has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Count {
    /// Packets.
    pub packets: u64,
    /// Bytes of those packets, from the Ethernet header on.
    pub bytes: u64,
}

impl FlowCounter {
    /// Makes a counter at zero.
    ///
    /// # Errors
    /// [`Error::Refused`](crate::Error::Refused) if the card has none left; `EINVAL` if the context has no DEVX.
    pub fn create(context: &Context) -> Result<Self> {
        let inbox = Inbox::<{ alloc_in::SIZE }>::new(prm::MLX5_CMD_OP_ALLOC_FLOW_COUNTER);
        let id = alloc_out::FLOW_COUNTER_ID;
        Shared::create::<{ alloc_out::SIZE }>(context, inbox.as_ref(), id).map(Self)
    }

    /// What was counted so far.
    ///
    /// # Errors
    /// The firmware's.
    #[doc(alias = "MLX5_CMD_OP_QUERY_FLOW_COUNTER")]
    pub fn query(&self) -> Result<Count> {
        self.read(false)
    }

    /// What was counted so far, and begins at zero again.
    ///
    /// # Errors
    /// The firmware's.
    pub fn take(&self) -> Result<Count> {
        self.read(true)
    }

    fn read(&self, clear: bool) -> Result<Count> {
        let mut inbox = Inbox::<{ query_in::SIZE }>::new(prm::MLX5_CMD_OP_QUERY_FLOW_COUNTER);
        inbox.set(query_in::CLEAR, clear.into());
        inbox.set(query_in::FLOW_COUNTER_ID, self.0.id().into());
        let mut outbox = [0; query_out::SIZE + traffic_counter::SIZE];
        self.object().query(inbox.as_ref(), &mut outbox)?;
        let statistics = &outbox[query_out::SIZE..];
        Ok(Count {
            packets: traffic_counter::PACKETS.get(statistics),
            bytes: traffic_counter::OCTETS.get(statistics),
        })
    }

    /// The firmware's number of the counter.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.0.id()
    }

    /// The firmware object.
    #[must_use]
    pub fn object(&self) -> &Object {
        self.0.object()
    }

    /// Destroys the counter.
    ///
    /// # Errors
    /// With the counter: [`Invalid::InUse`](super::Invalid::InUse) if an entry, a flow or another clone holds it; the firmware's.
    pub fn destroy(self) -> Result<(), DestroyError<Self>> {
        self.0.destroy().map_err(|(shared, error)| DestroyError::new(Self(shared), error))
    }
}
