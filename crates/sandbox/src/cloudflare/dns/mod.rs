//! DNS records: types, validation, normalisation, conflicts, quotas, and the calls on them.
//! Zones are left to the parent module.

pub(super) mod batch;
pub(super) mod calls;
mod content;
mod data;
mod desk;
mod fields;
mod filter;
pub(super) mod kind;
pub(super) mod list;
mod loc;
pub(super) mod name;
pub(super) mod record;
pub(super) mod refusal;
mod rules;
pub(super) mod scan;
mod shadow;
pub(super) mod store;
mod txt;
pub(super) mod zone_file;
mod zone_file_text;
