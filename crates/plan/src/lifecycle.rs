//! The one lifecycle of every kind: what comes next for a member that is not being deleted.
//! Knows no kind and no batch; deleting ones are for `deletion`, the forming of stages for `stage`.

use cf_api::request::{Method, Request as Call};
use jiff::Timestamp;
use kinds::table::{Lifecycle, Update};
use kinds::{Reason, names};
use serde_json::{Value, json};

use crate::act::{CredId, FieldDiff, Patch, Proof, Write};
use crate::adoption::{recorded, take_over};
use crate::context::{self, Context, Desired};
use crate::creating::Mark;
use crate::difference::{create_body, differences, put, update_body};
use crate::hold::Hold;
use crate::image::{image, image_of_create};
use crate::labelled::is_its_own;
use crate::lag::recently_written;
use crate::patches::{claim, prepare, restamp, unmark};
use crate::policy;
use crate::read::{full_key, guarded, is_named, request};
use crate::refusal::hold_from_fault;
use crate::snapshot::{Marked, Member, Observed, Snapshot, holder};
use crate::unit::MemberId;
use crate::{deletion, document, labelled, protection, quota, sharing};

/// What comes next for one member.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Nothing: it is as it should be.
    Done,
    /// It goes no further in this pass.
    Held(Hold),
    /// It waits for an event, or it is gone.
    Ended,
    /// Something has to be read first.
    Reading,
    /// A patch in Kubernetes.
    Kubernetes(Write, Patch),
    /// Calls to Cloudflare, independent of each other.
    Cloudflare(CredId, Vec<Planned>),
    /// Its entry in the shared document has to become this; `None` takes it out.
    Entry(CredId, Option<Value>),
}

/// One call to Cloudflare that a member needs.
#[derive(Clone, Debug, PartialEq)]
pub struct Planned {
    /// What it does.
    pub write: Write,
    /// The call, if it goes alone.
    pub call: Call,
    /// May ride in a batch.
    pub batchable: bool,
    /// What differs.
    pub why: Vec<FieldDiff>,
    /// Why we may.
    pub proof: Proof,
}

/// The next step of a member.
#[must_use]
pub fn step(snapshot: &Snapshot, id: &MemberId, member: &Member, now: Timestamp) -> Step {
    let progress = &member.progress;
    if progress.stale || progress.gone || progress.released || progress.deferred {
        return Step::Ended;
    }
    if let Some(hold) = &progress.hold {
        // The only attempt since the mark was written made nothing: the mark would keep the next edit waiting.
        let made_nothing = progress.create_refused && progress.marked == Some(Marked::First);
        if made_nothing && Mark::of(&member.object).is_some() {
            return unmark(member);
        }
        // The same for the only delete that the note about it was written for.
        let sent_nothing = progress.delete_refused && progress.marked_deleting;
        if sent_nothing && member.object.annotation(names::DELETING).is_some() {
            return deletion::unmark_deleting(member);
        }
        return Step::Held(hold.clone());
    }
    if policy::is_paused(&member.object) {
        return if member.object.is_deleting() && !member.object.has_finalizer() {
            Step::Ended
        } else {
            Step::Held(paused(member))
        };
    }
    let next = if member.object.is_deleting() {
        deletion::step(snapshot, id, member, now)
    } else {
        apply(snapshot, id, member, now)
    };
    next.unwrap_or_else(Step::Held)
}

fn paused(member: &Member) -> Hold {
    let message = if member.object.is_deleting() {
        format!("paused: the deletion waits until annotation {} is removed", names::PAUSED)
    } else {
        format!("paused by annotation {}: nothing is read or changed", names::PAUSED)
    };
    Hold::new(Reason::Paused, message)
}

