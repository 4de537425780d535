//! The table of endpoints: template, method, what it needs and who answers it.
//! Finds the row of a request; carrying it out is left to the products.

use super::envelope::ApiErrors;
use super::gateway::Gateway;
use super::token::Permission;

/// Who answers. One word per operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Endpoint {
    UserVerify,
    User,
    Memberships,
    UserTokenList,
    UserTokenCreate,
    UserTokenGet,
    UserTokenUpdate,
    UserTokenDelete,
    UserTokenRoll,
    UserTokenGroups,
    AccountList,
    AccountCreate,
    AccountGet,
    AccountUpdate,
    AccountDelete,
    AccountVerify,
    AccountTokenList,
    AccountTokenCreate,
    AccountTokenGet,
    AccountTokenUpdate,
    AccountTokenDelete,
    AccountTokenRoll,
    AccountTokenGroups,
    AccountDnsUsage,
    ZoneList,
    ZoneCreate,
    ZoneGet,
    ZonePatch,
    ZoneDelete,
    ActivationCheck,
    SubscriptionGet,
    SubscriptionCreate,
    SubscriptionUpdate,
    HoldGet,
    HoldCreate,
    HoldPatch,
    HoldDelete,
    PurgeCache,
    RecordList,
    RecordCreate,
    RecordGet,
    RecordPut,
    RecordPatch,
    RecordDelete,
    RecordBatch,
    RecordExport,
    RecordImport,
    RecordScan,
    RecordScanTrigger,
    RecordScanReview,
    RecordScanAnswer,
    RecordUsage,
    TunnelList,
    TunnelCreate,
    TunnelGet,
    TunnelPatch,
    TunnelDelete,
    TunnelToken,
    TunnelManagement,
    TunnelConnections,
    TunnelCleanUp,
    TunnelConnector,
    TunnelConfigurationGet,
    TunnelConfigurationPut,
}

/// What the body of a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BodyKind {
    Ignored,
    Json,
    Multipart,
}

/// One operation.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) method: &'static str,
    pub(super) template: &'static str,
    pub(super) endpoint: Endpoint,
    pub(super) permission: Option<Permission>,
    pub(super) body: BodyKind,
}

const fn read(template: &'static str, endpoint: Endpoint, permission: Option<Permission>) -> Row {
    Row { method: "GET", template, endpoint, permission, body: BodyKind::Ignored }
}

const fn write(
    method: &'static str,
    template: &'static str,
    endpoint: Endpoint,
    permission: Permission,
) -> Row {
    Row { method, template, endpoint, permission: Some(permission), body: BodyKind::Json }
}

const fn bare(
    method: &'static str,
    template: &'static str,
    endpoint: Endpoint,
    permission: Permission,
) -> Row {
    Row { method, template, endpoint, permission: Some(permission), body: BodyKind::Ignored }
}

const ACCOUNT: &str = "/accounts/{account_id}";
const ACCOUNT_TOKENS: &str = "/accounts/{account_id}/tokens";
const ACCOUNT_TOKEN: &str = "/accounts/{account_id}/tokens/{token_id}";
const USER_TOKEN: &str = "/user/tokens/{token_id}";
const ZONE: &str = "/zones/{zone_id}";
const SUBSCRIPTION: &str = "/zones/{zone_id}/subscription";
const HOLD: &str = "/zones/{zone_id}/hold";
const RECORDS: &str = "/zones/{zone_id}/dns_records";
const RECORD: &str = "/zones/{zone_id}/dns_records/{record_id}";
const TUNNELS: &str = "/accounts/{account_id}/cfd_tunnel";
const TUNNEL: &str = "/accounts/{account_id}/cfd_tunnel/{tunnel_id}";
const CONNECTIONS: &str = "/accounts/{account_id}/cfd_tunnel/{tunnel_id}/connections";
const CONNECTOR: &str = "/accounts/{account_id}/cfd_tunnel/{tunnel_id}/connectors/{connector_id}";
const CONFIGURATION: &str = "/accounts/{account_id}/cfd_tunnel/{tunnel_id}/configurations";
const TUNNEL_TOKEN: &str = "/accounts/{account_id}/cfd_tunnel/{tunnel_id}/token";
const TUNNEL_MANAGEMENT: &str = "/accounts/{account_id}/cfd_tunnel/{tunnel_id}/management";
/// Placeholders of identifiers that are UUIDs.
const UUIDS: [&str; 2] = ["{tunnel_id}", "{connector_id}"];

