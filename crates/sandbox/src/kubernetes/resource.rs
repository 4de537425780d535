//! What the server serves: resources, their versions and how paths and nicknames lead to them.
//! Leaves the objects to `store` and the rules of the built-in kinds to `kinds`.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::builtins::BuiltIn;
use super::names::NameRule;
use super::schema::CompiledSchema;
use super::status::Subject;

/// Stands for one resource in the store; never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ResourceId(pub(crate) u32);

/// A column of `kubectl get` that a CRD asks for.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) format: String,
    pub(crate) description: String,
    pub(crate) priority: i64,
    pub(crate) json_path: String,
}

/// One version of a resource.
#[derive(Debug)]
pub(crate) struct Version {
    pub(crate) name: String,
    pub(crate) has_status: bool,
    /// The schema of a custom resource; built-in kinds have rules in code instead.
    pub(crate) schema: Option<Arc<CompiledSchema>>,
    /// The same schema as it was written, for `/openapi/v3`.
    pub(crate) open_api: Value,
    pub(crate) columns: Vec<Column>,
    /// Field paths without the leading dot that field selectors may name.
    pub(crate) selectable: Vec<String>,
}

/// A resource: what a plural in a path stands for.
#[derive(Debug)]
pub(crate) struct Resource {
    pub(crate) id: ResourceId,
    pub(crate) group: String,
    /// A second group that serves the same objects in another form (Events).
    pub(crate) other_group: Option<String>,
    pub(crate) kind: String,
    pub(crate) list_kind: String,
    pub(crate) plural: String,
    pub(crate) singular: String,
    pub(crate) short_names: Vec<String>,
    pub(crate) categories: Vec<String>,
    pub(crate) namespaced: bool,
    /// Served versions, the preferred one first.
    pub(crate) versions: Vec<Version>,
    /// The version objects are stored in.
    pub(crate) storage: String,
    pub(crate) name_rule: NameRule,
    /// Whether `metadata.generation` is kept: not all built-in kinds do.
    pub(crate) has_generation: bool,
    /// Absent for custom resources.
    pub(crate) built_in: Option<BuiltIn>,
}

impl Resource {
    /// `apiVersion` of the stored form.
    pub(crate) fn storage_api_version(&self) -> String {
        api_version(&self.group, &self.storage)
    }

    /// `dnsrecords.kflare.dev`.
    pub(crate) fn qualified_plural(&self) -> String {
        if self.group.is_empty() { self.plural.clone() } else { format!("{}.{}", self.plural, self.group) }
    }

    fn answers_to(&self, word: &str) -> bool {
        let word = word.to_lowercase();
        let short = word.split_once('.').map_or(word.as_str(), |(noun, _)| noun);
        let group_fits = word.split_once('.').is_none_or(|(_, group)| group == self.group);
        let names = [self.kind.to_lowercase(), self.plural.clone(), self.singular.clone()];
        group_fits
            && (names.iter().any(|name| name == short) || self.short_names.iter().any(|name| name == short))
    }
}

/// `v1`, or `apps/v1`.
pub(crate) fn api_version(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}

/// One resource as a request sees it: through a group and a version.
#[derive(Clone, Debug)]
pub(crate) struct Endpoint {
    pub(crate) resource: Arc<Resource>,
    pub(crate) group: String,
    pub(crate) version: String,
}

impl Endpoint {
    pub(crate) fn api_version(&self) -> String {
        api_version(&self.group, &self.version)
    }

    /// The version the request came through; absent only for a resource without versions.
    pub(crate) fn served(&self) -> Option<&Version> {
        self.resource.versions.iter().find(|version| version.name == self.version)
    }

    /// What errors are about: the group as the client knows it.
    pub(crate) fn subject(&self) -> Subject<'_> {
        Subject { group: &self.group, plural: &self.resource.plural, kind: &self.resource.kind }
    }

    pub(crate) fn has_status(&self) -> bool {
        self.served().is_some_and(|version| version.has_status)
    }

    /// True when objects look the same here as in the store.
    pub(crate) fn is_storage_form(&self) -> bool {
        self.group == self.resource.group && self.version == self.resource.storage
    }
}

/// All resources that are served.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    resources: BTreeMap<ResourceId, Arc<Resource>>,
    by_path: BTreeMap<(String, String), ResourceId>,
    next: u32,
}

impl Registry {
    /// An id for a resource that is about to be added.
    pub(crate) fn next_id(&mut self) -> ResourceId {
        self.next += 1;
        ResourceId(self.next)
    }

    /// Serves `resource`, in place of what had its id.
    pub(crate) fn insert(&mut self, resource: Resource) -> Arc<Resource> {
        let resource = Arc::new(resource);
        let groups = std::iter::once(&resource.group).chain(&resource.other_group);
        for group in groups {
            self.by_path.insert((group.clone(), resource.plural.clone()), resource.id);
        }
        self.resources.insert(resource.id, Arc::clone(&resource));
        resource
    }

    pub(crate) fn remove(&mut self, id: ResourceId) {
        self.resources.remove(&id);
        self.by_path.retain(|_, of| *of != id);
    }

    pub(crate) fn get(&self, id: ResourceId) -> Option<&Arc<Resource>> {
        self.resources.get(&id)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<Resource>> {
        self.resources.values()
    }

    /// The resource of a path; `None` when that group, version and plural is not served.
    pub(crate) fn endpoint(&self, group: &str, version: &str, plural: &str) -> Option<Endpoint> {
        let id = self.by_path.get(&(group.to_owned(), plural.to_owned()))?;
        let resource = self.resources.get(id)?;
        resource.versions.iter().find(|served| served.name == version)?;
        Some(Endpoint {
            resource: Arc::clone(resource),
            group: group.to_owned(),
            version: version.to_owned(),
        })
    }

    /// The resource of an object's `apiVersion` and `kind`.
    pub(crate) fn for_object(&self, api_version: &str, kind: &str) -> Option<Endpoint> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let resource = self.resources.values().find(|resource| {
            resource.kind == kind
                && (resource.group == group || resource.other_group.as_deref() == Some(group))
                && resource.versions.iter().any(|served| served.name == version)
        })?;
        Some(Endpoint {
            resource: Arc::clone(resource),
            group: group.to_owned(),
            version: version.to_owned(),
        })
    }

    /// The resource that people mean by a kind, a plural, a singular or a short name.
    pub(crate) fn by_word(&self, word: &str) -> Option<Endpoint> {
        let resource = self.resources.values().find(|resource| resource.answers_to(word))?;
        Some(Endpoint {
            resource: Arc::clone(resource),
            group: resource.group.clone(),
            version: resource.storage.clone(),
        })
    }

    /// Groups with their versions, the core group (empty) included, in the order of the alphabet.
    pub(crate) fn groups(&self) -> BTreeMap<String, Vec<String>> {
        let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for resource in self.resources.values() {
            for group in std::iter::once(&resource.group).chain(&resource.other_group) {
                let versions = groups.entry(group.clone()).or_default();
                for version in &resource.versions {
                    if !versions.contains(&version.name) {
                        versions.push(version.name.clone());
                    }
                }
            }
        }
        groups
    }

    /// The resources of one group and version, by plural.
    pub(crate) fn in_group_version(&self, group: &str, version: &str) -> Vec<Endpoint> {
        self.by_path
            .keys()
            .filter(|(of, _)| of == group)
            .filter_map(|(of, plural)| self.endpoint(of, version, plural))
            .collect()
    }
}
