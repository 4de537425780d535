//! How a sandbox talks: a live table on a terminal, plain lines elsewhere, JSON for programs.
//! Says what it is told and decides nothing.

use std::collections::BTreeMap;
use std::io::{self, Stdout, Write};
use std::time::Duration;

use clap::ValueEnum;
use sandbox::cloudflare::Cloudflare;
use serde_json::{Value, json};

use super::inventory::{self, Calls};
use super::row::{self, Row};
use super::welcome::Welcome;
use crate::commands::form;
use crate::table::Look;
use crate::terminal::{self, Region, Tone};

/// What a terminal that does not tell its size is taken for.
const SIZE_UNKNOWN: (usize, usize) = (80, 24);

/// Lines of the screen that the live table leaves alone: its own state below it, and the cursor's.
const LINES_KEPT: usize = 3;

/// Objects that are listed once all is done, those that are not Ready first: what one can scroll through.
const OBJECTS_SHOWN: usize = 100;

/// How results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// For people: a live table on a terminal, lines elsewhere
    Text,
    /// For programs: one JSON object a line
    Json,
    /// For programs: the same objects as YAML documents
    Yaml,
}

enum Form {
    Live(Region),
    Lines,
    Json,
    Yaml,
}

/// What became of a world that has come to rest, or has not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    /// Nothing is due any more.
    Settled,
    /// Something is tried again and again, and nothing changes.
    Retrying,
}

/// The voice of one sandbox.
pub(super) struct Reporter {
    form: Form,
    out: Stdout,
    colour: bool,
    known: BTreeMap<(&'static str, String), Row>,
}

impl Reporter {
    /// In the form that standard output can show.
    pub(super) fn new(output: Output) -> Self {
        let out = io::stdout();
        let form = match output {
            Output::Json => Form::Json,
            Output::Yaml => Form::Yaml,
            Output::Text if terminal::can_redraw(&out) => Form::Live(Region::default()),
            Output::Text => Form::Lines,
        };
        let colour = terminal::wants_colour(&out);
        Self { form, out, colour, known: BTreeMap::new() }
    }

    /// True when it shows more than what turned: time passes in a live table.
    pub(super) fn is_live(&self) -> bool {
        matches!(self.form, Form::Live(_))
    }

    /// True when programs read it: facts instead of sentences.
    fn is_for_programs(&self) -> bool {
        matches!(self.form, Form::Json | Form::Yaml)
    }

    /// How to use what is served.
    pub(super) fn welcome(&mut self, welcome: &Welcome) -> io::Result<()> {
        match self.form {
            Form::Json | Form::Yaml => self.event(&welcome.facts()),
            Form::Live(_) | Form::Lines => {
                let text = welcome.text(self.colour);
                writeln!(self.out, "{text}")
            }
        }
    }

    /// Where the objects stand.
    pub(super) fn progress(&mut self, rows: &[Row], calls: Calls, since: Duration) -> io::Result<()> {
        let look = self.look();
        if let Form::Live(region) = &mut self.form {
            let (columns, height) = size();
            let mut lines = row::short_table(rows, height.saturating_sub(LINES_KEPT), look);
            let ready = rows.iter().filter(|row| row.is_ready()).count();
            let state =
                format!("{ready} of {} Ready · {} · {} s", rows.len(), calls.sentence(), since.as_secs());
            let state = terminal::shortened(&state, columns.saturating_sub(1));
            lines.push(Tone::Faint.paint(&state, self.colour));
            return region.draw(&mut self.out, lines, columns);
        }
        for event in self.turned(rows) {
            match event {
                Turned::To(row) if self.is_for_programs() => self.event(&fact("turned", &row))?,
                Turned::Away(row) if self.is_for_programs() => self.event(&fact("gone", &row))?,
                Turned::To(row) => writeln!(self.out, "{}", row.sentence())?,
                Turned::Away(row) => {
                    writeln!(self.out, "{} {}: gone", row.kind, terminal::harmless(&row.key()))?
                }
            }
        }
        self.out.flush()
    }

