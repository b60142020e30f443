//! What is made of what was measured: rows with a gate and a goal.

use std::collections::HashMap;

use peers::{Line, Peer, Quantity};
use serde::Serialize;

/// One comparison: this crate, rdma-core, the bare kernel.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Row {
    #[serde(rename = "row")]
    pub(crate) name: &'static str,
    pub(crate) ours: Option<f64>,
    pub(crate) rdma_core: Option<f64>,
    pub(crate) floor: Option<f64>,
    /// What must hold at least.
    pub(crate) gate: Option<f64>,
    /// What is aimed at.
    pub(crate) goal: Option<f64>,
    pub(crate) gate_met: Option<bool>,
    pub(crate) goal_met: Option<bool>,
}

/// Which values make a row.
#[derive(Debug, Clone, Copy)]
enum Source {
    /// A sum.
    Sum(&'static [Quantity]),
    /// What a sum has more than the floor's.
    AboveFloor(&'static [Quantity]),
    /// A ratio to the floor's, which is 1.
    Ratio(Quantity),
}

/// Up to where a value of ours is good.
#[derive(Debug, Clone, Copy)]
enum Limit {
    /// There is none: the row informs.
    None,
    AtMost(f64),
    Exactly(f64),
    /// As a share of rdma-core's value.
    OfRdmaCore(f64),
    /// As shares of rdma-core's value and of the floor's.
    OfBoth(f64, f64),
}

/// A row before anything is measured.
struct Plan {
    name: &'static str,
    source: Source,
    /// Which of rdma-core's builds it compares with.
    peer: Peer,
    gate: Limit,
    goal: Limit,
    /// The same in every run on the same kernel: a test may insist on its gate.
    exact: bool,
}

impl Plan {
    const fn new(name: &'static str, source: Source, gate: Limit, goal: Limit) -> Self {
        Self { name, source, peer: Peer::RdmaCore, gate, goal, exact: false }
    }

    const fn exact(self) -> Self {
        Self { exact: true, ..self }
    }

    const fn with_static(self) -> Self {
        Self { peer: Peer::RdmaCoreStatic, ..self }
    }
}

const PAIR: &[Quantity] = &[Quantity::Create, Quantity::Destroy];

const PLANS: &[Plan] = {
    use Limit::{AtMost, Exactly, None, OfBoth, OfRdmaCore};
    use Quantity as Q;
    use Source::{AboveFloor, Ratio, Sum};
    &[
        Plan::new(
            "anchor create+destroy, priority held, instructions",
            Sum(PAIR),
            OfRdmaCore(0.95),
            OfBoth(0.94, 1.012),
        ),
        Plan::new("of these, user part above the floor", AboveFloor(PAIR), AtMost(126.0), AtMost(76.0))
            .exact(),
        Plan::new("of these, heap calls", Sum(&[Q::PairHeapCalls]), AtMost(0.0), AtMost(0.0)).exact(),
        Plan::new(
            "anchor create+destroy, priority held, wall, ratio to the floor",
            Ratio(Q::PairTime),
            None,
            AtMost(1.02),
        ),
        Plan::new(
            "anchor create+destroy, first reference, instructions",
            Sum(&[Q::FirstReference]),
            None,
            None,
        ),
        Plan::new(
            "exec to first id to exit, name known, wall, ratio to the floor",
            Ratio(Q::NamedTime),
            OfRdmaCore(0.30),
            OfRdmaCore(0.25),
        ),
        Plan::new("exec to first id to exit, name known, instructions", Sum(&[Q::Named]), None, None),
        Plan::new(
            "exec to first id to exit, discovery by list, wall, ratio to the floor",
            Ratio(Q::ListedTime),
            OfRdmaCore(0.35),
            OfRdmaCore(0.30),
        ),
        Plan::new("exec to first id to exit, discovery by list, instructions", Sum(&[Q::Listed]), None, None),
        Plan::new("ioctls on that way", Sum(&[Q::Ioctls]), Exactly(3.0), Exactly(3.0)).exact(),
        Plan::new(
            "firmware commands on that way, plain",
            Sum(&[Q::FirmwareCommands]),
            Exactly(9.0),
            Exactly(9.0),
        )
        .exact(),
        Plan::new(
            "firmware commands on that way, DEVX",
            Sum(&[Q::FirmwareCommandsDevx]),
            Exactly(11.0),
            Exactly(11.0),
        )
        .exact(),
        Plan::new(
            "syscalls of our own from name to id to close",
            Sum(&[Q::Syscalls]),
            AtMost(13.0),
            AtMost(11.0),
        )
        .exact(),
        Plan::new("open a context, warm, instructions", Sum(&[Q::Open]), OfRdmaCore(0.10), OfRdmaCore(0.06)),
        Plan::new("open a context again in the same process, instructions", Sum(&[Q::OpenAgain]), None, None),
        Plan::new("list devices, instructions", Sum(&[Q::List]), OfRdmaCore(1.0), OfRdmaCore(0.84)),
        Plan::new("open by name, lookup, instructions", Sum(&[Q::Name]), OfRdmaCore(0.60), OfRdmaCore(0.45)),
        Plan::new("GID table, few GIDs, instructions", Sum(&[Q::Gids]), OfRdmaCore(0.30), OfRdmaCore(0.14)),
        Plan::new(
            "SET_FLOW_TABLE_ENTRY, above a pre-built inbox, instructions",
            AboveFloor(&[Q::Entry]),
            OfRdmaCore(0.70),
            OfRdmaCore(0.50),
        ),
        Plan::new("mapped by the program, KiB", Sum(&[Q::MappedMemory]), None, None),
        Plan::new("peak memory of the program, KiB", Sum(&[Q::PeakMemory]), AtMost(450.0), AtMost(360.0)),
        Plan::new(
            "peak memory, beside a static rdma-core, KiB",
            Sum(&[Q::PeakMemory]),
            AtMost(450.0),
            AtMost(360.0),
        )
        .with_static(),
        Plan::new(
            "static binary, discovery + anchor, KiB",
            Sum(&[Q::StaticSize]),
            AtMost(480.0),
            AtMost(400.0),
        )
        .with_static(),
        Plan::new("static binary, bare, KiB", Sum(&[Q::BareSize]), AtMost(32.0), AtMost(16.0)),
    ]
};

/// What was measured, by what and whose.
struct Values(HashMap<(Quantity, Peer), f64>);

impl Values {
    fn of(lines: &[Line]) -> Self {
        Self(
            lines
                .iter()
                .filter_map(|line| match *line {
                    Line::Value { quantity, peer, value } => Some(((quantity, peer), value)),
                    Line::Point { .. } => None,
                })
                .collect(),
        )
    }

    fn sum(&self, quantities: &[Quantity], peer: Peer) -> Option<f64> {
        quantities.iter().map(|&quantity| self.0.get(&(quantity, peer)).copied()).sum()
    }

    fn get(&self, source: Source, peer: Peer) -> Option<f64> {
        match source {
            Source::Sum(quantities) => self.sum(quantities, peer),
            Source::AboveFloor(quantities) => {
                Some(self.sum(quantities, peer)? - self.sum(quantities, Peer::Floor)?)
            }
            Source::Ratio(_) if peer == Peer::Floor => Some(1.0),
            Source::Ratio(quantity) => self.sum(&[quantity], peer),
        }
    }
}

impl Limit {
    fn value(self, rdma_core: Option<f64>, floor: Option<f64>) -> Option<f64> {
        match self {
            Self::None => None,
            Self::AtMost(limit) | Self::Exactly(limit) => Some(limit),
            Self::OfRdmaCore(share) => Some(share * rdma_core?),
            Self::OfBoth(of_rdma_core, of_floor) => Some((of_rdma_core * rdma_core?).min(of_floor * floor?)),
        }
    }

    /// Whether `ours` is good, where `limit` is this limit's value.
    fn is_met(self, ours: f64, limit: f64) -> bool {
        match self {
            // Counts are whole numbers.
            Self::Exactly(_) => (ours - limit).abs() < 0.5,
            _ => ours <= limit,
        }
    }
}

impl Plan {
    fn row(&self, values: &Values) -> Row {
        let [ours, rdma_core, floor] =
            [Peer::Ours, self.peer, Peer::Floor].map(|peer| values.get(self.source, peer));
        let [(gate, gate_met), (goal, goal_met)] = [self.gate, self.goal].map(|limit| {
            let value = limit.value(rdma_core, floor);
            (value, ours.zip(value).map(|(ours, value)| limit.is_met(ours, value)))
        });
        Row { name: self.name, ours, rdma_core, floor, gate, goal, gate_met, goal_met }
    }
}

/// All rows.
pub(crate) fn all(lines: &[Line]) -> Vec<Row> {
    let values = Values::of(lines);
    PLANS.iter().map(|plan| plan.row(&values)).collect()
}

/// The rows that are the same in every run.
pub(crate) fn exact(lines: &[Line]) -> impl Iterator<Item = Row> {
    let values = Values::of(lines);
    PLANS.iter().filter(|plan| plan.exact).map(move |plan| plan.row(&values))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(quantity: Quantity, peer: Peer, value: f64) -> Line {
        Line::Value { quantity, peer, value }
    }

    fn row<'a>(rows: &'a [Row], start: &str) -> &'a Row {
        rows.iter().find(|row| row.name.starts_with(start)).unwrap()
    }

