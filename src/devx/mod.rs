//! DEVX: the firmware's own commands and objects.
//!
//! With a context opened by [`Device::open_devx`](crate::Device::open_devx), a process may create objects of the
//! card's firmware by sending its commands as the programmer's manual (PRM) has them: flow tables, counters, queues.
//! The kernel passes on those it knows to be harmless, marks each with the process's own user id, so that the firmware
//! keeps processes apart, and destroys what is left when the context is closed.
//!
//! A command is an [`Inbox`], its answer an array; [`uverbs_uapi::prm`] has the places of the fields:
//!
//! ```no_run
//! use uverbs::devx::{Inbox, Object};
//! use uverbs_uapi::prm::{MLX5_CMD_OP_ALLOC_FLOW_COUNTER, alloc_flow_counter_in, alloc_flow_counter_out};
//!
//! # fn main() -> uverbs::Result<()> {
//! let context = uverbs::Device::by_name("mlx5_0")?.open_devx()?;
//! let inbox = Inbox::<{ alloc_flow_counter_in::SIZE }>::new(MLX5_CMD_OP_ALLOC_FLOW_COUNTER);
//! let mut outbox = [0; alloc_flow_counter_out::SIZE];
//! let counter = Object::create(&context, inbox.as_ref(), &mut outbox)?;
//! println!("counter {}", alloc_flow_counter_out::FLOW_COUNTER_ID.get(&outbox));
//! counter.destroy()?;
//! # Ok(())
//! # }
//! ```
//!
//! When the firmware refuses a command, the error is [`Error::Refused`](crate::Error::Refused) with status and
//! syndrome. For tables, entries and what belongs to them, [`flow`](crate::flow) is the better door.
//!
//! C: `mlx5dv_devx_*`; `drivers/infiniband/hw/mlx5/devx.c` (since Linux 4.18).

mod asynchronous;
mod call;
mod mailbox;
mod object;
mod refused;
#[cfg(test)]
mod tests;
mod uar;
mod umem;

use uverbs_uapi::mlx5_user_ioctl_cmds as cmds;

pub use self::{
    asynchronous::{Answer, AsyncCommands, Event, EventContent, Events},
    mailbox::{Inbox, ShortInbox},
    object::Object,
    refused::{Refused, Status},
    uar::{Uar, UarMapping},
    umem::{SharedMemory, Umem, UmemAccess},
};
use crate::{
    Context, Result,
    command::{
        Command, Method,
        class::{BytesIn, BytesOut, Out, ValueIn},
    },
};

const OTHER: Method = Method::new(cmds::MLX5_IB_OBJECT_DEVX, cmds::MLX5_IB_METHOD_DEVX_OTHER);
const OTHER_IN: BytesIn = BytesIn(cmds::MLX5_IB_ATTR_DEVX_OTHER_CMD_IN);
const OTHER_OUT: BytesOut = BytesOut(cmds::MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT);

const QUERY_EQN: Method = Method::new(cmds::MLX5_IB_OBJECT_DEVX, cmds::MLX5_IB_METHOD_DEVX_QUERY_EQN);
const QUERY_EQN_VECTOR: ValueIn<u32> = ValueIn::new(cmds::MLX5_IB_ATTR_DEVX_QUERY_EQN_USER_VEC);
const QUERY_EQN_NUMBER: Out<u32> = Out::new(cmds::MLX5_IB_ATTR_DEVX_QUERY_EQN_DEV_EQN);

/// Has the firmware execute a command that is about no object of ours, such as a query of the function.
///
/// # Errors
/// [`Error::Refused`](crate::Error::Refused) if the firmware refuses; `EINVAL` if the kernel does not let the command
/// through, or the context has no DEVX (queries of capabilities and vport contexts do without).
#[doc(alias("mlx5dv_devx_general_cmd", "MLX5_IB_METHOD_DEVX_OTHER"))]
pub fn execute(context: &Context, inbox: &[u8], outbox: &mut [u8]) -> Result<()> {
    call::check_inbox(inbox)?;
    outbox.fill(0);
    let mut command = Command::<2>::new(OTHER, context.driver_number());
    command.bytes_in(OTHER_IN, inbox)?;
    command.bytes_out(OTHER_OUT, outbox)?;
    match context.send(command) {
        Ok(_) => Ok(()),
        Err(error) => Err(call::refused(error, inbox, outbox)),
    }
}

/// The firmware's number of the event queue behind a completion vector, for a field such as `c_eqn`.
///
/// # Errors
/// `EINVAL` (`ENOENT` before Linux 6.12) if there is no such vector.
#[doc(alias("mlx5dv_devx_query_eqn", "MLX5_IB_METHOD_DEVX_QUERY_EQN"))]
pub fn event_queue_number(context: &Context, vector: u32) -> Result<u32> {
    let mut number = 0;
    let mut command = Command::<2>::new(QUERY_EQN, context.driver_number());
    command.value_in(QUERY_EQN_VECTOR, &vector);
    command.out(QUERY_EQN_NUMBER, &mut number);
    context.send(command)?;
    Ok(number)
}
