//! The function as a whole: its life, its pages, its capabilities and its identity.

use uverbs_uapi::prm::{self, query_hca_cap_out};

use crate::capabilities::Capabilities;
use crate::command::refusal::{Refusal, Syndrome};
use crate::command::{Answer, Reply, Request};
use crate::layouts::{
    manage_pages_in, manage_pages_out, query_adapter_out, query_adapter_param_block, query_issi_out,
    query_pages_out, query_special_contexts_out, set_hca_cap_in,
};

/// Interface versions, as bits: 0 and 1.
const ISSI: u64 = 0b11;
const MELLANOX: u64 = 0x02c9;
const PSID: &[u8; 16] = b"EMU0000000001\0\0\0";
/// Keys that stand for no memory of anybody's.
const DUMP_FILL_KEY: u64 = 0x200;
const RESERVED_KEY: u64 = 0x100;

/// Pages the function asks for, by `op_mod`. A model: real firmware asks for thousands.
const BOOT_PAGES: (u16, u32) = (1, 4);
const INIT_PAGES: (u16, u32) = (2, 8);

const PAGES_GIVE: u16 = 1;
const PAGES_TAKE: u16 = 2;

/// What the function holds.
#[derive(Debug, Default)]
pub(crate) struct Function {
    pages: Vec<u64>,
}

impl Function {
    /// Pages of the guest that the function still has.
    pub(crate) fn pages(&self) -> usize {
        self.pages.len()
    }

    pub(crate) fn command(
        &mut self,
        request: &Request<'_>,
        reply: &mut Reply<'_>,
        capabilities: &mut Capabilities,
    ) -> Option<Answer> {
        Some(match request.opcode {
            prm::MLX5_CMD_OP_ENABLE_HCA
            | prm::MLX5_CMD_OP_DISABLE_HCA
            | prm::MLX5_CMD_OP_INIT_HCA
            | prm::MLX5_CMD_OP_TEARDOWN_HCA
            | prm::MLX5_CMD_OP_SET_ISSI
            | prm::MLX5_CMD_OP_SET_DRIVER_VERSION
            | prm::MLX5_CMD_OP_NOP => Ok(String::new()),
            prm::MLX5_CMD_OP_QUERY_ISSI => {
                reply.set(query_issi_out::SUPPORTED_ISSI_DW0, ISSI);
                Ok(String::new())
            }
            prm::MLX5_CMD_OP_QUERY_PAGES => Ok(query_pages(request, reply)),
            prm::MLX5_CMD_OP_MANAGE_PAGES => self.manage_pages(request, reply),
            prm::MLX5_CMD_OP_QUERY_HCA_CAP => Ok(query_capabilities(request, reply, capabilities)),
            prm::MLX5_CMD_OP_SET_HCA_CAP => {
                let area = request.op_mod >> 1;
                let bytes = request.input.get(set_hca_cap_in::CAPABILITY.byte()..).unwrap_or(&[]);
                capabilities.choose(area, bytes);
                Ok(format!("type {area:#x}"))
            }
            prm::MLX5_CMD_OP_QUERY_ADAPTER => {
                let block = query_adapter_out::QUERY_ADAPTER_STRUCT;
                reply.set(block.then(query_adapter_param_block::IEEE_VENDOR_ID), MELLANOX);
                reply.put(block.byte() + query_adapter_param_block::VSD_CONTD_PSID.byte(), PSID);
                Ok(String::new())
            }
            prm::MLX5_CMD_OP_QUERY_SPECIAL_CONTEXTS => {
                reply.set(query_special_contexts_out::DUMP_FILL_MKEY, DUMP_FILL_KEY);
                reply.set(query_special_contexts_out::RESD_LKEY, RESERVED_KEY);
                Ok(String::new())
            }
            _ => return None,
        })
    }

    fn manage_pages(&mut self, request: &Request<'_>, reply: &mut Reply<'_>) -> Answer {
        let count = request.get32(manage_pages_in::INPUT_NUM_ENTRIES) as usize;
        match request.op_mod {
            PAGES_GIVE => {
                if request.input.len() < manage_pages_in::SIZE + 8 * count {
                    return Err(Refusal::new(Syndrome::ShortInput, format!("{count} pages")));
                }
                self.pages.extend((0..count).map(|i| request.get(manage_pages_in::PAS.nth(i))));
            }
            PAGES_TAKE => {
                let room = reply.bytes().len().saturating_sub(manage_pages_out::SIZE) / 8;
                let given = self.pages.split_off(self.pages.len() - count.min(self.pages.len()).min(room));
                reply.set(manage_pages_out::OUTPUT_NUM_ENTRIES, given.len() as u64);
                for (i, &page) in given.iter().enumerate() {
                    reply.set(manage_pages_out::PAS.nth(i), page);
                }
            }
            // The driver cannot give what was asked for: nothing was asked for that the card would miss.
            _ => {}
        }
        Ok(format!("{count} pages, {} held", self.pages.len()))
    }
}

fn query_pages(request: &Request<'_>, reply: &mut Reply<'_>) -> String {
    let wanted =
        [BOOT_PAGES, INIT_PAGES].iter().find(|(when, _)| *when == request.op_mod).map_or(0, |pages| pages.1);
    reply.set(query_pages_out::NUM_PAGES, wanted.into());
    format!("{wanted} pages wanted")
}

fn query_capabilities(request: &Request<'_>, reply: &mut Reply<'_>, capabilities: &Capabilities) -> String {
    let (area, current) = (request.op_mod >> 1, request.op_mod & 1 != 0);
    let bytes = capabilities.area(area, current);
    reply.put(query_hca_cap_out::CAPABILITY.byte(), bytes);
    format!("type {area:#x} {}", if current { "current" } else { "maximum" })
}