    #[test]
    fn a_pair_is_the_sum_of_its_halves_and_its_limits_follow_the_peers() {
        let lines =
            [(Quantity::Create, [4000.0, 4300.0, 3950.0]), (Quantity::Destroy, [2050.0, 2200.0, 2000.0])]
                .into_iter()
                .flat_map(|(quantity, values)| {
                    [Peer::Ours, Peer::RdmaCore, Peer::Floor]
                        .into_iter()
                        .zip(values)
                        .map(move |(peer, number)| value(quantity, peer, number))
                });
        let rows = all(&lines.collect::<Vec<_>>());
        let pair = row(&rows, "anchor create+destroy");
        assert_eq!((pair.ours, pair.rdma_core, pair.floor), (Some(6050.0), Some(6500.0), Some(5950.0)));
        assert_eq!((pair.gate, pair.gate_met), (Some(6175.0), Some(true)));
        // 1.012 of the floor is less than 0.94 of rdma-core.
        assert_eq!((pair.goal, pair.goal_met), (Some(1.012 * 5950.0), Some(false)));
        let above = row(&rows, "of these, user part");
        assert_eq!((above.ours, above.rdma_core, above.floor), (Some(100.0), Some(550.0), Some(0.0)));
        assert_eq!((above.gate_met, above.goal_met), (Some(true), Some(false)));
    }

    #[test]
    fn an_exact_limit_is_missed_on_both_sides() {
        for (commands, met) in [(8.0, false), (9.0, true), (10.0, false)] {
            let rows = all(&[value(Quantity::FirmwareCommands, Peer::Ours, commands)]);
            assert_eq!(row(&rows, "firmware commands").gate_met, Some(met), "{commands}");
        }
    }

    #[test]
    fn what_was_not_measured_is_neither_met_nor_missed() {
        for row in all(&[]) {
            assert_eq!((row.ours, row.rdma_core, row.gate_met, row.goal_met), (None, None, None, None));
        }
        assert!(exact(&[]).count() > 0);
    }
}
