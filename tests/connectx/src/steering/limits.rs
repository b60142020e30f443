//! How far steering goes on this card: what the capabilities promise.

use super::table::TableType;
use uverbs_uapi::prm::{
    MLX5_CAP_ESWITCH_FLOW_TABLE, MLX5_CAP_FLOW_TABLE, flow_table_eswitch_cap as esw,
    flow_table_nic_cap as nic, flow_table_prop_layout as prop,
};

/// Limits of one type of flow table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeLimits {
    /// There are tables of this type.
    pub supported: bool,
    /// Entries in a table, as a power of two.
    pub log_max_size: u8,
    /// Highest level; not held against the kernel (uid 0), which exceeds it by itself.
    pub max_level: u8,
    /// Entries may ignore levels.
    pub ignore_flow_level: bool,
    /// Actions in a header modification.
    pub max_modify_actions: u8,
}

impl TypeLimits {
    /// As a `flow_table_prop_layout` says.
    #[must_use]
    pub fn from_properties(properties: &[u8]) -> Self {
        let small = |field: uverbs_uapi::prm::Field| u8::try_from(field.get(properties)).unwrap_or(u8::MAX);
        Self {
            supported: prop::FT_SUPPORT.get(properties) != 0,
            log_max_size: small(prop::LOG_MAX_FT_SIZE),
            max_level: small(prop::MAX_FT_LEVEL),
            ignore_flow_level: prop::IGNORE_FLOW_LEVEL.get(properties) != 0,
            max_modify_actions: small(prop::MAX_MODIFY_HEADER_ACTIONS),
        }
    }
}

/// Limits of all types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits([TypeLimits; TableType::ALL.len()]);

impl Limits {
    /// As the capabilities say: `area` gives the capability area of a type.
    pub fn from_capabilities<'a>(mut area: impl FnMut(u16) -> &'a [u8]) -> Self {
        let (nic_area, esw_area) = (area(MLX5_CAP_FLOW_TABLE), area(MLX5_CAP_ESWITCH_FLOW_TABLE));
        Self(TableType::ALL.map(|kind| {
            let (area, field) = match kind {
                TableType::NicRx => (nic_area, nic::FLOW_TABLE_PROPERTIES_NIC_RECEIVE),
                TableType::NicTx => (nic_area, nic::FLOW_TABLE_PROPERTIES_NIC_TRANSMIT),
                TableType::SnifferRx => (nic_area, nic::FLOW_TABLE_PROPERTIES_NIC_RECEIVE_SNIFFER),
                TableType::SnifferTx => (nic_area, nic::FLOW_TABLE_PROPERTIES_NIC_TRANSMIT_SNIFFER),
                TableType::RdmaRx => (nic_area, nic::FLOW_TABLE_PROPERTIES_NIC_RECEIVE_RDMA),
                TableType::RdmaTx => (nic_area, nic::FLOW_TABLE_PROPERTIES_NIC_TRANSMIT_RDMA),
                TableType::Fdb => (esw_area, esw::FLOW_TABLE_PROPERTIES_NIC_ESW_FDB),
                TableType::IngressAcl => (esw_area, esw::FLOW_TABLE_PROPERTIES_ESW_ACL_INGRESS),
                TableType::EgressAcl => (esw_area, esw::FLOW_TABLE_PROPERTIES_ESW_ACL_EGRESS),
            };
            TypeLimits::from_properties(area.get(field.bytes()).unwrap_or(&[]))
        }))
    }

    /// The same limits for every type.
    #[must_use]
    pub fn uniform(limits: TypeLimits) -> Self {
        Self([limits; TableType::ALL.len()])
    }

    /// The limits of one type.
    #[must_use]
    pub fn of(&self, kind: TableType) -> &TypeLimits {
        &self.0[usize::from(kind.number())]
    }
}
