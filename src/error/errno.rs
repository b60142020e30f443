//! The kernel's error numbers.

use core::fmt;

/// An error number of the kernel, positive.
///
/// Displayed with its name, and with std what the system says of it:
/// `EPERM: Operation not permitted (os error 1)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Errno(i32);

impl Errno {
    /// The number.
    #[must_use]
    pub const fn raw(self) -> i32 {
        self.0
    }

    /// The name in `errno.h`, of those that this ABI answers with.
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        use rustix::io::Errno as E;
        Some(match E::from_raw_os_error(self.0) {
            E::PERM => "EPERM",
            E::NOENT => "ENOENT",
            E::INTR => "EINTR",
            E::IO => "EIO",
            E::NXIO => "ENXIO",
            E::BADF => "EBADF",
            E::AGAIN => "EAGAIN",
            E::NOMEM => "ENOMEM",
            E::ACCESS => "EACCES",
            E::FAULT => "EFAULT",
            E::BUSY => "EBUSY",
            E::EXIST => "EEXIST",
            E::NODEV => "ENODEV",
            E::NOTDIR => "ENOTDIR",
            E::INVAL => "EINVAL",
            E::NFILE => "ENFILE",
            E::MFILE => "EMFILE",
            E::NOTTY => "ENOTTY",
            E::NOSPC => "ENOSPC",
            E::NOSYS => "ENOSYS",
            E::OVERFLOW => "EOVERFLOW",
            E::LOOP => "ELOOP",
            E::PROTONOSUPPORT => "EPROTONOSUPPORT",
            E::OPNOTSUPP => "EOPNOTSUPP",
            E::TIMEDOUT => "ETIMEDOUT",
            E::REMOTEIO => "EREMOTEIO",
            _ => return None,
        })
    }
}

impl From<rustix::io::Errno> for Errno {
    fn from(errno: rustix::io::Errno) -> Self {
        Self(errno.raw_os_error())
    }
}

impl fmt::Display for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name)?,
            None => write!(f, "errno {}", self.0)?,
        }
        #[cfg(feature = "std")]
        write!(f, ": {}", std::io::Error::from_raw_os_error(self.0))?;
        Ok(())
    }
}

impl core::error::Error for Errno {}
