// Generated from kinds/*.toml (sha256 2b223d7c0b72603ea76c498381c15b974b7b8b4ec848d37792592c735832563f) by kindgen, do not edit.
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
