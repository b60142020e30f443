//! The steering anchor.

use rustix::io::Errno;

use super::{FlowTableId, FlowTableType, Priority, call};
use crate::{Context, DestroyError, Error, KernelRelease, Result, command::Refusal, error::Reason};

/// A flow table id through which packets return to the kernel's steering.
///
/// A plain value: a [`Context`] (which it keeps open), a handle, the id. Creating and destroying one is one system call
/// each and no heap allocation. All anchors of the same type and priority on a device, of whichever process, share the
/// kernel's table behind the id: they have the same id, and it leads somewhere as long as one of them exists.
///
/// # Order of destruction
///
/// The kernel does not know who forwards to the id. When the last anchor of its type and priority is gone, packets that
/// are still sent there are **dropped, silently**. So remove the rules that forward to it first. (What
/// is built with [`flow`](crate::flow) takes an `Arc<SteeringAnchor>` and so holds it for as long as needed.)
///
/// # Drop and fork
///
/// Dropping an anchor destroys it; an error goes unseen, and the kernel destroys what is left when the device is
/// closed. In a forked child a drop does nothing, since the object is the parent's as well: the process id
/// is compared, which costs a drop (not [`destroy`](Self::destroy)) one more system call.
///
/// ```no_run
/// use uverbs::{Device, FlowTableType, Priority, SteeringAnchor};
///
/// # fn main() -> uverbs::Result<()> {
/// let context = Device::by_name("mlx5_0")?.open()?;
/// let anchor = SteeringAnchor::create(&context, FlowTableType::NicRx, Priority::new(3)?)?;
/// println!("forward packets to flow table {}", anchor.id());
/// anchor.destroy()?;
/// # Ok(())
/// # }
/// ```
#[doc(alias("mlx5dv_steering_anchor", "MLX5_IB_OBJECT_STEERING_ANCHOR"))]
#[derive(Debug)]
pub struct SteeringAnchor {
    context: Context,
    handle: u32,
    id: FlowTableId,
    table_type: FlowTableType,
    priority: Priority,
    destroyed: bool,
}

impl SteeringAnchor {
    /// Creates an anchor into the kernel's flow table of this type and priority.
    ///
    /// Needs `CAP_NET_RAW` (before Linux 6.17 in the initial user namespace), but no DEVX. Since Linux 6.0.
    ///
    /// # Errors
    /// [`Error::NotMlx5`] on a device of another driver, before anything is sent. Otherwise [`Error::Kernel`], whose
    /// [reason](Reason) tells an old kernel (`EPROTONOSUPPORT`) from a firmware that does not let users refer to shared
    /// objects (`EPROTONOSUPPORT`), a caller without `CAP_NET_RAW` (`EPERM`), a type that this driver does not take
    /// (`EINVAL`), a function that has no such tables (`EOPNOTSUPP`), a pool of flow tables that is used up (`ENOSPC`)
    /// and a device that is gone (`EIO`).
    #[doc(alias("mlx5dv_create_steering_anchor", "MLX5_IB_METHOD_STEERING_ANCHOR_CREATE"))]
    #[inline]
    pub fn create(context: &Context, table_type: FlowTableType, priority: Priority) -> Result<Self> {
        context.require_mlx5()?;
        match call::create(context.fd(), table_type, priority) {
            Ok((handle, id)) => {
                Ok(Self { context: context.clone(), handle, id, table_type, priority, destroyed: false })
            }
            Err(refusal) => Err(explain(context, table_type, refusal)),
        }
    }

    /// The id to forward packets to.
    #[doc(alias = "MLX5_IB_ATTR_STEERING_ANCHOR_FT_ID")]
    #[must_use]
    pub const fn id(&self) -> FlowTableId {
        self.id
    }

    /// The type of the kernel's table that the anchor leads to.
    #[must_use]
    pub const fn table_type(&self) -> FlowTableType {
        self.table_type
    }

    /// The priority of the kernel's table that the anchor leads to.
    #[must_use]
    pub const fn priority(&self) -> Priority {
        self.priority
    }

    /// The kernel's handle: unique among the anchors of one context, unlike the id.
    #[must_use]
    pub const fn handle(&self) -> u32 {
        self.handle
    }

    /// The context that the anchor belongs to.
    #[must_use]
    pub const fn context(&self) -> &Context {
        &self.context
    }

    /// Destroys the anchor.
    ///
    /// What a drop does too, but here an error is seen. Called in a forked child, it destroys the parent's anchor:
    /// both processes hold the same object, and this was asked for. (A drop there does nothing.)
    ///
    /// # Errors
    /// The kernel's, with the anchor: `EBUSY` while another thread destroys it, `EIO` if the device is gone, and the
    /// anchor with it, `ENOENT` if a process that shares the context destroyed it already.
    #[doc(alias("mlx5dv_destroy_steering_anchor", "MLX5_IB_METHOD_STEERING_ANCHOR_DESTROY"))]
    #[inline]
    pub fn destroy(mut self) -> Result<(), DestroyError<Self>> {
        match call::destroy(self.context.fd(), self.handle) {
            Ok(()) => {
                self.destroyed = true;
                Ok(())
            }
            Err(refusal) => Err(DestroyError::new(self, refusal.into())),
        }
    }
}

impl Drop for SteeringAnchor {
    #[inline]
    fn drop(&mut self) {
        if !self.destroyed && self.context.is_ours() {
            // A refusal leaves the anchor to the kernel, which destroys it when the device is closed.
            let _ = call::destroy(self.context.fd(), self.handle);
        }
    }
}

/// Finds out why there is no anchor. Asks the firmware where the errno says too little; creates nothing.
#[cold]
fn explain(context: &Context, table_type: FlowTableType, refusal: Refusal) -> Error {
    let running = KernelRelease::running();
    let capability =
        |has: fn(&crate::HcaCapabilities) -> bool| context.hca_capabilities().map(|all| has(&all)).ok();
    let reason = match refusal.errno {
        Errno::PROTONOSUPPORT if running < FlowTableType::ANCHORS_SINCE => {
            Reason::KernelTooOld { since: FlowTableType::ANCHORS_SINCE, running }
        }
        Errno::PROTONOSUPPORT
            if capability(crate::HcaCapabilities::shared_object_to_user_object_allowed) == Some(false) =>
        {
            Reason::NoCapability("shared_object_to_user_object_allowed")
        }
        Errno::PERM => Reason::NoNetRaw { running },
        Errno::OPNOTSUPP
            if table_type == FlowTableType::Fdb
                && capability(crate::HcaCapabilities::eswitch_manager) != Some(true) =>
        {
            Reason::NotEswitchManager
        }
        Errno::OPNOTSUPP => Reason::NoFlowTables(table_type),
        Errno::INVAL => match table_type {
            FlowTableType::NicTx if running < FlowTableType::NIC_TX_SINCE => {
                Reason::TypeTooNew { table_type, since: FlowTableType::NIC_TX_SINCE, running }
            }
            FlowTableType::RdmaRx | FlowTableType::RdmaTx => Reason::TypeRefused(table_type),
            _ => Reason::Invalid,
        },
        errno => Reason::of(errno),
    };
    Error::kernel(refusal, reason)
}
