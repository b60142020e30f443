//! Everything that `--json` may print, one object a line.
//!
//! Scripts rely on these names and their order: fields are added at the end, and never renamed. What is not known is
//! left out of the line.

use serde::Serialize;

/// A line of output. Its `type` is the variant's name in `snake_case`.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Event {
    /// A device that the kernel knows.
    Device(DeviceFacts),
    /// What an opened device says about itself.
    Attributes(Attributes),
    /// One of its ports.
    Port(PortFacts),
    /// An entry of a port's GID table.
    Gid(GidFacts),
    /// What decides about anchors on an mlx5 device.
    Mlx5(Mlx5),
    /// A steering anchor was created.
    Anchor(Anchor),
    /// Set up; from here on the command runs until it is interrupted.
    Ready,
    /// The anchor is gone.
    Destroyed(Anchor),
    /// Whether anchors of one type work.
    Probe(Probe),
    /// What a sandbox has counted so far.
    Stats(Stats),
    /// Whether the caller may create anchors.
    Caller { cap_net_raw: bool },
    /// The command failed.
    Error {
        message: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        cause: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        hint: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        errno: Option<i32>,
        #[serde(skip_serializing_if = "Option::is_none")]
        lacking: Option<&'static str>,
    },
}

#[derive(Debug, Serialize)]
pub(crate) struct DeviceFacts {
    pub(crate) device: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) index: Option<u32>,
    pub(crate) driver: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) node_guid: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) firmware: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ports: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pci_address: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) kernel_driver: Option<String>,
    pub(crate) node: String,
    pub(crate) accessible: bool,
    /// Why it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) obstacle: Option<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Attributes {
    pub(crate) device: String,
    pub(crate) firmware: String,
    pub(crate) node_guid: String,
    pub(crate) sys_image_guid: String,
    pub(crate) vendor_id: u32,
    pub(crate) vendor_part_id: u32,
    pub(crate) hw_version: u32,
    pub(crate) ports: u8,
    pub(crate) completion_vectors: u32,
}

#[derive(Debug, Serialize)]
pub(crate) struct PortFacts {
    pub(crate) device: String,
    pub(crate) port: u32,
    pub(crate) state: String,
    pub(crate) link_layer: String,
    pub(crate) active_mtu: u32,
    pub(crate) max_mtu: u32,
    pub(crate) lid: u16,
    pub(crate) gid_table_len: u32,
}

#[derive(Debug, Serialize)]
pub(crate) struct GidFacts {
    pub(crate) device: String,
    pub(crate) port: u32,
    pub(crate) index: u32,
    pub(crate) gid: String,
    pub(crate) gid_type: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) netdev_index: Option<u32>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Mlx5 {
    pub(crate) device: String,
    /// The kernel offers the steering anchor object on this device.
    pub(crate) steering_anchor: bool,
    /// The kernel offers the DEVX object on this device.
    pub(crate) devx: bool,
    #[serde(flatten)]
    pub(crate) capabilities: Option<Capabilities>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Capabilities {
    pub(crate) shared_object_to_user_object_allowed: bool,
    pub(crate) eswitch_manager: bool,
    pub(crate) log_max_uctx: u8,
    pub(crate) vhca_id: u16,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Anchor {
    pub(crate) device: String,
    pub(crate) table_type: String,
    pub(crate) priority: u16,
    pub(crate) flow_table_id: u32,
}

#[derive(Debug, Serialize)]
pub(crate) struct Probe {
    pub(crate) device: String,
    pub(crate) table_type: String,
    pub(crate) works: bool,
    pub(crate) basis: Basis,
    pub(crate) reason: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Stats {
    pub(crate) device: String,
    pub(crate) returned_packets: u64,
    pub(crate) returned_bytes: u64,
    pub(crate) dropped_packets: u64,
    pub(crate) dropped_bytes: u64,
}

/// Where a probe's answer comes from.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Basis {
    /// The kernel or the device was asked.
    Asked,
    /// It cannot be asked; this is what the kernel's version lets one expect.
    Expected,
    /// An anchor was created.
    Tried,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(event: &Event) -> String {
        serde_json::to_string(event).expect("an event is plain data")
    }

    #[test]
    fn anchor_lines_keep_their_shape() {
        let anchor =
            Anchor { device: "mlx5_0".into(), table_type: "nic-rx".into(), priority: 3, flow_table_id: 42 };
        assert_eq!(
            line(&Event::Anchor(anchor.clone())),
            r#"{"type":"anchor","device":"mlx5_0","table_type":"nic-rx","priority":3,"flow_table_id":42}"#
        );
        assert_eq!(line(&Event::Ready), r#"{"type":"ready"}"#);
        assert_eq!(
            line(&Event::Destroyed(anchor)),
            r#"{"type":"destroyed","device":"mlx5_0","table_type":"nic-rx","priority":3,"flow_table_id":42}"#
        );
    }

    #[test]
    fn unknown_facts_are_left_out() {
        let mlx5 = Mlx5 { device: "mlx5_0".into(), steering_anchor: true, devx: false, capabilities: None };
        assert_eq!(
            line(&Event::Mlx5(mlx5)),
            r#"{"type":"mlx5","device":"mlx5_0","steering_anchor":true,"devx":false}"#
        );
        let error = Event::Error {
            message: "m".into(),
            cause: None,
            hint: None,
            errno: Some(1),
            lacking: Some("privilege"),
        };
        assert_eq!(line(&error), r#"{"type":"error","message":"m","errno":1,"lacking":"privilege"}"#);
    }
}
