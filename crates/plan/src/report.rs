//! What the world is told about each member: its status, an Event when its condition turned, and when to look again.
//! Every exit of a pass reports (V6); a status that says the same is not written again (V5).

use std::time::Duration;

use cf_api::budget::Class;
use cf_api::text::one_line;
use jiff::Timestamp;
use kinds::table::{Lifecycle, Shape};
use kinds::{Reason, Resource, names};
use serde_json::{Map, Value, json};

use crate::difference::{put, set_fields};
use crate::hold::Hold;
use crate::lifecycle::{Step, step};
use crate::limits;
use crate::policy;
use crate::protection;
use crate::read::{is_readable, reading_context};
use crate::snapshot::{Member, Snapshot};
use crate::unit::MemberId;

/// What becomes known of a member.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The whole new status; absent when it would say the same.
    pub status: Option<Value>,
    /// The Event of a turned condition; only once the status was written.
    pub event: Option<Event>,
    /// The reason that the condition shows; absent for a resource that is gone.
    pub reason: Option<Reason>,
    /// When to look again.
    pub next: Next,
    /// Cloudflare refused the token: others that use it need not find out for themselves.
    pub refused_credentials: bool,
}

/// A Kubernetes Event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// `Normal` rather than `Warning`.
    pub normal: bool,
    /// The condition's reason.
    pub reason: Reason,
    /// The condition's message, shortened to what an Event holds.
    pub note: String,
}

/// When a member is looked at again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// It is in order: the drift check and the resync.
    Drift,
    /// It is in order, but Cloudflare is still at work on it: after this time, or with the drift check if that is sooner.
    Unsettled(Duration),
    /// It waits for something that is watched, with a slow poll to be safe.
    Wait,
    /// Its spec or the world has to change: the resync.
    Resync,
    /// After this time.
    After(Duration, Class),
    /// With growing back-off, not before the given time.
    Fault(Option<Duration>),
    /// In the unit's next pass.
    Now(Class),
    /// When its next event comes; at once if the cache is newer than what we had.
    Event,
    /// Never: it is gone.
    Forget,
}

/// What there is to tell about every member at the end of a pass.
#[must_use]
pub fn report(snapshot: &Snapshot, now: Timestamp) -> Vec<(MemberId, Report)> {
    snapshot.members.iter().map(|(id, member)| (id.clone(), of_member(snapshot, id, member, now))).collect()
}

/// The report of a member that has nothing left to do and nothing to tell, whatever the others of its unit do: it need
/// not stay in the snapshot.
#[must_use]
pub fn at_rest(snapshot: &Snapshot, id: &MemberId, now: Timestamp) -> Option<Report> {
    let report = of_member(snapshot, id, snapshot.members.get(id)?, now);
    let goes_on = matches!(report.next, Next::Now(_) | Next::Event | Next::Forget);
    (report.status.is_none() && report.event.is_none() && !goes_on).then_some(report)
}

fn of_member(snapshot: &Snapshot, id: &MemberId, member: &Member, now: Timestamp) -> Report {
    let progress = &member.progress;
    let silent = |next| Report { status: None, event: None, reason: None, next, refused_credentials: false };
    if progress.gone || progress.released {
        return silent(Next::Forget);
    }
    if progress.stale {
        return silent(Next::Event);
    }
    if progress.deferred {
        return silent(Next::Now(member.class));
    }
    match step(snapshot, id, member, now) {
        Step::Done => tell(member, None, now),
        Step::Held(hold) => tell(member, Some(hold), now),
        Step::Ended => silent(Next::Forget),
        Step::Reading if !is_readable(snapshot, member) => {
            let message = "kflare does not know how to read what it needs; please report it with the log";
            tell(member, Some(Hold::new(Reason::InternalError, message)), now)
        }
        Step::Reading | Step::Kubernetes(..) | Step::Cloudflare(..) | Step::Entry(..) => {
            silent(Next::Now(member.class))
        }
    }
}

