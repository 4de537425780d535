//! Create, replace, patch, status.

use super::*;

#[tokio::test(start_paused = true)]
async fn a_created_object_has_what_the_server_gives_and_no_status() {
    let server = server();
    let mut body = record("web");
    body["status"] = json!({ "ready": true });
    let got = post(&server, RECORDS, &body).await;
    assert_eq!(got.code, 201, "{got:?}");
    assert_eq!(got.body["metadata"]["generation"], 1);
    assert_eq!(got.body["metadata"]["creationTimestamp"], "2026-01-01T00:00:00Z");
    assert_eq!(got.body["metadata"]["uid"].as_str().unwrap().len(), 36);
    assert_eq!(got.body["metadata"]["resourceVersion"], server.resource_version().to_string());
    assert!(got.body.get("status").is_none());
    let again = post(&server, RECORDS, &record("web")).await;
    assert_eq!(again.body["reason"], "AlreadyExists");
    assert_eq!(again.message(), "dnsrecords.kflare.dev \"web\" already exists");
}

#[tokio::test(start_paused = true)]
async fn b170_a_status_has_its_default_from_the_beginning() {
    let server = server();
    let mut definition = definition();
    definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["status"]["default"] =
        json!({ "observedGeneration": -1 });
    server.install_crds(&[definition]).unwrap();
    let mut body = record("web");
    body["status"] = json!({ "observedGeneration": 7 });
    let never_looked_at = json!({ "observedGeneration": -1 });
    assert_eq!(post(&server, RECORDS, &body).await.body["status"], never_looked_at);
    assert_eq!(get(&server, &format!("{RECORDS}/web")).await.body["status"], never_looked_at);
}

#[tokio::test(start_paused = true)]
async fn two_servers_with_one_seed_give_the_same_uids() {
    let (one, two) = (server(), server());
    let uid = |server: &ApiServer| server.apply(record("web")).unwrap()["metadata"]["uid"].clone();
    assert_eq!(uid(&one), uid(&two));
}

#[tokio::test(start_paused = true)]
async fn a_write_that_changes_nothing_keeps_the_version() {
    let server = server();
    server.apply(record("web")).unwrap();
    let before = server.resource_version();
    let path = format!("{RECORDS}/web");
    let got = merge(&server, &path, &json!({ "spec": { "type": "A" } })).await;
    assert_eq!(got.code, 200);
    let same = get(&server, &path).await.body;
    assert_eq!(put(&server, &path, &same).await.code, 200);
    server.apply(record("web")).unwrap();
    assert_eq!(server.resource_version(), before);
}

#[tokio::test(start_paused = true)]
async fn generation_counts_changes_of_the_spec_alone() {
    let server = server();
    server.apply(record("web")).unwrap();
    let path = format!("{RECORDS}/web");
    let generation = |got: &Got| got.body["metadata"]["generation"].clone();
    let labelled = merge(&server, &path, &json!({ "metadata": { "labels": { "a": "b" } } })).await;
    assert_eq!(generation(&labelled), 1);
    let status = merge(&server, &format!("{path}/status"), &json!({ "status": { "x": 1 } })).await;
    assert_eq!(generation(&status), 1);
    assert_eq!(status.body["status"]["x"], 1);
    let changed = merge(&server, &path, &json!({ "spec": { "ttl": 60 } })).await;
    assert_eq!(generation(&changed), 2);
}

#[tokio::test(start_paused = true)]
async fn status_and_the_rest_do_not_touch_each_other() {
    let server = server();
    server.apply(record("web")).unwrap();
    let path = format!("{RECORDS}/web");
    let patch =
        json!({ "status": { "x": 1 }, "spec": { "ttl": 60 }, "metadata": { "labels": { "a": "b" } } });
    let got = merge(&server, &format!("{path}/status"), &patch).await;
    assert_eq!(got.body["status"], json!({ "x": 1 }));
    assert!(got.body["spec"].get("ttl").is_none());
    assert!(got.body["metadata"].get("labels").is_none());
    let got = merge(&server, &path, &json!({ "status": { "x": 2 }, "spec": { "ttl": 60 } })).await;
    assert_eq!(got.body["status"], json!({ "x": 1 }));
    assert_eq!(got.body["spec"]["ttl"], 60);
}

