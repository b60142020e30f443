//! What the card says it can do: capability values as data, each with the reason why it is there.
//!
//! Names, places and widths are the PRM's. Everything that is not here is 0.

use std::collections::BTreeMap;

use uverbs_uapi::prm::{
    self, Field, cmd_hca_cap, e_switch_cap, flow_table_eswitch_cap, flow_table_fields_supported,
    flow_table_nic_cap, flow_table_prop_layout, per_protocol_networking_offload_caps, roce_cap,
};

/// Bytes of a capability area.
pub const AREA: usize = 4096;

/// One capability: its field, name, value and reason.
type Value = (Field, &'static str, u64, &'static str);

/// The values of one area that stand for the same reason.
macro_rules! because {
    ($layout:ident, $why:literal, $($field:ident = $value:expr),* $(,)?) => {
        &[$(($layout::$field, stringify!($field), $value, $why)),*]
    };
}

/// Values of the general capabilities.
const GENERAL: &[&[Value]] = &[
    because!(
        cmd_hca_cap,
        "without it the driver's probe fails, in part with an oops",
        PORT_TYPE = 1,
        NUM_PORTS = 1,
        XRC = 1,
        NIC_FLOW_TABLE = 1,
        LOG_MAX_EQ = 7,
        MAX_NUM_EQS = 64
    ),
    because!(cmd_hca_cap, "the netdev", ETH_NET_OFFLOADS = 1, MAX_WQE_SZ_SQ = 1024),
    because!(
        cmd_hca_cap,
        "the driver's own queue pairs and completion queues",
        LOG_MAX_QP_SZ = 15,
        LOG_MAX_CQ_SZ = 22,
        LOG_MAX_SRQ_SZ = 15,
        MAX_WQE_SZ_RQ = 512,
        MAX_WQE_SZ_SQ_DC = 512
    ),
    because!(cmd_hca_cap, "GIDs", ROCE = 1),
    because!(cmd_hca_cap, "the steering anchor object", SHARED_OBJECT_TO_USER_OBJECT_ALLOWED = 1),
    because!(
        cmd_hca_cap,
        "DEVX contexts and their memory",
        LOG_MAX_UCTX = 20,
        LOG_MAX_UMEM = 20,
        UCTX_CAP = 0x1f
    ),
    because!(
        cmd_hca_cap,
        "1: memory regions need no work request, which no queue pair here executes",
        UMR_MODIFY_ENTITY_SIZE_DISABLED = 1,
        FIXED_BUFFER_SIZE = 1
    ),
    because!(
        cmd_hca_cap,
        "UARs: 32 MiB of BAR, pages of 4 KiB, no write combining to be tested",
        UAR_SZ = 5,
        LOG_UAR_PAGE_SZ = 0,
        LOG_BF_REG_SIZE = 9,
        BF = 0
    ),
    because!(
        cmd_hca_cap,
        "the driver complains without",
        DEVICE_FREQUENCY_KHZ = 1_000_000,
        CQ_MODERATION = 1,
        SCQE_BREAK_MODERATION = 1
    ),
    because!(
        cmd_hca_cap,
        "limits of objects",
        LOG_MAX_QP = 18,
        LOG_MAX_SRQ = 16,
        LOG_MAX_CQ = 16,
        LOG_MAX_EQ_SZ = 22,
        LOG_MAX_MKEY = 24,
        LOG_MAX_KLM_LIST_SIZE = 16,
        LOG_MAX_PD = 24,
        LOG_MAX_XRCD = 24,
        LOG_MAX_MCG = 21,
        MAX_QP_MCG = 240,
        LOG_MAX_TRANSPORT_DOMAIN = 16,
        LOG_MAX_RQ = 16,
        LOG_MAX_SQ = 16,
        LOG_MAX_TIR = 16,
        LOG_MAX_TIS = 16,
        LOG_MAX_RMP = 16,
        LOG_MAX_RQT = 16,
        LOG_MAX_RQT_SIZE = 11,
        LOG_MAX_TIS_PER_SQ = 3,
        MAX_QP_CNT = 10,
        LOG_MAX_FLOW_COUNTER_BULK = 8,
        MAX_FLOW_COUNTER_15_0 = 0xffff,
        GID_TABLE_SIZE = 1
    ),
    because!(
        cmd_hca_cap,
        "limits of messages and work queues",
        LOG_MAX_MSG = 30,
        LOG_MAX_RA_REQ_QP = 4,
        LOG_MAX_RA_RES_QP = 4,
        LOG_PG_SZ = 12,
        MAX_TC = 8,
        BASIC_CYCLIC_RCV_WQE = 1,
        LOG_MAX_STRIDE_SZ_RQ = 13,
        LOG_MIN_STRIDE_SZ_RQ = 6,
        LOG_MAX_STRIDE_SZ_SQ = 6,
        LOG_MIN_STRIDE_SZ_SQ = 6,
        LOG_MAX_WQ_SZ = 15,
        CQE_VERSION = 1,
        COMPACT_ADDRESS_VECTOR = 1,
        MAX_SGL_FOR_OPTIMIZED_PERFORMANCE = 30,
        LOCAL_CA_ACK_DELAY = 16
    ),
    because!(
        cmd_hca_cap,
        "address lists of the vport",
        LOG_MAX_VLAN_LIST = 9,
        LOG_MAX_CURRENT_MC_LIST = 11,
        LOG_MAX_CURRENT_UC_LIST = 7,
        LOG_MAX_L2_TABLE = 8
    ),
    because!(
        cmd_hca_cap,
        "identity, and counters that read as zero",
        NATIVE_PORT_NUM = 1,
        VHCA_ID = 1,
        VPORT_COUNTERS = 1
    ),
    because!(cmd_hca_cap, "entries in the format of ConnectX-6 Dx", STEERING_FORMAT_VERSION = 1),
];

