//! Linux RDMA verbs and mlx5 steering anchors in pure Rust.
#![cfg_attr(not(feature = "std"), no_std)]
#![deny(unsafe_code)]
