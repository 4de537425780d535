//! Requests for zones, their records, accounts and the check of a token, and the reading of batch answers.
//!
//! Request bodies are the caller's: what a record must look like is decided in `plan`.

mod account;
mod batch;
mod record;
mod zone;

pub use account::{TokenKind, get_account, verify};
pub use batch::{BatchAnswer, BatchBody, BatchError, ZonePlan, batch};
pub use record::{
    create_record, delete_record, get_record, list_records, list_records_named, patch_record, put_record,
};
pub use zone::{
    ZoneProperty, create_zone, delete_zone, find_zone, get_subscription, get_zone, list_zones, patch_zone,
    put_subscription,
};

#[cfg(test)]
mod tests;
