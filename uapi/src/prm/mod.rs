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

#[cfg(test)]
mod tests {
    use super::{Field, LAYOUTS, command_in, command_out};

    #[test]
    fn every_command_and_answer_begins_alike() {
        let heads = [
            ("OPCODE", command_in::OPCODE),
            ("UID", command_in::UID),
            ("OP_MOD", command_in::OP_MOD),
            ("STATUS", command_out::STATUS),
            ("SYNDROME", command_out::SYNDROME),
        ];
        for layout in LAYOUTS.concat() {
            let has = |name| layout.fields.iter().any(|(field, _)| *field == name);
            assert!(!layout.name.ends_with("_out") || has("STATUS") && has("SYNDROME"), "{}", layout.name);
            // The uid in these is the one that the command is about.
            let about_a_uid = ["create_uctx_out", "destroy_uctx_in"].contains(&layout.name);
            for (name, head) in heads.iter().filter(|(name, _)| !(about_a_uid && *name == "UID")) {
                if let Some((_, field)) = layout.fields.iter().find(|(field, _)| field == name) {
                    assert_eq!(field, head, "{}::{name}", layout.name);
                }
            }
        }
    }

    #[test]
    fn every_field_lies_in_its_layout() {
        for layout in LAYOUTS.concat() {
            for (name, field) in layout.fields {
                let bits = layout.size * 8;
                assert!(
                    field.offset + field.width <= bits || field.offset == bits,
                    "{}::{name}",
                    layout.name
                );
            }
        }
    }

    #[test]
    fn a_list_without_a_size_may_follow_the_outer_field() {
        let (outer, item) = (Field::new(0, 64), Field::new(64, 32));
        assert_eq!(outer.then(item), Field::new(64, 32));
    }

    #[test]
    #[should_panic(expected = "ends behind")]
    fn an_inner_field_ends_in_the_outer_one() {
        let _ = Field::new(0, 64).then(Field::new(48, 32));
    }
}
