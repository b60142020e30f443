//! Which anchors can be reached from which table, and which flows lead to it.
//!
//! An anchor of priority p leads *into* the kernel's table of priority p. If a flow of priority q ≥ p led to a table
//! from which that anchor is reached, the packet would meet the flow again, forever. So whenever a way is added, be it
//! from a flow to a table, a table to a table, or a table to an anchor, every flow that leads to its beginning has to
//! be of a lower priority number than every anchor reached from its end.
//!
//! Tables of all contexts share one map: they are few, ways are added and removed in well under a microsecond, and
//! never while the lock waits for the kernel.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Invalid;
use crate::Priority;

const PRIORITIES: usize = Priority::MAX.get() as usize + 1;

static MAP: Mutex<Map> = Mutex::new(Map { places: Vec::new(), stack: Vec::new(), walk: 0 });

/// Where a way leads.
#[derive(Clone, Copy, Debug)]
pub(super) enum Way {
    /// Into the kernel's table of this priority.
    Anchor(Priority),
    /// To an own table.
    Table(PlaceId),
}

/// A table's number on the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PlaceId(usize);

/// A table's place on the map, as long as the table exists.
#[derive(Debug)]
pub(super) struct Place(PlaceId);

impl Place {
    pub(super) fn new() -> Self {
        let mut map = map();
        let place = map.places.iter().position(Option::is_none).unwrap_or_else(|| {
            map.places.push(None);
            map.places.len() - 1
        });
        map.places[place] = Some(Ways::default());
        Self(PlaceId(place))
    }

    pub(super) const fn id(&self) -> PlaceId {
        self.0
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        map().places[self.0.0] = None;
    }
}

/// Adds a way from the table `from`.
pub(super) fn add(from: PlaceId, way: Way) -> Result<(), Invalid> {
    let mut map = map();
    let flow = map.highest_flow(from);
    let anchor = match way {
        Way::Anchor(priority) => Some(priority),
        Way::Table(to) => map.lowest_anchor(to),
    };
    no_loop(flow, anchor)?;
    match way {
        Way::Anchor(priority) => map.ways(from).anchors[slot(priority)] += 1,
        Way::Table(to) => {
            count(&mut map.ways(from).next, to);
            count(&mut map.ways(to).previous, from);
        }
    }
    Ok(())
}

/// Removes a way that was added.
pub(super) fn remove(from: PlaceId, way: Way) {
    let mut map = map();
    match way {
        Way::Anchor(priority) => map.ways(from).anchors[slot(priority)] -= 1,
        Way::Table(to) => {
            discount(&mut map.ways(from).next, to);
            discount(&mut map.ways(to).previous, from);
        }
    }
}

/// Adds a flow of this priority that leads to the table `to`.
pub(super) fn add_flow(priority: Priority, to: PlaceId) -> Result<(), Invalid> {
    let mut map = map();
    let anchor = map.lowest_anchor(to);
    no_loop(Some(priority), anchor)?;
    map.ways(to).flows[slot(priority)] += 1;
    Ok(())
}

/// Removes a flow that was added.
pub(super) fn remove_flow(priority: Priority, to: PlaceId) {
    map().ways(to).flows[slot(priority)] -= 1;
}

fn no_loop(flow: Option<Priority>, anchor: Option<Priority>) -> Result<(), Invalid> {
    match (flow, anchor) {
        (Some(flow), Some(anchor)) if anchor <= flow => Err(Invalid::Loop { flow, anchor }),
        _ => Ok(()),
    }
}

fn map() -> MutexGuard<'static, Map> {
    // Nothing here panics half-way through a change, so a poisoned map is a good one.
    MAP.lock().unwrap_or_else(PoisonError::into_inner)
}

fn slot(priority: Priority) -> usize {
    priority.get().into()
}

/// The ways from and to one table, counted: entries come and go one by one.
#[derive(Debug)]
struct Ways {
    anchors: [u32; PRIORITIES],
    flows: [u32; PRIORITIES],
    next: Vec<(PlaceId, u32)>,
    previous: Vec<(PlaceId, u32)>,
    /// The last walk that came by.
    seen: u64,
}

impl Default for Ways {
    fn default() -> Self {
        // Room for the usual few neighbours, so that adding an entry need not allocate for it.
        let room = || Vec::with_capacity(4);
        Self { anchors: [0; PRIORITIES], flows: [0; PRIORITIES], next: room(), previous: room(), seen: 0 }
    }
}

struct Map {
    places: Vec<Option<Ways>>,
    /// Kept between walks, so that a walk need not allocate.
    stack: Vec<PlaceId>,
    walk: u64,
}

impl Map {
    fn ways(&mut self, place: PlaceId) -> &mut Ways {
        self.places[place.0].as_mut().expect("a place is on the map as long as a way leads from or to it")
    }

    /// The greatest priority number of the flows that lead to `place`, directly or through other tables.
    fn highest_flow(&mut self, place: PlaceId) -> Option<Priority> {
        let mut highest = None;
        self.visit(place, |ways| &ways.previous, |ways| highest = highest.max(used(&ways.flows).next_back()));
        highest
    }

    /// The least priority number of the anchors reached from `place`, directly or through other tables.
    fn lowest_anchor(&mut self, place: PlaceId) -> Option<Priority> {
        let mut lowest = None::<Priority>;
        self.visit(
            place,
            |ways| &ways.next,
            |ways| {
                lowest = lowest.into_iter().chain(used(&ways.anchors).next()).min();
            },
        );
        lowest
    }

