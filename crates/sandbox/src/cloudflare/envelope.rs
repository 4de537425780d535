//! The envelope of every answer: success, errors, messages, result, result_info.
//! Knows no product; what goes wrong where is left to the enums that implement [`Coded`].

use std::fmt;

use serde::Serialize;

/// One entry of `errors`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ApiError {
    /// The product's own code.
    pub code: u32,
    /// What a person reads.
    pub message: String,
    /// Where the code is explained; most codes have no page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub documentation_url: Option<String>,
    /// Which part of the request is meant, where the product says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// The header validator's inner errors (cloudflare API docs: only code 6003 has them since 2024-10-01).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub error_chain: Vec<Link>,
}

/// The part of a request that an error is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Source {
    /// A JSON pointer into the request body.
    pub pointer: String,
}

/// An inner error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Link {
    /// The inner code.
    pub code: u32,
    /// The inner text.
    pub message: String,
}

/// A refused request: the status and the errors of the envelope.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{status}: {}", Listed(.errors))]
pub struct ApiErrors {
    /// The HTTP status.
    pub status: u16,
    /// Never empty.
    pub errors: Vec<ApiError>,
    /// Seconds for `Retry-After` (cloudflare API docs: sent on 429 only).
    pub retry_after: Option<u64>,
}

struct Listed<'a>(&'a [ApiError]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, error) in self.0.iter().enumerate() {
            let comma = if position == 0 { "" } else { ", " };
            write!(f, "{comma}{} ({})", error.message, error.code)?;
        }
        Ok(())
    }
}

impl ApiErrors {
    pub(super) fn single(status: u16, code: u32, message: impl Into<String>) -> Self {
        let error = ApiError {
            code,
            message: message.into(),
            documentation_url: None,
            source: None,
            error_chain: Vec::new(),
        };
        Self { status, errors: vec![error], retry_after: None }
    }

    pub(super) fn chained(mut self, code: u32, message: &str) -> Self {
        if let Some(first) = self.errors.first_mut() {
            first.error_chain.push(Link { code, message: message.to_owned() });
        }
        self
    }

    pub(super) fn pointing_at(mut self, pointer: String) -> Self {
        if let Some(first) = self.errors.first_mut() {
            first.source = Some(Source { pointer });
        }
        self
    }

    pub(super) fn and(mut self, code: u32, message: impl Into<String>) -> Self {
        self.errors.extend(Self::single(self.status, code, message).errors);
        self
    }

    /// The first code, which is the one that clients look at.
    #[must_use]
    pub fn code(&self) -> u32 {
        self.errors.first().map_or(0, |error| error.code)
    }

    pub(super) fn body(&self) -> String {
        let errors = serde_json::to_string(&self.errors).unwrap_or_else(|_| "[]".to_owned());
        format!(r#"{{"success":false,"errors":{errors},"messages":[],"result":null}}"#)
    }
}

/// A product's enum of refusals: each variant's text, code and status.
pub(super) trait Coded: fmt::Display {
    fn code(&self) -> u32;
    fn status(&self) -> u16 {
        400
    }
}

impl<T: Coded> From<T> for ApiErrors {
    fn from(refusal: T) -> Self {
        Self::single(refusal.status(), refusal.code(), refusal.to_string())
    }
}

/// `result_info` of the page style.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct PageInfo {
    pub(super) page: u64,
    pub(super) per_page: u64,
    pub(super) count: u64,
    pub(super) total_count: u64,
    pub(super) total_pages: u64,
}

/// A request that succeeded.
#[derive(Clone, Debug)]
pub(super) enum Reply {
    /// JSON in the envelope; `result` is serialised already, so that long lists can be made of kept pieces. Empty: none.
    Result { result: String, info: Option<PageInfo>, extra: Extra },
    /// An answer without envelope.
    Text(String),
}

/// What some answers carry beside the result.
#[derive(Clone, Debug)]
pub(super) enum Extra {
    Nothing,
    Message {
        code: u32,
        message: &'static str,
    },
    /// A further member of the envelope, as JSON.
    Member {
        name: &'static str,
        json: String,
    },
}

impl Reply {
    pub(super) fn value(value: &serde_json::Value) -> Self {
        Self::json(value.to_string())
    }

    pub(super) fn json(result: String) -> Self {
        Self::Result { result, info: None, extra: Extra::Nothing }
    }

    /// The envelope of what was only begun, which has no result.
    pub(super) fn begun() -> Self {
        Self::json(String::new())
    }

    pub(super) fn page(result: String, info: PageInfo) -> Self {
        Self::Result { result, info: Some(info), extra: Extra::Nothing }
    }

    pub(super) fn with(self, extra: Extra) -> Self {
        match self {
            Self::Result { result, info, .. } => Self::Result { result, info, extra },
            Self::Text(text) => Self::Text(text),
        }
    }

    pub(super) fn content_type(&self) -> &'static str {
        match self {
            Self::Result { .. } => "application/json",
            Self::Text(_) => "text/plain; charset=utf-8",
        }
    }

    pub(super) fn into_body(self) -> String {
        let (result, info, extra) = match self {
            Self::Text(text) => return text,
            Self::Result { result, info, extra } => (result, info, extra),
        };
        let (messages, member) = match extra {
            Extra::Nothing => (String::new(), String::new()),
            Extra::Message { code, message } => {
                (serde_json::json!({ "code": code, "message": message }).to_string(), String::new())
            }
            Extra::Member { name, json } => (String::new(), format!(r#","{name}":{json}"#)),
        };
        let info = info
            .and_then(|info| serde_json::to_string(&info).ok())
            .map_or_else(String::new, |info| format!(r#","result_info":{info}"#));
        let result = if result.is_empty() { result } else { format!(r#","result":{result}"#) };
        format!(r#"{{"success":true,"errors":[],"messages":[{messages}]{result}{info}{member}}}"#)
    }
}
