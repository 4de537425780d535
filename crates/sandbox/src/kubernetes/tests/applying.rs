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

/// A definition with what `DNSRecord` has not: lists that are maps, and values of any shape.
fn things() -> Value {
    let properties = json!({
        "any": { "x-kubernetes-preserve-unknown-fields": true },
        "sub": { "type": "object", "properties": { "a": { "type": "integer" } } },
        "items": { "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k", "p"],
            "items": { "type": "object", "required": ["k"], "properties": {
                "k": { "type": "string" }, "p": { "type": "integer", "default": 1 }, "v": { "type": "string" },
            }}},
        "atom": { "type": "object", "x-kubernetes-map-type": "atomic", "properties": {
            "a": { "type": "integer" }, "b": { "type": "integer" } } },
    });
    json!({ "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    "metadata": { "name": "things.test.dev" },
    "spec": { "group": "test.dev", "scope": "Cluster", "names": { "kind": "Thing", "plural": "things" },
        "versions": [{ "name": "v1", "served": true, "storage": true, "subresources": { "status": {} },
            "schema": { "openAPIV3Schema": { "type": "object", "properties": {
                "spec": { "type": "object", "properties": properties },
                "status": { "type": "object", "properties": { "o": { "type": "integer" } } },
            }}}}]}})
}

fn thing(spec: Value) -> Value {
    json!({ "apiVersion": "test.dev/v1", "kind": "Thing", "metadata": { "name": "a" }, "spec": spec })
}

const THING: &str = "/apis/test.dev/v1/things/a";

