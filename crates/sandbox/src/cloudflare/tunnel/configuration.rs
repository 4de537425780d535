//! The configuration of a tunnel: reading it, and replacing it as a whole.
//! Whether its rules are right is left to `ingress`.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::super::call::{Actor, Call};
use super::super::envelope::{ApiErrors, Reply};
use super::super::switches::Unconfigured;
use super::super::world::{ObjectKind, World, stamp};
use super::ingress;
use super::object::Tunnel;
use super::refusal::TunnelRefusal;

/// What was last put.
#[derive(Debug, Clone)]
pub(in crate::cloudflare) struct Configuration {
    /// How often something was put, the same thing included.
    pub(super) version: u64,
    pub(super) config: Value,
    pub(super) created_at: Timestamp,
}

impl Configuration {
    /// What a tunnel reads that never got one.
    fn unconfigured(tunnel: &Tunnel, switch: Unconfigured) -> Option<Self> {
        let version = match switch {
            Unconfigured::NotFound => return None,
            Unconfigured::VersionZero => 0,
            Unconfigured::VersionOne => 1,
        };
        Some(Self { version, config: json!({}), created_at: tunnel.created_at })
    }

    pub(super) fn object(&self, tunnel: &Tunnel) -> Value {
        json!({
            "account_id": tunnel.account_id,
            "tunnel_id": tunnel.id,
            "version": self.version,
            "config": self.config,
            "source": tunnel.source.name(),
            "created_at": stamp(self.created_at),
        })
    }
}

pub(in crate::cloudflare) fn get(world: &mut World, now: Timestamp, call: &Call) -> Result<Reply, ApiErrors> {
    let tunnel = world.tunnel_of(now, call)?;
    // No source says what becomes of a deleted tunnel's configuration: it goes with the tunnel.
    let stands = world.configuration_of(tunnel).filter(|_| tunnel.is_live());
    let configuration = stands.ok_or(TunnelRefusal::NoConfiguration)?;
    Ok(Reply::value(&configuration.object(tunnel)))
}

pub(in crate::cloudflare) fn put(world: &mut World, now: Timestamp, call: &Call) -> Result<Reply, ApiErrors> {
    let id = world.live_tunnel_of(now, call)?.id.clone();
    let answer = world.configure(now, &call.actor, &id, &call.json()?)?;
    Ok(Reply::value(&answer))
}

impl World {
    /// What a tunnel's configuration reads.
    pub(super) fn configuration_of(&self, tunnel: &Tunnel) -> Option<Configuration> {
        let unconfigured = || Configuration::unconfigured(tunnel, self.switches.tunnel_unconfigured);
        tunnel.configuration.clone().or_else(unconfigured)
    }

    /// Replaces a tunnel's configuration as PUT does, notes it, and answers it.
    pub(super) fn configure(
        &mut self,
        now: Timestamp,
        actor: &Actor,
        id: &str,
        body: &Value,
    ) -> Result<Value, ApiErrors> {
        let tunnel = self.tunnels.get(id).filter(|tunnel| tunnel.is_live()).ok_or(TunnelRefusal::NoTunnel)?;
        let config = body.get("config").filter(|config| config.is_object());
        let mut config = ingress::stored(config.ok_or(TunnelRefusal::Field { field: "config" })?)?;
        if self.switches.tunnel_warp_routing && config.get(ingress::WARP_ROUTING).is_none() {
            config[ingress::WARP_ROUTING] = json!({ "enabled": false });
        }
        let old = self.configuration_of(tunnel);
        let version = old.as_ref().map_or(0, |old| old.version) + 1;
        let configuration = Configuration { version, config, created_at: now };
        let before = tunnel.configuration.as_ref().map(|configuration| configuration.object(tunnel));
        let after = configuration.object(tunnel);
        if let Some(tunnel) = self.tunnels.get_mut(id) {
            tunnel.configuration = Some(configuration);
        }
        self.note_tunnel(now, actor, ObjectKind::TunnelConfiguration, id, before, Some(after.clone()));
        Ok(after)
    }
}
