//! What calls to the firmware have in common.

use rustix::io::Errno;

use super::{Refused, ShortInbox, mailbox};
use crate::{Error, Result};

/// Refuses a command that is shorter than its structure, of which the kernel would read more.
pub(super) fn check_inbox(inbox: &[u8]) -> Result<()> {
    let (length, smallest) = (inbox.len(), mailbox::smallest(inbox));
    if length < smallest { Err(ShortInbox { length, smallest }.into()) } else { Ok(()) }
}

/// What the firmware said, if it was the firmware that refused: only then did the kernel fill the outbox.
pub(super) fn refused(error: Error, inbox: &[u8], outbox: &[u8]) -> Error {
    if error.errno() != Some(Errno::REMOTEIO.raw_os_error()) {
        return error;
    }
    match Refused::read(mailbox::opcode(inbox), outbox) {
        Some(refused) => refused.into(),
        None => error,
    }
}
