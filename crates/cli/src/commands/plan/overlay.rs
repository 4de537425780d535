//! Manifests laid over a cluster: what the operator would find once they are applied, or deleted.
//! Says nothing of what it would do then.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use kinds::table::Scope;
use kinds::{Key, Kind, Resource, names};
use operator::object::{self, Object};
use operator::preview::World;
use plan::predict::stand_in;
use plan::{MemberId, policy};
use serde_json::{Value, json};

use super::admission::Admission;
use super::annotations;
use super::exported;
use super::inventory::Inventory;
use super::notes;
use crate::commands::cluster::ClusterError;
use crate::commands::cluster::definitions::Gap;
use crate::commands::refusal::{self, Refusal};
use crate::commands::sandbox::manifest::{Manifest, Place};

/// The namespace of manifests that name none, where no kubeconfig says another.
const DEFAULT_NAMESPACE: &str = "default";

/// Complaints that are shown at once; more would scroll the first away.
const COMPLAINTS_SHOWN: usize = 20;

/// What is done with the manifests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Intent {
    /// They are applied.
    Apply,
    /// Their objects are deleted.
    Delete,
}

/// What the operator would find.
#[derive(Debug, Default)]
pub(super) struct Overlay {
    /// All of it.
    pub(super) world: World,
    /// Objects of ours as the cluster has them now.
    pub(super) before: BTreeMap<MemberId, Resource>,
    /// The objects that the manifests name, and where.
    pub(super) named: BTreeMap<MemberId, Place>,
    /// Objects whose ownership nobody can know without the cluster: what exists with their key counts as theirs.
    pub(super) assumed: BTreeSet<MemberId>,
    /// Secrets that are in no manifest, for whose tokens that of the environment stands.
    pub(super) stand_ins: Vec<Key>,
    /// The manifests are laid over a cluster, not over nothing.
    pub(super) has_cluster: bool,
    /// What people should know.
    pub(super) notes: Vec<String>,
}

/// Why manifests cannot be laid over the cluster.
#[derive(Debug, thiserror::Error)]
pub(super) enum OverlayError {
    #[error("{}", listed(.0))]
    Refused(Vec<Refusal>),
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    #[error("the API server in memory refuses our own CustomResourceDefinitions: please report this")]
    Definitions(#[source] sandbox::kubernetes::Status),
    #[error("{0}: what the API server made of it cannot be read: {1}")]
    Unreadable(Place, serde_json::Error),
    #[error("{}{title} has no token: set CLOUDFLARE_API_TOKEN, or add the Secret {secret} to the manifests", at(.place))]
    NoToken { place: Option<Place>, title: String, secret: Key },
}

fn at(place: &Option<Place>) -> String {
    place.as_ref().map(|place| format!("{place}: ")).unwrap_or_default()
}

fn listed(refusals: &[Refusal]) -> String {
    let lines: Vec<String> = refusals.iter().map(ToString::to_string).collect();
    let all: Vec<&str> = lines.iter().flat_map(|line| line.lines()).collect();
    let mut text = all.iter().take(COMPLAINTS_SHOWN).copied().collect::<Vec<_>>().join("\n");
    if all.len() > COMPLAINTS_SHOWN {
        text.push_str(&format!("\nand {} more", all.len() - COMPLAINTS_SHOWN));
    }
    text
}

/// Lays manifests over a cluster, or over nothing.
pub(super) struct Layer<'c> {
    admission: Admission,
    cluster: Option<&'c Inventory>,
    /// The namespace that was asked for.
    namespace: Option<String>,
    now: Timestamp,
    overlay: Overlay,
    objects: BTreeMap<MemberId, (&'static Kind, Resource)>,
    refused: Vec<Refusal>,
    /// Objects that a plan has nothing to say of.
    others: Vec<String>,
}

impl<'c> Layer<'c> {
    /// Over a cluster as it is.
    ///
    /// # Errors
    /// [`OverlayError::Definitions`].
    pub(super) fn new(cluster: Option<&'c Inventory>, now: Timestamp) -> Result<Self, OverlayError> {
        let mut layer = Self {
            admission: Admission::new(now).map_err(OverlayError::Definitions)?,
            cluster,
            namespace: None,
            // Kubernetes keeps whole seconds, and what is as old is told apart by name.
            now: Timestamp::from_second(now.as_second()).unwrap_or(now),
            overlay: Overlay::default(),
            objects: BTreeMap::new(),
            refused: Vec::new(),
            others: Vec::new(),
        };
        let Some(cluster) = cluster else { return Ok(layer) };
        (layer.overlay.world.complete, layer.overlay.has_cluster) = (true, true);
        layer.overlay.world.namespaces.clone_from(&cluster.namespaces);
        let note = |gap: &Gap| {
            format!(
                "CustomResourceDefinition {gap}, which this kflare knows; update it with `kflare crds | kubectl apply -f -`"
            )
        };
        layer.overlay.notes.extend(cluster.older.iter().map(note));
        for (member, object) in &cluster.objects {
            let Some(kind) = kinds::kind(member.kind) else { continue };
            let resource = Resource::from(object.clone());
            layer.overlay.before.insert(member.clone(), resource.clone());
            layer.objects.insert(member.clone(), (kind, resource));
        }
        Ok(layer)
    }

