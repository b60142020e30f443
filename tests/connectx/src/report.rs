//! What is to be said about a card when it is switched off.

use crate::objects::Leak;

/// The last account of a card.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Objects that were alive when they should not have been: when that was noticed, and which.
    pub leaks: Vec<(&'static str, Leak)>,
    /// Commands executed.
    pub commands: u64,
    /// Commands refused.
    pub refusals: u64,
    /// Pages of the guest that the card never gave back.
    pub pages: usize,
}
