//! Flow counters, allocated one by one or in runs of consecutive ids.

use std::collections::BTreeMap;

/// What a counter counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Packets.
    pub packets: u64,
    /// Their bytes, without the frame check sequence.
    pub octets: u64,
}

/// All flow counters.
#[derive(Debug, Default)]
pub(super) struct Counters(BTreeMap<u32, Vec<Count>>);

impl Counters {
    /// A run of `length` counters from `first` on.
    pub(super) fn insert(&mut self, first: u32, length: usize) {
        self.0.insert(first, vec![Count::default(); length]);
    }

    /// Frees the run that begins at `first`.
    pub(super) fn remove(&mut self, first: u32) -> bool {
        self.0.remove(&first).is_some()
    }

    /// The first id of the run that holds `id`.
    pub(super) fn run(&self, id: u32) -> Option<u32> {
        let (&first, run) = self.0.range(..=id).next_back()?;
        (((id - first) as usize) < run.len()).then_some(first)
    }

    pub(super) fn get_mut(&mut self, id: u32) -> Option<&mut Count> {
        let (&first, run) = self.0.range_mut(..=id).next_back()?;
        run.get_mut((id - first) as usize)
    }
}
