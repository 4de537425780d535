//! The creating mark: what we were about to make, and until when the request may still take effect.
//! It proves that an object with its key is ours although no answer came; see design, "What the mark proves".

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use kinds::{Resource, names};
use serde_json::Value;

use crate::context::Desired;
use crate::image;
use crate::limits;

/// Separates the key, the image and the time in the annotation's value; they are read from the right, so that a key may
/// contain what separates them.
const IMAGE: &str = " image=";
const UNTIL: &str = " until ";

/// How far Cloudflare's clock and ours may differ before a `created_on` tells nothing. Clocks kept by NTP agree to
/// a second; five minutes is what Kerberos, too, takes for the worst sane case.
const CLOCKS_MAY_DIFFER: SignedDuration = SignedDuration::from_mins(5);

/// A parsed creating mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The rendered key of the object.
    pub key: String,
    /// The image of the object; absent in marks of the old kflare.
    pub image: Option<String>,
    /// The end of the time in which the request may take effect; absent in marks of the old kflare.
    pub until: Option<Timestamp>,
}

impl Mark {
    /// The mark of a create that is about to be sent at `now`.
    #[must_use]
    pub fn for_create(key: String, image: String, now: Timestamp) -> Self {
        Self { key, image: Some(image), until: Some(later(now, limits::CREATE_MAY_LAND)) }
    }

    /// The same mark as if it were written at `now`.
    #[must_use]
    pub fn renewed(&self, now: Timestamp) -> Self {
        Self { until: Some(later(now, limits::CREATE_MAY_LAND)), ..self.clone() }
    }

    /// The mark that a resource carries.
    #[must_use]
    pub fn of(resource: &Resource) -> Option<Self> {
        let value = resource.annotation(names::CREATING)?;
        Some(match value.rsplit_once(UNTIL).map(|(key, time)| (key, time.parse::<Timestamp>())) {
            Some((made, Ok(until))) => {
                let is_image = |image: &str| {
                    image.len() == image::DIGITS && image.bytes().all(|b| b.is_ascii_hexdigit())
                };
                let parts = made.rsplit_once(IMAGE).filter(|(_, image)| is_image(image));
                let (key, image) = parts.map_or((made, None), |(key, image)| (key, Some(image.to_owned())));
                Self { key: key.to_owned(), image, until: Some(until) }
            }
            _ => Self { key: value.to_owned(), image: None, until: None },
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

    /// True when the marked request made, or would make, an object of this image. A mark without one says nothing of it:
    /// then only what the spec would make now is known.
    #[must_use]
    pub fn makes(&self, image: &str, now: Option<&str>) -> bool {
        self.image.as_deref().or(now) == Some(image)
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
        f.write_str(&self.key)?;
        if let Some(image) = &self.image {
            write!(f, "{IMAGE}{image}")?;
        }
        self.until.map_or(Ok(()), |until| write!(f, "{UNTIL}{until}"))
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

    fn of(key: &str, now: Timestamp) -> Mark {
        Mark::for_create(key.to_owned(), "0123456789abcdef".to_owned(), now)
    }

    fn resource(mark: &str) -> Resource {
        let mut resource = Resource::default();
        resource.metadata.annotations.insert(names::CREATING.to_owned(), mark.to_owned());
        resource
    }

    #[test]
    fn a_mark_reads_back_even_when_the_key_holds_the_separator() {
        let now: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let mark = of("content=wait image=0123456789abcdef until 2030-01-01T00:00:00Z name=a", now);
        assert_eq!(Mark::of(&resource(&mark.to_string())), Some(mark));
    }

    #[test]
    fn a_mark_of_the_old_kflare_has_no_end_and_is_over_at_once() {
        let mark = Mark::of(&resource("www.example.com/A")).unwrap();
        assert_eq!((&mark.until, &mark.image), (&None, &None));
        assert!(mark.is_over(Timestamp::UNIX_EPOCH));
    }

    #[test]
    fn the_parts_of_a_marked_key_are_read_from_the_right() {
        let now: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let mark = of("content=a name=b c name=www.example.com type=TXT", now);
        let parts = mark.parts(&["type", "name"]).unwrap();
        assert_eq!(
            parts,
            BTreeMap::from([("name", "www.example.com".to_owned()), ("type", "TXT".to_owned())])
        );
        assert_eq!(of("name=example.com", now).parts(&["name"]).unwrap()["name"], "example.com");
        assert_eq!(mark.parts(&["title"]), None);
    }

    #[test]
    fn what_has_another_image_was_not_made_by_it() {
        let mark = of("name=a", Timestamp::UNIX_EPOCH);
        assert!(mark.makes("0123456789abcdef", Some("fedcba9876543210")));
        assert!(!mark.makes("fedcba9876543210", Some("fedcba9876543210")));
        let without = Mark { image: None, ..mark };
        assert!(without.makes("fedcba9876543210", Some("fedcba9876543210")));
        assert!(!without.makes("fedcba9876543210", None));
    }

    #[test]
    fn what_is_older_than_the_mark_was_not_made_by_it() {
        let now: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let mark = of("name=a", now);
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
