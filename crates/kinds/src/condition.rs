//! A condition as Kubernetes stores it, for the generated status types.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// One entry of `status.conditions`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    /// `Ready`.
    #[serde(rename = "type")]
    pub type_: String,
    /// `True`, `False` or `Unknown`.
    pub status: String,
    /// One word that says why; see [`crate::Reason`].
    pub reason: String,
    /// A sentence that says why.
    pub message: String,
    /// When `status` last changed.
    pub last_transition_time: Timestamp,
    /// The generation that it was written for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
}
