//! Tokens that may do less than others, and zones that only look like ours.

use std::time::Duration;

use cli::scenario::simulate;
use cli::world::{ACCOUNT_ID, Options, TOKEN, World};
use sandbox::cloudflare::{Permission, Plan, Scope, Token};
use serde_json::{Value, json};

use super::{DOMAIN, get, is_ready, ready, record, unready, zone};

/// A world before its operator starts, with the zone `example.com` and 60 others.
fn among_many_zones() -> (World, String) {
    let world = World::new(Options::default()).unwrap();
    for n in 0..60 {
        world.cloudflare.add_zone(ACCOUNT_ID, &format!("other{n}.example"), Plan::Free);
    }
    let id = world.cloudflare.add_zone(ACCOUNT_ID, DOMAIN, Plan::Free);
    world.cloudflare.activate_zone(&id);
    (world, id)
}

fn apply_zone_and_record(world: &World) {
    world.kubernetes.apply(zone("default", "example-com", DOMAIN)).unwrap();
    world
        .kubernetes
        .apply(record("www", &json!({ "type": "A", "name": "www", "content": "192.0.2.10" })))
        .unwrap();
}

#[test]
fn b146_a_token_that_an_account_owns_needs_no_list_of_accounts() {
    simulate(async {
        let (mut world, _) = among_many_zones();
        // The look of a token says whose it is.
        let secret = "cfat_tokenThatNoOutputMayEverShow000000000000000";
        world.cloudflare.add_token(secret, Token::account_owned(ACCOUNT_ID));
        let data = json!({ "stringData": { "CF_API_TOKEN": secret } });
        world.kubernetes.patch("Secret", Some("kflare-system"), "cloudflare-token", data).unwrap();
        apply_zone_and_record(&world);
        world.start();
        world.settle().await;
        for kind in ["CloudflareAccount", "Zone", "DNSRecord"] {
            assert_eq!(unready(&world, kind), [""; 0], "{kind}");
        }
        let listed = world.cloudflare.log().lines().into_iter().filter(|line| line.route == "/accounts");
        assert_eq!(listed.count(), 0);
    })
    .unwrap();
}

/// A token with `permissions` on one zone alone.
fn token_of(zone: &str, permissions: impl IntoIterator<Item = Permission>) -> Token {
    let mut token = Token::all(ACCOUNT_ID).with_permissions(permissions);
    token.zones = Scope::Only([zone.to_owned()].into());
    token
}

#[test]
fn b148_a_token_for_one_zone_finds_it_by_name() {
    simulate(async {
        let (mut world, id) = among_many_zones();
        let permissions = [Permission::AccountSettingsRead, Permission::ZoneRead, Permission::DnsEdit];
        world.cloudflare.set_token(TOKEN, token_of(&id, permissions));
        apply_zone_and_record(&world);
        world.start();
        world.settle().await;
        assert_eq!((unready(&world, "Zone"), unready(&world, "DNSRecord")), (vec![], vec![]));
        let lists = world.cloudflare.log().lines().into_iter().filter(|line| line.route == "/zones");
        let lists: Vec<String> = lists.map(|line| line.path).collect();
        assert!(!lists.is_empty() && lists.iter().all(|path| path.contains("name=example.com")), "{lists:?}");
    })
    .unwrap();
}

#[test]
fn b148_a_missing_permission_is_named() {
    simulate(async {
        let (mut world, id) = among_many_zones();
        let permissions = [Permission::AccountSettingsRead, Permission::ZoneRead];
        world.cloudflare.set_token(TOKEN, token_of(&id, permissions));
        apply_zone_and_record(&world);
        world.start();
        world.advance(Duration::from_secs(600)).await;
        let object = get(&world, "www");
        let condition = ready(&object).unwrap();
        let message = condition["message"].as_str().unwrap();
        assert!(
            message.contains("\"DNS: Read\" on the zone") && message.contains("cloudflare-token"),
            "{message}"
        );
        assert_eq!(condition["reason"], "TerminalError");
    })
    .unwrap();
}

#[test]
fn b155_records_land_in_the_zone_of_the_resources_account_whatever_the_order() {
    for ours_first in [true, false] {
        simulate(async {
            let mut world = World::new(Options::default()).unwrap();
            let other = "ffffffffffffffffffffffffffffffff";
            world.cloudflare.add_account(other, "Other");
            let mut token = Token::all(ACCOUNT_ID);
            token.accounts = Scope::All;
            world.cloudflare.set_token(TOKEN, token);
            let owners = if ours_first { [ACCOUNT_ID, other] } else { [other, ACCOUNT_ID] };
            let zones = owners.map(|owner| world.cloudflare.add_zone(owner, DOMAIN, Plan::Free));
            for zone in &zones {
                world.cloudflare.activate_zone(zone);
            }
            let ours = &zones[usize::from(!ours_first)];
            apply_zone_and_record(&world);
            world.start();
            world.settle().await;
            assert!(is_ready(&get(&world, "www")));
            let stands: Vec<(String, Value)> = world.cloudflare.records_anywhere();
            assert_eq!(stands.len(), 1);
            assert_eq!(world.cloudflare.record_count(ours), 1, "ours first: {ours_first}");
        })
        .unwrap();
    }
}

#[test]
fn b156_a_pending_zone_is_found_and_shows_its_name_servers() {
    simulate(async {
        let mut world = World::new(Options::default()).unwrap();
        world.cloudflare.add_zone(ACCOUNT_ID, DOMAIN, Plan::Free);
        apply_zone_and_record(&world);
        world.start();
        world.settle().await;
        let status = world.kubernetes.get("Zone", Some("default"), "example-com").unwrap()["status"].clone();
        let live = &world.cloudflare.zones()[0];
        assert_eq!((&live["status"], live["name_servers"].as_array().unwrap().len()), (&json!("pending"), 2));
        assert_eq!(status["cloudflareMetadata"]["status"], "pending");
        assert_eq!(status["cloudflareMetadata"]["nameServers"], live["name_servers"]);
        assert!(is_ready(&get(&world, "www")), "records can be prepared");
    })
    .unwrap();
}
