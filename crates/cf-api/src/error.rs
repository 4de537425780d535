//! What Cloudflare refuses, and why no answer came: values to decide on, and the text that people get to see.
//!
//! It sorts by status and code (cloudflare-api.md 1.5, 4.6); what follows from a class, and when to try
//! again, is decided elsewhere. Codes that mean different things per product are left to
//! [`ApiError::has_code`].

use crate::limits::{MESSAGE_MAX, TEXT_MAX};
use crate::text;
use std::fmt::Write as _;
use std::time::Duration;

/// An answer that isn't a success: Cloudflare's refusal, or something that isn't Cloudflare's envelope at
/// all.
#[derive(Clone, Debug, Default, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.text())]
pub struct ApiError {
    /// The HTTP status.
    pub status: u16,
    /// Cloudflare's errors in its order; empty when there were none or when the body couldn't be read.
    pub errors: Vec<ApiMessage>,
    /// `Retry-After`, at most [`crate::limits::RETRY_AFTER_MAX`].
    pub retry_after: Option<Duration>,
    /// `cf-ray`, which Cloudflare's support asks for.
    pub ray: Option<String>,
    /// What was wrong with the body, if it wasn't an envelope.
    pub defect: Option<Defect>,
}

/// One entry of `errors[]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ApiMessage {
    /// Cloudflare's code; `None` when it was missing or 0 (old products).
    pub code: Option<i64>,
    /// Cloudflare's text: one line without control characters, at most [`MESSAGE_MAX`] characters.
    pub message: String,
    /// JSON pointer into the request body, given by rulesets, zones, accounts and billing.
    pub pointer: Option<String>,
    /// `error_chain`: the causes within (1004 with 9021, 6003 with 6111).
    pub chain: Vec<ApiMessage>,
}

/// Why a body isn't an envelope. It never quotes a JSON body: a cut answer may hold a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Defect {
    /// No body where one is needed.
    Empty,
    /// Begins like JSON and ends too early or is malformed.
    BrokenJson {
        /// Length of what arrived.
        bytes: usize,
    },
    /// JSON, but not an object with `success` or `result`.
    NotAnEnvelope,
    /// HTML, text or bytes, from a proxy or from Cloudflare's edge.
    NotJson {
        /// The first characters as text, without markup; may be empty.
        excerpt: String,
    },
    /// A success whose `result` isn't of the type that the call promises.
    WrongResult {
        /// JSON type that was needed.
        wanted: &'static str,
        /// JSON type that came.
        got: &'static str,
    },
}

/// What an error means for whoever asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Cloudflare itself says that the object isn't there: 404 in an envelope, or 81044 with any status
    /// (B072).
    NotFound,
    /// The key is taken: another object has the name, the hostname or the content.
    AlreadyExists,
    /// The credentials are missing, malformed, unknown or expired.
    Unauthorized,
    /// The credentials lack a permission.
    Forbidden,
    /// Too many calls.
    RateLimited,
    /// Refused until the input, or the plan, changes: every other 4xx.
    Invalid,
    /// Worth another try: 5xx, 408, 425, answers that aren't an envelope, failures without a reason (B153).
    Transient,
}

/// Why there was no answer at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
pub enum Cause {
    /// No complete answer within the time of one call.
    #[error("no answer in time")]
    Timeout,
    /// No connection: name resolution, refused, TLS. Nothing was sent.
    #[error("no connection to Cloudflare")]
    Connect,
    /// The connection broke while sending or receiving.
    #[error("the connection to Cloudflare broke")]
    Reset,
    /// The answer was longer than we read.
    #[error("Cloudflare's answer was too large")]
    BodyTooLarge,
    /// We stopped waiting for the answer: the reconcile's time was over. Users know these words from the old kflare.
    #[error("reconciliation timeout")]
    Cancelled,
    /// Not sent: the reconcile's time was over.
    #[error("reconciliation timeout")]
    OutOfTime,
    /// Not sent: the call budget would not have allowed it in time.
    #[error("no call left in the budget")]
    BudgetExhausted,
    /// Not sent: this process may no longer write.
    #[error("no longer the leader")]
    NotLeader,
    /// Not sent: no usable token.
    #[error("no usable token")]
    NoCredentials,
    /// Not sent: the values of the request don't make an HTTP request.
    #[error("the request could not be built")]
    Malformed,
}

impl Cause {
    /// Whether the call may have taken effect, or may still: then nothing is created again before a look
    /// (B154).
    pub fn may_have_happened(&self) -> bool {
        match self {
            Cause::Timeout | Cause::Reset | Cause::BodyTooLarge | Cause::Cancelled => true,
            Cause::Connect
            | Cause::OutOfTime
            | Cause::BudgetExhausted
            | Cause::NotLeader
            | Cause::NoCredentials
            | Cause::Malformed => false,
        }
    }
}

