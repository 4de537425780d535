//! Everything that exists in this world, and the ids, times and history that all products share.
//! Holds and changes state; requests are taken apart elsewhere.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::account::Account;
use super::call::Call;
use super::rate_limit::{self, Limiter};
use super::switches::Switches;
use super::token::Token;
use super::tunnel::Tunnel;
use super::zone::Zone;

/// Changes kept: a run of 10,000 objects makes some 30,000, and checkers want to see all of them; a sandbox
/// that serves for days drops the oldest.
const HISTORY_MAX: usize = 200_000;

/// What kind of object changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ObjectKind {
    /// A zone.
    Zone,
    /// A DNS record.
    DnsRecord,
    /// A tunnel.
    Tunnel,
    /// The configuration of a tunnel, whose id it has.
    TunnelConfiguration,
}

/// What happened to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeKind {
    /// It began to exist.
    Create,
    /// It changed.
    Update,
    /// It ceased to exist.
    Delete,
}

/// One change of one object.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// When it took effect.
    pub at: Timestamp,
    /// What kind of object.
    pub object: ObjectKind,
    /// The zone that it is, or is in; empty for what is in none.
    pub zone_id: String,
    /// The object's id.
    pub id: String,
    /// What happened.
    pub kind: ChangeKind,
    /// The id of the token that asked for it, or [`OUT_OF_BAND`].
    pub who: String,
    /// As the API would have answered it before; absent for a create.
    pub before: Option<Value>,
    /// As the API answers it after; absent for a delete.
    pub after: Option<Value>,
}

/// Who changed something that no request asked for.
pub const OUT_OF_BAND: &str = "out-of-band";

/// A change with its objects still serialised, so that a batch of thousands costs no parsing.
#[derive(Clone, Debug)]
pub(super) struct Recorded {
    pub(super) at: Timestamp,
    pub(super) object: ObjectKind,
    pub(super) zone_id: String,
    pub(super) id: String,
    pub(super) who: Arc<str>,
    pub(super) before: Option<Arc<str>>,
    pub(super) after: Option<Arc<str>>,
}

impl Recorded {
    fn open(&self) -> Change {
        let value =
            |text: &Option<Arc<str>>| text.as_deref().and_then(|text| serde_json::from_str(text).ok());
        let kind = match (&self.before, &self.after) {
            (None, _) => ChangeKind::Create,
            (Some(_), Some(_)) => ChangeKind::Update,
            (Some(_), None) => ChangeKind::Delete,
        };
        Change {
            at: self.at,
            object: self.object,
            zone_id: self.zone_id.clone(),
            id: self.id.clone(),
            kind,
            who: self.who.to_string(),
            before: value(&self.before),
            after: value(&self.after),
        }
    }
}

/// A token with what the server knows of it.
#[derive(Clone, Debug)]
pub(super) struct Credential {
    pub(super) id: Arc<str>,
    pub(super) name: String,
    pub(super) token: Token,
    pub(super) issued_on: Timestamp,
    pub(super) modified_on: Timestamp,
    /// The policies as they were sent, for tokens that were made through the API.
    pub(super) policies: Value,
}

/// New ids: the seed and a counter, hashed, so that two runs with one seed give the same ids.
#[derive(Debug)]
pub(super) struct Ids {
    seed: u64,
    next: u64,
}

impl Ids {
    pub(super) fn next(&mut self) -> String {
        self.next += 1;
        digest_of(&[&self.seed.to_be_bytes(), &self.next.to_be_bytes()])[..32].to_owned()
    }
}

/// The last [`HISTORY_MAX`] changes of all objects, oldest first.
#[derive(Debug, Default)]
pub(super) struct History(VecDeque<Recorded>);

impl History {
    pub(super) fn push(&mut self, change: Recorded) {
        if self.0.len() == HISTORY_MAX {
            self.0.pop_front();
        }
        self.0.push_back(change);
    }

    pub(super) fn changes(&self) -> Vec<Change> {
        self.0.iter().map(Recorded::open).collect()
    }
}

/// The state of the whole API.
pub(super) struct World {
    pub(super) ids: Ids,
    pub(super) switches: Switches,
    pub(super) accounts: BTreeMap<String, Account>,
    /// By the secret's digest, so that no secret stands in memory dumps or debug output.
    pub(super) credentials: BTreeMap<String, Credential>,
    pub(super) zones: BTreeMap<String, Zone>,
    /// Deleted ones too.
    pub(super) tunnels: BTreeMap<String, Tunnel>,
    pub(super) history: History,
    /// Requests that take effect after the next list of their collection, or at the latest at this time.
    pub(super) late: Vec<(Timestamp, Call)>,
    pub(super) requests: Limiter,
    pub(super) addresses: Limiter,
    pub(super) zone_files: Limiter,
}

impl World {
    pub(super) fn new(seed: u64, switches: Switches) -> Self {
        Self {
            ids: Ids { seed, next: 0 },
            switches,
            accounts: BTreeMap::new(),
            credentials: BTreeMap::new(),
            zones: BTreeMap::new(),
            tunnels: BTreeMap::new(),
            history: History::default(),
            late: Vec::new(),
            requests: Limiter::new(rate_limit::GLOBAL),
            addresses: Limiter::new(rate_limit::ADDRESS),
            zone_files: Limiter::new(rate_limit::ZONE_FILE),
        }
    }
}

/// The hexadecimal SHA-256 of the parts in a row.
pub(super) fn digest_of(parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part);
    }
    let mut text = String::with_capacity(64);
    for byte in hash.finalize() {
        for digit in [byte >> 4, byte & 15] {
            text.push(char::from_digit(u32::from(digit), 16).unwrap_or('0'));
        }
    }
    text
}

/// RFC 3339 in UTC with microseconds (cloudflare API docs: timestamps).
pub(super) fn stamp(at: Timestamp) -> String {
    const PRINTER: jiff::fmt::temporal::DateTimePrinter =
        jiff::fmt::temporal::DateTimePrinter::new().precision(Some(6));
    PRINTER.timestamp_to_string(&at)
}
