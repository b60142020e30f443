//! Discovery: what the list says, and that both ways to a device agree.

use uverbs::{Device, DriverId, FlowTableType, Priority, SteeringAnchor};

use crate::{Lab, Outcome, Test, ensure, equal, passed, skip};

pub(crate) const TESTS: &[Test] = &[
    ("device::the_list_holds_the_device_in_the_order_of_the_index", list),
    ("device::a_device_found_by_name_is_the_listed_one", by_name),
    ("device::an_unknown_name_is_refused_by_name", unknown_name),
    ("device::a_non_mlx5_device_is_listed_queried_and_refused_an_anchor", other_driver),
];

fn list(lab: &Lab) -> Outcome {
    let devices = Device::list()?;
    let device =
        devices.iter().find(|device| device.name() == lab.device).ok_or("the device is not in the list")?;
    equal("driver", device.driver(), DriverId::MLX5)?;
    ensure(device.index().is_some() && device.node_guid().is_some(), format!("{device:?}"))?;
    ensure(device.ports().is_some_and(|ports| ports >= 1), format!("{device:?}"))?;
    ensure(devices.is_sorted_by_key(Device::index), format!("{devices:?}"))?;
    passed()
}

fn by_name(lab: &Lab) -> Outcome {
    let named = lab.device()?;
    let devices = Device::list()?;
    let listed =
        devices.iter().find(|device| device.name() == lab.device).ok_or("the device is not in the list")?;
    equal("node", named.node(), listed.node())?;
    equal("driver", named.driver(), listed.driver())?;
    equal("kernel driver", named.kernel_driver().as_deref(), Some("mlx5_core"))?;
    let address = named.pci_address().ok_or("no PCI address")?;
    ensure(std::path::Path::new("/sys/bus/pci/devices").join(&address).exists(), address)?;
    named.access()?;
    let attributes = named.open()?.query_device()?;
    equal("node GUID", Some(attributes.node_guid()), listed.node_guid())?;
    equal("firmware version", Some(attributes.firmware_version()), listed.firmware_version())?;
    equal("vendor", attributes.vendor_id(), 0x02c9)?;
    passed()
}

fn unknown_name(_: &Lab) -> Outcome {
    for name in ["mlx5_99", "..", "a/b", ""] {
        let error = Device::by_name(name).err().ok_or_else(|| format!("found {name:?}"))?;
        ensure(error.to_string().contains(name), error.to_string())?;
    }
    passed()
}

fn other_driver(_: &Lab) -> Outcome {
    let devices = Device::list()?;
    let Some(device) = devices.iter().find(|device| device.driver() != DriverId::MLX5) else {
        return skip("there is no device of another driver");
    };
    let context = device.open()?;
    context.query_device()?;
    context.query_port(1)?;
    let refused = SteeringAnchor::create(&context, FlowTableType::NicRx, Priority::default());
    let error = refused.err().ok_or("an anchor on a device that is not mlx5")?;
    equal(&format!("{error}: no ioctl, so no errno"), error.errno(), None)?;
    ensure(
        error.to_string().contains(device.name()) || error.to_string().contains("mlx5"),
        error.to_string(),
    )?;
    passed()
}
