//! The weathers, and what may be asked of kflare in each. What must stand afterwards is the same for all of them.

use std::time::Duration;

use cf_api::limits::{OWN_LIMIT, RATE_WINDOW};
use operator::timings::Timings;
use sandbox::fault::{Fault, Faults, Target};

use super::{EDITED, Load, LoadError};

/// One request in so many fails.
const ONE_IN: u32 = 20;
/// Requests of each side among which some are chosen to fail: as many as ten thousand records need.
const REQUESTS: u32 = 40_000;
/// Cloudflare's block after an excess.
const BLOCK: Duration = Duration::from_secs(300);
const OUTAGE: Duration = Duration::from_secs(3_600);
/// An API server that starts anew.
const RESTART: Duration = Duration::from_secs(60);
/// Watches that are cut, and how often each comes back in a minute: after 1, 2, 4, … 30 s.
const WATCHES: u64 = 8;
const WATCH_COMES_BACK: u64 = 5;

/// Ways in which one request in twenty fails.
const AT_CLOUDFLARE: [Fault; 7] = [
    Fault::InternalError,
    Fault::BadGateway,
    Fault::TooManyRequests,
    Fault::ResetAfterCommit,
    Fault::TimeoutAfterCommit,
    Fault::GatewayTimeout,
    Fault::CutBody,
];
const AT_KUBERNETES: [Fault; 6] = [
    Fault::InternalError,
    Fault::WriteConflict,
    Fault::TooManyRequests,
    Fault::ResetAfterCommit,
    Fault::GatewayTimeout,
    Fault::Unavailable,
];

/// When the weather is over: a back-off is at most five minutes and a tenth, a refused token is tried again after ten; what
/// may be late is looked at again after four and a half. Each record that waits may take a look of its own, as fast as the
/// call budget allows.
pub(super) fn calm_within(waiting: usize) -> Duration {
    let again = Timings::default().backoff_max.mul_f64(1.1).max(plan::limits::REFUSED_CREDENTIALS_RECHECK);
    let windows = (waiting as u64).div_ceil(OWN_LIMIT);
    let looks = RATE_WINDOW * u32::try_from(windows).unwrap_or(u32::MAX);
    again + plan::limits::CREATE_MAY_LAND + plan::limits::READS_MAY_LAG + looks
}

/// Arms faults at one in [`ONE_IN`] requests, each kind in turn.
fn one_in_twenty(faults: &Faults, kinds: &[Fault]) {
    let mut random: u32 = 1;
    for (at, kind) in (0..REQUESTS / ONE_IN).zip(kinds.iter().cycle()) {
        // Numerical Recipes' generator: where in its twenty a fault hits.
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        // What was hit before has not counted for those behind it.
        let skip = at * (ONE_IN - 1) + (random >> 16) % ONE_IN;
        faults.arm(*kind, Target::default(), skip, 1);
    }
}

/// A weather in which some kind of fault never came would hold nothing of it.
fn missed(faults: &Faults, kinds: &[Fault]) -> Vec<&'static str> {
    kinds.iter().filter(|kind| faults.hits(**kind) == 0).map(|kind| kind.name()).collect()
}

impl Load<'_> {
    /// All records are made and some edited while one request in twenty fails, on both sides.
    pub(super) async fn drizzle(&mut self) -> Result<(), LoadError> {
        self.doing("made while one request in twenty fails");
        one_in_twenty(self.world.cloudflare.faults(), &AT_CLOUDFLARE);
        one_in_twenty(self.world.kubernetes.faults(), &AT_KUBERNETES);
        self.apply_all()?;
        self.world.settle().await;
        self.edit(1)?;
        self.world.settle().await;
        let mut missed_all = missed(self.world.cloudflare.faults(), &AT_CLOUDFLARE);
        missed_all.extend(missed(self.world.kubernetes.faults(), &AT_KUBERNETES));
        self.expect(missed_all.is_empty(), || format!("no request was hit by {}", missed_all.join(", ")));
        self.world.cloudflare.faults().clear();
        self.world.kubernetes.faults().clear();
        Ok(())
    }

    /// Cloudflare refuses every call for five minutes.
    pub(super) async fn block(&mut self) -> Result<(), LoadError> {
        self.doing("Cloudflare blocks for five minutes");
        let cloudflare = self.world.cloudflare.clone();
        let before = cloudflare.log().total();
        cloudflare.faults().arm(Fault::TooManyRequestsBare, Target::default(), 0, u32::MAX);
        self.edit(2)?;
        self.world.advance(BLOCK).await;
        cloudflare.faults().clear();
        let (refused, most) = (cloudflare.log().total() - before, operator::limits::CALLS_AT_ONCE as u64);
        self.expect((1..=most).contains(&refused), || format!("{refused} calls in the block"));
        Ok(())
    }

    /// Cloudflare is away for an hour, and edits go on.
    pub(super) async fn outage(&mut self) -> Result<(), LoadError> {
        self.doing("Cloudflare is away for an hour");
        let cloudflare = self.world.cloudflare.clone();
        let before = cloudflare.log().total();
        cloudflare.faults().arm(Fault::Unavailable, Target::default(), 0, u32::MAX);
        self.edit(3)?;
        self.world.advance(OUTAGE / 2).await;
        self.edit(4)?;
        self.world.advance(OUTAGE / 2).await;
        cloudflare.faults().clear();
        let tried = cloudflare.log().total() - before;
        // Each edited record is tried ten times in the first five minutes of a round of edits, then every five. What fails
        // together comes back apart, so that a slow pass gets on; but one call serves all whose time has come.
        let per_round = 10 + OUTAGE.as_secs() / Timings::default().backoff_max.as_secs();
        let tries = self.count.div_ceil(EDITED) as u64 * per_round * 2;
        let words = || format!("{tried} calls for {tries} tries in an hour without Cloudflare");
        self.expect(tried > 0 && tried * 4 <= tries, words);
        Ok(())
    }

    /// The API server starts anew: watches break, lists fail for a while, and its events are forgotten.
    pub(super) async fn restart(&mut self) -> Result<(), LoadError> {
        self.doing("the API server starts anew");
        self.edit(5)?;
        let kubernetes = self.world.kubernetes.clone();
        let watches = Target { method: Some("WATCH".to_owned()), ..Target::default() };
        kubernetes.faults().arm(Fault::WatchCut, watches, 0, 8);
        kubernetes.faults().arm(Fault::Unavailable, Target::default(), 0, u32::MAX);
        kubernetes.compact();
        let before = kubernetes.log().total();
        self.world.advance(RESTART).await;
        let asked = kubernetes.log().total() - before;
        kubernetes.faults().clear();
        // The watches that come back; and of those that were edited each twice at most.
        let most = WATCHES * WATCH_COMES_BACK + self.count.div_ceil(EDITED) as u64 * 2;
        self.expect((1..=most).contains(&asked), || {
            format!("{asked} requests to an API server that is away")
        });
        self.edit(6)?;
        Ok(())
    }
}
