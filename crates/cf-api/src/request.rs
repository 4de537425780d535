//! A request to Cloudflare as a value: what `plan` decides, prints and compares, and what `operator` sends.
//!
//! It knows no host, no credentials and no headers; those are added while sending.

use crate::limits::PATH_ARG_MAX;
use crate::text;
use serde::Serialize;
use serde_json::Value;
use std::fmt::{self, Write as _};

/// The methods that Cloudflare's API uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Method {
    /// Reads; the only method that changes nothing.
    Get,
    /// Creates, or runs an action.
    Post,
    /// Replaces as a whole.
    Put,
    /// Merges on most products.
    Patch,
    /// Deletes.
    Delete,
}

/// One call. The path is below the API's base URL (`…/client/v4`).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// The path's template, such as `/zones/{zone_id}/dns_records`: a metric label without identifiers.
    pub route: &'static str,
    /// The filled path, every argument percent-encoded.
    pub path: String,
    /// Query parameters in the order they are sent, not encoded.
    pub query: Vec<(String, String)>,
    /// The JSON body.
    pub body: Option<Value>,
}

/// Why a path can't be built. Arguments aren't part of the text: they may come from anywhere.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// The identifier isn't known yet (B150).
    #[error("{name} of {route} is empty")]
    Empty {
        /// The template.
        route: &'static str,
        /// The placeholder.
        name: &'static str,
    },
    /// Can't be an identifier or a name: control characters, white space, a dot segment, a foreign character
    /// in an `…_id`, or too long.
    #[error("{name} of {route} is malformed")]
    Malformed {
        /// The template.
        route: &'static str,
        /// The placeholder.
        name: &'static str,
    },
    /// More or fewer arguments than placeholders.
    #[error("{route} needs {wanted} arguments, not {got}")]
    Count {
        /// The template.
        route: &'static str,
        /// Placeholders of the template.
        wanted: usize,
        /// Arguments given.
        got: usize,
    },
}

/// Fills a template: each `{name}` segment takes the next argument, percent-encoded as one segment.
///
/// # Errors
/// [`PathError`]: a request with an empty or malformed identifier is never built.
pub fn path(template: &'static str, args: &[&str]) -> Result<String, PathError> {
    let wanted = template.split('/').filter(|segment| placeholder(segment).is_some()).count();
    if wanted != args.len() {
        return Err(PathError::Count { route: template, wanted, got: args.len() });
    }
    let mut filled = String::new();
    let mut args = args.iter();
    for segment in template.split('/').skip(1) {
        filled.push('/');
        match (placeholder(segment), args.as_slice().first()) {
            (Some(name), Some(arg)) => {
                check(template, name, arg)?;
                encode(arg, &mut filled);
                args.next();
            }
            _ => filled.push_str(segment),
        }
    }
    Ok(filled)
}

fn placeholder(segment: &'static str) -> Option<&'static str> {
    segment.strip_prefix('{')?.strip_suffix('}')
}

/// Refuses what can't be an identifier or a name.
///
/// # Errors
/// [`PathError::Empty`] and [`PathError::Malformed`].
pub(crate) fn check(route: &'static str, name: &'static str, arg: &str) -> Result<(), PathError> {
    if arg.trim().is_empty() {
        return Err(PathError::Empty { route, name });
    }
    // Identifiers are 32 hex digits, UUIDs or short words (cloudflare-api.md 1.1); Cloudflare judges which.
    let is_id = name.ends_with("_id");
    let fits =
        |c: char| if is_id { c.is_ascii_alphanumeric() || c == '-' || c == '_' } else { !text::is_hidden(c) };
    // URL libraries resolve dot segments even when they are encoded, which would address another object.
    let dots = arg == "." || arg == "..";
    if dots || arg.len() > PATH_ARG_MAX || arg.trim() != arg || !arg.chars().all(fits) {
        return Err(PathError::Malformed { route, name });
    }
    Ok(())
}

/// Percent-encodes everything but RFC 3986's unreserved characters.
fn encode(raw: &str, into: &mut String) {
    for byte in raw.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            into.push(char::from(byte));
        } else {
            let _ = write!(into, "%{byte:02X}");
        }
    }
}

impl Method {
    /// The name on the wire.
    pub fn as_str(&self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Post => "POST",
            Method::Put => "PUT",
            Method::Patch => "PATCH",
            Method::Delete => "DELETE",
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<Method> for http::Method {
    fn from(method: Method) -> http::Method {
        match method {
            Method::Get => http::Method::GET,
            Method::Post => http::Method::POST,
            Method::Put => http::Method::PUT,
            Method::Patch => http::Method::PATCH,
            Method::Delete => http::Method::DELETE,
        }
    }
}

impl Request {
    /// A request without query and body.
    ///
    /// # Errors
    /// [`PathError`] when an argument is empty or malformed (B150).
    pub fn new(method: Method, template: &'static str, args: &[&str]) -> Result<Self, PathError> {
        Ok(Request { method, route: template, path: path(template, args)?, query: Vec::new(), body: None })
    }

    /// With one query parameter more, not encoded.
    #[must_use]
    pub fn query(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.query.push((name.into(), value.into()));
        self
    }

    /// With the query parameter set to this value alone, at its old place if it had one.
    #[must_use]
    pub fn set_query(mut self, name: &str, value: impl Into<String>) -> Self {
        let value = value.into();
        match self.query.iter_mut().find(|(known, _)| known == name) {
            Some(pair) => pair.1 = value,
            None => self.query.push((name.to_owned(), value)),
        }
        self
    }

    /// With this JSON body.
    #[must_use]
    pub fn body(mut self, body: Value) -> Self {
        self.body = Some(body);
        self
    }

    /// Whether Cloudflare may change something.
    pub fn is_write(&self) -> bool {
        self.method != Method::Get
    }

    /// Path and query, encoded, below the base URL.
    pub fn uri(&self) -> String {
        let mut uri = self.path.clone();
        for (at, (name, value)) in self.query.iter().enumerate() {
            uri.push(if at == 0 { '?' } else { '&' });
            encode(name, &mut uri);
            uri.push('=');
            encode(value, &mut uri);
        }
        uri
    }
}

/// `PATCH /zones/…/dns_records/… {"ttl":300}`: one line, safe on a terminal (characters that would steer it
/// are escaped as JSON escapes), for plans and goldens.
impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.uri())?;
        let Some(body) = &self.body else { return Ok(()) };
        f.write_char(' ')?;
        let mut units = [0; 2];
        for c in body.to_string().chars() {
            if text::is_hidden(c) {
                for unit in c.encode_utf16(&mut units) {
                    write!(f, "\\u{unit:04x}")?;
                }
            } else {
                f.write_char(c)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
