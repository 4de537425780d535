//! From a backend of an Ingress to what a connector dials: the Service, its name in the cluster and its port.

use std::collections::BTreeMap;

use kinds::Key;

use super::host::is_dns_name;
use super::view::{Backend, BackendPort, Service};
use crate::snapshot::Lookup;

/// The answer of a path whose backend cannot be reached.
pub const UNAVAILABLE: &str = "http_status:503";

/// Services by namespace and name. One that nobody looked up is not there as [`Lookup::Missing`] but not known.
pub type Services = BTreeMap<Key, Lookup<Service>>;

/// Why a path answers 503.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum Unavailable {
    /// A resource instead of a Service.
    #[error("its backend is no Service")]
    NoService,
    /// No such Service.
    #[error("Service {0} does not exist")]
    ServiceMissing(Key),
    /// A Service without an address.
    #[error("Service {0} is headless, which is not supported")]
    Headless(Key),
    /// No such port.
    #[error("Service {service} has no port named {port:?}")]
    NoPortNamed {
        /// The Service.
        service: Key,
        /// The name.
        port: String,
    },
    /// No such port.
    #[error("Service {service} has no port {port}")]
    NoPort {
        /// The Service.
        service: Key,
        /// The number.
        port: i64,
    },
    /// A name that cannot be dialled.
    #[error("Service {0} leads to a name that is no DNS name")]
    NoName(Key),
}

/// What a backend leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Resolved {
    /// Host and port to dial, and whether the port looks like TLS.
    Reached { host: String, port: i64, looks_like_tls: bool },
    /// The path answers 503.
    Unavailable(Unavailable),
    /// The Service could not be read.
    Unknown(String),
}

/// Looks a backend up.
pub(super) fn resolve(
    namespace: &str,
    backend: &Backend,
    services: &Services,
    cluster_domain: &str,
) -> Resolved {
    let Some(reference) = &backend.service else { return Resolved::Unavailable(Unavailable::NoService) };
    let key = Key::new(namespace, reference.name.clone());
    let service = match services.get(&key) {
        Some(Lookup::Found(service)) => service,
        Some(Lookup::Missing) => return Resolved::Unavailable(Unavailable::ServiceMissing(key)),
        Some(Lookup::Unknown(why)) => return Resolved::Unknown(format!("Service {key}: {why}")),
        Some(Lookup::Unread) | None => return Resolved::Unknown(format!("Service {key} is not read yet")),
    };
    if service.is_headless() {
        return Resolved::Unavailable(Unavailable::Headless(key));
    }
    let host = match service.external_name() {
        Some(name) => name.to_ascii_lowercase(),
        None => format!("{}.{namespace}.svc.{cluster_domain}", reference.name),
    };
    match port(&key, service, &reference.port) {
        Err(why) => Resolved::Unavailable(why),
        Ok(_) if !is_dns_name(&host) => Resolved::Unavailable(Unavailable::NoName(key)),
        Ok((port, name)) => Resolved::Reached { host, port, looks_like_tls: port == 443 || name == "https" },
    }
}

/// The Service's own port, never its target's. An ExternalName's ports are whatever stands there, listed or not.
fn port<'s>(key: &Key, service: &'s Service, wanted: &'s BackendPort) -> Result<(i64, &'s str), Unavailable> {
    let ports = &service.spec.ports;
    let is_port = |port: i64| (1..=65_535).contains(&port);
    if !wanted.name.is_empty() {
        let found = ports.iter().find(|port| port.name == wanted.name && is_port(port.port));
        return found
            .map(|port| (port.port, port.name.as_str()))
            .ok_or_else(|| Unavailable::NoPortNamed { service: key.clone(), port: wanted.name.clone() });
    }
    let found = ports.iter().find(|port| port.port == wanted.number);
    let is_free = service.external_name().is_some();
    match found {
        Some(port) if is_port(port.port) => Ok((port.port, port.name.as_str())),
        None if is_free && is_port(wanted.number) => Ok((wanted.number, "")),
        _ => Err(Unavailable::NoPort { service: key.clone(), port: wanted.number }),
    }
}
