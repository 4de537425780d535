//! What a configuration may say: the types of its fields, and which rules make sense after each other.
//! Storing it is left to `configuration`.

use regex::Regex;
use serde_json::{Map, Value};

use super::refusal::TunnelRefusal;

/// Whether devices reach private networks through the tunnel.
pub(super) const WARP_ROUTING: &str = "warp-routing";

/// What a field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Flag,
    Number,
    Text,
    Texts,
    /// Members of these names and types; the names in the second list must be there.
    Object(&'static [(&'static str, Self)], &'static [&'static str]),
}

/// Cloudflare API docs: `originRequest`, of a rule and of all rules.
const ORIGIN_REQUEST: &[(&str, Kind)] = &[
    ("access", Kind::Object(ACCESS, &["audTag", "teamName"])),
    ("caPool", Kind::Text),
    ("connectTimeout", Kind::Number),
    ("disableChunkedEncoding", Kind::Flag),
    ("http2Origin", Kind::Flag),
    ("httpHostHeader", Kind::Text),
    ("keepAliveConnections", Kind::Number),
    ("keepAliveTimeout", Kind::Number),
    ("matchSNItoHost", Kind::Flag),
    ("noHappyEyeballs", Kind::Flag),
    ("noTLSVerify", Kind::Flag),
    ("originServerName", Kind::Text),
    ("proxyType", Kind::Text),
    ("tcpKeepAlive", Kind::Number),
    ("tlsTimeout", Kind::Number),
];
const ACCESS: &[(&str, Kind)] =
    &[("audTag", Kind::Texts), ("required", Kind::Flag), ("teamName", Kind::Text)];
const RULE: &[(&str, Kind)] = &[
    ("hostname", Kind::Text),
    ("originRequest", Kind::Object(ORIGIN_REQUEST, &[])),
    ("path", Kind::Text),
    ("service", Kind::Text),
];
const CONFIG: &[(&str, Kind)] = &[
    ("originRequest", Kind::Object(ORIGIN_REQUEST, &[])),
    (WARP_ROUTING, Kind::Object(&[("enabled", Kind::Flag)], &[])),
];

/// Cloudflare API docs: schemes of a service. The words need no address, a socket has a path.
const SCHEMES: [&str; 6] = ["http", "https", "tcp", "ssh", "rdp", "smb"];
const SOCKETS: [&str; 2] = ["unix", "unix+tls"];
const WORDS: [&str; 3] = ["hello_world", "hello-world", "bastion"];
const STATUS: &str = "http_status:";

/// What is stored of a configuration: what was sent, without what the API does not know. Else why it is refused.
pub(super) fn stored(config: &Value) -> Result<Value, TunnelRefusal> {
    let mut stored = members("config", config, CONFIG, &[])?;
    let rules = match config.get("ingress") {
        None | Some(Value::Null) => &[],
        Some(rules) => rules.as_array().ok_or_else(|| wrong_type("config.ingress"))?.as_slice(),
    };
    if rules.is_empty() {
        return Err(TunnelRefusal::configuration("at least one ingress rule is needed"));
    }
    let mut kept = Vec::with_capacity(rules.len());
    for (at, rule) in rules.iter().enumerate() {
        let rule = members(&format!("config.ingress[{at}]"), rule, RULE, &["service"])?;
        judge(&rule, at + 1, at + 1 == rules.len())?;
        kept.push(Value::Object(rule));
    }
    stored.insert("ingress".to_owned(), Value::Array(kept));
    Ok(Value::Object(stored))
}

fn wrong_type(path: &str) -> TunnelRefusal {
    TunnelRefusal::configuration(format!("{path} has the wrong type"))
}

/// The members that are known, each of its type. Null is as good as nothing.
fn members(
    path: &str,
    value: &Value,
    known: &[(&str, Kind)],
    required: &[&str],
) -> Result<Map<String, Value>, TunnelRefusal> {
    let object = value.as_object().ok_or_else(|| wrong_type(path))?;
    let mut kept = Map::new();
    for (name, kind) in known {
        let Some(value) = object.get(*name).filter(|value| !value.is_null()) else {
            if required.contains(name) {
                return Err(TunnelRefusal::configuration(format!("{path}.{name} is missing")));
            }
            continue;
        };
        kept.insert((*name).to_owned(), typed(&format!("{path}.{name}"), value, *kind)?);
    }
    Ok(kept)
}

