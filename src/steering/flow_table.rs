//! Types and ids of flow tables.

use core::{fmt, str::FromStr};

use uverbs_uapi::mlx5_user_ioctl_verbs as verbs;

use crate::{Error, KernelRelease, Result, error::Lacking};

/// Which packets a flow table is for.
#[doc(alias("mlx5dv_flow_table_type", "mlx5_ib_uapi_flow_table_type"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum FlowTableType {
    /// What the port receives.
    #[doc(alias = "MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_RX")]
    NicRx,
    /// What the port sends.
    #[doc(alias = "MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_TX")]
    NicTx,
    /// What the card's embedded switch forwards between the ports and functions.
    #[doc(alias = "MLX5_IB_UAPI_FLOW_TABLE_TYPE_FDB")]
    Fdb,
    /// RDMA packets that the port receives.
    #[doc(alias = "MLX5_IB_UAPI_FLOW_TABLE_TYPE_RDMA_RX")]
    RdmaRx,
    /// RDMA packets that the port sends.
    #[doc(alias = "MLX5_IB_UAPI_FLOW_TABLE_TYPE_RDMA_TX")]
    RdmaTx,
}

impl FlowTableType {
    /// All types that this version of the crate knows.
    pub const ALL: [Self; 5] = [Self::NicRx, Self::NicTx, Self::Fdb, Self::RdmaRx, Self::RdmaTx];

    /// The first release of Linux with steering anchors.
    pub(crate) const ANCHORS_SINCE: KernelRelease = KernelRelease::new(6, 0);
    /// The first release whose driver lets a rule in a `NicTx` table ignore levels, which an anchor needs.
    pub(crate) const NIC_TX_SINCE: KernelRelease = KernelRelease::new(6, 4);

    /// The name used on the command line: `nic-rx`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NicRx => "nic-rx",
            Self::NicTx => "nic-tx",
            Self::Fdb => "fdb",
            Self::RdmaRx => "rdma-rx",
            Self::RdmaTx => "rdma-tx",
        }
    }

    /// The kernel's number.
    #[must_use]
    pub const fn to_kernel(self) -> u32 {
        match self {
            Self::NicRx => verbs::MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_RX,
            Self::NicTx => verbs::MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_TX,
            Self::Fdb => verbs::MLX5_IB_UAPI_FLOW_TABLE_TYPE_FDB,
            Self::RdmaRx => verbs::MLX5_IB_UAPI_FLOW_TABLE_TYPE_RDMA_RX,
            Self::RdmaTx => verbs::MLX5_IB_UAPI_FLOW_TABLE_TYPE_RDMA_TX,
        }
    }

    /// Whether the driver of a kernel takes anchors of this type, by the kernel's release alone.
    ///
    /// The kernel cannot be asked this without creating an anchor, and a vendor may have changed its driver: what this
    /// says is to be expected, not certain. Firmware, function and privileges have their say besides.
    ///
    /// # Errors
    /// Who lacks it: the kernel before 6.0, its driver for a type that it does not take.
    pub fn expected_on(self, kernel: KernelRelease) -> Result<(), Lacking> {
        match self {
            _ if kernel < Self::ANCHORS_SINCE => Err(Lacking::Kernel),
            Self::NicTx if kernel < Self::NIC_TX_SINCE => Err(Lacking::Driver),
            Self::NicRx | Self::NicTx | Self::Fdb => Ok(()),
            Self::RdmaRx | Self::RdmaTx => Err(Lacking::Driver),
        }
    }
}

impl fmt::Display for FlowTableType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for FlowTableType {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|known| known.name() == text).ok_or(Error::Unreadable {
            what: "flow table type",
            expected: "nic-rx, nic-tx, fdb, rdma-rx or rdma-tx",
        })
    }
}

/// The firmware's number of a flow table, 24 bits: where a rule can forward packets to.
///
/// Numbers are the device's, and shared: every anchor of the same type and priority has the same one. So it is no key
/// to tell anchors apart, and no secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowTableId(u32);

impl FlowTableId {
    /// The id `value`.
    ///
    /// # Errors
    /// [`Error::FlowTableIdOutOfRange`] if it has more than 24 bits.
    pub const fn new(value: u32) -> Result<Self> {
        if value >> 24 == 0 { Ok(Self(value)) } else { Err(Error::FlowTableIdOutOfRange { value }) }
    }

    /// The id that the kernel gave; the firmware's field for it has 24 bits.
    #[inline]
    pub(crate) const fn from_kernel(value: u32) -> Self {
        Self(value & 0xff_ffff)
    }

    /// The id as a number.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl fmt::Display for FlowTableId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::{FlowTableId, FlowTableType};
    use crate::{KernelRelease, error::Lacking};

    #[test]
    fn names_are_read_back() {
        for table_type in FlowTableType::ALL {
            assert_eq!(table_type.to_string().parse::<FlowTableType>().unwrap(), table_type);
        }
        assert!("nic_rx".parse::<FlowTableType>().unwrap_err().to_string().contains("nic-rx"));
    }

    #[test]
    fn what_a_release_takes() {
        use FlowTableType::{Fdb, NicRx, NicTx, RdmaRx, RdmaTx};
        for ((major, minor), expected) in [
            ((5, 10), [Err(Lacking::Kernel); 5]),
            ((6, 1), [Ok(()), Err(Lacking::Driver), Ok(()), Err(Lacking::Driver), Err(Lacking::Driver)]),
            ((6, 4), [Ok(()), Ok(()), Ok(()), Err(Lacking::Driver), Err(Lacking::Driver)]),
            ((7, 3), [Ok(()), Ok(()), Ok(()), Err(Lacking::Driver), Err(Lacking::Driver)]),
        ] {
            let kernel = KernelRelease::new(major, minor);
            let answers =
                [NicRx, NicTx, Fdb, RdmaRx, RdmaTx].map(|table_type| table_type.expected_on(kernel));
            assert_eq!(answers, expected, "{kernel}");
        }
    }

    #[test]
    fn ids_have_24_bits() {
        assert_eq!(FlowTableId::new(0xff_ffff).unwrap().get(), 0xff_ffff);
        assert!(FlowTableId::new(0x100_0000).is_err());
        assert_eq!(FlowTableId::new(42).unwrap().to_string(), "0x2a");
    }
}
