//! What has to be read before the next decision, and how an answer changes the snapshot.
//! Many members of one list share one read; what a read failed to show stays unknown (V3).

use cf_api::budget::Class;
use cf_api::error::{ApiError, Class as ErrorClass};
use cf_api::items::Items;
use cf_api::request::{Method, Request};
use jiff::Timestamp;
use kinds::table::{Lifecycle, Parents};
use serde_json::Value;

use crate::act::CredId;
use crate::context::{self, Context, Desired, Teardown};
use crate::creating::{Mark, render_key};
use crate::deletion;
use crate::hold::Hold;
use crate::labelled;
use crate::lag;
use crate::limits;
use crate::listing;
use crate::policy::{self, Adoption};
use crate::predict::is_stand_in;
use crate::quota;
use crate::refusal::hold_from_fault;
use crate::snapshot::{Marked, Member, Observed, ReadFault, Snapshot};
use crate::unit::{MemberId, UnitKey};

/// One read and who it is for.
#[derive(Clone, Debug, PartialEq)]
pub struct Read {
    /// Whose token.
    pub cred: CredId,
    /// Who needs it; all members of the pass for the shared list.
    pub members: Vec<MemberId>,
    /// What is read.
    pub what: What,
    /// The request; of a list, its first page without page parameters.
    pub request: Request,
    /// `per_page`, when the request is a list that has to be read to its end.
    pub per_page: Option<u32>,
    /// Pays for it.
    pub class: Class,
}

/// What a read is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// The object with the recorded ID.
    Item,
    /// The object that the status alone records, before it is deleted.
    Recorded,
    /// The objects with a key.
    Lookup,
    /// All objects below the unit's parent.
    List,
    /// The document that the unit's members make up.
    Document,
    /// The state of the token.
    Verify,
    /// How full the unit's parent is.
    Usage,
}

/// How a read ended.
#[derive(Clone, Debug, PartialEq)]
pub enum ReadAnswer {
    /// `result` of a single call.
    One(Value),
    /// All items of a list, and whether they came in one page.
    Many {
        /// The items.
        items: Items,
        /// One page: what it lacks was absent.
        one_page: bool,
    },
    /// It failed.
    Failed(ReadFault),
}

/// What a member needs to know next.
#[derive(Clone, Debug, PartialEq)]
enum Need {
    Nothing,
    Item(String),
    Recorded(String),
    Lookup,
    Verify,
}

/// The reads that the next decision needs; empty when it needs none. They are independent of each other.
#[must_use]
pub fn reads(snapshot: &Snapshot) -> Vec<Read> {
    if let Some(read) = document_read(snapshot) {
        return vec![read];
    }
    let mut single = Vec::new();
    for (id, member) in &snapshot.members {
        let Ok(context) = reading_context(member) else { continue };
        let Some((what, request, per_page)) = single_request(snapshot, member, &context) else { continue };
        let members = vec![id.clone()];
        single.push(Read {
            cred: context.cred.clone(),
            members,
            what,
            request,
            per_page,
            class: member.class,
        });
    }
    match shared_list(snapshot, &single) {
        Some(list) => vec![list],
        None if single.is_empty() => quota::read(snapshot).into_iter().collect(),
        None => single,
    }
}

/// The read that a member needs for itself.
fn single_request(
    snapshot: &Snapshot,
    member: &Member,
    context: &Context<'_>,
) -> Option<(What, Request, Option<u32>)> {
    let routes = &member.kind.routes;
    Some(match need(snapshot, member, context) {
        Need::Nothing => return None,
        Need::Item(external) => (What::Item, item_request(member, context.parent, &external)?, None),
        Need::Recorded(external) => (What::Recorded, item_request(member, context.parent, &external)?, None),
        Need::Lookup => {
            (What::Lookup, lookup_request(member, context)?, Some(routes.page_size.min(LOOKUP_PAGE)))
        }
        Need::Verify => (What::Verify, verify_request(member)?, None),
    })
}

