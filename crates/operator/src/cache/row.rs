//! One object as the caches hold it: its bytes, and what is asked of it too often to parse them for it.

use std::collections::BTreeSet;

use jiff::Timestamp;
use kinds::{Key, Kind, Resource};

use super::{Seen, Source};
use crate::object;

#[derive(Debug)]
pub(super) struct Row {
    pub(super) bytes: Box<[u8]>,
    pub(super) uid: Box<str>,
    pub(super) version: Box<str>,
    pub(super) fingerprint: u64,
    /// What the event of a write of ours must show that is on its way. It serves once.
    pub(super) expected: Option<u64>,
    /// When it was learned, in changes of all caches.
    pub(super) learned: u64,
    pub(super) seen: Seen,
    /// The external ID in its status. It counts as a claim as well, whatever a person made of the label.
    pub(super) recorded: Option<Box<str>>,
    pub(super) created: Option<Timestamp>,
    pub(super) secrets: Box<[Key]>,
    pub(super) external: Option<Box<str>>,
    pub(super) ready: bool,
    /// It is being deleted.
    pub(super) going: bool,
    pub(super) at_odds: bool,
}

impl Row {
    /// The external IDs that it claims: one, but for a label that says something else than the status.
    pub(super) fn claims(&self) -> impl Iterator<Item = &str> {
        let claim = self.seen.claim.as_deref();
        let recorded =
            self.recorded.as_deref().filter(|recorded| claim.is_some_and(|claim| claim != *recorded));
        claim.into_iter().chain(recorded)
    }

    pub(super) fn of(kind: &'static Kind, resource: &Resource) -> Option<Self> {
        let references = kind.references.iter();
        let references = references.filter_map(|r| Some((r.kind, object::referenced(r, resource)?)));
        let secrets = kind.secret.iter().flat_map(|secret| {
            let token = object::token_place(secret, resource).map(|(key, _)| key);
            token.into_iter().chain(object::protected_secret(secret, resource))
        });
        let ready = resource.ready() == Some("True");
        let external = kind.shown_id(resource).map(Box::from);
        let claim = kind.external_id(resource).filter(|_| kind.identity.spec.is_none()).map(Box::from);
        Some(Self {
            bytes: serde_json::to_vec(resource).ok()?.into(),
            uid: resource.metadata.uid.as_str().into(),
            version: resource.metadata.resource_version.as_str().into(),
            fingerprint: object::fingerprint(resource),
            expected: None,
            learned: 0,
            seen: Seen {
                visible: object::visible(kind, resource),
                claim,
                obeyed: resource.observed_generation().filter(|_| ready),
                wants: object::wants(kind, resource),
                references: references.collect(),
            },
            recorded: resource.status_str(kind.identity.status).map(Box::from),
            created: resource.metadata.creation_timestamp,
            secrets: secrets.collect::<BTreeSet<_>>().into_iter().collect(),
            external,
            ready,
            going: resource.is_deleting(),
            at_odds: object::is_at_odds(kind, resource),
        })
    }
}

/// Versions of one object can be compared as integers (KEP-5504, and always so on etcd); any other kind of version
/// only for equality.
pub(super) fn is_newer(version: &str, known: &Row, source: Source, list_began: u64) -> bool {
    if *version == *known.version {
        return false;
    }
    match (version.parse::<u64>(), known.version.parse::<u64>()) {
        (Ok(version), Ok(earlier)) => {
            version > earlier || source == Source::List && known.learned <= list_began
        }
        _ => true,
    }
}
