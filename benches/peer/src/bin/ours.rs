//! The peer that this crate is, with the heap as it is.

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    peers::ours::main(|| None)
}
