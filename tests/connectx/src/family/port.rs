//! The port and the vport behind it: registers, contexts, state, addresses.

use std::collections::BTreeMap;

use uverbs_uapi::prm::{self, Field};

use crate::command::{Answer, Reply, Request};
use crate::layouts::{
    access_register_in, access_register_out, hca_vport_context, modify_nic_vport_context_in,
    nic_vport_context, paos_reg, pmtu_reg, ptys_reg, query_hca_vport_context_out,
    query_nic_vport_context_out, query_roce_address_out, query_vport_state_out, set_roce_address_in,
};

/// The address of card 0, a locally administered one; the others' follow.
const MAC: u64 = 0x0215_b300_0001;
/// The same as a GUID: `ff fe` in the middle. Cards of one GUID would be taken for ports of one card.
const GUID: u64 = 0x0215_b3ff_fe00_0001;

const PMTU: u64 = 0x5003;
const PTYS: u64 = 0x5004;
const PAOS: u64 = 0x5006;
const READ: u16 = 1;

const UP: u64 = 1;
const DOWN: u64 = 2;
const ETHERNET: u64 = 4;
/// 100GBASE-CR4 in the Ethernet protocol masks.
const SPEED_100G: u64 = 1 << 20;
/// What the wire takes at most: 9978 bytes.
const MAX_MTU: u64 = 9978;
/// MTU 1500 and the headers around it.
const FIRST_MTU: u64 = 1522;
/// `field_select` of `MODIFY_NIC_VPORT_CONTEXT`.
const SELECT_MTU: u64 = 1 << 6;
const SELECT_ROCE: u64 = 1 << 1;
/// A port of an InfiniBand vport context that is up.
const VPORT_ACTIVE: u64 = 4;

/// The state of the port.
#[derive(Debug)]
pub(crate) struct Port {
    /// Which card it is.
    number: u8,
    admin_up: bool,
    operational_mtu: u64,
    vport_mtu: u64,
    roce: bool,
    addresses: BTreeMap<u64, Vec<u8>>,
}

impl Port {
    /// The port of card `number`, as after power-on.
    pub(crate) fn new(number: u8) -> Self {
        Self {
            number,
            admin_up: true,
            operational_mtu: MAX_MTU,
            vport_mtu: FIRST_MTU,
            roce: false,
            addresses: BTreeMap::new(),
        }
    }

    /// Executes a command of this family. The flag tells that the port went up or down.
    pub(crate) fn command(&mut self, request: &Request<'_>, reply: &mut Reply<'_>) -> Option<(Answer, bool)> {
        let was_up = self.admin_up;
        let answer = match request.opcode {
            prm::MLX5_CMD_OP_ACCESS_REG => self.register(request, reply),
            prm::MLX5_CMD_OP_QUERY_VPORT_STATE => {
                reply.set(query_vport_state_out::ADMIN_STATE, UP);
                reply.set(query_vport_state_out::STATE, self.admin_up.into());
                String::new()
            }
            prm::MLX5_CMD_OP_QUERY_NIC_VPORT_CONTEXT => {
                self.query_context(reply);
                String::new()
            }
            prm::MLX5_CMD_OP_MODIFY_NIC_VPORT_CONTEXT => self.modify_context(request),
            prm::MLX5_CMD_OP_QUERY_HCA_VPORT_CONTEXT => {
                let context = query_hca_vport_context_out::HCA_VPORT_CONTEXT;
                reply.set(context.then(hca_vport_context::VPORT_STATE), VPORT_ACTIVE);
                String::new()
            }
            prm::MLX5_CMD_OP_SET_ROCE_ADDRESS => {
                let index = request.get(set_roce_address_in::ROCE_ADDRESS_INDEX);
                let address = request.input.get(set_roce_address_in::ROCE_ADDRESS.bytes()).unwrap_or(&[]);
                self.addresses.insert(index, address.to_vec());
                format!("index {index}")
            }
            prm::MLX5_CMD_OP_QUERY_ROCE_ADDRESS => {
                let index = request.get(set_roce_address_in::ROCE_ADDRESS_INDEX);
                if let Some(address) = self.addresses.get(&index) {
                    reply.put(query_roce_address_out::ROCE_ADDRESS.byte(), address);
                }
                format!("index {index}")
            }
            // Statistics, all of them zero, and switches that nothing here depends on.
            prm::MLX5_CMD_OP_QUERY_HCA_VPORT_PKEY
            | prm::MLX5_CMD_OP_QUERY_HCA_VPORT_GID
            | prm::MLX5_CMD_OP_MODIFY_HCA_VPORT_CONTEXT
            | prm::MLX5_CMD_OP_MODIFY_VPORT_STATE
            | prm::MLX5_CMD_OP_QUERY_VNIC_ENV
            | prm::MLX5_CMD_OP_QUERY_VPORT_COUNTER
            | prm::MLX5_CMD_OP_QUERY_Q_COUNTER
            | prm::MLX5_CMD_OP_QUERY_CONG_STATUS
            | prm::MLX5_CMD_OP_MODIFY_CONG_STATUS
            | prm::MLX5_CMD_OP_QUERY_CONG_PARAMS
            | prm::MLX5_CMD_OP_MODIFY_CONG_PARAMS
            | prm::MLX5_CMD_OP_QUERY_CONG_STATISTICS
            | prm::MLX5_CMD_OP_SET_L2_TABLE_ENTRY
            | prm::MLX5_CMD_OP_QUERY_L2_TABLE_ENTRY
            | prm::MLX5_CMD_OP_DELETE_L2_TABLE_ENTRY
            | prm::MLX5_CMD_OP_ADD_VXLAN_UDP_DPORT
            | prm::MLX5_CMD_OP_DELETE_VXLAN_UDP_DPORT
            | prm::MLX5_CMD_OP_SET_WOL_ROL
            | prm::MLX5_CMD_OP_QUERY_WOL_ROL
            | prm::MLX5_CMD_OP_SET_PP_RATE_LIMIT
            | prm::MLX5_CMD_OP_MAD_IFC
            | prm::MLX5_CMD_OP_SET_MAD_DEMUX
            | prm::MLX5_CMD_OP_QUERY_MAD_DEMUX
            | prm::MLX5_CMD_OP_ATTACH_TO_MCG
            | prm::MLX5_CMD_OP_DETACH_FROM_MCG => String::new(),
            _ => return None,
        };
        Some((Ok(answer), was_up != self.admin_up))
    }

