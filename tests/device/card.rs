//! The emulated card's control port: what the card itself says. A real card has none.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;

use libtest_mimic::Failed;
use serde_json::{Value, json};
use uverbs::FlowTableId;

/// A connection to the emulated card under test.
pub(crate) struct Card {
    port: BufReader<File>,
}

impl Card {
    /// Connects, if the device under test is the emulated card.
    pub(crate) fn connect() -> Option<Self> {
        let path = PathBuf::from(std::env::var_os("CONNECTX_CONTROL")?);
        let port = File::options().read(true).write(true).open(&path);
        let port = port.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Some(Self { port: BufReader::new(port) })
    }

    /// Asks one thing; the answer is an object.
    pub(crate) fn ask(&mut self, request: &Value) -> Result<Value, Failed> {
        let mut line = request.to_string();
        line.push('\n');
        self.port.get_mut().write_all(line.as_bytes())?;
        let mut answer = String::new();
        self.port.read_line(&mut answer)?;
        let answer: Value = serde_json::from_str(&answer)?;
        if answer["ok"] == true { Ok(answer) } else { Err(format!("{request}: {answer}").into()) }
    }

    /// Commands executed since the card was made.
    pub(crate) fn commands(&mut self) -> Result<u64, Failed> {
        let answer = self.ask(&json!({"do": "counts"}))?;
        let counts = answer["counts"].as_object().ok_or("no counts")?;
        Ok(counts.values().filter_map(Value::as_u64).sum())
    }

    /// Live objects on the card.
    pub(crate) fn objects(&mut self) -> Result<usize, Failed> {
        let answer = self.ask(&json!({"do": "objects"}))?;
        Ok(answer["objects"].as_array().ok_or("no objects")?.len())
    }

    /// Indices of the entries in a flow table.
    pub(crate) fn rules(&mut self, table: FlowTableId) -> Result<Vec<u64>, Failed> {
        let answer = self.ask(&json!({"do": "tables"}))?;
        let tables = answer["tables"].as_array().ok_or("no tables")?;
        let table = tables.iter().find(|t| t["table"] == table.get()).ok_or("the card has no such table")?;
        let entries = table["entries"].as_array().ok_or("no entries")?;
        Ok(entries.iter().filter_map(|entry| entry["index"].as_u64()).collect())
    }
}
