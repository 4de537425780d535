//! The patches of resources in Kubernetes that stand around calls to Cloudflare: finalizer, marks, claim.
//! Each carries the uid; those that must not race carry the resource's version too.

use kinds::names;
use serde_json::{Value, json};

use crate::act::{Patch, Target, Write};
use crate::context::Desired;
use crate::creating::Mark;
use crate::lifecycle::Step;
use crate::policy;
use crate::snapshot::{Marked, Member};

/// The conditional patch that stands before every create and adoption.
pub(crate) fn prepare(
    member: &Member,
    annotations: Vec<(&str, Value)>,
    label: Option<(&str, Value)>,
) -> Step {
    let mut body = json!({"metadata": {"resourceVersion": member.object.metadata.resource_version}});
    add_finalizer(member, &mut body);
    for (name, value) in annotations {
        body["metadata"]["annotations"][name] = value;
    }
    if let Some((name, value)) = label.filter(|(name, _)| member.object.label(name).is_some()) {
        body["metadata"]["labels"][name] = value;
    }
    Step::Kubernetes(Write::Prepare, patch(member, body))
}

/// The conditional patch that takes an object over: claim, mark of adoption, finalizer.
pub(crate) fn adopt(member: &Member, external: &str) -> Step {
    let mut body = json!({"metadata": {
        "resourceVersion": member.object.metadata.resource_version,
        "annotations": {names::ADOPTED: "true", names::CREATING: null},
    }});
    add_finalizer(member, &mut body);
    if let Some(label) = member.kind.identity.label {
        body["metadata"]["labels"][label] = Value::String(external.to_owned());
    }
    Step::Kubernetes(Write::Prepare, patch(member, body))
}

/// Records the object that our own create made. Not conditional on the resource's version: whatever the user changed
/// meanwhile, this object is ours. The uid keeps it from a resource of the same name that was made anew.
pub(crate) fn claim(member: &Member, desired: &Desired, external: &str) -> Step {
    // Only a first attempt of this very pass, answered, leaves nothing behind that could still land.
    let keeps_mark = !desired.refuses_twins && member.progress.marked != Some(Marked::First);
    let mut body = json!({"metadata": {}});
    if Mark::of(&member.object).is_some() && !keeps_mark {
        body["metadata"]["annotations"][names::CREATING] = Value::Null;
    }
    // The status remembers it, and whoever replaced the manifest as a whole took the annotation away.
    if policy::took_over(&member.object, external) && member.object.annotation(names::ADOPTED).is_none() {
        body["metadata"]["annotations"][names::ADOPTED] = json!("true");
    }
    if let Some(label) = member.kind.identity.label {
        body["metadata"]["labels"][label] = Value::String(external.to_owned());
    }
    if !member.object.has_finalizer() {
        body["metadata"]["resourceVersion"] = Value::String(member.object.metadata.resource_version.clone());
        add_finalizer(member, &mut body);
    }
    Step::Kubernetes(Write::Claim, patch(member, body))
}

/// Writes the mark anew, with an end that the clock can reach.
pub(crate) fn restamp(member: &Member, mark: &Mark) -> Step {
    let body = json!({"metadata": {
        "resourceVersion": member.object.metadata.resource_version,
        "annotations": {names::CREATING: mark.to_string()},
    }});
    Step::Kubernetes(Write::Unmark, patch(member, body))
}

/// Takes the creating mark off: it proves nothing any more.
pub(crate) fn unmark(member: &Member) -> Step {
    let body = json!({"metadata": {"annotations": {names::CREATING: null}}});
    Step::Kubernetes(Write::Unmark, patch(member, body))
}

fn add_finalizer(member: &Member, body: &mut Value) {
    if !member.object.has_finalizer() {
        let mut finalizers = member.object.metadata.finalizers.clone();
        finalizers.push(names::FINALIZER.to_owned());
        body["metadata"]["finalizers"] = json!(finalizers);
    }
}

/// A merge patch of the member's own resource.
pub(crate) fn patch(member: &Member, mut body: Value) -> Patch {
    body["metadata"]["uid"] = Value::String(member.object.metadata.uid.clone());
    Patch { target: Target::Kind(member.kind.name), key: member.object.key(), body }
}
