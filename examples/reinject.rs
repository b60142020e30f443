//! Packets in, processed on the card, and back to the kernel.
//!
//! All UDP to one port goes through a flow table of this program, and so does VXLAN. There it is counted; VXLAN is
//! dropped, the rest is handed back through a steering anchor and reaches the sockets it would have reached anyway.
//!
//! ```console
//! # cargo run --example reinject -- mlx5_0 5000
//! ```
//!
//! Needs Linux 6.0, `CAP_NET_RAW`, and a card that allows anchors: `uverbs anchor probe mlx5_0` tells. Whenever the
//! program ends, the kernel takes everything down in order, and packets go their usual way.
#![forbid(unsafe_code)]

use std::{error::Error, sync::Arc, thread::sleep, time::Duration};

use uverbs::{
    Device, FlowTableType, Priority, SteeringAnchor,
    flow::{Actions, Flow, FlowCounter, FlowMatcher, FlowTable, Headers, Match},
};

/// The port that the card takes for VXLAN.
const VXLAN: u16 = 4789;

fn udp_to(port: u16) -> Result<Match, Box<dyn Error>> {
    Ok(Match::builder().outer(&Headers::new().udp_destination(port)).build()?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, device, port] = &arguments[..] else { return Err("usage: reinject DEVICE UDP-PORT".into()) };
    let (port, vxlan) = (udp_to(port.parse()?)?, udp_to(VXLAN)?);
    let context = Device::by_name(device)?.open_devx()?;

    // The way back. An anchor leads into the kernel's table of its priority, so it has to come after the way in.
    let (way_in, way_back) = (Priority::new(0)?, Priority::new(1)?);
    let anchor = Arc::new(SteeringAnchor::create(&context, FlowTableType::NicRx, way_back)?);

    // The sandbox: entry 0 for VXLAN, entry 1 for everything else. The first that matches acts.
    let (dropped, returned) = (FlowCounter::create(&context)?, FlowCounter::create(&context)?);
    let table = FlowTable::builder(&context, FlowTableType::NicRx).log_size(1).build()?;
    let drop_vxlan = table.group(0..1, &vxlan)?.entry(0, &vxlan, Actions::drop().count(&dropped))?;
    let everything = Match::any();
    let back = Actions::forward_to(&anchor).count(&returned);
    let hand_back = table.group(1..2, &everything)?.entry(1, &everything, back)?;

    // The way in, opened last: from here on packets come.
    let matcher = FlowMatcher::create(&context, FlowTableType::NicRx, way_in, &port)?;
    let into_sandbox = |criteria: &Match| -> uverbs::Result<Flow> { matcher.flow(criteria, &table).create() };
    let mut flows = vec![into_sandbox(&vxlan)?];
    if port != vxlan {
        flows.push(into_sandbox(&port)?);
    }

    println!("{} flows, entries {} and {}", flows.len(), drop_vxlan.index(), hand_back.index());
    println!("ready");
    loop {
        sleep(Duration::from_secs(1));
        let (dropped, returned) = (dropped.query()?, returned.query()?);
        println!("{} VXLAN packets dropped, {} packets handed back", dropped.packets, returned.packets);
    }
}
