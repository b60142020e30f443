//! Profiles: cards that differ from the default one in a single thing.

use std::fmt;
use std::str::FromStr;

use crate::capabilities::Capabilities;
use crate::pci;

/// Which card to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// A physical function that manages the embedded switch and has everything.
    #[default]
    Default,
    /// The switch is managed by somebody else.
    NoEswitch,
    /// The firmware lets no user object refer to a shared one.
    NoAnchor,
    /// The firmware has no user contexts.
    NoDevx,
    /// A virtual function.
    Vf,
}

impl Profile {
    /// All profiles.
    pub const ALL: [Self; 5] = [Self::Default, Self::NoEswitch, Self::NoAnchor, Self::NoDevx, Self::Vf];

    /// The name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::NoEswitch => "no-eswitch",
            Self::NoAnchor => "no-anchor",
            Self::NoDevx => "no-devx",
            Self::Vf => "vf",
        }
    }

    /// The PCI device id.
    #[must_use]
    pub const fn device_id(self) -> u16 {
        match self {
            Self::Vf => pci::VIRTUAL,
            _ => pci::PHYSICAL,
        }
    }

    /// What the card can do.
    #[must_use]
    pub fn capabilities(self) -> Capabilities {
        let mut capabilities = Capabilities::new(!matches!(self, Self::NoEswitch | Self::Vf));
        let lacking = match self {
            Self::NoAnchor => Some("GENERAL.shared_object_to_user_object_allowed"),
            Self::NoDevx => Some("GENERAL.log_max_uctx"),
            Self::Default | Self::NoEswitch | Self::Vf => None,
        };
        if let Some(name) = lacking {
            let set = capabilities.set(name, 0);
            debug_assert!(set.is_ok(), "{set:?}");
        }
        capabilities
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// There is no profile of this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no profile {0:?}: default, no-eswitch, no-anchor, no-devx, vf")]
pub struct UnknownProfile(String);

impl FromStr for Profile {
    type Err = UnknownProfile;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|profile| profile.name() == name)
            .ok_or_else(|| UnknownProfile(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::Profile;
    use uverbs_uapi::prm::{self, cmd_hca_cap};

    #[test]
    fn names_lead_back_to_their_profiles() {
        for profile in Profile::ALL {
            assert_eq!(profile.to_string().parse(), Ok(profile));
        }
        assert!("vfs".parse::<Profile>().is_err());
    }

    #[test]
    fn each_profile_lacks_what_its_name_says() {
        let general = |profile: Profile| profile.capabilities().area(prm::MLX5_CAP_GENERAL, false).to_vec();
        let lacks = |profile: Profile| {
            let area = general(profile);
            [
                cmd_hca_cap::SHARED_OBJECT_TO_USER_OBJECT_ALLOWED,
                cmd_hca_cap::LOG_MAX_UCTX,
                cmd_hca_cap::ESWITCH_MANAGER,
            ]
            .map(|field| field.get(&area) == 0)
        };
        assert_eq!(lacks(Profile::Default), [false, false, false]);
        assert_eq!(lacks(Profile::NoAnchor), [true, false, false]);
        assert_eq!(lacks(Profile::NoDevx), [false, true, false]);
        assert_eq!(lacks(Profile::NoEswitch), [false, false, true]);
        assert_eq!(lacks(Profile::Vf), [false, false, true]);
    }
}
