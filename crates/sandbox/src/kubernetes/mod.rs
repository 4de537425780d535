//! The Kubernetes API in memory.

pub mod schema;
