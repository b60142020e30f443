//! What `lab-trace` writes down about a program: JSON, for whoever compares or measures.
//!
//! The program `lab-trace [--json FILE] -- PROG ARGS…` of this package runs another and follows its threads and
//! children. It counts from the program's first instruction on: the `execve` that started it is not in the figures.

#![forbid(unsafe_code)]

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};

/// All that was seen of a program, its threads and its children.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// The program and its arguments.
    pub program: Vec<String>,
    /// How it ended.
    pub exit: Exit,
    /// How often each system call was made, by its name, or its number if it has no name that is known. A call that a
    /// signal interrupted and the kernel began anew is made again.
    pub syscalls: BTreeMap<String, u64>,
    /// Files opened, in order: `open`, `openat`, `openat2` and `creat`.
    pub opens: Vec<Open>,
    /// Bytes of all mappings that `mmap` made, whether or not they were touched or still there at the end.
    pub mapped_bytes: u64,
    /// The most memory that one of the processes had resident at a time (`VmHWM`), in bytes.
    pub peak_resident_bytes: u64,
    /// The ioctls `RDMA_VERBS_IOCTL`, in order of their beginning.
    pub commands: Vec<Command>,
}

impl Report {
    /// How many system calls there were.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.syscalls.values().sum()
    }

    /// How often the call of this name was made.
    #[must_use]
    pub fn count(&self, name: &str) -> u64 {
        self.syscalls.get(name).copied().unwrap_or_default()
    }
}

impl fmt::Display for Report {
    /// A summary for people.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, count) in &self.syscalls {
            writeln!(f, "{count:8} {name}")?;
        }
        writeln!(f, "{:8} system calls", self.total())?;
        writeln!(f, "{:8} of them RDMA_VERBS_IOCTL", self.commands.len())?;
        writeln!(f, "{:8} files opened", self.opens.iter().filter(|open| open.result >= 0).count())?;
        writeln!(f, "{:8} KiB mapped", self.mapped_bytes / 1024)?;
        write!(f, "{:8} KiB resident at most", self.peak_resident_bytes / 1024)
    }
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// By itself, with this status.
    Code(i32),
    /// By a signal of this number.
    Signal(i32),
}

impl Default for Exit {
    fn default() -> Self {
        Self::Code(0)
    }
}

/// A file that was opened, or not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Open {
    /// Its path, as the program gave it.
    pub path: String,
    /// The descriptor, or a negative errno.
    pub result: i64,
}

/// One ioctl `RDMA_VERBS_IOCTL`: its header, its attributes, and what it came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// The descriptor of the device.
    pub fd: i32,
    /// Which object.
    pub object: u16,
    /// Which method of it.
    pub method: u16,
    /// Bytes of header and attributes.
    pub length: u16,
    /// `enum rdma_driver_id`.
    pub driver: u32,
    /// The header's two reserved fields.
    pub reserved: (u64, u32),
    /// In the program's order.
    pub attributes: Vec<Attribute>,
    /// 0, or a negative errno.
    pub result: i64,
}

/// An attribute of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attribute {
    /// Which attribute of the method.
    pub id: u16,
    /// Bytes of data.
    pub length: u16,
    /// The element chosen, of an attribute that is an enum.
    pub element: u16,
    /// Before the call.
    pub before: Value,
    /// After it.
    pub after: Value,
}

/// What an attribute held at a moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Value {
    /// `UVERBS_ATTR_F_*`.
    pub flags: u16,
    /// The data itself, a handle, a descriptor, or an address.
    pub data: u64,
    /// The [`length`](Attribute::length) bytes at the address `data`, where there is memory. Whether the kernel takes a
    /// short attribute's data for an address is known only to its method; a small number is the address of nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Bytes>,
}

/// Bytes; in JSON a string of hexadecimal digits.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bytes(#[serde(with = "hex::serde")] pub Vec<u8>);

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(&self.0))
    }
}
