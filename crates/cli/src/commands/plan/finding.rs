//! What a preview comes to, object by object: what is done for each, and what is in the way.
//! Reads acts and conditions; how they are shown is for `text` and `json`.

use std::collections::BTreeMap;

use kinds::{Key, names};
use operator::preview::Preview;
use plan::act::Part;
use plan::{Act, FieldDiff, MemberId, Request, Write};
use serde_json::Value;

use super::TOKEN;
use super::overlay::Overlay;
use crate::commands::sandbox::manifest::Place;

/// What is done for an object.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Deed {
    /// Its object is created in Cloudflare from this body.
    Create(Value),
    /// Its object is changed.
    Change(Vec<FieldDiff>),
    /// The object with this ID is deleted in Cloudflare.
    Delete(String),
    /// The object with this ID, which kflare did not make, becomes the resource's own.
    Adopt(String),
    /// The object with this ID turns out to be the resource's own.
    Claim(String),
    /// The object with this ID would be taken for the resource's own: without a cluster nobody knows.
    Assume(String),
    /// The resource goes, and what it stands for stays in Cloudflare.
    Release,
    /// Its entry in a shared document is set or taken out.
    Entry,
    /// The Secret with its token is protected from deletion.
    Protect(String),
    /// The protection of a Secret that nobody uses any more is taken off.
    Unprotect(String),
    /// Only what kflare notes on the resource changes.
    Mark(Marks),
}

/// What kflare notes on a resource: finalizers, labels and annotations by their names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Marks {
    pub(super) set: Vec<String>,
    pub(super) removed: Vec<String>,
}

/// What keeps an object from being as its manifest says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Obstacle {
    pub(super) reason: String,
    pub(super) message: String,
}

/// One object.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Finding {
    pub(super) member: MemberId,
    /// Where a manifest describes it.
    pub(super) place: Option<Place>,
    pub(super) deeds: Vec<Deed>,
    pub(super) obstacle: Option<Obstacle>,
    /// The user wants it left alone, which is no obstacle; what its condition says.
    pub(super) paused: Option<String>,
}

/// All that there is to show.
#[derive(Debug, Default)]
pub(super) struct Findings {
    /// Parents before children, then by name.
    pub(super) objects: Vec<Finding>,
    /// What is so without the manifests, too, and is none of theirs.
    pub(super) apart: Vec<Finding>,
    /// What would be sent, in order.
    pub(super) acts: Vec<Act>,
    /// Calls to Cloudflare that finding out took.
    pub(super) reads: usize,
    pub(super) notes: Vec<String>,
    /// Without it nobody knows what would be removed.
    pub(super) has_cluster: bool,
}

/// How many objects there are of each sort.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) create: usize,
    pub(super) change: usize,
    /// `None` where it cannot be known, here and below.
    pub(super) delete: Option<usize>,
    pub(super) adopt: usize,
    pub(super) release: Option<usize>,
    /// For these only something in Kubernetes changes.
    pub(super) mark: usize,
    pub(super) paused: usize,
    pub(super) held: usize,
    pub(super) unchanged: usize,
    /// Requests that change something in Cloudflare.
    pub(super) calls: usize,
    /// Patches of objects in Kubernetes, statuses not counted.
    pub(super) patches: usize,
}

impl Finding {
    pub(super) fn has(&self, wanted: fn(&Deed) -> bool) -> bool {
        self.deeds.iter().any(wanted)
    }

    /// What is created is not counted as changed, although some of its fields take a second call.
    fn is_changed(&self) -> bool {
        let changed = self.has(|deed| matches!(deed, Deed::Change(_) | Deed::Entry));
        changed && !self.has(|deed| matches!(deed, Deed::Create(_)))
    }

    /// All that is done for it is done in Kubernetes, and it stays.
    fn is_marked(&self) -> bool {
        let is_mark = |deed: &Deed| matches!(deed, Deed::Mark(_) | Deed::Protect(_) | Deed::Unprotect(_));
        !self.deeds.is_empty() && self.deeds.iter().all(is_mark)
    }

    /// Nothing is done for it, nothing is in its way, and nobody wants it left alone.
    pub(super) fn is_at_rest(&self) -> bool {
        self.deeds.is_empty() && self.obstacle.is_none() && self.paused.is_none()
    }
}