/// The shared document, once, when any member may use it.
fn document_read(snapshot: &Snapshot) -> Option<Read> {
    if !matches!(snapshot.document, Observed::Unread) {
        return None;
    }
    let readable = |member: &Member| {
        let usable = uses_document(snapshot, member);
        let context =
            reading_context(member).ok().filter(|context| !snapshot.refused.contains(context.cred))?;
        usable.then(|| (context.cred.clone(), context.parent.to_owned()))
    };
    let (member, (cred, parent)) =
        snapshot.members.values().find_map(|member| Some((member, readable(member)?)))?;
    let members = snapshot.members.keys().cloned().collect();
    let request = request(Method::Get, member.kind.routes.collection, &parent, "")?;
    let class = snapshot.members.values().map(|member| member.class).min().unwrap_or(Class::Drift);
    Some(Read { cred, members, what: What::Document, request, per_page: None, class })
}

fn uses_document(snapshot: &Snapshot, member: &Member) -> bool {
    let is_idle = is_settled(member) || policy::is_paused(&member.object) || stays(snapshot, member);
    member.kind.routes.document.is_some() && !is_idle
}

/// True for a deleting member whose object stays whatever is read: it is kept, or its policy is none.
fn stays(snapshot: &Snapshot, member: &Member) -> bool {
    member.object.is_deleting()
        && policy::keeps_object(member.kind, &member.object, snapshot.deletion_default) != Ok(false)
}

/// True when what the member needs to know next can be asked for.
pub(crate) fn is_readable(snapshot: &Snapshot, member: &Member) -> bool {
    if member.kind.routes.document.is_some() {
        return true;
    }
    let Ok(context) = reading_context(member) else { return false };
    single_request(snapshot, member, &context).is_some()
}

/// A page of a look-up: the records of one name and type. Every list of the API allows fifty.
const LOOKUP_PAGE: u32 = 50;

/// One list in place of many reads, where the unit has one and it is the cheaper way.
fn shared_list(snapshot: &Snapshot, single: &[Read]) -> Option<Read> {
    let UnitKey::Children { .. } = snapshot.unit else { return None };
    if !matches!(snapshot.listing, Observed::Unread) || single.is_empty() {
        return None;
    }
    let kind = snapshot.members.values().next()?.kind;
    let pages = snapshot.memory.listed.unwrap_or(0).div_ceil(kind.routes.page_size.max(1) as usize).max(1);
    let cheaper_one_by_one = single.len() < pages && single.len() <= limits::LOOKUPS_MAX;
    if cheaper_one_by_one {
        return None;
    }
    let reader = single.iter().find(|read| !snapshot.refused.contains(&read.cred))?;
    let member = snapshot.members.get(reader.members.first()?)?;
    let context = reading_context(member).ok()?;
    let request = request(Method::Get, kind.routes.collection, context.parent, "")?;
    Some(Read {
        cred: reader.cred.clone(),
        members: snapshot.members.keys().cloned().collect(),
        what: What::List,
        request,
        per_page: Some(kind.routes.page_size),
        class: single.iter().map(|read| read.class).min().unwrap_or(Class::Drift),
    })
}

/// The context a member's reads use: a deleting one needs less.
pub(crate) fn reading_context(member: &Member) -> Result<Context<'_>, Hold> {
    if member.object.is_deleting() {
        return match context::for_deletion(member) {
            Teardown::Able(context) => Ok(context),
            Teardown::Held(hold) => Err(hold),
            Teardown::ParentGone => Err(Hold::new(kinds::Reason::NotFound, "the parent is gone")),
        };
    }
    context::for_apply(member)
}

pub(crate) fn is_settled(member: &Member) -> bool {
    let progress = &member.progress;
    progress.hold.is_some() || progress.stale || progress.gone || progress.released || progress.deferred
}

