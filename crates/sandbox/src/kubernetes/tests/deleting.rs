//! Finalizers, dependents, namespaces, definitions.

use super::*;

fn held(name: &str) -> Value {
    let mut body = record(name);
    body["metadata"]["finalizers"] = json!(["kflare.dev/cleanup"]);
    body
}

fn config_map(name: &str, owner: &Value, block: bool) -> Value {
    json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": name, "namespace": "default", "ownerReferences": [{
        "apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"], "blockOwnerDeletion": block,
    }]}})
}

#[tokio::test(start_paused = true)]
async fn an_object_without_finalizers_goes_at_once() {
    let server = server();
    let uid = server.apply(record("web")).unwrap()["metadata"]["uid"].clone();
    let got = delete(&server, &format!("{RECORDS}/web"), &Value::Null).await;
    assert_eq!(got.body["status"], "Success");
    assert_eq!(
        got.body["details"],
        json!({ "name": "web", "group": "kflare.dev", "kind": "dnsrecords", "uid": uid })
    );
    let got = get(&server, &format!("{RECORDS}/web")).await;
    assert_eq!((got.code, got.message()), (404, "dnsrecords.kflare.dev \"web\" not found"));
}

#[tokio::test(start_paused = true)]
async fn a_held_object_waits_and_goes_with_its_last_finalizer() {
    let server = server();
    server.apply(held("web")).unwrap();
    let path = format!("{RECORDS}/web");
    let got = delete(&server, &path, &Value::Null).await;
    assert_eq!(got.body["metadata"]["deletionTimestamp"], "2026-01-01T00:00:00Z");
    assert_eq!(got.body["metadata"]["generation"], 2);
    let version = server.resource_version();
    delete(&server, &path, &Value::Null).await;
    assert_eq!(server.resource_version(), version, "a second delete changes nothing");
    let added = json!({ "metadata": { "finalizers": ["kflare.dev/cleanup", "a.b/c"] } });
    let got = merge(&server, &path, &added).await;
    assert_eq!(got.code, 422);
    assert!(got.message().contains("no new finalizers can be added if the object is being deleted, found new finalizers []string{\"a.b/c\"}"));
    let got = merge(&server, &path, &json!({ "metadata": { "finalizers": null } })).await;
    assert_eq!(got.code, 200);
    assert_eq!(get(&server, &path).await.code, 404);
}

#[tokio::test(start_paused = true)]
async fn preconditions_guard_a_delete() {
    let server = server();
    server.apply(record("web")).unwrap();
    let path = format!("{RECORDS}/web");
    let got = delete(&server, &path, &json!({ "preconditions": { "uid": "other" } })).await;
    assert_eq!(got.code, 409);
    let got = delete(&server, &path, &json!({ "preconditions": { "resourceVersion": "1" } })).await;
    assert_eq!(got.code, 409);
    assert_eq!(delete(&server, &path, &json!({})).await.code, 200);
}

#[tokio::test(start_paused = true)]
async fn dependents_go_with_their_owner() {
    let server = server();
    let owner = server.apply(record("web")).unwrap();
    server.apply(config_map("child", &owner, false)).unwrap();
    server.delete("dnsrecord", None, "web").unwrap();
    assert!(server.get("cm", None, "child").is_none());
}

#[tokio::test(start_paused = true)]
async fn a_dependent_of_an_owner_that_never_was_goes_too() {
    let server = server();
    let mut owner = record("ghost");
    owner["metadata"]["uid"] = json!("no-such-uid");
    server.apply(config_map("child", &owner, false)).unwrap();
    assert!(server.get("cm", None, "child").is_none());
}

#[tokio::test(start_paused = true)]
async fn orphans_stay_and_forget_their_owner() {
    let server = server();
    let owner = server.apply(record("web")).unwrap();
    server.apply(config_map("child", &owner, false)).unwrap();
    delete(&server, &format!("{RECORDS}/web"), &json!({ "propagationPolicy": "Orphan" })).await;
    assert!(server.get("dnsrecord", None, "web").is_none());
    let child = server.get("cm", None, "child").unwrap();
    assert!(child["metadata"].get("ownerReferences").is_none());
}

#[tokio::test(start_paused = true)]
async fn a_foreground_delete_waits_for_the_dependents_that_block() {
    let server = server();
    let owner = server.apply(record("web")).unwrap();
    let mut child = config_map("child", &owner, true);
    child["metadata"]["finalizers"] = json!(["a.b/c"]);
    server.apply(child).unwrap();
    delete(&server, &format!("{RECORDS}/web"), &json!({ "propagationPolicy": "Foreground" })).await;
    let owner = server.get("dnsrecord", None, "web").unwrap();
    assert_eq!(owner["metadata"]["finalizers"], json!(["foregroundDeletion"]));
    server.patch("cm", None, "child", json!({ "metadata": { "finalizers": null } })).unwrap();
    assert!(server.get("cm", None, "child").is_none());
    assert!(server.get("dnsrecord", None, "web").is_none());
}

#[tokio::test(start_paused = true)]
async fn a_namespace_goes_after_its_content() {
    let server = server();
    server.apply(json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "team" } })).unwrap();
    let mut body = held("web");
    body["metadata"]["namespace"] = json!("team");
    server.apply(body).unwrap();
    let got = delete(&server, "/api/v1/namespaces/team", &Value::Null).await;
    assert_eq!(got.body["status"]["phase"], "Terminating");
    let namespace = server.get("ns", None, "team").unwrap();
    assert_eq!(
        namespace["status"]["conditions"][4]["message"],
        "Some content in the namespace has finalizers remaining: kflare.dev/cleanup in 1 resource instances"
    );
    assert!(server.get("sa", Some("team"), "default").is_none());
    server.patch("dnsrecord", Some("team"), "web", json!({ "metadata": { "finalizers": null } })).unwrap();
    assert!(server.get("ns", None, "team").is_none());
    assert_eq!(delete(&server, "/api/v1/namespaces/default", &Value::Null).await.code, 403);
}

#[tokio::test(start_paused = true)]
async fn a_definition_goes_after_its_objects_and_then_serves_nothing() {
    let server = server();
    server.apply(held("web")).unwrap();
    server.delete("crd", None, "dnsrecords.kflare.dev").unwrap();
    assert_eq!(post(&server, RECORDS, &record("late")).await.code, 405);
    server.patch("dnsrecord", None, "web", json!({ "metadata": { "finalizers": null } })).unwrap();
    assert!(server.get("crd", None, "dnsrecords.kflare.dev").is_none());
    assert_eq!(get(&server, RECORDS).await.code, 404);
}

#[tokio::test(start_paused = true)]
async fn a_collection_is_deleted_by_selector() {
    let server = server();
    for (name, kind) in [("a", "A"), ("b", "TXT")] {
        let mut body = record(name);
        body["spec"]["type"] = json!(kind);
        server.apply(body).unwrap();
    }
    let got = delete(&server, &format!("{RECORDS}?fieldSelector=spec.type%3DTXT"), &Value::Null).await;
    assert_eq!(got.body["items"].as_array().unwrap().len(), 1);
    assert_eq!(server.list("dnsrecords").len(), 1);
}
