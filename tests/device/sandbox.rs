//! The sandbox: packets into own tables and back, seen by ordinary sockets and by the card.

use std::net::UdpSocket;
use std::sync::Arc;

use libtest_mimic::Failed;
use serde_json::{Value, json};
use uverbs::devx::Refused;
use uverbs::flow::{
    Actions, Destination, Flow, FlowCounter, FlowEntry, FlowGroup, FlowMatcher, FlowTable,
    FlowTableCapabilities, FlowTag, FlowTarget, Headers, Invalid, Match,
};
use uverbs::{Context, Error, FlowTableId, FlowTableType, Lacking, Priority, SteeringAnchor};

use crate::child::{self, Holder};
use crate::devx::devx;
use crate::expectation::Expectation;
use crate::wire::{Wire, listen, receives, take_marked};
use crate::{Lab, Outcome, Test, ensure, equal, passed, skip};

pub(crate) const TESTS: &[Test] = &[
    ("sandbox::tables_are_had_or_refused_by_type", tables_by_type),
    ("sandbox::a_refusal_of_the_firmware_says_what_and_why", firmware_refusal),
    ("sandbox::circles_are_refused_in_any_order", circles),
    ("sandbox::any_order_of_drops_leaves_nothing", any_order),
    ("sandbox::a_handle_in_use_is_given_back", given_back),
    ("sandbox::a_datagram_goes_through_the_table_and_the_anchor_to_its_socket", through),
    ("sandbox::an_entry_decides_and_changes_in_place", decides),
    ("sandbox::the_socket_sees_the_tag_as_the_mark_of_the_packet", tag_at_socket),
    ("sandbox::what_matches_nothing_is_dropped_or_goes_where_the_miss_says", misses),
    ("sandbox::tables_chain_by_level", chain),
    ("sandbox::an_anchor_cannot_go_while_an_entry_points_to_it", anchor_is_held),
    ("sandbox::an_anchor_of_another_process_serves_until_it_ends", foreign_anchor),
    ("sandbox::an_unprivileged_process_builds_on_an_anchor_of_another", unprivileged),
    ("sandbox::a_rule_behind_the_anchor_sees_the_packet", rule_behind),
    ("sandbox::what_the_host_sends_goes_through_too", transmit),
    ("sandbox::the_embedded_switch_takes_flows_in_switchdev_mode", embedded_switch),
    ("sandbox::link_changes_large_frames_and_bursts_change_nothing", turbulence),
    ("sandbox::of_a_thousand_rules_the_right_one_acts", thousand_rules),
    ("sandbox::a_card_that_bypasses_its_tables_is_found_out", negative_control),
];

/// The port whose traffic goes into the sandbox.
const PORT: u16 = 5000;

const RX: FlowTableType = FlowTableType::NicRx;
const TX: FlowTableType = FlowTableType::NicTx;

/// A context with DEVX on a device with anchors, or why not.
fn with_anchors(lab: &Lab) -> Result<Result<Context, &'static str>, Failed> {
    match devx(lab)? {
        Ok(context) if Expectation::of(&context)?.anchors().is_err() => Ok(Err("there are no anchors here")),
        other => Ok(other),
    }
}

/// The same, with the wire.
macro_rules! bench {
    ($lab:expr) => {{
        let context = context!($lab);
        let Some(wire) = Wire::connect($lab)? else { return skip("the wire of this card is not ours") };
        (context, wire)
    }};
}

macro_rules! context {
    ($lab:expr) => {
        match with_anchors($lab)? {
            Ok(context) => context,
            Err(reason) => return skip(reason),
        }
    };
}

/// A context for what needs no anchor.
macro_rules! tables {
    ($lab:expr) => {
        match devx($lab)? {
            Ok(context) => context,
            Err(reason) => return skip(reason),
        }
    };
}

fn priority(number: u16) -> uverbs::Result<Priority> {
    Priority::new(number)
}

fn anchor(context: &Context, table_type: FlowTableType, number: u16) -> uverbs::Result<Arc<SteeringAnchor>> {
    Ok(Arc::new(SteeringAnchor::create(context, table_type, priority(number)?)?))
}

