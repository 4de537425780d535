//! Tunnels as tests, scenarios and checkers make, change and see them: behind the API's back, and the connectors that it
//! has no calls for.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::super::Cloudflare;
use super::super::call::Actor;
use super::super::envelope::ApiErrors;
use super::super::world::World;
use super::connector::Connector;
use super::object::{Tunnel, uuid_of};
use super::refusal::TunnelRefusal;

/// Setting the scene.
impl Cloudflare {
    /// Creates a tunnel behind everyone's back, validated like POST, and gives back its id.
    pub fn put_tunnel(&self, account_id: &str, body: &Value) -> Result<String, ApiErrors> {
        let tunnel = self.world().add_tunnel(self.now(), &Actor::out_of_band(), account_id, body)?;
        Ok(tunnel.id)
    }

    /// Changes a tunnel's name or secret behind everyone's back, like PATCH.
    pub fn edit_tunnel(&self, tunnel_id: &str, body: &Value) -> Result<(), ApiErrors> {
        let mut world = self.world();
        world.edit_tunnel(self.now(), &Actor::out_of_band(), tunnel_id, body)?;
        Ok(())
    }

    /// Deletes a tunnel behind everyone's back, connections or not. False: there is none that is not deleted.
    pub fn remove_tunnel(&self, tunnel_id: &str) -> bool {
        self.world().drop_tunnel(self.now(), &Actor::out_of_band(), tunnel_id).is_some()
    }

    /// Replaces a tunnel's configuration behind everyone's back, validated like PUT.
    pub fn configure_tunnel(&self, tunnel_id: &str, config: &Value) -> Result<(), ApiErrors> {
        let body = json!({ "config": config });
        self.world().configure(self.now(), &Actor::out_of_band(), tunnel_id, &body)?;
        Ok(())
    }

    /// A connector begins to run with so many connections (cloudflared opens four). Gives back its id.
    pub fn connect_tunnel(&self, tunnel_id: &str, connections: usize) -> Result<String, ApiErrors> {
        let now = self.now();
        let mut world = self.world();
        let id = uuid_of(&world.ids.next());
        let connector = Connector { id: id.clone(), run_at: now, connections, dropped_at: None };
        world.change_connectors(now, tunnel_id, |tunnel| tunnel.connectors.push(connector))?;
        Ok(id)
    }

    /// A connector keeps only so many of its connections, or opens more: of this id, or each one. With none it is gone, but
    /// remembered for a while.
    pub fn set_tunnel_connections(
        &self,
        tunnel_id: &str,
        connector_id: Option<&str>,
        connections: usize,
    ) -> Result<(), ApiErrors> {
        let now = self.now();
        self.world().change_connectors(now, tunnel_id, |tunnel| {
            for connector in &mut tunnel.connectors {
                if connector.dropped_at.is_none() && connector_id.is_none_or(|id| id == connector.id) {
                    connector.connections = connections;
                    connector.dropped_at = (connections == 0).then_some(now);
                }
            }
        })
    }

    fn now(&self) -> Timestamp {
        self.shared.clock.now()
    }
}

/// Raw facts.
impl Cloudflare {
    /// Every tunnel as the API answers it, deleted ones too, by name and id.
    #[must_use]
    pub fn tunnels(&self) -> Vec<Value> {
        let world = self.world();
        let mut tunnels: Vec<&Tunnel> = world.tunnels.values().collect();
        tunnels.sort_by(|a, b| (&a.name, &a.id).cmp(&(&b.name, &b.id)));
        tunnels.into_iter().map(|tunnel| world.tunnel_object(tunnel)).collect()
    }

    /// The configuration that was last put for a tunnel, as the API answers it.
    #[must_use]
    pub fn tunnel_configuration(&self, tunnel_id: &str) -> Option<Value> {
        let world = self.world();
        let tunnel = world.tunnels.get(tunnel_id)?;
        tunnel.configuration.as_ref().map(|configuration| configuration.object(tunnel))
    }

    /// What cloudflared would be started with for a tunnel.
    #[must_use]
    pub fn tunnel_token(&self, tunnel_id: &str) -> Option<String> {
        self.world().tunnels.get(tunnel_id).map(Tunnel::token)
    }
}

impl World {
    fn change_connectors(
        &mut self,
        now: Timestamp,
        tunnel_id: &str,
        change: impl FnOnce(&mut Tunnel),
    ) -> Result<(), ApiErrors> {
        let tunnel = self.tunnels.get_mut(tunnel_id).filter(|tunnel| tunnel.is_live());
        let tunnel = tunnel.ok_or(TunnelRefusal::NoTunnel)?;
        change(tunnel);
        tunnel.note_activity(now);
        Ok(())
    }
}
