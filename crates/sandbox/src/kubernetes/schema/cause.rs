//! One entry of `Status.details.causes[]`: the field, the machine-readable reason and the text, in the
//! words of the API server's `k8s.io/apimachinery/pkg/util/validation/field`. Leaves to its callers what
//! is wrong with which field.

use std::fmt;

/// One complaint about one field, as `Status.details.causes[]` carries it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The machine-readable class of the complaint.
    pub reason: CauseReason,
    /// The path of the field, such as `spec.ttl` or `spec.tags[0]`.
    pub field: String,
    /// The text after `field: `, such as `Invalid value: 30: must be even`.
    pub message: String,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.message)
    }
}

/// The classes of complaint (`field.ErrorType` of apimachinery).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CauseReason {
    /// A required value is absent.
    FieldValueRequired,
    /// The value is malformed or out of bounds.
    FieldValueInvalid,
    /// The value is not one of an enumeration.
    FieldValueNotSupported,
    /// The value occurs twice where it must be unique.
    FieldValueDuplicate,
    /// The field may not be set here.
    FieldValueForbidden,
    /// The string is too long.
    FieldValueTooLong,
    /// The list or object has too many entries.
    FieldValueTooMany,
    /// The value has the wrong type.
    FieldValueTypeInvalid,
    /// The value refers to something that does not exist.
    FieldValueNotFound,
    /// The server failed, not the value.
    InternalError,
}

impl CauseReason {
    /// The string Kubernetes writes in `causes[].reason`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::FieldValueRequired => "FieldValueRequired",
            Self::FieldValueInvalid => "FieldValueInvalid",
            Self::FieldValueNotSupported => "FieldValueNotSupported",
            Self::FieldValueDuplicate => "FieldValueDuplicate",
            Self::FieldValueForbidden => "FieldValueForbidden",
            Self::FieldValueTooLong => "FieldValueTooLong",
            Self::FieldValueTooMany => "FieldValueTooMany",
            Self::FieldValueTypeInvalid => "FieldValueTypeInvalid",
            Self::FieldValueNotFound => "FieldValueNotFound",
            Self::InternalError => "InternalError",
        }
    }
}
