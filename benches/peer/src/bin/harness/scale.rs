//! The cost of one operation where there is much of something.

use peers::{Axis, Line, Peer, Quantity};

use crate::{
    Bench, Result, print,
    resident::Resident,
    statistics::{least, median},
};

/// Anchors alive.
const HANDLES: [u32; 4] = [1, 10, 1000, 60_000];
/// Threads at the same time.
const THREADS: [u32; 5] = [1, 2, 4, 8, 16];
/// What one thread does: the peers agree on it.
const PAIRS_OF_A_THREAD: u32 = 200;
const ROUNDS: usize = 5;

/// To create one of many anchors, and to destroy it.
pub(crate) fn handles(bench: &Bench) -> Result<()> {
    for mut resident in Resident::all(bench)? {
        for count in HANDLES {
            let rounds = if count > 10_000 { 1 } else { ROUNDS };
            let (mut create, mut destroy) = (Vec::new(), Vec::new());
            for _ in 0..rounds {
                match resident.ask("many", count as usize)?.as_deref() {
                    Some([created, destroyed]) => {
                        create.push(created / f64::from(count));
                        destroy.push(destroyed / f64::from(count));
                    }
                    answer => return Err(format!("{:?}: {answer:?}", resident.peer).into()),
                }
            }
            for (quantity, samples) in [(Quantity::Create, create), (Quantity::Destroy, destroy)] {
                point(Axis::Handles, count, quantity, resident.peer, median(samples))?;
            }
        }
    }
    Ok(())
}

/// A pair of create and destroy where other threads do the same.
pub(crate) fn threads(bench: &Bench) -> Result<()> {
    for mut resident in Resident::all(bench)? {
        for count in THREADS {
            let mut samples = Vec::new();
            for _ in 0..ROUNDS {
                let Some(all) = resident.ask("threads", count as usize)? else { break };
                samples.push(all.iter().sum::<f64>() / f64::from(count * PAIRS_OF_A_THREAD));
            }
            if !samples.is_empty() {
                point(Axis::Threads, count, Quantity::PairTime, resident.peer, least(samples))?;
            }
        }
    }
    Ok(())
}

/// What grows with the number of cards that there are, and what does not.
pub(crate) fn cards(bench: &Bench) -> Result<()> {
    let cards = u32::try_from(uverbs::Device::list()?.len())?;
    for mut resident in Resident::all(bench)? {
        for (scenario, quantity) in
            [("list", Quantity::List), ("name", Quantity::Name), ("create", Quantity::Create)]
        {
            if let Some(samples) = resident.samples(scenario, 50)? {
                point(Axis::Cards, cards, quantity, resident.peer, least(samples))?;
            }
        }
    }
    Ok(())
}

fn point(axis: Axis, count: u32, quantity: Quantity, peer: Peer, value: f64) -> Result<()> {
    print(Line::Point { axis, count, quantity, peer, value })
}
