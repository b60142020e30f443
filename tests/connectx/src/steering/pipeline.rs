//! The way of a packet: from root to root, from table to table.
//!
//! *Model*, one uplink and one vport (0, the physical function itself):
//! - a packet from the wire passes the uplink's ingress ACL, the switch (FDB), vport 0's egress ACL and then NIC RX;
//! - a packet that the guest sends passes NIC TX, vport 0's ingress ACL, the switch and the uplink's egress ACL;
//! - an ACL or NIC TX without a root, or whose tables do not take the packet, lets it pass; a switch without a root
//!   connects uplink and vport 0; a switch or NIC RX whose tables do not take the packet drops it, so does NIC RX
//!   without a root;
//! - metadata registers keep their values from one to the next;
//! - RDMA and sniffer tables are held and counted, and no packet goes through them;
//! - after 64 tables a packet is dropped, and an entry cannot make more than 64 copies of one frame.

use super::entry::{Destination, Entry, Target};
use super::table::{Miss, TableType};
use super::way::{Hit, Hop};
use super::{Root, Steering};
use crate::packet::{Headers, Image, Packet, UPLINK, edit, words};
use uverbs_uapi::prm;

/// Tables on the way of one packet.
const MOST_HOPS: usize = 64;
/// Copies of one frame.
const MOST_COPIES: usize = 64;

/// Where the tables leave a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// At a receive object.
    Tir(u32),
    /// At the port to the wire.
    Uplink,
    /// Dropped at this place, for this reason.
    Dropped(String, String),
}

/// One copy of a packet behind the tables.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The packet as entries left it.
    pub packet: Packet,
    /// The tables it came through.
    pub hops: Vec<Hop>,
    /// Where it is now.
    pub end: End,
}

/// Part of the way with a root of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    IngressAcl(u16),
    Fdb,
    EgressAcl(u16),
    NicRx,
    NicTx,
}

impl Stage {
    fn root(self) -> Root {
        let (kind, vport) = match self {
            Self::IngressAcl(vport) => (TableType::IngressAcl, vport),
            Self::Fdb => (TableType::Fdb, 0),
            Self::EgressAcl(vport) => (TableType::EgressAcl, vport),
            Self::NicRx => (TableType::NicRx, 0),
            Self::NicTx => (TableType::NicTx, 0),
        };
        Root { kind, vport, underlay_qpn: 0 }
    }

    fn name(self) -> &'static str {
        self.root().kind.name()
    }

    /// Whether the tables of this stage let a packet pass that they have nothing to say about.
    fn passes(self) -> bool {
        matches!(self, Self::IngressAcl(_) | Self::EgressAcl(_) | Self::NicTx)
    }
}

/// Where a packet goes next.
enum Step {
    Stage(Stage),
    Table(u32, String),
    End(End),
}

/// A packet under way.
struct Traveller {
    packet: Packet,
    image: Image,
    stage: Stage,
    hops: Vec<Hop>,
    /// Tables so far, those before a copy was made included.
    distance: usize,
    next: Step,
}

impl Traveller {
    fn new(packet: Packet, stage: Stage) -> Self {
        let image = Image::new(&packet, &Headers::parse(&packet.bytes));
        Self { packet, image, stage, hops: Vec::new(), distance: 0, next: Step::Stage(stage) }
    }

    /// A copy that goes its own way from here.
    fn copy(&self, next: Step) -> Self {
        Self {
            packet: self.packet.clone(),
            image: self.image.clone(),
            stage: self.stage,
            hops: Vec::new(),
            distance: self.distance,
            next,
        }
    }

    fn refresh(&mut self) {
        self.image = Image::new(&self.packet, &Headers::parse(&self.packet.bytes));
    }
}

impl Steering {
    /// A packet from the wire: every copy of it, the first one first.
    pub fn receive(&mut self, packet: Packet) -> Vec<Outcome> {
        self.travel(Traveller::new(packet, Stage::IngressAcl(UPLINK)))
    }

    /// A packet that the guest sends: every copy of it, the first one first.
    pub fn transmit(&mut self, packet: Packet) -> Vec<Outcome> {
        self.travel(Traveller::new(packet, Stage::NicTx))
    }

