//! A field of a big-endian layout, and the macro that declares layouts.

/// A bit range of a big-endian layout: bit 0 is the most significant bit of byte 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// First bit.
    pub offset: usize,
    /// Number of bits.
    pub width: usize,
}

impl Field {
    /// The field of `width` bits that begins at bit `offset`.
    #[must_use]
    pub const fn new(offset: usize, width: usize) -> Self {
        Self { offset, width }
    }

    /// The field `inner` of the structure that lies at this field.
    ///
    /// # Panics
    /// If `inner` ends behind this field, unless it begins right there: the first item of an array without a size.
    #[must_use]
    pub const fn then(self, inner: Self) -> Self {
        assert!(
            inner.offset + inner.width <= self.width || inner.offset == self.width,
            "the inner field ends behind the outer one"
        );
        Self::new(self.offset + inner.offset, inner.width)
    }

    /// The `index`th item of an array whose first item is this field.
    #[must_use]
    pub const fn nth(self, index: usize) -> Self {
        Self::new(self.offset + index * self.width, self.width)
    }

    /// The first byte of the field.
    #[must_use]
    pub const fn byte(self) -> usize {
        self.offset / 8
    }

    /// The bytes of a field that begins and ends on byte boundaries.
    ///
    /// # Panics
    /// If it does not.
    #[must_use]
    pub const fn bytes(self) -> core::ops::Range<usize> {
        assert!(self.offset % 8 == 0 && self.width % 8 == 0, "the field does not lie on byte boundaries");
        self.offset / 8..(self.offset + self.width) / 8
    }

    /// The greatest value the field holds (fields of at most 64 bits).
    #[must_use]
    pub const fn max(self) -> u64 {
        if self.width >= 64 { u64::MAX } else { (1 << self.width) - 1 }
    }

    /// Reads the field, at most 64 bits wide; bytes behind the end of `buffer` count as zero.
    ///
    /// # Panics
    /// If the field is wider.
    #[must_use]
    #[inline]
    pub fn get(self, buffer: &[u8]) -> u64 {
        assert!(self.width <= 64);
        let (first, end) = (self.offset / 8, (self.offset + self.width).div_ceil(8));
        let mut value: u128 = 0;
        let mut at = first;
        while at < end {
            value = value << 8 | u128::from(buffer.get(at).copied().unwrap_or(0));
            at += 1;
        }
        #[expect(clippy::cast_possible_truncation, reason = "masked to the width, which is at most 64")]
        let value = (value >> (end * 8 - self.offset - self.width)) as u64;
        value & self.max()
    }

    /// Writes the field, at most 64 bits wide.
    ///
    /// # Panics
    /// If `value` does not fit the width, or the field ends behind `buffer`: both are errors of the caller, who
    /// checks what comes from outside before it gets here.
    #[inline]
    pub fn set(self, buffer: &mut [u8], value: u64) {
        assert!(self.width <= 64 && value <= self.max(), "the value does not fit the field");
        let (first, end) = (self.offset / 8, (self.offset + self.width).div_ceil(8));
        let shift = end * 8 - self.offset - self.width;
        let (mask, value) = (u128::from(self.max()) << shift, u128::from(value) << shift);
        let mut at = end;
        let mut low = 0;
        while at > first {
            at -= 1;
            #[expect(clippy::cast_possible_truncation, reason = "one byte of the shifted value is wanted")]
            let (m, v) = ((mask >> low) as u8, (value >> low) as u8);
            buffer[at] = buffer[at] & !m | v;
            low += 8;
        }
    }
}

/// A layout and its fields, for tools that walk all of them: the header check, a trace.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// The kernel's name without `mlx5_ifc_` and `_bits`.
    pub name: &'static str,
    /// Size in bytes, without a flexible array at the end.
    pub size: usize,
    /// Name in capitals, and place, of each field.
    pub fields: &'static [(&'static str, Field)],
}

/// Declares layouts: one module each, with `SIZE` and one [`Field`] constant a field, and the list `LAYOUTS` of all.
///
/// `create_flow_table_in: 64 { TABLE_TYPE: 0x80/8, FLOW_TABLE_CONTEXT: 0xc0/320 }`: size in bytes, then offset and
/// width in bits. `pub(super) const LAYOUTS;` in front of all gives the list another visibility.
#[macro_export]
macro_rules! prm_layouts {
    ($(#[$doc:meta])* $first:ident: $($rest:tt)*) => {
        $crate::prm_layouts! { pub const LAYOUTS; $(#[$doc])* $first: $($rest)* }
    };
    ($visibility:vis const LAYOUTS; $($(#[$doc:meta])* $name:ident: $size:literal { $($(#[$field_doc:meta])* $field:ident: $offset:literal / $width:literal),* $(,)? })*) => {
        $(
            $(#[$doc])*
            #[doc = concat!("\n\nC: `mlx5_ifc_", stringify!($name), "_bits`, ", stringify!($size), " bytes.")]
            pub mod $name {
                use $crate::prm::Field;
                /// Size in bytes, without a flexible array at the end.
                pub const SIZE: usize = $size;
                $(
                    $(#[$field_doc])*
                    #[doc = concat!("\n\nBit ", stringify!($offset), ", ", stringify!($width), " bits wide.")]
                    pub const $field: Field = Field::new($offset, $width);
                )*
                pub(super) const FIELDS: &[(&str, Field)] = &[$((stringify!($field), $field)),*];
            }
        )*
        /// Every layout of this module.
        $visibility const LAYOUTS: &[$crate::prm::Layout] = &[
            $($crate::prm::Layout { name: stringify!($name), size: $name::SIZE, fields: $name::FIELDS }),*
        ];
    };
}

#[cfg(test)]
mod tests {
    use super::Field;

    #[test]
    fn a_field_is_read_back_and_leaves_its_neighbours_alone() {
        for offset in 0..40 {
            for width in 1..=64 {
                let field = Field::new(offset, width);
                let mut buffer = [0xa5u8; 16];
                field.set(&mut buffer, 0);
                assert_eq!(field.get(&buffer), 0);
                field.set(&mut buffer, field.max());
                assert_eq!(field.get(&buffer), field.max());
                let mut inverse = [0xa5u8; 16];
                field.set(&mut inverse, 0);
                let changed: u32 = buffer.iter().zip(&inverse).map(|(a, b)| (a ^ b).count_ones()).sum();
                assert_eq!(changed as usize, width);
                let bit = |at: usize| buffer[at / 8] >> (7 - at % 8) & 1;
                let original = |at: usize| 0xa5u8 >> (7 - at % 8) & 1;
                assert!((0..offset).chain(offset + width..128).all(|at| bit(at) == original(at)));
            }
        }
    }

    #[test]
    fn bit_0_is_the_most_significant_of_byte_0() {
        let mut buffer = [0; 4];
        Field::new(0, 1).set(&mut buffer, 1);
        Field::new(0x14, 12).set(&mut buffer, 0xabc);
        assert_eq!(buffer, [0x80, 0, 0x0a, 0xbc]);
    }
}
