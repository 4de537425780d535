//! Faults by name: what a scenario or a seed makes go wrong at an endpoint, and how often.
//! Decides which request is hit; acting it out is left to the world that asks.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

/// What goes wrong with one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// 401; nothing is done.
    Unauthorized,
    /// 403; nothing is done.
    Forbidden,
    /// 429 with `Retry-After`; nothing is done.
    TooManyRequests,
    /// 429 with a page of the edge and without `Retry-After`; nothing is done.
    TooManyRequestsBare,
    /// 500; nothing is done.
    InternalError,
    /// 502 with an HTML body, as a proxy in between answers; nothing is done.
    BadGateway,
    /// 503; nothing is done.
    Unavailable,
    /// 504, as a proxy in between answers that no longer waits; the request is carried out.
    GatewayTimeout,
    /// 200 with a page of HTML, as a proxy in between answers that wants something of people; nothing is done.
    Page,
    /// The request never arrives and is never answered: the client's own timeout ends it.
    TimeoutBeforeCommit,
    /// The request is carried out and never answered.
    TimeoutAfterCommit,
    /// Never answered, and carried out only after the next list of that collection.
    LateCommit,
    /// The connection breaks before the request is carried out.
    ResetBeforeCommit,
    /// The request is carried out, then the connection breaks.
    ResetAfterCommit,
    /// The answer's head comes at once, its body never ends.
    SlowBody,
    /// The request is carried out, and the body of its answer ends in the middle.
    CutBody,
    /// A read is answered as it was answered before, if it was: by a server that has not heard of what came since.
    StaleRead,
    /// Kubernetes: 409 Conflict on a write; nothing is done.
    WriteConflict,
    /// Kubernetes: a running watch ends without a word.
    WatchCut,
    /// Kubernetes: a running watch stays open and delivers nothing more (half-open connection).
    WatchStale,
    /// Kubernetes: a running watch delivers an event, and those that come meanwhile, two seconds late.
    WatchLate,
    /// Kubernetes: the next watch from an old version is answered 410 Expired.
    WatchGap,
}

impl Fault {
    /// Every fault, in the order of the reference page.
    pub const ALL: [Self; 22] = [
        Self::Unauthorized,
        Self::Forbidden,
        Self::TooManyRequests,
        Self::TooManyRequestsBare,
        Self::InternalError,
        Self::BadGateway,
        Self::Unavailable,
        Self::GatewayTimeout,
        Self::Page,
        Self::TimeoutBeforeCommit,
        Self::TimeoutAfterCommit,
        Self::LateCommit,
        Self::ResetBeforeCommit,
        Self::ResetAfterCommit,
        Self::SlowBody,
        Self::CutBody,
        Self::StaleRead,
        Self::WriteConflict,
        Self::WatchCut,
        Self::WatchStale,
        Self::WatchLate,
        Self::WatchGap,
    ];

    /// True for what only an API server of Kubernetes can do.
    #[must_use]
    pub const fn is_of_kubernetes(self) -> bool {
        matches!(
            self,
            Self::WriteConflict | Self::WatchCut | Self::WatchStale | Self::WatchLate | Self::WatchGap
        )
    }

    /// Whether it does anything to a request with this method; that of a watch is `WATCH`.
    #[must_use]
    pub fn meets(self, method: &str) -> bool {
        let (is_watch, is_read) = (method == "WATCH", matches!(method, "GET" | "WATCH"));
        match self {
            Self::WatchCut | Self::WatchStale | Self::WatchLate | Self::WatchGap => is_watch,
            Self::WriteConflict | Self::LateCommit => !is_read,
            Self::StaleRead => is_read && !is_watch,
            _ => true,
        }
    }

    /// The name that scenarios use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unauthorized => "401",
            Self::Forbidden => "403",
            Self::TooManyRequests => "429",
            Self::TooManyRequestsBare => "429-bare",
            Self::InternalError => "500",
            Self::BadGateway => "502",
            Self::Unavailable => "503",
            Self::GatewayTimeout => "504",
            Self::Page => "page",
            Self::TimeoutBeforeCommit => "timeout-before-commit",
            Self::TimeoutAfterCommit => "timeout-after-commit",
            Self::LateCommit => "late-commit",
            Self::ResetBeforeCommit => "reset-before-commit",
            Self::ResetAfterCommit => "reset-after-commit",
            Self::SlowBody => "slow-body",
            Self::CutBody => "cut-body",
            Self::StaleRead => "stale-read",
            Self::WriteConflict => "write-conflict",
            Self::WatchCut => "watch-cut",
            Self::WatchStale => "watch-stale",
            Self::WatchLate => "watch-late",
            Self::WatchGap => "watch-gap",
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A fault's name that is not one of [`Fault::ALL`].
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("unknown fault {name:?}; known are {}", Fault::ALL.map(Fault::name).join(", "))]
pub struct UnknownFault {
    name: String,
}

