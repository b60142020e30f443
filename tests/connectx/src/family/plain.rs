//! Objects that are a number and an owner here: the driver makes and ends them, and nothing else happens.

use uverbs_uapi::prm::{self, Field};

use crate::command::refusal::Refusal;
use crate::command::{Answer, Reply, Request};
use crate::layouts as l;
use crate::objects::{Kind, Objects};

/// How one kind comes and goes.
struct Plain {
    kind: Kind,
    create: u16,
    created: Field,
    destroy: u16,
    destroyed: Field,
}

macro_rules! plain {
    ($($kind:ident: $create:ident $out:ident.$created:ident, $destroy:ident $in:ident.$destroyed:ident;)*) => {
        const PLAIN: &[Plain] = &[$(Plain {
            kind: Kind::$kind,
            create: prm::$create,
            created: l::$out::$created,
            destroy: prm::$destroy,
            destroyed: l::$in::$destroyed,
        }),*];
    };
}

plain! {
    Uar: MLX5_CMD_OP_ALLOC_UAR alloc_uar_out.UAR, MLX5_CMD_OP_DEALLOC_UAR dealloc_uar_in.UAR;
    ProtectionDomain: MLX5_CMD_OP_ALLOC_PD alloc_pd_out.PD, MLX5_CMD_OP_DEALLOC_PD dealloc_pd_in.PD;
    TransportDomain: MLX5_CMD_OP_ALLOC_TRANSPORT_DOMAIN alloc_transport_domain_out.TRANSPORT_DOMAIN,
        MLX5_CMD_OP_DEALLOC_TRANSPORT_DOMAIN dealloc_transport_domain_in.TRANSPORT_DOMAIN;
    XrcDomain: MLX5_CMD_OP_ALLOC_XRCD alloc_xrcd_out.XRCD, MLX5_CMD_OP_DEALLOC_XRCD dealloc_xrcd_in.XRCD;
    QueueCounter: MLX5_CMD_OP_ALLOC_Q_COUNTER alloc_q_counter_out.COUNTER_SET_ID,
        MLX5_CMD_OP_DEALLOC_Q_COUNTER dealloc_q_counter_in.COUNTER_SET_ID;
    MemoryKey: MLX5_CMD_OP_CREATE_MKEY create_mkey_out.MKEY_INDEX, MLX5_CMD_OP_DESTROY_MKEY destroy_mkey_in.MKEY_INDEX;
    Psv: MLX5_CMD_OP_CREATE_PSV create_psv_out.PSV0_INDEX, MLX5_CMD_OP_DESTROY_PSV destroy_psv_in.PSVN;
    QueuePair: MLX5_CMD_OP_CREATE_QP create_qp_out.QPN, MLX5_CMD_OP_DESTROY_QP destroy_qp_in.QPN;
    DynamicConnection: MLX5_CMD_OP_CREATE_DCT create_dct_out.DCTN, MLX5_CMD_OP_DESTROY_DCT destroy_dct_in.DCTN;
    SharedReceiveQueue: MLX5_CMD_OP_CREATE_SRQ create_srq_out.SRQN, MLX5_CMD_OP_DESTROY_SRQ destroy_srq_in.SRQN;
    XrcSharedReceiveQueue: MLX5_CMD_OP_CREATE_XRC_SRQ create_xrc_srq_out.XRC_SRQN,
        MLX5_CMD_OP_DESTROY_XRC_SRQ destroy_xrc_srq_in.XRC_SRQN;
    ExtendedReceiveQueue: MLX5_CMD_OP_CREATE_XRQ create_xrq_out.XRQN, MLX5_CMD_OP_DESTROY_XRQ destroy_xrq_in.XRQN;
    ReceiveMemoryPool: MLX5_CMD_OP_CREATE_RMP create_rmp_out.RMPN, MLX5_CMD_OP_DESTROY_RMP destroy_rmp_in.RMPN;
    SchedulingElement: MLX5_CMD_OP_CREATE_SCHEDULING_ELEMENT create_scheduling_element_out.SCHEDULING_ELEMENT_ID,
        MLX5_CMD_OP_DESTROY_SCHEDULING_ELEMENT destroy_scheduling_element_in.SCHEDULING_ELEMENT_ID;
}

/// What a new object refers to: a user's objects refer to the user's own. A *model* in two ways: the kernel's own
/// commands are believed, and of those that a user's library sends, the fields stay out that the kernel fills with
/// objects of its own (the protection domain of a queue pair, the completion queue and XRC domain of an SRQ).
const REFERENCES: &[(u16, Field, Kind)] = &[
    (
        prm::MLX5_CMD_OP_CREATE_MKEY,
        l::create_mkey_in::MEMORY_KEY_MKEY_ENTRY.then(l::mkc::PD),
        Kind::ProtectionDomain,
    ),
    (prm::MLX5_CMD_OP_CREATE_QP, l::create_qp_in::QPC.then(l::qpc::CQN_SND), Kind::CompletionQueue),
    (prm::MLX5_CMD_OP_CREATE_QP, l::create_qp_in::QPC.then(l::qpc::CQN_RCV), Kind::CompletionQueue),
    (
        prm::MLX5_CMD_OP_CREATE_DCT,
        l::create_dct_in::DCT_CONTEXT_ENTRY.then(l::dctc::PD),
        Kind::ProtectionDomain,
    ),
    (
        prm::MLX5_CMD_OP_CREATE_DCT,
        l::create_dct_in::DCT_CONTEXT_ENTRY.then(l::dctc::CQN),
        Kind::CompletionQueue,
    ),
    (
        prm::MLX5_CMD_OP_CREATE_SRQ,
        l::create_srq_in::SRQ_CONTEXT_ENTRY.then(l::srqc::PD),
        Kind::ProtectionDomain,
    ),
    (
        prm::MLX5_CMD_OP_CREATE_XRC_SRQ,
        l::create_xrc_srq_in::XRC_SRQ_CONTEXT_ENTRY.then(l::xrc_srqc::PD),
        Kind::ProtectionDomain,
    ),
];

/// Refuses a new object that refers to what its owner may not use; 0 refers to nothing.
fn check_references(request: &Request<'_>, objects: &Objects) -> Result<(), Refusal> {
    let references = REFERENCES.iter().filter(|(opcode, ..)| *opcode == request.opcode && request.uid != 0);
    let named = references.map(|&(_, field, kind)| (kind, request.get32(field))).filter(|&(_, id)| id != 0);
    named.into_iter().try_for_each(|(kind, id)| objects.check(kind, id, request.uid))
}

/// Executes a command of this family.
pub(crate) fn command(request: &Request<'_>, reply: &mut Reply<'_>, objects: &mut Objects) -> Option<Answer> {
    if let Some(plain) = PLAIN.iter().find(|plain| plain.create == request.opcode) {
        let id = check_references(request, objects)
            .and_then(|()| objects.allocate(plain.kind, request.uid, request.opcode));
        return Some(id.map(|id| {
            reply.set(plain.created, id.into());
            format!("-> {:?} {id:#x}", plain.kind)
        }));
    }
    let plain = PLAIN.iter().find(|plain| plain.destroy == request.opcode)?;
    let id = request.get32(plain.destroyed);
    Some(objects.release(plain.kind, id, request.uid).map(|()| format!("{:?} {id:#x}", plain.kind)))
}
