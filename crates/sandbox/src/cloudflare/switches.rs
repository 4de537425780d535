//! Where two sources disagree about the API, or the documentation is silent: one switch each.
//! The defaults follow the source that is trusted most; nothing here is decided by what our client sends.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::plan::Plan;

/// How far a batch's error names the operation that failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Culprit {
    /// The documentation names only "the first error".
    #[default]
    NotAtAll,
    /// `errors[0].source.pointer` is `/posts/3`.
    Pointer,
}

/// What a too large `per_page` does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TooLarge {
    /// 400.
    #[default]
    Refuse,
    /// The list's maximum is used in silence.
    Cap,
}

/// Which code a CNAME beside an address record is refused with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CoexistenceCode {
    /// 81053 for every pair.
    #[default]
    General,
    /// 81054 when a CNAME stands there, 81055 when an A does.
    Specific,
}

/// Which code a second record of the same type, name and content is refused with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IdenticalCode {
    /// "The record already exists" (older).
    Code81057,
    /// "An identical record already exists".
    #[default]
    Code81058,
}

/// What `proxied: true` on a private or reserved address does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PrivateProxied {
    /// 400 with 9003.
    #[default]
    Refuse,
    /// 200, and the record stays unproxied.
    StayUnproxied,
}

/// What `content` beside `data` does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ContentBesideData {
    /// 400: the two are exclusive.
    #[default]
    Refuse,
    /// `content` is ignored (the API's own document calls it read-only for types with `data`).
    Ignore,
}

/// What a `*` in a label other than the first does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InnerWildcard {
    /// Stored as it is.
    #[default]
    Literal,
    /// 400 with 9000.
    Refuse,
}

/// How a zone id of the right shape that is unknown or not visible is answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnknownZone {
    /// 403 with 9109 "Invalid zone identifier".
    #[default]
    Forbidden,
    /// 404 with 7003.
    NotFound,
    /// 400 with 1001 (older products).
    Invalid,
}

/// The code of the gateway's 429.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RateLimitCode {
    /// 10429.
    #[default]
    Code10429,
    /// 971.
    Code971,
}

/// How the verify endpoints answer for a token that is disabled or expired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VerifyInactive {
    /// 200 with its status (cloudflare API docs: `status` is active, disabled or expired).
    #[default]
    TellStatus,
    /// 401 with 1000, as for an unknown token.
    Refuse,
}

/// What is answered for the configuration of a tunnel that never got one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unconfigured {
    /// 404 with 1055.
    #[default]
    NotFound,
    /// An empty configuration, version 0.
    VersionZero,
    /// An empty configuration, version 1.
    VersionOne,
}

/// How long a write needs until others see it. Zero: at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lag {
    /// A new zone or record is missing from lists for this long.
    pub list_after_create: Duration,
    /// A new zone or record reads 404 for this long.
    pub read_after_create: Duration,
    /// A new token, or any token on a new zone, is refused with 403/10000 for this long.
    pub access_after_create: Duration,
}

/// Every behaviour that differs between sources.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Switches {
    /// 1,200 requests per 300 s and user (or account token), then a block of five minutes.
    pub rate_limit: bool,
    /// 200 requests per second from one address. Off: everything in one process has the same address.
    pub address_limit: bool,
    /// The code of a 429.
    pub rate_limit_code: RateLimitCode,
    /// How a failed batch names the culprit.
    pub batch_names_culprit: Culprit,
    /// What a too large `per_page` does.
    pub too_large_per_page: TooLarge,
    /// TXT content comes back in quotes; else as it was sent.
    pub txt_quoted: bool,
    /// Which code coexistence rules use.
    pub coexistence_code: CoexistenceCode,
    /// Which code identical records get.
    pub identical_code: IdenticalCode,
    /// Private addresses and `proxied`.
    pub private_proxied: PrivateProxied,
    /// `content` and `data` in one request.
    pub content_beside_data: ContentBesideData,
    /// A `*` inside a name.
    pub inner_wildcard: InnerWildcard,
    /// A DS is refused unless an NS stands at the same name.
    pub ds_needs_ns: bool,
    /// Targets of CNAME, MX, NS, PTR and SRV are lower-cased; else their case is kept.
    pub lower_case_targets: bool,
    /// Unknown zones.
    pub unknown_zone: UnknownZone,
    /// The status of 7003 and 7000; sources say 400 and 404.
    pub routing_status: u16,
    /// Inactive tokens at the verify endpoints.
    pub verify_inactive: VerifyInactive,
    /// A new zone reads `initializing` for a moment; else `pending` at once.
    pub zone_status_initializing: bool,
    /// Names that no zone may have: 403 with 1097.
    pub banned_names: BTreeSet<String>,
    /// How many records a zone may hold, whatever its plan: zones from before September 2024 hold more than new ones.
    pub record_quota: Option<usize>,
    /// The configuration of a tunnel that never got one.
    pub tunnel_unconfigured: Unconfigured,
    /// Several living tunnels may have one name, as in older accounts; else 409 with 1013.
    pub tunnel_names_repeat: bool,
    /// The server adds `warp-routing` to configurations that were sent without it.
    pub tunnel_warp_routing: bool,
    /// The answer to a tunnel's creation has its token and credentials, as cloudflared's version of the API does.
    pub tunnel_create_tells_token: bool,
    /// Tunnels list their connections, as they did until 2025; else the list is empty.
    pub tunnel_tells_connections: bool,
    /// Eventual consistency.
    pub lag: Lag,
}

impl Switches {
    /// How many records a zone of a plan may hold.
    pub(super) fn record_quota(&self, plan: Plan) -> usize {
        self.record_quota.unwrap_or_else(|| plan.record_quota())
    }
}

impl Default for Switches {
    fn default() -> Self {
        Self {
            rate_limit: true,
            address_limit: false,
            rate_limit_code: RateLimitCode::default(),
            batch_names_culprit: Culprit::default(),
            too_large_per_page: TooLarge::default(),
            txt_quoted: true,
            coexistence_code: CoexistenceCode::default(),
            identical_code: IdenticalCode::default(),
            private_proxied: PrivateProxied::default(),
            content_beside_data: ContentBesideData::default(),
            inner_wildcard: InnerWildcard::default(),
            ds_needs_ns: true,
            lower_case_targets: true,
            unknown_zone: UnknownZone::default(),
            routing_status: 404,
            verify_inactive: VerifyInactive::default(),
            zone_status_initializing: true,
            banned_names: BTreeSet::new(),
            record_quota: None,
            tunnel_unconfigured: Unconfigured::default(),
            tunnel_names_repeat: false,
            tunnel_warp_routing: false,
            tunnel_create_tells_token: false,
            tunnel_tells_connections: false,
            lag: Lag::default(),
        }
    }
}
