//! Values of every shape in every place: nothing a client sends may make the server panic.

use super::*;

/// One object of each kind; `metadata` is added by [`samples`].
const SAMPLES: &str = r#"
- { apiVersion: v1, kind: Namespace, spec: { finalizers: [kubernetes] }, status: { phase: Active } }
- { apiVersion: v1, kind: Secret, type: Opaque, data: { a: Yg== }, stringData: { c: d }, immutable: false }
- { apiVersion: v1, kind: ConfigMap, data: { a: b }, binaryData: { c: Yg== } }
- apiVersion: v1
  kind: Service
  spec: { type: NodePort, ports: [{ name: x, port: 80 }], selector: { a: b } }
- { apiVersion: v1, kind: ServiceAccount, secrets: [{ name: x }] }
- apiVersion: v1
  kind: Event
  involvedObject: { kind: X, name: x, namespace: default }
  source: { component: x }
  series: { count: 2, lastObservedTime: "2026-01-01T00:00:00.000000Z" }
- apiVersion: coordination.k8s.io/v1
  kind: Lease
  spec: { holderIdentity: x, leaseDurationSeconds: 15, leaseTransitions: 1 }
- apiVersion: apps/v1
  kind: Deployment
  spec:
    replicas: 1
    strategy: { type: RollingUpdate, rollingUpdate: { maxSurge: 1 } }
    selector: { matchLabels: { a: b }, matchExpressions: [{ key: a, operator: In, values: [b] }] }
    template:
      metadata: { labels: { a: b } }
      spec:
        serviceAccountName: x
        volumes: [{ name: v, secret: { secretName: s } }]
        containers:
        - name: c
          image: i
          ports: [{ containerPort: 1 }]
          env: [{ name: e, valueFrom: { fieldRef: { fieldPath: x } } }]
          livenessProbe: { httpGet: { port: 1 } }
- apiVersion: networking.k8s.io/v1
  kind: Ingress
  spec:
    ingressClassName: x
    defaultBackend: { service: { name: web, port: { number: 80 } } }
    tls: [{ hosts: [a.b] }]
    rules:
    - host: a.b
      http: { paths: [{ path: /, pathType: Prefix, backend: { service: { name: web, port: { number: 80 } } } }] }
  status: { loadBalancer: { ingress: [{ ip: 192.0.2.1 }] } }
- apiVersion: networking.k8s.io/v1
  kind: IngressClass
  spec: { controller: a.b/c, parameters: { kind: x, name: z } }
- apiVersion: rbac.authorization.k8s.io/v1
  kind: ClusterRole
  rules: [{ verbs: [get], apiGroups: [""], resources: [x] }]
- apiVersion: rbac.authorization.k8s.io/v1
  kind: RoleBinding
  roleRef: { kind: Role, name: x }
  subjects: [{ kind: ServiceAccount, name: x, namespace: default }]
- { apiVersion: kflare.dev/v1alpha1, kind: DNSRecord, spec: { type: A, content: 192.0.2.1, ttl: 60 }, status: { x: 1 } }
"#;

fn samples() -> Vec<Value> {
    let mut samples: Vec<Value> = serde_saphyr::from_str(SAMPLES).unwrap();
    for sample in &mut samples {
        sample["metadata"] = json!({
            "name": "a", "labels": { "a": "b" }, "annotations": { "a": "b" }, "finalizers": ["a.b/c"],
            "ownerReferences": [{ "apiVersion": "v1", "kind": "Pod", "name": "o", "uid": "u", "controller": true }],
        });
    }
    let mut definition = definition();
    definition["metadata"]["name"] = json!("things.a.b");
    definition["spec"]["group"] = json!("a.b");
    definition["spec"]["names"] = json!({ "kind": "Thing", "plural": "things" });
    samples.push(definition);
    samples
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
