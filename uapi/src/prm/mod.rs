//! Firmware command layouts: where each field of a ConnectX command lies.
//!
//! Names are those of the kernel's `include/linux/mlx5/mlx5_ifc.h`: the struct `mlx5_ifc_create_flow_table_in_bits`
//! is the module [`create_flow_table_in`], its field `table_type` the constant `TABLE_TYPE`. All values are
//! big-endian, bit 0 is the most significant bit of byte 0.

mod field;

pub use field::{Field, Layout};
