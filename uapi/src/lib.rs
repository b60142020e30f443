//! The Linux kernel's uverbs, mlx5 and `NETLINK_RDMA` user ABI as plain data.
#![no_std]
#![forbid(unsafe_code)]

pub mod prm;
