//! The second shape of a unit: one document in Cloudflare that many resources make up together.
//! Written only from a complete set of members and a document that was read; foreign entries, and those of members
//! that wait, are held or are paused, keep their place and content (design §3, "Documents").

use cf_api::request::Method;
use kinds::Reason;
use kinds::table::Document;
use serde_json::Value;

use crate::act::{Act, CredId, Part, Proof, Request, Write};
use crate::context::Context;
use crate::difference::put;
use crate::hold::Hold;
use crate::lifecycle::Step;
use crate::patches::prepare;
use crate::read::request;
use crate::refusal::hold_from_fault;
use crate::snapshot::{Member, Observed, Snapshot};
use crate::unit::MemberId;

/// What a member wants of the document: its entry with this body, or none. `Done` when it is so already.
pub(crate) fn wish(
    snapshot: &Snapshot,
    id: &MemberId,
    member: &Member,
    context: &Context<'_>,
    document: &Document,
    body: Option<&Value>,
) -> Result<Step, Hold> {
    let live = match &snapshot.document {
        Observed::Unread => return Ok(Step::Reading),
        Observed::Failed(fault) => return Err(hold_from_fault(member, fault, "read the shared document")),
        Observed::Absent(_) => &Value::Null,
        Observed::Seen(live, _) => live,
    };
    if !snapshot.complete {
        // Whoever is missing here might have an entry that a write would drop (V3).
        return Err(Hold::new(Reason::APIError, "not all resources of this document were read yet"));
    }
    if body.is_some() && !member.object.has_finalizer() {
        return Ok(prepare(member, Vec::new(), None));
    }
    let wanted = body.map(|body| marked(body, document, id));
    let canonical = |entry: &Value| (member.kind.hooks.canonical)(entry, &context.parents);
    let has = entries(live, document).iter().find(|entry| is_of(entry, document, id));
    let same = match (has, &wanted) {
        (None, None) => true,
        (Some(has), Some(wanted)) => canonical(has) == canonical(wanted),
        _ => false,
    };
    Ok(if same { Step::Done } else { Step::Entry(context.cred.clone(), wanted) })
}

/// One write of the whole document with all changed entries, if there are any.
pub(crate) fn write(snapshot: &Snapshot, changes: Vec<(&MemberId, CredId, Option<Value>)>) -> Option<Act> {
    let (first, cred, _) = changes.first()?;
    let member = snapshot.members.get(*first)?;
    let document = member.kind.routes.document?;
    let mut whole = match &snapshot.document {
        Observed::Seen(live, _) => live.clone(),
        _ => Value::Null,
    };
    let mut list = entries(&whole, &document).to_vec();
    let mut parts = Vec::new();
    let cred = cred.clone();
    for (id, _, entry) in changes {
        let place = list.iter().position(|other| is_of(other, &document, id));
        let proof = if place.is_some() { Proof::EntryMark(mark(id)) } else { Proof::NothingTouched };
        match (place, entry) {
            (Some(place), Some(entry)) => list[place] = entry,
            (Some(place), None) => drop(list.remove(place)),
            (None, Some(entry)) => list.push(entry),
            (None, None) => continue,
        }
        parts.push(Part { member: id.clone(), write: Write::Entry, why: Vec::new(), proof });
    }
    put(&mut whole, document.entries, Value::Array(list));
    let context = crate::read::reading_context(member).ok()?;
    let call = request(Method::Put, member.kind.routes.collection, context.parent, "")?.body(whole);
    Some(Act { request: Request::Cloudflare { cred, call }, parts, send_by: None })
}

/// True for a write of a shared document.
pub(crate) fn is_write(act: &Act) -> bool {
    act.parts.first().is_some_and(|part| part.write == Write::Entry)
}

/// Which resource an entry is of; survives a backup's restore, as a uid would not (seed: Rules).
fn mark(id: &MemberId) -> String {
    format!("kflare-{}/{}", id.kind, id.key)
}

fn is_of(entry: &Value, document: &Document, id: &MemberId) -> bool {
    entry.get(document.mark).and_then(Value::as_str) == Some(mark(id).as_str())
}

fn marked(body: &Value, document: &Document, id: &MemberId) -> Value {
    let mut entry = body.clone();
    put(&mut entry, &format!("/{}", document.mark), Value::String(mark(id)));
    entry
}

fn entries<'d>(document: &'d Value, shape: &Document) -> &'d [Value] {
    document.pointer(shape.entries).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}