/// A table of one entry for everything.
struct Sandbox {
    table: FlowTable,
    entry: FlowEntry,
}

impl Sandbox {
    fn new(context: &Context, table_type: FlowTableType, actions: Actions) -> uverbs::Result<Self> {
        let table = FlowTable::builder(context, table_type).build()?;
        let entry = everything(&table, actions)?;
        Ok(Self { table, entry })
    }
}

fn everything(table: &FlowTable, actions: Actions) -> uverbs::Result<FlowEntry> {
    table.group(.., &Match::any())?.entry(0, &Match::any(), actions)
}

fn to_port(port: u16) -> uverbs::Result<Match> {
    Ok(Match::builder().outer(&Headers::new().ipv4().udp_destination(port)).build()?)
}

/// Leads what arrives for the port into a table.
fn way_in(context: &Context, number: u16, target: impl Into<FlowTarget>) -> uverbs::Result<Flow> {
    let criteria = to_port(PORT)?;
    FlowMatcher::create(context, RX, priority(number)?, &criteria)?.flow(&criteria, target).create()
}

fn invalid(what: &str, result: Result<impl std::fmt::Debug, Error>) -> Result<Invalid, Failed> {
    match result {
        Err(Error::Invalid(invalid)) => Ok(invalid),
        other => Err(format!("{what}: {other:?}").into()),
    }
}

fn tables_by_type(lab: &Lab) -> Outcome {
    let context = tables!(lab);
    for table_type in FlowTableType::ALL {
        let supported = FlowTableCapabilities::query(&context, table_type)
            .is_ok_and(|capabilities| capabilities.is_supported());
        match FlowTable::builder(&context, table_type).log_size(2).build() {
            Ok(table) => {
                ensure(supported, format!("{table_type}: a table although the card says there are none"))?;
                ensure(table.id().get() != 0, format!("{table_type}: the id is 0"))?;
                table.group(0..2, &to_port(PORT)?)?;
                table.destroy()?;
            }
            Err(error) => ensure(!supported, format!("{table_type}: {error}"))?,
        }
    }
    passed()
}

fn firmware_refusal(lab: &Lab) -> Outcome {
    let context = tables!(lab);
    let table = FlowTable::builder(&context, RX).log_size(2).build()?;
    let _group = table.group(0..2, &Match::any())?;
    let overlapping = table.group(1..3, &Match::any());
    match overlapping {
        Err(Error::Refused(Refused { opcode, status, .. })) => {
            equal("opcode", opcode, uverbs_uapi::prm::MLX5_CMD_OP_CREATE_FLOW_GROUP)?;
            ensure(status.words().is_some(), format!("{status} has no words"))?;
        }
        // Kernels before 5.18 keep the firmware's answer to themselves.
        Err(error) => ensure(error.errno().is_some(), error)?,
        Ok(_) => return Err("two groups share an entry".into()),
    }
    passed()
}

fn circles(lab: &Lab) -> Outcome {
    let context = context!(lab);
    let (low, high) = (anchor(&context, RX, 1)?, anchor(&context, RX, 3)?);
    let mut sandbox = Sandbox::new(&context, RX, Actions::forward_to(&low))?;
    let refused =
        |flow, anchor| Ok::<_, Failed>(Invalid::Loop { flow: priority(flow)?, anchor: priority(anchor)? });
    equal("the flow last", invalid("1 to 1", way_in(&context, 1, &sandbox.table))?, refused(1, 1)?)?;
    sandbox.entry.change(Actions::forward_to(&high))?;
    let _flow = way_in(&context, 1, &sandbox.table)?;
    let back = sandbox.entry.change(Actions::forward_to(&low));
    equal("the entry last", invalid("1 to 1", back)?, refused(1, 1)?)?;
    let miss = sandbox.table.set_miss(Some(Destination::from(&low)));
    equal("the miss last", invalid("1 to 1", miss)?, refused(1, 1)?)?;
    passed()
}

