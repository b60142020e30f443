//! The states of send and receive queues.

use crate::command::refusal::{Refusal, Syndrome};

/// The state of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Nothing is processed.
    Reset,
    /// Works.
    Ready,
    /// An entry failed.
    Error,
}

impl State {
    /// Reads a state; refuses numbers that are none.
    pub(super) fn read(number: u64) -> Result<Self, Refusal> {
        match number {
            0 => Ok(Self::Reset),
            1 => Ok(Self::Ready),
            3 => Ok(Self::Error),
            _ => Err(Refusal::new(Syndrome::WrongQueueState, format!("state {number}"))),
        }
    }

    pub(super) const fn number(self) -> u64 {
        match self {
            Self::Reset => 0,
            Self::Ready => 1,
            Self::Error => 3,
        }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Reset => "reset",
            Self::Ready => "ready",
            Self::Error => "error",
        }
    }

    /// Goes to `next` if the command names the present state and there is such a way.
    pub(super) fn change(self, named: Self, next: Self) -> Result<Self, Refusal> {
        let possible = self == next
            || matches!((self, next), (_, Self::Reset | Self::Error) | (Self::Reset, Self::Ready));
        if self != named || !possible {
            let (is, says, goes) = (self.name(), named.name(), next.name());
            let detail = format!("it is in {is}, the command says {says} to {goes}");
            return Err(Refusal::new(Syndrome::WrongQueueState, detail));
        }
        Ok(next)
    }
}