#[tokio::test(start_paused = true)]
async fn an_old_version_is_a_conflict_in_put_and_in_merge_patch() {
    let server = server();
    let old = server.apply(record("web")).unwrap();
    let path = format!("{RECORDS}/web");
    merge(&server, &path, &json!({ "spec": { "ttl": 60 } })).await;
    let text = "Operation cannot be fulfilled on dnsrecords.kflare.dev \"web\": the object has been modified; please apply your changes to the latest version and try again";
    let got = put(&server, &path, &old).await;
    assert_eq!((got.code, got.message()), (409, text));
    let version = &old["metadata"]["resourceVersion"];
    let got =
        merge(&server, &path, &json!({ "metadata": { "resourceVersion": version, "labels": { "a": "b" } } }))
            .await;
    assert_eq!((got.code, got.message()), (409, text));
}

#[tokio::test(start_paused = true)]
async fn another_uid_is_a_conflict_in_put_invalid_in_a_patch_and_nothing_to_the_status() {
    let server = server();
    let mut old = server.apply(record("web")).unwrap();
    let path = format!("{RECORDS}/web");
    let got = merge(&server, &path, &json!({ "metadata": { "uid": "1" } })).await;
    let text =
        "DNSRecord.kflare.dev \"web\" is invalid: metadata.uid: Invalid value: \"1\": field is immutable";
    assert_eq!((got.code, got.message()), (422, text));
    let of_status = json!({ "metadata": { "uid": "1" }, "status": { "ready": true } });
    let got = merge(&server, &format!("{path}/status"), &of_status).await;
    assert_eq!((got.code, &got.body["metadata"]["uid"]), (200, &old["metadata"]["uid"]));
    let uid = old["metadata"]["uid"].as_str().unwrap().to_owned();
    old["metadata"]["uid"] = json!("1");
    let got = put(&server, &path, &old).await;
    let text = format!(
        "Operation cannot be fulfilled on dnsrecords.kflare.dev \"web\": StorageError: invalid object, Code: 4, Key: \
         /registry/kflare.dev/dnsrecords/default/web, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID \
         in precondition: 1, UID in object meta: {uid}"
    );
    assert_eq!((got.code, got.message()), (409, text.as_str()));
}

#[tokio::test(start_paused = true)]
async fn a_put_of_a_custom_resource_needs_a_version() {
    let server = server();
    server.apply(record("web")).unwrap();
    let got = put(&server, &format!("{RECORDS}/web"), &record("web")).await;
    assert_eq!(got.code, 422);
    assert_eq!(
        got.message(),
        "dnsrecords.kflare.dev \"web\" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update"
    );
}

#[tokio::test(start_paused = true)]
async fn a_failed_test_of_a_json_patch_changes_nothing() {
    let server = server();
    server.apply(record("web")).unwrap();
    let path = format!("{RECORDS}/web");
    let patch = json!([{ "op": "test", "path": "/spec/type", "value": "B" }, { "op": "remove", "path": "/spec/content" }]);
    let got = ask(&server, Method::PATCH, &path, "application/json-patch+json", &patch).await;
    assert_eq!((got.code, &got.body["reason"]), (422, &json!("Invalid")));
    assert_eq!(get(&server, &path).await.body["spec"]["content"], "192.0.2.1");
    let patch = json!([{ "op": "test", "path": "/spec/type", "value": "A" }, { "op": "remove", "path": "/spec/content" }]);
    let got = ask(&server, Method::PATCH, &path, "application/json-patch+json", &patch).await;
    assert_eq!(got.code, 200);
    assert!(got.body["spec"].get("content").is_none());
}

