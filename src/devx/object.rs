//! Objects of the firmware that belong to this context.

use uverbs_uapi::mlx5_user_ioctl_cmds as cmds;

use super::{AsyncCommands, call, mailbox};
use crate::{
    Context, DestroyError, Result,
    command::{
        Command, Method,
        class::{BytesIn, BytesOut, ConstIn, Fd, Handle, NewHandle, ValueIn},
    },
    context::Owned,
};

const OBJECT: u16 = cmds::MLX5_IB_OBJECT_DEVX_OBJ;

const CREATE: Method = Method::new(OBJECT, cmds::MLX5_IB_METHOD_DEVX_OBJ_CREATE);
const CREATE_HANDLE: NewHandle = NewHandle(cmds::MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE);
const CREATE_IN: BytesIn = BytesIn(cmds::MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN);
const CREATE_OUT: BytesOut = BytesOut(cmds::MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT);

const DESTROY: Method = Method::new(OBJECT, cmds::MLX5_IB_METHOD_DEVX_OBJ_DESTROY);
const DESTROY_HANDLE: Handle = Handle(cmds::MLX5_IB_ATTR_DEVX_OBJ_DESTROY_HANDLE);

const MODIFY: Method = Method::new(OBJECT, cmds::MLX5_IB_METHOD_DEVX_OBJ_MODIFY);
const MODIFY_HANDLE: Handle = Handle(cmds::MLX5_IB_ATTR_DEVX_OBJ_MODIFY_HANDLE);
const MODIFY_IN: BytesIn = BytesIn(cmds::MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN);
const MODIFY_OUT: BytesOut = BytesOut(cmds::MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_OUT);

const QUERY: Method = Method::new(OBJECT, cmds::MLX5_IB_METHOD_DEVX_OBJ_QUERY);
const QUERY_HANDLE: Handle = Handle(cmds::MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE);
const QUERY_IN: BytesIn = BytesIn(cmds::MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN);
const QUERY_OUT: BytesOut = BytesOut(cmds::MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT);

const ASYNC_QUERY: Method = Method::new(OBJECT, cmds::MLX5_IB_METHOD_DEVX_OBJ_ASYNC_QUERY);
const ASYNC_HANDLE: Handle = Handle(cmds::MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_HANDLE);
const ASYNC_IN: BytesIn = BytesIn(cmds::MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_CMD_IN);
const ASYNC_FD: Fd = Fd(cmds::MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_FD);
const ASYNC_ID: ValueIn<u64> = ValueIn::new(cmds::MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_WR_ID);
const ASYNC_OUT_LEN: ConstIn = ConstIn(cmds::MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_OUT_LEN);

/// An object of the firmware, made by a command and destroyed with this value.
///
/// Nothing here knows what the object is: [`flow`](crate::flow) has types for tables, groups, entries and counters.
/// An object is destroyed by the command that the kernel derived when it was created. What the firmware still sees in
/// use is refused ([`destroy`](Self::destroy) gives the object back then); a drop that is refused leaves the object to
/// the kernel, which destroys it, youngest first, when the context is closed.
///
/// In a forked child a drop does nothing: the object is its parent's.
///
/// C: `struct mlx5dv_devx_obj` (`drivers/infiniband/hw/mlx5/devx.c`).
#[doc(alias("mlx5dv_devx_obj", "MLX5_IB_OBJECT_DEVX_OBJ"))]
#[derive(Debug)]
pub struct Object {
    owned: Owned,
    opcode: u16,
}

impl Object {
    /// Has the firmware execute a command that creates an object, and writes its answer to `outbox`.
    ///
    /// # Errors
    /// [`Error::Refused`](crate::Error::Refused) if the firmware refuses;
    /// `EINVAL` if the command is none that creates, or the context has no
    /// DEVX; an inbox shorter than the command's structure is not sent.
    #[doc(alias("mlx5dv_devx_obj_create", "MLX5_IB_METHOD_DEVX_OBJ_CREATE"))]
    pub fn create(context: &Context, inbox: &[u8], outbox: &mut [u8]) -> Result<Self> {
        call::check_inbox(inbox)?;
        outbox.fill(0);
        let mut command = Command::<3>::new(CREATE, context.driver_number());
        let new = command.new_handle(CREATE_HANDLE);
        command.bytes_in(CREATE_IN, inbox)?;
        command.bytes_out(CREATE_OUT, outbox)?;
        match context.send(command) {
            Ok(reply) => {
                let owned = Owned::new(context, reply.handle(new), (DESTROY, DESTROY_HANDLE));
                Ok(Self { owned, opcode: mailbox::opcode(inbox) })
            }
            Err(error) => Err(call::refused(error, inbox, outbox)),
        }
    }

