//! The memory of a traced process.

use std::io::IoSliceMut;

use nix::{
    sys::uio::{RemoteIoVec, process_vm_readv},
    unistd::Pid,
};

/// No path is longer.
const PATH_MAX: usize = 4096;
/// What is mapped is whole pages.
const PAGE: usize = 4096;

/// `length` bytes at `address`, if all of them are there.
pub(crate) fn read(pid: Pid, address: u64, length: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; length];
    let remote = RemoteIoVec { base: usize::try_from(address).ok()?, len: length };
    let count = process_vm_readv(pid, &mut [IoSliceMut::new(&mut bytes)], &[remote]).ok()?;
    (count == length).then_some(bytes)
}

/// The text at `address` up to its NUL. Read page by page: the next one may not be there.
pub(crate) fn read_text(pid: Pid, address: u64) -> Option<String> {
    let mut text = Vec::new();
    while text.len() < PATH_MAX {
        let at = address.checked_add(text.len() as u64)?;
        let rest_of_page = PAGE - usize::try_from(at).ok()? % PAGE;
        let bytes = read(pid, at, rest_of_page)?;
        let end = bytes.iter().position(|&byte| byte == 0);
        text.extend_from_slice(&bytes[..end.unwrap_or(bytes.len())]);
        if end.is_some() {
            return Some(String::from_utf8_lossy(&text).into_owned());
        }
    }
    None
}
