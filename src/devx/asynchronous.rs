//! What comes through file descriptors: answers to queries that nobody waits for, and events.

use core::sync::atomic::{AtomicUsize, Ordering};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

use rustix::{
    fs::{OFlags, fcntl_getfl, fcntl_setfl},
    io::Errno,
};
use uverbs_uapi::{
    mlx5_user_ioctl_cmds as cmds, mlx5_user_ioctl_verbs::MLX5_IB_UAPI_DEVX_CR_EV_CH_FLAGS_OMIT_DATA,
};
use zerocopy::IntoBytes;

use super::{Object, Refused};
use crate::{
    Context, Error, Result,
    command::{
        Command, Method,
        class::{BytesIn, Fd, FlagsIn, Handle, NewFd, ValueIn},
    },
};

const COMMANDS_ALLOC: Method =
    Method::new(cmds::MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD, cmds::MLX5_IB_METHOD_DEVX_ASYNC_CMD_FD_ALLOC);
const COMMANDS_FD: NewFd = NewFd(cmds::MLX5_IB_ATTR_DEVX_ASYNC_CMD_FD_ALLOC_HANDLE);

const EVENTS_ALLOC: Method =
    Method::new(cmds::MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD, cmds::MLX5_IB_METHOD_DEVX_ASYNC_EVENT_FD_ALLOC);
const EVENTS_FD: NewFd = NewFd(cmds::MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_HANDLE);
const EVENTS_FLAGS: FlagsIn = FlagsIn(cmds::MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_FLAGS);

const SUBSCRIBE: Method = Method::new(cmds::MLX5_IB_OBJECT_DEVX, cmds::MLX5_IB_METHOD_DEVX_SUBSCRIBE_EVENT);
const SUBSCRIBE_FD: Fd = Fd(cmds::MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_HANDLE);
const SUBSCRIBE_OBJECT: Handle = Handle(cmds::MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_OBJ_HANDLE);
const SUBSCRIBE_TYPES: BytesIn = BytesIn(cmds::MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_TYPE_NUM_LIST);
const SUBSCRIBE_COOKIE: ValueIn<u64> = ValueIn::new(cmds::MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_COOKIE);

/// What precedes each answer and event: the number that the caller gave.
const NUMBER: usize = 8;
/// Size of an event queue entry.
const EQE: usize = 64;

/// Answers to [`Object::query_async`], read from a file descriptor.
///
/// The descriptor is readable when an answer is there: give it to `poll` or `epoll`.
///
/// ```no_run
/// # fn main() -> uverbs::Result<()> {
/// # use uverbs::devx::{AsyncCommands, Inbox, Object};
/// # let context = uverbs::Device::by_name("mlx5_0")?.open_devx()?;
/// # fn some_object() -> Object { unimplemented!() }
/// # let (object, inbox) = (some_object(), Inbox::<64>::new(0));
/// let answers = AsyncCommands::create(&context)?;
/// object.query_async(&answers, 7, inbox.as_ref(), 64)?;
/// while let Some(answer) = answers.read()? {
///     println!("{}: {:?}", answer.id, answer.outbox);
/// }
/// # Ok(())
/// # }
/// ```
#[doc(alias("mlx5dv_devx_create_cmd_comp", "MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD"))]
#[derive(Debug)]
pub struct AsyncCommands {
    fd: OwnedFd,
    /// The longest answer that was asked for: the kernel refuses to read into less.
    longest: AtomicUsize,
}

/// The answer to a query.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Answer {
    /// The number that the query was given.
    pub id: u64,
    /// What the firmware answered.
    pub outbox: Vec<u8>,
}

impl Answer {
    /// What the firmware said if it refused the query `opcode`.
    #[must_use]
    pub fn refused(&self, opcode: u16) -> Option<Refused> {
        Refused::read(opcode, &self.outbox)
    }
}

impl AsyncCommands {
    /// Opens a descriptor for answers. Reading from it never blocks.
    ///
    /// # Errors
    /// `EMFILE` if the process has too many files open.
    pub fn create(context: &Context) -> Result<Self> {
        let mut command = Command::<1>::new(COMMANDS_ALLOC, context.driver_number());
        command.new_fd(COMMANDS_FD);
        Ok(Self { fd: open(context, command)?, longest: AtomicUsize::new(0) })
    }

    /// Makes room for an answer of `length` bytes.
    pub(super) fn expect(&self, length: u16) -> BorrowedFd<'_> {
        self.longest.fetch_max(length.into(), Ordering::Relaxed);
        self.fd.as_fd()
    }

    /// The next answer; `None` if there is none yet.
    ///
    /// # Errors
    /// `EIO` when the device is gone.
    #[doc(alias = "mlx5dv_devx_get_async_cmd_comp")]
    pub fn read(&self) -> Result<Option<Answer>> {
        let mut buffer = vec![0; NUMBER + self.longest.load(Ordering::Relaxed)];
        let Some(length) = read(&self.fd, &mut buffer)? else { return Ok(None) };
        let id = number(&buffer);
        buffer.truncate(length);
        buffer.drain(..NUMBER.min(length));
        Ok(Some(Answer { id, outbox: buffer }))
    }
}