/// What makes a function the manager of the embedded switch.
const ESWITCH_MANAGER: &[&[Value]] =
    &[because!(cmd_hca_cap, "FDB tables and capabilities", VPORT_GROUP_MANAGER = 1, ESWITCH_MANAGER = 1)];

const ESWITCH: &[&[Value]] =
    &[because!(e_switch_cap, "as every card", VPORT_SVLAN_STRIP = 1, VPORT_CVLAN_STRIP = 1)];

const ETHERNET: &[&[Value]] = &[
    because!(
        per_protocol_networking_offload_caps,
        "no netdev without",
        CSUM_CAP = 1,
        VLAN_CAP = 1,
        MAX_LSO_CAP = 16,
        RSS_IND_TBL_CAP = 8
    ),
    because!(per_protocol_networking_offload_caps, "the driver complains without", SELF_LB_EN_MODIFIABLE = 1),
    because!(
        per_protocol_networking_offload_caps,
        "what the send queue does",
        WQE_INLINE_MODE = 1,
        WQE_VLAN_INSERT = 1,
        SCATTER_FCS = 1
    ),
];

const ROCE: &[&[Value]] = &[
    because!(
        roce_cap,
        "v1 and v2 over IPv4 and IPv6: the core warns about a port with neither",
        ROCE_VERSION = 5,
        L3_TYPE = 6
    ),
    because!(roce_cap, "GIDs", ROCE_ADDRESS_TABLE_SIZE = 256),
];

/// Values of each type of flow table.
const FLOW_TABLE: &[&[Value]] = &[
    because!(
        flow_table_prop_layout,
        "the driver chains priorities by moving roots and misses",
        FT_SUPPORT = 1,
        FLOW_MODIFY_EN = 1,
        MODIFY_ROOT = 1,
        IDENTIFIED_MISS_TABLE_MODE = 1,
        FLOW_TABLE_MODIFY = 1
    ),
    because!(flow_table_prop_layout, "an anchor's level is 1", IGNORE_FLOW_LEVEL = 1),
    because!(
        flow_table_prop_layout,
        "fewer levels leave the driver without its namespaces",
        MAX_FT_LEVEL = 64
    ),
    because!(
        flow_table_prop_layout,
        "limits",
        LOG_MAX_FT_SIZE = 20,
        LOG_MAX_FT_NUM = 16,
        LOG_MAX_DESTINATION = 8,
        LOG_MAX_FLOW = 20,
        LOG_MAX_FLOW_COUNTER = 8
    ),
    because!(
        flow_table_prop_layout,
        "what entries may do",
        FLOW_COUNTER = 1,
        TABLE_MISS_ACTION_DOMAIN = 1,
        REFORMAT = 1,
        DECAP = 1,
        REFORMAT_L3_TUNNEL_TO_L2 = 1,
        REFORMAT_L2_TO_L3_TUNNEL = 1,
        LOG_MAX_MODIFY_HEADER_CONTEXT = 8,
        MAX_MODIFY_HEADER_ACTIONS = 32,
        PUSH_VLAN = 1,
        POP_VLAN = 1
    ),
];

