//! What stands in the simulated Cloudflare, as tables and as JSON, and what it took to get there.
//! Reads raw facts of the world; whether they are right is for others.

use std::collections::BTreeMap;

use sandbox::cloudflare::Cloudflare;
use serde_json::{Value, json};

use crate::table::{Cell, Look, lines};
use crate::terminal::Tone;

/// Records that are printed: about a screen; the rest can be had with curl.
const RECORDS_SHOWN: usize = 40;

/// TTL 1 means that Cloudflare chooses.
const TTL_AUTOMATIC: u64 = 1;

/// Calls of the API by reading and writing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Calls {
    pub(super) reads: u64,
    pub(super) writes: u64,
}

impl Calls {
    pub(super) fn of(cloudflare: &Cloudflare) -> Self {
        let (total, writes) = (cloudflare.log().total(), cloudflare.log().writes());
        Self { reads: total.saturating_sub(writes), writes }
    }

    /// `14 Cloudflare API calls (6 reads, 8 writes)`.
    pub(super) fn sentence(self) -> String {
        let count = |n: u64, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
        let total = count(self.reads + self.writes, "Cloudflare API call");
        format!("{total} ({}, {})", count(self.reads, "read"), count(self.writes, "write"))
    }
}

/// Accounts, zones and records as tables.
pub(super) fn tables(cloudflare: &Cloudflare, look: Look) -> Vec<String> {
    let mut text = accounts(cloudflare, look);
    let zones = cloudflare.zones();
    if !zones.is_empty() {
        text.push(String::new());
        text.extend(zone_table(cloudflare, &zones, look));
    }
    let records = cloudflare.records_anywhere();
    if !records.is_empty() {
        text.push(String::new());
        text.extend(record_table(&records, look));
    }
    text
}

fn accounts(cloudflare: &Cloudflare, look: Look) -> Vec<String> {
    let accounts = cloudflare.accounts();
    let rows: Vec<_> =
        accounts.iter().map(|account| [word(account, "/name"), word(account, "/id")]).collect();
    lines(["ACCOUNT", "ID"], &rows, look)
}

fn zone_table(cloudflare: &Cloudflare, zones: &[Value], look: Look) -> Vec<String> {
    let row = |zone: &Value| {
        let id = zone["id"].as_str().unwrap_or_default();
        let records = cloudflare.record_count(id).to_string().into();
        let plan = word(zone, "/plan/legacy_id");
        [word(zone, "/name"), word(zone, "/id"), plan, word(zone, "/status"), records]
    };
    let rows: Vec<_> = zones.iter().map(row).collect();
    lines(["ZONE", "ID", "PLAN", "STATUS", "RECORDS"], &rows, look)
}

fn record_table(records: &[(String, Value)], look: Look) -> Vec<String> {
    let row = |(_, record): &(String, Value)| {
        let ttl = match record["ttl"].as_u64() {
            Some(TTL_AUTOMATIC) => "auto".to_owned(),
            Some(seconds) => seconds.to_string(),
            None => String::new(),
        };
        let proxied = if record["proxied"] == true { "yes" } else { "no" };
        // Of MX, SRV and URI, whose content lacks it.
        let priority = record["priority"].as_u64().map(|priority| format!("{priority} ")).unwrap_or_default();
        let content = format!("{priority}{}", record["content"].as_str().unwrap_or_default());
        [word(record, "/name"), word(record, "/type"), ttl.into(), proxied.into(), content.into()]
    };
    let rows: Vec<_> = records.iter().take(RECORDS_SHOWN).map(row).collect();
    let mut text = lines(["RECORD", "TYPE", "TTL", "PROXIED", "CONTENT"], &rows, look);
    if let Some(more) = records.len().checked_sub(RECORDS_SHOWN).filter(|more| *more > 0) {
        text.push(Tone::Faint.paint(&format!("and {more} more"), look.colour));
    }
    text
}

fn word(object: &Value, pointer: &str) -> Cell {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default().into()
}

/// All of it for programs, records below their zones.
pub(super) fn facts(cloudflare: &Cloudflare) -> Value {
    let mut records: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    let zones = cloudflare.zones();
    for zone in &zones {
        let id = zone["id"].as_str().unwrap_or_default();
        records.insert(id.to_owned(), cloudflare.records(id));
    }
    json!({ "accounts": cloudflare.accounts(), "zones": zones, "records": records })
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn calls_are_counted_in_words() {
        assert_eq!(Calls { reads: 6, writes: 8 }.sentence(), "14 Cloudflare API calls (6 reads, 8 writes)");
        assert_eq!(Calls { reads: 1, writes: 0 }.sentence(), "1 Cloudflare API call (1 read, 0 writes)");
    }

    #[test]
    fn names_of_others_steer_no_terminal() {
        let hostile = "a\u{1b}[2J\u{1b}]0;title\u{7}\r\nb\0\u{202e}c\u{2028}\u{9b}1m";
        let clock = sandbox::clock::Clock::starting_at("2026-11-01T00:00:00Z".parse().unwrap());
        let cloudflare = Cloudflare::new(clock, 1);
        cloudflare.add_account("0123456789abcdef0123456789abcdef", hostile);
        cloudflare.add_zone("0123456789abcdef0123456789abcdef", hostile, sandbox::cloudflare::Plan::Free);
        let record = json!({ "name": hostile, "type": hostile, "ttl": 1, "content": hostile });
        let records = [(hostile.to_owned(), record)];
        for columns in [None, Some(20), Some(80)] {
            let look = Look { columns, ..Look::default() };
            let mut shown = tables(&cloudflare, look);
            shown.extend(record_table(&records, look));
            // A heading and a row of each table, and an empty line between two of them.
            assert_eq!(shown.len(), 7, "{shown:#?}");
            let steered = shown.iter().find(|line| line.contains(crate::terminal::steers));
            assert_eq!(steered, None, "{columns:?}");
        }
    }

    #[test]
    fn records_look_as_people_know_them() {
        let record = |record: Value| ("example.com".to_owned(), record);
        let mut records = vec![
            record(
                json!({ "name": "example.com", "type": "MX", "ttl": 3600, "priority": 10, "content": "mail.example.com" }),
            ),
            record(
                json!({ "name": "www.example.com", "type": "A", "ttl": 1, "proxied": true, "content": "192.0.2.10" }),
            ),
        ];
        let look = Look::default();
        expect![[r#"
            RECORD           TYPE  TTL   PROXIED  CONTENT
            example.com      MX    3600  no       10 mail.example.com
            www.example.com  A     auto  yes      192.0.2.10"#]]
        .assert_eq(&record_table(&records, look).join("\n"));
        records.extend((0..RECORDS_SHOWN).map(|n| record(json!({ "name": n.to_string() }))));
        assert_eq!(record_table(&records, look).last().map(String::as_str), Some("and 2 more"));
    }
}
