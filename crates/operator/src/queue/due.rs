//! What is due, why, and when it is looked at again.

use std::collections::BTreeMap;
use std::time::Duration;

use cf_api::budget::Class;
use plan::{MemberId, UnitKey};
use tokio::time::Instant;

/// Why something is due later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Why {
    /// A batched unit collects more members.
    HoldOff,
    /// Another try after a failure.
    Retry,
    /// A look at what a watch should have told, or at a time that was asked for.
    Wait,
    /// A look for changes at Cloudflare.
    Drift,
    /// The look that every object gets in any case.
    Resync,
}

impl Why {
    /// Every reason.
    pub const ALL: [Self; 5] = [Self::HoldOff, Self::Retry, Self::Wait, Self::Drift, Self::Resync];

    /// As metrics say it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::HoldOff => "hold_off",
            Self::Retry => "retry",
            Self::Wait => "wait",
            Self::Drift => "drift",
            Self::Resync => "resync",
        }
    }
}

/// Why a member is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// Pays for its calls.
    pub class: Class,
    /// Since when.
    pub asked: Instant,
}

/// When a member that was looked at is looked at again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    /// At the unit's next drift check or resync.
    Settled,
    /// With the drift check, but after this time at the latest: Cloudflare is still at work on its object.
    Unsettled(Duration),
    /// When a watch says so; to be safe, after the wait poll.
    OnChange,
    /// At the unit's next resync: only a change can help.
    Resync,
    /// After this time.
    After(Duration, Class),
    /// With growing back-off, not before this time.
    Fault(Option<Duration>),
    /// At once.
    Now(Class),
    /// Never: it is gone.
    Forget,
}

/// A run that may start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice {
    /// The unit, now running until [`Queue::finish`].
    pub unit: UnitKey,
    /// Its members.
    pub members: BTreeMap<MemberId, Due>,
    /// They are all that the unit has: a document is written only then.
    pub complete: bool,
}

/// What the queue holds, for metrics and for tests that wait until nothing is due.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Depth {
    /// Units that could run now.
    pub ready: usize,
    /// Units that run.
    pub running: usize,
    /// Members that are due once another one's run has ended.
    pub held: usize,
    /// What is due later, and the soonest of each.
    pub delayed: BTreeMap<Why, (usize, Instant)>,
}