/// What entries may compare.
const MATCH: &[&[Value]] = &[because!(
    flow_table_fields_supported,
    "what the engine compares",
    OUTER_DMAC = 1,
    OUTER_SMAC = 1,
    OUTER_ETHER_TYPE = 1,
    OUTER_IP_VERSION = 1,
    OUTER_FIRST_PRIO = 1,
    OUTER_FIRST_CFI = 1,
    OUTER_FIRST_VID = 1,
    OUTER_SIP = 1,
    OUTER_DIP = 1,
    OUTER_FRAG = 1,
    OUTER_IP_PROTOCOL = 1,
    OUTER_IP_ECN = 1,
    OUTER_IP_DSCP = 1,
    OUTER_UDP_SPORT = 1,
    OUTER_UDP_DPORT = 1,
    OUTER_TCP_SPORT = 1,
    OUTER_TCP_DPORT = 1,
    OUTER_TCP_FLAGS = 1
)];

/// Where the properties of each type of flow table lie in the area of NIC tables.
const NIC_TABLES: &[Field] = &[
    flow_table_nic_cap::FLOW_TABLE_PROPERTIES_NIC_RECEIVE,
    flow_table_nic_cap::FLOW_TABLE_PROPERTIES_NIC_TRANSMIT,
    flow_table_nic_cap::FLOW_TABLE_PROPERTIES_NIC_RECEIVE_RDMA,
    flow_table_nic_cap::FLOW_TABLE_PROPERTIES_NIC_TRANSMIT_RDMA,
];

/// The tables of the switch's manager: the FDB, and what each vport's traffic passes before and behind it.
const SWITCH_TABLES: &[Field] = &[
    flow_table_eswitch_cap::FLOW_TABLE_PROPERTIES_NIC_ESW_FDB,
    flow_table_eswitch_cap::FLOW_TABLE_PROPERTIES_ESW_ACL_INGRESS,
    flow_table_eswitch_cap::FLOW_TABLE_PROPERTIES_ESW_ACL_EGRESS,
];

/// The capability areas of a function.
#[derive(Clone, Debug)]
pub struct Capabilities {
    /// What the card can do.
    maximum: BTreeMap<u16, Vec<u8>>,
    /// What the driver chose of it.
    current: BTreeMap<u16, Vec<u8>>,
}

/// The areas by the names that overrides use, and the layout of each.
const AREAS: &[(&str, u16, &str)] = &[
    ("GENERAL", prm::MLX5_CAP_GENERAL, "cmd_hca_cap"),
    ("ETHERNET_OFFLOADS", prm::MLX5_CAP_ETHERNET_OFFLOADS, "per_protocol_networking_offload_caps"),
    ("ROCE", prm::MLX5_CAP_ROCE, "roce_cap"),
    ("FLOW_TABLE", prm::MLX5_CAP_FLOW_TABLE, "flow_table_nic_cap"),
    ("ESWITCH_FLOW_TABLE", prm::MLX5_CAP_ESWITCH_FLOW_TABLE, "flow_table_eswitch_cap"),
    ("ESWITCH", prm::MLX5_CAP_ESWITCH, "e_switch_cap"),
    ("GENERAL_2", prm::MLX5_CAP_GENERAL_2, "cmd_hca_cap_2"),
];

impl Capabilities {
    /// A physical function, which manages the embedded switch or does not.
    #[must_use]
    pub fn new(eswitch_manager: bool) -> Self {
        let mut capabilities = Self { maximum: BTreeMap::new(), current: BTreeMap::new() };
        let whole = Field::new(0, AREA * 8);
        capabilities.add(prm::MLX5_CAP_GENERAL, whole, GENERAL);
        capabilities.add(prm::MLX5_CAP_ETHERNET_OFFLOADS, whole, ETHERNET);
        capabilities.add(prm::MLX5_CAP_ROCE, whole, ROCE);
        for &table in NIC_TABLES {
            capabilities.add_table(prm::MLX5_CAP_FLOW_TABLE, table);
        }
        if eswitch_manager {
            capabilities.add(prm::MLX5_CAP_GENERAL, whole, ESWITCH_MANAGER);
            capabilities.add(prm::MLX5_CAP_ESWITCH, whole, ESWITCH);
            for &table in SWITCH_TABLES {
                capabilities.add_table(prm::MLX5_CAP_ESWITCH_FLOW_TABLE, table);
            }
        }
        capabilities
    }

