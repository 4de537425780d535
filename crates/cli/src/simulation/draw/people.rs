//! What people do in Kubernetes: edit, annotate, delete, repair, and break by hand what kflare relies on.

use serde_json::json;

use super::cast::secret_manifest;
use super::{Drawing, Group, cast};
use crate::world::{SECRET_NAMESPACE, TOKEN};
use kinds::names;

/// An ID of the right form that nothing has.
const NO_ID: &str = "00000000000000000000000000000000";

impl Drawing {
    /// A record's value or its optional fields change; its manifest is applied, or only what differs is patched.
    pub(super) fn edit(&mut self) {
        let index = self.any_record();
        if self.random.chance(50) {
            self.records[index].version += 1;
        } else {
            let kind = self.records[index].kind;
            let mut fields = self.records[index].fields.clone();
            fields.change_any(&mut self.random, kind);
            self.records[index].fields = fields;
        }
        let record = &self.records[index];
        let line = if self.random.chance(40) {
            format!("apply {}", self.record_manifest(record))
        } else {
            let mut spec = record.fields.patch();
            if let (Some(spec), Some(value)) =
                (spec.as_object_mut(), super::value::of(record.kind, record.version).as_object())
            {
                spec.extend(value.clone());
            }
            format!("patch {} {}", self.record_word(record), json!({ "spec": spec }))
        };
        self.line(line);
        if self.random.chance(10) {
            let (word, at) = (self.any_word(), self.random.below(3));
            self.line(format!("annotate {word} {}={at}", names::RECONCILE_AT));
        }
    }

    /// A record or, now and then, a zone.
    fn any_word(&mut self) -> String {
        if self.random.chance(15) {
            let zone = self.random.below(self.zones.len());
            self.zones[zone].word()
        } else {
            let record = self.any_record();
            self.record_word(&self.records[record])
        }
    }

    pub(super) fn ask_for_adoption(&mut self) {
        let word = self.any_word();
        let policy = names::ADOPTION_POLICY;
        let line = match self.random.below(8) {
            0 | 1 => format!("annotate {word} {policy}=adopt"),
            2 => format!("annotate {word} {policy}=adopt-or-create"),
            3 => format!("annotate {word} {policy}=Adopt"),
            4 => format!("annotate {word} {policy}-"),
            5 => {
                // Its own name or another's, with a record there or without.
                let (record, other) = (self.any_record(), self.any_record());
                let other = &self.records[other];
                let (name, kind) = (self.full_name(other), other.kind);
                format!(
                    "point {} annotation {} {name} {kind}",
                    self.record_word(&self.records[record]),
                    names::ADOPT_ID
                )
            }
            6 => {
                let id = self.random.pick(&[NO_ID, "no-id"]).copied().unwrap_or(NO_ID);
                format!("annotate {word} {}={id}", names::ADOPT_ID)
            }
            _ => format!("annotate {word} {}-", names::ADOPT_ID),
        };
        self.line(line);
    }

    pub(super) fn say_what_stays(&mut self) {
        let word = self.any_word();
        let policy = names::DELETION_POLICY;
        let value = self.random.pick(&["=retain", "=delete", "=keep", "-"]).copied().unwrap_or("-");
        self.line(format!("annotate {word} {policy}{value}"));
    }

    pub(super) fn pause(&mut self) {
        let word = match self.random.below(8) {
            0 => "cloudflareaccount/main".to_owned(),
            _ => self.any_word(),
        };
        let value = self.random.pick(&["=true", "=true", "=yes", "-", "-"]).copied().unwrap_or("-");
        self.line(format!("annotate {word} {}{value}", names::PAUSED));
    }

    pub(super) fn admit_tenants(&mut self) {
        let rules = [
            json!({ "names": ["default"] }),
            json!({ "names": ["default", "apps", "team"] }),
            json!({ "selector": { "matchLabels": { "dns": "yes" } } }),
            json!({ "names": ["apps"], "selector": { "matchExpressions": [{ "key": "dns", "operator": "Exists" }] } }),
            json!(null),
        ];
        let line = if self.random.chance(50) {
            let rule = self.random.pick(&rules).cloned().unwrap_or_default();
            // What an earlier rule said and this one does not has to go: a merge patch keeps it.
            let mut whole = json!({ "names": null, "selector": null });
            match rule.as_object() {
                Some(rule) => whole.as_object_mut().into_iter().for_each(|whole| whole.extend(rule.clone())),
                None => whole = rule,
            }
            format!("patch cloudflareaccount/main {}", json!({ "spec": { "allowedNamespaces": whole } }))
        } else {
            let namespace = self.random.pick(&["default", "apps", "team"]).copied().unwrap_or("apps");
            let label = self.random.pick(&[json!("yes"), json!("no"), json!(null)]).cloned();
            format!("patch namespace/{namespace} {}", json!({ "metadata": { "labels": { "dns": label } } }))
        };
        self.line(line);
    }

