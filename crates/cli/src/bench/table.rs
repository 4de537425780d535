//! What a bench prints: targets and the curve, for people and for programs. What is measured is `rows` and `work`. A row
//! that is LATE, on either API server, is shown and does not fail the run: nothing that the clock on the wall says may
//! decide whether a change lands. Calls, writes and memory do not depend on how busy the machine is, and fail it.

use std::fmt;

use serde_json::{Value, json};

use super::work::{Sample, Work};

/// One measured target.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// What it is called in a selection.
    pub(super) name: &'static str,
    /// What was done.
    pub(super) what: String,
    /// Calls and writes.
    pub(super) counts: String,
    /// Time and memory.
    pub(super) cost: String,
    /// What the design asks for.
    pub(super) target: String,
    /// Whether calls, writes and memory are within it.
    pub(super) met: bool,
    /// Whether the time is. On a busy machine it may not be, and that is no bug: it is shown, and fails nothing.
    pub(super) in_time: bool,
}

/// All that was measured on one API server.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// The API server.
    pub(super) server: String,
    /// In the order of the design.
    pub(super) rows: Vec<Row>,
    /// By kind of work, then by number of records.
    pub(super) curve: Vec<Sample>,
}

/// The heading of the curve: `cf` is Cloudflare, `k8s` Kubernetes.
const CURVE: [&str; 10] = [
    "work",
    "records",
    "cf writes",
    "cf reads",
    "k8s writes",
    "k8s reads",
    "Events",
    "CPU s",
    "peak MiB",
    "seconds",
];

impl Table {
    /// True when every target was met but those for times.
    #[must_use]
    pub fn all_met(&self) -> bool {
        self.rows.iter().all(|row| row.met) && self.curve.iter().all(is_quiet_when_idle)
    }

    /// The same for programs.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let rows = self.rows.iter().map(|row| {
            let Row { name, what, counts, cost, target, met, in_time } = row;
            json!({
                "row": name, "what": what, "counts": counts, "cost": cost, "target": target, "met": met,
                "inTime": in_time,
            })
        });
        let curve = self.curve.iter().map(|sample| {
            let Sample { work, records, counts, usage, took } = sample;
            json!({
                "work": work.name(), "records": records,
                "cloudflare": { "writes": counts.writes, "reads": counts.reads },
                "kubernetes": {
                    "writes": counts.kubernetes_writes, "reads": counts.kubernetes_reads, "events": counts.events,
                },
                "cpuSeconds": usage.map(|usage| usage.cpu.as_secs_f64()),
                "peakKiB": usage.map(|usage| usage.peak),
                "seconds": took.as_secs_f64(),
            })
        });
        json!({ "server": self.server, "targets": rows.collect::<Vec<_>>(), "curve": curve.collect::<Vec<_>>() })
    }

    fn write_rows(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in &self.rows {
            let Row { what, counts, cost, target, .. } = row;
            let verdict = match (row.met, row.in_time) {
                (true, true) => "met",
                (true, false) => "LATE",
                (false, _) => "MISSED",
            };
            let measured = [counts.as_str(), cost].into_iter().filter(|cell| !cell.is_empty());
            writeln!(f, "{verdict:6}  {what}")?;
            writeln!(f, "          {}", measured.collect::<Vec<_>>().join("; "))?;
            writeln!(f, "          target: {target}")?;
        }
        Ok(())
    }

    fn write_curve(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.curve.is_empty() {
            return Ok(());
        }
        writeln!(f, "\nEach kind of work as a curve; `cf` is Cloudflare, `k8s` Kubernetes.")?;
        let heading = CURVE.map(str::to_owned);
        let cells: Vec<_> = std::iter::once(heading).chain(self.curve.iter().map(cells)).collect();
        let mut widths = [0; CURVE.len()];
        for line in &cells {
            for (width, cell) in widths.iter_mut().zip(line) {
                *width = (*width).max(cell.len());
            }
        }
        for line in &cells {
            let [work, numbers @ ..] = line;
            write!(f, "{work:0$}", widths[0])?;
            for (cell, width) in numbers.iter().zip(&widths[1..]) {
                write!(f, "  {cell:>width$}")?;
            }
            writeln!(f)?;
        }
        for sample in self.curve.iter().filter(|sample| !is_quiet_when_idle(sample)) {
            let (work, writes) = (sample.work.name(), sample.counts.all_writes());
            writeln!(f, "MISSED  {work} of {} records: {writes} writes instead of none", sample.records)?;
        }
        Ok(())
    }
}

