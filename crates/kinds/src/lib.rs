//! What users write: the kinds as rows of a table, their generated types, and every name, reason and limit a
//! user can meet, and what cloudflared makes of a tunnel's configuration. Never does I/O, never decides: rows, small
//! pure hooks and a pure model only.

pub mod cloudflared;
pub mod hooks;
pub mod limits;
pub mod names;
pub mod reason;
pub mod resource;
pub mod table;

mod condition;
mod generated;
#[cfg(test)]
mod tests;

pub use generated::{CRDS, KINDS, types};
pub use reason::Reason;
pub use resource::{Key, Resource};
pub use table::Kind;

/// The row of a kind by its name as written in `kind:`.
#[must_use]
pub fn kind(name: &str) -> Option<&'static Kind> {
    KINDS.iter().copied().find(|row| row.name == name)
}