/// The record doesn't exist; no other product uses the number.
const NOT_FOUND: &[i64] = &[81044];

/// Authentication and authorisation whatever the status: 10000 comes with 400, 401 and 403, depending on the
/// product.
const FORBIDDEN: &[i64] = &[9109, AUTHENTICATION];

/// "Authentication error", which a token gets for what it may not do as well as one that is unknown.
const AUTHENTICATION: i64 = 10000;

/// Missing or malformed credentials, which arrive as 400 (6003 holds the 61xx in its chain).
const UNAUTHORIZED: &[i64] = &[6102, 6103, 6111, 9106];

/// Rate limiting under another status than 429.
const RATE_LIMITED: &[i64] = &[971, 10429];

/// "No route": an identifier of the wrong shape, so a fault of ours. With 404, too, it says nothing about
/// absence (B150).
const NO_ROUTE: &[i64] = &[7000, 7001, 7003];

/// What the zone's plan does not have. It comes as 403, but no other token, and no patience, changes anything about it.
const PLAN: &[i64] = &[1015, 1135];

/// "Record quota exceeded": the zone holds as many records as its plan allows.
const FULL: &[i64] = &[81045];

/// "Invalid zone identifier"; 9109 with another text is about permissions.
const UNKNOWN_ZONE: &[i64] = &[9109, 1001];

/// Codes of keys that are taken, with the statuses for which they mean it; no statuses: no other product uses
/// the number. 10021 (a list's name) isn't here: with the same status it is a Worker that fails validation.
const EXISTS: &[(i64, &[u16])] = &[
    (1013, &[409]),
    (1014, &[400, 409]),
    (1061, &[400, 409]),
    (7502, &[400, 409]),
    (10004, &[409]),
    (10014, &[400, 409]),
    (10020, &[409]),
    (81053, &[]),
    (81054, &[]),
    (81055, &[]),
    (81056, &[]),
    (81057, &[]),
    (81058, &[]),
    (100116, &[409]),
];

/// Statuses that mean the same even when something between us and Cloudflare says them.
const PLAIN_INVALID: &[u16] = &[413, 414, 415, 431];

impl ApiError {
    /// A refusal with Cloudflare's errors and nothing else, for predictions and tests.
    pub fn new(status: u16, errors: Vec<ApiMessage>) -> Self {
        ApiError { status, errors, ..ApiError::default() }
    }

    /// What the error means. Codes come before the status, because the status differs per product; a 404 that
    /// isn't an envelope is no proof of absence (V3).
    pub fn class(&self) -> Class {
        let any = |codes: &[i64]| codes.iter().any(|code| self.has_code(*code));
        if any(NOT_FOUND) {
            return Class::NotFound;
        }
        if EXISTS
            .iter()
            .any(|(code, at)| (at.is_empty() || at.contains(&self.status)) && self.has_code(*code))
        {
            return Class::AlreadyExists;
        }
        if any(RATE_LIMITED) {
            return Class::RateLimited;
        }
        if self.status >= 500 {
            return Class::Transient;
        }
        match self.status {
            401 => return Class::Unauthorized,
            403 if any(PLAN) => return Class::Invalid,
            403 => return Class::Forbidden,
            429 => return Class::RateLimited,
            408 | 425 => return Class::Transient,
            _ => {}
        }
        if self.defect.is_some() {
            return if PLAIN_INVALID.contains(&self.status) { Class::Invalid } else { Class::Transient };
        }
        if any(UNAUTHORIZED) {
            Class::Unauthorized
        } else if any(FORBIDDEN) {
            Class::Forbidden
        } else if any(NO_ROUTE) {
            Class::Invalid
        } else if self.status == 404 {
            Class::NotFound
        } else if self.errors.is_empty() && !(400..500).contains(&self.status) {
            Class::Transient
        } else {
            Class::Invalid
        }
    }

    /// True when Cloudflare does not know the identifier, or does not let this token know it: it answers the same for
    /// a zone that is gone and for one that the token may not see (9109, in older products 1001, or 7003).
    pub fn doubts_identifier(&self) -> bool {
        let named = |error: &ApiMessage| {
            error.code.is_some_and(|code| UNKNOWN_ZONE.contains(&code))
                && error.message.contains("identifier")
        };
        self.errors.iter().any(named) || NO_ROUTE.iter().any(|code| self.has_code(*code))
    }

    /// True when the parent holds as many objects as its plan allows.
    pub fn exceeds_quota(&self) -> bool {
        FULL.iter().any(|code| self.has_code(*code))
    }

