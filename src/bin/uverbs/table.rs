//! Columns that line up.

use std::fmt;

/// Rows of cells, printed with every column as wide as its widest cell and two spaces between columns.
pub(crate) struct Table<const COLUMNS: usize> {
    indent: usize,
    rows: Vec<[String; COLUMNS]>,
}

impl<const COLUMNS: usize> Table<COLUMNS> {
    /// A table without a head, each line `indent` spaces in.
    pub(crate) fn new(indent: usize) -> Self {
        Self { indent, rows: Vec::new() }
    }

    /// A table that begins with the names of its columns.
    pub(crate) fn with_head(head: [&str; COLUMNS]) -> Self {
        Self { indent: 0, rows: vec![head.map(str::to_owned)] }
    }

    pub(crate) fn row(&mut self, cells: [String; COLUMNS]) {
        self.rows.push(cells);
    }
}

impl<const COLUMNS: usize> fmt::Display for Table<COLUMNS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut widths = [0; COLUMNS];
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        for row in &self.rows {
            let cells = widths.iter().zip(row).map(|(&width, cell)| format!("{cell:<width$}"));
            let line = cells.collect::<Vec<_>>().join("  ");
            writeln!(f, "{:indent$}{}", "", line.trim_end(), indent = self.indent)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_lines_have_no_trailing_space() {
        let mut table = Table::with_head(["device", "node"]);
        table.row(["mlx5_10".into(), "/dev/x".into()]);
        table.row(["é".into(), String::new()]);
        assert_eq!(table.to_string(), "device   node\nmlx5_10  /dev/x\né\n");
        let mut fields = Table::new(2);
        fields.row(["a".into(), "b".into()]);
        assert_eq!(fields.to_string(), "  a  b\n");
    }
}