    /// With manifests of this namespace alone, if there is one.
    pub(super) fn within(self, namespace: Option<&str>) -> Self {
        Self { namespace: namespace.map(str::to_owned), ..self }
    }

    /// Applies all manifests, or deletes their objects. `token` stands for the tokens that no Secret holds.
    ///
    /// # Errors
    /// [`OverlayError`]; of refused manifests all are named.
    pub(super) async fn over(
        mut self,
        manifests: Vec<Manifest>,
        intent: Intent,
        token: Option<&str>,
    ) -> Result<Overlay, OverlayError> {
        let (first, rest): (Vec<_>, Vec<_>) = manifests.into_iter().partition(|m| is(m, "v1", "Namespace"));
        for manifest in first {
            self.namespace(&manifest, intent);
        }
        let mut places: BTreeMap<(String, String), Vec<Place>> = BTreeMap::new();
        for mut manifest in rest {
            let other = notes::other(&manifest);
            self.place(&mut manifest);
            if intent == Intent::Apply {
                let api_version = manifest.object["apiVersion"].as_str().unwrap_or_default().to_owned();
                places.entry((api_version, manifest.title())).or_default().push(manifest.place.clone());
            }
            if refusal::is_meant_for_us(&manifest) {
                match intent {
                    _ if !refusal::is_ours(&manifest) => self.refused.push(Refusal::of_kind(&manifest)),
                    Intent::Apply => {
                        self.overlay.notes.extend(annotations::notes(&manifest));
                        self.apply(&manifest)?;
                    }
                    Intent::Delete => self.delete(&manifest),
                }
            } else if is(&manifest, "v1", "Secret") && intent == Intent::Apply {
                self.secret(&manifest).await?;
            } else {
                self.others.push(other);
            }
        }
        if !self.refused.is_empty() {
            return Err(OverlayError::Refused(self.refused));
        }
        self.overlay
            .notes
            .extend(places.iter().filter_map(|((_, title), places)| notes::repeated(title, places)));
        if self.cluster.is_none() {
            self.tokens(token)?;
        }
        self.overlay.notes.extend(notes::passed_over(&self.others));
        self.overlay.world.objects = self.objects.into_values().collect();
        Ok(self.overlay)
    }

    /// Names the namespace of a manifest that names none, as kubectl does.
    fn place(&mut self, manifest: &mut Manifest) {
        let is_cluster_wide = manifest.object["kind"]
            .as_str()
            .and_then(kinds::kind)
            .is_some_and(|kind| kind.scope == Scope::Cluster);
        let namespace = manifest.object["metadata"]["namespace"].as_str().unwrap_or_default().to_owned();
        if is_cluster_wide || !manifest.object["metadata"].is_object() {
            return;
        }
        if let Some(asked) =
            self.namespace.as_ref().filter(|asked| !namespace.is_empty() && **asked != namespace)
        {
            let complaint = format!(
                "it names another namespace than --namespace {asked}: leave one of the two out, or ask with \
                 --namespace {namespace}"
            );
            self.refused.push(Refusal::of_field(manifest, &["metadata", "namespace"], &complaint));
        }
        let namespace = match (namespace.as_str(), &self.namespace, self.cluster) {
            ("", Some(asked), _) => asked.clone(),
            ("", None, Some(cluster)) => cluster.client.default_namespace().to_owned(),
            ("", None, None) => DEFAULT_NAMESPACE.to_owned(),
            _ => namespace,
        };
        // Without a cluster every namespace may exist; with one only those that it, or a manifest, has.
        if self.cluster.is_none_or(|_| self.overlay.world.namespaces.contains_key(&namespace)) {
            self.admission.namespace(&namespace);
        }
        manifest.object["metadata"]["namespace"] = Value::String(namespace);
    }

