//! `uverbs sandbox demo`: packets into an own table, counted, and back to the kernel.

use std::{sync::Arc, time::Duration};

use uverbs::{
    Context, Device, FlowTableType, Priority, SteeringAnchor,
    flow::{Actions, Flow, FlowCounter, FlowEntry, FlowMatcher, FlowTable, Headers, Match},
};

use crate::cli::DemoArguments;
use crate::event::{Event, Stats};
use crate::failure::{Failure, While};
use crate::interrupt::Interrupt;
use crate::output::Output;

/// The UDP port that cards take for VXLAN.
const VXLAN: u16 = 4789;

/// How often the counters are read.
const INTERVAL: Duration = Duration::from_secs(1);

pub(crate) fn run(arguments: &DemoArguments, output: &mut Output) -> Result<(), Failure> {
    let name = &arguments.target.device;
    let interrupt = Interrupt::block()?;
    let sandbox = Device::by_name(name)
        .and_then(|device| device.open_devx())
        .and_then(|context| Sandbox::open(&context, arguments))
        .while_doing(|| format!("cannot set up the sandbox on {name}"))?;
    output.print(&Event::Ready, "ready\n")?;

    let mut printed = None;
    let mut report = |output: &mut Output| {
        let stats = sandbox.stats(name).while_doing(|| format!("cannot read the counters on {name}"))?;
        if printed.as_ref() != Some(&stats) {
            output.print(&Event::Stats(stats.clone()), text(&stats))?;
            printed = Some(stats);
        }
        Ok::<_, Failure>(())
    };
    while interrupt.wait_for(INTERVAL)?.is_none() {
        report(output)?;
    }
    report(output)?;
    sandbox.close().while_doing(|| format!("cannot take down the sandbox on {name}"))
}

/// The way in, the table, and the way back.
struct Sandbox {
    flows: Vec<Flow>,
    entries: Vec<FlowEntry>,
    dropped: FlowCounter,
    returned: FlowCounter,
}

impl Sandbox {
    fn open(context: &Context, arguments: &DemoArguments) -> uverbs::Result<Self> {
        let DemoArguments { udp_port, drop_vxlan, no_anchor, .. } = arguments;
        let udp_to = |port: u16| Match::builder().outer(&Headers::new().udp_destination(port)).build();
        let (vxlan, everything) = (udp_to(VXLAN)?, Match::any());
        // An anchor leads into the kernel's table of its priority, so the way back comes after the way in.
        let (way_in, way_back) = (Priority::new(0)?, Priority::new(1)?);
        let (dropped, returned) = (FlowCounter::create(context)?, FlowCounter::create(context)?);

        let rest = if *no_anchor {
            Actions::drop().count(&dropped)
        } else {
            let anchor = SteeringAnchor::create(context, FlowTableType::NicRx, way_back)?;
            Actions::forward_to(Arc::new(anchor)).count(&returned)
        };
        let table = FlowTable::builder(context, FlowTableType::NicRx).log_size(1).build()?;
        let mut entries = vec![table.group(1..2, &everything)?.entry(1, &everything, rest)?];
        let mut ports = vec![*udp_port];
        if *drop_vxlan {
            let drop = Actions::drop().count(&dropped);
            entries.push(table.group(0..1, &vxlan)?.entry(0, &vxlan, drop)?);
            ports.push(VXLAN);
            ports.dedup();
        }

        // The way in comes last: from here on there are packets.
        let matcher = FlowMatcher::create(context, FlowTableType::NicRx, way_in, &vxlan)?;
        let flow = |port: u16| matcher.flow(&udp_to(port)?, &table).create();
        let flows = ports.into_iter().map(flow).collect::<uverbs::Result<_>>()?;
        Ok(Self { flows, entries, dropped, returned })
    }

    fn stats(&self, device: &str) -> uverbs::Result<Stats> {
        let (dropped, returned) = (self.dropped.query()?, self.returned.query()?);
        Ok(Stats {
            device: device.to_owned(),
            returned_packets: returned.packets,
            returned_bytes: returned.bytes,
            dropped_packets: dropped.packets,
            dropped_bytes: dropped.bytes,
        })
    }

    /// Closes the way in first, so that no packet finds half a sandbox. What is left goes as it is dropped.
    fn close(self) -> uverbs::Result<()> {
        for flow in self.flows {
            flow.destroy().map_err(|refused| refused.into_parts().1)?;
        }
        for entry in self.entries {
            entry.destroy().map_err(|refused| refused.into_parts().1)?;
        }
        Ok(())
    }
}

fn text(stats: &Stats) -> String {
    let Stats { returned_packets, returned_bytes, dropped_packets, dropped_bytes, .. } = stats;
    format!(
        "returned {returned_packets} packets ({returned_bytes} bytes), dropped {dropped_packets} packets \
         ({dropped_bytes} bytes)\n"
    )
}
