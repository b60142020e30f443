//! Memory that the card reads and writes.

use core::{
    fmt,
    sync::atomic::{AtomicU32, Ordering},
};
use std::os::fd::BorrowedFd;

use bitflags::bitflags;
use uverbs_uapi::mlx5_user_ioctl_cmds as cmds;

use crate::{
    Context, DestroyError, Result,
    command::{
        Command, Method,
        class::{ConstIn, FlagsIn, Handle, NewHandle, Out, RawFd, ValueIn},
    },
    context::Owned,
};

const OBJECT: u16 = cmds::MLX5_IB_OBJECT_DEVX_UMEM;
const REG: Method = Method::new(OBJECT, cmds::MLX5_IB_METHOD_DEVX_UMEM_REG);
const REG_HANDLE: NewHandle = NewHandle(cmds::MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE);
const REG_ADDRESS: ValueIn<u64> = ValueIn::new(cmds::MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR);
const REG_LENGTH: ValueIn<u64> = ValueIn::new(cmds::MLX5_IB_ATTR_DEVX_UMEM_REG_LEN);
const REG_ACCESS: FlagsIn = FlagsIn(cmds::MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS);
const REG_ID: Out<u32> = Out::new(cmds::MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID);
const REG_PAGE_SIZES: ConstIn = ConstIn(cmds::MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP);
const REG_DMABUF: RawFd = RawFd(cmds::MLX5_IB_ATTR_DEVX_UMEM_REG_DMABUF_FD);

const DEREG: Method = Method::new(OBJECT, cmds::MLX5_IB_METHOD_DEVX_UMEM_DEREG);
const DEREG_HANDLE: Handle = Handle(cmds::MLX5_IB_ATTR_DEVX_UMEM_DEREG_HANDLE);

/// Words of a page.
#[cfg(target_arch = "x86_64")]
const WORDS: usize = 4096 / 4;
/// Words of a page: the largest that kernels for other machines are built with.
#[cfg(not(target_arch = "x86_64"))]
const WORDS: usize = 65536 / 4;

#[cfg_attr(target_arch = "x86_64", repr(C, align(4096)))]
#[cfg_attr(not(target_arch = "x86_64"), repr(C, align(65536)))]
struct Page([AtomicU32; WORDS]);

const _: () = assert!(size_of::<Page>() == align_of::<Page>());

/// Whole pages of zeroed memory that may be shared with the card.
///
/// The card writes whenever it likes, and the compiler has to know: so the memory consists of atomic words, and no
/// `&[u8]` to it is ever given out.
pub struct SharedMemory {
    pages: Box<[Page]>,
}

impl fmt::Debug for SharedMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedMemory").field("len", &self.len()).finish_non_exhaustive()
    }
}

impl SharedMemory {
    /// Memory for at least `length` bytes, at least one page.
    #[must_use]
    pub fn new(length: usize) -> Self {
        let pages = length.div_ceil(size_of::<Page>()).max(1);
        Self { pages: (0..pages).map(|_| Page([const { AtomicU32::new(0) }; WORDS])).collect() }
    }

    /// Length in bytes.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "there is always at least one page")]
    pub fn len(&self) -> usize {
        size_of_val(&*self.pages)
    }

    /// The `index`th 32-bit word, in the card's byte order (big-endian) or whatever was agreed.
    ///
    /// # Panics
    /// If the memory ends before it.
    #[must_use]
    pub fn word(&self, index: usize) -> &AtomicU32 {
        &self.pages[index / WORDS].0[index % WORDS]
    }

    /// Copies bytes out, from the offset `at` on. What the card writes meanwhile is seen in part.
    ///
    /// # Panics
    /// If the memory ends before them.
    pub fn read(&self, at: usize, bytes: &mut [u8]) {
        for (offset, byte) in (at..).zip(bytes) {
            *byte = self.word(offset / 4).load(Ordering::Relaxed).to_ne_bytes()[offset % 4];
        }
    }

    /// Copies bytes in, from the offset `at` on.
    ///
    /// Words are written whole: with an `at` or length that is no multiple of 4, the neighbouring bytes are written
    /// back as they were a moment before.
    ///
    /// # Panics
    /// If the memory ends before them.
    pub fn write(&self, at: usize, bytes: &[u8]) {
        let mut bytes = bytes;
        let mut at = at;
        while !bytes.is_empty() {
            let word = self.word(at / 4);
            let count = bytes.len().min(4 - at % 4);
            let mut content = word.load(Ordering::Relaxed).to_ne_bytes();
            content[at % 4..at % 4 + count].copy_from_slice(&bytes[..count]);
            word.store(u32::from_ne_bytes(content), Ordering::Relaxed);
            (bytes, at) = (&bytes[count..], at + count);
        }
    }

    fn address(&self) -> u64 {
        self.pages.as_ptr().expose_provenance() as u64
    }
}

