//! Why something could not be fetched or read.

use std::{fmt::Display, io, path::Path};

/// What fetching and unpacking gives.
pub(crate) type Result<T> = std::result::Result<T, Error>;

/// A failure to fetch something, or to read what was fetched.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// It cannot be had on this machine, or not now: other things may.
    #[error("{what} cannot be had: {reason}")]
    Unavailable {
        /// The thing, in the user's words.
        what: String,
        /// Why, and what to do instead.
        reason: String,
    },

    /// A program that fetching stands on failed.
    #[error("{program} failed ({status}): {message}")]
    Program {
        /// The program's name.
        program: String,
        /// How it ended.
        status: String,
        /// What it said.
        message: String,
    },

    /// A file or folder could not be read or written.
    #[error("{path}: {source}")]
    File {
        /// Which one.
        path: String,
        /// Why.
        source: io::Error,
    },

    /// The kernel has no module of that name, neither as a file nor built in.
    #[error("kernel {release} has no module {module}{needed_by}")]
    NoModule {
        /// `uname -r` of the kernel.
        release: String,
        /// The module.
        module: String,
        /// Who wants it, as the end of a sentence.
        needed_by: String,
    },

    /// A file is not a kernel module, or packed in a way that is not known.
    #[error("{path} is not a kernel module: {reason}")]
    BadModule {
        /// The file.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl Error {
    /// Something that cannot be had.
    pub(super) fn unavailable(what: &str, reason: impl Display) -> Self {
        Self::Unavailable { what: what.to_owned(), reason: reason.to_string() }
    }
}

/// Names the file in an I/O error.
pub(super) trait AtPath<T> {
    /// Says that the failure was at `path`.
    fn at(self, path: &Path) -> Result<T>;
}

impl<T> AtPath<T> for io::Result<T> {
    fn at(self, path: &Path) -> Result<T> {
        self.map_err(|source| Error::File { path: path.display().to_string(), source })
    }
}
