//! One ioctl: build it, send it, read it back.
//!
//! Everything this crate asks of the kernel about an open device is a *method* of an *object* with *attributes*,
//! sent as one block of memory: a header, then the attributes. A module that wants something declares the method
//! and its attributes as constants (see [`class`] for what an attribute can be), then
//!
//! ```text
//! const CREATE: Method = Method::new(OBJECT, CREATE_METHOD);
//! const NEW: NewHandle = NewHandle(CREATE_HANDLE);
//! const ID: Out<u32> = Out::new(CREATE_ID);
//!
//! let mut id = 0;
//! let mut command = Command::<2>::new(CREATE, driver);
//! let new = command.new_handle(NEW);
//! command.out(ID, &mut id);
//! let handle = command.send(fd)?.handle(new);
//! ```
//!
//! An optional attribute is one that is not added. `N` is the greatest number of attributes; the command lies on
//! the stack, and nothing here allocates.
//!
//! This is the only module with a system call on the device and the only one with unsafe code. What makes it sound:
//!
//! * The kernel writes into the block (new handles, flags), so [`Command::send`] owns it and hands it over as
//!   `&mut`, in an ioctl that is declared mutating.
//! * Addresses in the block are those of buffers that the command borrows for `'a`; outputs are borrowed mutably, so
//!   nobody looks at them before the call is over. The addresses are exposed, so the compiler has to expect that
//!   the call writes there.
//! * What the kernel writes is plain data, of which every bit pattern is valid.
//! * The kernel writes new handles before it is through with a command that then fails, so handles can be read
//!   from a [`Reply`] only, and there is no reply without success.

#![cfg_attr(
    not(feature = "bench-internals"),
    expect(unreachable_pub, reason = "public for the benches alone")
)]
#![cfg_attr(
    not(any(feature = "std", test)),
    expect(dead_code, reason = "an anchor needs only some of the classes")
)]

pub mod class;
#[cfg(test)]
pub(crate) mod fake;
#[cfg(test)]
mod tests;

use core::{fmt, marker::PhantomData};

#[cfg(not(test))]
use rustix::ioctl::{Updater, ioctl};
use rustix::{
    fd::{AsRawFd, BorrowedFd, OwnedFd},
    io::Errno,
    ioctl::{Opcode, opcode},
};
use uverbs_uapi::rdma_user_ioctl_cmds::{
    IbUverbsAttr, IbUverbsIoctlHdr, RDMA_IOCTL_MAGIC, RDMA_VERBS_IOCTL, UverbsAttrFlags,
};
use zerocopy::{FromBytes, Immutable, IntoBytes};

use self::class::{
    BytesIn, BytesOut, ConstIn, EnumIn, Fd, FlagsIn, Handle, HandleArray, INLINE, NewFd, NewHandle, Out,
    RawFd, StructIn, ValueIn,
};

/// The request, as this architecture encodes it.
const REQUEST: Opcode = opcode::read_write::<IbUverbsIoctlHdr>(RDMA_IOCTL_MAGIC, 1);
const _: () = assert!(REQUEST == 0xC018_1B01 && RDMA_VERBS_IOCTL == 0xC018_1B01);

/// The most attributes that the kernel takes: header and attributes have to fit a page of 4 KiB.
pub const MAX_ATTRIBUTES: usize = (4096 - size_of::<IbUverbsIoctlHdr>()) / size_of::<IbUverbsAttr>();

/// A method of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Method {
    object: u16,
    method: u16,
}

impl Method {
    /// The method `method` of `object`.
    #[must_use]
    pub const fn new(object: u16, method: u16) -> Self {
        Self { object, method }
    }

    /// The object's number.
    #[must_use]
    pub const fn object(self) -> u16 {
        self.object
    }

    /// The method's number.
    #[must_use]
    pub const fn method(self) -> u16 {
        self.method
    }
}

/// A buffer is longer than the 65535 bytes that an attribute can carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong(pub usize);

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes are more than the 65535 of one attribute", self.0)
    }
}

/// The kernel refused a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What was asked.
    pub method: Method,
    /// The kernel's answer.
    pub errno: Errno,
}

/// Where in a command the handle of a new object will be.
#[derive(Clone, Copy, Debug)]
pub struct HandleSlot(usize);

/// The block of memory that travels: the header, and the attributes behind it.
#[derive(Debug)]
#[repr(C)]
struct Block<const N: usize> {
    header: IbUverbsIoctlHdr,
    attributes: [IbUverbsAttr; N],
}

/// A command of up to `N` attributes that borrows its buffers for `'a`.
#[derive(Debug)]
pub struct Command<'a, const N: usize> {
    block: Block<N>,
    used: usize,
    new_fd: Option<usize>,
    buffers: PhantomData<&'a mut [u8]>,
}