    /// Has the firmware execute a command that changes this object.
    ///
    /// # Errors
    /// [`Error::Refused`](crate::Error::Refused) if the firmware refuses;
    /// `EINVAL` if the command is none that changes, or names another
    /// object.
    #[doc(alias("mlx5dv_devx_obj_modify", "MLX5_IB_METHOD_DEVX_OBJ_MODIFY"))]
    pub fn modify(&self, inbox: &[u8], outbox: &mut [u8]) -> Result<()> {
        self.execute(MODIFY, (MODIFY_HANDLE, MODIFY_IN, MODIFY_OUT), inbox, outbox)
    }

    /// Has the firmware execute a command that reads this object.
    ///
    /// # Errors
    /// [`Error::Refused`](crate::Error::Refused) if the firmware refuses;
    /// `EINVAL` if the command is none that reads, or names another
    /// object.
    #[doc(alias("mlx5dv_devx_obj_query", "MLX5_IB_METHOD_DEVX_OBJ_QUERY"))]
    pub fn query(&self, inbox: &[u8], outbox: &mut [u8]) -> Result<()> {
        self.execute(QUERY, (QUERY_HANDLE, QUERY_IN, QUERY_OUT), inbox, outbox)
    }

    fn execute(
        &self,
        method: Method,
        (handle, input, output): (Handle, BytesIn, BytesOut),
        inbox: &[u8],
        outbox: &mut [u8],
    ) -> Result<()> {
        call::check_inbox(inbox)?;
        outbox.fill(0);
        let mut command = Command::<3>::new(method, self.context().driver_number());
        command.handle(handle, self.handle());
        command.bytes_in(input, inbox)?;
        command.bytes_out(output, outbox)?;
        match self.context().send(command) {
            Ok(_) => Ok(()),
            Err(error) => Err(call::refused(error, inbox, outbox)),
        }
    }

    /// Has the firmware execute a command that reads this object, without waiting for its answer.
    ///
    /// The answer, of `length` bytes, comes through `answers` together with `id`.
    ///
    /// # Errors
    /// `EAGAIN` if answers of more than 1 MiB in all have been asked for and not been read; otherwise as
    /// [`query`](Self::query), but a refusal of the firmware comes as an answer.
    #[doc(alias("mlx5dv_devx_obj_query_async", "MLX5_IB_METHOD_DEVX_OBJ_ASYNC_QUERY"))]
    pub fn query_async(&self, answers: &AsyncCommands, id: u64, inbox: &[u8], length: u16) -> Result<()> {
        call::check_inbox(inbox)?;
        let mut command = Command::<5>::new(ASYNC_QUERY, self.context().driver_number());
        command.handle(ASYNC_HANDLE, self.handle());
        command.bytes_in(ASYNC_IN, inbox)?;
        command.fd(ASYNC_FD, answers.expect(length));
        command.value_in(ASYNC_ID, &id);
        command.constant(ASYNC_OUT_LEN, length.into());
        self.context().send(command)?;
        Ok(())
    }

    /// The context that the object belongs to.
    #[must_use]
    pub const fn context(&self) -> &Context {
        self.owned.context()
    }

    /// The kernel's handle, unique among the objects of the context's file.
    #[must_use]
    pub const fn handle(&self) -> u32 {
        self.owned.handle()
    }

    /// The command that created the object: `MLX5_CMD_OP_*`.
    #[must_use]
    pub const fn created_by(&self) -> u16 {
        self.opcode
    }

    /// Destroys the object.
    ///
    /// # Errors
    /// The firmware's status as an errno, with the object: `EBUSY` or `EINVAL` if something still uses it.
    #[doc(alias("mlx5dv_devx_obj_destroy", "MLX5_IB_METHOD_DEVX_OBJ_DESTROY"))]
    pub fn destroy(mut self) -> Result<(), DestroyError<Self>> {
        match self.owned.destroy_in_place() {
            Ok(()) => Ok(()),
            Err(error) => Err(DestroyError::new(self, error)),
        }
    }
}
