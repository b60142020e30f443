//! User contexts, the memory they register, and general objects.

use uverbs_uapi::prm::{
    self, Field, create_uctx_in, create_uctx_out, create_umem_out, destroy_uctx_in, destroy_umem_in,
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
    let answer = match request.opcode {
        prm::MLX5_CMD_OP_CREATE_UCTX => create_user_context(request, reply, objects),
        prm::MLX5_CMD_OP_DESTROY_UCTX => {
            let id = request.get32(destroy_uctx_in::UID);
            let released = release(request, objects, Kind::UserContext, id);
            if let (Ok(_), Ok(uid)) = (&released, u16::try_from(id)) {
                left = objects.of(uid);
            }
            released
        }
        prm::MLX5_CMD_OP_CREATE_UMEM => {
            create(request, reply, objects, Kind::UserMemory, create_umem_out::UMEM_ID)
        }
        prm::MLX5_CMD_OP_DESTROY_UMEM => {
            release(request, objects, Kind::UserMemory, request.get32(destroy_umem_in::UMEM_ID))
        }
        prm::MLX5_CMD_OP_CREATE_GENERAL_OBJECT => {
            create(request, reply, objects, Kind::General, general_obj_out_cmd_hdr::OBJ_ID)
                .map(|note| format!("{note} type {:#x}", request.get(general_obj_in_cmd_hdr::OBJ_TYPE)))
        }
        prm::MLX5_CMD_OP_DESTROY_GENERAL_OBJECT => {
            release(request, objects, Kind::General, request.get32(general_obj_in_cmd_hdr::OBJ_ID))
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

fn create_user_context(request: &Request<'_>, reply: &mut Reply<'_>, objects: &mut Objects) -> Answer {
    let id = objects.allocate(Kind::UserContext, request.uid, request.opcode)?;
    reply.set(create_uctx_out::UID, id.into());
    Ok(format!("-> uid {id} capabilities {:#x}", request.get(create_uctx_in::UCTX.then(uctx::CAP))))
}

fn create(
    request: &Request<'_>,
    reply: &mut Reply<'_>,
    objects: &mut Objects,
    kind: Kind,
    number: Field,
) -> Answer {
    let id = objects.allocate(kind, request.uid, request.opcode)?;
    reply.set(number, id.into());
    Ok(format!("-> {kind:?} {id:#x}"))
}

fn release(request: &Request<'_>, objects: &mut Objects, kind: Kind, id: u32) -> Answer {
    objects.release(kind, id, request.uid).map(|()| format!("{kind:?} {id:#x}"))
}