impl<'a, const N: usize> Command<'a, N> {
    /// A command without attributes, for a device of the driver `driver`.
    #[inline]
    #[must_use]
    pub const fn new(method: Method, driver: u32) -> Self {
        const { assert!(N <= MAX_ATTRIBUTES) };
        let header = IbUverbsIoctlHdr {
            length: 0,
            object_id: method.object,
            method_id: method.method,
            num_attrs: 0,
            reserved1: 0,
            driver_id: driver,
            reserved2: 0,
        };
        let empty =
            IbUverbsAttr { attr_id: 0, len: 0, flags: UverbsAttrFlags::empty(), attr_data: 0, data: 0 };
        Self { block: Block { header, attributes: [empty; N] }, used: 0, new_fd: None, buffers: PhantomData }
    }

    #[inline]
    fn add(&mut self, attr_id: u16, len: u16, data: u64) -> usize {
        let slot = self.used;
        let flags = UverbsAttrFlags::MANDATORY;
        self.block.attributes[slot] = IbUverbsAttr { attr_id, len, flags, attr_data: 0, data };
        self.used = slot + 1;
        slot
    }

    /// Asks for a new object.
    #[inline]
    pub fn new_handle(&mut self, attribute: NewHandle) -> HandleSlot {
        HandleSlot(self.add(attribute.0, 0, 0))
    }

    /// Names an object.
    #[inline]
    pub fn handle(&mut self, attribute: Handle, handle: u32) {
        self.add(attribute.0, 0, u64::from(handle));
    }

    /// Names several objects.
    ///
    /// # Errors
    /// If there are more than 16383.
    #[inline]
    pub fn handles(&mut self, attribute: HandleArray, handles: &'a [u32]) -> Result<(), TooLong> {
        self.bytes_in(BytesIn(attribute.0), handles.as_bytes())
    }

    /// Gives a number.
    #[inline]
    pub fn constant(&mut self, attribute: ConstIn, value: u64) {
        self.add(attribute.0, 8, value);
    }

    /// Gives flags.
    #[inline]
    pub fn flags(&mut self, attribute: FlagsIn, flags: u64) {
        self.add(attribute.0, 8, flags);
    }

    /// Chooses the element `element`, to which the bytes of `value` belong.
    #[inline]
    pub fn element<T: IntoBytes + Immutable>(&mut self, attribute: EnumIn, element: u8, value: &T) {
        const { assert!(size_of::<T>() <= INLINE) };
        let slot = self.add(attribute.0, short(size_of::<T>()), inline(value.as_bytes()));
        self.block.attributes[slot].attr_data = u16::from_ne_bytes([element, 0]);
    }

    /// Gives a value of at most 8 bytes.
    #[inline]
    pub fn value_in<T: IntoBytes + Immutable>(&mut self, attribute: ValueIn<T>, value: &T) {
        self.add(attribute.id(), short(size_of::<T>()), inline(value.as_bytes()));
    }

    /// Gives a structure of more than 8 bytes.
    #[inline]
    pub fn struct_in<T: IntoBytes + Immutable>(&mut self, attribute: StructIn<T>, value: &'a T) {
        self.add(attribute.id(), short(size_of::<T>()), address(value.as_bytes()));
    }

    /// Gives bytes.
    ///
    /// # Errors
    /// If there are more than 65535.
    #[inline]
    pub fn bytes_in(&mut self, attribute: BytesIn, bytes: &'a [u8]) -> Result<(), TooLong> {
        let len = length(bytes)?;
        self.add(attribute.0, len, if bytes.len() <= INLINE { inline(bytes) } else { address(bytes) });
        Ok(())
    }

    /// Asks for a value, and keeps it borrowed until the command is sent.
    ///
    /// An output that the kernel has no answer for stays as it is: begin with zeros. (That the kernel marks those it
    /// wrote says no more: in a command that succeeded, it has written every mandatory one.)
    #[inline]
    pub fn out<T: FromBytes + IntoBytes>(&mut self, attribute: Out<T>, value: &'a mut T) {
        let bytes = value.as_mut_bytes();
        self.add(attribute.id(), short(size_of::<T>()), address_mut(bytes));
    }

    /// Asks for bytes: at most as many as the buffer has.
    ///
    /// # Errors
    /// If there are more than 65535.
    #[inline]
    pub fn bytes_out(&mut self, attribute: BytesOut, buffer: &'a mut [u8]) -> Result<(), TooLong> {
        let len = length(buffer)?;
        self.add(attribute.0, len, address_mut(buffer));
        Ok(())
    }

    /// Asks for a new file, of which a command makes at most one: see [`Reply::into_fd`].
    #[inline]
    pub fn new_fd(&mut self, attribute: NewFd) {
        self.new_fd = Some(self.add(attribute.0, 0, 0));
    }

