//! The order of destruction.

use core::mem;

use crate::{Context, DestroyError, Error, context::Owned, devx::Object};

/// An object that can be destroyed in one step that may fail.
pub(super) trait Destroy: Sized + core::fmt::Debug {
    fn destroy(self) -> Result<(), DestroyError<Self>>;
    fn context(&self) -> &Context;
}

impl Destroy for Object {
    fn destroy(self) -> Result<(), DestroyError<Self>> {
        self.destroy()
    }

    fn context(&self) -> &Context {
        self.context()
    }
}

impl Destroy for Owned {
    fn destroy(mut self) -> Result<(), DestroyError<Self>> {
        self.destroy_in_place().map_err(|error| DestroyError::new(self, error))
    }

    fn context(&self) -> &Context {
        self.context()
    }
}

/// An object, and what has to exist as long as the object does.
///
/// What it needs is let go of after the object is gone, and if the object cannot be destroyed, never: as long as an
/// entry may still be on the card, the anchor it leads to stays, and traffic with it. The kernel clears up when the
/// process ends.
#[derive(Debug)]
pub(super) struct Kept<O: Destroy, T> {
    object: Option<O>,
    needs: Option<T>,
}

impl<O: Destroy, T> Kept<O, T> {
    pub(super) const fn new(object: O, needs: T) -> Self {
        Self { object: Some(object), needs: Some(needs) }
    }

    pub(super) fn object(&self) -> &O {
        self.object.as_ref().expect(PRESENT)
    }

    pub(super) fn needs(&self) -> &T {
        self.needs.as_ref().expect(PRESENT)
    }

    pub(super) fn needs_mut(&mut self) -> &mut T {
        self.needs.as_mut().expect(PRESENT)
    }

    pub(super) fn destroy(mut self) -> Result<(), (Self, Error)> {
        match self.object.take().map_or(Ok(()), O::destroy) {
            Ok(()) => Ok(()),
            Err(refused) => {
                let (object, error) = refused.into_parts();
                self.object = Some(object);
                Err((self, error))
            }
        }
    }
}

const PRESENT: &str = "only destruction takes it, and that takes the whole";

impl<O: Destroy, T> Drop for Kept<O, T> {
    fn drop(&mut self) {
        let Some(object) = self.object.take() else { return };
        if !object.context().is_ours() {
            return;
        }
        if let Err(refused) = object.destroy() {
            mem::forget(refused);
            mem::forget(self.needs.take());
        }
    }
}