impl FromStr for Fault {
    type Err = UnknownFault;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|fault| fault.name() == name)
            .ok_or_else(|| UnknownFault { name: name.to_owned() })
    }
}

/// Which requests an armed fault hits: all parts must match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// `GET`, `POST`, …; absent: any.
    pub method: Option<String>,
    /// A part of the path; absent: any.
    pub path: Option<String>,
    /// Absent: reads and writes. `Some(true)`: only requests that change something.
    pub writes: Option<bool>,
}

impl Target {
    fn hits(&self, method: &str, path: &str) -> bool {
        let is_write = !matches!(method, "GET" | "HEAD" | "WATCH");
        self.method.as_deref().is_none_or(|wanted| wanted == method)
            && self.path.as_deref().is_none_or(|part| path.contains(part))
            && self.writes.is_none_or(|writes| writes == is_write)
    }
}

/// Methods that are counted: more than HTTP has, since a client may make up others.
const METHODS_MAX: usize = 16;

#[derive(Debug)]
struct Armed {
    fault: Fault,
    target: Target,
    /// Matching requests that still pass before the fault begins.
    skip: u32,
    /// Matching requests that are hit after that.
    times: u32,
}

#[derive(Debug, Default)]
struct Inner {
    armed: VecDeque<Armed>,
    /// Requests that asked, by method.
    asked: BTreeMap<String, u32>,
    /// Requests to which each fault did something.
    hits: BTreeMap<Fault, u32>,
}

/// The faults that are armed on one world. Clones share one list.
#[derive(Clone, Debug, Default)]
pub struct Faults(Arc<Mutex<Inner>>);

impl Faults {
    /// Arms `fault` for the `times` matching requests after the first `skip`.
    pub fn arm(&self, fault: Fault, target: Target, skip: u32, times: u32) {
        self.lock().armed.push_back(Armed { fault, target, skip, times });
    }

    /// Disarms everything.
    pub fn clear(&self) {
        self.lock().armed.clear();
    }

    /// True when nothing is armed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lock().armed.is_empty()
    }

    /// How many requests with this method could have been hit so far: every request, and every event of a watch.
    #[must_use]
    pub fn asked(&self, method: &str) -> u32 {
        self.lock().asked.get(method).copied().unwrap_or(0)
    }

    /// To how many requests this fault did something so far. What is armed may be used up by one to which it means nothing.
    #[must_use]
    pub fn hits(&self, fault: Fault) -> u32 {
        self.lock().hits.get(&fault).copied().unwrap_or(0)
    }

    /// Notes that this fault did something to a request.
    pub(crate) fn has_hit(&self, fault: Fault) {
        *self.lock().hits.entry(fault).or_default() += 1;
    }

    /// The fault that is to hit this request, if any; it is used up by the answer. A watch asks with method `WATCH`.
    #[must_use]
    pub fn take(&self, method: &str, path: &str) -> Option<Fault> {
        let mut inner = self.lock();
        let Inner { armed, asked, .. } = &mut *inner;
        if asked.len() < METHODS_MAX || asked.contains_key(method) {
            *asked.entry(method.to_owned()).or_default() += 1;
        }
        let position = armed.iter_mut().position(|candidate| {
            if !candidate.target.hits(method, path) {
                return false;
            }
            if candidate.skip > 0 {
                candidate.skip -= 1;
                return false;
            }
            true
        })?;
        let hit = armed.get_mut(position)?;
        hit.times = hit.times.saturating_sub(1);
        let fault = hit.fault;
        if hit.times == 0 {
            armed.remove(position);
        }
        Some(fault)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a client sees when a connection breaks.
#[derive(Debug, thiserror::Error, Clone, Copy, PartialEq, Eq)]
#[error("connection reset by peer")]
pub struct ConnectionReset;