    /// Visits `start` and all that can be reached from it, each once.
    fn visit(
        &mut self,
        start: PlaceId,
        neighbours: impl Fn(&Ways) -> &[(PlaceId, u32)],
        mut visitor: impl FnMut(&Ways),
    ) {
        self.walk += 1;
        let walk = self.walk;
        let mut stack = core::mem::take(&mut self.stack);
        stack.push(start);
        while let Some(place) = stack.pop() {
            let ways = self.ways(place);
            if ways.seen != walk {
                ways.seen = walk;
                visitor(ways);
                stack.extend(neighbours(ways).iter().map(|&(place, _)| place));
            }
        }
        self.stack = stack;
    }
}

/// The priorities of which there is at least one.
fn used(counts: &[u32; PRIORITIES]) -> impl DoubleEndedIterator<Item = Priority> {
    let priorities = (0..=Priority::MAX.get()).filter_map(|number| Priority::new(number).ok());
    priorities.filter(|&priority| counts[slot(priority)] > 0)
}

fn count(places: &mut Vec<(PlaceId, u32)>, place: PlaceId) {
    match places.iter_mut().find(|(other, _)| *other == place) {
        Some((_, count)) => *count += 1,
        None => places.push((place, 1)),
    }
}

fn discount(places: &mut Vec<(PlaceId, u32)>, place: PlaceId) {
    if let Some(at) = places.iter().position(|&(other, _)| other == place) {
        places[at].1 -= 1;
        if places[at].1 == 0 {
            places.swap_remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Place, Way, add, add_flow, remove, remove_flow};
    use crate::{Priority, flow::Invalid};

    fn priority(number: u16) -> Priority {
        Priority::new(number).expect("0 to 15")
    }

    #[test]
    fn an_anchor_has_to_come_after_the_flow() {
        for flow in 0..16 {
            for anchor in 0..16 {
                let (flow, anchor) = (priority(flow), priority(anchor));
                let refused = Err(Invalid::Loop { flow, anchor });
                let expected = if anchor > flow { Ok(()) } else { refused };
                let place = Place::new();
                add_flow(flow, place.id()).expect("no anchor yet");
                assert_eq!(add(place.id(), Way::Anchor(anchor)), expected, "anchor behind flow");
                remove_flow(flow, place.id());

                let place = Place::new();
                add(place.id(), Way::Anchor(anchor)).expect("no flow yet");
                assert_eq!(add_flow(flow, place.id()), expected, "flow before anchor");
            }
        }
    }

    #[test]
    fn what_is_removed_no_longer_counts() {
        let (first, second) = (Place::new(), Place::new());
        add_flow(priority(3), first.id()).expect("nothing to collide with");
        add(second.id(), Way::Anchor(priority(2))).expect("no flow leads here");
        assert!(add(first.id(), Way::Table(second.id())).is_err());
        remove(second.id(), Way::Anchor(priority(2)));
        add(first.id(), Way::Table(second.id())).expect("the anchor is gone");
        add(first.id(), Way::Table(second.id())).expect("two entries may lead to one table");
        remove(first.id(), Way::Table(second.id()));
        assert!(add(second.id(), Way::Anchor(priority(2))).is_err(), "one of the two is still there");
        remove(first.id(), Way::Table(second.id()));
        add(second.id(), Way::Anchor(priority(2))).expect("no flow leads here any more");
    }

    #[derive(Clone, Debug)]
    enum Change {
        Flow(u16, usize),
        Anchor(usize, u16),
        Table(usize, usize),
    }

    fn change() -> impl Strategy<Value = Change> {
        prop_oneof![
            (0..16u16, 0..5usize).prop_map(|(priority, table)| Change::Flow(priority, table)),
            (0..5usize, 0..16u16).prop_map(|(table, priority)| Change::Anchor(table, priority)),
            (0..4usize, 1..5usize).prop_map(|(from, step)| Change::Table(from, (from + step).min(4))),
        ]
    }

    proptest! {
        /// Against a model that keeps lists and walks every path.
        #[test]
        fn a_way_is_refused_exactly_if_it_closes_a_circle(changes in proptest::collection::vec(change(), 1..24)) {
            let places: Vec<_> = (0..5).map(|_| Place::new()).collect();
            let mut taken: Vec<Change> = Vec::new();
            for change in changes {
                let accepted = match change {
                    Change::Flow(number, table) => add_flow(priority(number), places[table].id()),
                    Change::Anchor(table, number) => add(places[table].id(), Way::Anchor(priority(number))),
                    Change::Table(from, to) => add(places[from].id(), Way::Table(places[to].id())),
                }
                .is_ok();
                taken.push(change);
                prop_assert_eq!(accepted, !circular(&taken));
                if !accepted {
                    taken.pop();
                }
            }
        }
    }

    fn circular(changes: &[Change]) -> bool {
        fn reaches(changes: &[Change], from: usize, flow: u16) -> bool {
            changes.iter().any(|change| match *change {
                Change::Anchor(table, anchor) => table == from && anchor <= flow,
                Change::Table(table, to) => table == from && reaches(changes, to, flow),
                Change::Flow(..) => false,
            })
        }
        changes
            .iter()
            .any(|change| matches!(*change, Change::Flow(flow, table) if reaches(changes, table, flow)))
    }
}
