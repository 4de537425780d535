//! Lists: paging, versions and selectors. Leaves the shape of the answer to `present`.

use std::borrow::Cow;
use std::sync::Arc;

use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use base64::{DecodeError, Engine};
use serde_json::json;

use super::complaint;
use super::resource::Endpoint;
use super::selector::Selector;
use super::status::Status;
use super::store::{Key, State, Stored, range};

/// `metav1.ResourceVersionMatchExact`.
const EXACT: &str = "Exact";

/// What a list asks for.
#[derive(Clone, Debug, Default)]
pub(crate) struct ListOptions {
    pub(crate) selector: Selector,
    /// 0: everything.
    pub(crate) limit: usize,
    pub(crate) token: Option<String>,
    pub(crate) resource_version: String,
    pub(crate) version_match: String,
    /// Which is for watches.
    pub(crate) sends_initial: bool,
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

/// The version of what a token holds.
const TOKEN_FORMAT: &str = "meta.k8s.io/v1";

struct Token {
    version: u64,
    after: Key,
}

impl Token {
    fn encode(&self) -> String {
        let text = json!({ "v": TOKEN_FORMAT, "rv": self.version, "ns": self.after.namespace, "name": self.after.name });
        URL_SAFE_NO_PAD.encode(text.to_string())
    }

    /// The error is what the server says of a token that is none.
    fn decode(text: &str) -> Result<Self, String> {
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|error| {
            let at = match error {
                DecodeError::InvalidByte(at, _) | DecodeError::InvalidLastSymbol(at, _) => at,
                DecodeError::InvalidLength(_) | DecodeError::InvalidPadding => text.len() / 4 * 4,
            };
            format!("continue key is not valid: illegal base64 data at input byte {at}")
        })?;
        let value: serde_json::Value = serde_json::from_slice(&bytes).map_err(|_| {
            let first = bytes.first().copied().map(quoted_byte).unwrap_or_default();
            format!("continue key is not valid: invalid character '{first}' looking for beginning of value")
        })?;
        let version = value["v"].as_str().unwrap_or_default();
        if version != TOKEN_FORMAT {
            return Err(format!(
                "continue key is not valid: server does not recognize this encoded version {version}"
            ));
        }
        let version = value["rv"].as_u64().filter(|version| *version > 0);
        let version = version.ok_or(
            "continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)",
        )?;
        let name = value["name"].as_str();
        let name =
            name.ok_or("continue key is not valid: encoded start key empty (version meta.k8s.io/v1)")?;
        Ok(Self { version, after: Key::new(value["ns"].as_str(), name) })
    }
}

/// A byte as Go quotes it in an error about JSON.
fn quoted_byte(byte: u8) -> String {
    match byte {
        0..=0x1f | 0x7f => format!("\\x{byte:02x}"),
        0x80..=0xa0 | 0xad => format!("\\u{byte:04x}"),
        _ => char::from(byte).to_string(),
    }
}

/// One page of a collection, as it was at the version of the first page or at the version that is asked for.
pub(crate) fn list(
    state: &State,
    endpoint: &Endpoint,
    namespace: Option<&str>,
    options: &ListOptions,
) -> Result<Page, Status> {
    check_match(options)?;
    let token = options.token.as_deref().filter(|token| !token.is_empty());
    let token = token.map(|token| {
        Token::decode(token).map_err(|why| Status::bad_request(format!("invalid continue token: {why}")))
    });
    let token = token.transpose()?;
    let exact = check_version(state, options, token.is_some())?;
    let version = token.as_ref().map(|token| token.version).or(exact).unwrap_or(state.version);
    let is_old = version < state.compacted || state.version.saturating_sub(version) > TOKEN_VERSIONS;
    if token.is_some() && is_old {
        return Err(Status::expired(
            "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.",
        ));
    }
    let Some(collection) = state.collection(endpoint.resource.id) else {
        return Err(Status::no_such_resource());
    };
    let objects = if version < state.version {
        let snapshot = if version < state.compacted { None } else { collection.snapshot(version) };
        Cow::Owned(snapshot.ok_or_else(|| {
            Status::expired(format!("The resourceVersion for the provided list is too old: {version}"))
        })?)
    } else {
        Cow::Borrowed(&collection.objects)
    };
    let mut rest = range(&objects, namespace)
        .skip_while(|(key, _)| token.as_ref().is_some_and(|token| **key <= token.after))
        .peekable();
    // `resourceVersion=0` is served from the watch cache, which ignores the limit.
    let limit =
        if options.limit == 0 || options.resource_version == "0" { usize::MAX } else { options.limit };
    let mut items = Vec::new();
    let mut last = None;
    while items.len() < limit
        && let Some((key, object)) = rest.next()
    {
        if options.selector.is_empty() || options.selector.matches(&object.value) {
            items.push(Arc::clone(object));
            last = Some(key.clone());
        }
    }
    // Whether what is left matches is not known before the next page.
    let left = rest.count();
    let token = (left > 0).then(|| last.map(|after| Token { version, after }.encode())).flatten();
    let remaining = (left > 0 && options.selector.is_empty()).then_some(left);
    Ok(Page { items, version, token, remaining })
}

