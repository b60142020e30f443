//! How many tests passed, failed, were skipped.

use std::{fmt, ops::AddAssign};

/// A sum over test runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) skipped: u64,
}

impl Tally {
    /// Adds up the summary lines of Rust's test runners in their output.
    pub(crate) fn of(output: &str) -> Self {
        let mut tally = Self::default();
        for line in output.lines() {
            let Some((_, counts)) =
                line.split_once("test result: ").and_then(|(_, rest)| rest.split_once(". "))
            else {
                continue;
            };
            for count in counts.split("; ") {
                match count.split_once(' ').map(|(number, what)| (number.parse::<u64>(), what)) {
                    Some((Ok(number), "passed")) => tally.passed += number,
                    Some((Ok(number), "failed")) => tally.failed += number,
                    Some((Ok(number), "ignored")) => tally.skipped += number,
                    _ => {}
                }
            }
        }
        tally
    }

    pub(crate) fn total(self) -> u64 {
        self.passed + self.failed + self.skipped
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} passed, {} failed", self.passed, self.failed)?;
        if self.skipped > 0 {
            write!(formatter, ", {} skipped", self.skipped)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_of_several_runners_are_added_up() {
        let output = "running 3 tests\n\
            test a ... ok\n\
            test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 1 filtered out; finished in 0.01s\n\
            \n\
            test result: FAILED. 11 passed; 2 failed; 4 ignored; 0 measured; 0 filtered out; finished in 3.10s\n\
            a line with 7 passed; that is no summary\n";
        let tally = Tally::of(output);
        assert_eq!(tally, Tally { passed: 14, failed: 2, skipped: 4 });
        assert_eq!(tally.to_string(), "14 passed, 2 failed, 4 skipped");
        assert_eq!(tally.total(), 20);
    }

    #[test]
    fn no_summary_is_nothing() {
        assert_eq!(Tally::of("thread 'main' panicked"), Tally::default());
        assert_eq!(Tally { passed: 5, ..Tally::default() }.to_string(), "5 passed, 0 failed");
    }

    #[test]
    fn sums_add_up() {
        let mut sum = Tally { passed: 1, failed: 2, skipped: 3 };
        sum += Tally { passed: 10, failed: 20, skipped: 30 };
        assert_eq!(sum, Tally { passed: 11, failed: 22, skipped: 33 });
    }
}
