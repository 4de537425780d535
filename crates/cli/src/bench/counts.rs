//! What the operator asked for: of Cloudflare, as the sandbox logs it, and of Kubernetes, as the sandbox's log or a real
//! API server's audit log has it. Pure: where the logs are is `place`.

use std::collections::BTreeMap;
use std::ops::Sub;

/// Requests so far, or between two moments. The Lease apart, which is renewed whatever there is to do, and watches, which
/// last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// Reads from Cloudflare.
    pub(super) reads: u64,
    /// Of them pages of lists of records.
    pub(super) pages: u64,
    /// Writes to Cloudflare.
    pub(super) writes: u64,
    /// Reads from Kubernetes.
    pub(super) kubernetes_reads: u64,
    /// Of them Secrets.
    pub(super) secrets: u64,
    /// Of them pages of lists of our kinds.
    pub(super) lists: u64,
    /// Writes to Kubernetes, Events apart.
    pub(super) kubernetes_writes: u64,
    /// Events written.
    pub(super) events: u64,
}

/// How often something was asked, by verb and resource, or by method and route.
type Asked = BTreeMap<(String, String), u64>;

impl Counts {
    /// All that changes something, on both sides.
    pub(super) const fn all_writes(&self) -> u64 {
        self.writes + self.kubernetes_writes + self.events
    }

    /// All calls to Cloudflare.
    pub(super) const fn calls(&self) -> u64 {
        self.reads + self.writes
    }

    /// What Cloudflare was asked, by method and route.
    pub(super) fn cloudflare(asked: &Asked) -> Self {
        let mut counts = Self::default();
        for ((method, route), n) in asked {
            match method.as_str() {
                "GET" | "HEAD" => {
                    counts.reads += n;
                    counts.pages += n * u64::from(route == "/zones/{zone_id}/dns_records");
                }
                _ => counts.writes += n,
            }
        }
        counts
    }

    /// Adds what the sandbox's Kubernetes was asked, by method and route.
    pub(super) fn and_sandbox(mut self, asked: &Asked) -> Self {
        for ((method, route), n) in asked {
            // What is served at all is asked once, and is no object.
            let Some(resource) = resource(route) else { continue };
            let one = route.ends_with('}') || route.ends_with("/status");
            let verb = match method.as_str() {
                "GET" | "HEAD" if one => "get",
                "GET" | "HEAD" => "list",
                "WATCH" => "watch",
                method => method,
            };
            self.add(verb, resource, *n);
        }
        self
    }

    /// Adds what an audit log holds, by verb and resource.
    pub(super) fn and_audit(mut self, asked: &Asked) -> Self {
        for ((verb, resource), n) in asked {
            let resource = resource.split('/').next().unwrap_or_default();
            self.add(verb, resource, *n);
        }
        self
    }

    fn add(&mut self, verb: &str, resource: &str, n: u64) {
        match (verb, resource) {
            ("watch", _) | (_, "leases") => {}
            ("get" | "list", resource) => {
                self.kubernetes_reads += n;
                self.secrets += n * u64::from(verb == "get" && resource == "secrets");
                let ours = kinds::KINDS.iter().any(|kind| kind.plural == resource);
                self.lists += n * u64::from(verb == "list" && ours);
            }
            (_, "events") => self.events += n,
            _ => self.kubernetes_writes += n,
        }
    }
}

/// The resource of a route with placeholders; none where it is no object's.
fn resource(route: &str) -> Option<&str> {
    let mut parts = route.trim_matches('/').split('/');
    let to_skip = match parts.next()? {
        "api" => 1,
        "apis" => 2,
        _ => return None,
    };
    let mut parts = parts.skip(to_skip);
    let first = parts.next()?;
    if first != "namespaces" {
        return Some(first);
    }
    // A namespace, or what is in it.
    parts.next();
    Some(parts.next().unwrap_or(first))
}

impl Sub for Counts {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self {
            reads: self.reads - before.reads,
            pages: self.pages - before.pages,
            writes: self.writes - before.writes,
            kubernetes_reads: self.kubernetes_reads - before.kubernetes_reads,
            secrets: self.secrets - before.secrets,
            lists: self.lists - before.lists,
            kubernetes_writes: self.kubernetes_writes - before.kubernetes_writes,
            events: self.events - before.events,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked<const N: usize>(all: [(&str, &str, u64); N]) -> Asked {
        all.into_iter().map(|(how, what, n)| ((how.to_owned(), what.to_owned()), n)).collect()
    }

    #[test]
    fn both_servers_logs_are_counted_alike() {
        let sandbox = Counts::default().and_sandbox(&asked([
            ("GET", "/apis/kflare.dev/v1alpha1", 1),
            ("GET", "/apis/kflare.dev/v1alpha1/dnsrecords", 2),
            ("WATCH", "/apis/kflare.dev/v1alpha1/dnsrecords", 9),
            ("GET", "/api/v1/namespaces/{namespace}/secrets/{name}", 3),
            ("GET", "/api/v1/namespaces", 1),
            ("PATCH", "/apis/kflare.dev/v1alpha1/namespaces/{namespace}/dnsrecords/{name}", 5),
            ("PATCH", "/apis/kflare.dev/v1alpha1/namespaces/{namespace}/dnsrecords/{name}/status", 7),
            ("POST", "/apis/events.k8s.io/v1/namespaces/{namespace}/events", 11),
            ("PUT", "/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/{name}", 13),
        ]));
        let real = Counts::default().and_audit(&asked([
            ("list", "dnsrecords", 2),
            ("watch", "dnsrecords", 9),
            ("get", "secrets", 3),
            ("list", "namespaces", 1),
            ("patch", "dnsrecords", 5),
            ("patch", "dnsrecords/status", 7),
            ("create", "events", 11),
            ("update", "leases", 13),
        ]));
        let expected = Counts {
            kubernetes_reads: 6,
            secrets: 3,
            lists: 2,
            kubernetes_writes: 12,
            events: 11,
            ..Counts::default()
        };
        assert_eq!((sandbox, real), (expected, expected));
        assert_eq!((real - sandbox).all_writes(), 0);
    }

    #[test]
    fn reads_and_writes_of_cloudflare_are_told_apart() {
        let counts = Counts::cloudflare(&asked([
            ("GET", "/zones/{zone_id}/dns_records", 2),
            ("GET", "/zones/{zone_id}", 1),
            ("POST", "/zones/{zone_id}/dns_records/batch", 3),
        ]));
        assert_eq!((counts.calls(), counts.pages, counts.all_writes()), (6, 2, 3));
    }
}
