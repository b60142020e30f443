//! An object of the kernel that ends with a value of ours.

use super::Context;
use crate::{
    Result,
    command::{Command, Method, class::Handle},
};

/// An object of the kernel, by its handle: destroyed by whoever asks for it, else when it is dropped.
///
/// In a forked child a drop does nothing: the object is its parent's.
#[derive(Debug)]
pub(crate) struct Owned {
    context: Context,
    handle: u32,
    destroy: (Method, Handle),
    alive: bool,
}

impl Owned {
    /// The object `handle`, which was just made, and the method that destroys it.
    pub(crate) fn new(context: &Context, handle: u32, destroy: (Method, Handle)) -> Self {
        Self { context: context.clone(), handle, destroy, alive: true }
    }

    pub(crate) const fn context(&self) -> &Context {
        &self.context
    }

    pub(crate) const fn handle(&self) -> u32 {
        self.handle
    }

    /// Destroys the object; one that is refused lives on.
    pub(crate) fn destroy_in_place(&mut self) -> Result<()> {
        let (method, attribute) = self.destroy;
        let mut command = Command::<1>::new(method, self.context.driver_number());
        command.handle(attribute, self.handle);
        self.context.send(command)?;
        self.alive = false;
        Ok(())
    }

    /// What a drop does, for those who have to know how it went. It is tried once.
    pub(crate) fn end(&mut self) -> Result<()> {
        if !self.alive || !self.context.is_ours() {
            return Ok(());
        }
        let ended = self.destroy_in_place();
        self.alive = false;
        ended
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // A refusal leaves the object to the kernel, which destroys it when the context is closed.
        let _ = self.end();
    }
}