    fn add_table(&mut self, area: u16, table: Field) {
        self.add(area, table, FLOW_TABLE);
        self.add(area, table.then(flow_table_prop_layout::FT_FIELD_SUPPORT), MATCH);
    }

    fn add(&mut self, area: u16, at: Field, groups: &[&[Value]]) {
        let bytes = self.maximum.entry(area).or_insert_with(|| vec![0; AREA]);
        for (field, _, value, _) in groups.iter().copied().flatten() {
            at.then(*field).set(bytes, *value);
        }
    }

    /// Sets one capability by its name, such as `GENERAL.log_max_uctx` or
    /// `FLOW_TABLE.flow_table_properties_nic_receive.ft_support`.
    ///
    /// # Errors
    /// In words, if there is none of that name or the value does not fit.
    pub fn set(&mut self, name: &str, value: u64) -> Result<(), String> {
        let (area, field) = resolve(name).ok_or_else(|| format!("there is no capability {name}"))?;
        if value > field.max() {
            return Err(format!("{name} is {} bits wide: at most {}, not {value}", field.width, field.max()));
        }
        field.set(self.maximum.entry(area).or_insert_with(|| vec![0; AREA]), value);
        Ok(())
    }

    /// The area of a type, as the card offers it or as the driver set it.
    #[must_use]
    pub fn area(&self, area: u16, current: bool) -> &[u8] {
        const NONE: &[u8] = &[0; AREA];
        let set = if current { self.current.get(&area) } else { None };
        set.or_else(|| self.maximum.get(&area)).map_or(NONE, Vec::as_slice)
    }

    /// The driver chooses.
    pub fn choose(&mut self, area: u16, bytes: &[u8]) {
        let mut chosen = bytes.to_vec();
        chosen.resize(AREA, 0);
        self.current.insert(area, chosen);
    }

    /// Forgets what the driver chose.
    pub fn reset(&mut self) {
        self.current.clear();
    }
}

/// Finds a capability by its dotted name.
fn resolve(name: &str) -> Option<(u16, Field)> {
    let mut steps = name.split('.');
    let first = steps.next()?;
    let &(_, area, mut layout) = AREAS.iter().find(|(known, ..)| *known == first)?;
    let mut at = Field::new(0, AREA * 8);
    for step in steps {
        let fields = prm::LAYOUTS.iter().copied().flatten().find(|known| known.name == layout)?.fields;
        let (_, field) = fields.iter().find(|(known, _)| known.eq_ignore_ascii_case(step))?;
        at = at.then(*field);
        layout = match layout {
            "flow_table_nic_cap" | "flow_table_eswitch_cap" => "flow_table_prop_layout",
            "flow_table_prop_layout" => "flow_table_fields_supported",
            _ => "",
        };
    }
    (at.width <= 64).then_some((area, at))
}

#[cfg(test)]
mod tests {
    use super::{Capabilities, resolve};
    use uverbs_uapi::prm::{self, cmd_hca_cap};

    #[test]
    fn a_capability_is_found_by_name_and_set() {
        let mut capabilities = Capabilities::new(true);
        let anchors = |c: &Capabilities| {
            cmd_hca_cap::SHARED_OBJECT_TO_USER_OBJECT_ALLOWED.get(c.area(prm::MLX5_CAP_GENERAL, false))
        };
        assert_eq!(anchors(&capabilities), 1);
        capabilities.set("GENERAL.shared_object_to_user_object_allowed", 0).unwrap();
        assert_eq!(anchors(&capabilities), 0);
        assert!(capabilities.set("GENERAL.log_max_uctx", 32).unwrap_err().contains("at most 31"));
        assert!(capabilities.set("GENERAL.no_such", 1).is_err());
    }

    #[test]
    fn nested_names_lead_into_the_right_block() {
        let name = "FLOW_TABLE.flow_table_properties_nic_transmit.ft_field_support.outer_dmac";
        assert_eq!(resolve(name).map(|(area, field)| (area, field.offset)), Some((7, 0x900)));
        assert_eq!(resolve("FLOW_TABLE.flow_table_properties_nic_transmit"), None);
    }
}
