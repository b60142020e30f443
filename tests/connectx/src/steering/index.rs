//! Which entry of a group takes a packet, without looking at each: entries by the bytes that they compare.

use std::collections::{BTreeSet, HashMap};

/// The bytes of match parameters that a group compares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Criteria {
    /// Bit set of the sections that count.
    pub enable: u8,
    /// The whole mask, as given.
    pub mask: Vec<u8>,
    /// Offset and mask of each byte that counts.
    bytes: Vec<(usize, u8)>,
}

/// Bytes in a section of match parameters.
const SECTION: usize = 64;

impl Criteria {
    /// The criteria `mask`, of which the sections in `enable` count.
    #[must_use]
    pub fn new(enable: u8, mask: &[u8]) -> Self {
        let bytes = mask
            .iter()
            .enumerate()
            .filter(|&(at, &m)| m != 0 && at / SECTION < 8 && enable >> (at / SECTION) & 1 != 0)
            .map(|(at, &m)| (at, m))
            .collect();
        Self { enable, mask: mask.to_vec(), bytes }
    }

    /// What is compared of `image`, which is as long as the mask.
    #[must_use]
    pub fn key(&self, image: &[u8]) -> Box<[u8]> {
        self.bytes.iter().map(|&(at, mask)| image.get(at).copied().unwrap_or(0) & mask).collect()
    }
}

/// The entries of a group by their keys.
#[derive(Debug, Default)]
pub struct Index(HashMap<Box<[u8]>, BTreeSet<u32>>);

impl Index {
    /// Adds the entry `index` with this key.
    pub fn insert(&mut self, key: Box<[u8]>, index: u32) {
        self.0.entry(key).or_default().insert(index);
    }

    /// Removes it.
    pub fn remove(&mut self, key: &[u8], index: u32) {
        if let Some(entries) = self.0.get_mut(key) {
            entries.remove(&index);
            if entries.is_empty() {
                self.0.remove(key);
            }
        }
    }

    /// The entries that take `image`, lowest index first.
    #[must_use]
    pub fn candidates(&self, criteria: &Criteria, image: &[u8]) -> Option<&BTreeSet<u32>> {
        if self.0.is_empty() {
            return None;
        }
        self.0.get(&criteria.key(image))
    }

    /// Whether there is no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition: section by section, masked packet equals masked value.
    fn naive(enable: u8, mask: &[u8], values: &[(u32, Vec<u8>)], image: &[u8]) -> Vec<u32> {
        let mut hits: Vec<u32> = values
            .iter()
            .filter(|(_, value)| {
                (0..mask.len())
                    .all(|at| enable >> (at / SECTION) & 1 == 0 || (image[at] ^ value[at]) & mask[at] == 0)
            })
            .map(|(index, _)| *index)
            .collect();
        hits.sort_unstable();
        hits
    }

    proptest! {
        #[test]
        fn the_index_finds_what_a_scan_finds(
            enable: u8,
            // Few different bits, so that packets do hit.
            mask in proptest::collection::vec(prop_oneof![4 => Just(0u8), 1 => Just(1u8), 1 => Just(3u8)], 512),
            seeds in proptest::collection::vec((0u32..64, any::<u64>()), 0..24),
            packet: u64,
        ) {
            let spread = |seed: u64| -> Vec<u8> { (0..512u32).map(|at| u8::from(seed >> (at % 3) & 1 != 0)).collect() };
            let criteria = Criteria::new(enable, &mask);
            let mut index = Index::default();
            let mut values: Vec<(u32, Vec<u8>)> = Vec::new();
            for (at, seed) in seeds {
                // An index used twice is an entry replaced.
                if let Some(old) = values.iter().position(|v| v.0 == at) {
                    let (_, value) = values.swap_remove(old);
                    index.remove(&criteria.key(&value), at);
                }
                index.insert(criteria.key(&spread(seed)), at);
                values.push((at, spread(seed)));
            }
            let image = spread(packet);
            let found: Vec<u32> = index.candidates(&criteria, &image).into_iter().flatten().copied().collect();
            prop_assert_eq!(found, naive(enable, &mask, &values, &image));
        }
    }
}
