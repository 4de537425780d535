//! When this process first saw each token: Cloudflare takes a while to tell all of its own of a new one (contract K16).
//! Holds fingerprints and times, never a token; what a young token excuses is decided in `plan`.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use cf_api::token::{Fingerprint, Secret};
use tokio::time::Instant;

use crate::limits::TOKENS_SEEN_MAX;

#[derive(Clone, Copy, Debug)]
struct Sighting {
    first: Instant,
    last: Instant,
}

/// The tokens that this process has seen. A new process has seen none.
#[derive(Debug, Default)]
pub struct Sightings(Mutex<BTreeMap<Fingerprint, Sighting>>);

impl Sightings {
    /// The token is seen now; when it was first seen.
    pub fn first(&self, token: &Secret) -> Instant {
        let now = Instant::now();
        // A panic while it was held is a bug that its pass reports; times stay usable.
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fingerprint = token.fingerprint();
        if seen.len() >= TOKENS_SEEN_MAX && !seen.contains_key(&fingerprint) {
            let longest_ago = seen.iter().min_by_key(|(_, sighting)| sighting.last).map(|(other, _)| *other);
            longest_ago.map(|other| seen.remove(&other));
        }
        let sighting = seen.entry(fingerprint).or_insert(Sighting { first: now, last: now });
        sighting.last = now;
        sighting.first
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn token(text: &str) -> Secret {
        Secret::parse(text.as_bytes()).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn a_token_was_first_seen_when_any_secret_first_held_its_value() {
        let sightings = Sightings::default();
        let first = sightings.first(&token("one"));
        tokio::time::advance(Duration::from_secs(60)).await;
        assert_eq!(sightings.first(&token("two")), Instant::now());
        assert_eq!(sightings.first(&token("one")), first, "it is as old as before, wherever it stands now");
    }

    #[tokio::test(start_paused = true)]
    async fn tokens_that_nobody_uses_any_more_make_room() {
        let sightings = Sightings::default();
        let used = sightings.first(&token("used"));
        for number in 0..2 * TOKENS_SEEN_MAX {
            tokio::time::advance(Duration::from_secs(1)).await;
            sightings.first(&token(&format!("rotated{number}")));
            assert_eq!(sightings.first(&token("used")), used);
        }
        assert_eq!(sightings.0.lock().unwrap().len(), TOKENS_SEEN_MAX);
    }
}
