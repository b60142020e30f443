//! Time, as ratios to the floor's within the same round: what the machine does besides changes from round to round.

use std::collections::BTreeMap;

use peers::{Peer, Quantity};

use crate::{Bench, Result, resident::Resident, statistics::median, tell, whole};

const ROUNDS: usize = 100;
/// Pairs of create and destroy of a peer in each round.
const PAIRS: usize = 500;

pub(crate) fn measure(bench: &Bench) -> Result<()> {
    let mut residents = Resident::all(bench)?;
    let mut rounds = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        residents.rotate_left(1);
        let mut round = BTreeMap::new();
        for resident in &mut residents {
            let samples = resident.ask("pairs", PAIRS)?.ok_or("a peer without pairs")?;
            round.insert(resident.peer, samples.iter().sum());
        }
        rounds.push(round);
    }
    tell_ratios(Quantity::PairTime, &rounds)?;
    drop(residents);
    whole::time(bench)
}

/// Tells the median of each peer's ratio to the floor.
pub(crate) fn tell_ratios(quantity: Quantity, rounds: &[BTreeMap<Peer, f64>]) -> Result<()> {
    for peer in [Peer::Ours, Peer::RdmaCore, Peer::RdmaCoreStatic] {
        let ratios: Vec<f64> =
            rounds.iter().filter_map(|round| Some(round.get(&peer)? / round.get(&Peer::Floor)?)).collect();
        if !ratios.is_empty() {
            tell(quantity, peer, median(ratios))?;
        }
    }
    Ok(())
}
