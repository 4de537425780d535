//! The creating mark: what we were about to make, and until when the request may still take effect.
//! It proves that an object with its key is ours although no answer came; see design, "What the mark proves".

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use kinds::{Resource, names};
use serde_json::Value;

use crate::context::Desired;
use crate::limits;

/// Separates the key from the time in the annotation's value; the time is always last, so a key may contain it.
const UNTIL: &str = " until ";

/// How far Cloudflare's clock and ours may differ before a `created_on` tells nothing. Clocks kept by NTP agree to
/// a second; five minutes is what Kerberos, too, takes for the worst sane case.
const CLOCKS_MAY_DIFFER: SignedDuration = SignedDuration::from_mins(5);

/// A parsed creating mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The rendered key of the object.
    pub key: String,
    /// The end of the time in which the request may take effect; absent in marks of the old kflare.
    pub until: Option<Timestamp>,
}

impl Mark {
    /// The mark of a create that is about to be sent at `now`.
    #[must_use]
    pub fn for_create(key: String, now: Timestamp) -> Self {
        Self { key, until: Some(later(now, limits::CREATE_MAY_LAND)) }
    }

    /// The mark that a resource carries.
    #[must_use]
    pub fn of(resource: &Resource) -> Option<Self> {
        let value = resource.annotation(names::CREATING)?;
        Some(match value.rsplit_once(UNTIL).map(|(key, time)| (key, time.parse::<Timestamp>())) {
            Some((key, Ok(until))) => Self { key: key.to_owned(), until: Some(until) },
            _ => Self { key: value.to_owned(), until: None },
        })
    }

    /// True once a read that began at `began` shows all that the marked request can have done.
    #[must_use]
    pub fn is_over(&self, began: Timestamp) -> bool {
        self.until.is_none_or(|until| began > until)
    }

    /// The time until which the marked request may be sent, so that it cannot land after the mark's end.
    #[must_use]
    pub fn send_by(&self) -> Option<Timestamp> {
        let landing = SignedDuration::try_from(limits::CREATE_LANDS_WITHIN).unwrap_or(SignedDuration::ZERO);
        self.until.map(|until| until - landing)
    }

    /// True when nothing that the marked request makes, even late, can stand beside what the spec wants: Cloudflare
    /// refuses a second object of the key.
    #[must_use]
    pub fn is_harmless(&self, desired: &Desired) -> bool {
        desired.refuses_twins && self.names(desired) == desired.key
    }

    /// The key that the mark names. The old kflare wrote keys in a form of its own, always of what the spec said.
    #[must_use]
    pub fn names<'k>(&'k self, desired: &'k Desired) -> &'k str {
        if self.until.is_some() { &self.key } else { &desired.key }
    }

    /// Parts of the marked key by name, for looking its object up when the spec no longer says it. Keys are rendered
    /// in the order of their names, so that from the right each word names its part; the first may hold blanks.
    #[must_use]
    pub fn parts(&self, names: &[&'static str]) -> Option<BTreeMap<&'static str, String>> {
        let mut names: Vec<&'static str> = names.to_vec();
        names.sort_unstable();
        let mut rest = self.key.as_str();
        let mut parts = BTreeMap::new();
        for name in names.into_iter().rev() {
            let (before, value) = match rest.rsplit_once(&format!(" {name}=")) {
                Some(found) => found,
                None => ("", rest.strip_prefix(&format!("{name}="))?),
            };
            parts.insert(name, value.to_owned());
            rest = before;
        }
        Some(parts)
    }

    /// True when an object with this time of creation can be the one that the marked request made.
    #[must_use]
    pub fn may_have_made(&self, object: &Value, created: &str) -> bool {
        let Some(until) = self.until else { return true };
        let created =
            object.pointer(created).and_then(Value::as_str).and_then(|time| time.parse::<Timestamp>().ok());
        created.is_none_or(|created| {
            let begun =
                until - SignedDuration::try_from(limits::CREATE_MAY_LAND).unwrap_or(SignedDuration::ZERO);
            created >= begun - CLOCKS_MAY_DIFFER && created <= until + CLOCKS_MAY_DIFFER
        })
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.until {
            Some(until) => write!(f, "{}{UNTIL}{until}", self.key),
            None => f.write_str(&self.key),
        }
    }
}

/// A key as marks, messages and maps carry it: `content=192.0.2.1 name=www.example.com type=A`.
#[must_use]
pub fn render_key(key: &BTreeMap<&'static str, String>) -> String {
    key.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

/// `now` plus a duration, at whole seconds so that the annotation stays readable.
fn later(now: Timestamp, by: Duration) -> Timestamp {
    let seconds = now.as_second().saturating_add(i64::try_from(by.as_secs()).unwrap_or(0)).saturating_add(1);
    Timestamp::from_second(seconds).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resource(mark: &str) -> Resource {
        let mut resource = Resource::default();
        resource.metadata.annotations.insert(names::CREATING.to_owned(), mark.to_owned());
        resource
    }

    #[test]
    fn a_mark_reads_back_even_when_the_key_holds_the_separator() {
        let now: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let mark = Mark::for_create("content=wait until 2030-01-01T00:00:00Z name=a".to_owned(), now);
        assert_eq!(Mark::of(&resource(&mark.to_string())), Some(mark));
    }

    #[test]
    fn a_mark_of_the_old_kflare_has_no_end_and_is_over_at_once() {
        let mark = Mark::of(&resource("www.example.com/A")).unwrap();
        assert_eq!(mark.until, None);
        assert!(mark.is_over(Timestamp::UNIX_EPOCH));
    }

    #[test]
    fn the_parts_of_a_marked_key_are_read_from_the_right() {
        let now: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let mark = Mark::for_create("content=a name=b c name=www.example.com type=TXT".to_owned(), now);
        let parts = mark.parts(&["type", "name"]).unwrap();
        assert_eq!(
            parts,
            BTreeMap::from([("name", "www.example.com".to_owned()), ("type", "TXT".to_owned())])
        );
        assert_eq!(
            Mark::for_create("name=example.com".to_owned(), now).parts(&["name"]).unwrap()["name"],
            "example.com"
        );
        assert_eq!(mark.parts(&["title"]), None);
    }

    #[test]
    fn what_is_older_than_the_mark_was_not_made_by_it() {
        let now: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let mark = Mark::for_create("name=a".to_owned(), now);
        assert!(
            mark.may_have_made(&serde_json::json!({"created_on": "2026-01-01T00:00:01.5Z"}), "/created_on")
        );
        assert!(
            !mark.may_have_made(&serde_json::json!({"created_on": "2025-12-31T20:00:00Z"}), "/created_on")
        );
        assert!(
            !mark.may_have_made(&serde_json::json!({"created_on": "2026-01-01T03:00:00Z"}), "/created_on")
        );
    }
}