/// Rows with a word come before rows with a placeholder in its place.
const ROWS: &[Row] = {
    use Endpoint as E;
    use Permission as P;
    &[
        read("/user/tokens/verify", E::UserVerify, None),
        read("/user/tokens/permission_groups", E::UserTokenGroups, Some(P::UserTokensRead)),
        read("/user/tokens", E::UserTokenList, Some(P::UserTokensRead)),
        write("POST", "/user/tokens", E::UserTokenCreate, P::UserTokensEdit),
        read(USER_TOKEN, E::UserTokenGet, Some(P::UserTokensRead)),
        write("PUT", USER_TOKEN, E::UserTokenUpdate, P::UserTokensEdit),
        bare("DELETE", USER_TOKEN, E::UserTokenDelete, P::UserTokensEdit),
        write("PUT", "/user/tokens/{token_id}/value", E::UserTokenRoll, P::UserTokensEdit),
        // These three say first that they are not for account-owned tokens, so they check permissions themselves.
        read("/user", E::User, None),
        read("/memberships", E::Memberships, None),
        read("/accounts", E::AccountList, None),
        write("POST", "/accounts", E::AccountCreate, P::AccountSettingsEdit),
        read(ACCOUNT, E::AccountGet, Some(P::AccountSettingsRead)),
        write("PUT", ACCOUNT, E::AccountUpdate, P::AccountSettingsEdit),
        bare("DELETE", ACCOUNT, E::AccountDelete, P::AccountSettingsEdit),
        read("/accounts/{account_id}/tokens/verify", E::AccountVerify, None),
        read(
            "/accounts/{account_id}/tokens/permission_groups",
            E::AccountTokenGroups,
            Some(P::AccountTokensRead),
        ),
        read(ACCOUNT_TOKENS, E::AccountTokenList, Some(P::AccountTokensRead)),
        write("POST", ACCOUNT_TOKENS, E::AccountTokenCreate, P::AccountTokensEdit),
        read(ACCOUNT_TOKEN, E::AccountTokenGet, Some(P::AccountTokensRead)),
        write("PUT", ACCOUNT_TOKEN, E::AccountTokenUpdate, P::AccountTokensEdit),
        bare("DELETE", ACCOUNT_TOKEN, E::AccountTokenDelete, P::AccountTokensEdit),
        write(
            "PUT",
            "/accounts/{account_id}/tokens/{token_id}/value",
            E::AccountTokenRoll,
            P::AccountTokensEdit,
        ),
        read("/accounts/{account_id}/dns_records/usage", E::AccountDnsUsage, Some(P::DnsRead)),
        read("/zones", E::ZoneList, Some(P::ZoneRead)),
        write("POST", "/zones", E::ZoneCreate, P::ZoneEdit),
        read(ZONE, E::ZoneGet, Some(P::ZoneRead)),
        write("PATCH", ZONE, E::ZonePatch, P::ZoneEdit),
        bare("DELETE", ZONE, E::ZoneDelete, P::ZoneEdit),
        bare("PUT", "/zones/{zone_id}/activation_check", E::ActivationCheck, P::ZoneEdit),
        read(SUBSCRIPTION, E::SubscriptionGet, Some(P::BillingRead)),
        write("POST", SUBSCRIPTION, E::SubscriptionCreate, P::BillingEdit),
        write("PUT", SUBSCRIPTION, E::SubscriptionUpdate, P::BillingEdit),
        read(HOLD, E::HoldGet, Some(P::ZoneRead)),
        bare("POST", HOLD, E::HoldCreate, P::ZoneEdit),
        write("PATCH", HOLD, E::HoldPatch, P::ZoneEdit),
        bare("DELETE", HOLD, E::HoldDelete, P::ZoneEdit),
        write("POST", "/zones/{zone_id}/purge_cache", E::PurgeCache, P::CachePurge),
        read("/zones/{zone_id}/dns_records/export", E::RecordExport, Some(P::DnsRead)),
        read("/zones/{zone_id}/dns_records/usage", E::RecordUsage, Some(P::DnsRead)),
        read("/zones/{zone_id}/dns_records/scan/review", E::RecordScanReview, Some(P::DnsRead)),
        write("POST", "/zones/{zone_id}/dns_records/scan/review", E::RecordScanAnswer, P::DnsEdit),
        bare("POST", "/zones/{zone_id}/dns_records/scan/trigger", E::RecordScanTrigger, P::DnsEdit),
        bare("POST", "/zones/{zone_id}/dns_records/scan", E::RecordScan, P::DnsEdit),
        write("POST", "/zones/{zone_id}/dns_records/batch", E::RecordBatch, P::DnsEdit),
        Row {
            method: "POST",
            template: "/zones/{zone_id}/dns_records/import",
            endpoint: E::RecordImport,
            permission: Some(P::DnsEdit),
            body: BodyKind::Multipart,
        },
        read(RECORDS, E::RecordList, Some(P::DnsRead)),
        write("POST", RECORDS, E::RecordCreate, P::DnsEdit),
        read(RECORD, E::RecordGet, Some(P::DnsRead)),
        write("PUT", RECORD, E::RecordPut, P::DnsEdit),
        write("PATCH", RECORD, E::RecordPatch, P::DnsEdit),
        bare("DELETE", RECORD, E::RecordDelete, P::DnsEdit),
        read("/accounts/{account_id}/tunnels", E::TunnelList, Some(P::TunnelRead)),
        read(TUNNELS, E::TunnelList, Some(P::TunnelRead)),
        write("POST", TUNNELS, E::TunnelCreate, P::TunnelEdit),
        read(TUNNEL, E::TunnelGet, Some(P::TunnelRead)),
        write("PATCH", TUNNEL, E::TunnelPatch, P::TunnelEdit),
        bare("DELETE", TUNNEL, E::TunnelDelete, P::TunnelEdit),
        read(CONNECTIONS, E::TunnelConnections, Some(P::TunnelRead)),
        bare("DELETE", CONNECTIONS, E::TunnelCleanUp, P::TunnelEdit),
        read(CONNECTOR, E::TunnelConnector, Some(P::TunnelRead)),
        read(TUNNEL_TOKEN, E::TunnelToken, Some(P::TunnelRead)),
        write("POST", TUNNEL_MANAGEMENT, E::TunnelManagement, P::TunnelEdit),
        read(CONFIGURATION, E::TunnelConfigurationGet, Some(P::TunnelRead)),
        write("PUT", CONFIGURATION, E::TunnelConfigurationPut, P::TunnelEdit),
    ]
};

