//! From a receive object to a receive queue: directly, or through an indirection table by hash.

use super::Queues;
use super::hash::{Hash, Hashed};
use super::layouts::{create_rqt_in, rqtc};
use crate::command::refusal::{Refusal, Syndrome};
use crate::packet::Headers;
use uverbs_uapi::prm::{self, Field, tirc};

/// A queue number in a list.
const NUMBER: Field = Field::new(8, 24);
/// Bytes of a list item.
const ITEM: usize = 4;

/// An indirection table: receive queues by hash.
#[derive(Debug)]
pub(super) struct Indirection {
    pub(super) queues: Vec<u32>,
    pub(super) context: Vec<u8>,
}

impl Indirection {
    /// Reads a `create_rqt_in` or `modify_rqt_in`, which are alike.
    pub(super) fn read(input: &[u8]) -> Result<Self, Refusal> {
        let context = input.get(create_rqt_in::RQT_CONTEXT.byte()..).unwrap_or(&[]);
        let size = |field: Field| usize::try_from(field.get(context)).unwrap_or(usize::MAX);
        let (actual, most) = (size(rqtc::RQT_ACTUAL_SIZE), size(rqtc::RQT_MAX_SIZE));
        let list = context.get(rqtc::SIZE..).unwrap_or(&[]);
        // A modification leaves the maximum as it was, and 0 in its input.
        if actual == 0 || most != 0 && actual > most {
            return Err(Refusal::new(Syndrome::BadIndirection, format!("{actual} of at most {most}")));
        }
        let queues: Vec<u32> = list
            .chunks_exact(ITEM)
            .take(actual)
            .map(|item| u32::try_from(NUMBER.get(item)).unwrap_or(u32::MAX))
            .collect();
        if queues.len() < actual {
            let detail = format!("{} queues in the list of {actual}", queues.len());
            return Err(Refusal::new(Syndrome::ShortInput, detail));
        }
        Ok(Self { queues, context: context[..rqtc::SIZE + actual * ITEM].to_vec() })
    }
}

/// Where a receive object sends packets.
#[derive(Clone, Debug)]
pub(super) enum Dispatch {
    Direct(u32),
    Indirect(u32),
}

/// A receive object.
#[derive(Clone, Debug)]
pub(super) struct ReceiveObject {
    pub(super) uid: u16,
    pub(super) dispatch: Dispatch,
    pub(super) hash: Hash,
    pub(super) context: Vec<u8>,
}

impl ReceiveObject {
    /// Reads a `tirc`.
    pub(super) fn read(context: &[u8], uid: u16) -> Result<Self, Refusal> {
        let number = |field: Field| u32::try_from(field.get(context)).unwrap_or(u32::MAX);
        let Some(hash) = Hash::read(context) else {
            let function = tirc::RX_HASH_FN.get(context);
            return Err(Refusal::new(Syndrome::BadHash, format!("function {function}")));
        };
        let dispatch = match u8::try_from(tirc::DISP_TYPE.get(context)).unwrap_or(u8::MAX) {
            prm::MLX5_TIRC_DISP_TYPE_DIRECT => Dispatch::Direct(number(tirc::INLINE_RQN)),
            prm::MLX5_TIRC_DISP_TYPE_INDIRECT => Dispatch::Indirect(number(tirc::INDIRECT_TABLE)),
            kind => return Err(Refusal::new(Syndrome::BadIndirection, format!("dispatch type {kind}"))),
        };
        Ok(Self { uid, dispatch, hash, context: context.to_vec() })
    }
}

/// The queue that a packet goes to.
pub(super) struct Choice {
    pub(super) rq: u32,
    pub(super) rqt: Option<u32>,
    pub(super) hashed: Hashed,
}

impl Queues {
    /// The queue for a packet, or where and why there is none.
    pub(super) fn choose(
        &self,
        tir: u32,
        headers: &Headers,
        frame: &[u8],
    ) -> Result<Choice, (String, &'static str)> {
        let Some(object) = self.receivers.get(&tir) else {
            return Err((format!("TIR {tir:#x}"), "the receive object is gone"));
        };
        let hashed = object.hash.of(headers, frame);
        match object.dispatch {
            Dispatch::Direct(rq) => Ok(Choice { rq, rqt: None, hashed }),
            Dispatch::Indirect(rqt) => {
                let queues = self.indirections.get(&rqt).map_or(&[][..], |i| &i.queues);
                let slot = (hashed.value as usize).checked_rem(queues.len());
                let Some(&rq) = slot.and_then(|slot| queues.get(slot)) else {
                    return Err((format!("TIR {tir:#x} RQT {rqt:#x}"), "the indirection table is gone"));
                };
                Ok(Choice { rq, rqt: Some(rqt), hashed })
            }
        }
    }

    /// The kernel's receive object that a packet would most likely reach: for when the flow tables are bypassed.
    #[must_use]
    pub fn likely_receiver(&self, headers: &Headers, frame: &[u8]) -> Option<u32> {
        let ready = |tir: u32| {
            self.choose(tir, headers, frame)
                .is_ok_and(|c| self.receive.get(&c.rq).is_some_and(|q| q.state == super::state::State::Ready))
        };
        let of_kernel = || self.receivers.iter().filter(|(tir, object)| object.uid == 0 && ready(**tir));
        of_kernel()
            .find(|(_, object)| object.hash.fits(headers, frame))
            .or_else(|| of_kernel().find(|(_, object)| object.hash.is_for_all()))
            .map(|(&tir, _)| tir)
    }
}