    /// Whether the token may lack a permission: Cloudflare says so with 403, and with 10000 under any status.
    pub fn may_lack_permission(&self) -> bool {
        self.class() == Class::Forbidden || self.has_code(AUTHENTICATION)
    }

    /// Whether a write that was answered so may have taken effect all the same (B154): a gateway's 502 or a
    /// cut answer says nothing about what happened behind it.
    pub fn may_have_happened(&self) -> bool {
        self.class() == Class::Transient && !matches!(self.status, 408 | 425)
    }

    /// All codes, those within chains included, in order.
    pub fn codes(&self) -> Vec<i64> {
        fn collect(messages: &[ApiMessage], codes: &mut Vec<i64>) {
            for message in messages {
                codes.extend(message.code);
                collect(&message.chain, codes);
            }
        }
        let mut codes = Vec::new();
        collect(&self.errors, &mut codes);
        codes
    }

    /// Whether one of the errors, or one within a chain, has the code.
    pub fn has_code(&self, code: i64) -> bool {
        self.errors.iter().any(|message| message.has_code(code))
    }

    /// Cloudflare's texts, each with its code in brackets, as conditions show them: `DNS Validation Error
    /// (1004): TTL must be … (9021)`. One line, at most [`TEXT_MAX`] characters, free of control characters.
    pub fn text(&self) -> String {
        if self.errors.is_empty() {
            return self.text_without_errors();
        }
        let mut text = String::new();
        let mut seen: Vec<String> = Vec::new();
        for (at, message) in self.errors.iter().enumerate() {
            let part = message.text(MESSAGE_MAX);
            if seen.contains(&part) {
                continue;
            }
            let left = self.errors.len() - at;
            if !text.is_empty() && text.chars().count() + part.chars().count() + 2 > TEXT_MAX - MORE_ROOM {
                let _ = write!(text, "; and {left} more");
                break;
            }
            if !text.is_empty() {
                text.push_str("; ");
            }
            text.push_str(&part);
            seen.push(part);
        }
        // Chains may be wide as well as deep; then the bound counts more than the last code.
        text::one_line(&text, TEXT_MAX)
    }

    fn text_without_errors(&self) -> String {
        let status = self.status;
        match &self.defect {
            None => format!("HTTP {status} without an error message"),
            Some(Defect::Empty) => format!("HTTP {status} with an empty body"),
            Some(Defect::BrokenJson { bytes }) => {
                format!("HTTP {status} with JSON that is cut or malformed after {bytes} bytes")
            }
            Some(Defect::NotAnEnvelope) => {
                format!("HTTP {status} with JSON that is not Cloudflare's envelope")
            }
            Some(Defect::NotJson { excerpt }) if excerpt.is_empty() => {
                format!("HTTP {status} with a body that is not JSON")
            }
            Some(Defect::NotJson { excerpt }) => {
                format!("HTTP {status} with a body that is not JSON: {excerpt}")
            }
            Some(Defect::WrongResult { wanted, got }) => {
                format!("HTTP {status} whose result is {got} instead of {wanted}")
            }
        }
    }
}

/// Characters kept free for "; and 16 more" at the end of [`ApiError::text`].
const MORE_ROOM: usize = 20;

impl ApiMessage {
    /// A message with a code; the text is cleaned and bounded.
    pub fn new(code: i64, message: &str) -> Self {
        let code = (code != 0).then_some(code);
        ApiMessage { code, message: text::one_line(message, MESSAGE_MAX), ..ApiMessage::default() }
    }

    fn has_code(&self, code: i64) -> bool {
        self.code == Some(code) || self.chain.iter().any(|inner| inner.has_code(code))
    }

    /// `pointer: message (code): chain` within some `room` characters. The outer text is shortened first: the
    /// innermost names the cause (B046).
    fn text(&self, room: usize) -> String {
        let inner_room = room * 2 / 3 / self.chain.len().max(1);
        let inner: Vec<String> = self.chain.iter().map(|inner| inner.text(inner_room)).collect();
        let own_room = if inner.is_empty() { room } else { room / 3 };
        let mut whole = String::new();
        if let Some(pointer) = &self.pointer {
            let _ = write!(whole, "{}: ", text::one_line(pointer, own_room / 3));
        }
        match text::one_line(&self.message, own_room.saturating_sub(whole.chars().count())) {
            message if message.is_empty() => whole.push_str("no message"),
            message => whole.push_str(&message),
        }
        if let Some(code) = self.code {
            let _ = write!(whole, " ({code})");
        }
        if !inner.is_empty() {
            let _ = write!(whole, ": {}", inner.join(", "));
        }
        whole
    }
}

#[cfg(test)]
mod tests;
