//! What the manifests bring about, and what is there anyway: the held record of another team in the same zone is no
//! answer to what one's own manifests do. Told apart by the plan of the cluster as it is.

use std::collections::{BTreeMap, BTreeSet};

use operator::object;
use plan::MemberId;

use super::finding::{Finding, Findings};
use super::overlay::Overlay;

/// Objects that are named; more would hide the plan.
const SHOWN: usize = 5;

/// The objects of the manifests and all that they lead to.
pub(super) fn concerned(overlay: &Overlay) -> BTreeSet<MemberId> {
    let objects: BTreeMap<MemberId, _> = overlay
        .world
        .objects
        .iter()
        .map(|(kind, resource)| (MemberId::new(kind, resource.key()), (kind, resource)))
        .collect();
    let mut reached: BTreeSet<MemberId> = overlay.named.keys().cloned().collect();
    let mut open: Vec<MemberId> = reached.iter().cloned().collect();
    while let Some(member) = open.pop() {
        let Some((kind, resource)) = objects.get(&member) else { continue };
        for reference in kind.references {
            let Some(key) = object::referenced(reference, resource) else { continue };
            let above = MemberId { kind: reference.kind, key };
            if reached.insert(above.clone()) {
                open.push(above);
            }
        }
    }
    reached
}

/// The others of which there is something to tell.
pub(super) fn others(findings: &Findings, concerned: &BTreeSet<MemberId>) -> BTreeSet<MemberId> {
    let restless = findings.objects.iter().filter(|object| !object.is_at_rest());
    restless.map(|object| object.member.clone()).filter(|member| !concerned.contains(member)).collect()
}

/// Sets apart of the others what is so without the manifests, too; with what would be sent for them alone.
pub(super) fn set_apart(findings: &mut Findings, others: &BTreeSet<MemberId>, before: Findings) {
    let before: BTreeMap<MemberId, Finding> = {
        findings.reads += before.reads;
        before.objects.into_iter().map(|object| (object.member.clone(), object)).collect()
    };
    let is_apart = |object: &Finding| {
        others.contains(&object.member)
            && before.get(&object.member).is_some_and(|then| is_same(object, then))
    };
    let (apart, objects) = std::mem::take(&mut findings.objects).into_iter().partition(is_apart);
    (findings.objects, findings.apart) = (objects, apart);
    let apart: BTreeSet<&MemberId> = findings.apart.iter().map(|object| &object.member).collect();
    findings.acts.retain(|act| !act.parts.iter().all(|part| apart.contains(&part.member)));
    findings.notes.extend(note(&findings.apart));
}

/// The same is done, and the same is in the way. What a message counts may differ.
fn is_same(now: &Finding, then: &Finding) -> bool {
    let reason = |object: &Finding| object.obstacle.as_ref().map(|obstacle| obstacle.reason.clone());
    now.deeds == then.deeds && reason(now) == reason(then) && now.paused.is_some() == then.paused.is_some()
}

fn note(apart: &[Finding]) -> Option<String> {
    let shown: Vec<String> = apart.iter().take(SHOWN).map(|object| object.member.to_string()).collect();
    let more = match apart.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let (are, them) = match apart.len() {
        0 => return None,
        1 => ("is held or has something to do without these manifests, too, and does not count", "it"),
        _ => ("are held or have something to do without these manifests, too, and do not count", "them"),
    };
    Some(format!("{}{more} {are}; kflare plan --all shows {them}", shown.join(", ")))
}
