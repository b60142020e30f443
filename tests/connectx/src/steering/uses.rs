//! Who is named by an entry or a miss, and how often: such an object cannot be destroyed.

use std::collections::HashMap;

/// Something that an entry or a table names by id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Used {
    Table(u32),
    /// A run of flow counters, by its first id.
    Counters(u32),
    Reformat(u32),
    Modification(u32),
}

/// How often each is named.
#[derive(Debug, Default)]
pub(super) struct Uses(HashMap<Used, usize>);

impl Uses {
    pub(super) fn add(&mut self, used: impl IntoIterator<Item = Used>) {
        for one in used {
            *self.0.entry(one).or_default() += 1;
        }
    }

    pub(super) fn remove(&mut self, used: impl IntoIterator<Item = Used>) {
        for one in used {
            if let Some(count) = self.0.get_mut(&one) {
                *count -= 1;
                if *count == 0 {
                    self.0.remove(&one);
                }
            }
        }
    }

    pub(super) fn of(&self, used: Used) -> usize {
        self.0.get(&used).copied().unwrap_or(0)
    }
}