bitflags! {
    /// What the card may do with registered memory, besides reading it.
    ///
    /// C: `IB_UVERBS_ACCESS_*`.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct UmemAccess: u32 {
        /// The card may write.
        #[doc(alias = "IBV_ACCESS_LOCAL_WRITE")]
        const LOCAL_WRITE = 1;
        /// Peers may write; needs [`LOCAL_WRITE`](Self::LOCAL_WRITE).
        #[doc(alias = "IBV_ACCESS_REMOTE_WRITE")]
        const REMOTE_WRITE = 1 << 1;
        /// Peers may read.
        #[doc(alias = "IBV_ACCESS_REMOTE_READ")]
        const REMOTE_READ = 1 << 2;
        /// The bus may reorder writes (since Linux 5.7).
        #[doc(alias = "IBV_ACCESS_RELAXED_ORDERING")]
        const RELAXED_ORDERING = 1 << 20;
    }
}

/// Memory that the card may read and write, for queues and buffers of DEVX objects.
///
/// The registration owns the memory. It comes back when the card has let go of it, and if the card does not, the
/// memory is never freed: nothing that the card still writes to is used for something else.
///
/// C: `struct mlx5dv_devx_umem` (`drivers/infiniband/hw/mlx5/devx.c`).
#[doc(alias("mlx5dv_devx_umem", "MLX5_IB_OBJECT_DEVX_UMEM"))]
#[derive(Debug)]
pub struct Umem {
    owned: Owned,
    id: u32,
    /// `None`: memory of a dma-buf, or taken out by `deregister`.
    memory: Option<SharedMemory>,
}

impl Umem {
    /// Registers memory.
    ///
    /// # Errors
    /// With the memory: `EINVAL` if the context has no DEVX, `ENOMEM` or `EPERM` if it exceeds what the process may
    /// lock (`RLIMIT_MEMLOCK`).
    #[doc(alias("mlx5dv_devx_umem_reg", "MLX5_IB_METHOD_DEVX_UMEM_REG"))]
    pub fn register(
        context: &Context,
        memory: SharedMemory,
        access: UmemAccess,
    ) -> Result<Self, DestroyError<SharedMemory>> {
        let (address, length) = (memory.address(), memory.len() as u64);
        let mut id = 0;
        let mut command = Command::<5>::new(REG, context.driver_number());
        let new = command.new_handle(REG_HANDLE);
        command.value_in(REG_ADDRESS, &address);
        command.value_in(REG_LENGTH, &length);
        command.flags(REG_ACCESS, access.bits().into());
        command.out(REG_ID, &mut id);
        match context.send(command) {
            Ok(reply) => {
                let owned = Owned::new(context, reply.handle(new), (DEREG, DEREG_HANDLE));
                Ok(Self { owned, id, memory: Some(memory) })
            }
            Err(error) => Err(DestroyError::new(memory, error)),
        }
    }

    /// Registers `length` bytes from `offset` on of a dma-buf: memory of another device, which its file keeps.
    ///
    /// `page_sizes` are those the card may use, as bits: bit 12 for 4 KiB. Since Linux 6.1.
    ///
    /// # Errors
    /// `EINVAL` if the context has no DEVX, the file is no dma-buf, or no page size will do.
    #[doc(alias = "MLX5_IB_ATTR_DEVX_UMEM_REG_DMABUF_FD")]
    pub fn register_dmabuf(
        context: &Context,
        dmabuf: BorrowedFd<'_>,
        offset: u64,
        length: u64,
        access: UmemAccess,
        page_sizes: u64,
    ) -> Result<Self> {
        let mut id = 0;
        let mut command = Command::<7>::new(REG, context.driver_number());
        let new = command.new_handle(REG_HANDLE);
        command.value_in(REG_ADDRESS, &offset);
        command.value_in(REG_LENGTH, &length);
        command.flags(REG_ACCESS, access.bits().into());
        command.out(REG_ID, &mut id);
        command.constant(REG_PAGE_SIZES, page_sizes);
        command.raw_fd(REG_DMABUF, dmabuf);
        let handle = context.send(command)?.handle(new);
        Ok(Self { owned: Owned::new(context, handle, (DEREG, DEREG_HANDLE)), id, memory: None })
    }

    /// The firmware's number of the memory, for a field such as `wq_umem_id`.
    #[must_use]
    pub const fn id(&self) -> u32 {
        self.id
    }

    /// The memory; `None` for a dma-buf.
    #[must_use]
    pub const fn memory(&self) -> Option<&SharedMemory> {
        self.memory.as_ref()
    }

    /// Deregisters, and gives the memory back.
    ///
    /// # Errors
    /// The firmware's, with the registration: `EBUSY` or `EINVAL` if an object still uses the memory.
    #[doc(alias("mlx5dv_devx_umem_dereg", "MLX5_IB_METHOD_DEVX_UMEM_DEREG"))]
    pub fn deregister(mut self) -> Result<Option<SharedMemory>, DestroyError<Self>> {
        match self.owned.destroy_in_place() {
            Ok(()) => Ok(self.memory.take()),
            Err(error) => Err(DestroyError::new(self, error)),
        }
    }
}

impl Drop for Umem {
    fn drop(&mut self) {
        // In a forked child the pages are a copy that no card knows, and the registration is the parent's.
        if self.owned.end().is_err() {
            core::mem::forget(self.memory.take());
        }
    }
}
