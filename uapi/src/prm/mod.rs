//! Firmware command layouts: where each field of a ConnectX command lies.
//!
//! Names are those of the kernel's `include/linux/mlx5/mlx5_ifc.h`: the struct `mlx5_ifc_create_flow_table_in_bits`
//! is the module [`create_flow_table_in`], its field `table_type` the constant `TABLE_TYPE`. All values are
//! big-endian, bit 0 is the most significant bit of byte 0.
//!
//! ```
//! use uverbs_uapi::prm::{self, create_flow_table_in, flow_table_context};
//!
//! let mut command = [0; create_flow_table_in::SIZE];
//! create_flow_table_in::OPCODE.set(&mut command, prm::MLX5_CMD_OP_CREATE_FLOW_TABLE.into());
//! create_flow_table_in::TABLE_TYPE.set(&mut command, prm::FS_FT_NIC_RX.into());
//! create_flow_table_in::FLOW_TABLE_CONTEXT.then(flow_table_context::LOG_SIZE).set(&mut command, 4);
//! assert_eq!((command[0], command[1], command[0x1b]), (0x09, 0x30, 4));
//! ```
//!
//! A field that only newer kernels have names for is zero, or of no effect, to older firmware. A field that is an array
//! is its first item; [`Field::nth`] gives the others. What follows a command, a list of destinations for example,
//! begins at its `SIZE`.

mod actions;
mod capabilities;
mod command;
mod devx;
mod field;
mod match_param;
mod named;
mod opcodes;
mod steering;
mod tir;

pub use actions::*;
pub use capabilities::*;
pub use command::*;
pub use devx::*;
pub use field::{Field, Layout};
pub use match_param::*;
pub use opcodes::*;
pub use steering::*;
pub use tir::*;

/// Every layout of this module.
pub const LAYOUTS: &[&[Layout]] = &[
    actions::LAYOUTS,
    capabilities::LAYOUTS,
    devx::LAYOUTS,
    match_param::LAYOUTS,
    steering::LAYOUTS,
    tir::LAYOUTS,
];
