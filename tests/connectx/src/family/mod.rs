//! Families of commands: one module for each kind of firmware object.

pub(crate) mod devx;
pub(crate) mod eswitch;
pub(crate) mod function;
pub(crate) mod plain;
pub(crate) mod port;
pub(crate) mod queue_pair;
