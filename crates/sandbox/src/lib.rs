//! Two worlds in memory: a Kubernetes API and a Cloudflare API, each a tower service, on one clock.
//! Never imports anything else of this workspace: it is written from how the two APIs behave, so that it
//! can be a witness against our own code (invariant V7).

pub mod clock;
pub mod cloudflare;
pub mod fault;
pub mod kubernetes;
mod recall;
pub mod request_log;
pub mod serve;
