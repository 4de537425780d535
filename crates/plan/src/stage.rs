//! Forms the next stage from every member's next step: patches in Kubernetes first, then calls to Cloudflare,
//! batched where the API has batches. Who does what is for `lifecycle`; this module only groups.

use std::collections::{BTreeMap, BTreeSet};

use cf_api::budget::Class;
use cf_api::request::Method;
use jiff::Timestamp;
use kinds::Kind;
use kinds::table::Batch;
use serde_json::{Map, Value, json};

use crate::act::{Act, CredId, Decision, Part, Patch, Proof, Request, Write};
use crate::creating::Mark;
use crate::document;
use crate::lifecycle::{Planned, Step, step};
use crate::read::{reading_context, request};
use crate::snapshot::{Member, Snapshot};
use crate::unit::MemberId;

/// What comes next for the unit.
///
/// # Guarantees
/// The acts of a stage are independent. While any member that still fits into this pass's batch has something to
/// write in Kubernetes before its call, no call is made, so that one batch carries all that are ready.
#[must_use]
pub fn decide(snapshot: &Snapshot, now: Timestamp) -> Decision {
    let mut patches = Vec::new();
    let mut calls = Vec::new();
    let mut entries = Vec::new();
    let in_order = in_order(snapshot).into_iter();
    let steps: Vec<_> = in_order.map(|(id, member)| (id, member, step(snapshot, id, member, now))).collect();
    // What is about to become, or to be made, what another one would make is not made beside it.
    let mut taken = BTreeSet::new();
    let mut beside = BTreeSet::new();
    for (_, member, _) in
        steps.iter().filter(|(_, _, step)| sends(step, |write| matches!(write, Write::Update(..))))
    {
        takes_key(&mut taken, member);
    }
    for (id, member, _) in
        steps.iter().filter(|(_, _, step)| sends(step, |write| matches!(write, Write::Create(_))))
    {
        if !takes_key(&mut taken, member) {
            beside.insert(*id);
        }
    }
    for (id, member, step) in steps {
        match step {
            Step::Kubernetes(write, patch) => {
                if write == Write::Prepare && !takes_target(&mut taken, member, &patch) {
                    continue;
                }
                let part = Part { member: id.clone(), write, why: Vec::new(), proof: Proof::NothingTouched };
                patches.push(Act { request: Request::Kubernetes(patch), parts: vec![part], send_by: None });
            }
            Step::Cloudflare(cred, planned) if !beside.contains(id) => {
                calls.extend(planned.into_iter().map(|planned| (id, member, cred.clone(), planned)));
            }
            Step::Entry(cred, entry) => entries.push((id, cred, entry)),
            Step::Cloudflare(..) | Step::Done | Step::Held(_) | Step::Ended | Step::Reading => {}
        }
    }
    let mut acts = slice(snapshot, patches);
    if acts.is_empty() {
        // Nothing to write in Kubernetes, or only what has to wait until this batch is through.
        acts = cloudflare_acts(snapshot, calls);
    }
    if acts.is_empty() {
        acts.extend(document::write(snapshot, entries));
    }
    if acts.is_empty() { Decision::Done } else { Decision::Stage(acts) }
}

fn sends(step: &Step, is_it: impl Fn(&Write) -> bool) -> bool {
    matches!(step, Step::Cloudflare(_, planned) if planned.iter().any(|planned| is_it(&planned.write)))
}

/// User changes first, then by age and name: the order in which a slice is filled and twins are told apart.
fn in_order(snapshot: &Snapshot) -> Vec<(&MemberId, &Member)> {
    let mut members: Vec<_> = snapshot.members.iter().collect();
    members.sort_by_key(|(id, member)| (member.class, member.object.metadata.creation_timestamp, *id));
    members
}

/// Two resources may want to take over one object: only the first does in this stage.
fn takes_target(taken: &mut BTreeSet<String>, member: &Member, patch: &Patch) -> bool {
    let label = member.kind.identity.label.and_then(|label| patch.body["metadata"]["labels"][label].as_str());
    match label {
        Some(external) => taken.insert(format!("id {external}")),
        None => takes_key(taken, member),
    }
}

/// Two resources of one key: only the first creates in this stage; the other then finds the object claimed.
fn takes_key(taken: &mut BTreeSet<String>, member: &Member) -> bool {
    match member.desired.get() {
        Some(Ok(desired)) if member.kind.routes.document.is_none() => taken.insert(desired.key.clone()),
        _ => true,
    }
}

