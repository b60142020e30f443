//! Anchors without std and without an allocator.
//!
//! What [`Device`](crate::Device) and [`SteeringAnchor`](crate::SteeringAnchor) do, for a program that has neither std
//! nor a heap and knows the path of its device's node. Four system calls lead from the path to an id and back: open,
//! `GET_CONTEXT`, create, destroy. Nothing checks that the node is the device it should be: that is the caller's part.
//!
//! ```no_run
//! use uverbs::{FlowTableType, Priority, bare};
//!
//! # fn main() -> uverbs::Result<()> {
//! let context = bare::Context::open(c"/dev/infiniband/uverbs0")?;
//! let anchor = context.anchor(FlowTableType::NicRx, Priority::new(3)?)?;
//! assert_ne!(anchor.id().get(), 0);
//! anchor.destroy()?;
//! # Ok(())
//! # }
//! ```

use core::{ffi::CStr, mem};

use rustix::{
    fd::{AsFd, BorrowedFd, OwnedFd},
    fs::{Mode, OFlags},
};

use crate::{
    Error, FlowTableId, FlowTableType, Priority, Result,
    get_context::{self, Devx},
    steering::call,
};
use uverbs_uapi::ib_user_ioctl_verbs::RDMA_DRIVER_MLX5;

/// An open mlx5 device.
#[derive(Debug)]
pub struct Context(OwnedFd);

impl Context {
    /// Opens the node at `path` and makes a context on it, without DEVX.
    ///
    /// # Errors
    /// The kernel's: `EINVAL` if the device is not an mlx5 one, `ENOTTY` if it is no RDMA device.
    pub fn open(path: &CStr) -> Result<Self> {
        let fd = rustix::fs::open(path, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())
            .map_err(|errno| Error::Io { doing: "open the node", errno: errno.into() })?;
        get_context::get_context(fd.as_fd(), RDMA_DRIVER_MLX5, Devx::No)?;
        Ok(Self(fd))
    }

    /// Creates an anchor into the kernel's flow table of this type and priority.
    ///
    /// # Errors
    /// The kernel's. The reason is what the errno alone says: nothing more is asked.
    #[inline]
    pub fn anchor(&self, table_type: FlowTableType, priority: Priority) -> Result<Anchor<'_>> {
        let (handle, id) = call::create(self.0.as_fd(), table_type, priority)?;
        Ok(Anchor { fd: self.0.as_fd(), handle, id })
    }
}

impl AsFd for Context {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// A steering anchor of a [`Context`]. Dropping it destroys it.
#[derive(Debug)]
pub struct Anchor<'a> {
    fd: BorrowedFd<'a>,
    handle: u32,
    id: FlowTableId,
}

impl Anchor<'_> {
    /// The id to forward packets to.
    #[must_use]
    pub const fn id(&self) -> FlowTableId {
        self.id
    }

    /// Destroys the anchor.
    ///
    /// # Errors
    /// The kernel's; the anchor is then destroyed when the context is closed.
    #[inline]
    pub fn destroy(self) -> Result<()> {
        let destroyed = call::destroy(self.fd, self.handle);
        mem::forget(self);
        Ok(destroyed?)
    }
}

impl Drop for Anchor<'_> {
    #[inline]
    fn drop(&mut self) {
        // A refusal leaves the anchor to the kernel, which destroys it when the device is closed.
        let _ = call::destroy(self.fd, self.handle);
    }
}
