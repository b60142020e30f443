//! `uverbs anchor`: steering anchors.

pub(crate) mod create;
pub(crate) mod probe;
