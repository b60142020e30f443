//! A kernel for tests: answers commands on the thread that sends them, without a device.
//!
//! Also counts heap allocations, since what the command path promises is to make none.

use core::cell::{Cell, RefCell};
use std::alloc::{GlobalAlloc, Layout, System};

use rustix::{
    fd::{BorrowedFd, OwnedFd},
    fs::{Mode, OFlags},
    io::Errno,
};
use uverbs_uapi::rdma_user_ioctl_cmds::{IbUverbsAttr, IbUverbsIoctlHdr, UverbsAttrFlags};
use zerocopy::IntoBytes;

use super::Method;

type Answer = Box<dyn FnMut(&mut Sent<'_>) -> Result<(), Errno>>;

thread_local! {
    static ANSWER: RefCell<Option<Answer>> = const { RefCell::new(None) };
    static SENT: Cell<usize> = const { Cell::new(0) };
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

/// Has `answer` answer the commands that this thread sends from now on.
pub(crate) fn install(answer: impl FnMut(&mut Sent<'_>) -> Result<(), Errno> + 'static) {
    ANSWER.set(Some(Box::new(answer)));
    SENT.set(0);
}

/// Commands that this thread has sent since [`install`].
pub(crate) fn sent() -> usize {
    SENT.get()
}

/// Heap allocations of this thread so far.
pub(crate) fn allocations() -> usize {
    ALLOCATIONS.get()
}

/// A file to own that is none of a device: under test no command leaves the process.
pub(crate) fn file() -> OwnedFd {
    rustix::fs::open("/dev/null", OFlags::RDWR, Mode::empty()).expect("a null device")
}

/// A file to send commands to, without a system call: Miri knows only few.
pub(super) fn fd() -> BorrowedFd<'static> {
    // SAFETY: nobody closes a test's standard input.
    unsafe { BorrowedFd::borrow_raw(0) }
}

pub(super) fn answer(header: &IbUverbsIoctlHdr, attributes: &mut [IbUverbsAttr]) -> Result<(), Errno> {
    SENT.set(SENT.get() + 1);
    ANSWER.with_borrow_mut(|answer| {
        answer.as_mut().expect("a test that sends commands installs an answer")(&mut Sent {
            header,
            attributes,
        })
    })
}

/// A command on its way.
pub(crate) struct Sent<'a> {
    header: &'a IbUverbsIoctlHdr,
    attributes: &'a mut [IbUverbsAttr],
}

impl Sent<'_> {
    pub(crate) fn method(&self) -> Method {
        Method::new(self.header.object_id, self.header.method_id)
    }

    /// Header and attributes as the kernel sees them.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        [self.header.as_bytes(), self.attributes.as_bytes()].concat()
    }

    pub(crate) fn attribute(&self, id: u16) -> Option<&IbUverbsAttr> {
        self.attributes.iter().find(|attribute| attribute.attr_id == id)
    }

    /// The bytes that an input points to.
    pub(crate) fn pointed(&self, id: u16) -> Vec<u8> {
        let attribute = self.attribute(id).expect("the attribute is there");
        let mut bytes = vec![0; usize::from(attribute.len)];
        let address = core::ptr::with_exposed_provenance::<u8>(address(attribute));
        // SAFETY: the command that is being sent borrows `len` bytes at this address, and has exposed it. `bytes` is
        // new, and as long.
        unsafe { address.copy_to_nonoverlapping(bytes.as_mut_ptr(), bytes.len()) };
        bytes
    }

    /// Writes an output, as far as there is room, and marks it.
    pub(crate) fn write(&mut self, id: u16, bytes: &[u8]) {
        let attribute = self.attributes.iter_mut().find(|attribute| attribute.attr_id == id);
        let attribute = attribute.expect("the attribute is there");
        let length = bytes.len().min(usize::from(attribute.len));
        let address = core::ptr::with_exposed_provenance_mut::<u8>(address(attribute));
        // SAFETY: the command that is being sent borrows `len` bytes at this address mutably, and has exposed it.
        // `bytes` is borrowed at the same time, so it is not the same memory.
        unsafe { address.copy_from_nonoverlapping(bytes.as_ptr(), length) };
        attribute.flags |= UverbsAttrFlags::VALID_OUTPUT;
    }

    /// Makes an object, or a file.
    pub(crate) fn create(&mut self, id: u16, number: u32) {
        let attribute = self.attributes.iter_mut().find(|attribute| attribute.attr_id == id);
        attribute.expect("the attribute is there").data = number.into();
    }
}

fn address(attribute: &IbUverbsAttr) -> usize {
    usize::try_from(attribute.data).expect("an address fits")
}

/// The system's allocator, with a count.
struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

// SAFETY: all is left to the system's allocator, which keeps the contract. The count is a thread-local without a
// destructor, initialised at compile time: using it does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}