fn typed(path: &str, value: &Value, kind: Kind) -> Result<Value, TunnelRefusal> {
    let fits = match kind {
        Kind::Flag => value.is_boolean(),
        Kind::Number => value.is_i64() || value.is_u64(),
        Kind::Text => value.is_string(),
        Kind::Texts => value.as_array().is_some_and(|list| list.iter().all(Value::is_string)),
        Kind::Object(known, required) => return members(path, value, known, required).map(Value::Object),
    };
    if fits { Ok(value.clone()) } else { Err(wrong_type(path)) }
}

/// What one rule is refused for (cloudflared, ingress/ingress.go, whose rules and words these are).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum Nonsense {
    #[error("The last ingress rule must match all URLs (i.e. it should not have a hostname or path filter)")]
    LastIsNotForAll,
    #[error(
        "Rule #{number} is matching the hostname '{hostname}', but this will match every hostname, meaning the rules \
         which follow it will never be triggered."
    )]
    ForAll { number: usize, hostname: String },
    #[error("Hostname cannot contain a port")]
    Port,
    #[error(
        "Hostname patterns can have at most one wildcard character (\"*\") and it can only be used for subdomains, \
         e.g. \"*.example.com\""
    )]
    Wildcard,
    #[error("Rule #{number} has an invalid regex")]
    Path { number: usize },
    #[error("{service} is an invalid address, please make sure it has a scheme and a hostname")]
    Service { service: String },
    #[error(
        "{service} is an invalid address, ingress rules don't support proxying to a different path on the origin service. \
         The path will be the same as the eyeball request's path"
    )]
    ServicePath { service: String },
}

impl From<Nonsense> for TunnelRefusal {
    fn from(nonsense: Nonsense) -> Self {
        Self::configuration(nonsense.to_string())
    }
}

/// Only the last rule matches everything.
fn judge(rule: &Map<String, Value>, number: usize, is_last: bool) -> Result<(), Nonsense> {
    let text = |field: &str| rule.get(field).and_then(Value::as_str).unwrap_or_default();
    let (hostname, path) = (text("hostname"), text("path"));
    judge_service(text("service"))?;
    if hostname.contains(':') {
        return Err(Nonsense::Port);
    }
    if hostname.rfind('*').is_some_and(|at| at > 0) {
        return Err(Nonsense::Wildcard);
    }
    let is_for_all = (hostname.is_empty() || hostname == "*") && path.is_empty();
    match (is_last, is_for_all) {
        (true, false) => return Err(Nonsense::LastIsNotForAll),
        (false, true) => return Err(Nonsense::ForAll { number, hostname: hostname.to_owned() }),
        _ => {}
    }
    // Go's expressions and Rust's are nearly the same.
    Regex::new(path).map(drop).map_err(|_| Nonsense::Path { number })
}

fn judge_service(service: &str) -> Result<(), Nonsense> {
    let invalid = || Nonsense::Service { service: service.to_owned() };
    if WORDS.contains(&service) {
        return Ok(());
    }
    if let Some(status) = service.strip_prefix(STATUS) {
        return status.parse::<u16>().map(drop).map_err(|_| invalid());
    }
    let (scheme, rest) = service.split_once(':').ok_or_else(invalid)?;
    if SOCKETS.contains(&scheme) {
        return if rest.is_empty() { Err(invalid()) } else { Ok(()) };
    }
    let address = rest.strip_prefix("//").filter(|_| SCHEMES.contains(&scheme)).ok_or_else(invalid)?;
    match address.split_once('/') {
        _ if address.is_empty() || address.starts_with(['/', ':']) => Err(invalid()),
        Some(_) => Err(Nonsense::ServicePath { service: service.to_owned() }),
        None => Ok(()),
    }
}
