//! What stands in Cloudflare and in Kubernetes once the acts so far are carried out: a layer over what reads show.
//! Predicts by `plan::predict` and keeps what came of it; sends nothing, and has nothing to send with.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cf_api::error::{ApiError, ApiMessage};
use kinds::{Key, Resource};
use plan::act::Target;
use plan::predict::{self, is_stand_in, merge};
use plan::read::What;
use plan::snapshot::{Member, ReadFault};
use plan::{Act, MemberId, Outcome, Read, ReadAnswer, Reply, Request, Snapshot, UnitKey, Write};
use serde_json::{Value, json};

use crate::object;
use crate::send::WriteError;
use crate::state::Shared;
use crate::status::Writing;

/// Status and code of what Cloudflare says about a record that is not there.
const NOT_FOUND: (u16, i64) = (404, 81_044);

/// The same of an ID that it does not take for one.
const NO_ROUTE: (u16, i64) = (400, 7003);

/// Where objects lie in Cloudflare: their kind, and the ID of their parent.
type Place = (&'static str, String);

/// What was foreseen so far. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Foresight {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Debug, Default)]
struct Inner {
    /// Objects that were written, by ID; `None` for one that is deleted.
    objects: BTreeMap<Place, BTreeMap<String, Option<Value>>>,
    /// Documents that were written, by path.
    documents: BTreeMap<String, Value>,
    secrets: BTreeMap<Key, Resource>,
    acts: Vec<(UnitKey, Act)>,
    /// How many of them belong to rounds that are over.
    settled: usize,
}

impl Foresight {
    /// The answer to a read that needs no call: of what was written, and of what lies below a parent that is not there
    /// yet.
    #[must_use]
    pub fn answer(&self, snapshot: &Snapshot, read: &Read) -> Option<ReadAnswer> {
        let place = place_of(snapshot, read)?;
        let is_new = is_stand_in(&place.1);
        let inner = self.lock();
        match read.what {
            What::Verify => None,
            What::Document => {
                let written = inner.documents.get(&read.request.path).cloned();
                written.or_else(|| is_new.then(|| json!({}))).map(ReadAnswer::One)
            }
            What::Item | What::Recorded => {
                let id = read.request.path.rsplit('/').next().unwrap_or_default();
                match inner.objects.get(&place).and_then(|objects| objects.get(id)) {
                    Some(Some(object)) => Some(ReadAnswer::One(object.clone())),
                    Some(None) => Some(absent()),
                    None if is_stand_in(id) => Some(absent()),
                    // What a person typed, in a place that is yet to be made.
                    None => is_new.then(|| if plan::can_be_id(id) { absent() } else { unroutable() }),
                }
            }
            // What is not there yet has no room that anybody could tell.
            What::Usage => is_new.then(|| ReadAnswer::One(json!({}))),
            What::List | What::Lookup => is_new.then(|| {
                let items = inner.made(&place).cloned().collect();
                ReadAnswer::Many { items, one_page: true }
            }),
        }
    }

    /// A list, or a count, as it would be after what was written.
    #[must_use]
    pub fn corrected(&self, snapshot: &Snapshot, read: &Read, answer: ReadAnswer) -> ReadAnswer {
        let Some(place) = place_of(snapshot, read) else { return answer };
        let inner = self.lock();
        let (items, one_page) = match &answer {
            ReadAnswer::Many { items, one_page } => (items, one_page),
            ReadAnswer::One(usage) if read.what == What::Usage => {
                return ReadAnswer::One(inner.counted(&place, usage));
            }
            ReadAnswer::One(_) | ReadAnswer::Failed(_) => return answer,
        };
        let Some(written) = inner.objects.get(&place) else { return answer };
        let wire = kinds::kind(place.0).map_or("", |kind| kind.identity.wire);
        let now = |item: &Value| {
            let id = item.pointer(wire).and_then(Value::as_str).unwrap_or_default();
            written.get(id).cloned().unwrap_or_else(|| Some(item.clone()))
        };
        // A filter of the list that does not fit what was made is no harm: whoever asked looks at the key himself.
        let items = items.iter().filter_map(|item| now(&item)).chain(inner.made(&place).cloned()).collect();
        ReadAnswer::Many { items, one_page: *one_page }
    }

    /// What comes of an act. Our picture has it from here on.
    pub fn act(&self, snapshot: &Snapshot, act: &Act, shared: &Shared) -> Outcome {
        let outcome = predict::predict(act, snapshot);
        let mut inner = self.lock();
        inner.acts.push((snapshot.unit.clone(), act.clone()));
        match (&act.request, &outcome) {
            (Request::Kubernetes(patch), Outcome::Done(Reply::Kubernetes(object))) => match patch.target {
                Target::Secret => drop(inner.secrets.insert(patch.key.clone(), Resource::clone(object))),
                Target::Kind(name) if object.is_deleting() && object.metadata.finalizers.is_empty() => {
                    if let Some(kind) = kinds::kind(name) {
                        shared.lock().take_deletion(kind, &patch.key, None);
                    }
                }
                Target::Kind(_) => {}
            },
            (Request::Cloudflare { call, .. }, Outcome::Done(Reply::Cloudflare(result))) => {
                match act.parts.as_slice() {
                    [part] if part.write != Write::Entry => inner.write(snapshot, part, result),
                    _ => drop(inner.documents.insert(call.path.clone(), result.clone())),
                }
            }
            (Request::Cloudflare { .. }, Outcome::Done(Reply::Batch(results))) => {
                for (part, result) in act.parts.iter().zip(results) {
                    inner.write(snapshot, part, result);
                }
            }
            _ => {}
        }
        outcome
    }

    /// Takes statuses as written: what refers to these objects sees them.
    pub fn tell(&self, writings: Vec<Writing<'_>>, shared: &Shared) -> BTreeMap<MemberId, WriteError> {
        let mut failed = BTreeMap::new();
        for Writing { member, base, status, .. } in writings {
            let change = json!({ "status": object::difference(&base.status, &status) });
            match (kinds::kind(member.kind), predict::patched(base, &change)) {
                (Some(kind), Ok(object)) => {
                    shared.wrote(kind, &object, Some(object::fingerprint(&object)));
                }
                (None, _) => {}
                (_, Err(error)) => drop(failed.insert(member, WriteError::Failed(error.to_string()))),
            }
        }
        failed
    }

    /// The metadata of a Secret that was written.
    #[must_use]
    pub fn secret(&self, key: &Key) -> Option<Resource> {
        self.lock().secrets.get(key).cloned()
    }

    /// Passes that ran at the same time have ended: which of them was faster shall not show in the order of acts.
    pub fn end_round(&self) {
        let mut inner = self.lock();
        let settled = inner.settled;
        inner.acts[settled..].sort_by(|(a, _), (b, _)| a.cmp(b));
        inner.settled = inner.acts.len();
    }

    /// All acts so far, in an order in which they could be sent.
    #[must_use]
    pub fn acts(&self) -> Vec<Act> {
        self.lock().acts.iter().map(|(_, act)| act.clone()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// The objects that only the acts so far make.
    fn made(&self, place: &Place) -> impl Iterator<Item = &Value> {
        let written = self.objects.get(place).into_iter().flatten();
        written.filter(|(id, _)| is_stand_in(id)).filter_map(|(_, object)| object.as_ref())
    }

    /// How full a parent would be.
    fn counted(&self, place: &Place, usage: &Value) -> Value {
        let held =
            kinds::kind(place.0).and_then(|kind| kind.routes.batch?.usage).map_or("", |usage| usage.held);
        let written = self.objects.get(place).into_iter().flatten();
        let gone = written.filter(|(id, object)| object.is_none() && !is_stand_in(id)).count();
        let mut usage = usage.clone();
        if let Some(count) = usage.pointer_mut(held)
            && let Some(before) = count.as_u64()
        {
            *count = (before + self.made(place).count() as u64).saturating_sub(gone as u64).into();
        }
        usage
    }

    fn write(&mut self, snapshot: &Snapshot, part: &plan::act::Part, result: &Value) {
        let Some(member) = snapshot.members.get(&part.member) else { return };
        let Some(id) = result.pointer(member.kind.identity.wire).and_then(Value::as_str) else { return };
        let known = self.objects.entry(place(member)).or_default().entry(id.to_owned()).or_default();
        match (&part.write, known) {
            (Write::Delete(_), known) => *known = None,
            // Acts of one stage know nothing of each other: each brings its own change to what the others left.
            (Write::Update(..), Some(known)) => {
                let change = object::difference(member.live.seen().unwrap_or(&Value::Null), result);
                change.iter().for_each(|change| merge(known, change));
            }
            (_, known) => *known = Some(result.clone()),
        }
    }
}

fn place(member: &Member) -> Place {
    let parent = member.kind.parent().and_then(|reference| {
        let parent = member.references.get(reference.field)?.found()?;
        kinds::kind(reference.kind)?.shown_id(parent)
    });
    (member.kind.name, parent.unwrap_or_default().to_owned())
}

fn place_of(snapshot: &Snapshot, read: &Read) -> Option<Place> {
    Some(place(snapshot.members.get(read.members.first()?)?))
}

fn absent() -> ReadAnswer {
    failed(NOT_FOUND, "it is deleted by an earlier step, or not there yet")
}

fn unroutable() -> ReadAnswer {
    failed(NO_ROUTE, "this cannot be an ID of Cloudflare's")
}

fn failed((status, code): (u16, i64), text: &str) -> ReadAnswer {
    ReadAnswer::Failed(ReadFault::Api(ApiError::new(status, vec![ApiMessage::new(code, text)])))
}
