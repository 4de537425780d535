use crate::Kind;
/// The rows, parents before children.
pub static KINDS: &[&Kind] = &[];
/// Generated types.
pub mod types {}
