//! What this device on this kernel must do, from what they say of themselves.

use libtest_mimic::Failed;
use uverbs::{Context, FlowTableType, KernelRelease, Lacking, Object};

/// What a test may expect.
pub(crate) struct Expectation {
    kernel: KernelRelease,
    shared_objects: bool,
    eswitch_manager: bool,
}

impl Expectation {
    pub(crate) fn of(context: &Context) -> Result<Self, Failed> {
        let kernel = KernelRelease::running();
        if context.supports(Object::DEVX)? {
            let capabilities = context.hca_capabilities()?;
            return Ok(Self {
                kernel,
                shared_objects: capabilities.shared_object_to_user_object_allowed(),
                eswitch_manager: capabilities.eswitch_manager(),
            });
        }
        // Without DEVX a device does not tell its capabilities. The lab's card without DEVX is like the default one
        // otherwise; of a real one no more can be expected than it shows.
        Ok(Self {
            kernel,
            shared_objects: context.supports(Object::STEERING_ANCHOR)?,
            eswitch_manager: std::env::var("UVERBS_LAB_PROFILE").is_ok_and(|profile| profile == "no-devx"),
        })
    }

    /// Whether the anchor object is there at all.
    pub(crate) fn anchors(&self) -> Result<(), Lacking> {
        if self.kernel < KernelRelease::new(6, 0) {
            Err(Lacking::Kernel)
        } else if self.shared_objects {
            Ok(())
        } else {
            Err(Lacking::Firmware)
        }
    }

    /// Whether an anchor of this type can be created, and if not, who lacks what it takes.
    pub(crate) fn anchor(&self, table_type: FlowTableType) -> Result<(), Lacking> {
        self.anchors()?;
        match table_type {
            FlowTableType::NicRx => Ok(()),
            FlowTableType::NicTx if self.kernel >= KernelRelease::new(6, 4) => Ok(()),
            FlowTableType::Fdb if self.eswitch_manager => Ok(()),
            FlowTableType::Fdb => Err(Lacking::Function),
            _ => Err(Lacking::Driver),
        }
    }
}

/// What the lab's profile means for the capabilities: a profile that changes nothing would test nothing.
pub(crate) fn profile_holds(context: &Context) -> Result<(), Failed> {
    let Ok(profile) = std::env::var("UVERBS_LAB_PROFILE") else { return Ok(()) };
    let found = if context.supports(Object::DEVX)? {
        let capabilities = context.hca_capabilities()?;
        let devx = capabilities.log_max_uctx() != 0;
        (capabilities.shared_object_to_user_object_allowed(), capabilities.eswitch_manager(), devx)
    } else {
        let Expectation { shared_objects, eswitch_manager, kernel } = Expectation::of(context)?;
        (shared_objects || kernel < KernelRelease::new(6, 0), eswitch_manager, false)
    };
    let expected = match profile.as_str() {
        "default" => (true, true, true),
        "no-eswitch" | "vf" => (true, false, true),
        "no-anchor" => (false, true, true),
        "no-devx" => (true, true, false),
        other => return Err(format!("the tests do not know the profile {other}").into()),
    };
    crate::equal("anchors allowed, eswitch manager, DEVX", found, expected)
}