/// What is in order causes no write, however much of it there is.
fn is_quiet_when_idle(sample: &Sample) -> bool {
    !matches!(sample.work, Work::Restart | Work::Sweep) || sample.counts.all_writes() == 0
}

fn cells(sample: &Sample) -> [String; CURVE.len()] {
    let Sample { work, records, counts, usage, took } = sample;
    let [cpu, peak] = usage.map_or_else(
        || [(); 2].map(|()| "-".to_owned()),
        |usage| [format!("{:.2}", usage.cpu.as_secs_f64()), usage.peak.div_ceil(1024).to_string()],
    );
    [
        work.name().to_owned(),
        records.to_string(),
        counts.writes.to_string(),
        counts.reads.to_string(),
        counts.kubernetes_writes.to_string(),
        counts.kubernetes_reads.to_string(),
        counts.events.to_string(),
        cpu,
        peak,
        format!("{:.2}", took.as_secs_f64()),
    ]
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "beside {}:", self.server)?;
        self.write_rows(f)?;
        self.write_curve(f)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use expect_test::expect;

    use super::super::counts::Counts;
    use super::*;
    use crate::usage::Usage;

    fn row(met: bool, in_time: bool) -> Row {
        Row {
            name: "w",
            what: "work".into(),
            counts: "1 call".into(),
            cost: "2 s".into(),
            target: "<= 1 s".into(),
            met,
            in_time,
        }
    }

    fn sample(work: Work, records: usize, counts: Counts) -> Sample {
        let usage = Usage { cpu: Duration::from_millis(1_250), peak: 40_000, now: 30_000 };
        Sample { work, records, counts, usage: Some(usage), took: Duration::from_millis(2_345) }
    }

    #[test]
    fn a_missed_target_shows_and_fails_and_a_late_one_shows() {
        let table =
            Table { server: "x".into(), rows: vec![row(true, true), row(true, false)], curve: vec![] };
        assert!(table.all_met());
        expect![[r#"
            beside x:
            met     work
                      1 call; 2 s
                      target: <= 1 s
            LATE    work
                      1 call; 2 s
                      target: <= 1 s
        "#]]
        .assert_eq(&table.to_string());
        let table = Table { rows: vec![row(false, true)], ..table };
        assert!(!table.all_met() && table.to_string().contains("MISSED  work"));
    }

    #[test]
    fn the_curve_fits_a_terminal_and_writes_of_what_is_in_order_are_missed_targets() {
        let counts = Counts { kubernetes_writes: 30_000, events: 10_000, writes: 3, ..Counts::default() };
        let created = sample(Work::Create, 10_000, counts);
        let table = Table { server: "x".into(), rows: vec![], curve: vec![created] };
        assert!(table.all_met());
        assert!(table.to_string().lines().all(|line| line.len() <= 100), "{table}");
        // The status that a sweep writes is no write to Cloudflare, and one too many.
        let status = Counts { kubernetes_writes: 1, ..Counts::default() };
        let table = Table { curve: vec![sample(Work::Sweep, 100, status)], ..table };
        assert!(!table.all_met());
        assert!(
            table.to_string().ends_with("MISSED  idle sweep of 100 records: 1 writes instead of none\n"),
            "{table}"
        );
    }
}
