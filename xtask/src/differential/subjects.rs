//! What drawn sequences are about: kinds, objects of them, and edits that mean something, right and wrong ones. Leaves what
//! is done with them to `draw`.

use serde_json::{Value, json};

/// What an object of a kind may look like, and edits of it that mean something.
pub(super) struct Kind {
    pub(super) plural: &'static str,
    pub(super) api: &'static str,
    pub(super) kind: &'static str,
    pub(super) bodies: fn() -> Vec<Value>,
    /// Values for the fields below the top.
    pub(super) edits: fn() -> Vec<Value>,
    pub(super) has_status: bool,
    pub(super) is_built_in: bool,
}

pub(super) const KINDS: &[Kind] = &[
    Kind {
        plural: "configmaps",
        api: "v1",
        kind: "ConfigMap",
        bodies: || {
            vec![
                json!({ "data": { "a": "1" } }),
                json!({ "data": { "a": "1" }, "immutable": true }),
                json!({}),
            ]
        },
        edits: || {
            vec![
                json!({ "data": { "a": "2" } }),
                json!({ "data": { "a": null } }),
                json!({ "data": null }),
                json!({ "data": { "no key": "x" } }),
                json!({ "immutable": true }),
                json!({ "binaryData": { "b": "YQ==" } }),
            ]
        },
        has_status: false,
        is_built_in: true,
    },
    Kind {
        plural: "secrets",
        api: "v1",
        kind: "Secret",
        bodies: || {
            vec![json!({ "stringData": { "a": "1" } }), json!({ "data": { "a": "MQ==" }, "type": "Opaque" })]
        },
        edits: || {
            vec![
                json!({ "stringData": { "a": "2" } }),
                json!({ "data": { "a": "Mg==" } }),
                json!({ "data": { "a": "?" } }),
                json!({ "type": "other" }),
                json!({ "immutable": true }),
            ]
        },
        has_status: false,
        is_built_in: true,
    },
    Kind {
        plural: "leases",
        api: "coordination.k8s.io/v1",
        kind: "Lease",
        bodies: || vec![json!({ "spec": { "holderIdentity": "a", "leaseDurationSeconds": 15 } }), json!({})],
        edits: || {
            vec![
                json!({ "spec": { "holderIdentity": "b" } }),
                json!({ "spec": { "leaseDurationSeconds": 0 } }),
                json!({ "spec": { "renewTime": "2026-01-02T03:04:05.000000Z" } }),
                json!({ "spec": null }),
            ]
        },
        has_status: false,
        is_built_in: true,
    },
    Kind {
        plural: "services",
        api: "v1",
        kind: "Service",
        bodies: || {
            vec![
                json!({ "spec": { "ports": [{ "port": 80 }], "selector": { "app": "x" } } }),
                json!({ "spec": { "clusterIP": "None", "selector": { "app": "x" }, "ports": [{ "name": "a", "port": 80 }, { "name": "b", "port": 81 }] } }),
                json!({ "spec": { "selector": { "app": "x" }, "ports": [] } }),
            ]
        },
        edits: || {
            vec![
                json!({ "spec": { "ports": [{ "port": 80, "targetPort": 8080 }] } }),
                json!({ "spec": { "ports": [{ "name": "a", "port": 82 }] } }),
                json!({ "spec": { "selector": { "app": "y", "tier": "1" } } }),
                json!({ "spec": { "selector": null } }),
                json!({ "spec": { "externalName": "example.com" } }),
                json!({ "spec": { "unknown": 1 } }),
            ]
        },
        has_status: true,
        is_built_in: true,
    },
    Kind {
        plural: "ingresses",
        api: "networking.k8s.io/v1",
        kind: "Ingress",
        bodies: || {
            let backend = json!({ "service": { "name": "s", "port": { "number": 80 } } });
            vec![
                json!({ "spec": { "defaultBackend": backend } }),
                json!({ "spec": { "rules": [{ "host": "a.example.com", "http": { "paths": [
                    { "path": "/", "pathType": "Prefix", "backend": backend },
                ] } }] } }),
                json!({ "spec": {} }),
            ]
        },
        edits: || {
            vec![
                json!({ "spec": { "ingressClassName": "c" } }),
                json!({ "spec": { "ingressClassName": null } }),
                json!({ "spec": { "tls": [{ "hosts": ["a.example.com"], "secretName": "t" }] } }),
                json!({ "spec": { "rules": [{ "host": "not a host" }] } }),
                json!({ "spec": { "defaultBackend": null } }),
                json!({ "spec": { "unknown": 1 } }),
            ]
        },
        has_status: true,
        is_built_in: true,
    },
    Kind {
        plural: "zones",
        api: "kflare.dev/v1alpha1",
        kind: "Zone",
        bodies: || {
            vec![
                json!({ "spec": { "name": "example.com", "accountRef": { "name": "main" } } }),
                json!({ "spec": { "name": "example.org", "accountRef": { "name": "main" }, "plan": "free" } }),
                json!({ "spec": { "name": "nodots" } }),
            ]
        },
        edits: || {
            vec![
                json!({ "spec": { "plan": "pro" } }),
                json!({ "spec": { "plan": null } }),
                json!({ "spec": { "plan": "gold" } }),
                json!({ "spec": { "type": "partial" } }),
                json!({ "spec": { "type": null } }),
                json!({ "spec": { "name": "example.net" } }),
                json!({ "spec": { "accountRef": { "name": "other" } } }),
                json!({ "spec": { "unknown": 1 } }),
                json!({ "spec": null }),
            ]
        },
        has_status: true,
        is_built_in: false,
    },
    Kind {
        plural: "dnsrecords",
        api: "kflare.dev/v1alpha1",
        kind: "DNSRecord",
        bodies: || {
            let of = |kind: &str, content: &str| json!({ "spec": { "zoneRef": { "name": "z" }, "name": "www", "type": kind, "content": content } });
            vec![of("A", "192.0.2.1"), of("CNAME", "example.com"), of("MX", "mail.example.com"), of("A", "")]
        },
        edits: || {
            vec![
                json!({ "spec": { "content": "192.0.2.2" } }),
                json!({ "spec": { "content": "*.example.com" } }),
                json!({ "spec": { "content": null } }),
                json!({ "spec": { "ttl": 300 } }),
                json!({ "spec": { "ttl": 29 } }),
                json!({ "spec": { "ttl": "1" } }),
                json!({ "spec": { "proxied": true } }),
                json!({ "spec": { "proxied": null } }),
                json!({ "spec": { "priority": 10 } }),
                json!({ "spec": { "tags": ["a", "b:c"] } }),
                json!({ "spec": { "tags": ["a", "a"] } }),
                json!({ "spec": { "settings": { "ipv4Only": true, "ipv6Only": true } } }),
                json!({ "spec": { "comment": "one\ntwo" } }),
                json!({ "spec": { "data": { "flags": 0 } } }),
                json!({ "spec": { "type": "TXT" } }),
            ]
        },
        has_status: true,
        is_built_in: false,
    },
];