/// A request that has a row.
#[derive(Clone, Debug)]
pub(super) struct Routed {
    pub(super) row: &'static Row,
    /// What stands for the placeholders, in order.
    pub(super) ids: Vec<String>,
}

/// The route that is logged for what has no row.
pub(super) const NO_ROUTE: &str = "(no route)";

/// Finds the row, or says like the gateway why there is none.
pub(super) fn find(method: &str, path: &str, routing_status: u16) -> Result<Routed, ApiErrors> {
    let segments: Vec<&str> = path.trim_matches('/').split('/').collect();
    // A path with an empty id in it (`/zones//dns_records`) is one segment too long and finds nothing.
    let mut fits = ROWS
        .iter()
        .filter_map(|row| ids_of(row.template, &segments).map(|ids| (row, ids)))
        .filter(|(row, ids)| are_well_formed(row.template, ids))
        .peekable();
    if fits.peek().is_none() {
        let refusal = ApiErrors::from(Gateway::NoObject { path: path.to_owned(), status: routing_status });
        let no_route = Gateway::NoRoute { status: routing_status };
        let code = super::envelope::Coded::code(&no_route);
        return Err(refusal.and(code, no_route.to_string()));
    }
    fits.find(|(row, _)| row.method == method)
        .map(|(row, ids)| Routed { row, ids })
        .ok_or_else(|| Gateway::WrongMethod.into())
}

/// The template for the log, also for requests with a wrong method or an ill-formed id.
pub(super) fn template_of(path: &str) -> &'static str {
    let segments: Vec<&str> = path.trim_matches('/').split('/').collect();
    ROWS.iter().find(|row| ids_of(row.template, &segments).is_some()).map_or(NO_ROUTE, |row| row.template)
}

/// What stands for the placeholders of a path, whatever the method.
pub(super) fn ids(path: &str) -> Vec<String> {
    let segments: Vec<&str> = path.trim_matches('/').split('/').collect();
    ROWS.iter().find_map(|row| ids_of(row.template, &segments)).unwrap_or_default()
}

/// Every operation: method and template.
#[cfg(test)]
pub(super) fn operations() -> impl Iterator<Item = (&'static str, &'static str)> {
    ROWS.iter().map(|row| (row.method, row.template))
}

fn ids_of(template: &str, segments: &[&str]) -> Option<Vec<String>> {
    let mut ids = Vec::new();
    let mut given = segments.iter();
    for wanted in template.trim_start_matches('/').split('/') {
        let segment = *given.next()?;
        if wanted.starts_with('{') {
            if segment.is_empty() {
                return None;
            }
            ids.push(segment.to_owned());
        } else if wanted != segment {
            return None;
        }
    }
    given.next().is_none().then_some(ids)
}

fn are_well_formed(template: &str, ids: &[String]) -> bool {
    let placeholders = template.split('/').filter(|word| word.starts_with('{'));
    placeholders.zip(ids).all(|(word, id)| if UUIDS.contains(&word) { is_uuid(id) } else { is_hex32(id) })
}

/// Cloudflare API docs: tunnels and their connectors have UUIDs.
pub(super) fn is_uuid(text: &str) -> bool {
    const GROUPS: [usize; 5] = [8, 4, 4, 4, 12];
    let lengths = text.split('-').map(str::len);
    lengths.eq(GROUPS) && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b'-'))
}

/// Cloudflare API docs: ids in paths are 32 lower-case hexadecimal digits.
pub(super) fn is_hex32(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
