//! The filters of the lists of tunnels.
//! What a token may see is decided before.

use jiff::Timestamp;

use super::super::envelope::ApiErrors;
use super::super::query::Query;
use super::object::Tunnel;
use super::refusal::TunnelRefusal;

/// The type of all tunnels of this world.
const TYPE: &str = "cfd_tunnel";
/// Cloudflare API docs: `tun_type`.
const TYPES: [&str; 7] = [TYPE, "warp_connector", "warp", "magic", "ip_sec", "gre", "cni"];
const STATUSES: [&str; 4] = ["inactive", "degraded", "healthy", "down"];

/// The parsed parameters of one list.
#[derive(Debug)]
pub(super) struct TunnelFilter {
    name: Option<String>,
    uuid: Option<String>,
    /// None: both the living and the deleted.
    is_deleted: Option<bool>,
    status: Option<String>,
    include_prefix: Option<String>,
    exclude_prefix: Option<String>,
    existed_at: Option<Timestamp>,
    was_active_at: Option<Timestamp>,
    was_inactive_at: Option<Timestamp>,
    /// Empty: all.
    types: Vec<String>,
}

impl TunnelFilter {
    pub(super) fn of(query: &Query) -> Result<Self, ApiErrors> {
        // A parameter without a value is as good as none: "If empty, all tunnels will be included".
        let text = |field: &str| query.get(field).filter(|value| !value.is_empty()).map(str::to_owned);
        let invalid = |field| ApiErrors::from(TunnelRefusal::Field { field });
        let is_deleted = match text("is_deleted").as_deref() {
            None => None,
            Some("true") => Some(true),
            Some("false") => Some(false),
            Some(_) => return Err(invalid("is_deleted")),
        };
        let time = |field: &'static str| match text(field).map(|value| value.parse()) {
            None => Ok(None),
            Some(Ok(time)) => Ok(Some(time)),
            Some(Err(_)) => Err(invalid(field)),
        };
        let status = text("status");
        if status.as_deref().is_some_and(|word| !STATUSES.contains(&word)) {
            return Err(invalid("status"));
        }
        // Cloudflare's own clients repeat the parameter; a list with commas is the documented form.
        let types: Vec<String> = query
            .pairs()
            .filter(|(key, _)| *key == "tun_types")
            .flat_map(|(_, list)| list.split(','))
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect();
        if !types.iter().all(|word| TYPES.contains(&word.as_str())) {
            return Err(invalid("tun_types"));
        }
        Ok(Self {
            name: text("name"),
            uuid: text("uuid"),
            is_deleted,
            status,
            include_prefix: text("include_prefix"),
            exclude_prefix: text("exclude_prefix"),
            existed_at: time("existed_at")?,
            was_active_at: time("was_active_at")?,
            was_inactive_at: time("was_inactive_at")?,
            types,
        })
    }

    pub(super) fn keeps(&self, tunnel: &Tunnel) -> bool {
        let existed = |at: Timestamp| {
            tunnel.created_at <= at && tunnel.deleted_at.is_none_or(|deleted_at| at < deleted_at)
        };
        let verdicts = [
            self.name.as_ref().map(|name| *name == tunnel.name),
            self.uuid.as_ref().map(|id| *id == tunnel.id),
            self.is_deleted.map(|is_deleted| is_deleted != tunnel.is_live()),
            self.status.as_ref().map(|status| status == tunnel.status()),
            self.include_prefix.as_ref().map(|prefix| tunnel.name.starts_with(prefix)),
            self.exclude_prefix.as_ref().map(|prefix| !tunnel.name.starts_with(prefix)),
            self.existed_at.map(existed),
            self.was_active_at.map(|at| tunnel.was_active(at)),
            self.was_inactive_at.map(|at| existed(at) && !tunnel.was_active(at)),
        ];
        let is_of_type = self.types.is_empty() || self.types.iter().any(|word| word == TYPE);
        is_of_type && verdicts.into_iter().flatten().all(|verdict| verdict)
    }
}