impl Findings {
    /// Reads what a preview found.
    pub(super) fn of(preview: Preview, overlay: &Overlay) -> Self {
        let mut deeds: BTreeMap<&MemberId, Vec<Deed>> = BTreeMap::new();
        for act in &preview.acts {
            for part in &act.parts {
                let known = deeds.entry(&part.member).or_default();
                add(known, act, part, overlay);
            }
        }
        let mut objects: Vec<Finding> = preview
            .objects
            .iter()
            .map(|(member, after)| {
                let restless = preview.restless.contains(member);
                let mut deeds = deeds.remove(member).unwrap_or_default();
                if deeds.iter().any(|deed| !matches!(deed, Deed::Mark(_))) {
                    // What is noted on the resource goes without saying.
                    deeds.retain(|deed| !matches!(deed, Deed::Mark(_)));
                }
                if !overlay.has_cluster {
                    deeds.retain(|deed| {
                        !matches!(deed, Deed::Mark(_) | Deed::Protect(_) | Deed::Unprotect(_))
                    });
                }
                let (obstacle, paused) = match after {
                    Some(after) => standing(after, restless, &overlay.stand_ins),
                    None => (None, None),
                };
                let place = overlay.named.get(member).cloned();
                Finding { member: member.clone(), place, deeds, obstacle, paused }
            })
            .collect();
        let rank = |kind: &str| kinds::KINDS.iter().position(|known| known.name == kind);
        objects
            .sort_by(|a, b| (rank(a.member.kind), &a.member.key).cmp(&(rank(b.member.kind), &b.member.key)));
        let Preview { mut acts, reads, .. } = preview;
        let (mut notes, has_cluster) = (overlay.notes.clone(), overlay.has_cluster);
        if !has_cluster {
            // What would be noted on resources depends on what the cluster has.
            acts.retain(|act| matches!(act.request, Request::Cloudflare { .. }));
            notes.extend(orphans(&objects));
            notes.extend(stood_in(&objects, &overlay.stand_ins));
        }
        Self { objects, apart: Vec::new(), acts, reads, notes, has_cluster }
    }

    pub(super) fn counts(&self) -> Counts {
        let count =
            |wanted: fn(&Deed) -> bool| self.objects.iter().filter(|object| object.has(wanted)).count();
        let calls = self.acts.iter().filter(|act| matches!(act.request, Request::Cloudflare { .. })).count();
        Counts {
            create: count(|deed| matches!(deed, Deed::Create(_))),
            change: self.objects.iter().filter(|object| object.is_changed()).count(),
            delete: self.has_cluster.then(|| count(|deed| matches!(deed, Deed::Delete(_)))),
            adopt: count(|deed| matches!(deed, Deed::Adopt(_) | Deed::Claim(_))),
            release: self.has_cluster.then(|| count(|deed| matches!(deed, Deed::Release))),
            mark: self.objects.iter().filter(|object| object.is_marked()).count(),
            paused: self.objects.iter().filter(|object| object.paused.is_some()).count(),
            held: self.objects.iter().filter(|object| object.obstacle.is_some()).count(),
            unchanged: self.objects.iter().filter(|object| object.is_at_rest()).count(),
            calls,
            patches: self.acts.len() - calls,
        }
    }

    /// Something is in the way of an object.
    pub(super) fn is_obstructed(&self) -> bool {
        self.objects.iter().any(|object| object.obstacle.is_some())
    }
}

/// Adds what a part of an act means for its member.
fn add(deeds: &mut Vec<Deed>, act: &Act, part: &Part, overlay: &Overlay) {
    let made = deeds.iter().any(|deed| matches!(deed, Deed::Create(_)));
    let deleted = deeds.iter().any(|deed| matches!(deed, Deed::Delete(_)));
    let deed = match &part.write {
        Write::Create(body) => Deed::Create(body.clone()),
        Write::Update(..) => {
            if let Some(Deed::Change(known)) = deeds.iter_mut().find(|deed| matches!(deed, Deed::Change(_))) {
                known.extend(part.why.iter().cloned());
                return;
            }
            Deed::Change(part.why.clone())
        }
        Write::Delete(id) => Deed::Delete(id.clone()),
        Write::Entry => Deed::Entry,
        Write::Protect => protection(act),
        Write::Prepare => match label(act, part).filter(|_| adopts(act)) {
            Some(id) if overlay.assumed.contains(&part.member) => Deed::Assume(id),
            Some(id) => Deed::Adopt(id),
            None => Deed::Mark(marks(act)),
        },
        Write::Claim => match label(act, part).filter(|_| !made) {
            Some(id) => Deed::Claim(id),
            None => Deed::Mark(marks(act)),
        },
        Write::Release if deleted => Deed::Mark(marks(act)),
        Write::Release => Deed::Release,
        Write::Unmark | Write::MarkDeleting => Deed::Mark(marks(act)),
    };
    if !deeds.contains(&deed) {
        deeds.push(deed);
    }
}

fn body(act: &Act) -> Option<&Value> {
    match &act.request {
        Request::Kubernetes(patch) => Some(&patch.body["metadata"]),
        Request::Cloudflare { .. } => None,
    }
}