    fn travel(&mut self, first: Traveller) -> Vec<Outcome> {
        let mut waiting = std::collections::VecDeque::from([first]);
        let mut outcomes = Vec::new();
        let mut made = 1;
        while let Some(mut traveller) = waiting.pop_front() {
            let end = loop {
                match std::mem::replace(&mut traveller.next, Step::Stage(traveller.stage)) {
                    Step::End(end) => break end,
                    Step::Stage(stage) => self.enter(&mut traveller, stage),
                    Step::Table(id, from) => {
                        let copies = self.table(&mut traveller, id, from);
                        let room = MOST_COPIES - made;
                        if copies.len() > room {
                            traveller.next = dropped(format!("table {id:#x}"), "too many copies");
                        }
                        made += copies.len().min(room);
                        waiting.extend(copies.into_iter().take(room));
                    }
                }
            };
            outcomes.push(Outcome { packet: traveller.packet, hops: traveller.hops, end });
        }
        outcomes
    }

    fn enter(&self, traveller: &mut Traveller, stage: Stage) {
        traveller.stage = stage;
        traveller.next = match self.roots.get(&stage.root()) {
            Some(&id) => Step::Table(id, "root".into()),
            None => pass(traveller, stage),
        };
    }

    /// Looks the packet up in one table; the copies that its entry makes are returned.
    fn table(&mut self, traveller: &mut Traveller, id: u32, from: String) -> Vec<Traveller> {
        if traveller.distance == MOST_HOPS {
            traveller.next = dropped(from, format!("a loop: {MOST_HOPS} tables"));
            return Vec::new();
        }
        traveller.distance += 1;
        let Some(table) = self.tables.get_mut(&id) else {
            traveller.next = dropped(from, format!("table {id:#x} is gone"));
            return Vec::new();
        };
        let mut hop = Hop {
            table: id,
            kind: table.kind.name(),
            level: table.level,
            uid: table.uid,
            from,
            hit: None,
            action: String::new(),
        };
        let uplink = traveller.packet.metadata.source_port == UPLINK;
        let found = table.find(traveller.image.bytes(), |entry| accepts_source(entry, uplink));
        let Some((group, index)) = found else {
            table.misses += 1;
            let place = format!("table {id:#x}");
            (traveller.next, hop.action) = match table.miss {
                Miss::Table(next) => {
                    (Step::Table(next, format!("miss of {id:#x}")), format!("to table {next:#x}"))
                }
                Miss::Default | Miss::SwitchDomain if traveller.stage.passes() => {
                    (pass(traveller, traveller.stage), format!("default: passes {}", traveller.stage.name()))
                }
                Miss::Default | Miss::SwitchDomain => {
                    (dropped(place, "no entry takes it"), "default: drop".into())
                }
            };
            traveller.hops.push(hop);
            return Vec::new();
        };
        let matched = table.group(group).map_or_else(String::new, |g| {
            let value = table.entries.get(&index).map_or(&[][..], |e| &e.says.value);
            words::masked(g.criteria.enable, &g.criteria.mask, value)
        });
        let Some(entry) = table.entries.get_mut(&index) else { return Vec::new() };
        entry.hits += 1;
        hop.hit = Some(Hit { group, entry: index, entry_uid: entry.uid, matched });
        let says = entry.says.clone();
        self.act(traveller, &says, hop, index)
    }

    /// Does what an entry says, in the order that [`Actions`](super::Actions) names it.
    fn act(
        &mut self,
        traveller: &mut Traveller,
        says: &super::entry::Description,
        mut hop: Hop,
        index: u32,
    ) -> Vec<Traveller> {
        let place = format!("{:#x}[{index}]", hop.table);
        let octets = traveller.packet.bytes.len() as u64;
        for &id in &says.counters {
            if let Some(counter) = self.counters.get_mut(id) {
                counter.packets += 1;
                counter.octets += octets;
            }
        }
        if says.tag != 0 {
            traveller.packet.metadata.flow_tag = says.tag;
        }
        let mut problems = Vec::new();
        self.rewrite(&mut traveller.packet, says, &mut problems);
        traveller.refresh();

        let has = |bit| says.actions.has(bit);
        let mut copies = Vec::new();
        let mut targets = None;
        if has(prm::MLX5_FLOW_CONTEXT_ACTION_FWD_DEST) {
            let all: Vec<_> = says.destinations.iter().map(|d| d.target.to_string()).collect();
            targets = Some(all.join(", "));
            for destination in says.destinations.iter().skip(1) {
                let mut copy = traveller.copy(target(destination.target, &place));
                self.reformat_for(&mut copy, destination);
                copies.push(copy);
            }
            if let Some(destination) = says.destinations.first() {
                traveller.next = target(destination.target, &place);
                self.reformat_for(traveller, destination);
            }
        } else if has(prm::MLX5_FLOW_CONTEXT_ACTION_DROP) {
            traveller.next = dropped(format!("entry {place}"), "the entry says drop");
        } else if has(prm::MLX5_FLOW_CONTEXT_ACTION_ALLOW) && traveller.stage.passes() {
            traveller.next = pass(traveller, traveller.stage);
        } else {
            traveller.next = dropped(format!("entry {place}"), "the entry does not say where to");
        }
        let mut words = vec![says.actions.to_string()];
        words.extend(targets);
        if says.tag != 0 {
            words.push(format!("tag {:#x}", says.tag));
        }
        words.extend(problems.into_iter().map(|problem| format!("({problem})")));
        hop.action = words.join(" ");
        traveller.hops.push(hop);
        copies
    }

