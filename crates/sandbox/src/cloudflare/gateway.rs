//! What the gateway in front of every product refuses: headers, credentials, routes, bodies, limits.
//! Knows codes, texts and statuses; when each applies is left to the modules that use them.

use super::envelope::{ApiErrors, Coded};

/// Refusals of the gateway (cloudflare API docs: authentication, routing and body errors).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Gateway {
    #[error("Invalid request headers")]
    Headers,
    #[error("Malformed JSON in request body")]
    MalformedJson,
    #[error("Missing X-Auth-Key, X-Auth-Email or Authorization headers")]
    NoCredentials,
    #[error("Missing authentication token")]
    NoAccountToken,
    #[error("Invalid API Token")]
    InvalidToken,
    #[error("Invalid access token")]
    UnknownToken,
    #[error("Unauthorized to access requested resource")]
    Unauthorized,
    #[error("Authentication error")]
    NoPermission,
    #[error("Invalid zone identifier")]
    ForbiddenZone,
    #[error("Invalid zone identifier")]
    InvalidZone,
    #[error("Could not route to /client/v4{path}, perhaps your object identifier is invalid?")]
    NoObject { path: String, status: u16 },
    #[error("No route for that URI")]
    NoRoute { status: u16 },
    #[error("Method not available for that URI")]
    WrongMethod,
    #[error("The request body is larger than {max} bytes")]
    BodyTooLarge { max: usize },
    #[error("{field} must be a number between {min} and {max}")]
    Paging { field: &'static str, min: u64, max: u64 },
    #[error("Internal server error")]
    Internal,
    #[error("Service temporarily unavailable")]
    Unavailable,
}

impl Coded for Gateway {
    fn code(&self) -> u32 {
        match self {
            Self::Headers => 6003,
            Self::MalformedJson => 6007,
            Self::NoCredentials => 9106,
            Self::InvalidToken => 1000,
            Self::NoAccountToken | Self::InvalidZone => 1001,
            Self::UnknownToken | Self::Unauthorized | Self::ForbiddenZone => 9109,
            Self::NoPermission => 10000,
            Self::NoObject { .. } => 7003,
            Self::NoRoute { .. } => 7000,
            Self::WrongMethod => 7001,
            // No source names these codes; the status is what clients go by.
            Self::BodyTooLarge { .. } => 10413,
            Self::Paging { .. } => 1004,
            Self::Internal | Self::Unavailable => 10002,
        }
    }

    fn status(&self) -> u16 {
        match self {
            Self::Headers
            | Self::MalformedJson
            | Self::NoCredentials
            | Self::InvalidZone
            | Self::Paging { .. } => 400,
            Self::NoAccountToken | Self::InvalidToken | Self::UnknownToken => 401,
            Self::Unauthorized | Self::NoPermission | Self::ForbiddenZone => 403,
            Self::NoObject { status, .. } | Self::NoRoute { status } => *status,
            Self::WrongMethod => 405,
            Self::BodyTooLarge { .. } => 413,
            Self::Internal => 500,
            Self::Unavailable => 503,
        }
    }
}

/// 6003 with the inner code of the header that is wrong.
pub(super) fn bad_header(header: BadHeader) -> ApiErrors {
    let (code, message) = match header {
        BadHeader::Authorization => (6111, "Invalid format for Authorization header"),
        BadHeader::Key => (6103, "Invalid format for X-Auth-Key header"),
        BadHeader::Email => (6102, "Invalid format for X-Auth-Email header"),
        BadHeader::ContentType => {
            (6105, "Invalid Content-Type header, valid values are application/json,multipart/form-data")
        }
    };
    ApiErrors::from(Gateway::Headers).chained(code, message)
}

/// Headers that the gateway validates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BadHeader {
    Authorization,
    Key,
    Email,
    ContentType,
}
