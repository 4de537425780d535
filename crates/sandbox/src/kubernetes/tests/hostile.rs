//! Values of every shape in every place: nothing a client sends may make the server panic.

use super::*;

fn samples() -> Vec<Value> {
    let meta = json!({ "name": "a", "labels": { "a": "b" }, "annotations": { "a": "b" }, "finalizers": ["a.b/c"],
        "ownerReferences": [{ "apiVersion": "v1", "kind": "Pod", "name": "o", "uid": "u", "controller": true }] });
    let object = |api_version: &str, kind: &str, rest: Value| {
        let mut object = rest;
        object["apiVersion"] = json!(api_version);
        object["kind"] = json!(kind);
        object["metadata"] = meta.clone();
        object
    };
    let backend = json!({ "service": { "name": "web", "port": { "number": 80 } } });
    let mut definition = definition();
    definition["metadata"]["name"] = json!("things.a.b");
    definition["spec"]["group"] = json!("a.b");
    definition["spec"]["names"] = json!({ "kind": "Thing", "plural": "things" });
    vec![
        definition,
        object(
            "v1",
            "Namespace",
            json!({ "spec": { "finalizers": ["kubernetes"] }, "status": { "phase": "Active" } }),
        ),
        object(
            "v1",
            "Secret",
            json!({ "type": "Opaque", "data": { "a": "Yg==" }, "stringData": { "c": "d" }, "immutable": false }),
        ),
        object("v1", "ConfigMap", json!({ "data": { "a": "b" }, "binaryData": { "c": "Yg==" } })),
        object(
            "v1",
            "Service",
            json!({ "spec": { "type": "NodePort", "ports": [{ "name": "x", "port": 80 }], "selector": { "a": "b" } } }),
        ),
        object("v1", "ServiceAccount", json!({ "secrets": [{ "name": "x" }] })),
        object(
            "v1",
            "Event",
            json!({ "involvedObject": { "kind": "X", "name": "x", "namespace": "default" }, "source": { "component": "x" },
            "series": { "count": 2, "lastObservedTime": "2026-01-01T00:00:00.000000Z" } }),
        ),
        object(
            "coordination.k8s.io/v1",
            "Lease",
            json!({ "spec": { "holderIdentity": "x", "leaseDurationSeconds": 15, "leaseTransitions": 1 } }),
        ),
        object(
            "apps/v1",
            "Deployment",
            json!({ "spec": { "replicas": 1, "strategy": { "type": "RollingUpdate", "rollingUpdate": { "maxSurge": 1 } },
            "selector": { "matchLabels": { "a": "b" }, "matchExpressions": [{ "key": "a", "operator": "In", "values": ["b"] }] },
            "template": { "metadata": { "labels": { "a": "b" } }, "spec": { "serviceAccountName": "x", "volumes": [{ "name": "v", "secret": { "secretName": "s" } }],
                "containers": [{ "name": "c", "image": "i", "ports": [{ "containerPort": 1 }], "env": [{ "name": "e", "valueFrom": { "fieldRef": { "fieldPath": "x" } } }],
                    "livenessProbe": { "httpGet": { "port": 1 } } }] } } } }),
        ),
        object(
            "networking.k8s.io/v1",
            "Ingress",
            json!({ "spec": { "ingressClassName": "x", "defaultBackend": backend, "tls": [{ "hosts": ["a.b"] }],
            "rules": [{ "host": "a.b", "http": { "paths": [{ "path": "/", "pathType": "Prefix", "backend": backend }] } }] },
            "status": { "loadBalancer": { "ingress": [{ "ip": "192.0.2.1" }] } } }),
        ),
        object(
            "networking.k8s.io/v1",
            "IngressClass",
            json!({ "spec": { "controller": "a.b/c", "parameters": { "kind": "x", "name": "y" } } }),
        ),
        object(
            "rbac.authorization.k8s.io/v1",
            "ClusterRole",
            json!({ "rules": [{ "verbs": ["get"], "apiGroups": [""], "resources": ["x"] }] }),
        ),
        object(
            "rbac.authorization.k8s.io/v1",
            "RoleBinding",
            json!({ "roleRef": { "kind": "Role", "name": "x" },
            "subjects": [{ "kind": "ServiceAccount", "name": "x", "namespace": "default" }] }),
        ),
        object(
            "kflare.dev/v1alpha1",
            "DNSRecord",
            json!({ "spec": { "type": "A", "content": "192.0.2.1", "ttl": 60 }, "status": { "x": 1 } }),
        ),
    ]
}

/// The pointers of all values inside of `value`, but for what says which kind it is.
fn pointers(value: &Value, at: &str, found: &mut Vec<String>) {
    let inside: Vec<(String, &Value)> = match value {
        Value::Object(fields) => {
            fields.iter().map(|(key, value)| (key.replace('~', "~0").replace('/', "~1"), value)).collect()
        }
        Value::Array(items) => {
            items.iter().enumerate().map(|(index, value)| (index.to_string(), value)).collect()
        }
        _ => Vec::new(),
    };
    for (key, value) in inside {
        let pointer = format!("{at}/{key}");
        pointers(value, &pointer, found);
        if !matches!(pointer.as_str(), "/apiVersion" | "/kind") {
            found.push(pointer);
        }
    }
}

/// The collection of an object.
fn collection(server: &ApiServer, object: &Value) -> String {
    let state = server.state();
    let text = |field: &str| object[field].as_str().unwrap();
    let endpoint = state.registry.for_object(text("apiVersion"), text("kind")).unwrap();
    let root = if endpoint.group.is_empty() { "api" } else { "apis" };
    let scope = if endpoint.resource.namespaced { "namespaces/default/" } else { "" };
    format!("/{root}/{}/{scope}{}", endpoint.api_version(), endpoint.resource.plural)
}

#[tokio::test(start_paused = true)]
async fn any_field_of_any_kind_can_have_any_shape() {
    let server = server();
    let shapes = [json!(null), json!(-1), json!("x"), json!([]), json!([1]), json!({})];
    let table = "application/json;as=Table;v=v1;g=meta.k8s.io";
    for sample in samples() {
        server.apply(sample.clone()).unwrap();
        let path = collection(&server, &sample);
        let name = sample["metadata"]["name"].as_str().unwrap();
        let mut places = Vec::new();
        pointers(&sample, "", &mut places);
        for place in places {
            for shape in &shapes {
                let mut object = sample.clone();
                *object.pointer_mut(&place).unwrap() = shape.clone();
                post(&server, &path, &object).await;
                for part in ["", "/status"] {
                    merge(&server, &format!("{path}/{name}{part}"), &object).await;
                }
                let strategic = "application/strategic-merge-patch+json";
                ask(&server, Method::PATCH, &format!("{path}/{name}"), strategic, &object).await;
                let _ = server.apply(object);
                assert_eq!(get_as(&server, &path, table).await.code, 200);
                let _ = server.patch(
                    sample["kind"].as_str().unwrap(),
                    None,
                    name,
                    json!({ "metadata": { "finalizers": null } }),
                );
                delete(&server, &format!("{path}/{name}"), &Value::Null).await;
            }
        }
    }
    assert_eq!(get(&server, "/readyz").await.code, 200);
}
