//! Firmware objects that several entries hold.

use std::sync::Arc;

use uverbs_uapi::prm::Field;

use super::{Invalid, kept::Kept};
use crate::{Context, Error, Result, devx::Object};

/// A firmware object and its number; clones are the same object.
#[derive(Clone, Debug)]
pub(super) struct Shared(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    kept: Kept<Object, ()>,
    id: u32,
}

impl Shared {
    /// Has the firmware execute a command whose answer, at most `N` bytes, has the object's number in `id`.
    pub(super) fn create<const N: usize>(context: &Context, inbox: &[u8], id: Field) -> Result<Self> {
        let mut outbox = [0; N];
        let object = Object::create(context, inbox, &mut outbox)?;
        let id = number(id, &outbox);
        Ok(Self(Arc::new(Inner { kept: Kept::new(object, ()), id })))
    }

    pub(super) fn id(&self) -> u32 {
        self.0.id
    }

    pub(super) fn object(&self) -> &Object {
        self.0.kept.object()
    }

    pub(super) fn destroy(self) -> Result<(), (Self, Error)> {
        let Inner { kept, id } =
            Arc::try_unwrap(self.0).map_err(|inner| (Self(inner), Invalid::InUse.into()))?;
        kept.destroy().map_err(|(kept, error)| (Self(Arc::new(Inner { kept, id })), error))
    }
}

/// A field of at most 32 bits.
#[expect(clippy::cast_possible_truncation, reason = "the field has at most 32 bits")]
pub(super) fn number(field: Field, bytes: &[u8]) -> u32 {
    debug_assert!(field.width <= 32);
    field.get(bytes) as u32
}
