//! Queue pairs: their states. No work request of theirs is executed.

use std::collections::HashMap;

use uverbs_uapi::prm;

use crate::command::{Answer, Reply, Request};
use crate::layouts::{create_qp_out, qpc, query_qp_in, query_qp_out};
use crate::objects::{Kind, Objects};

/// States, as `QUERY_QP` tells them.
const RESET: u8 = 0;
const INIT: u8 = 1;
const READY_TO_RECEIVE: u8 = 2;
const READY_TO_SEND: u8 = 3;
const ERROR: u8 = 6;

/// The states of all queue pairs.
#[derive(Debug, Default)]
pub(crate) struct QueuePairs(HashMap<u32, u8>);

impl QueuePairs {
    pub(crate) fn command(
        &mut self,
        request: &Request<'_>,
        reply: &mut Reply<'_>,
        objects: &Objects,
    ) -> Option<Answer> {
        let state = match request.opcode {
            prm::MLX5_CMD_OP_RST2INIT_QP | prm::MLX5_CMD_OP_INIT2INIT_QP => Some(INIT),
            prm::MLX5_CMD_OP_INIT2RTR_QP => Some(READY_TO_RECEIVE),
            prm::MLX5_CMD_OP_RTR2RTS_QP
            | prm::MLX5_CMD_OP_RTS2RTS_QP
            | prm::MLX5_CMD_OP_SQERR2RTS_QP
            | prm::MLX5_CMD_OP_SQD_RTS_QP => Some(READY_TO_SEND),
            prm::MLX5_CMD_OP_2ERR_QP => Some(ERROR),
            prm::MLX5_CMD_OP_2RST_QP => Some(RESET),
            prm::MLX5_CMD_OP_QUERY_QP => None,
            _ => return None,
        };
        // All these commands have the number at the same place.
        let id = request.get32(query_qp_in::QPN);
        if let Err(refusal) = objects.check(Kind::QueuePair, id, request.uid) {
            return Some(Err(refusal));
        }
        if let Some(state) = state {
            self.0.insert(id, state);
        } else {
            let state = self.0.get(&id).copied().unwrap_or(RESET);
            reply.set(query_qp_out::QPC.then(qpc::STATE), state.into());
        }
        Some(Ok(format!("QueuePair {id:#x}")))
    }
}

const _: () = assert!(create_qp_out::QPN.offset == query_qp_in::QPN.offset);