#[tokio::test(start_paused = true)]
async fn patches_that_the_server_does_not_know_are_415() {
    let server = server();
    server.apply(record("web")).unwrap();
    let path = format!("{RECORDS}/web");
    for media_type in ["application/strategic-merge-patch+json", "text/plain"] {
        let got = ask(&server, Method::PATCH, &path, media_type, &json!({})).await;
        assert_eq!(got.code, 415, "{media_type}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_generated_name_gets_five_characters() {
    let server = server();
    let mut body = record("");
    body["metadata"] = json!({ "generateName": "web-" });
    let got = post(&server, RECORDS, &body).await;
    let name = got.body["metadata"]["name"].as_str().unwrap();
    assert!(name.starts_with("web-") && name.len() == 9, "{name}");
}

#[tokio::test(start_paused = true)]
async fn a_dry_run_answers_and_stores_nothing() {
    let server = server();
    let got = post(&server, &format!("{RECORDS}?dryRun=All"), &record("web")).await;
    assert_eq!(got.code, 201);
    assert!(server.get("dnsrecord", None, "web").is_none());
}

#[tokio::test(start_paused = true)]
async fn a_namespace_that_is_missing_or_going_takes_nothing_new() {
    let server = server();
    let path = RECORDS.replace("default", "gone");
    let mut body = record("web");
    body["metadata"]["namespace"] = json!("gone");
    let got = post(&server, &path, &body).await;
    assert_eq!((got.code, got.message()), (404, "namespaces \"gone\" not found"));
    server.apply(json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "gone", "finalizers": ["a.b/c"] } })).unwrap();
    server.delete("ns", None, "gone").unwrap();
    let got = post(&server, &path, &body).await;
    assert_eq!(got.code, 403);
    assert_eq!(got.body["details"]["causes"][0]["reason"], "NamespaceTerminating");
}

#[tokio::test(start_paused = true)]
async fn names_are_refused_in_the_servers_words() {
    let server = server();
    let got = post(&server, RECORDS, &record("Web")).await;
    assert_eq!(got.code, 422);
    assert_eq!(got.body["details"]["causes"][0]["field"], "metadata.name");
    assert!(got.message().contains("a lowercase RFC 1123 subdomain must consist of"), "{}", got.message());
}

#[tokio::test(start_paused = true)]
async fn string_data_folds_into_data_and_an_immutable_secret_stays() {
    let server = server();
    let path = "/api/v1/namespaces/default/secrets";
    let secret = json!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "token" },
        "stringData": { "token": "abc" }, "immutable": true });
    let got = post(&server, path, &secret).await;
    assert_eq!(got.body["data"], json!({ "token": "YWJj" }));
    assert_eq!(got.body["type"], "Opaque");
    let got = merge(&server, &format!("{path}/token"), &json!({ "stringData": { "token": "x" } })).await;
    assert_eq!(
        got.message(),
        "Secret \"token\" is invalid: data: Forbidden: field is immutable when `immutable` is set"
    );
    let mut bad = secret.clone();
    bad["data"] = json!({ "x": "***" });
    let got = post(&server, path, &bad).await;
    assert_eq!(got.code, 400);
    assert!(got.message().contains("illegal base64 data at input byte 0"), "{}", got.message());
}

#[tokio::test(start_paused = true)]
async fn duplicate_fields_warn_by_default_and_fail_when_strict() {
    let server = server();
    let body = r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"a":"1","a":"2"}}"#;
    let path = "/api/v1/namespaces/default/configmaps";
    let request = |query: &str| {
        let builder = Request::builder().method(Method::POST).uri(format!("{path}{query}"));
        builder.header("content-type", "application/json").body(Full::new(Bytes::from(body))).unwrap()
    };
    let strict = send(&server, request("?fieldValidation=Strict")).await;
    assert_eq!(strict.code, 400);
    assert!(
        strict.message().ends_with("strict decoding error: duplicate field \"data.a\""),
        "{}",
        strict.message()
    );
    let warned = send(&server, request("")).await;
    assert_eq!(warned.code, 201);
    assert_eq!(warned.headers["warning"], "299 - \"duplicate field \\\"data.a\\\"\"");
}

#[tokio::test(start_paused = true)]
async fn too_large_bodies_and_objects_are_413() {
    let server = server();
    let path = "/api/v1/namespaces/default/configmaps";
    let big = |bytes: usize| {
        json!({ "apiVersion": "kflare.dev/v1alpha1", "kind": "DNSRecord",
        "metadata": { "name": "big" }, "spec": { "type": "A", "content": "x".repeat(bytes) } })
    };
    assert_eq!(post(&server, RECORDS, &big(1_600_000)).await.code, 413);
    assert_eq!(post(&server, path, &big(4_000_000)).await.code, 413);
}
