//! The way of a packet through the card: hop by hop, and how it ended.

use serde::Serialize;
use std::fmt;

/// Where a frame came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Received from the wire.
    Rx,
    /// Sent by a send queue.
    Tx,
}

/// A flow table that a packet came through.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hop {
    /// Id of the table.
    pub table: u32,
    /// Type of the table: `nic_rx`, `fdb` …
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Level of the table.
    pub level: u8,
    /// Owner of the table.
    pub uid: u16,
    /// What led here: `root`, an entry (`0xd[0]`) or the miss of a table.
    pub from: String,
    /// The entry that took the packet; nothing if none did.
    #[serde(flatten)]
    pub hit: Option<Hit>,
    /// What happened to the packet here, in words.
    pub action: String,
}

/// The entry that took a packet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hit {
    /// Id of its group.
    pub group: u32,
    /// Its index in the table.
    pub entry: u32,
    /// Its owner.
    pub entry_uid: u16,
    /// What it compares, in words.
    #[serde(rename = "match")]
    pub matched: String,
}

impl fmt::Display for Hop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { table, kind, level, uid, from, hit, action } = self;
        write!(f, "{from} -> table {table:#x} {kind} level {level} uid {uid}: ")?;
        match hit {
            Some(Hit { group, entry, entry_uid, matched }) => {
                write!(f, "group {group:#x} entry {entry} uid {entry_uid} {{{matched}}} {action}")
            }
            None => write!(f, "miss, {action}"),
        }
    }
}

/// How the way of a packet ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Verdict {
    /// In a buffer of the guest, with a completion.
    Delivered {
        /// The receive object.
        tir: u32,
        /// The indirection table, if there was one.
        rqt: Option<u32>,
        /// The receive queue.
        rq: u32,
        /// Index of the receive queue entry.
        wqe: u16,
        /// The completion queue.
        cq: u32,
        /// The RSS hash.
        hash: u32,
        /// The flow tag in the completion.
        flow_tag: u32,
    },
    /// Nowhere.
    Dropped {
        /// The table, entry or queue where it happened.
        #[serde(rename = "where")]
        place: String,
        /// Why.
        why: String,
    },
    /// On the wire.
    Sent {
        /// Length of the frame as sent.
        length: usize,
    },
}

impl Verdict {
    /// A drop at `place` because of `why`.
    pub fn dropped(place: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Dropped { place: place.into(), why: why.into() }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Delivered { tir, rqt, rq, wqe, cq, hash, flow_tag } => {
                write!(f, "TIR {tir:#x}")?;
                if let Some(rqt) = rqt {
                    write!(f, " RQT {rqt:#x} hash {hash:#x}")?;
                }
                write!(f, " -> RQ {rq:#x} WQE {wqe} CQ {cq:#x}")?;
                if *flow_tag != 0 {
                    write!(f, " tag {flow_tag:#x}")?;
                }
                f.write_str(": DELIVERED")
            }
            Self::Dropped { place, why } => write!(f, "{place}: DROPPED, {why}"),
            Self::Sent { length } => write!(f, "{length} bytes to the wire: SENT"),
        }
    }
}

/// One copy of a packet: an entry with several destinations makes several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Branch {
    /// The tables it came through, those before the copy was made not repeated.
    pub hops: Vec<Hop>,
    /// How it ended.
    pub verdict: Verdict,
}

/// The whole way of one frame.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Way {
    /// Number of the frame in its direction, from 1.
    pub frame: u64,
    /// Received or sent.
    pub direction: Direction,
    /// Number of the packet in the input file, from 1, if it came from there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<u64>,
    /// Bytes, without the frame check sequence.
    pub length: usize,
    /// The frame in a few words.
    pub packet: String,
    /// The tables that the packet came through, in order.
    pub hops: Vec<Hop>,
    /// How it ended.
    pub verdict: Verdict,
    /// The ways of its copies.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<Branch>,
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.direction {
            Direction::Rx => "RX",
            Direction::Tx => "TX",
        };
        let number = self.frame;
        write!(f, "{name} #{number} {} bytes {}", self.length, self.packet)?;
        for hop in &self.hops {
            write!(f, "\n  #{number} {hop}")?;
        }
        write!(f, "\n  #{number} {}", self.verdict)?;
        for (copy, branch) in (1..).zip(&self.copies) {
            for hop in &branch.hops {
                write!(f, "\n  #{number} copy {copy} {hop}")?;
            }
            write!(f, "\n  #{number} copy {copy} {}", branch.verdict)?;
        }
        Ok(())
    }
}