fn any_order(lab: &Lab) -> Outcome {
    let (context, mut wire) = bench!(lab);
    // The kernel keeps tables of a priority that was used once.
    drop(anchor(&context, RX, 1)?);
    let before = wire.card.objects()?;
    for turn in 0..6 {
        let anchor = anchor(&context, RX, 1)?;
        let counter = FlowCounter::create(&context)?;
        let last = FlowTable::builder(&context, RX).build()?;
        let first = FlowTable::builder(&context, RX).before(&last).build()?;
        let back = everything(&last, Actions::forward_to(&anchor).count(&counter))?;
        let on = everything(&first, Actions::forward_to(&last))?;
        let flow = way_in(&context, 0, &first)?;
        let mut parts: Vec<Box<dyn std::any::Any>> = vec![
            Box::new(anchor),
            Box::new(counter),
            Box::new(last),
            Box::new(first),
            Box::new(back),
            Box::new(on),
            Box::new(flow),
        ];
        parts.rotate_left(turn);
        if turn % 2 == 1 {
            parts.reverse();
        }
        parts.into_iter().for_each(drop);
        equal("objects on the card", wire.card.objects()?, before)?;
    }
    passed()
}

fn given_back(lab: &Lab) -> Outcome {
    let context = tables!(lab);
    let counter = FlowCounter::create(&context)?;
    let Sandbox { table, entry } = Sandbox::new(&context, RX, Actions::drop().count(&counter))?;
    let in_use = |error: &Error| equal("the reason", matches!(error, Error::Invalid(Invalid::InUse)), true);
    let refused = table.destroy().err().ok_or("a table with a group is destroyed")?;
    in_use(refused.error())?;
    let table = refused.into_object();
    let refused = counter.destroy().err().ok_or("a counter of an entry is destroyed")?;
    in_use(refused.error())?;
    let counter = refused.into_object();
    let group: FlowGroup = entry.group().clone();
    let refused = group.destroy().err().ok_or("a group with an entry is destroyed")?;
    in_use(refused.error())?;
    let group = refused.into_object();
    entry.destroy()?;
    group.destroy()?;
    counter.destroy()?;
    table.destroy()?;
    passed()
}

/// The ways of the packets received since last asked, as the card tells them.
fn ways(wire: &mut Wire) -> Result<Vec<Value>, Failed> {
    let mut answer = wire.card.ask(&json!({"do": "hops"}))?;
    let Value::Array(ways) = answer["ways"].take() else { return Err("no ways".into()) };
    Ok(ways.into_iter().filter(|way| way["direction"] == "rx").collect())
}

/// The tables of a way: their ids, owners and levels.
fn tables(way: &Value) -> Result<Vec<(u64, u64, u64)>, Failed> {
    let number = |hop: &Value, name: &str| hop[name].as_u64().ok_or_else(|| format!("no {name} in {hop}"));
    let hops = way["hops"].as_array().ok_or("no hops")?;
    let hops = hops.iter().map(|hop| Ok((number(hop, "table")?, number(hop, "uid")?, number(hop, "level")?)));
    Ok(hops.collect::<Result<_, String>>()?)
}

