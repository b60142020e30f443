//! The firmware's numbers for what the kernel numbers otherwise.

use uverbs_uapi::prm;

use crate::FlowTableType;

/// A flow table type's number in the firmware's commands: not the kernel's.
pub(super) const fn table_type(table_type: FlowTableType) -> u8 {
    match table_type {
        FlowTableType::NicRx => prm::FS_FT_NIC_RX,
        FlowTableType::NicTx => prm::FS_FT_NIC_TX,
        FlowTableType::Fdb => prm::FS_FT_FDB,
        FlowTableType::RdmaRx => prm::FS_FT_RDMA_RX,
        FlowTableType::RdmaTx => prm::FS_FT_RDMA_TX,
    }
}
