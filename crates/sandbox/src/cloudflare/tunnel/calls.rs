//! The calls on tunnels: list, create, get, patch, delete, tokens and connections.
//! What a tunnel is and looks like is left to `object`; its configuration to `configuration`.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::super::account;
use super::super::call::{Actor, Call};
use super::super::envelope::{ApiErrors, Reply};
use super::super::query::{Page, PageBounds};
use super::super::world::{ObjectKind, Recorded, World, digest_of};
use super::super::zone::is_younger;
use super::connector::Connector;
use super::filter::TunnelFilter;
use super::object::{ConfigSource, Tunnel, uuid_of};
use super::refusal::TunnelRefusal;

/// Cloudflare API docs: at most 1,000 a page. No source says how many without asking: as many as of other short lists.
const TUNNEL_LIST: PageBounds = PageBounds { default: 20, min: 1, max: 1000 };
/// Cloudflare API docs: bytes of a secret.
const SECRET_MIN: usize = 32;

/// Tunnels of one account, oldest first, deleted ones too.
pub(in crate::cloudflare) fn list(
    world: &mut World,
    now: Timestamp,
    call: &Call,
) -> Result<Reply, ApiErrors> {
    let account_id = account::visible(world, &call.actor, call.id(0))?.id.clone();
    let page = Page::of(&call.query, TUNNEL_LIST, world.switches.too_large_per_page)?;
    let filter = TunnelFilter::of(&call.query)?;
    let lag = world.switches.lag.list_after_create;
    let mut rows: Vec<&Tunnel> = world
        .tunnels
        .values()
        .filter(|tunnel| tunnel.account_id == account_id && filter.keeps(tunnel))
        .filter(|tunnel| !is_younger(tunnel.created_at, now, lag, &call.actor))
        .collect();
    rows.sort_by(|a, b| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)));
    let (part, info) = page.cut(&rows);
    let objects: Vec<Value> = part.iter().map(|tunnel| world.tunnel_object(tunnel)).collect();
    Ok(Reply::page(Value::Array(objects).to_string(), info))
}

pub(in crate::cloudflare) fn create(
    world: &mut World,
    now: Timestamp,
    call: &Call,
) -> Result<Reply, ApiErrors> {
    let account_id = account::visible(world, &call.actor, call.id(0))?.id.clone();
    let body = call.json()?;
    let tells_token = world.switches.tunnel_create_tells_token;
    let tunnel = world.add_tunnel(now, &call.actor, &account_id, &body)?;
    let mut answer = world.tunnel_object(&tunnel);
    if let Some(fields) = answer.as_object_mut().filter(|_| tells_token) {
        let file = json!({
            "AccountTag": tunnel.account_id,
            "TunnelID": tunnel.id,
            "TunnelName": tunnel.name,
            "TunnelSecret": tunnel.secret,
        });
        fields.insert("credentials_file".to_owned(), file);
        fields.insert("token".to_owned(), tunnel.token().into());
    }
    Ok(Reply::value(&answer))
}

/// A deleted tunnel can still be read.
pub(in crate::cloudflare) fn get(world: &mut World, now: Timestamp, call: &Call) -> Result<Reply, ApiErrors> {
    let tunnel = world.tunnel_of(now, call)?;
    Ok(Reply::value(&world.tunnel_object(tunnel)))
}

pub(in crate::cloudflare) fn patch(
    world: &mut World,
    now: Timestamp,
    call: &Call,
) -> Result<Reply, ApiErrors> {
    let id = world.live_tunnel_of(now, call)?.id.clone();
    let tunnel = world.edit_tunnel(now, &call.actor, &id, &call.json()?)?;
    Ok(Reply::value(&world.tunnel_object(&tunnel)))
}

pub(in crate::cloudflare) fn delete(
    world: &mut World,
    now: Timestamp,
    call: &Call,
) -> Result<Reply, ApiErrors> {
    let tunnel = world.live_tunnel_of(now, call)?;
    // cloudflared deletes with `cascade` what still has connections; the API's documentation does not know of it.
    if tunnel.is_tracked(now) && call.query.get("cascade") != Some("true") {
        return Err(TunnelRefusal::Connected.into());
    }
    let id = tunnel.id.clone();
    let tunnel = world.drop_tunnel(now, &call.actor, &id).ok_or(TunnelRefusal::NoTunnel)?;
    Ok(Reply::value(&world.tunnel_object(&tunnel)))
}