    fn turned(&mut self, rows: &[Row]) -> Vec<Turned> {
        let now: BTreeMap<_, _> = rows.iter().map(|row| ((row.kind, row.key()), row.clone())).collect();
        let gone = self.known.iter().filter(|(key, _)| !now.contains_key(*key));
        let gone: Vec<_> = gone.map(|(_, row)| Turned::Away(row.clone())).collect();
        let changed = rows.iter().filter(|row| match self.known.get(&(row.kind, row.key())) {
            Some(known) => known != *row,
            // That something has just been created is no news to whoever created it.
            None => !row.is_untouched(),
        });
        let turned = changed.cloned().map(Turned::To).chain(gone).collect();
        self.known = now;
        turned
    }

    /// What all of it came to.
    pub(super) fn rest(&mut self, rest: Rest, rows: &[Row], cloudflare: &Cloudflare) -> io::Result<()> {
        let calls = Calls::of(cloudflare);
        let ready = rows.iter().filter(|row| row.is_ready()).count();
        if self.is_for_programs() {
            let event = if rest == Rest::Settled { "settled" } else { "retrying" };
            return self.event(&json!({
                "event": event,
                "objects": rows.len(),
                "ready": ready,
                "cloudflare": inventory::facts(cloudflare),
                "calls": { "reads": calls.reads, "writes": calls.writes },
            }));
        }
        // What is not drawn again may wrap, and must not lack what people came for.
        let look = Look { columns: None, colour: self.colour };
        if let Form::Live(region) = &mut self.form {
            // The table as it was drawn may lack rows.
            region.draw(&mut self.out, Vec::new(), size().0)?;
            writeln!(self.out, "{}\n", row::short_table(rows, OBJECTS_SHOWN, look).join("\n"))?;
        }
        let heading = match (rest, rows.len()) {
            (Rest::Settled, 0) => "Settled: there is no object.".to_owned(),
            (Rest::Settled, all) => format!("Settled: {ready} of {all} objects are Ready."),
            (Rest::Retrying, all) => {
                format!("{ready} of {all} objects are Ready; the others are tried again.")
            }
        };
        let tone = if ready == rows.len() { Tone::Good } else { Tone::Bad };
        let tables = inventory::tables(cloudflare, look).join("\n");
        writeln!(
            self.out,
            "{}\n\nCloudflare holds now, after {}:\n\n{tables}\n",
            tone.paint(&heading, self.colour),
            calls.sentence()
        )?;
        self.out.flush()
    }

    /// A line in between, for people.
    pub(super) fn remark(&mut self, text: &str) -> io::Result<()> {
        if let Form::Live(region) = &mut self.form {
            region.leave();
        }
        if !self.is_for_programs() {
            writeln!(self.out, "{}", terminal::harmless(text))?;
        }
        self.out.flush()
    }

    fn look(&self) -> Look {
        // The last column stays empty: a full line makes some terminals wrap.
        let columns = matches!(self.form, Form::Live(_)).then(|| size().0.saturating_sub(1));
        Look { columns, colour: self.colour }
    }

    fn event(&mut self, event: &Value) -> io::Result<()> {
        match self.form {
            Form::Yaml => self.out.write_all(form::next_yaml(event).map_err(io::Error::other)?.as_bytes())?,
            _ => writeln!(self.out, "{event}")?,
        }
        self.out.flush()
    }
}

fn size() -> (usize, usize) {
    terminal::size().unwrap_or(SIZE_UNKNOWN)
}

enum Turned {
    To(Row),
    Away(Row),
}

fn fact(event: &str, row: &Row) -> Value {
    json!({
        "event": event,
        "kind": row.kind,
        "namespace": row.namespace,
        "name": row.name,
        "ready": row.ready,
        "reason": row.reason,
        "message": row.message,
        "deleting": row.is_deleting,
    })
}