fn need(snapshot: &Snapshot, member: &Member, context: &Context<'_>) -> Need {
    let is_idle = is_settled(member) || policy::is_paused(&member.object) || stays(snapshot, member);
    if is_idle || member.kind.routes.document.is_some() {
        return Need::Nothing;
    }
    if member.object.is_deleting() {
        return deletion_need(member);
    }
    if member.kind.secret.is_some() && matches!(member.verified, Observed::Unread) {
        return Need::Verify;
    }
    if let Some(external) = member.kind.external_id(&member.object) {
        if labelled::is_an_id(member, external).is_err() {
            return Need::Nothing;
        }
        match member.live {
            Observed::Unread => return Need::Item(external.to_owned()),
            Observed::Seen(..) if watches_for_twin(member, context) => return lookup_if_unread(member),
            Observed::Seen(..) | Observed::Failed(_) => return Need::Nothing,
            Observed::Absent(_) if member.kind.lifecycle == Lifecycle::Observed => return Need::Nothing,
            Observed::Absent(_) => {}
        }
    }
    // It was just made.
    if member.live.seen().is_some() && member.progress.marked.is_some() {
        return Need::Nothing;
    }
    let Ok(desired) = context::desired(member, context) else { return Need::Nothing };
    let adopted = member.object.annotation(kinds::names::ADOPT_ID).filter(|external| can_be_id(external));
    if let (Some(external), Observed::Unread) = (adopted, &member.live) {
        return Need::Item(external.to_owned());
    }
    if guarded(member, desired) || is_named(member) { Need::Nothing } else { lookup_if_unread(member) }
}

/// A create that Cloudflare would refuse if its object existed needs no look before it but the list that did not
/// show it (design, "Absence").
pub(crate) fn guarded(member: &Member, desired: &Desired) -> bool {
    member.progress.listed
        && member.progress.exists.is_none()
        && desired.refuses_twins
        && policy::adoption(&member.object) == Ok(Adoption::Never)
        && (Mark::of(&member.object).is_none() || member.progress.marked == Some(Marked::First))
}

/// The object to adopt is named by its ID and was asked for by it: what else has the key is no matter, unless an earlier
/// create of ours may have made it.
pub(crate) fn is_named(member: &Member) -> bool {
    member.object.annotation(kinds::names::ADOPT_ID).is_some()
        && Mark::of(&member.object).is_none()
        && matches!(member.live, Observed::Seen(..) | Observed::Failed(_))
}

fn lookup_if_unread(member: &Member) -> Need {
    if matches!(member.found, Observed::Unread) { Need::Lookup } else { Need::Nothing }
}

/// A member that owns its object and still carries the mark of a create that may have made a second one.
fn watches_for_twin(member: &Member, context: &Context<'_>) -> bool {
    let Some(mark) = Mark::of(&member.object).filter(|_| member.progress.marked.is_none()) else {
        return false;
    };
    context::desired(member, context).is_ok_and(|desired| !mark.is_harmless(desired))
}

fn deletion_need(member: &Member) -> Need {
    let nothing = !member.object.has_finalizer()
        || !member.dependents.is_empty()
        || member.kind.lifecycle == Lifecycle::Observed;
    if nothing {
        return Need::Nothing;
    }
    if let (Some(external), Observed::Unread) = (labelled::doubtful(member), &member.live)
        && can_be_id(external)
    {
        return Need::Item(external.to_owned());
    }
    if let Some(external) = deletion::to_look_at(member) {
        return Need::Recorded(external.to_owned());
    }
    let searches = Mark::of(&member.object).is_some() || member.progress.hidden.is_some();
    if searches { lookup_if_unread(member) } else { Need::Nothing }
}

fn item_request(member: &Member, parent: &str, external: &str) -> Option<Request> {
    request(Method::Get, member.kind.routes.item, parent, external)
}

