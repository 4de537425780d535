//! Sequences drawn from a seed: a few requests on a few objects, of all verbs, some of them stale, malformed or refused.
//! The same seed draws the same sequences. Leaves what they are for to those that fail.

use serde_json::{Value, json};

use super::sequence::{Sequence, Step};
use super::subjects::{KINDS, Kind};

/// Requests of a sequence.
const STEPS: std::ops::RangeInclusive<usize> = 5..=12;

/// A source of numbers that depends on its seed alone (SplitMix64).
#[derive(Clone, Debug)]
struct Lots(u64);

impl Lots {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        let limit = u64::try_from(limit.max(1)).unwrap_or(1);
        usize::try_from(self.next() % limit).unwrap_or_default()
    }

    fn one_in(&mut self, of: usize) -> bool {
        self.below(of) == 0
    }

    fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

/// `count` sequences.
pub(crate) fn sequences(seed: u64, count: usize) -> Vec<Sequence> {
    (0..count)
        .map(|index| {
            let own = u64::try_from(index).unwrap_or_default().wrapping_mul(0x2545_f491_4f6c_dd1d);
            let mut lots = Lots(seed ^ own);
            lots.next();
            Drawing::new(lots).sequence(format!("drawn {seed}-{index}"))
        })
        .collect()
}

const NAMES: &[&str] = &["a", "b", "c"];

struct Drawing {
    lots: Lots,
    steps: Vec<Step>,
    /// The numbers of requests that may have shown an object, by plural and name.
    shown: Vec<(&'static str, &'static str, usize)>,
    kinds: Vec<&'static Kind>,
    /// Dependents are drawn: whatever may set the collector to work is waited for.
    owners: bool,
}

impl Drawing {
    fn new(mut lots: Lots) -> Self {
        let first = lots.pick(KINDS);
        let mut kinds = vec![first];
        if lots.one_in(2) {
            kinds.push(lots.pick(KINDS));
        }
        let owners = lots.one_in(3);
        Self { lots, steps: Vec::new(), shown: Vec::new(), kinds, owners }
    }

    fn sequence(mut self, name: String) -> Sequence {
        let count = STEPS.start() + self.lots.below(STEPS.end() - STEPS.start() + 1);
        self.create();
        while self.steps.len() < count {
            match self.lots.below(20) {
                0..=3 => self.create(),
                4..=5 => self.replace(),
                6..=9 => self.patch(),
                10..=11 => self.apply(),
                12..=13 => self.status(),
                14..=15 => self.delete(),
                16 => self.delete_collection(),
                17 => self.get(),
                18 => self.list(),
                _ => self.watch(),
            }
        }
        Sequence { name, requests: self.steps }
    }

    fn push(&mut self, step: Step) -> usize {
        self.steps.push(step);
        self.steps.len()
    }

