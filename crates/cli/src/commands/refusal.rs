//! Why a manifest is refused, in words for whoever wrote it: file, line, and the nearest known name.
//! Whether it is refused is the API server's to say.

use std::fmt;

use sandbox::kubernetes::{Reason, Status};
use serde_json::Value;

use super::field;
use super::sandbox::manifest::{Manifest, Place};
use crate::nearest::nearest;
use crate::terminal;

/// Begins each unknown field in the server's words.
const UNKNOWN: &str = "unknown field \"";

/// What the API server names as the field of a complaint about none.
const NO_FIELD: &str = "<nil>";

/// Characters of one complaint: enough for the longest of our own rules. An API server quotes what it refuses whole.
const COMPLAINT_CHARACTERS: usize = 1_000;

/// Why a manifest is refused, one line for each complaint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::commands) struct Refusal(Vec<(Place, String)>);

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (place, complaint)) in self.0.iter().enumerate() {
            let end = if index + 1 == self.0.len() { "" } else { "\n" };
            // Complaints quote names of others, which must not look like lines of ours.
            write!(
                f,
                "{place}: {}{end}",
                terminal::cut(&terminal::escaped(complaint), COMPLAINT_CHARACTERS)
            )?;
        }
        Ok(())
    }
}

impl Refusal {
    /// One complaint about a whole manifest.
    pub(in crate::commands) fn of(manifest: &Manifest, complaint: &str) -> Self {
        Self(vec![(manifest.place.clone(), format!("{}: {complaint}", manifest.title()))])
    }

    /// The complaint about a kind that does not exist.
    pub(in crate::commands) fn of_kind(manifest: &Manifest) -> Self {
        Self(vec![(manifest.place_of(["kind"].into_iter()), unknown_kind(manifest))])
    }

    /// One complaint about a field of a manifest.
    pub(in crate::commands) fn of_field(manifest: &Manifest, path: &[&str], complaint: &str) -> Self {
        let place = manifest.place_of(path.iter().copied());
        Self(vec![(place, format!("{}: {complaint}", manifest.title()))])
    }

    /// What an API server says of a manifest, with the place of each complaint and what was probably meant.
    pub(in crate::commands) fn read(manifest: &Manifest, status: &Status) -> Self {
        let unquoted = unquoted(manifest);
        if !unquoted.is_empty() {
            return Self(unquoted);
        }
        let unknown: Vec<&str> =
            status.message.split(UNKNOWN).skip(1).filter_map(|rest| rest.split('"').next()).collect();
        if !unknown.is_empty() {
            return Self(unknown.into_iter().map(|path| unknown_field(manifest, path)).collect());
        }
        if status.reason == Reason::NotFound && status.message.starts_with("no matches") {
            return Self::of_kind(manifest);
        }
        if status.reason == Reason::NotFound && status.details.kind == "namespaces" {
            let name = &status.details.name;
            let complaint = format!(
                "namespace {name} does not exist: create it with `kubectl create namespace {name}`, or add its manifest"
            );
            return Self::of_field(manifest, &["metadata", "namespace"], &complaint);
        }
        let causes = &status.details.causes;
        if status.reason != Reason::Invalid || causes.iter().all(|cause| cause.field == NO_FIELD) {
            return Self::of(manifest, &status.message);
        }
        let of_cause = |cause: &sandbox::kubernetes::StatusCause| {
            let place = manifest.place_of(field::parts(&cause.field));
            (place, format!("{}: {}: {}", manifest.title(), cause.field, cause.message))
        };
        // That a rule was not looked at because of another complaint helps nobody.
        Self(causes.iter().filter(|cause| cause.field != NO_FIELD).map(of_cause).collect())
    }
}

/// Labels and annotations whose values are no text, as YAML reads `true` and `1` without quotes. The API server names
/// neither them nor their lines.
fn unquoted(manifest: &Manifest) -> Vec<(Place, String)> {
    let of = |field: &'static str, word: &'static str| {
        let entries = manifest.object["metadata"][field].as_object().into_iter().flatten();
        entries.filter(|(_, value)| !value.is_string()).map(move |(name, value)| {
            let place = manifest.place_of(["metadata", field, name].into_iter());
            let said = match value {
                Value::Null => "has no value: write \"\" for an empty one, or remove it".to_owned(),
                Value::Array(_) => format!("is a list: the value of {word}s is text"),
                Value::Object(_) => format!("is a mapping: the value of {word}s is text"),
                plain => {
                    format!("is {plain} without quotes: the value of {word}s is text, so write {name}: \"{plain}\"")
                }
            };
            (place, format!("{}: {word} {name} {said}", manifest.title()))
        })
    };
    of("labels", "label").chain(of("annotations", "annotation")).collect()
}

/// Whether an object was meant to be of ours: our group, or one that is nearly so; or a kind of ours in no group.
pub(in crate::commands) fn is_meant_for_us(manifest: &Manifest) -> bool {
    let word = |field: &str| manifest.object[field].as_str().unwrap_or_default();
    let ours = kinds::names::GROUP;
    let Some((group, _)) = word("apiVersion").split_once('/') else {
        return kinds::kind(word("kind")).is_some();
    };
    let first = |group: &'_ str| group.split('.').next().unwrap_or_default().to_owned();
    nearest(group, [ours]).is_some() || nearest(&first(group), [first(ours).as_str()]).is_some()
}