impl AsFd for AsyncCommands {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl AsRawFd for AsyncCommands {
    fn as_raw_fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }
}

/// What is told of an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EventContent {
    /// The cookie and the firmware's event queue entry.
    #[default]
    Whole,
    /// The cookie alone. Several events with the same cookie may be told of once.
    CookieOnly,
}

/// Events of firmware objects and of the device, read from a file descriptor.
///
/// The descriptor is readable when an event is there: give it to `poll` or `epoll`.
#[doc(alias("mlx5dv_devx_create_event_channel", "MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD"))]
#[derive(Debug)]
pub struct Events {
    context: Context,
    fd: OwnedFd,
    content: EventContent,
}

/// Something that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event {
    /// The number that the subscription was given.
    pub cookie: u64,
    /// The firmware's event queue entry, if asked for.
    pub entry: Option<[u8; EQE]>,
}

impl Events {
    /// The most event types of one subscription.
    pub const MAX_TYPES: usize = 16;

    /// Opens a descriptor for events. Reading from it never blocks.
    ///
    /// # Errors
    /// `EMFILE` if the process has too many files open.
    pub fn create(context: &Context, told: EventContent) -> Result<Self> {
        let flags = match told {
            EventContent::Whole => 0,
            EventContent::CookieOnly => MLX5_IB_UAPI_DEVX_CR_EV_CH_FLAGS_OMIT_DATA,
        };
        let mut command = Command::<2>::new(EVENTS_ALLOC, context.driver_number());
        command.new_fd(EVENTS_FD);
        command.flags(EVENTS_FLAGS, flags.into());
        Ok(Self { context: context.clone(), fd: open(context, command)?, content: told })
    }

    /// Has events of these types (`MLX5_EVENT_TYPE_*`, at most [`MAX_TYPES`](Self::MAX_TYPES)) told here with
    /// `cookie`: those of `object`, or those of the device that belong to no object.
    ///
    /// # Errors
    /// `EINVAL` if a type is not one that user space may have, or not of such an object, or there are none or too
    /// many.
    #[doc(alias("mlx5dv_devx_subscribe_devx_event", "MLX5_IB_METHOD_DEVX_SUBSCRIBE_EVENT"))]
    pub fn subscribe(&self, object: Option<&Object>, types: &[u16], cookie: u64) -> Result<()> {
        let mut command = Command::<4>::new(SUBSCRIBE, self.context.driver_number());
        command.fd(SUBSCRIBE_FD, self.fd.as_fd());
        if let Some(object) = object {
            command.handle(SUBSCRIBE_OBJECT, object.handle());
        }
        command.bytes_in(SUBSCRIBE_TYPES, types.as_bytes())?;
        command.value_in(SUBSCRIBE_COOKIE, &cookie);
        self.context.send(command)?;
        Ok(())
    }

    /// The next event; `None` if there is none yet.
    ///
    /// # Errors
    /// `EOVERFLOW`, once, when events were lost because nobody read; `EIO` when the device is gone.
    #[doc(alias = "mlx5dv_devx_get_event")]
    pub fn read(&self) -> Result<Option<Event>> {
        let mut buffer = [0; NUMBER + EQE];
        let Some(length) = read(&self.fd, &mut buffer)? else { return Ok(None) };
        let mut entry = [0; EQE];
        entry.copy_from_slice(&buffer[NUMBER..]);
        let whole = self.content == EventContent::Whole && length == buffer.len();
        Ok(Some(Event { cookie: number(&buffer), entry: whole.then_some(entry) }))
    }
}

impl AsFd for Events {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl AsRawFd for Events {
    fn as_raw_fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }
}

/// Sends a command that makes a file, and makes reading from it return at once.
fn open<const N: usize>(context: &Context, command: Command<'_, N>) -> Result<OwnedFd> {
    let reply = context.send(command)?;
    let fd = reply.into_fd().ok_or_else(|| Error::io("open the descriptor", Errno::BADF))?;
    let flags = fcntl_getfl(&fd).map_err(|errno| Error::io("read the descriptor's flags", errno))?;
    fcntl_setfl(&fd, flags | OFlags::NONBLOCK)
        .map_err(|errno| Error::io("set the descriptor's flags", errno))?;
    Ok(fd)
}

fn read(fd: &OwnedFd, buffer: &mut [u8]) -> Result<Option<usize>, Error> {
    loop {
        match rustix::io::read(fd, &mut *buffer) {
            Ok(length) => return Ok(Some(length)),
            Err(Errno::AGAIN) => return Ok(None),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(Error::io("read the descriptor", errno)),
        }
    }
}

fn number(buffer: &[u8]) -> u64 {
    let mut bytes = [0; NUMBER];
    bytes.copy_from_slice(&buffer[..NUMBER]);
    u64::from_ne_bytes(bytes)
}
