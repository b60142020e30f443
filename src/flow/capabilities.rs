//! What the card's flow tables of one type can do.

use uverbs_uapi::prm::{
    Field, flow_table_eswitch_cap as eswitch, flow_table_nic_cap as nic, flow_table_prop_layout as property,
};

use crate::{CapabilityGroup, Context, FlowTableType, HcaCapabilities, Result};

/// What the card's flow tables of one type can do, as the firmware tells it.
///
/// C: `struct mlx5_ifc_flow_table_prop_layout_bits`.
#[doc(alias = "flow_table_prop_layout")]
#[derive(Clone, Debug)]
pub struct FlowTableCapabilities {
    properties: HcaCapabilities,
    block: Field,
}

impl FlowTableCapabilities {
    /// Asks the firmware. Needs neither DEVX nor privilege.
    ///
    /// # Errors
    /// [`Error::Refused`](crate::Error::Refused) if the function has no such capabilities, as for
    /// [`FlowTableType::Fdb`] when it does not manage the embedded switch.
    pub fn query(context: &Context, table_type: FlowTableType) -> Result<Self> {
        let (group, block) = match table_type {
            FlowTableType::NicRx => (CapabilityGroup::FlowTable, nic::FLOW_TABLE_PROPERTIES_NIC_RECEIVE),
            FlowTableType::NicTx => (CapabilityGroup::FlowTable, nic::FLOW_TABLE_PROPERTIES_NIC_TRANSMIT),
            FlowTableType::RdmaRx => {
                (CapabilityGroup::FlowTable, nic::FLOW_TABLE_PROPERTIES_NIC_RECEIVE_RDMA)
            }
            FlowTableType::RdmaTx => {
                (CapabilityGroup::FlowTable, nic::FLOW_TABLE_PROPERTIES_NIC_TRANSMIT_RDMA)
            }
            FlowTableType::Fdb => {
                (CapabilityGroup::EswitchFlowTable, eswitch::FLOW_TABLE_PROPERTIES_NIC_ESW_FDB)
            }
        };
        Ok(Self { properties: context.hca_capabilities_of(group)?, block })
    }

    /// Any field of the firmware's layout, [`uverbs_uapi::prm::flow_table_prop_layout`].
    #[must_use]
    pub fn get(&self, field: Field) -> u64 {
        self.properties.get(self.block.then(field))
    }

    fn is_set(&self, field: Field) -> bool {
        self.get(field) != 0
    }

    fn byte(&self, field: Field) -> u8 {
        u8::try_from(self.get(field)).unwrap_or(u8::MAX)
    }

    /// Whether there are such tables at all.
    #[doc(alias = "ft_support")]
    #[must_use]
    pub fn is_supported(&self) -> bool {
        self.is_set(property::FT_SUPPORT)
    }

    /// Whether an entry may lead to a table that does not lie at a higher level, as an anchor never does.
    #[must_use]
    pub fn ignore_flow_level(&self) -> bool {
        self.is_set(property::IGNORE_FLOW_LEVEL)
    }

    /// Whether entries can be changed in place.
    #[doc(alias = "flow_modify_en")]
    #[must_use]
    pub fn can_modify_entries(&self) -> bool {
        self.is_set(property::FLOW_MODIFY_EN)
    }

    /// Whether the way of packets that match nothing can be changed.
    #[doc(alias = "flow_table_modify")]
    #[must_use]
    pub fn can_modify_tables(&self) -> bool {
        self.is_set(property::FLOW_TABLE_MODIFY)
    }

    /// Whether entries can count.
    #[doc(alias = "flow_counter")]
    #[must_use]
    pub fn can_count(&self) -> bool {
        self.is_set(property::FLOW_COUNTER)
    }

    /// Whether entries can add or replace headers.
    #[doc(alias = "reformat")]
    #[must_use]
    pub fn can_reformat(&self) -> bool {
        self.is_set(property::REFORMAT)
    }

    /// Whether entries can remove a tunnel's headers.
    #[doc(alias = "decap")]
    #[must_use]
    pub fn can_decapsulate(&self) -> bool {
        self.is_set(property::DECAP)
    }

    /// The highest level of a table.
    #[doc(alias = "max_ft_level")]
    #[must_use]
    pub fn max_level(&self) -> u8 {
        self.byte(property::MAX_FT_LEVEL)
    }

    /// The greatest size of a table, as a power of two.
    #[doc(alias = "log_max_ft_size")]
    #[must_use]
    pub fn max_log_size(&self) -> u8 {
        self.byte(property::LOG_MAX_FT_SIZE)
    }

    /// The greatest number of header fields that one action may change.
    #[must_use]
    pub fn max_modify_header_actions(&self) -> u8 {
        self.byte(property::MAX_MODIFY_HEADER_ACTIONS)
    }
}