fn through(lab: &Lab) -> Outcome {
    let (context, mut wire) = bench!(lab);
    let (socket, other) = (listen(PORT)?, listen(PORT + 1)?);
    ensure(wire.arrives(&socket)?, "nothing arrives without a sandbox")?;

    let anchor = anchor(&context, RX, 1)?;
    let counter = FlowCounter::create(&context)?;
    let tag = FlowTag::new(0xbeef)?;
    let back = Actions::forward_to(&anchor).count(&counter).tag(tag);
    let Sandbox { table, entry } = Sandbox::new(&context, RX, back)?;
    let flow = way_in(&context, 0, &table)?;
    ways(&mut wire)?;
    ensure(wire.arrives(&socket)?, "nothing arrives through the sandbox")?;
    let way = ways(&mut wire)?.into_iter().next().ok_or("the card saw no packet")?;
    let shared = u64::from(uverbs_uapi::prm::MLX5_SHARED_RESOURCE_UID);
    let [kernel, own, at_anchor, behind, ..] = tables(&way)?[..] else { return Err(format!("{way}").into()) };
    equal("owner and level of the first table", (kernel.1, kernel.2), (0, 1))?;
    equal("the second table", (own.0, own.2), (table.id().get().into(), table.level().into()))?;
    ensure(own.1 != 0 && own.1 != shared, format!("owner of the second table: {}", own.1))?;
    equal("the third table", at_anchor, (anchor.id().get().into(), shared, 1))?;
    equal("owner and level of the fourth table: priority 1", (behind.1, behind.2), (0, 3))?;
    equal("tag of the packet", &way["verdict"]["flow_tag"], &json!(tag.get()))?;

    for _ in 0..2 {
        ensure(wire.arrives(&socket)?, "nothing arrives through the sandbox")?;
    }
    ensure(wire.arrives(&other)?, "another port is steered too")?;
    equal("packets counted", counter.query()?.packets, 3)?;
    ensure(counter.query()?.bytes >= 3 * 42, "bytes are not counted")?;
    equal("taken", counter.take()?.packets, 3)?;
    equal("left after that", counter.query()?.packets, 0)?;

    drop((entry, table));
    ways(&mut wire)?;
    ensure(!wire.arrives(&socket)?, "an entry that is gone lets pass")?;
    flow.destroy()?;
    ensure(wire.arrives(&socket)?, "nothing arrives without a sandbox any more")?;
    let plain = ways(&mut wire)?.pop().ok_or("the card saw no packet")?;
    ensure(tables(&plain)?.iter().all(|&(_, owner, _)| owner == 0), format!("not the plain way: {plain}"))?;
    passed()
}

fn decides(lab: &Lab) -> Outcome {
    let (context, mut wire) = bench!(lab);
    let socket = listen(PORT)?;
    let anchor = anchor(&context, RX, 1)?;
    let counter = FlowCounter::create(&context)?;
    let mut sandbox = Sandbox::new(&context, RX, Actions::drop())?;
    let _flow = way_in(&context, 0, &sandbox.table)?;
    ensure(!wire.arrives(&socket)?, "an entry that drops lets pass")?;
    sandbox.entry.change(Actions::forward_to(&anchor))?;
    ensure(wire.arrives(&socket)?, "dropped, although the entry was changed")?;
    sandbox.entry.change(Actions::drop().count(&counter))?;
    ensure(!wire.arrives(&socket)?, "an entry changed to drop lets pass")?;
    equal("dropped packets", counter.query()?.packets, 1)?;
    sandbox.entry.change(Actions::forward_to(&anchor).count(&counter))?;
    ensure(wire.arrives(&socket)?, "dropped, although the entry was changed back")?;
    equal("packets", counter.query()?.packets, 2)?;
    sandbox.entry.destroy()?;
    ensure(!wire.arrives(&socket)?, "a table without entries lets pass")?;
    passed()
}

fn tag_at_socket(lab: &Lab) -> Outcome {
    let (context, mut wire) = bench!(lab);
    let socket = listen(PORT)?;
    let anchor = anchor(&context, RX, 1)?;
    let back = || Actions::forward_to(&anchor);
    let mut sandbox = Sandbox::new(&context, RX, back())?;
    let _flow = way_in(&context, 0, &sandbox.table)?;
    // The driver makes a mark of the lower 16 bits of a tag.
    for (tag, mark) in [(Some(0xbeef), 0xbeef), (None, 0), (Some(0x12_3456), 0x3456)] {
        sandbox.entry.change(match tag {
            Some(tag) => back().tag(FlowTag::new(tag)?),
            None => back(),
        })?;
        for wanted in [mark, mark ^ 1] {
            take_marked(&socket, wanted)?;
            let arrives = wire.arrives(&socket)?;
            equal(&format!("tag {tag:x?} arrives as mark {wanted:#x}"), arrives, wanted == mark)?;
        }
    }
    passed()
}