fn apply(snapshot: &Snapshot, id: &MemberId, member: &Member, now: Timestamp) -> Result<Step, Hold> {
    if member.kind.lifecycle == Lifecycle::Observed {
        return observed(member);
    }
    let context = context::for_apply(member)?;
    let desired = context::desired(member, &context)?;
    if let Some(document) = member.kind.routes.document {
        return document::wish(snapshot, id, member, &context, &document, Some(&desired.body));
    }
    let made = member.progress.marked.and_then(|_| {
        member.live.seen().and_then(|live| live.pointer(member.kind.identity.wire)).and_then(Value::as_str)
    });
    if let Some(external) = made.or_else(|| member.kind.external_id(&member.object)) {
        not_anothers(snapshot, id, external)?;
        labelled::is_an_id(member, external)?;
        match &member.live {
            Observed::Unread => return Ok(Step::Reading),
            Observed::Failed(fault) => {
                return Err(hold_from_fault(member, fault, &format!("read {}", named(member, external))));
            }
            Observed::Seen(live, _) => {
                return owned(snapshot, id, member, &context, live, external, now);
            }
            Observed::Absent(began) => recently_written(snapshot, id, *began)?,
        }
    }
    acquire(snapshot, id, member, &context, desired, now)
}

/// A kind that is only read: its finalizer, the protection of its Secret, and what Cloudflare says about it.
fn observed(member: &Member) -> Result<Step, Hold> {
    if !member.object.has_finalizer() {
        return Ok(prepare(member, Vec::new(), None));
    }
    let context = context::for_apply(member)?;
    if let Some(step) = protection::protect(member) {
        return Ok(step);
    }
    protection::verified(member)?;
    match &member.live {
        Observed::Unread if member.kind.external_id(&member.object).is_none() => {
            Err(Hold::new(Reason::InvalidSpec, format!("the spec names no {} ID", member.kind.name)))
        }
        Observed::Unread => Ok(Step::Reading),
        Observed::Failed(fault) => Err(hold_from_fault(member, fault, "read the account")),
        Observed::Absent(_) => Err(Hold::new(
            Reason::TerminalError,
            format!(
                "Cloudflare knows no such {}, or the token of Secret {} may not see it",
                member.kind.name, context.cred
            ),
        )),
        Observed::Seen(..) => Ok(Step::Done),
    }
}

/// A conflict with another resource of the kind comes before anything else (contract K11).
pub(crate) fn not_anothers(snapshot: &Snapshot, id: &MemberId, external: &str) -> Result<(), Hold> {
    let claims = snapshot.members.get(id).is_some_and(|member| member.kind.identity.claims);
    match snapshot.claims.get(external).and_then(|claims| holder(claims)) {
        Some(other) if other != id && claims => Err(conflict(snapshot, id, other)),
        _ => Ok(()),
    }
}

/// An object by its ID, and by the label where only that names it: people edit labels.
fn named(member: &Member, external: &str) -> String {
    let recorded = is_recorded(member, external);
    match member.kind.identity.label.filter(|label| !recorded && member.object.label(label) == Some(external))
    {
        Some(label) => format!("the object {external:?} that label {label} names"),
        None => format!("the object {external}"),
    }
}

/// Another resource holds the object.
pub(crate) fn conflict(snapshot: &Snapshot, id: &MemberId, other: &MemberId) -> Hold {
    let reason =
        snapshot.members.get(id).map_or(Reason::AlreadyExists, |member| member.kind.identity.conflict);
    Hold::new(reason, format!("{other} already manages this object: change or delete one of the two"))
}