fn tell(member: &Member, hold: Option<Hold>, now: Timestamp) -> Report {
    let old = &member.object;
    let (ready, reason, message) = match &hold {
        None => ("True", member.kind.ready, synced(member)),
        Some(hold) if hold.reason == Reason::Paused => {
            (old.ready().unwrap_or("Unknown"), hold.reason, hold.message.clone())
        }
        Some(hold) => ("False", hold.reason, hold.message.clone()),
    };
    let observed = match &hold {
        Some(hold) if hold.reason == Reason::Paused => observed_generation(old),
        _ => old.metadata.generation,
    };
    // Names and texts of others are in it; nobody's terminal is to obey them.
    let message = shortened(&one_line(&message, limits::MESSAGE_BYTES_MAX), limits::MESSAGE_BYTES_MAX);
    let mut status = if old.status.is_object() { old.status.clone() } else { json!({}) };
    if hold.is_none() {
        show_object(member, &mut status);
    }
    // Whatever else holds: what carries our protection is recorded, so that it can be taken off again.
    if let (Some(secret), Some(protected)) = (member.kind.secret, protection::protected(member)) {
        put(&mut status, secret.protected_status, json!(protected.to_string()));
    }
    let turned = turned(old, ready, reason);
    let since =
        old.condition().filter(|condition| condition.get("status").and_then(Value::as_str) == Some(ready));
    let since = since.and_then(|condition| condition.get("lastTransitionTime").cloned());
    status["observedGeneration"] = json!(observed);
    set_condition(
        &mut status,
        json!({
            "type": names::READY,
            "status": ready,
            "reason": reason.name(),
            "message": message,
            "observedGeneration": observed,
            "lastTransitionTime": since.unwrap_or_else(|| json!(at_seconds(now))),
        }),
    );
    let note = shortened(&message, limits::NOTE_BYTES_MAX);
    let normal = ready == "True" || reason == Reason::Paused;
    Report {
        event: turned.then_some(Event { normal, reason, note }),
        reason: Some(reason),
        refused_credentials: hold.as_ref().is_some_and(|hold| hold.refused_credentials),
        next: next(member, hold.as_ref(), now),
        status: (status != old.status).then_some(status),
    }
}

fn synced(member: &Member) -> String {
    match member.kind.lifecycle {
        Lifecycle::Observed => "the token works and the account can be read".to_owned(),
        Lifecycle::Managed => "Cloudflare's object is as the spec says".to_owned(),
    }
}

fn next(member: &Member, hold: Option<&Hold>, now: Timestamp) -> Next {
    use kinds::reason::Retry;
    let Some(hold) = hold else {
        // A mark that still waits for its time to be over is looked at when it is.
        return match crate::creating::Mark::of(&member.object) {
            Some(_) => Next::After(limits::CREATE_MAY_LAND, Class::Drift),
            None => match member.live.seen().and_then(member.kind.hooks.recheck) {
                Some(after) => Next::Unsettled(after),
                None => Next::Drift,
            },
        };
    };
    match (hold.reason.retry(), hold.retry_after) {
        (Retry::None, _) => Next::Resync,
        (Retry::Wait, _) => Next::Wait,
        (Retry::Look, _) => Next::After(until_next_look(member, now), Class::Drift),
        (Retry::Rejected, Some(after)) => Next::After(after, Class::Drift),
        (Retry::Rejected, None) => Next::Resync,
        (Retry::Fault, after) => Next::Fault(after),
    }
}

fn until_next_look(member: &Member, now: Timestamp) -> Duration {
    let condition = member.object.condition().filter(|_| member.object.ready() == Some("False"));
    let since = condition.and_then(|condition| condition.get("lastTransitionTime")?.as_str()?.parse().ok());
    let waited = since.map(|since: Timestamp| now.duration_since(since)).unwrap_or_default();
    Duration::try_from(waited).unwrap_or_default().clamp(limits::LOOK_FIRST, limits::LOOK_LAST)
}

