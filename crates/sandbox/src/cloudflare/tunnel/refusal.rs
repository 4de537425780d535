//! What the tunnels product refuses, with Cloudflare's codes and texts.
//! When each applies is left to the modules that use them.

use super::super::envelope::Coded;

/// Refusals of tunnels (cloudflare API facts: errors of tunnels).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(in crate::cloudflare) enum TunnelRefusal {
    #[error("Tunnel not found")]
    NoTunnel,
    #[error("Tunnel connector not found")]
    NoConnector,
    #[error("Tunnel token not found")]
    NoToken,
    #[error("Configuration for tunnel not found")]
    NoConfiguration,
    #[error("You already have a tunnel with this name. Please choose a different name.")]
    NameTaken,
    #[error("Cannot delete tunnel because it has active connections")]
    Connected,
    #[error("{field} is missing or invalid")]
    Field { field: &'static str },
    #[error("tunnel_secret must be at least {min} bytes, encoded as base64")]
    Secret { min: usize },
    #[error("Bad Configuration: {why}")]
    Configuration { why: String },
}

impl TunnelRefusal {
    pub(super) fn configuration(why: impl Into<String>) -> Self {
        Self::Configuration { why: why.into() }
    }
}

impl Coded for TunnelRefusal {
    fn code(&self) -> u32 {
        match self {
            // No source names a code for a connector that there is not.
            Self::NoTunnel | Self::NoConnector => 1002,
            Self::NoToken => 1054,
            Self::NoConfiguration => 1055,
            Self::NameTaken => 1013,
            Self::Connected => 1022,
            Self::Field { .. } | Self::Secret { .. } => 1003,
            Self::Configuration { .. } => 1056,
        }
    }

    fn status(&self) -> u16 {
        match self {
            Self::NoTunnel | Self::NoConnector | Self::NoToken | Self::NoConfiguration => 404,
            Self::NameTaken => 409,
            Self::Connected | Self::Field { .. } | Self::Secret { .. } | Self::Configuration { .. } => 400,
        }
    }
}