/// `ValidateListOptions`, for a list.
fn check_match(options: &ListOptions) -> Result<(), Status> {
    const MATCH: &str = "resourceVersionMatch";
    let asked = options.version_match.as_str();
    let mut causes = Vec::new();
    if !asked.is_empty() {
        if options.resource_version.is_empty() {
            let why = "resourceVersionMatch is forbidden unless resourceVersion is provided";
            causes.push(complaint::forbidden(MATCH, why));
        }
        if options.token.as_deref().is_some_and(|token| !token.is_empty()) {
            let why = "resourceVersionMatch is forbidden when continue is provided";
            causes.push(complaint::forbidden(MATCH, why));
        }
        if !matches!(asked, EXACT | "NotOlderThan") {
            causes.push(complaint::unsupported(MATCH, asked, &[EXACT, "NotOlderThan", ""]));
        }
        if asked == EXACT && options.resource_version == "0" {
            let why = "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"";
            causes.push(complaint::forbidden(MATCH, why));
        }
    }
    if options.sends_initial {
        causes.push(complaint::forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"));
    }
    if causes.is_empty() { Ok(()) } else { Err(Status::invalid(LIST_OPTIONS, "", causes)) }
}

/// What the server says of a version that is no number.
pub(crate) fn unreadable_version(text: &str) -> String {
    format!("resourceVersion: Invalid value: {text:?}: strconv.ParseUint: parsing {text:?}: invalid syntax")
}

/// A single object is shown at any version that is not to come.
pub(crate) fn check_known(state: &State, asked: &str) -> Result<(), Status> {
    if asked.is_empty() {
        return Ok(());
    }
    let version = asked.parse::<u64>().map_err(|_| Status::unknown(unreadable_version(asked)))?;
    check_not_ahead(state, version)
}

fn check_not_ahead(state: &State, version: u64) -> Result<(), Status> {
    if version <= state.version {
        return Ok(());
    }
    let message = format!("Too large resource version: {version}, current: {}", state.version);
    Err(Status::new(super::status::Reason::Timeout, message).with_cause(
        "ResourceVersionTooLarge",
        "Too large resource version",
        "",
    ))
}

/// The version of which exactly a list is asked for, if it is.
fn check_version(state: &State, options: &ListOptions, continued: bool) -> Result<Option<u64>, Status> {
    let text = options.resource_version.as_str();
    if text.is_empty() {
        return Ok(None);
    }
    if continued && text != "0" {
        let why = "specifying resource version is not allowed when using continue";
        return Err(Status::bad_request(why));
    }
    let Ok(version) = text.parse::<u64>() else {
        return Err(Status::bad_request(format!("invalid resource version: {}", unreadable_version(text))));
    };
    check_not_ahead(state, version)?;
    Ok((options.version_match == EXACT).then_some(version))
}

pub(crate) const LIST_OPTIONS: super::status::Subject<'static> =
    super::status::Subject { group: "meta.k8s.io", plural: "", kind: "ListOptions" };
