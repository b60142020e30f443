//! Frames from a capture file, from the moment the program is ready for them.

use std::{
    io::{self, BufRead, BufReader, Write},
    os::unix::net::UnixStream,
    path::Path,
    thread,
    time::Duration,
};

use serde::Deserialize;
use serde_json::Value;

/// A longer line says nothing to the lab.
const LONGEST_LINE: usize = 4096;
/// How often the card is asked whether it has had the last frame.
const PERIOD: Duration = Duration::from_millis(50);

/// Looks in a program's output for the line that says that it is ready: `ready`, or a JSON object of that type.
#[derive(Debug, Default)]
pub(crate) struct ReadyLine {
    line: Vec<u8>,
    found: bool,
}

impl ReadyLine {
    /// Takes the next bytes; true once, when the line is complete.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> bool {
        if self.found {
            return false;
        }
        for &byte in bytes {
            if byte != b'\n' {
                if self.line.len() < LONGEST_LINE {
                    self.line.push(byte);
                }
            } else if says_ready(&std::mem::take(&mut self.line)) {
                self.found = true;
                return true;
            }
        }
        false
    }
}

fn says_ready(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let json = || serde_json::from_slice::<Value>(line).unwrap_or_default();
    line == b"ready" || json()["type"] == "ready"
}

/// What the card answers, as far as it matters here.
#[derive(Deserialize)]
struct Answer {
    ok: bool,
    error: Option<String>,
    #[serde(default)]
    input_done: bool,
}

/// Lets the frames of the card's input file come in, and waits until the way of the last one has ended.
pub(crate) fn play(control: &Path) -> io::Result<()> {
    let mut stream = UnixStream::connect(control)?;
    let mut answers = BufReader::new(stream.try_clone()?);
    let mut ask = |question: &str| -> io::Result<Answer> {
        stream.write_all(question.as_bytes())?;
        let mut line = String::new();
        answers.read_line(&mut line)?;
        let answer: Answer = serde_json::from_str(&line)?;
        if answer.ok { Ok(answer) } else { Err(io::Error::other(answer.error.unwrap_or_default())) }
    };
    ask("{\"do\":\"start\"}\n")?;
    while !ask("{\"do\":\"hops\"}\n")?.input_done {
        thread::sleep(PERIOD);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn the_ready_line_is_found_once_however_it_is_cut() {
        let cases: [(&str, bool); 8] = [
            ("ready\n", true),
            ("starting\nready\nready\n", true),
            ("{\"type\":\"anchor\"}\n{\"type\":\"ready\",\"device\":\"mlx5_0\"}\n", true),
            ("  ready \r\n", true),
            ("ready", false),
            ("already\n", false),
            ("{\"type\":\"stats\",\"text\":\"ready\"}\n", false),
            ("[\"ready\"]\n", false),
        ];
        for (output, expected) in cases {
            for size in 1..=output.len() {
                let mut line = ReadyLine::default();
                let found = output.as_bytes().chunks(size).filter(|bytes| line.take(bytes)).count();
                assert_eq!(found, usize::from(expected), "{output:?} in pieces of {size}");
            }
        }
    }

    /// A card that gives these answers; what it was asked.
    fn card<const N: usize>(answers: [&'static str; N]) -> (io::Result<()>, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("control");
        let listener = UnixListener::bind(&path).unwrap();
        let card = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut questions = BufReader::new(stream.try_clone().unwrap()).lines();
            let mut asked = Vec::new();
            for answer in answers {
                asked.push(questions.next().unwrap().unwrap());
                writeln!(stream, "{answer}").unwrap();
            }
            asked
        });
        (play(&path), card.join().unwrap())
    }

    #[test]
    fn the_frames_are_started_and_waited_for() {
        let waiting = "{\"ok\":true,\"ways\":[],\"input_done\":false}";
        let (result, asked) =
            card(["{\"ok\":true}", waiting, "{\"ok\":true,\"ways\":[],\"input_done\":true}"]);
        result.unwrap();
        assert_eq!(asked, ["{\"do\":\"start\"}", "{\"do\":\"hops\"}", "{\"do\":\"hops\"}"]);
    }

    #[test]
    fn a_card_that_refuses_is_an_error() {
        let (result, _) = card(["{\"ok\":false,\"error\":\"no input file\"}"]);
        assert_eq!(result.unwrap_err().to_string(), "no input file");
    }
}
