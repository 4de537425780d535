//! Lists in their shapes, discovery, schemas.

use super::*;

const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

async fn table(server: &ApiServer, path: &str) -> (Vec<String>, Vec<Value>) {
    let got = get_as(server, path, TABLE).await;
    assert_eq!(got.body["kind"], "Table", "{got:?}");
    let names = got.body["columnDefinitions"].as_array().unwrap().iter();
    let names = names.map(|column| column["name"].as_str().unwrap().to_owned()).collect();
    (names, got.body["rows"].as_array().unwrap().iter().map(|row| row["cells"].clone()).collect())
}

#[tokio::test(start_paused = true)]
async fn a_table_has_the_columns_of_the_definition() {
    let server = server();
    server.apply(record("web")).unwrap();
    tokio::time::advance(std::time::Duration::from_secs(300)).await;
    let (columns, rows) = table(&server, RECORDS).await;
    assert_eq!(columns, ["Name", "Type", "TTL", "Age"]);
    assert_eq!(rows, [json!(["web", "A", null, "5m"])]);
}

#[tokio::test(start_paused = true)]
async fn a_table_of_a_built_in_kind_has_the_columns_kubectl_users_know() {
    let server = server();
    let (columns, rows) = table(&server, "/api/v1/namespaces").await;
    assert_eq!(columns, ["Name", "Status", "Age"]);
    assert_eq!(rows[0], json!(["default", "Active", "0s"]));
    let rules = ["a", "b", "c", "d"].map(|host| json!({ "host": format!("{host}.example.com") }));
    server
        .apply(json!({ "apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": { "name": "web" }, "spec": {
            "ingressClassName": "kflare", "tls": [{ "hosts": ["a.example.com"] }],
            "rules": rules,
        }}))
        .unwrap();
    let (_, rows) = table(&server, "/apis/networking.k8s.io/v1/ingresses").await;
    let hosts = "a.example.com,b.example.com,c.example.com + 1 more...";
    assert_eq!(rows, [json!(["web", "kflare", hosts, "", "80, 443", "0s"])]);
}

#[tokio::test(start_paused = true)]
async fn rows_bring_as_much_of_the_object_as_is_asked_for() {
    let server = server();
    server.apply(record("web")).unwrap();
    let row = |got: Got| got.body["rows"][0]["object"].clone();
    assert_eq!(row(get_as(&server, RECORDS, TABLE).await)["kind"], "PartialObjectMetadata");
    let full = get_as(&server, &format!("{RECORDS}?includeObject=Object"), TABLE).await;
    assert_eq!(row(full)["spec"]["type"], "A");
    assert!(row(get_as(&server, &format!("{RECORDS}?includeObject=None"), TABLE).await).is_null());
}

#[tokio::test(start_paused = true)]
async fn metadata_alone_holds_no_secret() {
    let server = server();
    server
        .apply(json!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "t" }, "data": { "a": "Yg==" } }))
        .unwrap();
    let accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
    let got = get_as(&server, "/api/v1/secrets", accept).await;
    assert_eq!(got.body["kind"], "PartialObjectMetadataList");
    assert_eq!(got.body["items"][0]["metadata"]["name"], "t");
    assert!(got.body["items"][0].get("data").is_none());
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_given_is_406() {
    assert_eq!(get_as(&server(), "/api/v1/secrets", "application/vnd.kubernetes.protobuf").await.code, 406);
}

#[tokio::test(start_paused = true)]
async fn field_selectors_know_the_fields_of_the_kind() {
    let server = server();
    for name in ["a", "b"] {
        server.apply(record(name)).unwrap();
    }
    let count = |got: &Got| got.body["items"].as_array().unwrap().len();
    assert_eq!(count(&get(&server, &format!("{RECORDS}?fieldSelector=metadata.name%3Da")).await), 1);
    assert_eq!(count(&get(&server, &format!("{RECORDS}?fieldSelector=spec.type!%3DA")).await), 0);
    let got = get(&server, &format!("{RECORDS}?fieldSelector=spec.ttl%3D1")).await;
    assert_eq!((got.code, got.message()), (400, "field label not supported: spec.ttl"));
}

