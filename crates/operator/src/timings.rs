//! Every duration of the operator in one value, so that a run in real time can be scaled as a whole.
//! Durations that mean something to Cloudflare or to a proof of ownership stay in `plan::limits` and `cf_api::limits`.

use std::time::Duration;

/// All durations. [`Timings::default`] is production.
#[derive(Clone, Debug, PartialEq)]
pub struct Timings {
    /// First back-off of a failing member (design §3: 1 s doubling to 5 min).
    pub backoff_first: Duration,
    /// Longest back-off.
    pub backoff_max: Duration,
    /// First hold-off of a batched unit under load (design §3: 1 s doubling to 10 s).
    pub hold_off_first: Duration,
    /// Longest hold-off.
    pub hold_off_max: Duration,
    /// Safety poll of a member that waits for something which a watch will tell (design §3: 1 min).
    pub wait_poll: Duration,
    /// Every object is looked at this often in any case (seed: 10 hours).
    pub resync: Duration,
    /// First pause before a watch or list that failed is tried again.
    pub watch_backoff_first: Duration,
    /// Longest such pause: client-go's 30 s.
    pub watch_backoff_max: Duration,
    /// How long a watch lasts before the server ends it; kube's default, below the API server's own minimum of 5 min.
    pub watch_timeout: Duration,
    /// How long passes wait at start for caches that do not fill, because a kind is missing or forbidden.
    pub sync_grace: Duration,
    /// One call to Cloudflare, from the first byte sent to the last received (contract §3e: 2 min).
    pub cloudflare_request: Duration,
    /// One call to Kubernetes; the API server itself gives up after a minute.
    pub kubernetes_request: Duration,
    /// One status patch, after a reconcile timeout too.
    pub status_write: Duration,
    /// How long others leave a Lease alone that is not renewed (client-go: 15 s).
    pub lease_duration: Duration,
    /// When a leader that cannot renew gives up (client-go: 10 s).
    pub lease_renew_deadline: Duration,
    /// Between two looks at the Lease (client-go: 2 s).
    pub lease_retry: Duration,
    /// How long running passes may finish at shutdown: Kubernetes' grace of 30 s less 5 s.
    pub drain: Duration,
    /// How long a kind must not have been served before it counts as having no objects: an API server that starts, or
    /// learns of definitions late, knows them within seconds.
    pub unserved_for: Duration,
    /// Between two looks at what the drift checks cost: a look walks over all objects, and the answer changes slowly.
    pub drift_watch: Duration,
    /// How long a second is that a decision speaks of, when it says when to look again or asks whether something is new at
    /// Cloudflare. `plan` knows one time; it is translated where it comes in and goes out.
    pub pace: f64,
}

impl Default for Timings {
    fn default() -> Self {
        let s = Duration::from_secs;
        Self {
            backoff_first: s(1),
            backoff_max: s(300),
            hold_off_first: s(1),
            hold_off_max: s(10),
            wait_poll: s(60),
            resync: s(36_000),
            watch_backoff_first: s(1),
            watch_backoff_max: s(30),
            watch_timeout: s(290),
            sync_grace: s(30),
            cloudflare_request: s(120),
            kubernetes_request: s(60),
            status_write: s(30),
            lease_duration: s(15),
            lease_renew_deadline: s(10),
            lease_retry: s(2),
            drain: s(25),
            unserved_for: s(60),
            drift_watch: s(60),
            pace: 1.0,
        }
    }
}

