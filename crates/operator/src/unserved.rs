//! A kind that the cluster does not serve, because its CustomResourceDefinition is gone or was never there: it has no
//! objects, and whatever waits for a list of them would wait for ever. One 404 is no proof of that (V3): an API server
//! that is starting does not know all kinds yet.

use kube::runtime::watcher;
use tokio::time::Instant;

use crate::limits::UNSERVED_FOR;

/// For how long a kind has not been served, without a word to the contrary in between.
#[derive(Debug, Default)]
pub struct Unserved {
    since: Option<Instant>,
    /// It was proved.
    pub proved: bool,
}

impl Unserved {
    /// A list or watch failed now. True when that completes the proof: the kind was not served [`UNSERVED_FOR`] ago either,
    /// and no other answer came in between.
    pub fn failed(&mut self, error: &watcher::Error, now: Instant) -> bool {
        if !is_unserved(error) {
            *self = Self::default();
            return false;
        }
        let since = *self.since.get_or_insert(now);
        let proves = !self.proved && now.saturating_duration_since(since) >= UNSERVED_FOR;
        self.proved |= proves;
        proves
    }
}

/// The cluster knows no such kind: a list or watch of all its objects is not found.
pub fn is_unserved(error: &watcher::Error) -> bool {
    matches!(
        error,
        watcher::Error::InitialListFailed(kube::Error::Api(status))
            | watcher::Error::WatchStartFailed(kube::Error::Api(status)) if status.code == 404
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use kube::core::Status;

    use super::*;

    fn answered(code: u16) -> watcher::Error {
        watcher::Error::InitialListFailed(kube::Error::Api(Box::new(Status { code, ..Status::default() })))
    }

    /// What each of these failures proves, at these seconds.
    fn proofs(failures: &[(u64, u16)]) -> Vec<bool> {
        let (mut unserved, start) = (Unserved::default(), Instant::now());
        failures
            .iter()
            .map(|(at, code)| unserved.failed(&answered(*code), start + Duration::from_secs(*at)))
            .collect()
    }

    #[test]
    fn a_kind_is_not_served_when_a_minute_later_it_still_is_not() {
        assert_eq!(proofs(&[(0, 404), (59, 404), (60, 404), (90, 404)]), [false, false, true, false]);
    }

    #[test]
    fn any_other_answer_begins_the_proof_anew() {
        assert_eq!(
            proofs(&[(0, 404), (30, 503), (70, 404), (129, 404), (130, 404)]),
            [false, false, false, false, true]
        );
        assert_eq!(proofs(&[(0, 403), (61, 403)]), [false, false]);
    }
}
