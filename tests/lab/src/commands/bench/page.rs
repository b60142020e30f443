//! Rows, for people: a table in Markdown, on the terminal and in the documentation.

use std::{fs, path::Path};

use super::rows::Row;
use crate::error::{Error, Result};

/// What the table stands between.
const BEGIN: &str = "<!-- cargo lab bench writes from here -->";
const END: &str = "<!-- to here -->";

const HEAD: [&str; 9] =
    ["row", "uverbs", "rdma-core", "floor", "uverbs / rdma-core", "uverbs / floor", "gate", "goal", "met"];

/// The table.
pub(super) fn table(rows: &[Row]) -> String {
    let cells: Vec<[String; 9]> =
        [HEAD.map(str::to_owned)].into_iter().chain(rows.iter().map(cells)).collect();
    let width = |column: usize| cells.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let widths: [usize; 9] = std::array::from_fn(width);
    let mut lines: Vec<String> = cells.iter().map(|row| line(row, &widths)).collect();
    lines.insert(1, rule(&widths));
    lines.concat()
}

/// Names to the left, numbers to the right.
fn line(row: &[String; 9], widths: &[usize; 9]) -> String {
    let cells = row.iter().zip(widths).enumerate().map(|(column, (cell, &width))| {
        if column == 0 { format!("| {cell:<width$} ") } else { format!("| {cell:>width$} ") }
    });
    cells.chain(["|\n".to_owned()]).collect()
}

fn rule(widths: &[usize; 9]) -> String {
    let cells = widths
        .iter()
        .enumerate()
        .map(|(column, &width)| format!("|-{}{}", "-".repeat(width), if column == 0 { '-' } else { ':' }));
    cells.chain(["|\n".to_owned()]).collect()
}

fn cells(row: &Row) -> [String; 9] {
    let ratio = |other: Option<f64>| {
        let ratio = row.ours.zip(other).filter(|(_, other)| *other != 0.0).map(|(ours, other)| ours / other);
        ratio.map_or_else(none, |ratio| format!("{ratio:.3}"))
    };
    let met = match (row.gate_met, row.goal_met) {
        (_, Some(true)) => "goal",
        (Some(true), _) => "gate",
        (Some(false), _) | (None, Some(false)) => "no",
        (None, None) => "–",
    };
    let [ours, rdma_core, floor, gate, goal] =
        [row.ours, row.rdma_core, row.floor, row.gate, row.goal].map(|value| value.map_or_else(none, number));
    [
        row.name.to_owned(),
        ours,
        rdma_core,
        floor,
        ratio(row.rdma_core),
        ratio(row.floor),
        gate,
        goal,
        met.to_owned(),
    ]
}

fn none() -> String {
    "–".to_owned()
}

/// Whole numbers as such, in groups of three; ratios with three digits.
fn number(value: f64) -> String {
    if value.abs() < 100.0 && value.fract() != 0.0 {
        return format!("{value:.3}");
    }
    let digits = format!("{:.0}", value.abs());
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            text.push(' ');
        }
        text.push(digit);
    }
    if value < 0.0 { format!("-{text}") } else { text }
}

/// One line about a row that a test insists on.
pub(super) fn verdict(row: &Row, good: bool) -> String {
    let [ours, rdma_core, gate] =
        [row.ours, row.rdma_core, row.gate].map(|value| value.map_or_else(none, number));
    let word = if good { "ok" } else { "FAILED" };
    format!("test {} ... {word} ({ours}, gate {gate}; rdma-core {rdma_core})\n", row.name)
}

/// Puts the table where the page has room for it.
pub(super) fn write(page: &Path, rows: &[Row], release: &str) -> Result<()> {
    let text = fs::read_to_string(page).map_err(Error::file("cannot read", page))?;
    let measured = format!("\nLinux {release}, rdma-core of Debian trixie.\n\n{}\n", table(rows));
    let text = replace(&text, &measured).ok_or_else(|| {
        Error::Bench(format!("{} has no place for the table: {BEGIN} … {END}", page.display()))
    })?;
    fs::write(page, text).map_err(Error::file("cannot write", page))
}

fn replace(text: &str, measured: &str) -> Option<String> {
    let (before, rest) = text.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n{measured}{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: Row = Row {
        name: "list",
        ours: Some(84_000.0),
        rdma_core: Some(100_000.0),
        floor: None,
        gate: Some(100_000.0),
        goal: Some(83_999.5),
        gate_met: Some(true),
        goal_met: Some(false),
    };

    #[test]
    fn the_table_is_markdown_with_equal_columns() {
        let table = table(&[ROW]);
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!(lines.len(), 3);
        assert!(lines.iter().all(|line| line.chars().count() == lines[0].chars().count()), "{table}");
        assert!(lines[2].starts_with("| list | 84 000 |   100 000 |     – |"), "{table}");
        assert!(lines[2].ends_with("| 100 000 | 84 000 | gate |"), "{table}");
    }

    #[test]
    fn numbers_are_read_at_a_glance() {
        for (value, text) in [
            (0.0, "0"),
            (3.0, "3"),
            (1.0234, "1.023"),
            (999.6, "1 000"),
            (1_234_567.0, "1 234 567"),
            (-4200.0, "-4 200"),
        ] {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn the_table_of_before_is_replaced_and_nothing_else() {
        let page = format!("before\n{BEGIN}\nold\n{END}\nafter\n");
        assert_eq!(replace(&page, "new\n").unwrap(), format!("before\n{BEGIN}\nnew\n{END}\nafter\n"));
        assert_eq!(replace("no place", "new"), None);
    }
}