    /// Whether a manifest may be laid over an object with this uid and version.
    fn fits(&mut self, manifest: &Manifest, uid: &str, version: &str) -> bool {
        let refusal = exported::other_object(manifest, uid);
        if refusal.is_none() {
            self.overlay.notes.extend(exported::outdated(manifest, version));
        }
        let fits = refusal.is_none();
        self.refused.extend(refusal);
        fits
    }

    fn namespace(&mut self, manifest: &Manifest, intent: Intent) {
        let name = manifest.object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        let base = self.cluster.and_then(|cluster| cluster.bases.get(&name));
        let text =
            |live: &Value, field: &str| live["metadata"][field].as_str().unwrap_or_default().to_owned();
        if let Some(live) = base.filter(|_| intent == Intent::Apply)
            && !self.fits(manifest, &text(live, "uid"), &text(live, "resourceVersion"))
        {
            return;
        }
        match intent {
            Intent::Apply => match self.admission.apply(manifest, base) {
                Ok(stored) => {
                    let labels =
                        serde_json::from_value(stored["metadata"]["labels"].clone()).unwrap_or_default();
                    self.overlay.world.namespaces.insert(name, labels);
                }
                Err(refusal) => self.refused.push(refusal),
            },
            Intent::Delete => {
                let within: Vec<MemberId> =
                    self.objects.keys().filter(|member| member.key.namespace == name).cloned().collect();
                for member in within {
                    self.end(&member, manifest.place.clone());
                }
            }
        }
    }

    fn apply(&mut self, manifest: &Manifest) -> Result<(), OverlayError> {
        let member = member_of(manifest);
        let old = member.as_ref().and_then(|member| self.cluster?.objects.get(member));
        let base = old.map(|object| whole(&member, object));
        let namespace = manifest.object["metadata"]["namespace"].as_str().unwrap_or_default();
        if base.is_none() && self.cluster.is_some_and(|cluster| cluster.terminating.contains(namespace)) {
            let complaint = format!("namespace {namespace} is being deleted: nothing new can be made in it");
            self.refused.push(Refusal::of(manifest, &complaint));
            return Ok(());
        }
        if let Some(metadata) = old.map(|object| &object.metadata) {
            let text = |field: &Option<String>| field.clone().unwrap_or_default();
            if !self.fits(manifest, &text(&metadata.uid), &text(&metadata.resource_version)) {
                return Ok(());
            }
        }
        let stored = match self.admission.apply(manifest, base.as_ref()) {
            Ok(stored) => stored,
            Err(refusal) => {
                self.refused.push(refusal);
                return Ok(());
            }
        };
        let Some(member) = member else { return Ok(()) };
        let Some(kind) = kinds::kind(member.kind) else { return Ok(()) };
        let stored: Object = serde_json::from_value(stored)
            .map_err(|error| OverlayError::Unreadable(manifest.place.clone(), error))?;
        let mut resource = self.laid_over(&member, Resource::from(stored));
        if self.cluster.is_none() {
            self.assume(&member, &mut resource);
        }
        if self.cluster.is_none() && !member.key.namespace.is_empty() {
            self.overlay.world.namespaces.entry(member.key.namespace.clone()).or_default();
        }
        self.overlay.named.insert(member.clone(), manifest.place.clone());
        self.objects.insert(member, (kind, resource));
        Ok(())
    }

    /// What the manifest decides, on the object that is there.
    fn laid_over(&mut self, member: &MemberId, mut applied: Resource) -> Resource {
        match self.overlay.before.get(member) {
            Some(before) => {
                let mut resource = before.clone();
                if resource.is_deleting() {
                    let note = "is being deleted; it has to be applied again once it is gone";
                    self.overlay.notes.push(format!("{member} {note}"));
                } else {
                    resource.metadata.finalizers = applied.metadata.finalizers;
                }
                if resource.spec != applied.spec {
                    resource.metadata.generation += 1;
                }
                resource.spec = applied.spec;
                resource.metadata.labels = applied.metadata.labels;
                resource.metadata.annotations = applied.metadata.annotations;
                resource
            }
            None => {
                applied.metadata.uid = stand_in(member);
                applied.metadata.resource_version = stand_in(member);
                applied.metadata.creation_timestamp = Some(self.now);
                applied.status = Value::Null;
                applied
            }
        }
    }

    /// Without the cluster nobody knows which object a resource owns: what has its key is taken for it.
    fn assume(&mut self, member: &MemberId, resource: &mut Resource) {
        if policy::adoption(resource) == Ok(policy::Adoption::Never) {
            let annotations = &mut resource.metadata.annotations;
            annotations.insert(names::ADOPTION_POLICY.to_owned(), "adopt-or-create".to_owned());
            self.overlay.assumed.insert(member.clone());
        }
    }

