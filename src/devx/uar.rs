//! Doorbell pages.

use uverbs_uapi::{
    mlx5_user_ioctl_cmds as cmds,
    mlx5_user_ioctl_verbs::{MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF, MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC},
};

use crate::{
    Context, DestroyError, Result,
    command::{
        Command, Method,
        class::{ConstIn, Handle, NewHandle, Out},
    },
    context::Owned,
};

const OBJECT: u16 = cmds::MLX5_IB_OBJECT_UAR;
const ALLOC: Method = Method::new(OBJECT, cmds::MLX5_IB_METHOD_UAR_OBJ_ALLOC);
const ALLOC_HANDLE: NewHandle = NewHandle(cmds::MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE);
const ALLOC_TYPE: ConstIn = ConstIn(cmds::MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE);
const ALLOC_OFFSET: Out<u64> = Out::new(cmds::MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET);
const ALLOC_LENGTH: Out<u32> = Out::new(cmds::MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH);
const ALLOC_PAGE: Out<u32> = Out::new(cmds::MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID);

const DESTROY: Method = Method::new(OBJECT, cmds::MLX5_IB_METHOD_UAR_OBJ_DESTROY);
const DESTROY_HANDLE: Handle = Handle(cmds::MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE);

/// How the processor writes to a doorbell page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum UarMapping {
    /// Write-combining: for `BlueFlame`. Not on every machine (`EOPNOTSUPP`).
    #[doc(alias = "MLX5DV_UAR_ALLOC_TYPE_BF")]
    WriteCombining,
    /// Not cached.
    #[default]
    #[doc(alias = "MLX5DV_UAR_ALLOC_TYPE_NC")]
    Uncached,
}

/// A doorbell page of the card, which queues made through DEVX name by its number.
///
/// Since Linux 5.7. To ring, map [`mmap_length`](Self::mmap_length) bytes at [`mmap_offset`](Self::mmap_offset) of the
/// context's descriptor; this crate does not map, since what is written there is not memory.
///
/// C: `struct mlx5dv_devx_uar` (`drivers/infiniband/hw/mlx5/main.c`).
#[doc(alias("mlx5dv_devx_uar", "MLX5_IB_OBJECT_UAR"))]
#[derive(Debug)]
pub struct Uar {
    owned: Owned,
    page: u32,
    offset: u64,
    length: u32,
}

impl Uar {
    /// Allocates a doorbell page.
    ///
    /// # Errors
    /// `EOPNOTSUPP` if the machine cannot map it so; `ENOMEM` if the card has none left.
    #[doc(alias("mlx5dv_devx_alloc_uar", "MLX5_IB_METHOD_UAR_OBJ_ALLOC"))]
    pub fn allocate(context: &Context, mapping: UarMapping) -> Result<Self> {
        let mapping = match mapping {
            UarMapping::WriteCombining => MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF,
            UarMapping::Uncached => MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC,
        };
        let (mut offset, mut length, mut page) = (0, 0, 0);
        let mut command = Command::<5>::new(ALLOC, context.driver_number());
        let new = command.new_handle(ALLOC_HANDLE);
        command.constant(ALLOC_TYPE, mapping.into());
        command.out(ALLOC_OFFSET, &mut offset);
        command.out(ALLOC_LENGTH, &mut length);
        command.out(ALLOC_PAGE, &mut page);
        let handle = context.send(command)?.handle(new);
        Ok(Self { owned: Owned::new(context, handle, (DESTROY, DESTROY_HANDLE)), page, offset, length })
    }

    /// The firmware's number of the page, for a field such as `uar_page`.
    #[must_use]
    pub const fn page(&self) -> u32 {
        self.page
    }

    /// The offset to give `mmap`.
    #[must_use]
    pub const fn mmap_offset(&self) -> u64 {
        self.offset
    }

    /// The length to give `mmap`.
    #[must_use]
    pub const fn mmap_length(&self) -> u32 {
        self.length
    }

    /// Frees the page.
    ///
    /// # Errors
    /// The kernel's, with the page.
    #[doc(alias("mlx5dv_devx_free_uar", "MLX5_IB_METHOD_UAR_OBJ_DESTROY"))]
    pub fn destroy(mut self) -> Result<(), DestroyError<Self>> {
        match self.owned.destroy_in_place() {
            Ok(()) => Ok(()),
            Err(error) => Err(DestroyError::new(self, error)),
        }
    }
}