#[tokio::test(start_paused = true)]
async fn events_are_one_store_behind_two_groups() {
    let server = server();
    let event = json!({
        "apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": { "name": "e" }, "eventTime": "2026-01-01T00:00:00.000000Z",
        "regarding": { "kind": "DNSRecord", "name": "web", "namespace": "default", "uid": "u" }, "note": "hello",
        "reason": "Synced", "action": "Sync", "type": "Normal", "reportingController": "kflare.dev/operator", "reportingInstance": "x",
    });
    let path = "/apis/events.k8s.io/v1/namespaces/default/events";
    let got = post(&server, path, &event).await;
    assert_eq!((got.code, &got.body["note"]), (201, &json!("hello")));
    let old = get(&server, "/api/v1/events?fieldSelector=involvedObject.uid%3Du%2Ctype%3DNormal").await;
    assert_eq!(old.body["items"][0]["message"], "hello");
    assert_eq!(
        get(&server, &format!("{path}?fieldSelector=regarding.name%3Dother")).await.body["items"],
        json!([])
    );
    let mut long = event.clone();
    long["metadata"]["name"] = json!("f");
    long["note"] = json!("x".repeat(1025));
    let got = post(&server, path, &long).await;
    assert_eq!(
        got.message(),
        "Event \"f\" is invalid: message: Invalid value: \"\": can have at most 1024 characters"
    );
}

#[tokio::test(start_paused = true)]
async fn discovery_names_custom_resources_in_both_forms() {
    let server = server();
    let list = get(&server, "/apis/kflare.dev/v1alpha1").await.body;
    assert_eq!(list["resources"][0]["shortNames"], json!(["dnsr"]));
    assert_eq!(list["resources"][1]["name"], "dnsrecords/status");
    let accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
    let got = get_as(&server, "/apis", accept).await;
    assert!(got.headers["content-type"].to_str().unwrap().contains("g=apidiscovery.k8s.io"));
    let groups = got.body["items"].as_array().unwrap();
    let ours = groups.iter().find(|group| group["metadata"]["name"] == "kflare.dev").unwrap();
    assert_eq!(ours["versions"][0]["resources"][0]["categories"], json!(["kflare"]));
    assert_eq!(get(&server, "/apis").await.body["kind"], "APIGroupList");
    assert_eq!(get(&server, "/version").await.body["major"], "1");
    assert_eq!(get(&server, "/readyz").await.body, json!("ok"));
}

#[tokio::test(start_paused = true)]
async fn the_schema_of_a_custom_resource_can_be_explained() {
    let server = server();
    let index = get(&server, "/openapi/v3").await.body;
    let url = index["paths"]["apis/kflare.dev/v1alpha1"]["serverRelativeURL"].as_str().unwrap().to_owned();
    let document = get(&server, &url).await.body;
    let schema = &document["components"]["schemas"]["dev.kflare.v1alpha1.DNSRecord"];
    assert_eq!(schema["properties"]["spec"]["properties"]["ttl"]["minimum"], 1);
    let path = "/apis/kflare.dev/v1alpha1/namespaces/{namespace}/dnsrecords/{name}";
    let parameters = document["paths"][path]["patch"]["parameters"].as_array().unwrap();
    assert!(parameters.iter().any(|parameter| parameter["name"] == "fieldValidation"));
}

#[tokio::test(start_paused = true)]
async fn everyone_may_do_everything() {
    let server = server();
    let review =
        json!({ "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": {} });
    let got = post(&server, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", &review).await;
    assert_eq!((got.code, &got.body["status"]["allowed"]), (201, &json!(true)));
}

#[tokio::test(start_paused = true)]
async fn unknown_paths_are_404_and_share_a_line_in_the_log() {
    let server = server();
    for path in ["/apis/a.b/v1/things", "/apis/a.b/v1/namespaces/x/things/y"] {
        assert_eq!(get(&server, path).await.code, 404);
    }
    assert_eq!(server.log().counts()[&("GET".to_owned(), "/{unserved}".to_owned())], 2);
}
