//! Hooks: what a kind's table cannot say, one module per kind. All pure: no I/O, no clock, no panic on any JSON.
//! What the table can say (fields, routes, identity) stays in `kinds/<kind>.toml`; when a hook is called is the
//! engine's business.

pub mod cloudflare_account;
pub mod dns_record;
pub mod domain_name;
pub mod zone;

mod member;
