//! Every version of every object, for checkers that look back; kept only where a test asks for it.
//! Holds facts: who wrote what when, and nothing of why.

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

use jiff::Timestamp;
use serde_json::Value;

use super::ApiServer;
use super::store::Stored;
use super::tracking::without_owners;

/// Changes kept: far more than a simulated world makes; what is older is forgotten first.
const HISTORY_MAX: usize = 200_000;

/// Who wrote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Author {
    /// A client, through a request.
    Client,
    /// A scenario or a test, directly: what people do.
    #[default]
    Scene,
}

/// A version of an object. What follows from a write by itself (the end of a namespace) has the write's author.
#[derive(Clone, Debug)]
pub struct Version {
    /// When it was stored.
    pub at: Timestamp,
    /// Counted over all objects.
    pub number: u64,
    /// The object's kind.
    pub kind: String,
    /// Who wrote it.
    pub author: Author,
    /// The object as it is from then on, or as it was when it went.
    pub object: Arc<Value>,
    /// It ceased to exist.
    pub is_last: bool,
}

#[derive(Debug)]
struct Recorded {
    at: Timestamp,
    kind: String,
    author: Author,
    object: Arc<Stored>,
    is_last: bool,
    /// What is shown of it, made once: checkers ask again and again.
    shown: OnceLock<Arc<Value>>,
}

/// The versions so far, and the write that is under way.
#[derive(Debug, Default)]
pub(crate) struct History {
    kept: Option<VecDeque<Recorded>>,
    at: Timestamp,
    author: Author,
}

impl History {
    /// What is noted from here on is written at this time by this author.
    pub(crate) fn begin(&mut self, at: Timestamp, author: Author) {
        (self.at, self.author) = (at, author);
    }

    pub(crate) fn note(&mut self, kind: Option<&str>, object: &Arc<Stored>, is_last: bool) {
        let Some(kept) = &mut self.kept else { return };
        if kept.len() == HISTORY_MAX {
            kept.pop_front();
        }
        let (at, author) = (self.at, self.author);
        let kind = kind.unwrap_or_default().to_owned();
        kept.push_back(Recorded {
            at,
            kind,
            author,
            object: Arc::clone(object),
            is_last,
            shown: OnceLock::new(),
        });
    }
}

impl ApiServer {
    /// Keeps every version that is stored from now on.
    pub fn keep_history(&self) {
        self.state().history.kept.get_or_insert_default();
    }

    /// The versions that were kept, oldest first.
    #[must_use]
    pub fn history(&self) -> Vec<Version> {
        self.history_of(|_| true)
    }

    /// Those of some kinds.
    pub fn history_of(&self, is_asked_for: impl Fn(&str) -> bool) -> Vec<Version> {
        let state = self.state();
        let version = |recorded: &Recorded| Version {
            at: recorded.at,
            number: recorded.object.version,
            kind: recorded.kind.clone(),
            author: recorded.author,
            object: Arc::clone(
                recorded.shown.get_or_init(|| Arc::new(without_owners(&recorded.object.value))),
            ),
            is_last: recorded.is_last,
        };
        let kept = state.history.kept.iter().flatten();
        kept.filter(|recorded| is_asked_for(&recorded.kind)).map(version).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::clock::Clock;

    #[test]
    fn a_history_that_is_kept_tells_versions_and_ends() {
        let clock = Clock::starting_at(Timestamp::UNIX_EPOCH);
        let server = ApiServer::new(clock, 1);
        let map = |value: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}, "data": {"k": value}});
        server.apply(map("before")).unwrap();
        assert!(server.history().is_empty(), "nothing is kept unless it is asked for");
        server.keep_history();
        server.apply(map("after")).unwrap();
        server.delete("configmap", None, "a").unwrap();
        let seen: Vec<_> = server
            .history()
            .iter()
            .map(|version| (version.kind.clone(), version.object["data"]["k"].clone(), version.is_last))
            .collect();
        let expected = |is_last| ("ConfigMap".to_owned(), json!("after"), is_last);
        assert_eq!(seen, [expected(false), expected(true)]);
        assert!(server.history().iter().all(|version| version.author == Author::Scene));
    }
}
