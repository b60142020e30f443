//! `uverbs show DEV`: what a device is, and what it can do.

use uverbs::{Context, Device, DriverId, Object};

use crate::cli::DeviceArguments;
use crate::devices;
use crate::event::{self, Event};
use crate::failure::{Failure, While};
use crate::output::Output;
use crate::table::Table;

pub(crate) fn run(arguments: &DeviceArguments, output: &mut Output) -> Result<(), Failure> {
    let name = &arguments.device;
    let while_showing = || format!("cannot show {name}");
    let device = Device::by_name(name).while_doing(while_showing)?;
    print(output, Event::Device(devices::describe(&device)))?;
    let context = device.open().while_doing(while_showing)?;
    let attributes = attributes(&context, name).while_doing(while_showing)?;
    let ports = u32::from(attributes.ports);
    print(output, Event::Attributes(attributes))?;
    for port in 1..=ports {
        print(output, Event::Port(self::port(&context, name, port).while_doing(while_showing)?))?;
    }
    for entry in context.gids().while_doing(while_showing)? {
        let gid = event::Gid {
            device: name.clone(),
            port: entry.port(),
            index: entry.index(),
            gid: entry.gid().to_string(),
            gid_type: entry.gid_type().to_string(),
            netdev_index: entry.netdev_index(),
        };
        print(output, Event::Gid(gid))?;
    }
    if context.driver() == DriverId::MLX5 {
        print(output, Event::Mlx5(mlx5(&context, name).while_doing(while_showing)?))?;
    }
    Ok(())
}

fn attributes(context: &Context, device: &str) -> uverbs::Result<event::Attributes> {
    let attributes = context.query_device()?;
    Ok(event::Attributes {
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

fn port(context: &Context, device: &str, port: u32) -> uverbs::Result<event::Port> {
    let attributes = context.query_port(port)?;
    Ok(event::Port {
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

fn mlx5(context: &Context, device: &str) -> uverbs::Result<event::Mlx5> {
    // A kernel that offers no DEVX offers no way to ask for capabilities either: everything else is still worth showing.
    let capabilities = context.hca_capabilities().ok().map(|capabilities| event::Capabilities {
        shared_object_to_user_object_allowed: capabilities.shared_object_to_user_object_allowed(),
        eswitch_manager: capabilities.eswitch_manager(),
        log_max_uctx: capabilities.log_max_uctx(),
        vhca_id: capabilities.vhca_id(),
    });
    Ok(event::Mlx5 {
        device: device.to_owned(),
        steering_anchor: context.supports(Object::STEERING_ANCHOR)?,
        devx: context.supports(Object::DEVX)?,
        capabilities,
    })
}

fn print(output: &mut Output, event: Event) -> Result<(), Failure> {
    if output.is_json() { Ok(output.json(&event)?) } else { Ok(output.text(text(event))?) }
}

/// The same facts for people: a block a subject, its name first.
fn text(event: Event) -> String {
    let yes_no = |yes| if yes { "yes" } else { "no" }.to_owned();
    let mut fields = Table::new(2);
    let mut field = |name: &str, value: String| fields.row([name.to_owned(), value]);
    let title = match event {
        Event::Device(device) => {
            let mut optional = |name: &str, value: Option<String>| {
                if let Some(value) = value {
                    field(name, value);
                }
            };
            optional("index", device.index.map(|index| index.to_string()));
            optional("driver", Some(match device.kernel_driver {
                Some(kernel_driver) => format!("{} ({kernel_driver})", device.driver),
                None => device.driver,
            }));
            optional("pci address", device.pci_address);
            optional("node", Some(device.node));
            optional("cannot be opened", device.obstacle);
            device.device
        }
        Event::Attributes(attributes) => {
            field("firmware", attributes.firmware);
            field("node guid", attributes.node_guid);
            field("system image guid", attributes.sys_image_guid);
            field("part", format!("{:04x}:{:04x}, hardware {:#x}", attributes.vendor_id, attributes.vendor_part_id, attributes.hw_version));
            field("ports", attributes.ports.to_string());
            field("completion vectors", attributes.completion_vectors.to_string());
            "attributes".to_owned()
        }
        Event::Port(port) => {
            field("state", port.state);
            field("link layer", port.link_layer);
            field("mtu", format!("{} of {}", port.active_mtu, port.max_mtu));
            field("lid", port.lid.to_string());
            format!("port {}", port.port)
        }
        Event::Gid(gid) => {
            let netdev = gid.netdev_index.map_or_else(String::new, |index| format!(", network device {index}"));
            return format!("gid {}/{}  {}  {}{netdev}\n", gid.port, gid.index, gid.gid, gid.gid_type);
        }
        Event::Mlx5(mlx5) => {
            field("steering anchors", yes_no(mlx5.steering_anchor));
            field("devx", yes_no(mlx5.devx));
            if let Some(capabilities) = mlx5.capabilities {
                field("shared_object_to_user_object_allowed", yes_no(capabilities.shared_object_to_user_object_allowed));
                field("eswitch_manager", yes_no(capabilities.eswitch_manager));
                field("log_max_uctx", capabilities.log_max_uctx.to_string());
                field("vhca_id", capabilities.vhca_id.to_string());
            }
            "mlx5".to_owned()
        }
        other => unreachable!("not part of a device: {other:?}"),
    };
    format!("{title}\n{fields}")
}
