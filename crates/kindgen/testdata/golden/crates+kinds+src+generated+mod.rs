// Generated from kinds/*.toml (sha256 9bd8ba05ddf9b0bf2fda95e0f422aadca58079bbfd3ee7de2f79738247ff5d1e) by kindgen, do not edit.
//! Every kind: its row, its types and its CustomResourceDefinition.

mod red_widget;
mod shelf;

use crate::Kind;

/// The rows, parents before children.
pub static KINDS: &[&Kind] = &[&shelf::KIND, &red_widget::KIND];

/// The CustomResourceDefinitions as JSON, in the order of the rows.
pub static CRDS: &[&str] = &[include_str!("crds/shelves.json"), include_str!("crds/redwidgets.json")];

/// Spec and status of every kind as types.
pub mod types {
    pub use crate::condition::Condition;

    pub use super::red_widget::{RedWidgetShape, RedWidgetShelfRef, RedWidgetSpec, RedWidgetStatus};
    pub use super::shelf::{ShelfKeyRef, ShelfSpec, ShelfStatus};
}
