//! User contexts, the memory they register, and general objects.

use uverbs_uapi::prm::{
    self, create_uctx_in, create_uctx_out, create_umem_out, destroy_uctx_in, destroy_umem_in,
    general_obj_in_cmd_hdr, general_obj_out_cmd_hdr, uctx,
};

use crate::command::{Answer, Reply, Request};
use crate::objects::{Kind, Leak, Objects};

/// What a command of this family did.
pub(crate) struct Done {
    pub(crate) answer: Answer,
    /// What a user context that ended had not destroyed.
    pub(crate) left: Vec<Leak>,
}

pub(crate) fn command(request: &Request<'_>, reply: &mut Reply<'_>, objects: &mut Objects) -> Option<Done> {
    let mut left = Vec::new();
    let release = |objects: &mut Objects, kind, id| {
        objects.release(kind, id, request.uid).map(|()| format!("{kind:?} {id:#x}"))
    };
    let answer = match request.opcode {
        prm::MLX5_CMD_OP_CREATE_UCTX => {
            let id = objects.allocate(Kind::UserContext, request.uid, request.opcode);
            reply.set(create_uctx_out::UID, id.into());
            Ok(format!("-> uid {id} capabilities {:#x}", request.get(create_uctx_in::UCTX.then(uctx::CAP))))
        }
        prm::MLX5_CMD_OP_DESTROY_UCTX => {
            let id = request.get32(destroy_uctx_in::UID);
            left = u16::try_from(id).map_or_else(|_| Vec::new(), |uid| objects.of(uid));
            release(objects, Kind::UserContext, id)
        }
        prm::MLX5_CMD_OP_CREATE_UMEM => {
            let id = objects.allocate(Kind::UserMemory, request.uid, request.opcode);
            reply.set(create_umem_out::UMEM_ID, id.into());
            Ok(format!("-> umem {id:#x}"))
        }
        prm::MLX5_CMD_OP_DESTROY_UMEM => {
            release(objects, Kind::UserMemory, request.get32(destroy_umem_in::UMEM_ID))
        }
        prm::MLX5_CMD_OP_CREATE_GENERAL_OBJECT => {
            let id = objects.allocate(Kind::General, request.uid, request.opcode);
            reply.set(general_obj_out_cmd_hdr::OBJ_ID, id.into());
            Ok(format!("-> type {:#x} object {id:#x}", request.get(general_obj_in_cmd_hdr::OBJ_TYPE)))
        }
        prm::MLX5_CMD_OP_DESTROY_GENERAL_OBJECT => {
            release(objects, Kind::General, request.get32(general_obj_in_cmd_hdr::OBJ_ID))
        }
        prm::MLX5_CMD_OP_MODIFY_GENERAL_OBJECT | prm::MLX5_CMD_OP_QUERY_GENERAL_OBJECT => {
            let id = request.get32(general_obj_in_cmd_hdr::OBJ_ID);
            objects.check(Kind::General, id, request.uid).map(|()| format!("object {id:#x}"))
        }
        prm::MLX5_CMD_OP_SYNC_STEERING => Ok(String::new()),
        _ => return None,
    };
    Some(Done { answer, left })
}