/// What cloudflared is started with.
pub(in crate::cloudflare) fn token(
    world: &mut World,
    now: Timestamp,
    call: &Call,
) -> Result<Reply, ApiErrors> {
    let tunnel = world.tunnel_of(now, call)?;
    if !tunnel.is_live() {
        return Err(TunnelRefusal::NoToken.into());
    }
    Ok(Reply::value(&tunnel.token().into()))
}

/// A token for the tunnel's logs, which nobody can read here.
pub(in crate::cloudflare) fn management(
    world: &mut World,
    now: Timestamp,
    call: &Call,
) -> Result<Reply, ApiErrors> {
    let tunnel = world.live_tunnel_of(now, call)?;
    let body = call.json()?;
    let resources = body.get("resources").and_then(Value::as_array);
    if !resources.is_some_and(|list| !list.is_empty() && list.iter().all(|word| word == "logs")) {
        return Err(TunnelRefusal::Field { field: "resources" }.into());
    }
    let digest = digest_of(&[b"management", tunnel.id.as_bytes(), now.to_string().as_bytes()]);
    Ok(Reply::value(&STANDARD.encode(digest).into()))
}

pub(in crate::cloudflare) fn connections(
    world: &mut World,
    now: Timestamp,
    call: &Call,
) -> Result<Reply, ApiErrors> {
    let tunnel = world.tunnel_of(now, call)?;
    let version = tunnel.configuration.as_ref().map_or(0, |configuration| configuration.version);
    let objects: Vec<Value> = tunnel.connected().map(|connector| connector.object(version)).collect();
    Ok(Reply::value(&Value::Array(objects)))
}

pub(in crate::cloudflare) fn connector(
    world: &mut World,
    now: Timestamp,
    call: &Call,
) -> Result<Reply, ApiErrors> {
    let tunnel = world.tunnel_of(now, call)?;
    let version = tunnel.configuration.as_ref().map_or(0, |configuration| configuration.version);
    let connector: &Connector =
        tunnel.connected().find(|connector| connector.id == call.id(2)).ok_or(TunnelRefusal::NoConnector)?;
    Ok(Reply::value(&connector.object(version)))
}

/// Forgets connections, whatever their state: all of them, or those of `client_id`.
pub(in crate::cloudflare) fn clean_up(
    world: &mut World,
    now: Timestamp,
    call: &Call,
) -> Result<Reply, ApiErrors> {
    let id = world.live_tunnel_of(now, call)?.id.clone();
    let client = call.query.get("client_id").filter(|id| !id.is_empty());
    if let Some(tunnel) = world.tunnels.get_mut(&id) {
        tunnel.connectors.retain(|connector| client.is_some_and(|client| connector.id != client));
        tunnel.note_activity(now);
    }
    Ok(Reply::value(&Value::Null))
}

/// What a tunnel's name must be.
fn name_of(body: &Value) -> Result<&str, TunnelRefusal> {
    let name = body.get("name").and_then(Value::as_str).filter(|name| !name.trim().is_empty());
    name.ok_or(TunnelRefusal::Field { field: "name" })
}

/// The secret of a request, if it has one.
fn secret_of(body: &Value) -> Result<Option<&str>, TunnelRefusal> {
    let secret = match body.get("tunnel_secret") {
        None | Some(Value::Null) => return Ok(None),
        Some(secret) => secret.as_str().ok_or(TunnelRefusal::Field { field: "tunnel_secret" })?,
    };
    let is_long_enough = STANDARD.decode(secret).is_ok_and(|bytes| bytes.len() >= SECRET_MIN);
    if is_long_enough { Ok(Some(secret)) } else { Err(TunnelRefusal::Secret { min: SECRET_MIN }) }
}

impl World {
    pub(in crate::cloudflare) fn tunnel_object(&self, tunnel: &Tunnel) -> Value {
        tunnel.object(self.switches.tunnel_tells_connections)
    }

    /// The tunnel of a call, deleted or not, when its token may see it and the world already shows it.
    pub(super) fn tunnel_of(&self, now: Timestamp, call: &Call) -> Result<&Tunnel, ApiErrors> {
        let account_id = account::visible(self, &call.actor, call.id(0))?.id.as_str();
        let lag = self.switches.lag.read_after_create;
        self.tunnels
            .get(call.id(1))
            .filter(|tunnel| tunnel.account_id == account_id)
            .filter(|tunnel| !is_younger(tunnel.created_at, now, lag, &call.actor))
            .ok_or_else(|| TunnelRefusal::NoTunnel.into())
    }

