//! A tunnel: its fields, its status, and how it looks on the wire.
//! Asking for it is left to `calls`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::super::world::stamp;
use super::configuration::Configuration;
use super::connector::{Connector, Span};

/// cloudflared opens four connections; with fewer a tunnel works, but is not well.
const HEALTHY_CONNECTIONS: usize = 4;

/// Times of activity kept: what `was_active_at` can be asked about.
const SPANS_MAX: usize = 100;

/// Where a tunnel is configured: a file beside its connector, or Cloudflare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cloudflare) enum ConfigSource {
    Local,
    Cloudflare,
}

impl ConfigSource {
    pub(super) fn of(word: &str) -> Option<Self> {
        [Self::Local, Self::Cloudflare].into_iter().find(|source| source.name() == word)
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Cloudflare => "cloudflare",
        }
    }
}

/// A tunnel. A deleted one stays, with the time of its deletion. It cannot be printed, because of its secret.
#[derive(Clone)]
pub(in crate::cloudflare) struct Tunnel {
    pub(in crate::cloudflare) id: String,
    pub(in crate::cloudflare) account_id: String,
    pub(in crate::cloudflare) name: String,
    pub(super) source: ConfigSource,
    /// In base64.
    pub(super) secret: String,
    pub(in crate::cloudflare) created_at: Timestamp,
    pub(in crate::cloudflare) deleted_at: Option<Timestamp>,
    pub(super) configuration: Option<Configuration>,
    /// Those that are connected, and those that are still tracked.
    pub(super) connectors: Vec<Connector>,
    /// When it had connections, oldest first.
    pub(super) spans: Vec<Span>,
}

impl Tunnel {
    pub(in crate::cloudflare) fn is_live(&self) -> bool {
        self.deleted_at.is_none()
    }

    /// The connectors that have connections.
    pub(super) fn connected(&self) -> impl Iterator<Item = &Connector> {
        self.connectors.iter().filter(|connector| connector.dropped_at.is_none())
    }

    /// True while a connection stands or is still remembered.
    pub(super) fn is_tracked(&self, now: Timestamp) -> bool {
        self.connectors.iter().any(|connector| connector.is_tracked(now))
    }

    pub(super) fn was_active(&self, at: Timestamp) -> bool {
        self.spans.iter().any(|span| span.holds(at))
    }

    /// Writes down that connections came or went, after the connectors changed.
    pub(super) fn note_activity(&mut self, now: Timestamp) {
        self.connectors.retain(|connector| connector.is_tracked(now));
        let is_active = self.connected().next().is_some();
        match self.spans.last_mut() {
            Some(span) if span.until.is_none() && !is_active => span.until = Some(now),
            last if is_active && last.as_ref().is_none_or(|span| span.until.is_some()) => {
                if self.spans.len() == SPANS_MAX {
                    self.spans.remove(0);
                }
                self.spans.push(Span { since: now, until: None });
            }
            _ => {}
        }
    }

    /// Cloudflare API docs: inactive has never been run, down has no connections any more.
    pub(super) fn status(&self) -> &'static str {
        let connections: usize = self.connected().map(|connector| connector.connections).sum();
        match connections {
            0 if self.spans.is_empty() => "inactive",
            0 => "down",
            HEALTHY_CONNECTIONS.. => "healthy",
            _ => "degraded",
        }
    }

    /// What cloudflared is started with. It stays the same until the secret changes.
    pub(super) fn token(&self) -> String {
        // Written by hand, so that the order of the members is that of cloudflared.
        let json = format!(r#"{{"a":"{}","t":"{}","s":"{}"}}"#, self.account_id, self.id, self.secret);
        STANDARD.encode(json)
    }

    /// As the API answers it.
    pub(in crate::cloudflare) fn object(&self, tells_connections: bool) -> Value {
        let last = self.spans.last();
        // Cloudflare's TypeScript SDK: the field "will start returning an empty array".
        let connections: Vec<Value> = match tells_connections {
            true => self.connected().flat_map(Connector::connection_objects).collect(),
            false => Vec::new(),
        };
        json!({
            "id": self.id,
            "account_tag": self.account_id,
            "name": self.name,
            "config_src": self.source.name(),
            "remote_config": self.source == ConfigSource::Cloudflare,
            "status": self.status(),
            "tun_type": "cfd_tunnel",
            "created_at": stamp(self.created_at),
            "deleted_at": self.deleted_at.map(stamp),
            "conns_active_at": last.filter(|span| span.until.is_none()).map(|span| stamp(span.since)),
            "conns_inactive_at": last.and_then(|span| span.until).map(stamp),
            "connections": connections,
            "metadata": {},
        })
    }
}

/// An identifier as the tunnels product has them, out of one of the world's.
pub(super) fn uuid_of(hex: &str) -> String {
    let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default();
    // The digits of version 4, which is what random ones have.
    format!("{}-{}-4{}-8{}-{}", part(0, 8), part(8, 12), part(13, 16), part(17, 20), part(20, 32))
}