impl Timings {
    /// All durations times `factor`. What others take does not shrink with it: how long they are waited for has a floor.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        let s = |duration: Duration| duration.mul_f64(factor);
        let floored = |duration: Duration, floor: Duration| s(duration).max(floor.min(duration));
        // Destructured, so that a new field cannot be forgotten.
        let Self {
            backoff_first,
            backoff_max,
            hold_off_first,
            hold_off_max,
            wait_poll,
            resync,
            watch_backoff_first,
            watch_backoff_max,
            watch_timeout,
            sync_grace,
            cloudflare_request,
            kubernetes_request,
            status_write,
            lease_duration,
            lease_renew_deadline,
            lease_retry,
            drain,
            unserved_for,
            drift_watch,
            pace,
        } = self.clone();
        Self {
            backoff_first: s(backoff_first),
            backoff_max: s(backoff_max),
            hold_off_first: s(hold_off_first),
            hold_off_max: s(hold_off_max),
            wait_poll: floored(wait_poll, POLL_FLOOR),
            resync: s(resync),
            watch_backoff_first: s(watch_backoff_first),
            watch_backoff_max: s(watch_backoff_max),
            watch_timeout: floored(watch_timeout, ANSWER_FLOOR),
            sync_grace: floored(sync_grace, ANSWER_FLOOR),
            cloudflare_request: floored(cloudflare_request, CALL_FLOOR),
            kubernetes_request: floored(kubernetes_request, ANSWER_FLOOR),
            status_write: floored(status_write, ANSWER_FLOOR),
            lease_duration: floored(lease_duration, LEASE_FLOOR),
            lease_renew_deadline: floored(lease_renew_deadline, LEASE_FLOOR * 2 / 3),
            lease_retry: floored(lease_retry, LEASE_FLOOR / 15),
            drain: floored(drain, ANSWER_FLOOR),
            unserved_for: floored(unserved_for, POLL_FLOOR),
            drift_watch: s(drift_watch),
            pace: pace * factor,
        }
    }

    /// A pause that a decision asks for. Between two looks a scaled operator is at rest for long enough to be seen so.
    #[must_use]
    pub fn pause(&self, said: Duration) -> Duration {
        said.mul_f64(self.pace).max(POLL_FLOOR.min(said))
    }

    /// How old something is, as decisions count it.
    #[must_use]
    pub fn age(&self, real: Duration) -> Duration {
        Duration::try_from_secs_f64(real.as_secs_f64() / self.pace).unwrap_or(Duration::MAX)
    }
}

/// What an API server on a busy machine may take to answer, or to begin a watch.
const ANSWER_FLOOR: Duration = Duration::from_secs(5);

/// Between two polls: whoever looks whether all is at rest must find a moment between them.
const POLL_FLOOR: Duration = Duration::from_secs(1);

/// What a Cloudflare on the same machine may take to answer.
const CALL_FLOOR: Duration = Duration::from_secs(2);

/// How long a Lease lasts at least, in the proportions of client-go: its seconds are whole, and a renewal takes two
/// requests.
const LEASE_FLOOR: Duration = Duration::from_secs(3);

/// The back-off before the attempt after `failures` failures in a row: doubling, at most `max`, not jittered.
#[must_use]
pub fn doubled(first: Duration, max: Duration, failures: u32) -> Duration {
    let doublings = failures.saturating_sub(1).min(crate::limits::DOUBLINGS_MAX);
    first.saturating_mul(1 << doublings).min(max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_shortens_our_own_pauses_and_leaves_others_time_to_answer() {
        let whole = Timings::default();
        assert_eq!(whole.scaled(1.0), whole);
        let short = whole.scaled(0.01);
        assert_eq!(short.backoff_first, Duration::from_millis(10));
        assert_eq!(short.resync, Duration::from_secs(360));
        assert_eq!(short.kubernetes_request, Duration::from_secs(5));
        assert_eq!((short.lease_duration, short.lease_renew_deadline), (LEASE_FLOOR, Duration::from_secs(2)));
        assert!(short.lease_retry * 4 < short.lease_renew_deadline);
        assert_eq!(short.scaled(0.5).pause(Duration::from_secs(600)), Duration::from_secs(3));
        assert_eq!(short.age(Duration::from_secs(2)), Duration::from_secs(200));
    }
}