/// At most one batch of members is taken through a create in one pass (design, "DNS batches"); patches that finish
/// what was begun always go.
fn slice(snapshot: &Snapshot, patches: Vec<Act>) -> Vec<Act> {
    let limit = snapshot
        .members
        .values()
        .next()
        .and_then(|member| Some((batch_of(member.kind)?.limit)(plan_of(member))));
    let Some(limit) = limit else { return patches };
    let begun = snapshot.members.values().filter(|member| member.progress.marked.is_some()).count();
    let mut room = limit.saturating_sub(begun);
    let is_prepare = |act: &Act| act.parts.iter().any(|part| part.write == Write::Prepare);
    let (prepares, others): (Vec<_>, Vec<_>) = patches.into_iter().partition(is_prepare);
    let mut acts = others;
    for act in prepares {
        if room == 0 {
            break;
        }
        room -= 1;
        acts.push(act);
    }
    acts
}

fn batch_of(kind: &'static Kind) -> Option<Batch> {
    kind.routes.batch
}

/// The plan of the member's parent, which bounds its batches; empty when unknown.
fn plan_of(member: &Member) -> &str {
    let parent = member.kind.parent().and_then(|reference| member.references.get(reference.field)?.found());
    parent
        .zip(batch_of(member.kind))
        .and_then(|(parent, batch)| parent.status_str(batch.plan))
        .unwrap_or_default()
}

type Ready<'s> = (&'s MemberId, &'s Member, CredId, Planned);

fn cloudflare_acts(snapshot: &Snapshot, calls: Vec<Ready<'_>>) -> Vec<Act> {
    let mut single = Vec::new();
    let mut batches: BTreeMap<(CredId, usize), Vec<Ready<'_>>> = BTreeMap::new();
    for ready in calls {
        let (id, member, cred, planned) = &ready;
        let quarantined = snapshot.memory.quarantine.get(*id) == Some(&member.object.metadata.generation);
        match batch_of(member.kind) {
            Some(batch) if planned.batchable && !quarantined => {
                let limit = (batch.limit)(plan_of(member)).max(1);
                let limit = member.progress.refused_in.map_or(limit, |parts| (parts / 2).max(1)).min(limit);
                batches.entry((cred.clone(), limit)).or_default().push(ready);
            }
            _ => single.push(act(ready)),
        }
    }
    for ((_, limit), group) in batches {
        let mut group = group.into_iter().peekable();
        while group.peek().is_some() {
            let chunk: Vec<_> = group.by_ref().take(limit).collect();
            single.extend(batch(chunk));
        }
    }
    single
}

fn act((id, member, cred, planned): Ready<'_>) -> Act {
    let send_by = send_by(member, &planned.write);
    let part = Part { member: id.clone(), write: planned.write, why: planned.why, proof: planned.proof };
    Act { request: Request::Cloudflare { cred, call: planned.call }, parts: vec![part], send_by }
}

/// Until when a create's mark covers it.
fn send_by(member: &Member, write: &Write) -> Option<Timestamp> {
    matches!(write, Write::Create(_)).then(|| Mark::of(&member.object)?.send_by()).flatten()
}

/// One batch, in the order in which Cloudflare runs it: deletes, patches, posts. A single write goes by itself: its
/// errors are about it alone.
fn batch(mut chunk: Vec<Ready<'_>>) -> Vec<Act> {
    let order = |write: &Write| match write {
        Write::Delete(_) => 0,
        Write::Update(..) => 1,
        _ => 2,
    };
    chunk.sort_by_key(|(_, _, _, planned)| order(&planned.write));
    let Some((_, member, cred, _)) = chunk.first() else { return Vec::new() };
    let (member, cred) = (*member, cred.clone());
    let call = batch_of(member.kind).filter(|_| chunk.len() > 1).and_then(|batch| {
        let context = reading_context(member).ok()?;
        request(Method::Post, batch.path, context.parent, "")
    });
    let Some(call) = call else { return chunk.into_iter().map(act).collect() };
    let mut body = Map::new();
    let mut parts = Vec::new();
    let send_by = chunk.iter().filter_map(|(_, member, _, planned)| send_by(member, &planned.write)).min();
    for (id, _, _, planned) in chunk {
        let (list, item) = match &planned.write {
            Write::Delete(external) => ("deletes", json!({"id": external})),
            Write::Update(external, change) => ("patches", with_id(change, external)),
            Write::Create(object) => ("posts", object.clone()),
            _ => continue,
        };
        if let Some(items) = body.entry(list).or_insert_with(|| json!([])).as_array_mut() {
            items.push(item);
        }
        parts.push(Part { member: id.clone(), write: planned.write, why: planned.why, proof: planned.proof });
    }
    vec![Act { request: Request::Cloudflare { cred, call: call.body(Value::Object(body)) }, parts, send_by }]
}

fn with_id(change: &Value, external: &str) -> Value {
    let mut change = change.clone();
    change["id"] = Value::String(external.to_owned());
    change
}

/// The class that pays for an act: the most urgent of its members'.
#[must_use]
pub fn class_of(snapshot: &Snapshot, act: &Act) -> Class {
    let classes = act.parts.iter().filter_map(|part| Some(snapshot.members.get(&part.member)?.class));
    classes.min().unwrap_or(Class::User)
}