    fn delete(&mut self, manifest: &Manifest) {
        match member_of(manifest).filter(|member| self.objects.contains_key(member)) {
            Some(member) => self.end(&member, manifest.place.clone()),
            None => self.overlay.notes.push(format!("{} is not in the cluster", manifest.title())),
        }
    }

    /// An object is deleted: it goes at once unless a finalizer holds it.
    fn end(&mut self, member: &MemberId, place: Place) {
        let Some((_, resource)) = self.objects.get_mut(member) else { return };
        if resource.metadata.finalizers.is_empty() {
            self.objects.remove(member);
        } else {
            resource.metadata.deletion_timestamp.get_or_insert(self.now);
        }
        self.overlay.named.insert(member.clone(), place);
    }

    async fn secret(&mut self, manifest: &Manifest) -> Result<(), OverlayError> {
        let mut stored = match self.admission.apply(manifest, None) {
            Ok(stored) => stored,
            Err(refusal) => {
                self.refused.push(refusal);
                return Ok(());
            }
        };
        let text = |field: &str| stored["metadata"][field].as_str().unwrap_or_default();
        let key = Key::new(text("namespace"), text("name"));
        let found = match self.cluster {
            Some(cluster) => cluster.secret(&key).await?,
            None => None,
        };
        let new = MemberId { kind: "Secret", key: key.clone() };
        let (uid, version, finalizers) = match found {
            Some(Resource { metadata, .. }) => {
                if !self.fits(manifest, &metadata.uid, &metadata.resource_version) {
                    return Ok(());
                }
                (metadata.uid, metadata.resource_version, metadata.finalizers)
            }
            None => (stand_in(&new), stand_in(&new), Vec::new()),
        };
        stored["metadata"] = json!({
            "name": key.name, "namespace": key.namespace, "uid": uid, "resourceVersion": version,
            "finalizers": finalizers,
        });
        self.overlay.world.secrets.insert(key, stored);
        Ok(())
    }

    /// The Secrets that accounts name and no manifest has hold the token of the environment.
    fn tokens(&mut self, token: Option<&str>) -> Result<(), OverlayError> {
        let mut missing: BTreeMap<Key, BTreeMap<String, &str>> = BTreeMap::new();
        for (member, (kind, resource)) in &self.objects {
            let place = kind.secret.and_then(|reference| object::token_place(&reference, resource));
            let Some((secret, entry)) = place else { continue };
            if self.overlay.world.secrets.contains(&secret) {
                continue;
            }
            let Some(token) = token else {
                let place = self.overlay.named.get(member).cloned();
                let title = format!("{} {}", kind.name, member.key);
                return Err(OverlayError::NoToken { place, title, secret });
            };
            missing.entry(secret).or_default().insert(entry, token);
        }
        for (key, entries) in missing {
            let secret = made_up(&key, &entries);
            self.overlay.stand_ins.push(key.clone());
            self.overlay.world.secrets.insert(key, secret);
        }
        Ok(())
    }
}

/// A Secret that nobody made: nothing is to be done about it, so that it is protected already.
fn made_up(key: &Key, entries: &BTreeMap<String, &str>) -> Value {
    use base64::Engine as _;
    let encoded = |(entry, token): (&String, &&str)| {
        (entry.clone(), json!(base64::engine::general_purpose::STANDARD.encode(token)))
    };
    json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": key.name, "namespace": key.namespace, "uid": "", "resourceVersion": "",
            "finalizers": [names::TOKEN_PROTECTION_FINALIZER],
        },
        "data": entries.iter().map(encoded).collect::<serde_json::Map<_, _>>(),
    })
}

fn is(manifest: &Manifest, api_version: &str, kind: &str) -> bool {
    manifest.object["apiVersion"] == api_version && manifest.object["kind"] == kind
}

/// The member that a manifest describes; `None` for a kind that we do not know.
fn member_of(manifest: &Manifest) -> Option<MemberId> {
    let kind = kinds::kind(manifest.object["kind"].as_str()?)?;
    let text = |field: &str| manifest.object["metadata"][field].as_str().unwrap_or_default();
    let namespace = if kind.scope == Scope::Cluster { "" } else { text("namespace") };
    Some(MemberId::new(kind, Key::new(namespace, text("name"))))
}

/// An object as the API server shows it, kind included.
fn whole(member: &Option<MemberId>, object: &Object) -> Value {
    let mut whole = serde_json::to_value(object).unwrap_or_default();
    whole["apiVersion"] = json!(names::API_VERSION);
    whole["kind"] = json!(member.as_ref().map(|member| member.kind));
    whole
}
