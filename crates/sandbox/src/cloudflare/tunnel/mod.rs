//! The tunnels product: tunnels, their configurations and connectors, and the calls on them.
//! What goes through a tunnel is nobody's here.

pub(super) mod calls;
pub(super) mod configuration;
mod connector;
mod filter;
mod ingress;
mod object;
mod refusal;
mod scene;

pub(super) use self::object::Tunnel;
