//! One line for each object: what it is and whether it is Ready. Reads the simulated Kubernetes, decides nothing.

use kinds::Resource;
use serde_json::Value;

use crate::table::{Cell, Look, least, lines};
use crate::terminal::{Tone, harmless};
use crate::world::World;

/// What stands in the place of a condition that nobody has written yet.
const NOT_LOOKED_AT: &str = "";

const HEADING: [&str; 5] = ["KIND", "NAME", "READY", "REASON", "MESSAGE"];

/// An object and its Ready condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) kind: &'static str,
    /// Empty for cluster-scoped objects.
    pub(super) namespace: String,
    pub(super) name: String,
    /// `True`, `False`, `Unknown`, or empty.
    pub(super) ready: String,
    pub(super) reason: String,
    pub(super) message: String,
    pub(super) is_deleting: bool,
}

impl Row {
    fn new(kind: &'static str, object: &Value) -> Self {
        let resource: Resource = serde_json::from_value(object.clone()).unwrap_or_default();
        let word = |field: &str| {
            let value =
                resource.condition().and_then(|condition| condition.get(field)).and_then(Value::as_str);
            value.unwrap_or(NOT_LOOKED_AT).to_owned()
        };
        Self {
            kind,
            namespace: resource.metadata.namespace.clone(),
            name: resource.metadata.name.clone(),
            ready: word("status"),
            reason: word("reason"),
            message: word("message"),
            is_deleting: resource.is_deleting(),
        }
    }

    pub(super) fn is_ready(&self) -> bool {
        self.ready == "True" && !self.is_deleting
    }

    /// Nobody has looked at it yet.
    pub(super) fn is_untouched(&self) -> bool {
        self.ready.is_empty() && !self.is_deleting
    }

    /// `namespace/name`, or the name alone.
    pub(super) fn key(&self) -> String {
        if self.namespace.is_empty() {
            self.name.clone()
        } else {
            format!("{}/{}", self.namespace, self.name)
        }
    }

    /// `Kind namespace/name: Ready=False Reason: message`.
    pub(super) fn sentence(&self) -> String {
        let mut sentence = format!("{} {}: {}", self.kind, self.key(), self.state());
        if !self.message.is_empty() {
            sentence.push_str(": ");
            sentence.push_str(&self.message);
        }
        harmless(&sentence).into_owned()
    }

    fn state(&self) -> String {
        let deleting = if self.is_deleting { ", being deleted" } else { "" };
        if self.ready.is_empty() {
            return format!("not looked at yet{deleting}");
        }
        format!("Ready={} {}{deleting}", self.ready, self.reason)
    }

    /// The key where it is narrow: the name tells more than the namespace.
    fn brief_key(&self) -> String {
        if self.namespace.is_empty() { self.name.clone() } else { format!("…/{}", self.name) }
    }

    fn cells(&self, key: String) -> [Cell; 5] {
        let tone = match self.ready.as_str() {
            "True" => Tone::Good,
            "False" => Tone::Bad,
            _ => Tone::Unsure,
        };
        let ready = if self.ready.is_empty() { "-" } else { self.ready.as_str() };
        let reason =
            if self.is_deleting { format!("{} (deleting)", self.reason) } else { self.reason.clone() };
        [self.kind.into(), key.into(), Cell::new(ready, tone), reason.into(), self.message.as_str().into()]
    }
}

/// Every object of our kinds, parents before children.
pub(super) fn all(world: &World) -> Vec<Row> {
    world.resources().iter().map(|(kind, object)| Row::new(kind, object)).collect()
}

/// The rows as a table. What there is no room for is taken from messages first, then from namespaces.
pub(super) fn table(rows: &[Row], look: Look) -> Vec<String> {
    let whole: Vec<_> = rows.iter().map(|row| row.cells(row.key())).collect();
    if look.columns.is_none_or(|columns| least(HEADING, &whole) <= columns) {
        return lines(HEADING, &whole, look);
    }
    let brief: Vec<_> = rows.iter().map(|row| row.cells(row.brief_key())).collect();
    lines(HEADING, &brief, look)
}

/// A table of at most so many lines: when not all rows fit, those that are not Ready come first.
pub(super) fn short_table(rows: &[Row], most: usize, look: Look) -> Vec<String> {
    let room = most.saturating_sub(1);
    if rows.len() <= room {
        return table(rows, look);
    }
    let mut sorted: Vec<Row> = rows.to_vec();
    sorted.sort_by_key(Row::is_ready);
    let shown = room.saturating_sub(1);
    let rest = sorted.split_off(shown.min(sorted.len()));
    let ready = rest.iter().filter(|row| row.is_ready()).count();
    let mut lines = table(&sorted, look);
    lines.push(Tone::Faint.paint(&format!("and {} more, {ready} of them Ready", rest.len()), look.colour));
    lines
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::json;

    use super::*;

    fn row(name: &str, ready: &str, reason: &str, message: &str) -> Row {
        let mut object = json!({ "metadata": { "name": name, "namespace": "default" } });
        if !ready.is_empty() {
            let condition = json!({ "type": "Ready", "status": ready, "reason": reason, "message": message });
            object["status"] = json!({ "conditions": [condition] });
        }
        Row::new("DNSRecord", &object)
    }

    #[test]
    fn a_row_is_a_sentence() {
        assert_eq!(row("a", "", "", "").sentence(), "DNSRecord default/a: not looked at yet");
        assert_eq!(row("a", "True", "Synced", "").sentence(), "DNSRecord default/a: Ready=True Synced");
        let held = row("a", "False", "ZoneNotFound", "there is\nno Zone \u{1b}[2J");
        assert_eq!(
            held.sentence(),
            "DNSRecord default/a: Ready=False ZoneNotFound: there is no Zone \\u{1b}[2J"
        );
    }

    #[test]
    fn the_namespace_gives_way_after_the_message_and_before_the_name() {
        let rows = [row("www-of-the-shop", "False", "ZoneNotReady", "the Zone is not Ready")];
        let shown = |columns| table(&rows, Look { columns, colour: false }).remove(1);
        assert_eq!(
            shown(None),
            "DNSRecord  default/www-of-the-shop  False  ZoneNotReady  the Zone is not Ready"
        );
        assert_eq!(shown(Some(70)), "DNSRecord  default/www-of-the-shop  False  ZoneNotReady  the Zone is …");
        assert_eq!(shown(Some(63)), "DNSRecord  …/www-of-the-shop  False  ZoneNotReady  the Zone is…");
    }

    #[test]
    fn what_is_not_ready_is_never_cut_first() {
        let mut rows: Vec<Row> = (0..8).map(|n| row(&format!("r{n}"), "True", "Synced", "")).collect();
        rows.push(row("late", "False", "ZoneNotReady", "the Zone is not Ready"));
        let look = Look { columns: Some(60), colour: false };
        expect![[r#"
            KIND       NAME          READY  REASON        MESSAGE
            DNSRecord  default/late  False  ZoneNotReady  the Zone is n…
            DNSRecord  default/r0    True   Synced
            and 7 more, 7 of them Ready"#]]
        .assert_eq(&short_table(&rows, 4, look).join("\n"));
        assert_eq!(short_table(&rows, 10, look).len(), 10);
    }
}