fn misses(lab: &Lab) -> Outcome {
    let (context, mut wire) = bench!(lab);
    let socket = listen(PORT)?;
    let anchor = anchor(&context, RX, 1)?;
    let table = FlowTable::builder(&context, RX).miss_to(&anchor).build()?;
    let _flow = way_in(&context, 0, &table)?;
    ensure(wire.arrives(&socket)?, "a miss does not lead to the anchor")?;
    table.set_miss(None)?;
    ensure(!wire.arrives(&socket)?, "the default miss lets pass")?;
    let next = Sandbox::new(&context, RX, Actions::forward_to(&anchor))?;
    let refused = table.set_miss(Some(Destination::from(&next.table)));
    if table.level() < next.table.level() {
        refused?;
    } else {
        let refused = invalid("a miss to the same level", refused)?;
        let (from, to) = (table.level(), next.table.level());
        equal("the reason", refused, Invalid::LevelOrder { from, to })?;
    }
    table.set_miss(Some(Destination::from(&anchor)))?;
    ensure(wire.arrives(&socket)?, "a miss changed back does not lead to the anchor")?;
    passed()
}

fn chain(lab: &Lab) -> Outcome {
    let (context, mut wire) = bench!(lab);
    let socket = listen(PORT)?;
    let anchor = anchor(&context, RX, 1)?;
    let last = Sandbox::new(&context, RX, Actions::forward_to(&anchor))?;
    let first = FlowTable::builder(&context, RX).before(&last.table).build()?;
    let middle = FlowTable::builder(&context, RX).before(&last.table).behind(&first).build();
    let between = first.level() + 1 < last.table.level();
    equal("a level between two neighbours", middle.is_ok(), between)?;
    let entry = everything(&first, Actions::forward_to(&last.table))?;
    let _flow = way_in(&context, 0, &first)?;
    ensure(wire.arrives(&socket)?, "two tables do not chain")?;
    let Sandbox { table: last, entry: back } = last;
    drop(last);
    ensure(wire.arrives(&socket)?, "an entry does not hold the table it leads to")?;
    drop(entry);
    ensure(!wire.arrives(&socket)?, "an empty table lets pass")?;
    back.destroy()?;
    passed()
}

fn anchor_is_held(lab: &Lab) -> Outcome {
    let (context, mut wire) = bench!(lab);
    let socket = listen(PORT)?;
    let (ours, other) = (anchor(&context, RX, 1)?, anchor(&lab.open()?, RX, 1)?);
    equal("ids of two holders", other.id(), ours.id())?;
    let sandbox = Sandbox::new(&context, RX, Actions::forward_to(&ours))?;
    let _flow = way_in(&context, 0, &sandbox.table)?;
    let other = Arc::into_inner(other).ok_or("held twice")?;
    other.destroy()?;
    ensure(wire.arrives(&socket)?, "dropped when another holder lets go")?;
    ensure(Arc::into_inner(ours).is_none(), "an anchor can be taken from its entry")?;
    ensure(
        wire.arrives(&socket)?,
        "dropped when the handle is given up, although an entry holds the anchor",
    )?;
    passed()
}

fn foreign_anchor(lab: &Lab) -> Outcome {
    let (context, mut wire) = bench!(lab);
    let socket = listen(PORT)?;
    let mut holder = Holder::start(&lab.device, "hold-anchor")?;
    let id = FlowTableId::new(holder.line()?.parse()?)?;
    let destination = Destination::ForeignAnchor { id, table_type: RX, priority: priority(9)? };
    let sandbox = Sandbox::new(&context, RX, Actions::forward_to(destination))?;
    let _flow = way_in(&context, 0, &sandbox.table)?;
    ensure(wire.arrives(&socket)?, "another process's anchor does not serve")?;
    let ours = anchor(&context, RX, 9)?;
    equal("ids of two processes", ours.id(), id)?;
    holder.kill()?;
    ensure(wire.arrives(&socket)?, "dropped when another process ends, although we hold the same anchor")?;
    drop(ours);
    ensure(!wire.arrives(&socket)?, "an id that nobody holds an anchor for leads somewhere")?;
    let _again = anchor(&context, RX, 9)?;
    ensure(wire.arrives(&socket)?, "an anchor made again does not have the old id")?;
    passed()
}

