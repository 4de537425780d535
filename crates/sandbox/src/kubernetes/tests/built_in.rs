//! What the built-in kinds refuse, in the words that users know.

use super::*;

/// Applies an object and returns the complaint.
fn refused(server: &ApiServer, object: Value) -> String {
    server.apply(object).unwrap_err().to_string()
}

fn ingress(path: Value) -> Value {
    json!({ "apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": { "name": "web" }, "spec": {
        "rules": [{ "host": "a.example.com", "http": { "paths": [path] } }],
    }})
}

fn backend() -> Value {
    json!({ "service": { "name": "web", "port": { "number": 80 } } })
}

#[tokio::test(start_paused = true)]
async fn an_ingress_needs_path_types_absolute_paths_and_backends() {
    let server = server();
    let head = "Ingress.networking.k8s.io \"web\" is invalid: spec.rules[0].http.paths[0]";
    for (path, complaint) in [
        (
            json!({ "path": "/", "backend": backend() }),
            ".pathType: Required value: pathType must be specified",
        ),
        (
            json!({ "path": "x", "pathType": "Prefix", "backend": backend() }),
            ".path: Invalid value: \"x\": must be an absolute path",
        ),
        (
            json!({ "path": "/a//b", "pathType": "Exact", "backend": backend() }),
            ".path: Invalid value: \"/a//b\": must not contain '//'",
        ),
        (
            json!({ "path": "/", "pathType": "Prefix", "backend": {} }),
            ".backend: Invalid value: \"\": resource or service backend is required",
        ),
        (
            json!({ "path": "/", "pathType": "Prefix", "backend": { "service": { "name": "web" } } }),
            ".backend: Required value: port name or number is required",
        ),
    ] {
        assert_eq!(refused(&server, ingress(path)), format!("{head}{complaint}"));
    }
    server.apply(ingress(json!({ "path": "/", "pathType": "Prefix", "backend": backend() }))).unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_wildcard_host_has_its_star_in_front() {
    let server = server();
    let mut object = ingress(json!({ "path": "/", "pathType": "Prefix", "backend": backend() }));
    for (host, fits) in
        [("*.example.com", true), ("a.*.example.com", false), ("*", false), ("1.2.3.4", false)]
    {
        object["spec"]["rules"][0]["host"] = json!(host);
        assert_eq!(server.apply(object.clone()).is_ok(), fits, "{host}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_service_gets_an_address_that_stays() {
    let server = server();
    let service = json!({ "apiVersion": "v1", "kind": "Service", "metadata": { "name": "web" }, "spec": { "ports": [{ "port": 80 }] } });
    let created = server.apply(service.clone()).unwrap();
    assert_eq!(created["spec"]["ports"][0], json!({ "port": 80, "targetPort": 80, "protocol": "TCP" }));
    let address = created["spec"]["clusterIP"].as_str().unwrap();
    assert!(address.starts_with("10.96."), "{address}");
    assert_eq!(server.apply(service).unwrap()["spec"]["clusterIP"], address);
    let patch = json!({ "spec": { "clusterIP": "10.96.9.9" } });
    let error = server.patch("svc", None, "web", patch).unwrap_err().to_string();
    assert!(
        error.ends_with("spec.clusterIPs[0]: Invalid value: [\"10.96.9.9\"]: may not change once set"),
        "{error}"
    );
    let bare = json!({ "apiVersion": "v1", "kind": "Service", "metadata": { "name": "bare" }, "spec": {} });
    assert_eq!(refused(&server, bare), "Service \"bare\" is invalid: spec.ports: Required value");
}

#[tokio::test(start_paused = true)]
async fn a_deployment_selects_its_own_template_forever() {
    let server = server();
    let deployment = |selector: &str, label: &str| {
        json!({ "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "web" }, "spec": {
            "selector": { "matchLabels": { "app": selector } },
            "template": { "metadata": { "labels": { "app": label } }, "spec": { "containers": [{ "name": "web", "image": "web:1" }] } },
        }})
    };
    assert_eq!(
        refused(&server, deployment("a", "b")),
        "Deployment.apps \"web\" is invalid: spec.template.metadata.labels: Invalid value: {\"app\":\"b\"}: `selector` does not match template `labels`"
    );
    let created = server.apply(deployment("a", "a")).unwrap();
    assert_eq!(created["spec"]["replicas"], 1);
    assert_eq!(created["spec"]["template"]["spec"]["containers"][0]["imagePullPolicy"], "IfNotPresent");
    assert!(refused(&server, deployment("b", "b")).ends_with("field is immutable"));
    let scaled = server.patch("deploy", None, "web", json!({ "spec": { "replicas": 3 } })).unwrap();
    assert_eq!(scaled["metadata"]["generation"], 2);
}

#[tokio::test(start_paused = true)]
async fn a_binding_keeps_its_role() {
    let server = server();
    let binding = |role: &str| {
        json!({ "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": { "name": "system:x" },
            "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role } })
    };
    server.apply(binding("a")).unwrap();
    assert!(refused(&server, binding("b")).ends_with("field is immutable"));
}

#[tokio::test(start_paused = true)]
async fn the_type_of_a_secret_and_its_keys_are_checked() {
    let server = server();
    let secret = |kind: &str, data: Value| json!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "s" }, "type": kind, "data": data });
    assert_eq!(
        refused(&server, secret("kubernetes.io/tls", json!({ "tls.crt": "" }))),
        "Secret \"s\" is invalid: data[tls.key]: Required value"
    );
    assert!(
        refused(&server, secret("Opaque", json!({ "a/b": "" })))
            .contains("a valid config key must consist of")
    );
    server.apply(secret("Opaque", json!({}))).unwrap();
    assert_eq!(
        refused(&server, secret("other", json!({}))),
        "Secret \"s\" is invalid: type: Invalid value: \"other\": field is immutable"
    );
}

#[tokio::test(start_paused = true)]
async fn fields_of_the_wrong_shape_are_a_bad_request_and_never_a_panic() {
    let server = server();
    for object in [
        json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "a", "labels": [] } }),
        json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "a" }, "status": "x" }),
        json!({ "apiVersion": "v1", "kind": "Service", "metadata": { "name": "a" }, "spec": [] }),
        json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": "a" }),
        json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": 1 } }),
        json!({ "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": { "name": "a" }, "spec": 1 }),
    ] {
        assert_eq!(server.apply(object.clone()).unwrap_err().code(), 400, "{object}");
    }
    for body in ["[]", "1", "\"x\"", "{", "{\"kind\":\"Secret\"}"] {
        let request = Request::builder().method(Method::POST).uri("/api/v1/namespaces/default/configmaps");
        let got = send(&server, request.body(Full::new(Bytes::from(body))).unwrap()).await;
        assert_eq!(got.code, 400, "{body}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_definition_with_a_broken_schema_is_refused_and_the_old_one_stays() {
    let server = server();
    let mut broken = definition();
    broken["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["x"] =
        json!({});
    let complaint = refused(&server, broken);
    let field = "spec.versions[0].schema.openAPIV3Schema.properties[spec].properties[x].type: Required value";
    assert!(complaint.contains(field), "{complaint}");
    server.apply(record("web")).unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_definition_keeps_its_scope_and_its_names_and_the_server_owns_its_status() {
    let server = server();
    for (spec, field) in [
        (json!({ "scope": "Cluster" }), "spec.scope: Invalid value: \"Cluster\""),
        (
            json!({ "names": { "kind": "Other", "listKind": "OtherList" } }),
            "spec.names.kind: Invalid value: \"Other\"",
        ),
    ] {
        let error = server.patch("crd", None, "dnsrecords.kflare.dev", json!({ "spec": spec })).unwrap_err();
        assert!(error.message.ends_with(&format!("{field}: field is immutable")), "{error}");
    }
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/dnsrecords.kflare.dev";
    let got = get(&server, path).await.body;
    let owners = got["metadata"]["managedFields"].as_array().unwrap();
    let of_status = owners.iter().find(|owner| owner["subresource"] == "status").unwrap();
    assert_eq!(of_status["manager"], "kube-apiserver");
    assert!(of_status["fieldsV1"]["f:status"]["f:conditions"].get("k:{\"type\":\"Established\"}").is_some());
}
