//! Errors as the API server words them: the `Status` object, its reasons and its causes. The texts follow
//! `k8s.io/apimachinery/pkg/api/errors`, because users and clients know them. Leaves it to the callers to
//! decide what is an error.

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::schema::Cause;

/// `metav1.StatusReason`: why a request failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// 400.
    BadRequest,
    /// 401.
    Unauthorized,
    /// 403.
    Forbidden,
    /// 404.
    NotFound,
    /// 405.
    MethodNotAllowed,
    /// 406.
    NotAcceptable,
    /// 409: the name is taken.
    AlreadyExists,
    /// 409: someone else was faster.
    Conflict,
    /// 410: the version asked for is compacted.
    Expired,
    /// 413.
    RequestEntityTooLarge,
    /// 415.
    UnsupportedMediaType,
    /// 422.
    Invalid,
    /// 429.
    TooManyRequests,
    /// 500.
    InternalError,
    /// 500 without a word for why: an error of the server that is none of the others.
    Unknown,
    /// 503.
    ServiceUnavailable,
    /// 504.
    Timeout,
}

impl Reason {
    /// The HTTP status of this reason.
    #[must_use]
    pub const fn code(self) -> u16 {
        match self {
            Self::BadRequest => 400,
            Self::Unauthorized => 401,
            Self::Forbidden => 403,
            Self::NotFound => 404,
            Self::MethodNotAllowed => 405,
            Self::NotAcceptable => 406,
            Self::AlreadyExists | Self::Conflict => 409,
            Self::Expired => 410,
            Self::RequestEntityTooLarge => 413,
            Self::UnsupportedMediaType => 415,
            Self::Invalid => 422,
            Self::TooManyRequests => 429,
            Self::InternalError | Self::Unknown => 500,
            Self::ServiceUnavailable => 503,
            Self::Timeout => 504,
        }
    }

    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::BadRequest => "BadRequest",
            Self::Unauthorized => "Unauthorized",
            Self::Forbidden => "Forbidden",
            Self::NotFound => "NotFound",
            Self::MethodNotAllowed => "MethodNotAllowed",
            Self::NotAcceptable => "NotAcceptable",
            Self::AlreadyExists => "AlreadyExists",
            Self::Conflict => "Conflict",
            Self::Expired => "Expired",
            Self::RequestEntityTooLarge => "RequestEntityTooLarge",
            Self::UnsupportedMediaType => "UnsupportedMediaType",
            Self::Invalid => "Invalid",
            Self::TooManyRequests => "TooManyRequests",
            Self::InternalError => "InternalError",
            Self::Unknown => "",
            Self::ServiceUnavailable => "ServiceUnavailable",
            Self::Timeout => "Timeout",
        }
    }
}

/// One entry of `details.causes`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusCause {
    /// The machine-readable class.
    pub reason: String,
    /// The text.
    pub message: String,
    /// The field it is about; empty when it is about none.
    pub field: String,
}

impl From<Cause> for StatusCause {
    fn from(cause: Cause) -> Self {
        Self { reason: cause.reason.as_str().to_owned(), message: cause.message, field: cause.field }
    }
}

/// `Status.details`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Details {
    /// The object's name.
    pub name: String,
    /// Its API group; empty for the core group.
    pub group: String,
    /// Its kind, or its plural, as the API server has it for that error.
    pub kind: String,
    /// The single complaints.
    pub causes: Vec<StatusCause>,
    /// Seconds after which a retry makes sense; 0: nothing said.
    pub retry_after_seconds: u32,
    /// There although it says nothing: what the server answers without knowing what it is about.
    pub is_bare: bool,
    /// What the answer warns of beside the error; no part of the object.
    pub warnings: Vec<String>,
}

/// A failed request, serialised as a Kubernetes `Status` object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Status {
    /// Why.
    pub reason: Reason,
    /// The text people read.
    pub message: String,
    /// What it is about.
    pub details: Box<Details>,
}

/// What an error is about: group and plural for most errors, group and kind for `Invalid`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject<'a> {
    pub(crate) group: &'a str,
    pub(crate) plural: &'a str,
    pub(crate) kind: &'a str,
}

impl Subject<'_> {
    /// `dnsrecords.kflare.dev`, or `secrets` in the core group.
    fn resource(self) -> String {
        qualified(self.plural, self.group)
    }
}

fn qualified(noun: &str, group: &str) -> String {
    if group.is_empty() { noun.to_owned() } else { format!("{noun}.{group}") }
}

impl Status {
    /// The HTTP status of the answer.
    #[must_use]
    pub const fn code(&self) -> u16 {
        self.reason.code()
    }

