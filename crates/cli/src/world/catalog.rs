//! The kinds that scenarios can name: ours from their table, and the built-in ones that users meet.
//! How objects are stored and served is the API server's.

use std::sync::LazyLock;

use kinds::table::Scope;

/// A kind of objects in Kubernetes.
#[derive(Debug, PartialEq, Eq)]
pub struct ResourceType {
    /// As written in `kind:`.
    pub kind: String,
    /// As written by people: `dnsrecord`.
    pub singular: String,
    /// Other words for it.
    words: Vec<String>,
    /// Its objects are in namespaces.
    pub namespaced: bool,
}

/// Built-in kinds: kind, words, namespaced.
const BUILT_IN: &[(&str, &[&str], bool)] = &[
    ("Namespace", &["namespaces", "ns"], false),
    ("Secret", &["secrets"], true),
    ("ConfigMap", &["configmaps", "cm"], true),
    ("Lease", &["leases"], true),
    ("CustomResourceDefinition", &["customresourcedefinitions", "crd", "crds"], false),
];

static ALL: LazyLock<Vec<ResourceType>> = LazyLock::new(|| {
    let ours = kinds::KINDS.iter().map(|kind| ResourceType {
        kind: kind.name.to_owned(),
        singular: kind.singular.to_owned(),
        words: [kind.plural].iter().chain(kind.short_names).map(ToString::to_string).collect(),
        namespaced: kind.scope == Scope::Namespaced,
    });
    let built_in = BUILT_IN.iter().map(|(kind, words, namespaced)| ResourceType {
        kind: (*kind).to_owned(),
        singular: kind.to_lowercase(),
        words: words.iter().map(ToString::to_string).collect(),
        namespaced: *namespaced,
    });
    ours.chain(built_in).collect()
});

impl ResourceType {
    /// Every known kind.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        ALL.iter()
    }

    /// The kind by its singular, plural or short name, in any case.
    #[must_use]
    pub fn named(word: &str) -> Option<&'static Self> {
        let word = word.to_lowercase();
        Self::all().find(|resource| resource.singular == word || resource.words.contains(&word))
    }
}