/// A child's part, without privileges: a table that leads to the anchor that its parent holds.
pub(crate) fn build_on_anchor(device: &str) -> Result<(), Box<dyn std::error::Error>> {
    let id = FlowTableId::new(std::env::var("ANCHOR")?.parse()?)?;
    let context = uverbs::Device::by_name(device)?.open_devx()?;
    let destination = Destination::ForeignAnchor { id, table_type: RX, priority: priority(1)? };
    let sandbox = Sandbox::new(&context, RX, Actions::forward_to(destination))?;
    let refused = way_in(&context, 0, &sandbox.table).err().ok_or("a flow without privilege")?;
    println!("{:?}", refused.lacking());
    Ok(())
}

fn unprivileged(lab: &Lab) -> Outcome {
    let context = context!(lab);
    let anchor = anchor(&context, RX, 1)?;
    let printed = child::run_unprivileged_with(
        &lab.device,
        "build-on-anchor",
        &[("ANCHOR", anchor.id().get().to_string())],
    )?;
    equal("what a flow without privilege lacks", printed.trim(), &format!("{:?}", Some(Lacking::Privilege)))?;
    passed()
}

fn rule_behind(lab: &Lab) -> Outcome {
    let (context, mut wire) = bench!(lab);
    let socket = listen(PORT)?;
    let anchor = anchor(&context, RX, 1)?;
    let sandbox = Sandbox::new(&context, RX, Actions::forward_to(&anchor))?;
    let _flow = way_in(&context, 0, &sandbox.table)?;
    let behind = way_in(&context, 1, FlowTarget::Drop)?;
    ensure(!wire.arrives(&socket)?, "the anchor leads past the table of its priority")?;
    behind.destroy()?;
    ensure(wire.arrives(&socket)?, "dropped by a rule that is gone")?;
    passed()
}

fn transmit(lab: &Lab) -> Outcome {
    let (context, mut wire) = bench!(lab);
    let socket = UdpSocket::bind(("0.0.0.0", PORT))?;
    ensure(wire.leaves(&socket)?, "nothing leaves without a sandbox")?;
    let anchor = match (anchor(&context, TX, 1), Expectation::of(&context)?.anchor(TX)) {
        (Ok(anchor), Ok(())) => anchor,
        (Err(_), Err(_)) => return skip("this kernel has no anchors for what the host sends"),
        (Ok(_), Err(lacking)) => return Err(format!("an anchor, although {lacking:?} lacks it").into()),
        (Err(error), Ok(())) => return Err(error.into()),
    };
    let mut sandbox = Sandbox::new(&context, TX, Actions::forward_to(&anchor))?;
    let criteria = Match::builder().outer(&Headers::new().ipv4().udp_source(PORT)).build()?;
    let matcher = FlowMatcher::create(&context, TX, priority(0)?, &criteria)?;
    let flow = matcher.flow(&criteria, &sandbox.table).create()?;
    ensure(wire.leaves(&socket)?, "nothing leaves through the sandbox")?;
    sandbox.entry.change(Actions::drop())?;
    ensure(!wire.leaves(&socket)?, "an entry that drops lets leave")?;
    flow.destroy()?;
    ensure(wire.leaves(&socket)?, "nothing leaves without a sandbox any more")?;
    passed()
}

fn embedded_switch(lab: &Lab) -> Outcome {
    let context = context!(lab);
    if !context.hca_capabilities()?.eswitch_manager() {
        return skip("this function does not manage the embedded switch");
    }
    let anchor = anchor(&context, FlowTableType::Fdb, 1)?;
    let sandbox = Sandbox::new(&context, FlowTableType::Fdb, Actions::forward_to(&anchor))?;
    let criteria = to_port(PORT)?;
    // The kernel takes flows for the switch only in switchdev mode, in which a function has representors.
    let matcher = FlowMatcher::create(&context, FlowTableType::Fdb, priority(0)?, &criteria);
    match matcher {
        Ok(matcher) => drop(matcher.flow(&criteria, &sandbox.table).create()?),
        Err(error) => equal("the errno in legacy mode", error.errno(), Some(nix::libc::EINVAL))?,
    }
    passed()
}