/// Whether an object is of a kind of ours, in the version that there is.
pub(in crate::commands) fn is_ours(manifest: &Manifest) -> bool {
    manifest.object["apiVersion"] == kinds::names::API_VERSION
        && manifest.object["kind"].as_str().is_some_and(|kind| kinds::kind(kind).is_some())
}

fn unknown_field(manifest: &Manifest, path: &str) -> (Place, String) {
    let kind = manifest.object["kind"].as_str().unwrap_or_default();
    let names = field::siblings(kind, path);
    let word = field::parts(path).last().unwrap_or(path);
    let hint = match nearest(word, names.iter().map(String::as_str)) {
        Some(name) => format!("did you mean {name}?"),
        None if names.is_empty() => "nothing is known there".to_owned(),
        None => format!("known are {}", names.join(", ")),
    };
    (manifest.place_of(field::parts(path)), format!("{}: unknown field {path}; {hint}", manifest.title()))
}

fn unknown_kind(manifest: &Manifest) -> String {
    let word = |field: &str| manifest.object[field].as_str().unwrap_or_default();
    let (api_version, kind) = (word("apiVersion"), word("kind"));
    let names = || kinds::KINDS.iter().map(|kind| kind.name);
    if names().any(|name| name == kind) {
        return format!("{kind} is of apiVersion {}, not {api_version}", kinds::names::API_VERSION);
    }
    if !is_meant_for_us(manifest) {
        return format!("there is no kind {kind} in {api_version} here");
    }
    match nearest(kind, names()) {
        Some(name) => format!("there is no kind {kind} in {api_version}; did you mean {name}?"),
        None => {
            let names: Vec<&str> = names().collect();
            format!("there is no kind {kind} in {api_version}; known are {}", names.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use kinds::names::API_VERSION;

    use crate::commands::plan::Admission;
    use crate::commands::sandbox::manifest;

    /// What is said of a document.
    fn refused(text: &str) -> String {
        let manifests = manifest::parse("a.yaml", text).unwrap();
        let server = Admission::new(Timestamp::UNIX_EPOCH).unwrap();
        server.apply(&manifests[0], None).unwrap_err().to_string()
    }

    #[test]
    fn kinds_that_do_not_exist_are_told_apart() {
        let of = |api_version: &str, kind: &str| {
            refused(&format!("apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: a}}\n"))
        };
        assert_eq!(of("v1", "Sekret"), "a.yaml: document 1 (line 2): there is no kind Sekret in v1 here");
        assert!(of("v1", "Zone").ends_with(&format!("Zone is of apiVersion {API_VERSION}, not v1")));
        assert!(of(API_VERSION, "Zones").ends_with("did you mean Zone?"));
        assert!(of(API_VERSION, "Bucket").ends_with("known are CloudflareAccount, Zone, DNSRecord"));
    }

    #[test]
    fn a_label_or_annotation_without_quotes_is_named_with_its_line() {
        let said = refused(
            "apiVersion: kflare.dev/v1alpha1\nkind: DNSRecord\nmetadata:\n  name: a\n  labels:\n    n: 1.5\n  annotations:\n\
             \x20   kflare.dev/paused: true\n    empty:\n    list: [a]\n",
        );
        assert_eq!(
            said.lines().collect::<Vec<_>>(),
            [
                "a.yaml: document 1 (line 6): DNSRecord a: label n is 1.5 without quotes: the value of labels is text, \
                 so write n: \"1.5\"",
                "a.yaml: document 1 (line 9): DNSRecord a: annotation empty has no value: write \"\" for an empty one, \
                 or remove it",
                "a.yaml: document 1 (line 8): DNSRecord a: annotation kflare.dev/paused is true without quotes: the value \
                 of annotations is text, so write kflare.dev/paused: \"true\"",
                "a.yaml: document 1 (line 10): DNSRecord a: annotation list is a list: the value of annotations is text",
            ]
        );
    }

    #[test]
    fn a_group_that_is_nearly_ours_is_meant_and_another_is_not() {
        let meant = |api_version: &str, kind: &str| {
            let text = format!("apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: a}}\n");
            super::is_meant_for_us(&manifest::parse("a.yaml", &text).unwrap()[0])
        };
        for api_version in
            [API_VERSION, "kflare.dev/v1", "kflare.de/v1alpha1", "kflare.io/v1", "kflar.dev/v1alpha1"]
        {
            assert!(meant(api_version, "DNSRecord") && meant(api_version, "X"), "{api_version}");
        }
        assert!(meant("v1alpha1", "DNSRecord") && !meant("v1", "Secret"));
        // OpenShift has a kind of this name, and so have others.
        for api_version in ["ingress.operator.openshift.io/v1", "cloudflare.upbound.io/v1alpha1", "apps/v1"] {
            assert!(!meant(api_version, "DNSRecord"), "{api_version}");
        }
    }

    #[test]
    fn names_of_others_do_not_look_like_lines_of_ours() {
        let said = refused("apiVersion: v1\nkind: Namespace\nmetadata: {name: \"a\\nerror: b\"}\n");
        assert!(said.lines().all(|line| line.starts_with("a.yaml: document 1")), "{said}");
    }
}