/// The status fields that show Cloudflare's object, and the optional fields that the spec sets now.
fn show_object(member: &Member, status: &mut Value) {
    let Some(live) = member.live.seen() else { return };
    let identity = &member.kind.identity;
    if let (Some(external), true) = (live.pointer(identity.wire), identity.spec.is_none()) {
        put(status, identity.status, external.clone());
    }
    let parent = reading_context(member).map(|context| context.parent.to_owned()).unwrap_or_default();
    for field in member.kind.status {
        let shown = match field.wire {
            "{parent}" => Some(Value::String(parent.clone())),
            pointer => live.pointer(pointer).and_then(|value| fit(field.shape, value)),
        };
        match shown {
            Some(value) => put(status, field.status, value),
            None => remove(status, field.status),
        }
    }
    if member.kind.lifecycle == Lifecycle::Managed {
        let external = live.pointer(identity.wire).and_then(Value::as_str);
        match external.filter(|external| policy::took_over(&member.object, external)) {
            Some(external) => put(status, policy::ADOPTED_ID, json!(external)),
            None => remove(status, policy::ADOPTED_ID),
        }
        let set = set_fields(member.kind, &member.object);
        if let Some(members) = status.as_object_mut() {
            if set.is_empty() {
                members.remove("appliedFields");
            } else {
                members.insert("appliedFields".to_owned(), json!(set));
            }
        }
    }
}

/// A value of Cloudflare's as a status takes it: of the right shape, no longer than anybody reads, and harmless.
fn fit(shape: Shape, value: &Value) -> Option<Value> {
    let line = |text: &Value| text.as_str().map(|text| one_line(text, limits::SHOWN_CHARACTERS_MAX));
    match shape {
        Shape::Text => line(value).map(Value::from),
        Shape::Texts => {
            let texts = value.as_array()?.iter().take(limits::SHOWN_TEXTS_MAX);
            texts.map(line).collect::<Option<Vec<_>>>().map(Value::from)
        }
        Shape::Flag => value.as_bool().map(Value::from),
        Shape::Number => value.as_i64().map(Value::from),
    }
}

fn remove(status: &mut Value, pointer: &str) {
    let Some((place, name)) = pointer.rsplit_once('/') else { return };
    if let Some(members) = status.pointer_mut(place).and_then(Value::as_object_mut) {
        members.remove(name);
    }
}

fn observed_generation(resource: &Resource) -> i64 {
    resource.observed_generation().unwrap_or(-1).max(0)
}

fn turned(old: &Resource, ready: &str, reason: Reason) -> bool {
    let Some(condition) = old.condition() else { return true };
    let text = |name: &str| condition.get(name).and_then(Value::as_str);
    text("status") != Some(ready) || text("reason") != Some(reason.name())
}

fn set_condition(status: &mut Value, condition: Value) {
    let Some(members) = status.as_object_mut() else { return };
    let conditions = members.entry("conditions").or_insert_with(|| Value::Array(Vec::new()));
    let Some(list) = conditions.as_array_mut() else {
        *conditions = json!([condition]);
        return;
    };
    let is_ours =
        |other: &Map<String, Value>| other.get("type").and_then(Value::as_str) == Some(names::READY);
    match list.iter_mut().find(|other| other.as_object().is_some_and(is_ours)) {
        Some(place) => *place = condition,
        None => list.push(condition),
    }
}

/// Conditions carry whole seconds, as `metav1.Time` does: a fraction would come back cut and differ for ever.
fn at_seconds(now: Timestamp) -> String {
    Timestamp::from_second(now.as_second()).unwrap_or(now).to_string()
}

/// Cuts a text to at most `bytes` bytes at a character's boundary.
fn shortened(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let mut end = bytes - '…'.len_utf8();
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", &text[..end])
}
