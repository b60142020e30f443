//! What the firmware can do.

use uverbs_uapi::prm::{self, Field, cmd_hca_cap, query_hca_cap_in, query_hca_cap_out};

use super::Context;
use crate::{
    Error, Result,
    devx::{self, Inbox},
};

/// Whether firmware commands may be sent on a context.
///
/// The kernel does not say so. But of the commands that it lets through, only a few may be sent without DEVX, and this
/// one, which asks for the version of the command interface and changes nothing, is none of them.
pub(super) fn may_send_commands(context: &Context) -> bool {
    const OUTBOX: usize = 112;

    let inbox = Inbox::<16>::new(prm::MLX5_CMD_OP_QUERY_ISSI);
    // Had the firmware refused it, it would have been asked.
    context.require_mlx5().is_ok()
        && matches!(devx::execute(context, inbox.as_ref(), &mut [0; OUTBOX]), Ok(()) | Err(Error::Refused(_)))
}

/// A group of firmware capabilities, each with a layout of its own in [`uverbs_uapi::prm`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CapabilityGroup {
    /// The device in general: [`cmd_hca_cap`].
    General,
    /// Flow tables of the ports: [`flow_table_nic_cap`](prm::flow_table_nic_cap).
    FlowTable,
    /// Flow tables of the embedded switch: [`flow_table_eswitch_cap`](prm::flow_table_eswitch_cap).
    EswitchFlowTable,
    /// The embedded switch: `e_switch_cap`.
    Eswitch,
    /// The device in general, continued: [`cmd_hca_cap_2`](prm::cmd_hca_cap_2).
    General2,
}

impl CapabilityGroup {
    const fn to_firmware(self) -> u16 {
        match self {
            Self::General => prm::MLX5_CAP_GENERAL,
            Self::FlowTable => prm::MLX5_CAP_FLOW_TABLE,
            Self::EswitchFlowTable => prm::MLX5_CAP_ESWITCH_FLOW_TABLE,
            Self::Eswitch => prm::MLX5_CAP_ESWITCH,
            Self::General2 => prm::MLX5_CAP_GENERAL_2,
        }
    }
}

/// Capabilities of the firmware that are in force, of one group.
///
/// Known through DEVX's `QUERY_HCA_CAP`, which needs no DEVX context, but a firmware that has user contexts.
#[doc(alias("mlx5_ifc_cmd_hca_cap_bits", "MLX5_CMD_OP_QUERY_HCA_CAP"))]
#[derive(Clone, Debug)]
pub struct HcaCapabilities {
    group: CapabilityGroup,
    outbox: Box<[u8]>,
}

impl HcaCapabilities {
    pub(super) fn query(context: &Context, group: CapabilityGroup) -> Result<Self> {
        context.require_mlx5()?;
        let mode = group.to_firmware() << 1 | prm::HCA_CAP_OPMOD_GET_CUR;
        let inbox = Inbox::<{ query_hca_cap_in::SIZE }>::new(prm::MLX5_CMD_OP_QUERY_HCA_CAP).variant(mode);
        let mut outbox = vec![0; query_hca_cap_out::SIZE].into_boxed_slice();
        devx::execute(context, inbox.as_ref(), &mut outbox)?;
        Ok(Self { group, outbox })
    }

    /// The group that was asked for.
    #[must_use]
    pub const fn group(&self) -> CapabilityGroup {
        self.group
    }

    /// A field of the group's layout, at most 64 bits.
    #[must_use]
    pub fn get(&self, field: Field) -> u64 {
        query_hca_cap_out::CAPABILITY.then(field).get(&self.outbox)
    }

    /// The group's layout as bytes.
    #[must_use]
    pub fn raw(&self) -> &[u8] {
        &self.outbox[query_hca_cap_out::CAPABILITY.bytes()]
    }

    fn general(&self, field: Field) -> u64 {
        if self.group == CapabilityGroup::General { self.get(field) } else { 0 }
    }

    /// General: users' objects may refer to shared ones. Steering anchors need it.
    #[must_use]
    pub fn shared_object_to_user_object_allowed(&self) -> bool {
        self.general(cmd_hca_cap::SHARED_OBJECT_TO_USER_OBJECT_ALLOWED) != 0
    }

    /// General: this function manages the embedded switch.
    #[must_use]
    pub fn eswitch_manager(&self) -> bool {
        self.general(cmd_hca_cap::ESWITCH_MANAGER) != 0
    }

    /// General: the logarithm of the number of user contexts; 0 if there are none, and so no DEVX.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "five bits")]
    pub fn log_max_uctx(&self) -> u8 {
        self.general(cmd_hca_cap::LOG_MAX_UCTX) as u8
    }

    /// General: the function's number within the card.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "16 bits")]
    pub fn vhca_id(&self) -> u16 {
        self.general(cmd_hca_cap::VHCA_ID) as u16
    }

    /// General: what user contexts may be allowed to do, as bits.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "32 bits")]
    pub fn uctx_cap(&self) -> u32 {
        self.general(cmd_hca_cap::UCTX_CAP) as u32
    }
}
