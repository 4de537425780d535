//! How this world acts out faults. Leaves it to `fault` which request is hit.

use std::time::Duration;

use bytes::Bytes;

use super::status::{Reason, Status};
use crate::fault::Fault;

/// What a fault does to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// Nothing is done and this is answered.
    Answer(Status),
    /// It is carried out, and this is answered all the same.
    AnswerAfter(Status),
    /// The page of a proxy, with this status.
    ProxyPage(u16),
    /// Never answered; carried out or not.
    Silence { commit: bool },
    /// Never answered, carried out after the next list.
    Late,
    /// The connection breaks; carried out or not.
    Reset { commit: bool },
    /// The body never ends.
    SlowBody,
    /// The body ends in the middle.
    CutBody,
    /// A read is answered as it was answered before, if it was.
    Recall,
    /// This is what it was answered before.
    Again { media_type: Option<&'static str>, bytes: Bytes },
    /// A watch that ends before it begins.
    Cut,
    /// A watch that opens and says nothing.
    Stale,
    /// A watch that is told at once that its version is gone.
    Gap,
    /// The fault means nothing to this request.
    Pass,
}

/// How long a late watch holds its events: more than a pass takes, less than anyone would call it broken.
const WATCH_LATE_BY: Duration = Duration::from_secs(2);

/// Seconds in `Retry-After`, as the server's own priority and fairness says.
const RETRY_AFTER_SECONDS: u32 = 1;

/// What `fault` does to a request that is a watch, a write or a read.
pub(crate) fn act(fault: Fault, is_watch: bool, is_write: bool) -> Act {
    match fault {
        Fault::Unauthorized => Act::Answer(unauthorized()),
        Fault::Forbidden => Act::Answer(forbidden()),
        Fault::TooManyRequests => Act::Answer(Status::too_many_requests(RETRY_AFTER_SECONDS)),
        Fault::TooManyRequestsBare => Act::Answer(Status::too_many_requests(0)),
        Fault::InternalError => Act::Answer(internal_error()),
        Fault::BadGateway => Act::ProxyPage(502),
        Fault::Unavailable => Act::Answer(unavailable()),
        Fault::GatewayTimeout if is_watch => Act::Answer(timed_out()),
        Fault::GatewayTimeout => Act::AnswerAfter(timed_out()),
        Fault::Page => Act::ProxyPage(200),
        Fault::TimeoutBeforeCommit => Act::Silence { commit: false },
        Fault::TimeoutAfterCommit => Act::Silence { commit: true },
        Fault::LateCommit if is_write => Act::Late,
        Fault::LateCommit => Act::Silence { commit: false },
        Fault::ResetBeforeCommit => Act::Reset { commit: false },
        Fault::ResetAfterCommit => Act::Reset { commit: true },
        Fault::SlowBody if is_watch => Act::Stale,
        Fault::SlowBody => Act::SlowBody,
        Fault::CutBody if is_watch => Act::Cut,
        Fault::CutBody => Act::CutBody,
        Fault::StaleRead if !is_watch && !is_write => Act::Recall,
        Fault::WriteConflict if is_write => Act::Answer(write_conflict()),
        Fault::WatchCut if is_watch => Act::Cut,
        Fault::WatchStale if is_watch => Act::Stale,
        Fault::WatchGap if is_watch => Act::Gap,
        Fault::StaleRead
        | Fault::WriteConflict
        | Fault::WatchCut
        | Fault::WatchStale
        | Fault::WatchLate
        | Fault::WatchGap => Act::Pass,
    }
}

/// How a running watch ends, or goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WatchEnd {
    Cut,
    /// It does not: it delivers after this time.
    Late(Duration),
    /// It does not: the fault means nothing to a watch.
    Pass,
    Stale,
    Reset,
    Error(Status),
}

/// What `fault` does to a watch that is about to send an event.
pub(crate) fn while_watching(fault: Fault) -> WatchEnd {
    match fault {
        Fault::WatchLate => WatchEnd::Late(WATCH_LATE_BY),
        Fault::WatchGap => WatchEnd::Error(gap()),
        Fault::Unauthorized => WatchEnd::Error(unauthorized()),
        Fault::Forbidden => WatchEnd::Error(forbidden()),
        Fault::TooManyRequests => WatchEnd::Error(Status::too_many_requests(RETRY_AFTER_SECONDS)),
        Fault::TooManyRequestsBare => WatchEnd::Error(Status::too_many_requests(0)),
        Fault::GatewayTimeout => WatchEnd::Error(timed_out()),
        Fault::InternalError => WatchEnd::Error(internal_error()),
        Fault::ResetBeforeCommit | Fault::ResetAfterCommit => WatchEnd::Reset,
        Fault::WatchStale
        | Fault::SlowBody
        | Fault::TimeoutBeforeCommit
        | Fault::TimeoutAfterCommit
        | Fault::LateCommit => WatchEnd::Stale,
        Fault::WatchCut | Fault::CutBody | Fault::Page | Fault::BadGateway | Fault::Unavailable => {
            WatchEnd::Cut
        }
        Fault::StaleRead | Fault::WriteConflict => WatchEnd::Pass,
    }
}

/// What a watch is told whose version is compacted.
pub(crate) fn gap() -> Status {
    Status::expired("The resourceVersion for the provided watch is too old.")
}

fn unauthorized() -> Status {
    Status::new(Reason::Unauthorized, "Unauthorized")
}

fn forbidden() -> Status {
    Status::new(Reason::Forbidden, "forbidden: the authorizer has not heard of this subject's roles yet")
}

/// What the server answers when it does not wait for etcd any longer.
fn timed_out() -> Status {
    let message = "Timeout: request did not complete within the allotted timeout";
    Status::new(Reason::Timeout, message)
}

fn internal_error() -> Status {
    Status::new(Reason::InternalError, "Internal error occurred: etcdserver: leader changed")
}

fn unavailable() -> Status {
    Status::new(Reason::ServiceUnavailable, "the server is currently unable to handle the request")
}

fn write_conflict() -> Status {
    Status::new(
        Reason::Conflict,
        "Operation cannot be fulfilled: the object has been modified; please apply your changes to the latest version and try again",
    )
}
