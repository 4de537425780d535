//! Watches: streams that read a collection's window of events. A watch holds no events of its own but the
//! few it is writing, so a slow client costs nothing; one that falls out of the window gets 410.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use futures::stream;
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use serde_json::json;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::time::Instant;

use super::ApiServer;
use super::complaint;
use super::faulty::{self, WatchEnd};
use super::present::{Presenter, error_line};
use super::selector::Selector;
use super::status::{Reason, Status};
use super::store::{Change, Event, Stored};
use crate::fault::ConnectionReset;
use crate::serve::AnswerBody;

/// Events taken from the window at once: bounds what a watch holds while its client is slow.
const BATCH: usize = 64;
/// The API server sends bookmarks about once a minute (`cacher.go`, `bookmarkFrequency`).
const BOOKMARK_EVERY: Duration = Duration::from_secs(60);
/// How long a watch lasts that does not say: the lower end of the server's 30 to 60 minutes
/// (`--min-request-timeout`), without its randomness.
const LASTS: Duration = Duration::from_secs(1800);

/// What a watch asks for.
#[derive(Clone, Debug)]
pub(crate) struct WatchOptions {
    pub(crate) presenter: Presenter,
    pub(crate) namespace: Option<String>,
    pub(crate) selector: Selector,
    pub(crate) resource_version: String,
    pub(crate) version_match: String,
    pub(crate) bookmarks: bool,
    pub(crate) send_initial: Option<bool>,
    pub(crate) timeout: Option<Duration>,
    /// For faults that hit while it runs.
    pub(crate) path: String,
}

struct Watch {
    server: ApiServer,
    options: WatchOptions,
    /// Existing objects that are still to be sent as ADDED.
    initial: VecDeque<Arc<Stored>>,
    /// After the last initial event: the bookmark that says so.
    ends_initial: bool,
    cursor: u64,
    pending: VecDeque<Bytes>,
    changed: broadcast::Receiver<()>,
    next_bookmark: Instant,
    deadline: Instant,
    /// A fault: nothing is sent before.
    held_until: Option<Instant>,
    sent_columns: bool,
    state: Progress,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    Running,
    /// A half-open connection: it says nothing any more.
    Stale,
    /// The pending lines are the last.
    Ending,
    Reset,
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.server.inner.watchers.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Starts a watch.
pub(crate) fn start(server: &ApiServer, options: WatchOptions) -> Result<AnswerBody, Status> {
    let state = server.state();
    let Some(collection) = state.collection(options.presenter.endpoint.resource.id) else {
        return Err(Status::no_such_resource());
    };
    check_initial(&options)?;
    let asked = match options.resource_version.as_str() {
        "" => 0,
        text => text.parse::<u64>().map_err(|_| {
            // The server takes what went wrong for its own fault.
            Status::unknown(super::read::unreadable_version(text))
        })?,
    };
    if asked > state.version {
        let message = format!("Too large resource version: {asked}, current: {}", state.version);
        return Err(Status::new(Reason::Timeout, message).with_cause(
            "ResourceVersionTooLarge",
            "Too large resource version",
            "",
        ));
    }
    let wants_initial = options.send_initial.unwrap_or(asked == 0);
    let mut initial = VecDeque::new();
    if wants_initial {
        let objects = collection.range(options.namespace.as_deref()).map(|(_, object)| object);
        initial.extend(objects.filter(|object| options.selector.matches(&object.value)).cloned());
    }
    let cursor = if wants_initial || asked == 0 { state.version } else { asked };
    let now = Instant::now();
    let watch = Watch {
        changed: collection.subscribe(),
        ends_initial: options.send_initial == Some(true) && options.bookmarks,
        cursor,
        initial,
        pending: VecDeque::new(),
        next_bookmark: now + BOOKMARK_EVERY,
        deadline: now + options.timeout.unwrap_or(LASTS),
        held_until: None,
        sent_columns: false,
        state: Progress::Running,
        server: server.clone(),
        options,
    };
    server.inner.watchers.fetch_add(1, Ordering::Relaxed);
    drop(state);
    let frames = stream::unfold(watch, |mut watch| async move {
        let line = watch.next().await?;
        Some((line.map(Frame::data), watch))
    });
    Ok(StreamBody::new(frames).boxed_unsync())
}

fn check_initial(options: &WatchOptions) -> Result<(), Status> {
    const MATCH: &str = "resourceVersionMatch";
    const NOT_OLDER: &str = "NotOlderThan";
    let mut causes = Vec::new();
    let asked = options.version_match.as_str();
    if options.send_initial.is_some() && asked != NOT_OLDER {
        let why = format!("sendInitialEvents requires setting resourceVersionMatch to {NOT_OLDER}");
        causes.push(complaint::forbidden(MATCH, why));
    }
    if !asked.is_empty() {
        if options.send_initial.is_none() {
            let why = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
            causes.push(complaint::forbidden(MATCH, why));
        }
        if asked != NOT_OLDER {
            causes.push(complaint::unsupported(MATCH, asked, &[NOT_OLDER]));
        }
    }
    if causes.is_empty() { Ok(()) } else { Err(Status::invalid(super::read::LIST_OPTIONS, "", causes)) }
}

impl Watch {
    async fn next(&mut self) -> Option<Result<Bytes, ConnectionReset>> {
        loop {
            match self.state {
                Progress::Stale => std::future::pending::<()>().await,
                Progress::Reset => {
                    self.state = Progress::Ending;
                    self.pending.clear();
                    return Some(Err(ConnectionReset));
                }
                Progress::Running | Progress::Ending => {}
            }
            if let Some(until) = self.held_until.take() {
                tokio::time::sleep_until(until).await;
            }
            if let Some(line) = self.pending.pop_front() {
                return Some(Ok(line));
            }
            if self.state == Progress::Ending {
                return None;
            }
            self.fill();
            if self.state == Progress::Running && self.pending.is_empty() {
                self.rest().await;
            }
        }
    }