fn turbulence(lab: &Lab) -> Outcome {
    const LARGE: u32 = 9000;
    const BURST: usize = 64;
    let (context, mut wire) = bench!(lab);
    let socket = listen(PORT)?;
    let anchor = anchor(&context, RX, 1)?;
    let counter = FlowCounter::create(&context)?;
    let sandbox = Sandbox::new(&context, RX, Actions::forward_to(&anchor).count(&counter))?;
    let _flow = way_in(&context, 0, &sandbox.table)?;
    wire.bounce()?;
    ensure(wire.arrives(&socket)?, "nothing arrives after the link was down")?;

    let mtu = wire.set_mtu(LARGE)?;
    let large = vec![0x5a; 5000];
    wire.inject(7, PORT, &large)?;
    let arrives = receives(&socket, &large);
    wire.set_mtu(mtu)?;
    ensure(arrives?, "a large frame does not arrive")?;

    counter.take()?;
    for _ in 0..8 {
        let burst = (0..BURST).map(|_| wire.payload()).collect::<Vec<_>>();
        for payload in &burst {
            wire.inject(7, PORT, payload)?;
        }
        for payload in &burst {
            ensure(receives(&socket, payload)?, "a datagram of a burst does not arrive")?;
        }
    }
    equal("packets counted", counter.query()?.packets, 8 * BURST as u64)?;
    passed()
}

fn thousand_rules(lab: &Lab) -> Outcome {
    const RULES: u32 = 1000;
    const FIRST_PORT: u16 = 20_000;
    /// What the card is meant to do with packets from the `rule`th port.
    fn passes(rule: u16) -> bool {
        rule % 3 != 0
    }
    let (context, mut wire) = bench!(lab);
    let socket = listen(PORT)?;
    let anchor = anchor(&context, RX, 1)?;
    let from = |rule: u16| Match::builder().outer(&Headers::new().udp_source(FIRST_PORT + rule)).build();
    let table = FlowTable::builder(&context, RX).log_size(10).build()?;
    let group = table.group(0..RULES, &from(0)?)?;
    let mut entries = Vec::new();
    for (index, rule) in (0..RULES).zip(0..) {
        let actions = if passes(rule) { Actions::forward_to(&anchor) } else { Actions::drop() };
        entries.push(group.entry(index, &from(rule)?, actions)?);
    }
    let flow = way_in(&context, 0, &table)?;
    // A stride that has no divisor in common with 1000 meets rules in all parts of the table.
    for step in 0..60u16 {
        let rule = step * 337 % 1000;
        let arrives = wire.arrives_from(&socket, FIRST_PORT + rule)?;
        equal(&format!("a packet for rule {rule} arrives"), arrives, passes(rule))?;
    }
    ensure(!wire.arrives_from(&socket, FIRST_PORT - 1)?, "a packet for no rule arrives")?;
    // Rules may go one by one under traffic: the others stay.
    entries.drain(..500).try_for_each(|entry| entry.destroy().map_err(|refused| refused.into_parts().1))?;
    ensure(!wire.arrives_from(&socket, FIRST_PORT + 1)?, "a rule that is gone lets pass")?;
    ensure(wire.arrives_from(&socket, FIRST_PORT + 998)?, "a rule went that was to stay")?;
    flow.destroy()?;
    passed()
}

fn negative_control(lab: &Lab) -> Outcome {
    let context = tables!(lab);
    let Some(mut wire) = Wire::connect(lab)? else { return skip("the wire of this card is not ours") };
    let socket = listen(PORT)?;
    let sandbox = Sandbox::new(&context, RX, Actions::drop())?;
    let _flow = way_in(&context, 0, &sandbox.table)?;
    ensure(!wire.arrives(&socket)?, "an entry that drops lets pass")?;
    wire.card.ask(&json!({"do": "bypass", "on": true}))?;
    let arrives = wire.arrives(&socket);
    wire.card.ask(&json!({"do": "bypass", "on": false}))?;
    ensure(arrives?, "these tests would not notice that packets pass by the tables")?;
    ensure(!wire.arrives(&socket)?, "the card still bypasses its tables")?;
    passed()
}