    /// Changes the packet as an entry says; what the packet has no header for is left out, and noted.
    fn rewrite(
        &self,
        packet: &mut Packet,
        says: &super::entry::Description,
        problems: &mut Vec<&'static str>,
    ) {
        let has = |bit| says.actions.has(bit);
        if has(prm::MLX5_FLOW_CONTEXT_ACTION_DECAP) && edit::decapsulate(&mut packet.bytes).is_none() {
            problems.push("no tunnel to remove");
        }
        for bit in [prm::MLX5_FLOW_CONTEXT_ACTION_VLAN_POP, prm::MLX5_FLOW_CONTEXT_ACTION_VLAN_POP_2] {
            if has(bit) && edit::pop_vlan(&mut packet.bytes).is_none() {
                problems.push("no VLAN tag to remove");
            }
        }
        if let Some(modification) = says.modification.and_then(|id| self.modifications.get(&id)) {
            modification.apply(packet);
        }
        // The first tag pushed ends up inside the second.
        let pushes = [prm::MLX5_FLOW_CONTEXT_ACTION_VLAN_PUSH, prm::MLX5_FLOW_CONTEXT_ACTION_VLAN_PUSH_2];
        for (bit, tag) in pushes.into_iter().zip(says.vlans) {
            if has(bit) {
                edit::push_vlan(&mut packet.bytes, tag);
            }
        }
        if let Some(reformat) = says.reformat.and_then(|id| self.reformats.get(&id)) {
            problems.extend((!reformat.apply(&mut packet.bytes)).then_some("no header to reformat"));
        }
    }

    fn reformat_for(&self, traveller: &mut Traveller, destination: &Destination) {
        if let Some(reformat) = destination.reformat.and_then(|id| self.reformats.get(&id)) {
            reformat.apply(&mut traveller.packet.bytes);
            traveller.refresh();
        }
    }
}

/// *Model*: `flow_source` restricts an entry, it is not merely a hint.
fn accepts_source(entry: &Entry, uplink: bool) -> bool {
    match entry.says.source {
        prm::MLX5_FLOW_CONTEXT_FLOW_SOURCE_UPLINK => uplink,
        prm::MLX5_FLOW_CONTEXT_FLOW_SOURCE_LOCAL_VPORT => !uplink,
        _ => true,
    }
}

fn dropped(place: impl Into<String>, why: impl Into<String>) -> Step {
    Step::End(End::Dropped(place.into(), why.into()))
}

fn target(target: Target, place: &str) -> Step {
    match target {
        Target::Table(id) => Step::Table(id, place.into()),
        Target::Tir(id) => Step::End(End::Tir(id)),
        Target::Uplink => Step::Stage(Stage::EgressAcl(UPLINK)),
        Target::Vport(0) => Step::Stage(Stage::EgressAcl(0)),
        Target::Vport(number) => dropped(format!("entry {place}"), format!("no vport {number:#x}")),
    }
}

/// Where a packet goes that a stage has nothing to say about.
fn pass(traveller: &Traveller, stage: Stage) -> Step {
    match stage {
        Stage::NicTx => Step::Stage(Stage::IngressAcl(0)),
        Stage::IngressAcl(_) => Step::Stage(Stage::Fdb),
        Stage::Fdb if traveller.packet.metadata.source_port == UPLINK => Step::Stage(Stage::EgressAcl(0)),
        Stage::Fdb => Step::Stage(Stage::EgressAcl(UPLINK)),
        Stage::EgressAcl(UPLINK) => Step::End(End::Uplink),
        Stage::EgressAcl(_) => Step::Stage(Stage::NicRx),
        Stage::NicRx => dropped("nic_rx", "there is no root table"),
    }
}
