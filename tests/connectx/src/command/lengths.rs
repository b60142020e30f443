//! How long commands are: an input that ends before its fields do, or an answer without room, is refused.
//!
//! The lengths are those of the layouts; which layouts belong to a command follows from their names.

use std::collections::HashMap;

use uverbs_uapi::prm::{self, Layout, command_in, command_out, opcode_name};

use super::Request;
use super::refusal::{Refusal, Syndrome};

/// Commands whose layouts are not called after them.
const OTHER_NAMES: &[(u16, &str)] = &[
    (prm::MLX5_CMD_OP_ACCESS_REG, "access_register"),
    (prm::MLX5_CMD_OP_SET_FLOW_TABLE_ENTRY, "set_fte"),
    (prm::MLX5_CMD_OP_QUERY_FLOW_TABLE_ENTRY, "query_fte"),
    (prm::MLX5_CMD_OP_DELETE_FLOW_TABLE_ENTRY, "delete_fte"),
];

/// The least lengths of commands and of their answers.
#[derive(Debug)]
pub struct Lengths(HashMap<u16, Length>);

#[derive(Clone, Copy, Debug)]
struct Length {
    input: usize,
    output: usize,
}

/// The header alone. The last 4 of the 16 bytes are missing where there is nothing behind them.
const LEAST: Length = Length { input: command_in::SIZE - 4, output: command_out::SIZE - 4 };

impl Lengths {
    /// The lengths of all commands that have a layout.
    #[must_use]
    pub fn new() -> Self {
        let own: &[&[Layout]] = &[crate::layouts::LAYOUTS, crate::queues::layouts::LAYOUTS];
        let sizes: HashMap<&str, usize> = prm::LAYOUTS
            .iter()
            .chain(own)
            .copied()
            .flatten()
            .map(|layout| (layout.name, layout.size))
            .collect();
        let length = |opcode, name: &str| {
            let name = OTHER_NAMES
                .iter()
                .find(|(of, _)| *of == opcode)
                .map_or_else(|| name.to_ascii_lowercase(), |(_, name)| (*name).to_owned());
            let size = |end| sizes.get(format!("{name}_{end}").as_str()).copied();
            Length { input: size("in").unwrap_or(LEAST.input), output: size("out").unwrap_or(LEAST.output) }
        };
        let named = (0..=u16::MAX).filter_map(|opcode| Some((opcode, opcode_name(opcode)?)));
        Self(named.map(|(opcode, name)| (opcode, length(opcode, name))).collect())
    }

    /// Refuses a command that is too short, or whose answer has no room.
    ///
    /// # Errors
    /// With the lengths.
    pub fn check(&self, request: &Request<'_>, room: usize) -> Result<(), Refusal> {
        let least = self.0.get(&request.opcode).copied().unwrap_or(LEAST);
        let check = |syndrome, have, least| {
            if have < least {
                return Err(Refusal::new(syndrome, format!("{have} bytes of {least}")));
            }
            Ok(())
        };
        check(Syndrome::ShortInput, request.input.len(), least.input)?;
        check(Syndrome::ShortOutput, room, least.output)
    }
}

impl Default for Lengths {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::{Lengths, OTHER_NAMES};
    use crate::command::Request;
    use crate::command::refusal::Syndrome;
    use uverbs_uapi::prm::{self, command_in, create_flow_table_in, query_hca_cap_out, set_fte_in};

    fn refused(opcode: u16, input: usize, room: usize) -> Option<Syndrome> {
        let mut bytes = vec![0; input];
        command_in::OPCODE.set(&mut bytes, opcode.into());
        Lengths::new().check(&Request::parse(&bytes), room).err().map(|refusal| refusal.syndrome)
    }

    #[test]
    fn a_command_is_as_long_as_its_layout() {
        let create = prm::MLX5_CMD_OP_CREATE_FLOW_TABLE;
        assert_eq!(refused(create, create_flow_table_in::SIZE, 16), None);
        assert_eq!(refused(create, create_flow_table_in::SIZE - 1, 16), Some(Syndrome::ShortInput));
        assert_eq!(refused(create, create_flow_table_in::SIZE, 15), Some(Syndrome::ShortOutput));
        let set = prm::MLX5_CMD_OP_SET_FLOW_TABLE_ENTRY;
        assert_eq!(refused(set, set_fte_in::SIZE - 1, 16), Some(Syndrome::ShortInput));
        let query = prm::MLX5_CMD_OP_QUERY_HCA_CAP;
        assert_eq!(refused(query, 16, query_hca_cap_out::SIZE - 1), Some(Syndrome::ShortOutput));
    }

    #[test]
    fn a_command_without_a_layout_needs_its_header() {
        assert_eq!(refused(prm::MLX5_CMD_OP_ENABLE_HCA, 16, 12), None);
        assert_eq!(refused(prm::MLX5_CMD_OP_ENABLE_HCA, 11, 12), Some(Syndrome::ShortInput));
        assert_eq!(refused(0xeee, 16, 11), Some(Syndrome::ShortOutput));
    }

    #[test]
    fn the_other_names_are_names_of_layouts() {
        let known = prm::LAYOUTS.concat().into_iter().chain(crate::layouts::LAYOUTS.iter().copied());
        let known: Vec<_> = known.map(|layout| layout.name).collect();
        for (_, name) in OTHER_NAMES {
            assert!(known.contains(&format!("{name}_in").as_str()), "{name}");
        }
    }
}