/// The member's object is known and was read.
fn owned(
    snapshot: &Snapshot,
    id: &MemberId,
    member: &Member,
    context: &Context<'_>,
    live: &Value,
    external: &str,
    now: Timestamp,
) -> Result<Step, Hold> {
    let desired = context::desired(member, context)?;
    let label = member.kind.identity.label;
    is_its_own(member, context, desired, live, external)?;
    let claimed = label.is_none_or(|label| member.object.label(label) == Some(external));
    if !member.object.has_finalizer() || !claimed {
        return Ok(claim(member, desired, external));
    }
    if let Some(step) = settle_mark(snapshot, id, member, context, desired, external, now)? {
        return Ok(step);
    }
    if let Some(why) = (member.kind.hooks.unusable)(live) {
        return Err(Hold::new(Reason::TerminalError, why));
    }
    let diffs = differences(member.kind, &member.object, desired, live, &context.parents);
    if diffs.is_empty() {
        return Ok(Step::Done);
    }
    sharing::agreed(id, member, &diffs)?;
    if let Some(diff) = diffs.iter().find(|diff| member.progress.updated.contains(diff.field)) {
        return Err(Hold::new(
            Reason::TerminalError,
            format!(
                "Cloudflare accepted {} but did not apply it: it is still {} instead of {}",
                diff.field, diff.from, diff.to
            ),
        ));
    }
    let proof = proof_of(member, external);
    let writes = updates(member, desired, context, external, diffs, &proof);
    if writes.is_empty() {
        return Err(Hold::new(
            Reason::TerminalError,
            "Cloudflare has no way to change the fields that differ",
        ));
    }
    Ok(Step::Cloudflare(context.cred.clone(), writes))
}

/// What to do about a creating mark on a member that owns its object: remove it once nothing can land any more.
fn settle_mark(
    snapshot: &Snapshot,
    id: &MemberId,
    member: &Member,
    context: &Context<'_>,
    desired: &Desired,
    external: &str,
    now: Timestamp,
) -> Result<Option<Step>, Hold> {
    let Some(mark) = Mark::of(&member.object) else { return Ok(None) };
    // Without a label the ID is recorded in status alone, which comes last: until then the mark is all that proves it.
    if member.kind.identity.label.is_none() && !is_recorded(member, external) {
        return Ok(None);
    }
    if mark.is_harmless(desired) {
        return Ok(Some(unmark(member)));
    }
    let began = match &member.found {
        Observed::Unread if member.progress.marked.is_some() => return Ok(None),
        Observed::Unread => return Ok(Some(Step::Reading)),
        Observed::Failed(fault) => return Err(hold_from_fault(member, fault, "look for a late copy")),
        Observed::Seen(found, began) => {
            let twin = twins(snapshot, id, member, found, &mark, context).find(|twin| twin != external);
            if let Some(twin) = twin {
                return Ok(Some(delete_twin(member, context, &twin)));
            }
            *began
        }
        Observed::Absent(began) => *began,
    };
    if mark.is_over(began) {
        return Ok(Some(unmark(member)));
    }
    Ok(out_of_reach(&mark, now).map(|fresh| restamp(member, &fresh)))
}

/// Unclaimed objects that the marked request can have made, by ID: those that nothing tells from what it makes. Whatever
/// differs in a field that the create decided, or left at its default, is somebody else's.
pub(crate) fn twins<'f>(
    snapshot: &'f Snapshot,
    id: &'f MemberId,
    member: &'f Member,
    found: &'f [Value],
    mark: &'f Mark,
    context: &'f Context<'_>,
) -> impl Iterator<Item = String> + 'f {
    let desired = context::desired(member, context).ok();
    let made_now = desired.map(|desired| image_of_create(member, context, desired));
    found.iter().filter_map(move |object| {
        let external = object.pointer(member.kind.identity.wire).and_then(Value::as_str)?;
        let free =
            snapshot.claims.get(external).and_then(|claims| holder(claims)).is_none_or(|other| other == id);
        let key = desired.map_or(mark.key.as_str(), |desired| mark.names(desired));
        let ours = free
            && mark.may_have_made(object, member.kind.identity.created)
            && full_key(member, object, &context.parents) == key
            && mark.makes(&image(member.kind, object, &context.parents), made_now.as_deref());
        ours.then(|| external.to_owned())
    })
}

