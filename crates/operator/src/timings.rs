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
        }
    }
}

impl Timings {
    /// All durations times `factor`.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        let s = |duration: Duration| duration.mul_f64(factor);
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
        } = self.clone();
        Self {
            backoff_first: s(backoff_first),
            backoff_max: s(backoff_max),
            hold_off_first: s(hold_off_first),
            hold_off_max: s(hold_off_max),
            wait_poll: s(wait_poll),
            resync: s(resync),
            watch_backoff_first: s(watch_backoff_first),
            watch_backoff_max: s(watch_backoff_max),
            watch_timeout: s(watch_timeout),
            sync_grace: s(sync_grace),
            cloudflare_request: s(cloudflare_request),
            kubernetes_request: s(kubernetes_request),
            status_write: s(status_write),
            lease_duration: s(lease_duration),
            lease_renew_deadline: s(lease_renew_deadline),
            lease_retry: s(lease_retry),
            drain: s(drain),
        }
    }
}

/// The back-off before the attempt after `failures` failures in a row: doubling, at most `max`, not jittered.
#[must_use]
pub fn doubled(first: Duration, max: Duration, failures: u32) -> Duration {
    let doublings = failures.saturating_sub(1).min(crate::limits::DOUBLINGS_MAX);
    first.saturating_mul(1 << doublings).min(max)
}
