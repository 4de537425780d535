//! The table that a bench prints.

use std::fmt;

/// One measured target.
#[derive(Clone, Debug)]
pub struct Row {
    /// What was done.
    pub what: String,
    /// Calls and writes.
    pub counts: String,
    /// Time and memory.
    pub cost: String,
    /// What the design asks for; empty where it asks for nothing that a sandbox can show.
    pub target: String,
    /// Whether calls, writes and memory are within it.
    pub met: bool,
    /// Whether the time is. On a busy machine it may not be, and that is no bug: it is shown, and fails nothing.
    pub in_time: bool,
}

/// All measured targets.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// In the order of the design.
    pub rows: Vec<Row>,
}

impl Table {
    /// True when every target was met but those for times.
    #[must_use]
    pub fn all_met(&self) -> bool {
        self.rows.iter().all(|row| row.met)
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let header = Row {
            what: "what".to_owned(),
            counts: "calls and writes".to_owned(),
            cost: "time, memory".to_owned(),
            target: "target".to_owned(),
            met: true,
            in_time: true,
        };
        let rows: Vec<&Row> = std::iter::once(&header).chain(&self.rows).collect();
        let width =
            |cell: fn(&Row) -> &str| rows.iter().map(|row| cell(row).chars().count()).max().unwrap_or(0);
        let (what, counts) = (width(|row| &row.what), width(|row| &row.counts));
        let (cost, target) = (width(|row| &row.cost), width(|row| &row.target));
        for (index, row) in rows.iter().enumerate() {
            let verdict = match (row.met, row.in_time) {
                _ if index == 0 || row.target.is_empty() => "",
                (true, true) => "met",
                (true, false) => "LATE",
                (false, _) => "MISSED",
            };
            let Row { what: a, counts: b, cost: c, target: d, .. } = row;
            let line = format!("{a:what$}  {b:counts$}  {c:cost$}  {d:target$}  {verdict}");
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missed_target_shows() {
        let row = |met| Row {
            what: "w".into(),
            counts: "1 call".into(),
            cost: "2 s".into(),
            target: "<= 1 s".into(),
            met,
            in_time: true,
        };
        let table = Table { rows: vec![row(true), row(false)] };
        assert!(!table.all_met());
        assert_eq!(
            table.to_string(),
            "what  calls and writes  time, memory  target\n\
             w     1 call            2 s           <= 1 s  met\n\
             w     1 call            2 s           <= 1 s  MISSED\n"
        );
    }
}