fn delete_twin(member: &Member, context: &Context<'_>, twin: &str) -> Step {
    delete(member, context, twin, Proof::LateTwin(twin.to_owned()))
}

/// The delete of one object.
pub(crate) fn delete(member: &Member, context: &Context<'_>, external: &str, proof: Proof) -> Step {
    let Some(call) = request(Method::Delete, member.kind.routes.item, context.parent, external) else {
        return Step::Held(unusable_id(external));
    };
    let write = Write::Delete(external.to_owned());
    Step::Cloudflare(
        context.cred.clone(),
        vec![Planned { write, call, batchable: true, why: Vec::new(), proof }],
    )
}

fn unusable_id(external: &str) -> Hold {
    Hold::new(Reason::TerminalError, format!("{external:?} cannot be an ID of Cloudflare's"))
}

fn is_recorded(member: &Member, external: &str) -> bool {
    member.object.status_str(member.kind.identity.status) == Some(external)
}

/// Why an object that the member names is ours.
pub(crate) fn proof_of(member: &Member, external: &str) -> Proof {
    if is_recorded(member, external) {
        Proof::StatusId(external.to_owned())
    } else {
        Proof::ClaimLabel(external.to_owned())
    }
}

/// The member has no object yet: find its own, take one over, or create it. A mark that can no longer prove anything
/// goes before the member is held.
fn acquire(
    snapshot: &Snapshot,
    id: &MemberId,
    member: &Member,
    context: &Context<'_>,
    desired: &Desired,
    now: Timestamp,
) -> Result<Step, Hold> {
    let (candidates, began) = match &member.found {
        Observed::Seen(found, began) => (found.as_slice(), Some(*began)),
        Observed::Absent(began) => (&[][..], Some(*began)),
        Observed::Unread if guarded(member, desired) || is_named(member) => (&[][..], None),
        Observed::Unread => return Ok(Step::Reading),
        Observed::Failed(fault) => return Err(hold_from_fault(member, fault, "look for the object")),
    };
    let mark = Mark::of(&member.object);
    // Every attempt since the mark was refused: what is found is foreign (design, "What the mark proves").
    let only_refused = member.progress.exists.is_some() && member.progress.marked == Some(Marked::First);
    if let Some(mark) = mark.as_ref().filter(|_| !only_refused)
        && let Some(own) = twins(snapshot, id, member, candidates, mark, context).next()
    {
        return Ok(claim(member, desired, &own));
    }
    if let Some(own) = recorded(snapshot, id, member, candidates) {
        return Ok(claim(member, desired, own));
    }
    let over = |mark: &Mark| only_refused || began.is_some_and(|began| mark.is_over(began));
    match take_over(snapshot, id, member, context, desired, candidates) {
        Ok(Some(step)) => Ok(step),
        Ok(None) => create(member, context, desired, mark, began, now),
        Err(_) if mark.as_ref().is_some_and(over) => Ok(unmark(member)),
        Err(hold) => Err(hold),
    }
}

/// Marks, then creates. Between the two lies the answer of a conditional patch, so that a create never rests on an
/// old copy of the resource (design, "Up to date").
fn create(
    member: &Member,
    context: &Context<'_>,
    desired: &Desired,
    mark: Option<Mark>,
    began: Option<Timestamp>,
    now: Timestamp,
) -> Result<Step, Hold> {
    if member.progress.marked.is_some() {
        let body = create_body(member.kind, &desired.body, context.parent);
        let call = request(Method::Post, member.kind.routes.collection, context.parent, "")
            .ok_or_else(|| unusable_id(context.parent))?
            .body(body.clone());
        let planned = Planned {
            write: Write::Create(body),
            call,
            batchable: true,
            why: Vec::new(),
            proof: Proof::NothingTouched,
        };
        return Ok(Step::Cloudflare(context.cred.clone(), vec![planned]));
    }
    let image = image_of_create(member, context, desired);
    // The mark of an earlier create that made, or may yet make, something else is not written over: it is the only proof
    // that this is ours.
    if let Some(earlier) = &mark
        && !(earlier.is_harmless(desired) && earlier.makes(&image, Some(&image)))
        && !began.is_some_and(|began| earlier.is_over(began))
    {
        return await_mark(member, earlier, now);
    }
    if let Some(hold) = quota::hold(member) {
        return Err(hold);
    }
    let fresh = Mark::for_create(desired.key.clone(), image, now);
    let mut annotations = vec![(names::CREATING, Value::String(fresh.to_string()))];
    if policy::is_adopted(member.kind, &member.object) {
        // A new object is kflare's own, whatever the lost one was (seed: Adoption and ownership).
        annotations.push((names::ADOPTED, Value::Null));
    }
    Ok(prepare(member, annotations, member.kind.identity.label.map(|label| (label, Value::Null))))
}

