//! Server-side apply and `managedFields`: who owns what after whose write.

use http::Method;
use serde_json::{Value, json};

use super::*;

const APPLY: &str = "application/apply-patch+yaml";

fn at(name: &str) -> String {
    format!("{RECORDS}/{name}")
}

async fn apply(server: &ApiServer, path: &str, who: &str, body: &Value) -> Got {
    ask(server, Method::PATCH, &format!("{path}?fieldManager={who}"), APPLY, body).await
}

fn with_ttl(ttl: u32) -> Value {
    json!({ "apiVersion": "kflare.dev/v1alpha1", "kind": "DNSRecord", "metadata": { "name": "www" },
        "spec": { "type": "A", "ttl": ttl } })
}

fn owners(got: &Got) -> Vec<String> {
    let entries = got.body["metadata"]["managedFields"].as_array().unwrap();
    entries
        .iter()
        .map(|entry| format!("{} {}", entry["operation"], entry["manager"]).replace('"', ""))
        .collect()
}

#[tokio::test(start_paused = true)]
async fn an_apply_makes_the_object_and_owns_what_it_set() {
    let server = server();
    let made = apply(&server, &at("www"), "kubectl", &with_ttl(60)).await;
    assert_eq!(made.code, 201, "{}", made.body);
    assert_eq!(
        made.body["metadata"]["managedFields"],
        json!([{ "manager": "kubectl", "operation": "Apply", "apiVersion": "kflare.dev/v1alpha1",
            "time": "2026-01-01T00:00:00Z", "fieldsType": "FieldsV1",
            "fieldsV1": { "f:spec": { "f:ttl": {}, "f:type": {} } } }])
    );
    let again = apply(&server, &at("www"), "kubectl", &with_ttl(60)).await;
    assert_eq!((again.code, &again.body), (200, &made.body), "an apply that changes nothing is no write");
}

#[tokio::test(start_paused = true)]
async fn what_is_no_longer_applied_goes_and_what_others_set_stays() {
    let server = server();
    apply(&server, &at("www"), "one", &with_ttl(60)).await;
    merge(&server, &at("www"), &json!({ "spec": { "content": "192.0.2.1" } })).await;
    let mut less = with_ttl(60);
    less["spec"].as_object_mut().unwrap().remove("ttl");
    let left = apply(&server, &at("www"), "one", &less).await;
    assert_eq!(left.body["spec"], json!({ "type": "A", "content": "192.0.2.1" }));
}

#[tokio::test(start_paused = true)]
async fn a_field_of_another_is_a_conflict_that_names_it() {
    let server = server();
    apply(&server, &at("www"), "one", &with_ttl(60)).await;
    let refused = apply(&server, &at("www"), "two", &with_ttl(90)).await;
    assert_eq!(refused.code, 409);
    assert_eq!(refused.message(), "Apply failed with 1 conflict: conflict with \"one\": .spec.ttl");
    let cause = json!([{ "reason": "FieldManagerConflict", "message": "conflict with \"one\"", "field": ".spec.ttl" }]);
    assert_eq!(refused.body["details"]["causes"], cause);
    let path = format!("{}?fieldManager=two&force=true", at("www"));
    let forced = ask(&server, Method::PATCH, &path, APPLY, &with_ttl(90)).await;
    assert_eq!((forced.code, owners(&forced)), (200, vec!["Apply one".to_owned(), "Apply two".to_owned()]));
    assert_eq!(
        forced.body["metadata"]["managedFields"][0]["fieldsV1"],
        json!({ "f:spec": { "f:type": {} } })
    );
}