    /// Whether the port is up.
    pub(crate) const fn is_up(&self) -> bool {
        self.admin_up
    }

    fn register(&mut self, request: &Request<'_>, reply: &mut Reply<'_>) -> String {
        let register = request.get(access_register_in::REGISTER_ID);
        let read = request.op_mod == READ;
        let input = |field: Field| request.get(shifted(field));
        match (register, read) {
            (PTYS, _) => {
                reply.set(shifted(ptys_reg::PROTO_MASK), ETHERNET);
                for mask in
                    [ptys_reg::ETH_PROTO_CAPABILITY, ptys_reg::ETH_PROTO_ADMIN, ptys_reg::ETH_PROTO_OPER]
                {
                    reply.set(shifted(mask), SPEED_100G);
                }
            }
            (PMTU, false) => self.operational_mtu = input(pmtu_reg::ADMIN_MTU).min(MAX_MTU),
            (PMTU, true) => {
                reply.set(shifted(pmtu_reg::MAX_MTU), MAX_MTU);
                reply.set(shifted(pmtu_reg::ADMIN_MTU), self.operational_mtu);
                reply.set(shifted(pmtu_reg::OPER_MTU), self.operational_mtu);
            }
            (PAOS, false) => self.admin_up = input(paos_reg::ADMIN_STATUS) != DOWN,
            (PAOS, true) => {
                let status = if self.admin_up { UP } else { DOWN };
                reply.set(shifted(paos_reg::ADMIN_STATUS), status);
                reply.set(shifted(paos_reg::OPER_STATUS), status);
            }
            // The others read as zero, which the driver takes for "not there" or "nothing to tell".
            _ => {}
        }
        format!("register {register:#x} {}", if read { "read" } else { "write" })
    }

    fn query_context(&self, reply: &mut Reply<'_>) {
        let mut set =
            |field, value| reply.set(query_nic_vport_context_out::NIC_VPORT_CONTEXT.then(field), value);
        set(nic_vport_context::MTU, self.vport_mtu);
        set(nic_vport_context::SYSTEM_IMAGE_GUID, GUID + u64::from(self.number));
        set(nic_vport_context::NODE_GUID, GUID + u64::from(self.number));
        set(nic_vport_context::ROCE_EN, self.roce.into());
        set(nic_vport_context::PERMANENT_ADDRESS, MAC + u64::from(self.number));
    }

    fn modify_context(&mut self, request: &Request<'_>) -> String {
        let select = request.get(modify_nic_vport_context_in::FIELD_SELECT);
        let value = |field| request.get(modify_nic_vport_context_in::NIC_VPORT_CONTEXT.then(field));
        if select & SELECT_MTU != 0 {
            self.vport_mtu = value(nic_vport_context::MTU);
        }
        if select & SELECT_ROCE != 0 {
            self.roce = value(nic_vport_context::ROCE_EN) != 0;
        }
        format!("select {select:#x}")
    }
}

const _: () = assert!(access_register_in::REGISTER_DATA.offset == access_register_out::REGISTER_DATA.offset);

/// A field of the register in an `ACCESS_REG` command or answer: both have it at the same place.
const fn shifted(field: Field) -> Field {
    Field::new(access_register_in::REGISTER_DATA.offset + field.offset, field.width)
}
