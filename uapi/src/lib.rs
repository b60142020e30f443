//! The Linux kernel's uverbs, mlx5 and `NETLINK_RDMA` user ABI as plain data.
//!
//! You probably want the crate `uverbs`, which puts these numbers to work. This one is what it stands on: structs and
//! constants, nothing that does I/O, no std, no alloc, no unsafe.
//!
//! There is one module for each header of the kernel (`include/uapi/rdma/`), named after it, and [`prm`] for the
//! firmware's command layouts (`include/linux/mlx5/mlx5_ifc.h`). Constants have the kernel's names, structs the kernel's
//! in CamelCase; in the docs, the search finds both. A union is an integer of its size. What only newer kernels have
//! says since when; to older ones it is unknown, never something else.
//!
//! Every size, offset, and number is checked against the headers of each supported kernel.
#![no_std]
#![forbid(unsafe_code)]

/// Asserts at compile time where the kernel has each field. A field that is not listed does not compile.
macro_rules! assert_layout {
    ($name:ident: $size:literal { $($field:ident: $offset:literal),* $(,)? }) => {
        const _: fn($name) = |$name { $($field: _),* }| ();
        const _: () = {
            assert!(core::mem::size_of::<$name>() == $size);
            $(assert!(core::mem::offset_of!($name, $field) == $offset);)*
        };
    };
}

pub mod ib_user_ioctl_cmds;
pub mod ib_user_ioctl_verbs;
pub mod ib_user_verbs;
pub mod mlx5_abi;
pub mod mlx5_user_ioctl_cmds;
pub mod mlx5_user_ioctl_verbs;
pub mod prm;
pub mod rdma_netlink;
pub mod rdma_user_ioctl_cmds;