fn lookup_request(member: &Member, context: &Context<'_>) -> Option<Request> {
    let routes = &member.kind.routes;
    let names: Vec<&'static str> =
        routes.lookup.iter().filter_map(|(_, pointer)| pointer.strip_prefix('/')).collect();
    // A resource that is going is looked up by what its mark names, whatever its spec says by now.
    let marked = Mark::of(&member.object).and_then(|mark| mark.parts(&names));
    let wanted = context::desired(member, context).ok().map(|desired| &desired.key_parts);
    let parts = match wanted {
        Some(parts) => parts,
        None => &marked?,
    };
    let mut call = request(Method::Get, routes.collection, context.parent, "")?;
    for (parameter, pointer) in routes.lookup {
        let value = match pointer.strip_prefix('/') {
            Some(name) => parts.get(name)?.clone(),
            None => context.parent.to_owned(),
        };
        call = call.query(*parameter, value);
    }
    Some(call)
}

/// The token's own state. Which of the two routes it is depends on the token, which only the sender holds: it swaps
/// in the account's route for a token that belongs to an account.
fn verify_request(member: &Member) -> Option<Request> {
    Request::new(Method::Get, member.kind.secret?.verify, &[]).ok()
}

/// True for what may be an ID of Cloudflare's: letters and digits, at least one digit. A word may be a route beside the
/// objects (`/dns_records/export`), and dots lead elsewhere.
#[must_use]
pub fn can_be_id(text: &str) -> bool {
    let is_fit = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    is_stand_in(text) || text.bytes().all(is_fit) && text.bytes().any(|byte| byte.is_ascii_digit())
}

/// A request whose template names `{parent}` and `{id}`.
pub(crate) fn request(method: Method, template: &'static str, parent: &str, id: &str) -> Option<Request> {
    let names = template.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let args: Vec<&str> = names.map(|name| if name == "parent" { parent } else { id }).collect();
    Request::new(method, template, &args).ok()
}

/// Folds the answer to a read that began at `began` into the snapshot.
pub fn fold(snapshot: &mut Snapshot, read: &Read, answer: ReadAnswer, began: Timestamp) {
    match read.what {
        What::List => listing::fold_list(snapshot, read, answer, began),
        What::Usage => quota::fold(snapshot, read, &answer, began),
        What::Document => match answer {
            ReadAnswer::One(document) => snapshot.document = Observed::Seen(document, began),
            ReadAnswer::Many { .. } => shared_read_failed(snapshot, read, &not_one()),
            ReadAnswer::Failed(fault) => shared_read_failed(snapshot, read, &fault),
        },
        What::Item => {
            each(snapshot, read, |member| member.live = item_seen(member, answer.clone(), began));
            lag::note_unseen(snapshot, &read.members);
        }
        What::Recorded => {
            each(snapshot, read, |member| member.recorded = item_seen(member, answer.clone(), began));
        }
        What::Verify => each(snapshot, read, |member| {
            member.verified = match answer.clone() {
                ReadAnswer::One(value) => Observed::Seen(value, began),
                ReadAnswer::Many { .. } => Observed::Failed(not_one()),
                ReadAnswer::Failed(fault) => Observed::Failed(fault),
            };
        }),
        What::Lookup => {
            each(snapshot, read, |member| member.found = lookup_seen(member, answer.clone(), began))
        }
    }
}

fn each(snapshot: &mut Snapshot, read: &Read, change: impl Fn(&mut Member)) {
    for id in &read.members {
        if let Some(member) = snapshot.members.get_mut(id) {
            change(member);
        }
    }
}

/// An answer of another shape than asked for.
pub(crate) fn not_one() -> ReadFault {
    ReadFault::Api(ApiError::new(200, Vec::new()))
}

