//! Compares what the kernel says with what we say.

use crate::kernel::Version;

/// Holds a value of ours against the kernel's, `None` where it has no such name. `since`: the first kernel that should.
pub(crate) fn verdict(
    what: &str,
    ours: u64,
    kernels: Option<u64>,
    since: Option<Version>,
    version: Version,
) -> Option<String> {
    let expected = since.is_none_or(|since| version >= since);
    match (kernels, expected) {
        (Some(value), true) if value == ours => None,
        (Some(value), true) => Some(format!("{what} is {value:#x} in Linux {version}, {ours:#x} here")),
        (None, false) => None,
        (None, true) => Some(format!("{what} is not in Linux {version}")),
        (Some(_), false) => Some(format!(
            "{what} is in Linux {version}, but said to be there since {}",
            since.expect("it is only unexpected if a version is given")
        )),
    }
}
