//! User contexts, the memory they register, and general objects.

use std::collections::HashMap;

use uverbs_uapi::prm::{
    self, Field, create_uctx_in, create_uctx_out, create_umem_out, destroy_uctx_in, destroy_umem_in,
    general_obj_in_cmd_hdr, general_obj_out_cmd_hdr, uctx,
};

use crate::command::refusal::{Refusal, Syndrome};
use crate::command::{Answer, Reply, Request};
use crate::objects::{Kind, Leak, Objects};

/// What a command of this family did.
pub(crate) struct Done {
    pub(crate) answer: Answer,
    /// What a user context that ended had not destroyed.
    pub(crate) left: Vec<Leak>,
}

/// What is known of these objects besides their owners.
#[derive(Debug, Default)]
pub(crate) struct Devx {
    /// The type of each general object.
    types: HashMap<u32, u64>,
}

impl Devx {
    /// Executes a command of this family.
    pub(crate) fn command(
        &mut self,
        request: &Request<'_>,
        reply: &mut Reply<'_>,
        objects: &mut Objects,
    ) -> Option<Done> {
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
            prm::MLX5_CMD_OP_CREATE_GENERAL_OBJECT => self.create_general(request, reply, objects),
            prm::MLX5_CMD_OP_DESTROY_GENERAL_OBJECT => self.destroy_general(request, objects),
            prm::MLX5_CMD_OP_MODIFY_GENERAL_OBJECT | prm::MLX5_CMD_OP_QUERY_GENERAL_OBJECT => {
                self.general(request, objects).map(|id| format!("object {id:#x}"))
            }
            prm::MLX5_CMD_OP_SYNC_STEERING => Ok(String::new()),
            _ => return None,
        };
        Some(Done { answer, left })
    }

    fn create_general(
        &mut self,
        request: &Request<'_>,
        reply: &mut Reply<'_>,
        objects: &mut Objects,
    ) -> Answer {
        let id = objects.allocate(Kind::General, request.uid, request.opcode)?;
        let object_type = request.get(general_obj_in_cmd_hdr::OBJ_TYPE);
        self.types.insert(id, object_type);
        reply.set(general_obj_out_cmd_hdr::OBJ_ID, id.into());
        Ok(format!("-> type {object_type:#x} object {id:#x}"))
    }

    fn destroy_general(&mut self, request: &Request<'_>, objects: &mut Objects) -> Answer {
        let id = self.general(request, objects)?;
        self.types.remove(&id);
        release(request, objects, Kind::General, id)
    }

    /// The general object that a command names, which has to be of the type that it names.
    fn general(&self, request: &Request<'_>, objects: &Objects) -> Result<u32, Refusal> {
        let id = request.get32(general_obj_in_cmd_hdr::OBJ_ID);
        objects.check(Kind::General, id, request.uid)?;
        let named = request.get(general_obj_in_cmd_hdr::OBJ_TYPE);
        match self.types.get(&id) {
            Some(&is) if is == named => Ok(id),
            is => Err(Refusal::new(
                Syndrome::NoSuchObject,
                format!("object {id:#x} is of type {:#x}, not {named:#x}", is.copied().unwrap_or(0)),
            )),
        }
    }
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
