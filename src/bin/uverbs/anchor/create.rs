//! `uverbs anchor create`: an anchor for as long as the command runs.

use std::io;

use uverbs::{Device, SteeringAnchor};

use crate::cli::CreateArguments;
use crate::event::{self, Event};
use crate::failure::{Failure, While};
use crate::interrupt::Interrupt;
use crate::output::Output;
use crate::table::Table;

pub(crate) fn run(arguments: &CreateArguments, output: &mut Output) -> Result<(), Failure> {
    let CreateArguments { target, table_type, priority, hold } = arguments;
    let name = &target.device;
    let while_creating =
        || format!("cannot create an anchor of type {table_type} and priority {priority} on {name}");
    let context = Device::by_name(name).and_then(|device| device.open()).while_doing(while_creating)?;
    let interrupt = if *hold { Some(Interrupt::block()?) } else { None };
    let anchor = SteeringAnchor::create(&context, *table_type, *priority).while_doing(while_creating)?;

    let created = event::Anchor {
        device: name.clone(),
        table_type: table_type.to_string(),
        priority: priority.get(),
        flow_table_id: anchor.id().get(),
    };
    // Elsewhere a reader that went away has seen enough; here it will never know what is held for it.
    let told =
        |result: io::Result<()>| result.map_err(|error| if *hold { io::Error::other(error) } else { error });
    told(output.print(&Event::Anchor(created.clone()), text(&created)))?;
    if let Some(interrupt) = interrupt {
        told(output.print(&Event::Ready, "ready\n"))?;
        interrupt.wait()?;
    }
    anchor.destroy().map_err(uverbs::Error::from).while_doing(|| {
        format!("cannot destroy the anchor of type {table_type} and priority {priority} on {name}")
    })?;
    if *hold {
        output.print(&Event::Destroyed(created), "destroyed\n")?;
    } else if !output.is_json() {
        output.text("destroyed again: an anchor lives as long as its process, see --hold\n")?;
    }
    Ok(())
}

fn text(anchor: &event::Anchor) -> String {
    let mut fields = Table::new(2);
    fields.row(["device".to_owned(), anchor.device.clone()]);
    fields.row(["type".to_owned(), anchor.table_type.clone()]);
    fields.row(["priority".to_owned(), anchor.priority.to_string()]);
    fields.row(["flow table id".to_owned(), format!("{0:#x} ({0})", anchor.flow_table_id)]);
    format!("steering anchor\n{fields}")
}