    /// The same for what only a tunnel has that was not deleted.
    pub(super) fn live_tunnel_of(&self, now: Timestamp, call: &Call) -> Result<&Tunnel, ApiErrors> {
        let tunnel = self.tunnel_of(now, call)?;
        if tunnel.is_live() { Ok(tunnel) } else { Err(TunnelRefusal::NoTunnel.into()) }
    }

    /// Reports of users: 409 for the name of another tunnel of the account that is not deleted. Older accounts hold twins.
    fn refuse_tunnel_name(&self, account_id: &str, id: &str, name: &str) -> Result<(), TunnelRefusal> {
        let is_taken = self.tunnels.values().any(|other| {
            other.is_live() && other.account_id == account_id && other.id != id && other.name == name
        });
        let refuses = is_taken && !self.switches.tunnel_names_repeat;
        if refuses { Err(TunnelRefusal::NameTaken) } else { Ok(()) }
    }

    /// Creates a tunnel as POST does, and notes it.
    pub(super) fn add_tunnel(
        &mut self,
        now: Timestamp,
        actor: &Actor,
        account_id: &str,
        body: &Value,
    ) -> Result<Tunnel, ApiErrors> {
        let name = name_of(body)?;
        let source = match body.get("config_src") {
            None | Some(Value::Null) => ConfigSource::Local,
            Some(word) => word
                .as_str()
                .and_then(ConfigSource::of)
                .ok_or(TunnelRefusal::Field { field: "config_src" })?,
        };
        let secret = secret_of(body)?;
        self.refuse_tunnel_name(account_id, "", name)?;
        let secret = secret.map_or_else(|| STANDARD.encode(self.ids.next()), str::to_owned);
        let tunnel = Tunnel {
            id: uuid_of(&self.ids.next()),
            account_id: account_id.to_owned(),
            name: name.to_owned(),
            source,
            secret,
            created_at: now,
            deleted_at: None,
            configuration: None,
            connectors: Vec::new(),
            spans: Vec::new(),
        };
        self.tunnels.insert(tunnel.id.clone(), tunnel.clone());
        let after = self.tunnel_object(&tunnel);
        self.note_tunnel(now, actor, ObjectKind::Tunnel, &tunnel.id, None, Some(after));
        Ok(tunnel)
    }

    /// Changes a tunnel as PATCH does, and notes it.
    pub(super) fn edit_tunnel(
        &mut self,
        now: Timestamp,
        actor: &Actor,
        id: &str,
        body: &Value,
    ) -> Result<Tunnel, ApiErrors> {
        let old = self.tunnels.get(id).filter(|tunnel| tunnel.is_live()).ok_or(TunnelRefusal::NoTunnel)?;
        let mut tunnel = old.clone();
        if body.get("name").is_some_and(|name| !name.is_null()) {
            name_of(body)?.clone_into(&mut tunnel.name);
            self.refuse_tunnel_name(&tunnel.account_id, id, &tunnel.name)?;
        }
        if let Some(secret) = secret_of(body)? {
            secret.clone_into(&mut tunnel.secret);
        }
        let (before, after) = (self.tunnel_object(old), self.tunnel_object(&tunnel));
        self.tunnels.insert(id.to_owned(), tunnel.clone());
        self.note_tunnel(now, actor, ObjectKind::Tunnel, id, Some(before), Some(after));
        Ok(tunnel)
    }

    /// Deletes a tunnel, which stays as a deleted one, and notes it. None when there is none that lives.
    pub(super) fn drop_tunnel(&mut self, now: Timestamp, actor: &Actor, id: &str) -> Option<Tunnel> {
        let tells = self.switches.tunnel_tells_connections;
        let tunnel = self.tunnels.get_mut(id).filter(|tunnel| tunnel.is_live())?;
        let before = tunnel.object(tells);
        tunnel.connectors.clear();
        tunnel.note_activity(now);
        tunnel.deleted_at = Some(now);
        let tunnel = tunnel.clone();
        self.note_tunnel(now, actor, ObjectKind::Tunnel, id, Some(before), None);
        Some(tunnel)
    }

    /// Writes a change of a tunnel, or of its configuration, into the history.
    pub(super) fn note_tunnel(
        &mut self,
        now: Timestamp,
        actor: &Actor,
        object: ObjectKind,
        id: &str,
        before: Option<Value>,
        after: Option<Value>,
    ) {
        let text = |value: Option<Value>| value.map(|value| Arc::from(value.to_string()));
        self.history.push(Recorded {
            at: now,
            object,
            zone_id: String::new(),
            id: id.to_owned(),
            who: actor.id.clone(),
            before: text(before),
            after: text(after),
        });
    }
}
