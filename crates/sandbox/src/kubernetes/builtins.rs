//! The table of built-in kinds: names, scope and form. Leaves their rules to `kinds`.

use super::names::NameRule;
use super::resource::{Registry, Resource, Version};

/// A kind that the server knows by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum BuiltIn {
    Namespace,
    Secret,
    ConfigMap,
    Service,
    ServiceAccount,
    Event,
    Lease,
    Deployment,
    ReplicaSet,
    Pod,
    EndpointSlice,
    Ingress,
    IngressClass,
    Role,
    ClusterRole,
    RoleBinding,
    ClusterRoleBinding,
    CustomResourceDefinition,
}

struct Row {
    built_in: BuiltIn,
    group: &'static str,
    kind: &'static str,
    plural: &'static str,
    short_names: &'static [&'static str],
    categories: &'static [&'static str],
    namespaced: bool,
    has_status: bool,
    has_generation: bool,
    name_rule: NameRule,
    selectable: &'static [&'static str],
}

const ROW: Row = Row {
    built_in: BuiltIn::ConfigMap,
    group: "",
    kind: "",
    plural: "",
    short_names: &[],
    categories: &[],
    namespaced: true,
    has_status: false,
    has_generation: false,
    name_rule: NameRule::Subdomain,
    selectable: &[],
};

/// The field selectors that the server knows for Events (`registry/core/event/strategy.go`), in the form
/// of the store; the `events.k8s.io` spelling `regarding.*` is mapped by `selector`.
const EVENT_FIELDS: &[&str] = &[
    "involvedObject.kind",
    "involvedObject.namespace",
    "involvedObject.name",
    "involvedObject.uid",
    "involvedObject.apiVersion",
    "involvedObject.resourceVersion",
    "involvedObject.fieldPath",
    "reason",
    "reportingComponent",
    "source",
    "type",
];

/// The field selectors that the server knows for Pods (`registry/core/pod/strategy.go`).
const POD_FIELDS: &[&str] = &[
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.schedulerName",
    "spec.serviceAccountName",
    "spec.hostNetwork",
    "status.phase",
    "status.podIP",
    "status.nominatedNodeName",
];

const RBAC: &str = "rbac.authorization.k8s.io";
const NETWORKING: &str = "networking.k8s.io";

const ROWS: &[Row] = &[
    Row {
        built_in: BuiltIn::Namespace,
        kind: "Namespace",
        plural: "namespaces",
        short_names: &["ns"],
        namespaced: false,
        has_status: true,
        name_rule: NameRule::Label,
        selectable: &["status.phase"],
        ..ROW
    },
    Row { built_in: BuiltIn::Secret, kind: "Secret", plural: "secrets", selectable: &["type"], ..ROW },
    Row {
        built_in: BuiltIn::ConfigMap,
        kind: "ConfigMap",
        plural: "configmaps",
        short_names: &["cm"],
        ..ROW
    },
    Row {
        built_in: BuiltIn::Service,
        kind: "Service",
        plural: "services",
        short_names: &["svc"],
        categories: &["all"],
        has_status: true,
        name_rule: NameRule::Label,
        selectable: &["spec.clusterIP", "spec.type"],
        ..ROW
    },
    Row {
        built_in: BuiltIn::ServiceAccount,
        kind: "ServiceAccount",
        plural: "serviceaccounts",
        short_names: &["sa"],
        ..ROW
    },
    Row {
        built_in: BuiltIn::Event,
        kind: "Event",
        plural: "events",
        short_names: &["ev"],
        selectable: EVENT_FIELDS,
        ..ROW
    },
    Row { built_in: BuiltIn::Lease, group: "coordination.k8s.io", kind: "Lease", plural: "leases", ..ROW },
    Row {
        built_in: BuiltIn::Deployment,
        group: "apps",
        kind: "Deployment",
        plural: "deployments",
        short_names: &["deploy"],
        categories: &["all"],
        has_status: true,
        has_generation: true,
        ..ROW
    },
    Row {
        built_in: BuiltIn::ReplicaSet,
        group: "apps",
        kind: "ReplicaSet",
        plural: "replicasets",
        short_names: &["rs"],
        categories: &["all"],
        has_status: true,
        has_generation: true,
        selectable: &["status.replicas"],
        ..ROW
    },
    Row {
        built_in: BuiltIn::Pod,
        kind: "Pod",
        plural: "pods",
        short_names: &["po"],
        categories: &["all"],
        has_status: true,
        has_generation: true,
        selectable: POD_FIELDS,
        ..ROW
    },
    Row {
        built_in: BuiltIn::EndpointSlice,
        group: "discovery.k8s.io",
        kind: "EndpointSlice",
        plural: "endpointslices",
        has_generation: true,
        ..ROW
    },
    Row {
        built_in: BuiltIn::Ingress,
        group: NETWORKING,
        kind: "Ingress",
        plural: "ingresses",
        short_names: &["ing"],
        has_status: true,
        has_generation: true,
        ..ROW
    },
    Row {
        built_in: BuiltIn::IngressClass,
        group: NETWORKING,
        kind: "IngressClass",
        plural: "ingressclasses",
        namespaced: false,
        has_generation: true,
        ..ROW
    },
    Row {
        built_in: BuiltIn::Role,
        group: RBAC,
        kind: "Role",
        plural: "roles",
        name_rule: NameRule::PathSegment,
        ..ROW
    },
    Row {
        built_in: BuiltIn::ClusterRole,
        group: RBAC,
        kind: "ClusterRole",
        plural: "clusterroles",
        namespaced: false,
        name_rule: NameRule::PathSegment,
        ..ROW
    },
    Row {
        built_in: BuiltIn::RoleBinding,
        group: RBAC,
        kind: "RoleBinding",
        plural: "rolebindings",
        name_rule: NameRule::PathSegment,
        ..ROW
    },
    Row {
        built_in: BuiltIn::ClusterRoleBinding,
        group: RBAC,
        kind: "ClusterRoleBinding",
        plural: "clusterrolebindings",
        namespaced: false,
        name_rule: NameRule::PathSegment,
        ..ROW
    },
    Row {
        built_in: BuiltIn::CustomResourceDefinition,
        group: "apiextensions.k8s.io",
        kind: "CustomResourceDefinition",
        plural: "customresourcedefinitions",
        short_names: &["crd", "crds"],
        categories: &["api-extensions"],
        namespaced: false,
        has_status: true,
        has_generation: true,
        ..ROW
    },
];

/// A registry that serves the built-in kinds.
pub(crate) fn registry() -> Registry {
    let mut registry = Registry::default();
    for row in ROWS {
        let id = registry.next_id();
        let version = Version {
            name: "v1".to_owned(),
            has_status: row.has_status,
            schema: None,
            open_api: serde_json::json!({ "type": "object" }),
            columns: Vec::new(),
            selectable: row.selectable.iter().map(|&field| field.to_owned()).collect(),
        };
        registry.insert(Resource {
            id,
            group: row.group.to_owned(),
            other_group: (row.built_in == BuiltIn::Event).then(|| "events.k8s.io".to_owned()),
            kind: row.kind.to_owned(),
            list_kind: format!("{}List", row.kind),
            plural: row.plural.to_owned(),
            singular: row.kind.to_lowercase(),
            short_names: row.short_names.iter().map(|&name| name.to_owned()).collect(),
            categories: row.categories.iter().map(|&name| name.to_owned()).collect(),
            namespaced: row.namespaced,
            versions: vec![version],
            storage: "v1".to_owned(),
            name_rule: row.name_rule,
            has_generation: row.has_generation,
            built_in: Some(row.built_in),
        });
    }
    registry
}
