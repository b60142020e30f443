//! The guest's console: only the kernel writes there, so whatever it complains about fails the run.

use std::collections::VecDeque;

/// As many lines as are shown below an error.
const TAIL: usize = 60;

/// After these the guest is lost or about to hang.
const FATAL: [&str; 10] = [
    "Kernel panic",
    "Oops:",
    "BUG:",
    "kernel BUG at",
    "general protection fault",
    "soft lockup",
    "hard LOCKUP",
    "self-detected stall",
    "detected stalls on",
    "blocked for more than",
];

/// A complaint of the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trouble {
    /// The line.
    pub(crate) line: String,
    /// There is no use in waiting for the guest's program.
    pub(crate) fatal: bool,
}

/// Reads the console line by line.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// Texts that make a complaint an expected one.
    allowed: Vec<String>,
    tail: VecDeque<String>,
    trouble: Option<Trouble>,
}

impl Watch {
    pub(crate) fn new(allowed: Vec<String>) -> Self {
        Self { allowed, ..Self::default() }
    }

    /// Takes the next line.
    pub(crate) fn line(&mut self, line: &str) {
        let line = printable(line);
        if self.tail.len() == TAIL {
            self.tail.pop_front();
        }
        if let Some(fatal) = complaint(&line) {
            let worse = self.trouble.as_ref().is_none_or(|known| fatal && !known.fatal);
            if worse && !self.allowed.iter().any(|text| line.contains(text)) {
                self.trouble = Some(Trouble { line: line.clone(), fatal });
            }
        }
        self.tail.push_back(line);
    }

    /// The first complaint that was not allowed, or the first fatal one.
    pub(crate) fn trouble(&self) -> Option<&Trouble> {
        self.trouble.as_ref()
    }

    /// The last lines.
    pub(crate) fn tail(&self) -> String {
        self.tail.iter().fold(String::new(), |text, line| text + "  | " + line + "\n")
    }
}

/// Whether the line is a complaint, and if so whether it is a fatal one.
fn complaint(line: &str) -> Option<bool> {
    if FATAL.iter().any(|text| line.contains(text)) {
        return Some(true);
    }
    let (_, place) = line.split_once("WARNING: ")?;
    is_place(place).then_some(false)
}

/// Whether this is how WARN goes on: `CPU: 0 PID: 1 at net/core/dev.c:12 function`, or since Linux 6.19
/// `net/core/dev.c:12 at function, CPU#0: …`. Other warnings, such as those about CPU flaws, are mere text.
fn is_place(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let first = words.next().unwrap_or_default();
    let file_and_line =
        first.rsplit_once(':').is_some_and(|(file, line)| file.contains('.') && line.parse::<u32>().is_ok());
    first == "CPU:" || (file_and_line && words.next() == Some("at"))
}

/// The line without what the firmware sends to draw on a terminal.
fn printable(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match character {
            '\x1b' => {
                let _sequence = characters.by_ref().skip(1).find(char::is_ascii_alphabetic);
            }
            character if character.is_control() && character != '\t' => {}
            character => plain.push(character),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn watch(allowed: &[&str], lines: &[&str]) -> Watch {
        let mut watch = Watch::new(allowed.iter().map(ToString::to_string).collect());
        for line in lines {
            watch.line(line);
        }
        watch
    }

    #[test]
    fn complaints_are_told_from_chatter() {
        let cases = [
            ("[    0.5] Kernel panic - not syncing: Attempted to kill init!", Some(true)),
            ("[    4.1] BUG: kernel NULL pointer dereference, address: 0000000000000008", Some(true)),
            ("[    4.1] Oops: Oops: 0000 [#1] PREEMPT SMP NOPTI", Some(true)),
            ("[   28.0] watchdog: BUG: soft lockup - CPU#0 stuck for 26s! [modprobe:77]", Some(true)),
            ("[  242.0] INFO: task uverbs:91 blocked for more than 120 seconds.", Some(true)),
            ("[   21.0] rcu: INFO: rcu_preempt self-detected stall on CPU", Some(true)),
            ("[   21.0] rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:", Some(true)),
            (
                "[    3.2] WARNING: CPU: 0 PID: 74 at drivers/infiniband/core/device.c:1390 ib_register_device+0x5/0x6",
                Some(false),
            ),
            (
                "[    3.2] WARNING: drivers/infiniband/core/device.c:1390 at ib_register_device+0x5/0x6, CPU#0: insmod/74",
                Some(false),
            ),
            ("[    0.0] Spectre V2 : WARNING: Unprivileged eBPF is enabled with eIBRS on", None),
            ("[    2.0] mlx5_core 0000:00:02.0: Failed to get valid vendor specific ID", None),
            ("", None),
        ];
        for (line, expected) in cases {
            assert_eq!(complaint(line), expected, "{line}");
        }
    }

    #[test]
    fn the_first_complaint_stays_but_a_fatal_one_goes_before_a_warning() {
        let warning = "WARNING: CPU: 0 PID: 1 at a.c:1 f";
        let second = "WARNING: CPU: 0 PID: 1 at b.c:2 g";
        let fatal = "BUG: kernel NULL pointer dereference";
        assert_eq!(watch(&[], &[warning, second]).trouble().unwrap().line, warning);
        assert_eq!(watch(&[], &[warning, fatal, second]).trouble().unwrap().line, fatal);
        assert_eq!(watch(&[], &["mlx5_core 0000:00:02.0: firmware version: 22.99.0"]).trouble(), None);
    }

    #[test]
    fn only_what_is_allowed_is_allowed() {
        let lines = ["WARNING: CPU: 0 PID: 1 at a.c:1 f", "WARNING: CPU: 0 PID: 1 at b.c:2 g"];
        assert_eq!(watch(&["a.c:1"], &lines).trouble().unwrap().line, lines[1]);
        assert_eq!(watch(&["a.c:1", "b.c:2"], &lines).trouble(), None);
    }

    #[test]
    fn the_tail_is_short_and_plain() {
        let mut watch = Watch::default();
        for number in 0..200 {
            watch.line(&format!("\x1b[2J\x1b[1;1Hline {number}\r"));
        }
        let tail = watch.tail();
        assert_eq!(tail.lines().count(), TAIL);
        assert_eq!(tail.lines().last(), Some("  | line 199"));
    }

    proptest! {
        #[test]
        fn no_line_breaks_the_watch(lines in prop::collection::vec(".{0,80}", 0..100)) {
            let mut watch = Watch::default();
            for line in &lines {
                watch.line(line);
            }
            prop_assert!(watch.tail().chars().all(|character| !character.is_control() || "\n\t".contains(character)));
        }
    }
}
