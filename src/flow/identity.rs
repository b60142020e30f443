//! What belongs together.

use std::os::fd::{AsFd, AsRawFd};

use super::Invalid;
use crate::{Context, devx::Object};

/// Refuses firmware objects of another context: the firmware would, and less clearly.
pub(super) fn same_context(context: &Context, object: &Object) -> Result<(), Invalid> {
    if is_same(context, object.context()) { Ok(()) } else { Err(Invalid::OtherContext) }
}

/// Refuses an object of another device: an id there is another table here, or none.
pub(super) fn same_device(one: &Context, other: &Context) -> Result<(), Invalid> {
    let device = |context: &Context| rustix::fs::fstat(context.as_fd()).map(|stat| stat.st_rdev).ok();
    if is_same(one, other) || device(one).is_some() && device(one) == device(other) {
        Ok(())
    } else {
        Err(Invalid::OtherDevice)
    }
}

/// Two contexts that are open at the same time have the same descriptor only if they are the same.
fn is_same(one: &Context, other: &Context) -> bool {
    one.as_fd().as_raw_fd() == other.as_fd().as_raw_fd()
}
