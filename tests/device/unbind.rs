//! The device goes away under a context.

use std::fs;
use std::time::{Duration, Instant};

use uverbs::{FlowTableType, Priority, SteeringAnchor};

use crate::expectation::Expectation;
use crate::{Lab, Outcome, Test, ensure, passed, skip};

pub(crate) const TESTS: &[Test] =
    &[("unbind::a_context_whose_device_went_away_says_so_and_ends_quietly", went_away)];

fn went_away(lab: &Lab) -> Outcome {
    if std::env::var_os("UVERBS_LAB_PROFILE").is_none() {
        return skip("takes the device from everybody: done in the lab only");
    }
    let device = lab.device()?;
    let address = device.pci_address().ok_or("no PCI address")?;
    let context = device.open()?;
    let anchors = Expectation::of(&context)?.anchor(FlowTableType::NicRx).is_ok();
    let create = || SteeringAnchor::create(&context, FlowTableType::NicRx, Priority::default());
    let held = anchors.then(create).transpose()?;
    let driver = "/sys/bus/pci/drivers/mlx5_core";
    fs::write(format!("{driver}/unbind"), &address)?;
    let error = create().err().ok_or("an anchor on a device that is gone")?;
    ensure(!anchors || error.is_device_gone(), format!("{error:?}"))?;
    if let Some(anchor) = held {
        // The kernel has destroyed it already, and says so with success, or that the device is gone.
        if let Err(failed) = anchor.destroy() {
            ensure(failed.error().is_device_gone(), failed.error())?;
        }
    }
    drop(context);
    fs::write(format!("{driver}/bind"), &address)?;
    let deadline = Instant::now() + Duration::from_secs(20);
    while lab.open().is_err() {
        ensure(Instant::now() < deadline, "the device did not come back")?;
        std::thread::sleep(Duration::from_millis(50));
    }
    if anchors {
        SteeringAnchor::create(&lab.open()?, FlowTableType::NicRx, Priority::default())?.destroy()?;
    }
    passed()
}