    /// What no documentation says one should do.
    pub(super) fn tamper(&mut self) {
        let word = self.any_word();
        let is_zone = word.starts_with("zone/");
        let label = if is_zone { "kflare.dev/zone-id" } else { "kflare.dev/record-id" };
        let line = match self.random.below(8) {
            0 => format!("patch {word} {}", json!({ "metadata": { "labels": { label: null } } })),
            1 => format!("patch {word} {}", json!({ "metadata": { "labels": { label: NO_ID } } })),
            2 if !is_zone => {
                let other = self.any_record();
                let other = &self.records[other];
                format!("point {word} label {label} {} {}", self.full_name(other), other.kind)
            }
            3 if is_zone => {
                format!("patch {word} status {}", json!({ "cloudflareMetadata": null, "conditions": null }))
            }
            3 | 4 => {
                let nothing = json!({ "recordID": null, "conditions": null, "observedGeneration": null, "appliedFields": null });
                format!("patch {word} status {nothing}")
            }
            5 => format!("annotate {word} {}-", names::CREATING),
            6 => format!(
                "annotate {word} {}{}",
                names::ADOPTED,
                self.random.pick(&["=true", "-"]).copied().unwrap_or("-")
            ),
            _ => format!("patch {word} {}", json!({ "metadata": { "finalizers": null } })),
        };
        self.line(line);
    }

    pub(super) fn change_secret(&mut self) {
        let account = self.random.below(self.accounts.len());
        let account = self.accounts[account].clone();
        let third = super::THIRD_TOKEN;
        let (newline, quoted) = (format!("{}\n", account.token), format!("\"{}\"", account.token));
        let entry =
            |value: &str| format!("apply {}", secret_manifest(account.secret, &[(account.key, value)]));
        match self.random.below(8) {
            0 => self.line(entry(&newline)),
            1 => self.line(entry(&quoted)),
            2 => {
                // What a merge patch calls null goes.
                let data = json!({ "data": { account.key: null } });
                self.line(format!("patch secret/{} -n {SECRET_NAMESPACE} {data}", account.secret));
            }
            3 => {
                self.line(format!("cf token issue {third}"));
                self.line(entry(third));
                if self.random.chance(50) && account.token == TOKEN {
                    self.time();
                    self.line("cf token disabled");
                }
            }
            4 => self.line(format!("delete secret/{} -n {SECRET_NAMESPACE}", account.secret)),
            5 => self.line(entry("")),
            _ => self.line(entry(account.token)),
        }
    }

    pub(super) fn delete(&mut self) {
        match self.random.below(12) {
            0 | 1 => {
                let zone = self.random.below(self.zones.len());
                let zone = self.zones[zone].clone();
                self.line(format!("delete {}", zone.word()));
                self.make_again(format!("apply {}", zone.manifest()));
            }
            2 => {
                let namespace = self.random.pick(&["apps", "team"]).copied().unwrap_or("apps");
                self.line(format!("delete namespace/{namespace}"));
                if self.random.chance(70) {
                    self.time();
                    self.line(format!("apply {}", cast::namespace_manifest(namespace)));
                    let manifests = self.manifests();
                    let inside = format!("\"namespace\":\"{namespace}\"");
                    self.lines.extend(manifests.into_iter().filter(|line| line.contains(&inside)));
                }
            }
            3 => {
                let account = self.random.below(self.accounts.len());
                let account = self.accounts[account].clone();
                self.line(format!("delete cloudflareaccount/{}", account.object));
                self.make_again(format!("apply {}", account.manifest()));
            }
            4 if self.has(Group::Tampering) => {
                // By force, as people do when something hangs.
                let word = self.any_word();
                self.line(format!("delete {word}"));
                self.line(format!("patch {word} {}", json!({ "metadata": { "finalizers": null } })));
            }
            _ => {
                let index = self.any_record();
                let record = self.records[index].clone();
                self.line(format!("delete {}", self.record_word(&record)));
                self.make_again(format!("apply {}", self.record_manifest(&record)));
            }
        }
    }

    /// Mostly what is deleted comes back, sooner or later.
    fn make_again(&mut self, line: String) {
        if self.random.chance(60) {
            if self.random.chance(70) {
                self.time();
            }
            self.line(line);
        }
    }
}
