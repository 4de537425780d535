//! Connectors: the cloudflared processes that hold connections of a tunnel, which the sandbox only plays.
//! When they come and go is said by the scene.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::super::world::stamp;
use super::object::uuid_of;

/// Reports of users: a tunnel cannot be deleted for some half a minute after its last connection dropped.
const TRACKED_FOR: SignedDuration = SignedDuration::from_secs(30);

/// What the connectors of this world say of themselves.
const VERSION: &str = "2026.10.0";
const ARCHITECTURE: &str = "linux_amd64";
const FEATURES: [&str; 3] = ["allow_remote_config", "serialized_headers", "support_datagram_v2"];
const ADDRESS: &str = "198.51.100.7";
/// Cloudflared takes two places, and two machines in each.
const PLACES: [&str; 4] = ["fra03", "ams01", "fra07", "ams04"];

/// A time in which a tunnel had connections.
#[derive(Debug, Clone)]
pub(super) struct Span {
    pub(super) since: Timestamp,
    /// None: still.
    pub(super) until: Option<Timestamp>,
}

impl Span {
    pub(super) fn holds(&self, at: Timestamp) -> bool {
        self.since <= at && self.until.is_none_or(|until| at < until)
    }
}

/// One process.
#[derive(Debug, Clone)]
pub(super) struct Connector {
    pub(super) id: String,
    pub(super) run_at: Timestamp,
    pub(super) connections: usize,
    /// None while its connections stand.
    pub(super) dropped_at: Option<Timestamp>,
}

impl Connector {
    pub(super) fn is_tracked(&self, now: Timestamp) -> bool {
        self.dropped_at.is_none_or(|dropped| now.duration_since(dropped) < TRACKED_FOR)
    }

    /// As the API answers it; it has read the configuration of this version.
    pub(super) fn object(&self, config_version: u64) -> Value {
        json!({
            "id": self.id,
            "arch": ARCHITECTURE,
            "config_version": config_version,
            "conns": self.connection_objects(),
            "features": FEATURES,
            "run_at": stamp(self.run_at),
            "version": VERSION,
        })
    }

    /// Its connections, as the API answers them.
    pub(super) fn connection_objects(&self) -> Vec<Value> {
        let object = |(at, place): (usize, &&str)| {
            let id = uuid_of(&super::super::world::digest_of(&[self.id.as_bytes(), &at.to_be_bytes()]));
            json!({
                "id": id,
                "uuid": id,
                "client_id": self.id,
                "client_version": VERSION,
                "colo_name": place,
                "is_pending_reconnect": false,
                "opened_at": stamp(self.run_at),
                "origin_ip": ADDRESS,
            })
        };
        PLACES.iter().cycle().take(self.connections).enumerate().map(object).collect()
    }
}