#[tokio::test(start_paused = true)]
async fn an_update_takes_what_it_changes_and_is_named_by_its_client() {
    let server = server();
    apply(&server, &at("www"), "one", &with_ttl(60)).await;
    let request = Request::builder()
        .method(Method::PATCH)
        .uri(at("www"))
        .header("content-type", MERGE)
        .header("user-agent", "kubectl/v1.34 (linux)")
        .body(Full::new(Bytes::from(json!({ "spec": { "ttl": 90, "type": "A" } }).to_string())))
        .unwrap();
    let patched = send(&server, request).await;
    assert_eq!(owners(&patched), ["Apply one", "Update kubectl"]);
    assert_eq!(
        patched.body["metadata"]["managedFields"][1]["fieldsV1"],
        json!({ "f:spec": { "f:ttl": {} } })
    );
    let refused = apply(&server, &at("www"), "one", &with_ttl(60)).await;
    let text = "Apply failed with 1 conflict: conflict with \"kubectl\" using kflare.dev/v1alpha1: .spec.ttl";
    assert_eq!(refused.message(), text);
}

#[tokio::test(start_paused = true)]
async fn the_status_has_owners_of_its_own() {
    let server = server();
    apply(&server, &at("www"), "one", &with_ttl(60)).await;
    let status = json!({ "metadata": { "labels": { "a": "b" } }, "status": { "id": "x" } });
    let got = merge(&server, &format!("{}/status", at("www")), &status).await;
    let entry = &got.body["metadata"]["managedFields"][1];
    assert_eq!(
        (&entry["subresource"], &entry["fieldsV1"]),
        (&json!("status"), &json!({ "f:status": { ".": {}, "f:id": {} } }))
    );
}

#[tokio::test(start_paused = true)]
async fn owners_are_forgotten_when_a_client_says_so() {
    let server = server();
    apply(&server, &at("www"), "one", &with_ttl(60)).await;
    let reset = merge(&server, &at("www"), &json!({ "metadata": { "managedFields": [{}] } })).await;
    assert_eq!(reset.body["metadata"].get("managedFields"), None);
    let after = merge(&server, &at("www"), &json!({ "spec": { "ttl": 30 } })).await;
    assert_eq!(after.body["metadata"].get("managedFields"), None, "an update alone tracks nothing again");
    let path = format!("{}?fieldManager=two&force=true", at("www"));
    let applied = ask(&server, Method::PATCH, &path, APPLY, &with_ttl(31)).await;
    assert_eq!(owners(&applied), ["Apply two", "Update before-first-apply"]);
}

#[tokio::test(start_paused = true)]
async fn kubectl_takes_over_what_it_applied_on_the_clients_side() {
    let server = server();
    let last = json!({ "apiVersion": "kflare.dev/v1alpha1", "kind": "DNSRecord", "metadata": { "name": "www" },
        "spec": { "type": "A", "ttl": 60 } });
    let mut object = last.clone();
    object["metadata"]["annotations"] =
        json!({ "kubectl.kubernetes.io/last-applied-configuration": last.to_string() });
    post(&server, &format!("{RECORDS}?fieldManager=kubectl-client-side-apply"), &object).await;
    let refused = apply(&server, &at("www"), "other", &with_ttl(90)).await;
    assert_eq!(refused.code, 409);
    let taken = apply(&server, &at("www"), "kubectl", &with_ttl(90)).await;
    assert_eq!((taken.code, &taken.body["spec"]["ttl"]), (200, &json!(90)));
    let annotation =
        &taken.body["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"];
    assert!(annotation.as_str().unwrap().contains("\"ttl\":90"), "{annotation}");
}

#[tokio::test(start_paused = true)]
async fn lists_of_built_in_kinds_are_owned_by_item() {
    let server = server();
    let path = "/api/v1/namespaces/default/services/web";
    let port = |name: &str, port: u16| {
        json!({ "apiVersion": "v1", "kind": "Service", "metadata": { "name": "web" },
            "spec": { "ports": [{ "name": name, "port": port }] } })
    };
    apply(&server, path, "one", &port("http", 80)).await;
    let both = apply(&server, path, "two", &port("https", 443)).await;
    assert_eq!(both.body["spec"]["ports"].as_array().unwrap().len(), 2, "{}", both.body);
    let key = "k:{\"port\":443,\"protocol\":\"TCP\"}";
    assert_eq!(
        both.body["metadata"]["managedFields"][1]["fieldsV1"],
        json!({ "f:spec": { "f:ports": { key: { ".": {}, "f:name": {}, "f:port": {} } } } })
    );
}