/// A mark that ends later than any mark written now was written by a clock that has been set back since: it starts anew.
fn out_of_reach(mark: &Mark, now: Timestamp) -> Option<Mark> {
    Some(mark.renewed(now)).filter(|fresh| mark.until > fresh.until)
}

/// The wait for the time after which nothing of an earlier attempt can land any more.
pub(crate) fn await_mark(member: &Member, mark: &Mark, now: Timestamp) -> Result<Step, Hold> {
    if let Some(fresh) = out_of_reach(mark, now) {
        return Ok(restamp(member, &fresh));
    }
    let left = mark.until.map(|until| until.duration_since(now)).unwrap_or_default();
    let left = std::time::Duration::try_from(left).unwrap_or_default() + std::time::Duration::from_secs(1);
    Err(Hold {
        reason: Reason::APIError,
        message: format!(
            "an earlier create was never answered and may still take effect until {}; then it is looked for once more",
            mark.until.unwrap_or(now)
        ),
        retry_after: Some(left),
        refused_credentials: false,
    })
}

/// The calls that change what differs, as the kind's API takes them.
fn updates(
    member: &Member,
    desired: &Desired,
    context: &Context<'_>,
    external: &str,
    diffs: Vec<FieldDiff>,
    proof: &Proof,
) -> Vec<Planned> {
    let own_call =
        |diff: &FieldDiff| member.kind.fields.iter().find(|field| field.name == diff.field)?.own_call;
    let (own, body): (Vec<_>, Vec<_>) = diffs.into_iter().partition(|diff| own_call(diff).is_some());
    let mut planned = Vec::new();
    for diff in own {
        let Some(route) = own_call(&diff) else { continue };
        let mut body = json!({});
        put(&mut body, route.body, diff.to.clone());
        if let Some(call) = request(Method::Put, route.path, context.parent, external) {
            let write = Write::Update(external.to_owned(), body.clone());
            planned.push(Planned {
                write,
                call: call.body(body),
                batchable: false,
                why: vec![diff],
                proof: proof.clone(),
            });
        }
    }
    let groups: Vec<Vec<FieldDiff>> = match member.kind.routes.update {
        Update::Never => Vec::new(),
        Update::PatchEach => body.into_iter().map(|diff| vec![diff]).collect(),
        Update::Patch | Update::Put if body.is_empty() => Vec::new(),
        Update::Patch | Update::Put => vec![body],
    };
    let whole = member.kind.routes.update == Update::Put;
    for why in groups {
        let body = if whole {
            desired.body.clone()
        } else {
            update_body(member.kind, &member.object, desired, &why)
        };
        let method = if whole { Method::Put } else { Method::Patch };
        if let Some(call) = request(method, member.kind.routes.item, context.parent, external) {
            let write = Write::Update(external.to_owned(), body.clone());
            planned.push(Planned {
                write,
                call: call.body(body),
                batchable: !whole,
                why,
                proof: proof.clone(),
            });
        }
    }
    planned
}
