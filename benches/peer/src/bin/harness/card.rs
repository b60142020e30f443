//! What the emulated card counts.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{BufRead, BufReader, Write},
    thread::sleep,
    time::Duration,
};

use serde::Deserialize;

use crate::Result;

/// As long as this nothing happens on a card that is left alone: the driver looks after its health more seldom.
const QUIET: Duration = Duration::from_millis(300);

/// A connection to the card's control port.
pub(crate) struct Card(BufReader<File>);

#[derive(Deserialize)]
struct Answer {
    counts: BTreeMap<String, u32>,
}

impl Card {
    pub(crate) fn connect() -> Result<Self> {
        let port = std::env::var("CONNECTX_CONTROL")?;
        Ok(Self(BufReader::new(File::options().read(true).write(true).open(port)?)))
    }

    /// Commands that `work` leads to, until the card is quiet again.
    pub(crate) fn commands(&mut self, work: impl FnOnce() -> Result<()>) -> Result<u32> {
        let before = self.quiet_count()?;
        work()?;
        Ok(self.quiet_count()? - before)
    }

    /// Commands so far, once no more come.
    fn quiet_count(&mut self) -> Result<u32> {
        let mut last = self.count()?;
        loop {
            sleep(QUIET);
            let now = self.count()?;
            if now == last {
                return Ok(now);
            }
            last = now;
        }
    }

    fn count(&mut self) -> Result<u32> {
        self.0.get_mut().write_all(b"{\"do\":\"counts\"}\n")?;
        let mut line = String::new();
        self.0.read_line(&mut line)?;
        let answer: Answer = serde_json::from_str(&line)?;
        Ok(answer.counts.values().sum())
    }
}