    pub(crate) fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self { reason, message: message.into(), details: Box::default() }
    }

    /// `NewGenericServerResponse`: an error of no object.
    pub(crate) fn bare(reason: Reason, message: &str) -> Self {
        let details = Details { is_bare: true, ..Details::default() };
        Self { reason, message: message.to_owned(), details: Box::new(details) }
    }

    fn about(reason: Reason, subject: Subject<'_>, name: &str, message: String) -> Self {
        let details = Details {
            name: name.to_owned(),
            group: subject.group.to_owned(),
            kind: subject.plural.to_owned(),
            ..Details::default()
        };
        Self { reason, message, details: Box::new(details) }
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(Reason::BadRequest, message)
    }

    pub(crate) fn not_found(subject: Subject<'_>, name: &str) -> Self {
        let message = format!("{} \"{name}\" not found", subject.resource());
        Self::about(Reason::NotFound, subject, name, message)
    }

    /// The answer to a path that no API serves.
    pub(crate) fn no_such_resource() -> Self {
        Self::bare(Reason::NotFound, "the server could not find the requested resource")
    }

    pub(crate) fn already_exists(subject: Subject<'_>, name: &str) -> Self {
        let message = format!("{} \"{name}\" already exists", subject.resource());
        Self::about(Reason::AlreadyExists, subject, name, message)
    }

    /// The name is taken by an object that is going.
    pub(crate) fn still_exists(subject: Subject<'_>, name: &str) -> Self {
        let taken = Self::already_exists(subject, name);
        Self { message: format!("object is being deleted: {}", taken.message), ..taken }
    }

    pub(crate) fn conflict(subject: Subject<'_>, name: &str, why: &str) -> Self {
        let message = format!("Operation cannot be fulfilled on {} \"{name}\": {why}", subject.resource());
        Self::about(Reason::Conflict, subject, name, message)
    }

    /// 500: what went wrong is no error that the API knows.
    pub(crate) fn unknown(message: impl Into<String>) -> Self {
        Self::new(Reason::Unknown, message)
    }

    /// 405 of a custom resource, which says what it does not take.
    pub(crate) fn not_supported(subject: Subject<'_>, verb: &str) -> Self {
        let message = format!("{verb} is not supported on resources of kind {:?}", subject.resource());
        Self::about(Reason::MethodNotAllowed, subject, "", message)
    }

    /// The conflict of an update whose resourceVersion is not the current one.
    pub(crate) fn modified_meanwhile(subject: Subject<'_>, name: &str) -> Self {
        Self::conflict(
            subject,
            name,
            "the object has been modified; please apply your changes to the latest version and try again",
        )
    }

    pub(crate) fn forbidden(subject: Subject<'_>, name: &str, why: &str) -> Self {
        let message = format!("{} \"{name}\" is forbidden: {why}", subject.resource());
        Self::about(Reason::Forbidden, subject, name, message)
    }

    /// 405 of everything else.
    pub(crate) fn method_not_allowed() -> Self {
        Self::bare(
            Reason::MethodNotAllowed,
            "the server does not allow this method on the requested resource",
        )
    }

    /// 422 with one cause per complaint.
    pub(crate) fn invalid(subject: Subject<'_>, name: &str, causes: Vec<Cause>) -> Self {
        let whole = qualified(subject.kind, subject.group);
        let mut texts: Vec<String> = Vec::new();
        for text in causes.iter().map(Cause::to_string) {
            // The API server's aggregate prints each text once.
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        let list = match texts.as_slice() {
            [one] => one.clone(),
            many => format!("[{}]", many.join(", ")),
        };
        let details = Details {
            name: name.to_owned(),
            group: subject.group.to_owned(),
            kind: subject.kind.to_owned(),
            causes: causes.into_iter().map(StatusCause::from).collect(),
            ..Details::default()
        };
        let message = format!("{whole} \"{name}\" is invalid: {list}");
        Self { reason: Reason::Invalid, message, details: Box::new(details) }
    }

    /// What a patch that does not fit the object is answered with: the API server says no more than this.
    pub(crate) fn patch_rejected() -> Self {
        Self::bare(Reason::Invalid, "the server rejected our request due to an error in our request")
    }

    pub(crate) fn expired(message: impl Into<String>) -> Self {
        Self::new(Reason::Expired, message)
    }

    pub(crate) fn too_many_requests(retry_after_seconds: u32) -> Self {
        let details = Details { retry_after_seconds, ..Details::default() };
        Self {
            reason: Reason::TooManyRequests,
            message: "the server has received too many requests and has asked us to try again later".into(),
            details: Box::new(details),
        }
    }

    pub(crate) fn with_cause(mut self, reason: &str, message: &str, field: &str) -> Self {
        self.details.causes.push(StatusCause {
            reason: reason.to_owned(),
            message: message.to_owned(),
            field: field.to_owned(),
        });
        self
    }

    /// The `Status` object.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut status = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": self.message, "code": self.code(),
        });
        if !self.reason.as_str().is_empty() {
            status["reason"] = json!(self.reason.as_str());
        }
        let mut details = serde_json::Map::new();
        for (key, text) in
            [("name", &self.details.name), ("group", &self.details.group), ("kind", &self.details.kind)]
        {
            if !text.is_empty() {
                details.insert(key.to_owned(), json!(text));
            }
        }
        if !self.details.causes.is_empty() {
            let causes = self.details.causes.iter().map(cause_value).collect();
            details.insert("causes".to_owned(), Value::Array(causes));
        }
        if self.details.retry_after_seconds > 0 {
            details.insert("retryAfterSeconds".to_owned(), json!(self.details.retry_after_seconds));
        }
        if !details.is_empty() || self.details.is_bare {
            status["details"] = Value::Object(details);
        }
        status
    }
}

impl Serialize for Status {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_value().serialize(serializer)
    }
}

fn cause_value(cause: &StatusCause) -> Value {
    let mut value = json!({ "reason": cause.reason, "message": cause.message });
    if !cause.field.is_empty() {
        value["field"] = json!(cause.field);
    }
    value
}

/// The `Status` that answers a delete which took effect at once.
pub(crate) fn success(subject: Subject<'_>, name: &str, uid: &str) -> Value {
    let mut details = json!({ "name": name, "kind": subject.plural, "uid": uid });
    if !subject.group.is_empty() {
        details["group"] = json!(subject.group);
    }
    json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details })
}
