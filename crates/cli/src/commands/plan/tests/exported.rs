//! Plans of manifests that came from the cluster, as `kubectl get -o yaml` prints them.

use serde_json::json;

use super::output::{ZONE, account, record};
use super::*;

/// A world with a record, and that record, its zone and its namespace as kubectl prints them.
async fn exported(world: &mut World) -> Vec<serde_json::Value> {
    apply(world, &format!("{ZONE}{}", record("www", "type: A, content: 192.0.2.1, comment: mine")));
    run(world).await;
    let get = |kind: &str, namespace: Option<&str>, name: &str| {
        let mut object = world.kubernetes.get(kind, namespace, name).unwrap();
        object["metadata"]["managedFields"] = json!([{"manager": "kubectl", "operation": "Update"}]);
        object["metadata"]["selfLink"] = json!("/somewhere");
        object
    };
    let in_default = |kind: &str, name: &str| get(kind, Some("default"), name);
    vec![get("Namespace", None, "default"), in_default("Zone", "example-com"), in_default("DNSRecord", "www")]
}

/// The documents of these objects.
fn documents(objects: &[serde_json::Value]) -> String {
    objects.iter().map(|object| format!("---\n{object:#}\n")).collect()
}

#[test]
fn what_kubectl_prints_can_be_planned_as_it_is() {
    in_world(Options::default(), async |world| {
        let mut objects = exported(world).await;
        let same = ask(world, Ask::apply(&documents(&objects))).await.unwrap();
        assert_eq!((same.acts.len(), same.notes.len()), (0, 0), "{:?} {:?}", same.acts, same.notes);
        assert_eq!(same.objects.iter().filter(|object| object.place.is_some()).count(), 2);
        objects[2]["spec"]["ttl"] = json!(300);
        let list = json!({"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": ""}, "items": objects});
        for manifests in [documents(&objects), list.to_string()] {
            let changed = ask(world, Ask::apply(&manifests)).await.unwrap();
            assert_eq!((changed.counts().change, changed.acts.len()), (1, 1), "{:?}", changed.acts);
        }
        // Once applied as it is, it is what kubectl remembers.
        for object in &mut objects[1..] {
            object["metadata"].as_object_mut().unwrap().remove("resourceVersion");
            object["metadata"].as_object_mut().unwrap().remove("managedFields");
            world.kubernetes.apply(object.clone()).unwrap();
        }
        run(world).await;
        let asked = record("www", "type: A, content: 192.0.2.1, ttl: 300");
        let dropped = ask(world, Ask::apply(&asked)).await.unwrap();
        assert_eq!(dropped.counts().change, 1, "the comment is dropped: {:?}", dropped.acts);
    });
}

#[test]
fn what_another_cluster_printed_can_be_planned_as_it_is() {
    in_world(Options::default(), async |world| {
        let mut objects = exported(world).await;
        for object in &mut objects {
            // The IDs in them would be another account's.
            object["metadata"].as_object_mut().unwrap().remove("labels");
        }
        let other = World::new(Options { empty: true, seed: 2, ..Options::default() }).unwrap();
        let manifests = format!("{}{}", account(), documents(&objects[1..]));
        let findings = ask(&other, Ask::apply(&manifests)).await.unwrap();
        assert_eq!((findings.counts().create, findings.notes.len()), (2, 0), "{:?}", findings.objects);
        apply(&other, &manifests);
    });
}

#[test]
fn a_uid_of_another_object_is_refused_with_its_line() {
    in_world(Options::default(), async |world| {
        let mut objects = exported(world).await;
        let live = objects[2]["metadata"]["uid"].as_str().unwrap().to_owned();
        objects[2]["metadata"]["uid"] = json!("11111111-1111-1111-1111-111111111111");
        let text = format!("{:#}\n", objects[2]);
        let line = text.lines().position(|line| line.contains("\"uid\"")).unwrap() + 1;
        let refused = ask(world, Ask::apply(&text)).await.unwrap_err().to_string();
        assert_eq!(
            refused,
            format!(
                "a.yaml: document 1 (line {line}): DNSRecord default/www: metadata.uid \
                 11111111-1111-1111-1111-111111111111 is another object's: the cluster's has {live}, for it was deleted \
                 and made again since; kubectl apply refuses that, so remove metadata.uid from the file"
            )
        );
    });
}

#[test]
fn a_version_that_is_past_is_noted_and_no_obstacle() {
    in_world(Options::default(), async |world| {
        let objects = exported(world).await;
        world
            .kubernetes
            .patch("DNSRecord", None, "www", json!({"metadata": {"labels": {"by": "others"}}}))
            .unwrap();
        let findings = ask(world, Ask::apply(&documents(&objects[2..]))).await.unwrap();
        assert_eq!(findings.acts, []);
        let [note] = findings.notes.as_slice() else { panic!("{:?}", findings.notes) };
        assert!(note.starts_with("a.yaml:") && note.contains("DNSRecord default/www has changed"), "{note}");
    });
}

#[test]
fn a_namespace_keeps_the_labels_that_others_gave_it() {
    in_world(Options::default(), async |world| {
        exported(world).await;
        let selector = json!({"spec": {"allowedNamespaces": {"selector": {"matchLabels": {"team": "a"}}}}});
        world.kubernetes.patch("CloudflareAccount", None, "main", selector).unwrap();
        let label = json!({"metadata": {"labels": {"team": "a"}}});
        world.kubernetes.patch("Namespace", None, "default", label).unwrap();
        let manifests = format!("apiVersion: v1\nkind: Namespace\nmetadata: {{name: default}}\n---\n{ZONE}");
        let findings = ask(world, Ask::apply(&manifests)).await.unwrap();
        assert_eq!(findings.counts().held, 0, "{:?}", findings.objects);
    });
}
