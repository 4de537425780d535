//! Lists: paging, versions and selectors. Leaves the shape of the answer to `present`.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;

use super::complaint;
use super::resource::Endpoint;
use super::selector::Selector;
use super::status::Status;
use super::store::{Key, State, Stored};

/// What a list asks for.
#[derive(Clone, Debug, Default)]
pub(crate) struct ListOptions {
    pub(crate) selector: Selector,
    /// 0: everything.
    pub(crate) limit: usize,
    pub(crate) token: Option<String>,
    pub(crate) resource_version: String,
    pub(crate) version_match: String,
}

/// One page.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    pub(crate) items: Vec<Arc<Stored>>,
    pub(crate) version: u64,
    /// Continues the list; absent on the last page.
    pub(crate) token: Option<String>,
    /// How many are left, which the server says only without selectors.
    pub(crate) remaining: Option<usize>,
}

/// Pages after the first need their snapshot in memory; a token is honoured until this many versions
/// have passed since (the real server's limit is time: the five minutes of an etcd compaction).
const TOKEN_VERSIONS: u64 = 20_000;

struct Token {
    version: u64,
    after: Key,
}

impl Token {
    fn encode(&self) -> String {
        let text = json!({ "v": "meta.k8s.io/v1", "rv": self.version, "ns": self.after.namespace, "name": self.after.name });
        URL_SAFE_NO_PAD.encode(text.to_string())
    }

    fn decode(text: &str) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let value: serde_json::Value = serde_json::from_slice(&bytes).ok()?;
        let after = Key::new(value["ns"].as_str(), value["name"].as_str()?);
        Some(Self { version: value["rv"].as_u64()?, after })
    }
}

/// One page of a collection. Pages show what is there now, at the version of the first page.
pub(crate) fn list(
    state: &State,
    endpoint: &Endpoint,
    namespace: Option<&str>,
    options: &ListOptions,
) -> Result<Page, Status> {
    let token = options.token.as_deref().filter(|token| !token.is_empty());
    let token = token
        .map(|token| {
            Token::decode(token)
                .ok_or_else(|| Status::bad_request("continue key is not valid: invalid token"))
        })
        .transpose()?;
    check_version(state, options, token.is_some())?;
    let version = token.as_ref().map_or(state.version, |token| token.version);
    if version < state.compacted || state.version.saturating_sub(version) > TOKEN_VERSIONS {
        return Err(Status::expired(
            "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.",
        ));
    }
    let Some(collection) = state.collection(endpoint.resource.id) else {
        return Err(Status::no_such_resource());
    };
    let mut matching = collection
        .range(namespace)
        .skip_while(|(key, _)| token.as_ref().is_some_and(|token| **key <= token.after))
        .filter(|(_, object)| options.selector.is_empty() || options.selector.matches(&object.value));
    // `resourceVersion=0` is served from the watch cache, which ignores the limit.
    let limit =
        if options.limit == 0 || options.resource_version == "0" { usize::MAX } else { options.limit };
    let mut items = Vec::new();
    let mut last = None;
    for (key, object) in matching.by_ref().take(limit) {
        items.push(Arc::clone(object));
        last = Some(key.clone());
    }
    let rest = matching.count();
    let token = (rest > 0).then(|| last.map(|after| Token { version, after }.encode())).flatten();
    let remaining = (rest > 0 && options.selector.is_empty()).then_some(rest);
    Ok(Page { items, version, token, remaining })
}

fn check_version(state: &State, options: &ListOptions, continued: bool) -> Result<(), Status> {
    let text = options.resource_version.as_str();
    if text.is_empty() {
        if options.version_match.is_empty() {
            return Ok(());
        }
        let cause = complaint::forbidden(
            "resourceVersionMatch",
            "resourceVersionMatch is forbidden unless resourceVersion is provided",
        );
        return Err(Status::invalid(LIST_OPTIONS, "", vec![cause]));
    }
    if continued && text != "0" {
        let why = "specifying resource version is not allowed when using continue";
        return Err(Status::bad_request(why));
    }
    let Ok(version) = text.parse::<u64>() else {
        let cause = complaint::invalid(
            "resourceVersion",
            text,
            format!("strconv.ParseUint: parsing {text:?}: invalid syntax"),
        );
        return Err(Status::invalid(LIST_OPTIONS, "", vec![cause]));
    };
    if version > state.version {
        let message = format!("Too large resource version: {version}, current: {}", state.version);
        return Err(Status::new(super::status::Reason::Timeout, message).with_cause(
            "ResourceVersionTooLarge",
            "Too large resource version",
            "",
        ));
    }
    if options.version_match == "Exact" && version < state.version {
        return Err(Status::expired(format!(
            "The resourceVersion for the provided list is too old: {version}"
        )));
    }
    Ok(())
}

pub(crate) const LIST_OPTIONS: super::status::Subject<'static> =
    super::status::Subject { group: "meta.k8s.io", plural: "", kind: "ListOptions" };
