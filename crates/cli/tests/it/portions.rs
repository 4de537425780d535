//! A unit that is larger than what a pass takes in: whoever does not fit waits for the next pass, and nothing is lost or
//! done twice.

use cli::scenario::simulate;
use cli::world::{Options, World};
use operator::Portions;
use serde_json::json;

/// What a pass takes in here.
const PORTIONS: Portions = Portions { size: 2, open: 10 };
/// More than two passes can take through a create.
const RECORDS: usize = 23;

#[test]
fn more_new_records_than_a_pass_takes_in_are_created_pass_by_pass() {
    let counts = simulate(async {
        let mut world = World::new(Options { portions: PORTIONS, ..Options::default() }).unwrap();
        let zone = json!({
            "apiVersion": "kflare.dev/v1alpha1", "kind": "Zone",
            "metadata": { "name": "example-com", "namespace": "default" },
            "spec": { "name": "example.com", "accountRef": { "name": "main" } },
        });
        world.kubernetes.apply(zone).unwrap();
        world.start();
        world.settle().await;
        world.crash();
        for number in 0..RECORDS {
            let record = json!({
                "apiVersion": "kflare.dev/v1alpha1", "kind": "DNSRecord",
                "metadata": { "name": format!("r{number}"), "namespace": "default" },
                "spec": {
                    "zoneRef": { "name": "example-com" }, "name": format!("r{number}"), "type": "A",
                    "content": "192.0.2.1",
                },
            });
            world.kubernetes.apply(record).unwrap();
        }
        world.cloudflare.log().reset();
        world.start();
        world.settle().await;
        let zone = world.cloudflare.zones()[0]["id"].as_str().unwrap().to_owned();
        assert_eq!(world.cloudflare.records(&zone).len(), RECORDS);
        for record in world.kubernetes.list("DNSRecord") {
            assert_eq!(record["status"]["conditions"][0]["status"], "True", "{record}");
        }
        world.cloudflare.log().counts()
    });
    let counts = counts.unwrap();
    let calls = |method: &str, route: &str| counts.get(&(method.to_owned(), route.to_owned())).copied();
    assert_eq!(calls("POST", "/zones/{zone_id}/dns_records/batch"), Some(3));
    assert_eq!(calls("POST", "/zones/{zone_id}/dns_records"), None);
    assert_eq!(calls("GET", "/zones/{zone_id}/dns_records"), Some(3), "one list for each pass");
}