    /// Takes the next lines, if there are any.
    fn fill(&mut self) {
        self.options.presenter.now = self.server.inner.clock.now();
        if let Some(object) = self.initial.pop_front() {
            self.deliver("ADDED", &object);
            return;
        }
        if self.ends_initial {
            self.ends_initial = false;
            self.pending.push_back(self.options.presenter.bookmark(self.cursor, true));
            return;
        }
        let id = self.options.presenter.endpoint.resource.id;
        let events = {
            let state = self.server.state();
            // What it was told so far is looked at now.
            while !matches!(self.changed.try_recv(), Err(TryRecvError::Empty | TryRecvError::Closed)) {}
            match (state.collection(id), state.withdrawn(id)) {
                (Some(collection), _) => collection.events_after(self.cursor, BATCH),
                (None, Some(withdrawn)) => {
                    // The definition of the resource was deleted: once the last deletions are told, the watch ends.
                    let events = withdrawn.events_after(self.cursor, BATCH);
                    if events.as_ref().is_ok_and(Vec::is_empty) {
                        self.state = Progress::Ending;
                    }
                    events
                }
                (None, None) => {
                    self.state = Progress::Ending;
                    return;
                }
            }
        };
        match events {
            Ok(events) => {
                for event in events {
                    if self.state != Progress::Running {
                        return;
                    }
                    self.cursor = event.version;
                    self.show(&event);
                }
            }
            Err(compacted) => self.expire(compacted.oldest),
        }
    }

    fn expire(&mut self, oldest: u64) {
        let message = format!("too old resource version: {} ({oldest})", self.cursor);
        self.pending.push_back(error_line(&Status::expired(message)));
        self.state = Progress::Ending;
    }

    /// Sends what an event means under the selector: a match that starts or stops is ADDED or DELETED.
    fn show(&mut self, event: &Event) {
        if let Some(namespace) = &self.options.namespace
            && event.object.value["metadata"]["namespace"].as_str() != Some(namespace)
        {
            return;
        }
        let selector = &self.options.selector;
        let was = event.before.as_ref().is_some_and(|before| selector.matches(&before.value));
        let is = event.change != Change::Deleted && selector.matches(&event.object.value);
        let kind = match (was, is) {
            (false, false) => return,
            (false, true) => "ADDED",
            (true, true) => "MODIFIED",
            (true, false) => "DELETED",
        };
        match &event.before {
            // What stops to match is shown as it was, at the version of the change.
            Some(before) if kind == "DELETED" && event.change != Change::Deleted => {
                let mut value = before.value.clone();
                value["metadata"]["resourceVersion"] = json!(event.version.to_string());
                self.deliver(kind, &Arc::new(Stored::new(value, event.version)));
            }
            _ => self.deliver(kind, &Arc::clone(&event.object)),
        }
    }

    fn deliver(&mut self, kind: &str, object: &Arc<Stored>) {
        let fault = self.server.faults().take("WATCH", &self.options.path);
        let end = fault.map_or(WatchEnd::Pass, faulty::while_watching);
        if let Some(fault) = fault.filter(|_| end != WatchEnd::Pass) {
            self.server.faults().has_hit(fault);
        }
        match end {
            WatchEnd::Pass => self.send(kind, object),
            WatchEnd::Cut => self.state = Progress::Ending,
            WatchEnd::Stale => self.state = Progress::Stale,
            WatchEnd::Reset => self.state = Progress::Reset,
            WatchEnd::Error(status) => {
                self.pending.push_back(error_line(&status));
                self.state = Progress::Ending;
            }
            WatchEnd::Late(by) => {
                self.held_until = Some(Instant::now() + by);
                self.send(kind, object);
            }
        }
    }

    fn send(&mut self, kind: &str, object: &Arc<Stored>) {
        let first = !self.sent_columns;
        self.sent_columns = true;
        self.pending.push_back(self.options.presenter.event(kind, object, first));
    }

    /// Waits for a change, the next bookmark or the end.
    async fn rest(&mut self) {
        tokio::select! {
            biased;
            changed = self.changed.recv() => {
                if changed == Err(RecvError::Closed) {
                    self.state = Progress::Ending;
                }
            }
            () = tokio::time::sleep_until(self.deadline) => {
                self.state = Progress::Ending;
                self.bookmark();
            }
            () = tokio::time::sleep_until(self.next_bookmark) => self.bookmark(),
        }
    }

    fn bookmark(&mut self) {
        self.next_bookmark = Instant::now() + BOOKMARK_EVERY;
        if !self.options.bookmarks {
            return;
        }
        // Nothing is pending, so everything of this collection up to now has been sent.
        let state = self.server.state();
        if state.collection(self.options.presenter.endpoint.resource.id).is_some_and(|collection| {
            collection.events_after(self.cursor, 1).is_ok_and(|events| events.is_empty())
        }) {
            self.cursor = state.version;
        }
        drop(state);
        self.pending.push_back(self.options.presenter.bookmark(self.cursor, false));
    }
}