    /// Names a file that belongs to the device's.
    #[inline]
    pub fn fd(&mut self, attribute: Fd, fd: BorrowedFd<'a>) {
        self.add(attribute.0, 0, descriptor(fd));
    }

    /// Names any open file.
    #[inline]
    pub fn raw_fd(&mut self, attribute: RawFd, fd: BorrowedFd<'a>) {
        self.add(attribute.0, 0, descriptor(fd));
    }

    /// Sends the command to the device of which `fd` is the open file.
    ///
    /// # Errors
    /// The kernel's. Nothing was made then, and outputs hold whatever the kernel left in them.
    #[inline]
    pub fn send(mut self, fd: BorrowedFd<'_>) -> Result<Reply<N>, Refusal> {
        let header = &mut self.block.header;
        header.num_attrs = short(self.used);
        header.length = short(size_of::<IbUverbsIoctlHdr>() + self.used * size_of::<IbUverbsAttr>());
        let method = Method { object: header.object_id, method: header.method_id };
        match transmit(fd, &mut self.block) {
            Ok(()) => Ok(Reply { attributes: self.block.attributes, new_fd: self.new_fd }),
            Err(errno) => Err(Refusal { method, errno }),
        }
    }
}

/// What the kernel wrote into the attributes of a command that succeeded.
#[derive(Debug)]
pub struct Reply<const N: usize> {
    attributes: [IbUverbsAttr; N],
    new_fd: Option<usize>,
}

impl<const N: usize> Reply<N> {
    /// The handle of the new object.
    #[inline]
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "the kernel's handles are 32 bits wide")]
    pub const fn handle(&self, slot: HandleSlot) -> u32 {
        self.attributes[slot.0].data as u32
    }

    /// The new file, if the command asked for one.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "a file descriptor is 32 bits wide")]
    pub fn into_fd(self) -> Option<OwnedFd> {
        use rustix::fd::FromRawFd;

        let data = self.attributes[self.new_fd?].data;
        // SAFETY: `new_fd` is the place of the attribute by which this very command asked for a new file. The command
        // succeeded, so the kernel has installed the file and written its number there, for us and nobody else. The
        // reply is consumed and cannot be copied, so the number becomes owned once.
        Some(unsafe { OwnedFd::from_raw_fd(data as i32) })
    }
}

/// The one system call on a device.
#[cfg(not(test))]
#[inline]
fn transmit<const N: usize>(fd: BorrowedFd<'_>, block: &mut Block<N>) -> Result<(), Errno> {
    // SAFETY: the number is that of the uverbs ioctl, which takes a pointer to a header with `num_attrs` attributes
    // behind it; `block` is that, `num_attrs` is at most `N`, and it is borrowed mutably for the call. The kernel
    // writes to the block and to the addresses in it. Those are, with the lengths next to them, the buffers that the
    // `Command` around the block borrows, outputs mutably, and it lives until `send` returns. Should `fd` be the file
    // of something else that knows this number: by the number's size field it reads and writes 24 bytes, which the
    // block has.
    unsafe { ioctl(fd, Updater::<REQUEST, _>::new(block)) }
}

/// Under test a fake answers, on the thread that asks.
#[cfg(test)]
fn transmit<const N: usize>(_: BorrowedFd<'_>, block: &mut Block<N>) -> Result<(), Errno> {
    let used = usize::from(block.header.num_attrs);
    fake::answer(&block.header, &mut block.attributes[..used])
}

#[inline]
fn length(bytes: &[u8]) -> Result<u16, TooLong> {
    u16::try_from(bytes.len()).map_err(|_| TooLong(bytes.len()))
}

/// A size that is known to fit: that of a type, checked where its class is declared, or of the block.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "checked by the assertions on classes and on N")]
const fn short(size: usize) -> u16 {
    debug_assert!(size <= u16::MAX as usize);
    size as u16
}

/// At most 8 bytes as the content of an attribute: from its first byte on, the others zero.
#[inline]
fn inline(bytes: &[u8]) -> u64 {
    let mut data = [0; INLINE];
    data[..bytes.len()].copy_from_slice(bytes);
    u64::from_ne_bytes(data)
}

#[inline]
fn address(bytes: &[u8]) -> u64 {
    bytes.as_ptr().expose_provenance() as u64
}

#[inline]
fn address_mut(bytes: &mut [u8]) -> u64 {
    bytes.as_mut_ptr().expose_provenance() as u64
}

#[inline]
fn descriptor(fd: BorrowedFd<'_>) -> u64 {
    // Never negative: a `BorrowedFd` cannot hold -1, and the kernel gives no other negative number.
    u64::from(fd.as_raw_fd().unsigned_abs())
}