/// What a patch sets and takes off.
fn marks(act: &Act) -> Marks {
    let mut marks = Marks::default();
    let Some(metadata) = body(act) else { return marks };
    if let Some(finalizers) = metadata["finalizers"].as_array() {
        let name = format!("finalizer {}", names::FINALIZER);
        let is_set = finalizers.iter().any(|finalizer| finalizer == names::FINALIZER);
        if is_set { marks.set.push(name) } else { marks.removed.push(name) }
    }
    for (field, word) in [("labels", "label"), ("annotations", "annotation")] {
        for (name, value) in metadata[field].as_object().into_iter().flatten() {
            let name = format!("{word} {name}");
            if value.is_null() { marks.removed.push(name) } else { marks.set.push(name) }
        }
    }
    marks
}

fn adopts(act: &Act) -> bool {
    body(act).is_some_and(|metadata| metadata["annotations"][names::ADOPTED] == "true")
}

/// The ID that a patch puts into the kind's label.
fn label(act: &Act, part: &Part) -> Option<String> {
    let label = kinds::kind(part.member.kind)?.identity.label?;
    body(act)?["labels"][label].as_str().map(str::to_owned)
}

fn protection(act: &Act) -> Deed {
    let Request::Kubernetes(patch) = &act.request else { return Deed::Mark(Marks::default()) };
    let finalizers = patch.body["metadata"]["finalizers"].as_array();
    let protects = finalizers.into_iter().flatten().any(|name| name == names::TOKEN_PROTECTION_FINALIZER);
    if protects { Deed::Protect(patch.key.to_string()) } else { Deed::Unprotect(patch.key.to_string()) }
}

/// What the condition says: what is in the way, unless the object is in order; or that it is paused.
fn standing(
    after: &kinds::Resource,
    restless: bool,
    stand_ins: &[Key],
) -> (Option<Obstacle>, Option<String>) {
    if restless {
        let obstacle = Obstacle {
            reason: kinds::Reason::InternalError.name().to_owned(),
            message: "it does not come to rest; please report this".to_owned(),
        };
        return (Some(obstacle), None);
    }
    let Some(condition) = after.condition() else { return (None, None) };
    let text = |field: &str| condition[field].as_str().unwrap_or_default().to_owned();
    let (reason, message) = (text("reason"), of_variable(text("message"), stand_ins));
    if reason == kinds::Reason::Paused.name() {
        (None, Some(message))
    } else {
        ((text("status") != "True").then_some(Obstacle { reason, message }), None)
    }
}

/// A message that blames a Secret which was not read, as one about the variable that stands for it.
fn of_variable(message: String, stand_ins: &[Key]) -> String {
    let goes_on = |rest: &str| rest.starts_with(|c: char| c.is_ascii_alphanumeric() || "-.".contains(c));
    let variable = format!("the variable {TOKEN}");
    let mut message = message;
    for key in stand_ins {
        let secret = format!("Secret {key}");
        let mut parts = message.split(&secret);
        let mut said = parts.next().unwrap_or_default().to_owned();
        for rest in parts {
            // The name of another Secret may begin with this one's.
            let is_another = goes_on(rest);
            said.push_str(if is_another { &secret } else { &variable });
            said.push_str(if is_another { rest } else { without_entry(rest) });
        }
        message = said;
    }
    message
}

/// What follows the name of a Secret, without the `/KEY` of the entry: a variable has none.
fn without_entry(rest: &str) -> &str {
    let is_of_key = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    rest.strip_prefix('/').map_or(rest, |entry| entry.trim_start_matches(is_of_key))
}

/// What to do about parents that no manifest has, where nothing else counts.
fn orphans(objects: &[Finding]) -> Option<String> {
    let references = || kinds::KINDS.iter().flat_map(|kind| kind.references);
    let is_orphan =
        |obstacle: &Obstacle| references().any(|reference| reference.not_found.name() == obstacle.reason);
    let mut obstacles = objects.iter().filter_map(|object| object.obstacle.as_ref());
    obstacles.any(is_orphan).then(|| {
        "without a cluster only what the manifests hold exists; add the manifests of what is missing with another -f".to_owned()
    })
}

/// Where the token came from that a Secret is blamed for.
fn stood_in(objects: &[Finding], secrets: &[Key]) -> Vec<String> {
    let holds_token =
        |object: &Finding| kinds::kind(object.member.kind).is_some_and(|kind| kind.secret.is_some());
    if !objects.iter().any(|object| holds_token(object) && object.obstacle.is_some()) {
        return Vec::new();
    }
    let note = |secret| format!("Secret {secret} is in no manifest: the token of {TOKEN} stands for it");
    secrets.iter().map(note).collect()
}