#[tokio::test(start_paused = true)]
async fn items_are_known_by_keys_that_have_defaults_and_keep_the_order_of_both() {
    let server = server();
    server.install_crds(&[things()]).unwrap();
    apply(&server, THING, "one", &thing(json!({ "items": [{ "k": "a" }, { "k": "b" }] }))).await;
    let both =
        apply(&server, THING, "two", &thing(json!({ "items": [{ "k": "c" }, { "k": "a", "v": "x" }] })))
            .await;
    let keys: Vec<&Value> =
        both.body["spec"]["items"].as_array().unwrap().iter().map(|item| &item["k"]).collect();
    assert_eq!(keys, ["c", "a", "b"]);
    let owned = &both.body["metadata"]["managedFields"][1]["fieldsV1"]["f:spec"]["f:items"];
    assert_eq!(owned["k:{\"k\":\"a\",\"p\":1}"], json!({ ".": {}, "f:k": {}, "f:v": {} }));
    let twice =
        apply(&server, THING, "one", &thing(json!({ "items": [{ "k": "a" }, { "k": "a", "p": 1 }] }))).await;
    assert!(
        twice.message().ends_with(".spec.items: duplicate entries for key [k=\"a\",p=1]"),
        "{}",
        twice.body
    );
    let atom = json!({ "atom": { "a": 1, "b": 1 } });
    let owner = apply(&server, THING, "three", &thing(atom)).await;
    let owned = &owner.body["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"];
    assert!(
        owner.code == 200 && owner.body["metadata"]["managedFields"].to_string().contains("\"f:atom\":{}"),
        "{owned}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_value_that_turns_into_another_shape_takes_what_was_in_it_from_its_owners() {
    let server = server();
    server.install_crds(&[things()]).unwrap();
    apply(&server, THING, "one", &thing(json!({ "any": { "a": { "b": 1 } } }))).await;
    let turned = merge(&server, &format!("{THING}?fieldManager=two"), &json!({ "spec": { "any": 1 } })).await;
    assert_eq!(owners(&turned), ["Update two"], "{}", turned.body);
    let refused = apply(&server, THING, "one", &thing(json!({ "any": "x" }))).await;
    assert!(
        refused.message().ends_with("conflict with \"two\" using test.dev/v1: .spec.any"),
        "{}",
        refused.body
    );
}

#[tokio::test(start_paused = true)]
async fn an_object_that_loses_its_last_field_to_an_apply_is_null_and_refused() {
    let server = server();
    server.install_crds(&[things()]).unwrap();
    apply(&server, THING, "one", &thing(json!({ "any": 1, "sub": { "a": 1 } }))).await;
    let emptied = apply(&server, THING, "one", &thing(json!({ "any": 1, "sub": {} }))).await;
    assert_eq!(emptied.code, 422);
    assert!(
        emptied.message().contains("spec.sub in body must be of type object: \"null\""),
        "{}",
        emptied.body
    );
    let gone = apply(&server, THING, "one", &thing(json!({ "any": 1 }))).await;
    assert_eq!((gone.code, gone.body["spec"].get("sub")), (200, None));
}

#[tokio::test(start_paused = true)]
async fn a_status_is_applied_where_there_is_an_object() {
    let server = server();
    server.install_crds(&[things()]).unwrap();
    let status = json!({ "apiVersion": "test.dev/v1", "kind": "Thing", "metadata": { "name": "a" }, "status": { "o": 1 } });
    let path = format!("{THING}/status");
    assert_eq!(
        apply(&server, &path, "one", &json!({ "apiVersion": "test.dev/v1", "kind": "Thing", "x": 1 }))
            .await
            .code,
        404
    );
    apply(&server, THING, "one", &thing(json!({}))).await;
    merge(&server, &format!("{path}?fieldManager=first"), &status).await;
    merge(&server, THING, &json!({ "metadata": { "managedFields": [] } })).await;
    let mut other = status.clone();
    other["status"]["o"] = json!(2);
    let refused = apply(&server, &path, "one", &other).await;
    let who = "conflict with \"before-first-apply\" with subresource \"status\" using test.dev/v1: .status.o";
    assert!(refused.message().ends_with(who), "{}", refused.body);
}

#[tokio::test(start_paused = true)]
async fn managers_and_sets_of_every_shape_are_survived() {
    let server = server();
    post(&server, RECORDS, &record("www")).await;
    let entry = |change: Value| {
        let mut entry = json!({ "manager": "m", "operation": "Update", "apiVersion": "kflare.dev/v1alpha1",
            "fieldsType": "FieldsV1", "fieldsV1": { "f:spec": { "f:ttl": {} } } });
        json_patch::merge(&mut entry, &change);
        json!({ "metadata": { "managedFields": [entry] } })
    };
    for change in [
        json!({}),
        json!({ "operation": "Shuffle" }),
        json!({ "apiVersion": "" }),
        json!({ "fieldsType": "V2" }),
        json!({ "fieldsV1": { "k:{\"a\":{}}": {}, "v:[1]": {}, "i:x": {}, "f": {}, ".": 1 } }),
        json!({ "fieldsV1": 1 }),
        json!({ "time": 1 }),
        json!({ "manager": null }),
    ] {
        let got = merge(&server, &at("www"), &entry(change.clone())).await;
        assert!(got.code < 500, "{change}: {}", got.body);
        let applied = apply(&server, &at("www"), "one", &with_ttl(60)).await;
        assert!(matches!(applied.code, 200 | 409), "{change}: {}", applied.body);
    }
    for managers in [json!(1), json!({}), json!([1])] {
        let body = json!({ "metadata": { "managedFields": managers } });
        assert!(merge(&server, &at("www"), &body).await.code < 500);
    }
    let deep = (0..200).fold(json!({}), |below, _| json!({ "f:a": below }));
    let got = merge(&server, &at("www"), &entry(json!({ "fieldsV1": deep }))).await;
    assert_eq!(got.code, 400, "deeper than a body may be");
    for body in ["", "[", "a: [", "- x", "a: &a [*a]", "\u{0}"] {
        let request = Request::builder()
            .method(Method::PATCH)
            .uri(format!("{}?fieldManager=one", at("www")))
            .header("content-type", APPLY);
        let got = send(&server, request.body(Full::new(Bytes::from(body))).unwrap()).await;
        assert_eq!(got.code, 400, "{body:?}: {}", got.body);
    }
}