    fn kind(&mut self) -> &'static Kind {
        let kinds = self.kinds.clone();
        kinds[self.lots.below(kinds.len())]
    }

    /// A request that showed such an object, if any.
    fn reference(&mut self, plural: &str, name: &str) -> Option<usize> {
        let fitting: Vec<usize> = self
            .shown
            .iter()
            .filter(|(of, called, _)| *of == plural && *called == name)
            .map(|(_, _, at)| *at)
            .collect();
        // Mostly the last one; sometimes one that is stale by now.
        let last = fitting.last().copied()?;
        Some(if self.lots.one_in(3) { *self.lots.pick(&fitting) } else { last })
    }

    fn metadata(&mut self, name: &str) -> Value {
        let mut metadata = json!({ "name": name });
        if self.lots.one_in(3) {
            metadata["labels"] = json!({ "app": *self.lots.pick(&["x", "y"]) });
        }
        if self.lots.one_in(4) {
            metadata["finalizers"] = json!(["example.com/hold"]);
        }
        if self.lots.one_in(8) {
            metadata["annotations"] = json!({ "note": "n" });
        }
        if self.owners && self.lots.one_in(2) {
            metadata["ownerReferences"] = json!([self.owner()]);
        }
        metadata
    }

    /// A reference to an object that was shown, or to nobody.
    fn owner(&mut self) -> Value {
        let kind = self.kind();
        let name = *self.lots.pick(NAMES);
        let uid = match self.reference(kind.plural, name) {
            Some(at) => format!("{{{at}/metadata/uid}}"),
            None => "00000000-0000-4000-8000-000000000001".to_owned(),
        };
        let mut owner = json!({ "apiVersion": kind.api, "kind": kind.kind, "name": name, "uid": uid });
        if self.lots.one_in(2) {
            owner["blockOwnerDeletion"] = json!(true);
        }
        if self.lots.one_in(4) {
            owner["controller"] = json!(true);
        }
        owner
    }

    /// Waits for what the collector does.
    fn settle(&mut self) {
        if !self.owners {
            return;
        }
        let mut plurals: Vec<&str> = self.kinds.iter().map(|kind| kind.plural).collect();
        plurals.dedup();
        for plural in plurals {
            self.push(Step { ask: format!("GET {plural}"), eventually: true, ..Step::default() });
        }
    }

    fn options(&mut self) -> String {
        let mut options = Vec::new();
        if self.lots.one_in(10) {
            options.push("dryRun=All");
        }
        if self.lots.one_in(6) {
            options.push(*self.lots.pick(&["fieldValidation=Strict", "fieldValidation=Ignore"]));
        }
        if options.is_empty() { String::new() } else { format!("?{}", options.join("&")) }
    }

    fn create(&mut self) {
        let kind = self.kind();
        let name = *self.lots.pick(NAMES);
        let mut body = self.lots.pick(&(kind.bodies)()).clone();
        body["metadata"] = self.metadata(name);
        if self.lots.one_in(12) {
            body["status"] = json!({ "observedGeneration": 3 });
        }
        let options = self.options();
        let at = self.push(step("POST", kind.plural, &options, body));
        self.shown.push((kind.plural, name, at));
        self.settle();
    }

    fn replace(&mut self) {
        let kind = self.kind();
        let name = *self.lots.pick(NAMES);
        let mut body = self.lots.pick(&(kind.bodies)()).clone();
        body["metadata"] = self.metadata(name);
        let known = self.reference(kind.plural, name);
        if let Some(at) = known.filter(|_| !self.lots.one_in(6)) {
            body["metadata"]["resourceVersion"] = json!(format!("{{{at}/metadata/resourceVersion}}"));
        }
        if let Some(at) = known.filter(|_| self.lots.one_in(4)) {
            body["metadata"]["uid"] = json!(format!("{{{at}/metadata/uid}}"));
        }
        let options = self.options();
        let at = self.push(step("PUT", &format!("{}/{name}", kind.plural), &options, body));
        self.shown.push((kind.plural, name, at));
        self.settle();
    }

    fn patch(&mut self) {
        let kind = self.kind();
        let name = *self.lots.pick(NAMES);
        let choices: &[&str] =
            if kind.is_built_in { &["merge", "json", "strategic"] } else { &["merge", "json"] };
        let media = *self.lots.pick(choices);
        let body = if media == "json" { self.operations(kind) } else { self.edit(kind, name) };
        let options = self.options();
        let ask = format!("{}/{name}", kind.plural);
        let patch = Step { media: Some(media.to_owned()), ..step("PATCH", &ask, &options, body) };
        let at = self.push(patch);
        self.shown.push((kind.plural, name, at));
        self.settle();
    }

    /// A server-side apply, by one of two managers, of which one forces what it wants.
    fn apply(&mut self) {
        let kind = self.kind();
        let name = *self.lots.pick(NAMES);
        let body = if self.lots.one_in(2) { (kind.bodies)() } else { (kind.edits)() };
        let mut body = self.lots.pick(&body).clone();
        body["metadata"] = self.metadata(name);
        body["apiVersion"] = json!(kind.api);
        body["kind"] = json!(kind.kind);
        let manager = *self.lots.pick(&["one", "two&force=true", "two", "one&dryRun=All"]);
        let part = if kind.has_status && self.lots.one_in(5) { "/status" } else { "" };
        if !part.is_empty() {
            body["status"] = json!({ "observedGeneration": 1 });
        }
        let ask = format!("{}/{name}{part}?fieldManager={manager}", kind.plural);
        let apply = Step { media: Some("apply".to_owned()), ..step("PATCH", &ask, "", body) };
        let at = self.push(apply);
        self.shown.push((kind.plural, name, at));
        self.settle();
    }

    fn edit(&mut self, kind: &Kind, name: &str) -> Value {
        match self.lots.below(10) {
            0 => json!({ "metadata": { "labels": { "app": "y", "tier": null } } }),
            1 => json!({ "metadata": { "labels": { "not a label": "x" } } }),
            2 => json!({ "metadata": { "finalizers": null } }),
            3 => json!({ "metadata": { "finalizers": ["example.com/hold", "example.com/other"] } }),
            4 => match self.reference(kind.plural, name) {
                Some(at) => json!({ "metadata": {
                    "resourceVersion": format!("{{{at}/metadata/resourceVersion}}"), "annotations": { "note": "m" },
                }}),
                None => json!({ "metadata": { "resourceVersion": "1" } }),
            },
            5 if self.owners => json!({ "metadata": { "ownerReferences": [self.owner()] } }),
            _ => self.lots.pick(&(kind.edits)()).clone(),
        }
    }

    fn operations(&mut self, kind: &Kind) -> Value {
        let mut operations = Vec::new();
        for _ in 0..=self.lots.below(2) {
            let value = self.lots.pick(&(kind.edits)()).clone();
            let (field, below) = value.as_object().and_then(|fields| fields.iter().next()).map_or_else(
                || ("spec".to_owned(), json!({})),
                |(field, below)| (field.clone(), below.clone()),
            );
            let operation = match self.lots.below(7) {
                0 => json!({ "op": "remove", "path": format!("/{field}") }),
                1 => json!({ "op": "test", "path": "/metadata/name", "value": *self.lots.pick(NAMES) }),
                2 => json!({ "op": "add", "path": "/metadata/labels", "value": { "app": "x" } }),
                3 => json!({ "op": "remove", "path": "/metadata/finalizers" }),
                4 => json!({ "op": "copy", "from": format!("/{field}"), "path": "/metadata/annotations" }),
                _ => match below.as_object().and_then(|below| below.iter().next()) {
                    Some((key, value)) => json!({
                        "op": *self.lots.pick(&["add", "replace"]), "path": format!("/{field}/{key}"), "value": value,
                    }),
                    None => json!({ "op": "replace", "path": format!("/{field}"), "value": below }),
                },
            };
            operations.push(operation);
        }
        Value::Array(operations)
    }

    fn status(&mut self) {
        let kind = self.kind();
        let name = *self.lots.pick(NAMES);
        let statuses = [
            json!({ "observedGeneration": 1 }),
            json!({ "observedGeneration": "1" }),
            json!({ "conditions": [{ "type": "Ready", "status": "True", "reason": "Fine", "message": "",
                "lastTransitionTime": "2026-01-02T03:04:05Z" }] }),
            json!({ "conditions": [{ "type": "Ready" }] }),
            json!({ "unknown": true }),
            json!({}),
        ];
        let status = self.lots.pick(&statuses).clone();
        let mut body = json!({ "status": status, "spec": { "plan": "pro" } });
        let ask = format!("{}/{name}/status", kind.plural);
        if !kind.has_status || self.lots.one_in(2) {
            self.push(Step { media: Some("merge".to_owned()), ..step("PATCH", &ask, "", body) });
            return;
        }
        body["metadata"] = json!({ "name": name });
        if let Some(at) = self.reference(kind.plural, name) {
            body["metadata"]["resourceVersion"] = json!(format!("{{{at}/metadata/resourceVersion}}"));
        }
        let at = self.push(step("PUT", &ask, "", body));
        self.shown.push((kind.plural, name, at));
    }

    fn delete(&mut self) {
        let kind = self.kind();
        let name = *self.lots.pick(NAMES);
        let mut body = json!({ "apiVersion": "v1", "kind": "DeleteOptions" });
        if let Some(at) = self.reference(kind.plural, name) {
            match self.lots.below(6) {
                0 => body["preconditions"] = json!({ "uid": format!("{{{at}/metadata/uid}}") }),
                1 => {
                    body["preconditions"] =
                        json!({ "resourceVersion": format!("{{{at}/metadata/resourceVersion}}") });
                }
                _ => {}
            }
        }
        if self.lots.one_in(2) {
            body["propagationPolicy"] = json!(*self.lots.pick(&["Foreground", "Background", "Orphan"]));
        }
        if self.lots.one_in(10) {
            body["dryRun"] = json!(["All"]);
        }
        // Foreground and orphan deletions are the collector's, whether there are dependents or not.
        self.push(step("DELETE", &format!("{}/{name}", kind.plural), "", body));
        let before = self.owners;
        self.owners = true;
        self.settle();
        self.owners = before;
    }

    fn delete_collection(&mut self) {
        let kind = self.kind();
        let selector = *self.lots.pick(&["?labelSelector=app%3Dx", "?labelSelector=!app", ""]);
        self.push(Step { ask: format!("DELETE {}{selector}", kind.plural), ..Step::default() });
        self.settle();
    }

    fn get(&mut self) {
        let kind = self.kind();
        let name = *self.lots.pick(NAMES);
        let at = self.push(Step { ask: format!("GET {}/{name}", kind.plural), ..Step::default() });
        self.shown.push((kind.plural, name, at));
    }

    fn list(&mut self) {
        let kind = self.kind();
        let query = *self.lots.pick(&[
            "",
            "?labelSelector=app",
            "?labelSelector=app%20in%20(x,y)",
            "?labelSelector=app!%3Dx",
            "?labelSelector=%3D%3D",
            "?fieldSelector=metadata.name%3Da",
            "?fieldSelector=spec.nothing%3Da",
            "?limit=1",
            "?limit=2&labelSelector=app",
            "?resourceVersion=1&resourceVersionMatch=Exact",
        ]);
        let at = self.push(Step { ask: format!("GET {}{query}", kind.plural), ..Step::default() });
        if query == "?limit=1" {
            let ask = format!("GET {}?limit=1&continue={{{at}/metadata/continue}}", kind.plural);
            self.push(Step { ask, ..Step::default() });
        }
    }

    fn watch(&mut self) {
        let kind = self.kind();
        let Some((_, _, at)) = self.shown.iter().find(|(plural, ..)| *plural == kind.plural) else { return };
        let query = *self.lots.pick(&[
            "",
            "&labelSelector=app%3Dx",
            "&labelSelector=!app",
            "&fieldSelector=metadata.name%3Da",
        ]);
        let ask = format!(
            "GET {}?watch=true&timeoutSeconds=1&resourceVersion={{{at}/metadata/resourceVersion}}{query}",
            kind.plural
        );
        self.push(Step { ask, ..Step::default() });
    }
}

fn step(method: &str, path: &str, options: &str, body: Value) -> Step {
    Step { ask: format!("{method} {path}{options}"), body: Some(body), ..Step::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_draws_the_same_sequences_again_and_another_one_others() {
        let drawn = |seed| sequences(seed, 5).iter().map(Sequence::to_yaml).collect::<String>();
        assert_eq!(drawn(1), drawn(1));
        assert_ne!(drawn(1), drawn(2));
    }

    #[test]
    fn sequences_name_only_answers_that_came_before() {
        for sequence in sequences(7, 200) {
            for (index, step) in sequence.requests.iter().enumerate() {
                assert!(step.needs().iter().all(|at| *at <= index), "{}", sequence.to_yaml());
            }
        }
    }
}
