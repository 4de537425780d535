//! What others do at Cloudflare: make, edit and delete records and zones, and change what tokens may.

use serde_json::Value;

use super::{Drawing, cast::Record, value};

impl Drawing {
    /// Somebody else makes a record of the kind that a resource wants, or would. It always carries a comment of its own:
    /// a record that is equal in all its fields to one that a create of ours was making at that time cannot be told from
    /// it by anybody, the checkers included.
    pub(super) fn make_record(&mut self) {
        let index = self.any_record();
        let mut record = self.records[index].clone();
        match self.random.below(6) {
            0 => record.version += 1 + self.random.below(3),
            1 => record.kind = self.random.pick(value::COMMON).copied().unwrap_or("A"),
            _ => {}
        }
        let mut fields = "comment=theirs".to_owned();
        if self.random.chance(20) {
            fields.push_str(" ttl=120");
        }
        let value = value::of(record.kind, record.version);
        for field in ["content", "priority", "data"] {
            if let Some(value) = value.get(field) {
                fields.push(' ');
                fields.push_str(&word(field, value));
            }
        }
        self.line(format!("cf create record {} {} {fields}", self.full_name(&record), record.kind));
    }

    /// Somebody edits or deletes what stands at a resource's name.
    pub(super) fn change_record(&mut self) {
        let index = self.any_record();
        let record = self.records[index].clone();
        let Record { kind, .. } = record;
        let name = self.full_name(&record);
        let line = match self.random.below(6) {
            0 => format!("cf set record {name} {kind} ttl=7200"),
            1 => format!("cf set record {name} {kind} comment=edited"),
            2 => {
                let value = value::of(kind, record.version + 20);
                let field = if value.get("data").is_some() { "data" } else { "content" };
                format!("cf set record {name} {kind} {}", word(field, &value[field]))
            }
            3 => format!("cf delete record {name}"),
            _ => format!("cf delete record {name} {kind}"),
        };
        self.line(line);
    }

    pub(super) fn change_zone(&mut self) {
        let zone = self.random.below(self.zones.len());
        let domain = self.zones[zone].domain;
        let line = match self.random.below(8) {
            0 | 1 => format!("cf set zone {domain} status=active"),
            2 => format!("cf set zone {domain} status=moved"),
            3 => format!("cf set zone {domain} plan=pro"),
            4 => format!("cf set zone {domain} plan=free"),
            5 | 6 => format!("cf delete zone {domain}"),
            _ => format!("cf create zone {domain}"),
        };
        self.line(line);
    }

    pub(super) fn change_token(&mut self) {
        const READ: &str = "Account Settings Read,Zone Read,DNS Read";
        const ALL: &str = "Account Settings Read,Zone Edit,DNS Edit,Billing Edit";
        let line = match self.random.below(8) {
            0 => "cf token disabled".to_owned(),
            1 => "cf token expired".to_owned(),
            2 => format!("cf token permissions \"{READ}\""),
            3 => "cf token permissions \"Account Settings Read,Zone Read\"".to_owned(),
            4 | 5 => format!("cf token permissions \"{ALL}\""),
            _ => "cf token active".to_owned(),
        };
        self.line(line);
        if self.random.chance(50) {
            self.time();
            self.line("cf token active");
        }
    }
}

/// `FIELD=VALUE` as one word of a scenario.
fn word(field: &str, value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    format!("\"{field}={}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
