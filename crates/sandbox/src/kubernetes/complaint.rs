//! Shorthands for the complaints that the built-in kinds make, in the words of
//! `k8s.io/apimachinery/pkg/util/validation/field`. Leaves the rules to `names` and `kinds`.

use std::fmt::Display;

use super::schema::{Cause, CauseReason};

fn cause(reason: CauseReason, field: impl Into<String>, message: String) -> Cause {
    Cause { reason, field: field.into(), message }
}

/// `Required value: …`.
pub(crate) fn required(field: impl Into<String>, detail: &str) -> Cause {
    let message =
        if detail.is_empty() { "Required value".to_owned() } else { format!("Required value: {detail}") };
    cause(CauseReason::FieldValueRequired, field, message)
}

/// `Invalid value: "…": …`, for a string.
pub(crate) fn invalid(field: impl Into<String>, value: &str, detail: impl Display) -> Cause {
    cause(CauseReason::FieldValueInvalid, field, format!("Invalid value: {value:?}: {detail}"))
}

/// `Invalid value: 30: …`, for anything that prints as it is.
pub(crate) fn invalid_raw(field: impl Into<String>, value: impl Display, detail: impl Display) -> Cause {
    cause(CauseReason::FieldValueInvalid, field, format!("Invalid value: {value}: {detail}"))
}

/// `Forbidden: …`.
pub(crate) fn forbidden(field: impl Into<String>, detail: impl Display) -> Cause {
    cause(CauseReason::FieldValueForbidden, field, format!("Forbidden: {detail}"))
}

/// `Duplicate value: "…"`.
pub(crate) fn duplicate(field: impl Into<String>, value: &str) -> Cause {
    cause(CauseReason::FieldValueDuplicate, field, format!("Duplicate value: {value:?}"))
}

/// `Unsupported value: "…": supported values: "a", "b"`.
pub(crate) fn unsupported(field: impl Into<String>, value: &str, supported: &[&str]) -> Cause {
    let list = supported.iter().map(|one| format!("{one:?}")).collect::<Vec<_>>().join(", ");
    let message = format!("Unsupported value: {value:?}: supported values: {list}");
    cause(CauseReason::FieldValueNotSupported, field, message)
}

/// `Too long: may not be more than N bytes`.
pub(crate) fn too_long(field: impl Into<String>, max: usize) -> Cause {
    cause(CauseReason::FieldValueTooLong, field, format!("Too long: may not be more than {max} bytes"))
}
