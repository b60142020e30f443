//! `uverbs devices`: what the kernel knows.

use uverbs::Device;

use crate::event::{self, Event};
use crate::failure::{self, Failure, While};
use crate::output::Output;
use crate::table::Table;

/// Stands in a column whose fact is not known.
const UNKNOWN: &str = "-";

pub(crate) fn run(output: &mut Output) -> Result<(), Failure> {
    let devices = Device::list().while_doing(|| "cannot list the RDMA devices".to_owned())?;
    let devices = devices.iter().map(describe);
    if output.is_json() {
        for device in devices {
            output.json(&Event::Device(device))?;
        }
        return Ok(());
    }
    let mut table = Table::with_head(["device", "driver", "node guid", "firmware", "pci address", "node"]);
    let mut empty = true;
    for device in devices {
        empty = false;
        let or_unknown = |fact: Option<String>| fact.unwrap_or_else(|| UNKNOWN.to_owned());
        table.row([
            device.device,
            device.driver,
            or_unknown(device.node_guid),
            or_unknown(device.firmware),
            or_unknown(device.pci_address),
            device.obstacle.unwrap_or(device.node),
        ]);
    }
    if empty { Ok(output.text("no RDMA devices\n")?) } else { Ok(output.text(table)?) }
}

/// The facts about a device that need no open file.
pub(crate) fn describe(device: &Device) -> event::DeviceFacts {
    let access = device.access();
    event::DeviceFacts {
        device: device.name().to_owned(),
        index: device.index(),
        driver: device.driver().to_string(),
        node_guid: device.node_guid().map(|guid| guid.to_string()),
        firmware: device.firmware_version(),
        ports: device.ports(),
        pci_address: device.pci_address(),
        kernel_driver: device.kernel_driver(),
        node: device.node().display().to_string(),
        accessible: access.is_ok(),
        obstacle: access.err().map(|error| failure::chain(&error)),
    }
}
