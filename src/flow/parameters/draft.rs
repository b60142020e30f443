//! Mask and value while they grow.

use uverbs_uapi::prm::Field;

use super::{Contradiction, Masked};

/// A mask and a value of `N` bytes that never disagree: the first contradiction is kept and ends the growth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Draft<const N: usize> {
    pub(super) mask: [u8; N],
    pub(super) value: [u8; N],
    pub(super) refused: Option<Contradiction>,
}

impl<const N: usize> Draft<N> {
    pub(super) const fn new() -> Self {
        Self { mask: [0; N], value: [0; N], refused: None }
    }

    pub(super) fn refuse(&mut self, contradiction: Contradiction) {
        self.refused.get_or_insert(contradiction);
    }

    /// Asks that `field` be `wanted`, besides what is asked already.
    pub(super) fn require<T: Into<u64>>(&mut self, name: &'static str, field: Field, wanted: Masked<T>) {
        let maximum = field.max();
        let (value, mask) = wanted.map(Into::into).parts(maximum);
        if value > maximum || mask > maximum {
            return self.refuse(Contradiction::Wide { field: name, value: value.max(mask), maximum });
        }
        if value & !mask != 0 {
            return self.refuse(Contradiction::OutsideMask { field: name, value, mask });
        }
        let (old_value, old_mask) = (field.get(&self.value), field.get(&self.mask));
        if (old_value ^ value) & old_mask & mask != 0 {
            return self.refuse(Contradiction::Both { field: name, earlier: old_value, later: value });
        }
        field.set(&mut self.mask, old_mask | mask);
        field.set(&mut self.value, old_value | value);
    }

    /// Whether `field` is asked to be exactly `value`.
    pub(super) fn is_exactly(&self, field: Field, value: u64) -> bool {
        field.get(&self.mask) == field.max() && field.get(&self.value) == value
    }

    /// Whether what is asked of `field` lets it be `value`.
    pub(super) fn may_be(&self, field: Field, value: u64) -> bool {
        (field.get(&self.value) ^ value) & field.get(&self.mask) == 0
    }

    /// Whether anything is asked of `field`.
    pub(super) fn asks(&self, field: Field) -> bool {
        field.get(&self.mask) != 0
    }
}
