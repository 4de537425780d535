//! Units of work: what is read once and written together. One unit never runs twice at a time.

use std::fmt;

use kinds::{Key, Kind};
use serde::Serialize;

/// A resource in Kubernetes as a member of a unit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct MemberId {
    /// The kind's name.
    pub kind: &'static str,
    /// Namespace and name.
    pub key: Key,
}

impl MemberId {
    /// The member that a resource of `kind` is.
    #[must_use]
    pub fn new(kind: &Kind, key: Key) -> Self {
        Self { kind: kind.name, key }
    }
}

impl fmt::Display for MemberId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.key)
    }
}

/// What one pass is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum UnitKey {
    /// One resource by itself.
    Object(MemberId),
    /// The resources of a kind whose objects lie below one parent in Cloudflare (the records of a zone).
    Children {
        /// The kind's name.
        kind: &'static str,
        /// The parent's external ID.
        parent: String,
    },
}

impl fmt::Display for UnitKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Object(member) => write!(f, "{member}"),
            Self::Children { kind, parent } => write!(f, "{kind} of {parent}"),
        }
    }
}
