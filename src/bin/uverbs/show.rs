//! `uverbs show DEV`: what a device is, and what it can do.

use uverbs::{Context, Device, DriverId, Object};

use crate::cli::DeviceArguments;
use crate::devices;
use crate::event::{Attributes, Capabilities, DeviceFacts, Event, GidFacts, Mlx5, PortFacts};
use crate::failure::{Failure, While};
use crate::output::Output;
use crate::table::Table;

pub(crate) fn run(arguments: &DeviceArguments, output: &mut Output) -> Result<(), Failure> {
    let name = &arguments.device;
    let while_showing = || format!("cannot show {name}");
    let device = Device::by_name(name).while_doing(while_showing)?;
    let facts = devices::describe(&device);
    let text = device_text(&facts);
    output.print(&Event::Device(facts), text)?;

    let context = device.open().while_doing(while_showing)?;
    let attributes = attributes(&context, name).while_doing(while_showing)?;
    let text = attributes_text(&attributes);
    let ports = 1..=u32::from(attributes.ports);
    output.print(&Event::Attributes(attributes), text)?;
    for number in ports {
        let port = port(&context, name, number).while_doing(while_showing)?;
        let text = port_text(&port);
        output.print(&Event::Port(port), text)?;
    }
    print_gids(&context, name, output)?;
    if context.driver() == DriverId::MLX5 {
        let mlx5 = mlx5(&context, name).while_doing(while_showing)?;
        let text = mlx5_text(&mlx5);
        output.print(&Event::Mlx5(mlx5), text)?;
    }
    Ok(())
}

fn attributes(context: &Context, device: &str) -> uverbs::Result<Attributes> {
    let attributes = context.query_device()?;
    Ok(Attributes {
        device: device.to_owned(),
        firmware: attributes.firmware_version(),
        node_guid: attributes.node_guid().to_string(),
        sys_image_guid: attributes.sys_image_guid().to_string(),
        vendor_id: attributes.vendor_id(),
        vendor_part_id: attributes.vendor_part_id(),
        hw_version: attributes.hw_version(),
        ports: attributes.ports(),
        completion_vectors: context.completion_vectors(),
    })
}

fn port(context: &Context, device: &str, port: u32) -> uverbs::Result<PortFacts> {
    let attributes = context.query_port(port)?;
    Ok(PortFacts {
        device: device.to_owned(),
        port,
        state: attributes.state().to_string(),
        link_layer: attributes.link_layer().to_string(),
        active_mtu: attributes.active_mtu(),
        max_mtu: attributes.max_mtu(),
        lid: attributes.lid(),
        gid_table_len: attributes.gid_table_len(),
    })
}

fn print_gids(context: &Context, device: &str, output: &mut Output) -> Result<(), Failure> {
    let entries = context.gids().while_doing(|| format!("cannot show the GIDs of {device}"))?;
    let mut table = Table::new(2);
    for entry in &entries {
        let gid = GidFacts {
            device: device.to_owned(),
            port: entry.port(),
            index: entry.index(),
            gid: entry.gid().to_string(),
            gid_type: entry.gid_type().to_string(),
            netdev_index: entry.netdev_index(),
        };
        if output.is_json() {
            output.json(&Event::Gid(gid))?;
        } else {
            let netdev = gid.netdev_index.map_or_else(String::new, |index| format!("netdev {index}"));
            table.row([format!("{}/{}", gid.port, gid.index), gid.gid, gid.gid_type, netdev]);
        }
    }
    if !output.is_json() && !entries.is_empty() {
        output.text(format_args!("gids (port/index)\n{table}"))?;
    }
    Ok(())
}

fn mlx5(context: &Context, device: &str) -> uverbs::Result<Mlx5> {
    // Without DEVX in the kernel there is no way to the capabilities: everything else is still worth showing.
    let capabilities = context.hca_capabilities().ok().map(|capabilities| Capabilities {
        shared_object_to_user_object_allowed: capabilities.shared_object_to_user_object_allowed(),
        eswitch_manager: capabilities.eswitch_manager(),
        log_max_uctx: capabilities.log_max_uctx(),
        vhca_id: capabilities.vhca_id(),
    });
    Ok(Mlx5 {
        device: device.to_owned(),
        steering_anchor: context.supports(Object::STEERING_ANCHOR)?,
        devx: context.supports(Object::DEVX)?,
        capabilities,
    })
}

fn device_text(device: &DeviceFacts) -> String {
    let driver = match &device.kernel_driver {
        Some(kernel_driver) => format!("{} ({kernel_driver})", device.driver),
        None => device.driver.clone(),
    };
    let fields = [
        ("index", device.index.map(|index| index.to_string())),
        ("driver", Some(driver)),
        ("pci address", device.pci_address.clone()),
        ("node", Some(device.node.clone())),
        ("not accessible", device.obstacle.clone()),
    ];
    block(&device.device, fields.into_iter().filter_map(|(name, value)| Some((name, value?))))
}

fn attributes_text(attributes: &Attributes) -> String {
    let part = format!(
        "{:04x}:{:04x}, hardware {:#x}",
        attributes.vendor_id, attributes.vendor_part_id, attributes.hw_version
    );
    let fields = [
        ("firmware", attributes.firmware.clone()),
        ("node guid", attributes.node_guid.clone()),
        ("system image guid", attributes.sys_image_guid.clone()),
        ("part", part),
        ("ports", attributes.ports.to_string()),
        ("completion vectors", attributes.completion_vectors.to_string()),
    ];
    block("attributes", fields)
}

fn port_text(port: &PortFacts) -> String {
    let fields = [
        ("state", port.state.clone()),
        ("link layer", port.link_layer.clone()),
        ("mtu", format!("{} (at most {})", port.active_mtu, port.max_mtu)),
        ("lid", port.lid.to_string()),
        ("gid table", format!("{} entries", port.gid_table_len)),
    ];
    block(&format!("port {}", port.port), fields)
}

fn mlx5_text(mlx5: &Mlx5) -> String {
    let yes_no = |yes| if yes { "yes" } else { "no" }.to_owned();
    let offered = [("steering anchors", yes_no(mlx5.steering_anchor)), ("devx", yes_no(mlx5.devx))];
    let capabilities = mlx5.capabilities.as_ref().map(|capabilities| {
        let shared = yes_no(capabilities.shared_object_to_user_object_allowed);
        [
            ("shared_object_to_user_object_allowed", shared),
            ("eswitch_manager", yes_no(capabilities.eswitch_manager)),
            ("log_max_uctx", capabilities.log_max_uctx.to_string()),
            ("vhca_id", capabilities.vhca_id.to_string()),
        ]
    });
    block("mlx5", offered.into_iter().chain(capabilities.into_iter().flatten()))
}

/// A subject and its facts, one a line.
fn block<'a>(subject: &str, fields: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let mut table = Table::new(2);
    for (name, value) in fields {
        table.row([name.to_owned(), value]);
    }
    format!("{subject}\n{table}")
}
