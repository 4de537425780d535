//! The Cloudflare API in memory.
