//! Ticks of single calls: instructions, on a machine that counts them.

use std::collections::BTreeMap;

use peers::{Peer, Quantity};

use crate::{
    Bench, Result,
    resident::Resident,
    statistics::{least, median},
    tell, whole,
};

/// A scenario, what it measures, and what is told of its samples.
type Scenario = (&'static str, Quantity, fn(Vec<f64>) -> f64);

const PAIR: [Scenario; 2] = [("create", Quantity::Create, median), ("destroy", Quantity::Destroy, median)];
const OTHERS: [Scenario; 5] = [
    ("list", Quantity::List, least),
    ("name", Quantity::Name, least),
    ("gids", Quantity::Gids, least),
    ("open", Quantity::OpenAgain, least),
    ("first-reference", Quantity::FirstReference, least),
];
/// After it nothing else works in the peer.
const LAST: Scenario = ("entry", Quantity::Entry, median);

const ROUNDS: usize = 20;
/// Samples of a peer in each round.
const SAMPLES: usize = 10;
/// Of the last scenario, which has but one round.
const LAST_SAMPLES: usize = 200;

pub(crate) fn measure(bench: &Bench) -> Result<()> {
    let mut residents = Resident::all(bench)?;
    for scenario in PAIR.into_iter().chain(OTHERS) {
        in_turn(&mut residents, scenario, ROUNDS, SAMPLES)?;
    }
    in_turn(&mut residents, LAST, 1, LAST_SAMPLES)?;
    drop(residents);
    whole::instructions(bench)
}

/// The anchor's two calls alone.
pub(crate) fn pair(bench: &Bench) -> Result<()> {
    let mut residents = Resident::all(bench)?;
    PAIR.into_iter().try_for_each(|scenario| in_turn(&mut residents, scenario, ROUNDS, SAMPLES))
}

/// All peers that have such work, in rounds, each round beginning with another one.
fn in_turn(
    residents: &mut [Resident],
    (name, quantity, told): Scenario,
    rounds: usize,
    samples: usize,
) -> Result<()> {
    let mut all: BTreeMap<Peer, Vec<f64>> = BTreeMap::new();
    for _ in 0..rounds {
        residents.rotate_left(1);
        for resident in residents.iter_mut() {
            if let Some(samples) = resident.samples(name, samples)? {
                all.entry(resident.peer).or_default().extend(samples);
            }
        }
    }
    all.into_iter().try_for_each(|(peer, samples)| tell(quantity, peer, told(samples)))
}