#[tokio::test(start_paused = true)]
async fn a_created_service_is_owned_but_for_what_the_server_gave_it() {
    let server = server();
    let service = json!({ "apiVersion": "v1", "kind": "Service", "metadata": { "name": "web", "labels": { "a": "b" } },
        "spec": { "ports": [{ "port": 80 }], "selector": { "app": "web" } } });
    let path = "/api/v1/namespaces/default/services?fieldManager=kubectl-create";
    let made = post(&server, path, &service).await;
    assert_eq!(
        made.body["metadata"]["managedFields"][0]["fieldsV1"],
        json!({ "f:metadata": { "f:labels": { ".": {}, "f:a": {} } },
            "f:spec": { "f:internalTrafficPolicy": {}, "f:ports": { ".": {},
                "k:{\"port\":80,\"protocol\":\"TCP\"}": { ".": {}, "f:port": {}, "f:protocol": {}, "f:targetPort": {} } },
                "f:selector": {}, "f:sessionAffinity": {}, "f:type": {} } })
    );
}

#[tokio::test(start_paused = true)]
async fn what_does_not_fit_the_type_is_refused_in_the_servers_words() {
    let server = server();
    let record = |spec: Value| {
        json!({ "apiVersion": "kflare.dev/v1alpha1", "kind": "DNSRecord",
        "metadata": { "name": "www", "namespace": "default" }, "spec": spec })
    };
    let head = "failed to create typed patch object (default/www; kflare.dev/v1alpha1, Kind=DNSRecord): ";
    for (spec, why) in [
        (json!({ "type": "A", "tll": 1 }), ".spec.tll: field not declared in schema"),
        (json!({ "type": 1 }), ".spec.type: expected string, got &value.valueUnstructured{Value:1}"),
        (json!([]), ".spec: expected map, got &{[]}"),
    ] {
        let got = apply(&server, &at("www"), "one", &record(spec)).await;
        assert_eq!((got.code, got.message()), (500, format!("{head}{why}").as_str()));
    }
    let nobody = ask(&server, Method::PATCH, &at("www"), APPLY, &with_ttl(1)).await;
    let text =
        "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for apply patch";
    assert_eq!((nobody.code, nobody.message()), (422, text));
    let forced = ask(&server, Method::PATCH, &format!("{}?force=true", at("www")), MERGE, &json!({})).await;
    assert!(forced.message().ends_with("force: Forbidden: may not be specified for non-apply patch"));
    for (body, why) in [
        (json!({ "apiVersion": "v1", "kind": "Secret" }), "invalid object type: /v1, Kind=Secret"),
        (json!([]), "error decoding patch: "),
    ] {
        let got = apply(&server, &at("www"), "one", &body).await;
        assert!(got.code == 400 && got.message().starts_with(why), "{}", got.body);
    }
}

#[tokio::test(start_paused = true)]
async fn more_than_ten_updaters_become_one_for_the_oldest() {
    let server = server();
    post(&server, RECORDS, &record("www")).await;
    for number in 0..15 {
        let label = json!({ "metadata": { "labels": { format!("l{number}"): "x" } } });
        merge(&server, &format!("{}?fieldManager=m{number:02}", at("www")), &label).await;
    }
    let got = get(&server, &at("www")).await;
    let owners = owners(&got);
    assert_eq!(owners.len(), 10);
    assert!(owners.contains(&"Update ancient-changes".to_owned()), "{owners:?}");
    let labels = got.body["metadata"]["managedFields"].to_string();
    assert!((0..15).all(|number| labels.contains(&format!("f:l{number}"))), "{labels}");
}
