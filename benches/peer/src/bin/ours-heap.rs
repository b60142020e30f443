//! The peer that this crate is, with a heap that counts its calls.

#![forbid(unsafe_code)]

use std::alloc::System;

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static HEAP: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn main() -> std::process::ExitCode {
    peers::ours::main(|| {
        let stats = HEAP.stats();
        Some((stats.allocations + stats.deallocations + stats.reallocations) as u64)
    })
}
