//! cf-api
