//! All tables together: parsed, checked and in the order parents before children. Reads no files itself.

use std::collections::BTreeSet;

use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use crate::TableError;
use crate::check;
use crate::names::camel;
use crate::reasons::{self, Reason};
use crate::table::{Manager, Table};

/// Path of the table that describes the manager instead of a kind.
pub const MANAGER: &str = "kinds/manager.toml";

/// A table's file.
#[derive(Clone, Debug)]
pub struct Source {
    /// Path from the repository's root.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// One kind: its table and where it came from.
#[derive(Debug)]
pub struct Kind {
    /// Path of the table.
    pub path: String,
    /// SHA-256 of the table's text.
    pub hash: String,
    /// The file's stem, which names modules and files.
    pub stem: String,
    /// The table.
    pub table: Table,
}

impl Kind {
    /// The prefix of the kind's Rust types.
    #[must_use]
    pub fn rust_name(&self) -> String {
        camel(&self.stem)
    }
}

/// All tables.
#[derive(Debug)]
pub struct Project {
    /// What the manager is called and may do.
    pub manager: Manager,
    /// The kinds, parents before children.
    pub kinds: Vec<Kind>,
    /// The reasons that tables may name.
    pub reasons: Vec<Reason>,
    /// SHA-256 of all tables, for files that come from all.
    pub hash: String,
}

impl Project {
    /// Parses and checks.
    pub fn load(sources: &[Source]) -> Result<Self, TableError> {
        let manager = sources.iter().find(|source| source.path == MANAGER);
        let manager = manager.ok_or_else(|| TableError::NoManager { file: MANAGER.to_owned() })?;
        let reasons = sources.iter().find(|source| source.path == reasons::PATH);
        let reasons = reasons.ok_or_else(|| TableError::NoReasons { file: reasons::PATH.to_owned() })?;
        let reasons = reasons::parse(reasons)?;
        let mut kinds = Vec::new();
        for source in sources.iter().filter(|source| source.path != MANAGER && source.path != reasons::PATH) {
            let stem =
                source.path.rsplit('/').next().unwrap_or_default().trim_end_matches(".toml").to_owned();
            kinds.push(Kind {
                path: source.path.clone(),
                hash: hash([source.text.as_str()]),
                stem,
                table: parse(source)?,
            });
        }
        let manager: Manager = parse(manager)?;
        check::kinds(&kinds, &manager, &reasons)?;
        let kinds = parents_first(kinds)?;
        let tables = sources.iter().filter(|source| source.path != reasons::PATH);
        let hash = hash(tables.map(|source| source.text.as_str()));
        Ok(Self { manager, kinds, reasons, hash })
    }

    /// The kinds that have a reference to this one, which its deletion waits for.
    pub fn dependents<'p>(&'p self, kind: &'p str) -> impl Iterator<Item = &'p Kind> {
        self.kinds
            .iter()
            .filter(move |other| other.table.references.iter().any(|reference| reference.kind == kind))
    }

    /// The kind that a kind's parent reference names.
    #[must_use]
    pub fn parent(&self, kind: &Kind) -> Option<&Kind> {
        let reference = kind.table.references.iter().find(|reference| reference.parent)?;
        self.kinds.iter().find(|other| other.table.kind == reference.kind)
    }
}

fn parse<T: DeserializeOwned>(source: &Source) -> Result<T, TableError> {
    toml::from_str(&source.text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        let line = source.text.get(..start).unwrap_or_default().matches('\n').count() + 1;
        TableError::Format { file: source.path.clone(), line, problem: error.message().to_owned() }
    })
}

fn hash<'t>(texts: impl IntoIterator<Item = &'t str>) -> String {
    let mut hasher = Sha256::new();
    texts.into_iter().for_each(|text| hasher.update(text));
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

// A kind is placed once its parents are; among those that could be next, the first by file name.
fn parents_first(mut rest: Vec<Kind>) -> Result<Vec<Kind>, TableError> {
    rest.sort_by(|a, b| a.path.cmp(&b.path));
    let mut placed: Vec<Kind> = Vec::new();
    let mut names: BTreeSet<String> = BTreeSet::new();
    while !rest.is_empty() {
        let ready = |kind: &Kind| {
            let mut parents = kind.table.references.iter().filter(|reference| reference.parent);
            parents.all(|reference| names.contains(&reference.kind))
        };
        let Some(next) = rest.iter().position(ready) else {
            let (file, kind) = (rest[0].path.clone(), rest[0].table.kind.clone());
            return Err(TableError::ParentCycle { file, kind });
        };
        let kind = rest.remove(next);
        names.insert(kind.table.kind.clone());
        placed.push(kind);
    }
    Ok(placed)
}
