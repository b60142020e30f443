//! Which driver a device has.

use core::fmt;

use uverbs_uapi::ib_user_ioctl_verbs as verbs;

/// The kernel's number of an RDMA driver.
///
/// C: `enum rdma_driver_id`.
#[doc(alias = "rdma_driver_id")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DriverId(u32);

macro_rules! drivers {
    ($($(#[$doc:meta])* $name:ident = $number:ident, $text:literal;)*) => {
        impl DriverId {
            $($(#[$doc])* #[doc = concat!("\n\nC: `", stringify!($number), "`.")] pub const $name: Self = Self(verbs::$number);)*

            /// The driver's name, if this crate knows the number.
            #[must_use]
            pub const fn name(self) -> Option<&'static str> {
                match self.0 {
                    $(verbs::$number => Some($text),)*
                    _ => None,
                }
            }
        }
    };
}

drivers! {
    /// The kernel does not say.
    UNKNOWN = RDMA_DRIVER_UNKNOWN, "unknown";
    /// NVIDIA (Mellanox) `ConnectX`-4 and later.
    MLX5 = RDMA_DRIVER_MLX5, "mlx5";
    /// Mellanox `ConnectX`-2 and 3.
    MLX4 = RDMA_DRIVER_MLX4, "mlx4";
    /// Chelsio T3.
    CXGB3 = RDMA_DRIVER_CXGB3, "cxgb3";
    /// Chelsio T4 and later.
    CXGB4 = RDMA_DRIVER_CXGB4, "cxgb4";
    /// Mellanox InfiniHost.
    MTHCA = RDMA_DRIVER_MTHCA, "mthca";
    /// Broadcom.
    BNXT_RE = RDMA_DRIVER_BNXT_RE, "bnxt_re";
    /// Emulex.
    OCRDMA = RDMA_DRIVER_OCRDMA, "ocrdma";
    /// NetEffect.
    NES = RDMA_DRIVER_NES, "nes";
    /// Intel.
    IRDMA = RDMA_DRIVER_IRDMA, "irdma";
    /// VMware's paravirtual device.
    VMW_PVRDMA = RDMA_DRIVER_VMW_PVRDMA, "vmw_pvrdma";
    /// Marvell `QLogic`.
    QEDR = RDMA_DRIVER_QEDR, "qedr";
    /// HiSilicon.
    HNS = RDMA_DRIVER_HNS, "hns";
    /// Cisco.
    USNIC = RDMA_DRIVER_USNIC, "usnic";
    /// Software RoCE.
    RXE = RDMA_DRIVER_RXE, "rxe";
    /// Omni-Path.
    HFI1 = RDMA_DRIVER_HFI1, "hfi1";
    /// `QLogic` InfiniBand.
    QIB = RDMA_DRIVER_QIB, "qib";
    /// Amazon's Elastic Fabric Adapter.
    EFA = RDMA_DRIVER_EFA, "efa";
    /// Software iWARP.
    SIW = RDMA_DRIVER_SIW, "siw";
    /// Alibaba.
    ERDMA = RDMA_DRIVER_ERDMA, "erdma";
    /// Microsoft Azure.
    MANA = RDMA_DRIVER_MANA, "mana";
    /// AMD Pensando.
    IONIC = RDMA_DRIVER_IONIC, "ionic";
}

impl DriverId {
    /// The driver of the number `number`.
    #[must_use]
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl fmt::Display for DriverId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.pad(name),
            None => write!(f, "driver {}", self.0),
        }
    }
}