fn item_seen(member: &Member, answer: ReadAnswer, began: Timestamp) -> Observed<Value> {
    match answer {
        ReadAnswer::One(value) if value.pointer(member.kind.identity.wire).is_some() => {
            Observed::Seen(value, began)
        }
        ReadAnswer::One(_) | ReadAnswer::Many { .. } => Observed::Failed(not_one()),
        ReadAnswer::Failed(ReadFault::Api(error)) if error.class() == ErrorClass::NotFound => {
            Observed::Absent(began)
        }
        ReadAnswer::Failed(fault) => Observed::Failed(fault),
    }
}

/// The answer of a filtered list: only what really has the key counts, whatever the filter let through.
fn lookup_seen(member: &Member, answer: ReadAnswer, began: Timestamp) -> Observed<Vec<Value>> {
    match answer {
        ReadAnswer::Many { items, .. } => {
            let Ok(context) = reading_context(member) else { return Observed::Unread };
            let desired = context::desired(member, &context).ok();
            let mark = Mark::of(&member.object);
            let is_wanted = |item: &Value| match (desired, &mark) {
                (Some(desired), _) => loose_key(member, item, &context.parents) == desired.loose_key,
                (None, Some(mark)) => full_key(member, item, &context.parents) == mark.key,
                (None, None) => true,
            };
            let matching: Vec<Value> = items
                .iter()
                .filter(|item| is_below(member, item, context.parent) && is_wanted(item))
                .collect();
            if matching.is_empty() { Observed::Absent(began) } else { Observed::Seen(matching, began) }
        }
        ReadAnswer::One(_) => Observed::Failed(not_one()),
        ReadAnswer::Failed(fault) => Observed::Failed(fault),
    }
}

/// A list may hold what lies below another parent (case B155: a zone of the same name in another account).
pub(crate) fn is_below(member: &Member, item: &Value, parent: &str) -> bool {
    let named = member.kind.routes.parent_in_body.and_then(|pointer| item.pointer(pointer));
    named.is_none_or(|named| named.as_str() == Some(parent))
}

/// The rendered part of an object's key that adoptions match.
pub(crate) fn loose_key(member: &Member, item: &Value, parents: &Parents<'_>) -> String {
    let hooks = &member.kind.hooks;
    render_key(&(hooks.loose_key)(&(hooks.canonical)(item, parents)))
}

/// The rendered key of an object of Cloudflare's.
pub(crate) fn full_key(member: &Member, item: &Value, parents: &Parents<'_>) -> String {
    let hooks = &member.kind.hooks;
    render_key(&(hooks.key)(&(hooks.canonical)(item, parents)))
}

/// The shared read failed. A token that Cloudflare refused fails only its own members (contract K19): the next one
/// is tried. Anything else concerns all that need it, and nobody who is paused, waits or can be let go without it.
pub(crate) fn shared_read_failed(snapshot: &mut Snapshot, read: &Read, fault: &ReadFault) {
    let refused = matches!(fault, ReadFault::Api(error)
        if matches!(error.class(), ErrorClass::Unauthorized | ErrorClass::Forbidden));
    if refused {
        snapshot.refused.insert(read.cred.clone());
    } else if read.what == What::Document {
        snapshot.document = Observed::Failed(fault.clone());
    } else {
        snapshot.listing = Observed::Failed(fault.clone());
    }
    let needs = |member: &Member| {
        let context = reading_context(member).ok().filter(|context| !refused || *context.cred == read.cred);
        context.is_some_and(|context| {
            uses_document(snapshot, member) || need(snapshot, member, &context) != Need::Nothing
        })
    };
    let concerned: Vec<MemberId> =
        snapshot.members.iter().filter(|(_, member)| needs(member)).map(|(id, _)| id.clone()).collect();
    for id in concerned {
        if let Some(member) = snapshot.members.get_mut(&id) {
            let doing = if read.what == What::Document {
                "read the shared document"
            } else {
                "list the objects of the parent"
            };
            let hold = hold_from_fault(member, fault, doing);
            member.progress.hold.get_or_insert(hold);
        }
    }
}
