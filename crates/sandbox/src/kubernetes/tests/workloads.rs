//! Deployments on a cluster without nodes: ReplicaSets and Pods come and go, and no Pod ever runs.

use serde_json::{Value, json};

use super::*;

const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";

fn web(image: &str, replicas: u32) -> Value {
    json!({ "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "web" }, "spec": {
        "replicas": replicas, "selector": { "matchLabels": { "app": "web" } },
        "template": { "metadata": { "labels": { "app": "web" } }, "spec": { "containers": [{ "name": "web", "image": image }] } },
    }})
}

/// The sizes of the ReplicaSets by revision.
fn sizes(server: &ApiServer) -> Vec<(String, i64)> {
    let revision = "deployment.kubernetes.io/revision";
    let mut sizes: Vec<(String, i64)> = server
        .list("replicaset")
        .iter()
        .map(|set| {
            let number = set["metadata"]["annotations"][revision].as_str().unwrap().to_owned();
            (number, set["spec"]["replicas"].as_i64().unwrap())
        })
        .collect();
    sizes.sort();
    sizes
}

fn at(sizes: &[(&str, i64)]) -> Vec<(String, i64)> {
    sizes.iter().map(|(revision, size)| ((*revision).to_owned(), *size)).collect()
}

#[tokio::test(start_paused = true)]
async fn a_deployment_gets_pods_that_wait() {
    let server = server();
    server.apply(web("web:1", 3)).unwrap();
    assert_eq!(sizes(&server), at(&[("1", 3)]));
    let pods = server.list("pod");
    assert!(pods.len() == 3 && pods.iter().all(|pod| pod["status"]["phase"] == "Pending"));
    let status = server.get("deployment", None, "web").unwrap()["status"].clone();
    assert_eq!((&status["replicas"], &status["unavailableReplicas"]), (&json!(3), &json!(3)));
    assert_eq!(status["conditions"][0]["reason"], "MinimumReplicasUnavailable");
    // A Pod that somebody deletes is replaced.
    let name = pods[0]["metadata"]["name"].as_str().unwrap();
    server.delete("pod", None, name).unwrap();
    assert_eq!(server.list("pod").len(), 3);
    server.delete("deployment", None, "web").unwrap();
    assert!(server.list("replicaset").is_empty() && server.list("pod").is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_new_template_grows_within_its_bounds_and_can_be_undone() {
    let server = server();
    server.apply(web("web:1", 3)).unwrap();
    server.apply(web("web:2", 3)).unwrap();
    // One more than wanted may be there, and none less: the old ones stay until new ones are ready.
    assert_eq!(sizes(&server), at(&[("1", 3), ("2", 1)]));
    server.patch("deployment", None, "web", json!({ "spec": { "replicas": 6 } })).unwrap();
    assert_eq!(sizes(&server), at(&[("1", 5), ("2", 3)]));
    server.patch("deployment", None, "web", json!({ "spec": { "replicas": 0 } })).unwrap();
    assert_eq!(sizes(&server), at(&[("1", 0), ("2", 0)]));
    let status = server.get("deployment", None, "web").unwrap()["status"].clone();
    assert_eq!(status["conditions"][1]["reason"], "NewReplicaSetAvailable");
    server.apply(web("web:1", 0)).unwrap();
    assert_eq!(sizes(&server), at(&[("2", 0), ("3", 0)]));
}

#[tokio::test(start_paused = true)]
async fn a_paused_deployment_scales_and_does_not_roll() {
    let server = server();
    server.apply(web("web:1", 2)).unwrap();
    server.patch("deployment", None, "web", json!({ "spec": { "paused": true } })).unwrap();
    let mut next = web("web:2", 4);
    next["spec"]["paused"] = json!(true);
    server.apply(next).unwrap();
    assert_eq!(sizes(&server), at(&[("1", 4)]));
}

#[tokio::test(start_paused = true)]
async fn a_recreated_deployment_ends_the_old_ones_first() {
    let server = server();
    let recreated = |image: &str| {
        let mut deployment = web(image, 2);
        deployment["spec"]["strategy"] = json!({ "type": "Recreate" });
        deployment
    };
    server.apply(recreated("web:1")).unwrap();
    server.apply(recreated("web:2")).unwrap();
    assert_eq!(sizes(&server), at(&[("1", 0), ("2", 2)]));
}

#[tokio::test(start_paused = true)]
async fn a_scale_is_read_and_written_and_its_manager_is_known() {
    let server = server();
    server.apply(web("web:1", 1)).unwrap();
    let path = format!("{DEPLOYMENTS}/web/scale");
    let scale = get(&server, &path).await.body;
    assert_eq!((&scale["kind"], &scale["spec"]["replicas"]), (&json!("Scale"), &json!(1)));
    assert_eq!(scale["status"], json!({ "replicas": 1, "selector": "app=web" }));
    let scaled =
        merge(&server, &format!("{path}?fieldManager=kubectl"), &json!({ "spec": { "replicas": 2 } })).await;
    assert_eq!((scaled.code, &scaled.body["spec"]["replicas"]), (200, &json!(2)));
    let object = get(&server, &format!("{DEPLOYMENTS}/web")).await.body;
    let entries = object["metadata"]["managedFields"].as_array().unwrap();
    let entry = entries.iter().find(|entry| entry["subresource"] == "scale").unwrap();
    assert_eq!(
        (&entry["manager"], &entry["fieldsV1"]),
        (&json!("kubectl"), &json!({ "f:spec": { "f:replicas": {} } }))
    );
    let stale = put(&server, &path, &scale).await;
    assert_eq!(stale.code, 409);
    let negative = merge(&server, &path, &json!({ "spec": { "replicas": -1 } })).await;
    assert!(negative.code == 422 && negative.message().contains("must be greater than or equal to 0"));
    for body in [json!({ "spec": { "replicas": "x" } }), json!({ "kind": "Secret" }), json!([])] {
        assert_eq!(merge(&server, &path, &body).await.code, 400, "{body}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_number_that_nobody_means_does_not_fill_the_memory() {
    let server = server();
    server.apply(web("web:1", 2_000_000_000)).unwrap();
    assert_eq!(server.list("pod").len(), 500);
}

#[tokio::test(start_paused = true)]
async fn a_pod_ends_in_two_steps_and_says_so() {
    let server = server();
    server.keep_history();
    let pod = json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "box" },
        "spec": { "containers": [{ "name": "box", "image": "box:1" }] } });
    server.apply(pod).unwrap();
    server.delete("pod", None, "box").unwrap();
    let ends: Vec<(bool, bool)> = server
        .history()
        .iter()
        .map(|version| (version.object["metadata"]["deletionTimestamp"].is_string(), version.is_last))
        .collect();
    assert_eq!(ends, [(false, false), (true, false), (true, true)]);
}
