//! Which token Secrets are in use, by whom, and at which version they were seen. Metadata only: no value is ever here.
//! Only Secrets that somebody uses, or that we protect, are remembered: a cluster has thousands of others.

use std::collections::{BTreeMap, BTreeSet};

use kinds::Key;
use plan::MemberId;

/// What the watch showed of a Secret since somebody uses it.
#[derive(Debug, Default, PartialEq, Eq)]
enum Seen {
    /// Nothing: the watch may have shown it before anybody used it.
    #[default]
    Nothing,
    /// This version.
    Version(Box<str>),
    /// That it does not exist.
    Gone,
}

#[derive(Debug, Default)]
struct Used {
    by: BTreeSet<MemberId>,
    seen: Seen,
}

/// The Secrets in use.
#[derive(Debug, Default)]
pub(super) struct Secrets {
    used: BTreeMap<Key, Used>,
    /// Those that carry our protection, in use or not: what was protected once is found again whatever was recorded.
    protected: BTreeSet<Key>,
    synced: bool,
}

impl Secrets {
    /// True when all Secrets have been listed once.
    pub(super) const fn is_synced(&self) -> bool {
        self.synced
    }

    pub(super) fn users(&self, secret: &Key) -> impl Iterator<Item = &MemberId> {
        self.used.get(secret).into_iter().flat_map(|used| &used.by)
    }

    pub(super) fn used(&mut self, secret: &Key, by: &MemberId) {
        self.used.entry(secret.clone()).or_default().by.insert(by.clone());
    }

    pub(super) fn unused(&mut self, secret: &Key, by: &MemberId) {
        if let Some(used) = self.used.get_mut(secret) {
            used.by.remove(by);
            if used.by.is_empty() {
                self.used.remove(secret);
            }
        }
    }

    pub(super) fn protects(&mut self, secret: &Key, protected: bool) {
        if protected {
            self.protected.insert(secret.clone());
        } else {
            self.protected.remove(secret);
        }
    }

    pub(super) fn leftover_protections(&self) -> impl Iterator<Item = &Key> {
        self.protected.iter().filter(|key| !self.used.contains_key(*key))
    }

    /// A Secret's version, `None` for a deleted one. True when somebody uses it and it is news.
    pub(super) fn seen(&mut self, secret: &Key, version: Option<&str>) -> bool {
        let Some(used) = self.used.get_mut(secret) else { return false };
        let seen = version.map_or(Seen::Gone, |version| Seen::Version(version.into()));
        let is_news = used.seen != seen;
        used.seen = seen;
        is_news
    }

    /// Ends a list. Whoever uses a Secret that it does not hold has to know, even if the watch never showed it to him.
    pub(super) fn listed(&mut self, held: &BTreeSet<Key>) -> Vec<Key> {
        self.synced = true;
        self.protected.retain(|key| held.contains(key));
        let missing: Vec<Key> = self.used.keys().filter(|key| !held.contains(*key)).cloned().collect();
        missing.into_iter().filter(|key| self.seen(key, None)).collect()
    }
}
