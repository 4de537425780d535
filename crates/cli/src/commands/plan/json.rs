//! A plan for programs: one JSON object whose shape has a version and is described in docs/guide/plan.md.
//! What is unknown until apply is a string that says so.

use kinds::names;
use plan::act::Target;
use plan::predict::{KNOWN_AFTER_APPLY, shown, shown_value};
use plan::{Act, FieldDiff, MemberId, Request};
use serde_json::{Value, json};

use super::finding::{Deed, Finding, Findings};

/// Grows when a script that reads the old shape could be wrong about the new one; new members do not count.
const SHAPE: u32 = 1;

/// Before the time in the mark of an object in the making.
const UNTIL: &str = " until ";

/// The plan as JSON.
pub(super) fn render(findings: &Findings) -> Value {
    let counts = findings.counts();
    json!({
        "version": SHAPE,
        "summary": {
            "create": counts.create,
            "change": counts.change,
            "delete": counts.delete,
            "adopt": counts.adopt,
            "release": counts.release,
            "mark": counts.mark,
            "paused": counts.paused,
            "held": counts.held,
            "unchanged": counts.unchanged,
            "calls": counts.calls,
            "patches": counts.patches,
            "reads": findings.reads,
        },
        "objects": findings.objects.iter().map(object).collect::<Vec<_>>(),
        "apart": findings.apart.iter().map(object).collect::<Vec<_>>(),
        "requests": findings.acts.iter().map(request).collect::<Vec<_>>(),
        "notes": findings.notes,
    })
}

fn object(object: &Finding) -> Value {
    let mut value = name(&object.member);
    if let Some(place) = &object.place {
        value["file"] = json!(place.file);
        value["line"] = json!(place.line);
    }
    value["actions"] = object.deeds.iter().map(action).collect();
    if let Some(obstacle) = &object.obstacle {
        value["held"] = json!({ "reason": obstacle.reason, "message": shown(&obstacle.message) });
    }
    if let Some(message) = &object.paused {
        value["paused"] = json!({ "message": shown(message) });
    }
    value
}

fn name(member: &MemberId) -> Value {
    let mut value = json!({ "kind": member.kind, "name": member.key.name });
    if !member.key.namespace.is_empty() {
        value["namespace"] = json!(member.key.namespace);
    }
    value
}

fn action(deed: &Deed) -> Value {
    let with_id = |action: &str, id: &str| json!({ "action": action, "id": shown(id) });
    match deed {
        Deed::Create(body) => json!({ "action": "create", "object": shown_value(body) }),
        Deed::Change(diffs) => {
            json!({ "action": "change", "fields": diffs.iter().map(difference).collect::<Vec<_>>() })
        }
        Deed::Delete(id) => with_id("delete", id),
        Deed::Adopt(id) => with_id("adopt", id),
        Deed::Claim(id) => with_id("claim", id),
        Deed::Assume(id) => with_id("assume", id),
        Deed::Release => json!({ "action": "release" }),
        Deed::Entry => json!({ "action": "entry" }),
        Deed::Protect(secret) => json!({ "action": "protect", "secret": secret }),
        Deed::Unprotect(secret) => json!({ "action": "unprotect", "secret": secret }),
        Deed::Mark(marks) => json!({ "action": "mark", "set": marks.set, "remove": marks.removed }),
    }
}

fn difference(diff: &FieldDiff) -> Value {
    json!({ "field": diff.field, "from": shown_value(&diff.from), "to": shown_value(&diff.to) })
}

fn request(act: &Act) -> Value {
    let objects: Vec<Value> = act.parts.iter().map(|part| name(&part.member)).collect();
    match &act.request {
        Request::Cloudflare { call, .. } => json!({
            "target": "cloudflare",
            "method": call.method.as_str(),
            "path": shown(&call.uri()),
            "body": call.body.as_ref().map(shown_value),
            "objects": objects,
        }),
        Request::Kubernetes(patch) => json!({
            "target": "kubernetes",
            "method": "PATCH",
            "kind": match patch.target { Target::Kind(kind) => kind, Target::Secret => "Secret" },
            "namespace": patch.key.namespace,
            "name": patch.key.name,
            "body": timeless(shown_value(&patch.body)),
            "objects": objects,
        }),
    }
}

/// The mark of an object in the making ends with a time that differs from plan to plan, and only `kflare run` decides.
fn timeless(mut body: Value) -> Value {
    let mark = body.get_mut("metadata").and_then(|metadata| metadata.get_mut("annotations"));
    if let Some(Value::String(mark)) = mark.and_then(|annotations| annotations.get_mut(names::CREATING))
        && let Some((before, _)) = mark.rsplit_once(UNTIL)
    {
        *mark = format!("{before}{UNTIL}{KNOWN_AFTER_APPLY}");
    }
    body
}
