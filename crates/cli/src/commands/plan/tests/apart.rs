//! Plans beside the objects of others: what the manifests do not concern decides nothing.

use serde_json::json;

use super::output::{ZONE, code, record};
use super::*;

/// A world in which another team's record is held: its name is taken in Cloudflare by nobody of ours.
async fn held(world: &mut World) -> (String, String) {
    let (www, taken) =
        (record("www", "type: A, content: 192.0.2.1"), record("taken", "type: A, content: 192.0.2.2"));
    apply(world, &format!("{ZONE}{www}"));
    run(world).await;
    let zones = world.cloudflare.zones();
    let zone = zones[0]["id"].as_str().unwrap();
    let body = json!({"type": "A", "name": "taken.example.com", "content": "192.0.2.2", "ttl": 120});
    world.cloudflare.put_record(zone, body).unwrap();
    apply(world, &taken);
    run(world).await;
    (www, taken)
}

const NOTE: &str = "DNSRecord default/taken is held or has something to do without these manifests, too, and does not count; \
                    kflare plan --all shows it";

#[test]
fn what_is_held_beside_the_manifests_decides_nothing() {
    in_world(Options::default(), async |world| {
        let (www, taken) = held(world).await;
        let same = ask(world, Ask::apply(&format!("{ZONE}{www}"))).await.unwrap();
        assert_eq!((code(&same), same.notes.as_slice()), (0, &[NOTE.to_owned()][..]), "{same:?}");
        let more = record("more", "type: A, content: 192.0.2.3");
        let changed = www.replace("192.0.2.1", "192.0.2.9");
        for manifests in [more, changed].map(|record| format!("{ZONE}{record}")) {
            let findings = ask(world, Ask::apply(&manifests)).await.unwrap();
            let said = text::render(&findings, Style::default());
            assert_eq!(code(&findings), CHANGES, "{said}");
            assert!(!said.contains("AlreadyExists") && said.contains(NOTE), "{said}");
            let json = json::render(&findings);
            assert_eq!(json["summary"]["held"], 0);
            assert_eq!(json["apart"][0]["held"]["reason"], "AlreadyExists");
        }
        let gone = ask(world, Ask::delete(&www)).await.unwrap();
        assert_eq!(code(&gone), CHANGES, "{gone:?}");
        let own = ask(world, Ask::apply(&taken)).await.unwrap();
        assert_eq!((code(&own), own.notes.len()), (OBSTRUCTED, 0));
        let all = ask(world, Ask { all: true, ..Ask::apply(&www) }).await.unwrap();
        assert_eq!((code(&all), all.counts().held, all.notes.len()), (OBSTRUCTED, 1, 0));
    });
}

#[test]
fn what_the_manifests_bring_upon_others_counts() {
    in_world(Options::default(), async |world| {
        held(world).await;
        let gone = ask(world, Ask::delete(ZONE)).await.unwrap();
        let said = text::render(&gone, Style::default());
        assert!(said.contains("! DNSRecord default/www\n") && code(&gone) == OBSTRUCTED, "{said}");
    });
}

#[test]
fn what_has_drifted_beside_the_manifests_is_not_counted() {
    in_world(Options::default(), async |world| {
        let (www, other) =
            (record("www", "type: A, content: 192.0.2.1"), record("other", "type: A, content: 192.0.2.2"));
        apply(world, &format!("{ZONE}{www}{other}"));
        run(world).await;
        let zones = world.cloudflare.zones();
        let zone = zones[0]["id"].as_str().unwrap();
        let records = world.cloudflare.records(zone);
        let id = records.iter().find(|record| record["name"] == "other.example.com").unwrap()["id"]
            .as_str()
            .unwrap();
        world.cloudflare.try_edit_record(zone, id, json!({"content": "192.0.2.9"})).unwrap();
        let findings = ask(world, Ask::apply(&format!("{ZONE}{www}"))).await.unwrap();
        assert_eq!((code(&findings), findings.acts.len(), findings.apart.len()), (0, 0, 1), "{findings:?}");
        let all = ask(world, Ask { all: true, ..Ask::apply("") }).await.unwrap();
        assert_eq!((code(&all), all.acts.len()), (CHANGES, 1));
    });
}
