//! Which card to be, and where to find it.

use std::path::PathBuf;

use crate::faults::Fault;
use crate::profile::Profile;
use crate::wire::WireConfig;

/// The configuration of a card.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// The Unix socket on which QEMU finds the card.
    pub socket: PathBuf,
    /// Which of several cards it is: they have different addresses.
    pub number: u8,
    /// Which card to be.
    pub profile: Profile,
    /// Capabilities that differ from the profile's: `GENERAL.log_max_uctx` and a value.
    pub capabilities: Vec<(String, u64)>,
    /// Commands that fail on demand.
    pub faults: Vec<Fault>,
    /// A file for the trace of commands, one a line.
    pub trace: Option<PathBuf>,
    /// The Unix socket on which the card answers questions about itself.
    pub control: Option<PathBuf>,
    /// What the wire is connected to.
    pub wire: WireConfig,
    /// Frames skip the flow tables: a negative control for tests.
    pub bypass: bool,
}
