//! The classes of attributes.
//!
//! How an attribute travels is fixed by the kernel's declaration of its method, and not by the size of what it
//! carries: a port number that fits a byte is a constant of 8 bytes, an output of 4 bytes is an address, an input
//! of 4 bytes is not. So each attribute is declared once, next to its method, as a constant of one of these types,
//! and [`Command`](super::Command) has one function for each.

use core::marker::PhantomData;

use zerocopy::{FromBytes, Immutable, IntoBytes};

/// The most bytes that travel inside an attribute; a longer input is an address.
pub(super) const INLINE: usize = 8;

/// A new object (`UVERBS_ATTR_IDR`, access `NEW`): the kernel writes its handle into the attribute.
#[derive(Clone, Copy, Debug)]
pub struct NewHandle(pub u16);

/// An object that exists (`UVERBS_ATTR_IDR`, access `READ`, `WRITE` or `DESTROY`).
#[derive(Clone, Copy, Debug)]
pub struct Handle(pub u16);

/// Several objects (`UVERBS_ATTR_IDRS_ARR`).
#[derive(Clone, Copy, Debug)]
pub struct HandleArray(pub u16);

/// A number (`UVERBS_ATTR_CONST_IN`): always 8 bytes, whatever its range.
#[derive(Clone, Copy, Debug)]
pub struct ConstIn(pub u16);

/// Flags (`UVERBS_ATTR_FLAGS_IN`).
#[derive(Clone, Copy, Debug)]
pub struct FlagsIn(pub u16);

/// One of several elements, with what belongs to it (`UVERBS_ATTR_ENUM_IN`).
#[derive(Clone, Copy, Debug)]
pub struct EnumIn(pub u16);

/// A value of at most 8 bytes (`UVERBS_ATTR_PTR_IN`): travels in the attribute, from its first byte on.
#[derive(Debug)]
pub struct ValueIn<T>(u16, PhantomData<fn(T)>);

/// A structure of more than 8 bytes (`UVERBS_ATTR_PTR_IN`): travels as an address.
#[derive(Debug)]
pub struct StructIn<T>(u16, PhantomData<fn(T)>);

/// Bytes of which the caller says how many (`UVERBS_ATTR_PTR_IN` with a range of sizes): the kernel takes up to 8
/// from the attribute and more from an address.
#[derive(Clone, Copy, Debug)]
pub struct BytesIn(pub u16);

/// A value or structure that the kernel writes (`UVERBS_ATTR_PTR_OUT`): an address, however short it is.
///
/// An anchor's `FT_ID` is of this class although the kernel declares it an input.
#[derive(Debug)]
pub struct Out<T>(u16, PhantomData<fn() -> T>);

/// Bytes that the kernel writes, of which the caller says how many (`UVERBS_ATTR_PTR_OUT` with a range of sizes).
#[derive(Clone, Copy, Debug)]
pub struct BytesOut(pub u16);

/// A new file (`UVERBS_ATTR_FD`, access `NEW`): the kernel writes its descriptor into the attribute.
#[derive(Clone, Copy, Debug)]
pub struct NewFd(pub u16);

/// A file that belongs to the device's (`UVERBS_ATTR_FD`, access `READ`).
#[derive(Clone, Copy, Debug)]
pub struct Fd(pub u16);

/// Any open file, such as a dma-buf (`UVERBS_ATTR_RAW_FD`).
#[derive(Clone, Copy, Debug)]
pub struct RawFd(pub u16);

impl<T: IntoBytes + Immutable> ValueIn<T> {
    /// The attribute `id`. Does not compile for more than 8 bytes.
    #[must_use]
    pub const fn new(id: u16) -> Self {
        const { assert!(size_of::<T>() <= INLINE) };
        Self(id, PhantomData)
    }

    pub(super) const fn id(self) -> u16 {
        self.0
    }
}

impl<T: IntoBytes + Immutable> StructIn<T> {
    /// The attribute `id`. Does not compile for 8 bytes or fewer, nor for more than an attribute can carry.
    #[must_use]
    pub const fn new(id: u16) -> Self {
        const { assert!(size_of::<T>() > INLINE && size_of::<T>() <= u16::MAX as usize) };
        Self(id, PhantomData)
    }

    pub(super) const fn id(self) -> u16 {
        self.0
    }
}

impl<T: FromBytes + IntoBytes> Out<T> {
    /// The attribute `id`. Does not compile for more than an attribute can carry.
    #[must_use]
    pub const fn new(id: u16) -> Self {
        const { assert!(size_of::<T>() <= u16::MAX as usize) };
        Self(id, PhantomData)
    }

    pub(super) const fn id(self) -> u16 {
        self.0
    }
}

// Not derived: that would ask the same of `T`, of which no value is held.
macro_rules! copy {
    ($($class:ident),*) => {$(
        impl<T> Clone for $class<T> {
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<T> Copy for $class<T> {}
    )*};
}
copy!(ValueIn, StructIn, Out);
