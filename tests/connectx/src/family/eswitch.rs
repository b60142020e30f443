//! The embedded switch, as its manager sees it.

use uverbs_uapi::prm;

use crate::command::{Answer, Request};

/// Executes a command of this family: one uplink, no other functions, and contexts that hold nothing.
pub(crate) fn command(request: &Request<'_>) -> Option<Answer> {
    match request.opcode {
        prm::MLX5_CMD_OP_QUERY_ESW_FUNCTIONS
        | prm::MLX5_CMD_OP_QUERY_ESW_VPORT_CONTEXT
        | prm::MLX5_CMD_OP_MODIFY_ESW_VPORT_CONTEXT => Some(Ok(String::new())),
        _ => None,
    }
}
