//! What the creating mark proves when an answer, a process or a request is lost on the way.

use expect_test::expect;

use super::harness::{check, check_once};

fn record() -> &'static kinds::Kind {
    kinds::kind("DNSRecord").unwrap()
}

#[test]
fn b051_a_lost_srv_that_never_lands_is_created_again_only_after_its_time() {
    let mut world = check_once(
        "DNSRecord",
        "
objects:
- metadata: {name: sip, namespace: apps, finalizers: [kflare.dev/finalizer], annotations: {kflare.dev/creating: 'content=1 2 5060 sip.example.com name=_sip._tcp.example.com type=SRV until 2026-01-01T00:04:00Z'}}
  spec: {zoneRef: {name: example-com}, name: _sip._tcp, type: SRV, data: {priority: 1, weight: 2, port: 5060, target: sip.example.com}, ttl: 1, proxied: false}
",
        &expect![[r#"
            status: DNSRecord apps/sip Ready=False APIError: an earlier create was never answered and may still take effect until 2026-01-01T00:04:00Z; then it is looked for once more
            next: DNSRecord apps/sip Fault(Some(241s))
        "#]],
    );
    world.clock = 300;
    expect![[r#"
        stage
          PATCH DNSRecord apps/sip {"metadata":{"annotations":{"kflare.dev/creating":"content=1 2 5060 sip.example.com name=_sip._tcp.example.com type=SRV image=807ab85c5ddca3d2 until 2026-01-01T00:09:31Z"},"resourceVersion":"","uid":"uid-sip"}}
            DNSRecord apps/sip prepare (nothing that exists is touched)
        stage
          POST /zones/0000000000000000000000000000abcd/dns_records {"data":{"port":5060,"priority":1,"target":"sip.example.com","weight":2},"name":"_sip._tcp.example.com","ttl":1,"type":"SRV"} as kflare/token/CF_API_TOKEN
            DNSRecord apps/sip create (nothing that exists is touched)
        stage
          PATCH DNSRecord apps/sip {"metadata":{"labels":{"kflare.dev/record-id":"new1"},"uid":"uid-sip"}}
            DNSRecord apps/sip claim (nothing that exists is touched)
        status: DNSRecord apps/sip Ready=True Synced: Cloudflare's object is as the spec says
        next: DNSRecord apps/sip After(270s, Drift)
    "#]].assert_eq(&world.pass(record()));
    // The first create lands all the same, after the list that did not show it: a twin, gone at the next look.
    let mut twin = world.live[0].clone();
    twin["id"] = "late".into();
    world.live.push(twin);
    world.clock = 600;
    expect![[r#"
        stage
          DELETE /zones/0000000000000000000000000000abcd/dns_records/late as kflare/token/CF_API_TOKEN
            DNSRecord apps/sip delete (late was made by our own late request)
        stage
          PATCH DNSRecord apps/sip {"metadata":{"annotations":{"kflare.dev/creating":null},"uid":"uid-sip"}}
            DNSRecord apps/sip unmark (nothing that exists is touched)
        next: DNSRecord apps/sip Drift
    "#]]
    .assert_eq(&world.pass(record()));
    world.clock = 700;
    expect![[r#"
        next: DNSRecord apps/sip Drift
    "#]]
    .assert_eq(&world.pass(record()));
}

#[test]
fn a_foreign_record_that_is_older_than_the_mark_is_not_taken_for_our_own() {
    check_once(
        "DNSRecord",
        "
objects:
- metadata: {name: a, namespace: apps, finalizers: [kflare.dev/finalizer], annotations: {kflare.dev/creating: 'content=192.0.2.1 name=a.example.com type=A until 2025-12-31T23:59:00Z'}}
  spec: {zoneRef: {name: example-com}, name: a, type: A, content: 192.0.2.1, ttl: 1, proxied: false}
live:
- {id: r1, type: A, name: a.example.com, content: 192.0.2.1, ttl: 1, proxied: false, created_on: '2025-06-01T00:00:00Z'}
",
        &expect![[r#"
            stage
              PATCH DNSRecord apps/a {"metadata":{"annotations":{"kflare.dev/creating":null},"uid":"uid-a"}}
                DNSRecord apps/a unmark (nothing that exists is touched)
            status: DNSRecord apps/a Ready=False AlreadyExists: r1 exists with this key and kflare did not create it; annotate the DNSRecord with kflare.dev/adoption-policy: adopt to take it over
            next: DNSRecord apps/a Resync
        "#]],
    );
}

#[test]
fn an_edit_while_a_create_is_open_changes_what_was_made_instead_of_making_another() {
    check_once(
        "DNSRecord",
        "
objects:
- metadata: {name: a, namespace: apps, finalizers: [kflare.dev/finalizer], annotations: {kflare.dev/creating: 'content=192.0.2.1 name=a.example.com type=A image=fbcb81fb2ec01332 until 2026-01-01T00:04:00Z'}}
  spec: {zoneRef: {name: example-com}, name: a, type: A, content: 192.0.2.2, ttl: 1, proxied: false}
live:
- {id: r1, type: A, name: a.example.com, content: 192.0.2.1, ttl: 1, proxied: false, created_on: '2026-01-01T00:00:00Z'}
",
        &expect![[r#"
            stage
              PATCH DNSRecord apps/a {"metadata":{"annotations":{"kflare.dev/creating":null},"labels":{"kflare.dev/record-id":"r1"},"uid":"uid-a"}}
                DNSRecord apps/a claim (nothing that exists is touched)
            stage
              PATCH /zones/0000000000000000000000000000abcd/dns_records/r1 {"content":"192.0.2.2"} as kflare/token/CF_API_TOKEN
                DNSRecord apps/a update [content: "192.0.2.1" -> "192.0.2.2"] (label claims r1)
            status: DNSRecord apps/a Ready=True Synced: Cloudflare's object is as the spec says
            next: DNSRecord apps/a Drift
        "#]],
    );
}

#[test]
fn a_strangers_record_that_differs_in_what_the_create_left_at_its_default_is_neither_claimed_nor_deleted() {
    // Made while our create was open, with our key: the comment is not ours.
    let yaml = |status: &str| {
        format!(
            "
objects:
- metadata: {{name: sip, namespace: apps, finalizers: [kflare.dev/finalizer], annotations: {{kflare.dev/creating: 'content=1 2 5060 sip.example.com name=_sip._tcp.example.com type=SRV image=807ab85c5ddca3d2 until 2026-01-01T00:04:00Z'}}}}
  spec: {{zoneRef: {{name: example-com}}, name: _sip._tcp, type: SRV, data: {{priority: 1, weight: 2, port: 5060, target: sip.example.com}}, ttl: 1, proxied: false}}
  status: {{{status}}}
live:
- {{id: theirs, type: SRV, name: _sip._tcp.example.com, priority: 1, data: {{priority: 1, weight: 2, port: 5060, target: sip.example.com}}, ttl: 1, proxied: false, comment: theirs, created_on: '2026-01-01T00:00:00Z'}}
- {{id: r1, type: SRV, name: _sip._tcp.example.com, priority: 1, data: {{priority: 1, weight: 2, port: 5060, target: sip.example.com}}, ttl: 1, proxied: false, created_on: '2025-01-01T00:00:00Z'}}
"
        )
    };
    check_once(
        "DNSRecord",
        &yaml("recordID: gone"),
        &expect![[r#"
        status: DNSRecord apps/sip Ready=False AlreadyExists: theirs exists with this key and kflare did not create it; annotate the DNSRecord with kflare.dev/adoption-policy: adopt to take it over
        next: DNSRecord apps/sip Resync
    "#]],
    );
    check_once(
        "DNSRecord",
        &yaml("recordID: r1"),
        &expect![[r#"
        stage
          PATCH DNSRecord apps/sip {"metadata":{"labels":{"kflare.dev/record-id":"r1"},"uid":"uid-sip"}}
            DNSRecord apps/sip claim (nothing that exists is touched)
        status: DNSRecord apps/sip Ready=True Synced: Cloudflare's object is as the spec says
        next: DNSRecord apps/sip After(270s, Drift)
    "#]],
    );
}

#[test]
fn a_resource_that_goes_leaves_a_strangers_record_of_its_key_alone() {
    check_once(
        "DNSRecord",
        "
objects:
- metadata: {name: a, namespace: apps, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [kflare.dev/finalizer], annotations: {kflare.dev/creating: 'content=192.0.2.1 name=a.example.com type=A image=fbcb81fb2ec01332 until 2025-12-31T23:59:00Z'}}
  spec: {zoneRef: {name: example-com}, name: a, type: A, content: 192.0.2.1, ttl: 1, proxied: false}
live:
- {id: theirs, type: A, name: a.example.com, content: 192.0.2.1, ttl: 300, proxied: false, created_on: '2025-12-31T23:58:00Z'}
",
        &expect![[r#"
            stage
              PATCH DNSRecord apps/a {"metadata":{"finalizers":null,"resourceVersion":"","uid":"uid-a"}}
                DNSRecord apps/a release (nothing that exists is touched)
            next: DNSRecord apps/a Forget
        "#]],
    );
}

#[test]
fn an_edit_of_the_ttl_while_a_create_is_open_still_knows_what_was_made() {
    check_once(
        "DNSRecord",
        "
objects:
- metadata: {name: a, namespace: apps, finalizers: [kflare.dev/finalizer], annotations: {kflare.dev/creating: 'content=192.0.2.1 name=a.example.com type=A image=fbcb81fb2ec01332 until 2026-01-01T00:04:00Z'}}
  spec: {zoneRef: {name: example-com}, name: a, type: A, content: 192.0.2.1, ttl: 300, proxied: false}
live:
- {id: r1, type: A, name: a.example.com, content: 192.0.2.1, ttl: 1, proxied: false, created_on: '2026-01-01T00:00:00Z'}
",
        &expect![[r#"
            stage
              PATCH DNSRecord apps/a {"metadata":{"annotations":{"kflare.dev/creating":null},"labels":{"kflare.dev/record-id":"r1"},"uid":"uid-a"}}
                DNSRecord apps/a claim (nothing that exists is touched)
            stage
              PATCH /zones/0000000000000000000000000000abcd/dns_records/r1 {"ttl":300} as kflare/token/CF_API_TOKEN
                DNSRecord apps/a update [ttl: 1 -> 300] (label claims r1)
            status: DNSRecord apps/a Ready=True Synced: Cloudflare's object is as the spec says
            next: DNSRecord apps/a Drift
        "#]],
    );
}

#[test]
fn an_edit_of_the_ttl_while_a_create_is_open_and_unseen_waits() {
    // Another create would write the mark over, and what the first one may yet make would be nobody's.
    check_once(
        "DNSRecord",
        "
objects:
- metadata: {name: a, namespace: apps, finalizers: [kflare.dev/finalizer], annotations: {kflare.dev/creating: 'content=192.0.2.1 name=a.example.com type=A image=fbcb81fb2ec01332 until 2026-01-01T00:04:00Z'}}
  spec: {zoneRef: {name: example-com}, name: a, type: A, content: 192.0.2.1, ttl: 300, proxied: false}
",
        &expect![[r#"
            status: DNSRecord apps/a Ready=False APIError: an earlier create was never answered and may still take effect until 2026-01-01T00:04:00Z; then it is looked for once more
            next: DNSRecord apps/a Fault(Some(241s))
        "#]],
    );
}

#[test]
fn a_mark_of_the_old_kflare_proves_only_what_the_spec_would_make_now() {
    let yaml = |ttl: u32| {
        format!(
            "
objects:
- metadata: {{name: a, namespace: apps, finalizers: [kflare.dev/finalizer], annotations: {{kflare.dev/creating: 'a.example.com/A'}}}}
  spec: {{zoneRef: {{name: example-com}}, name: a, type: A, content: 192.0.2.1, ttl: 1, proxied: false}}
live:
- {{id: r1, type: A, name: a.example.com, content: 192.0.2.1, ttl: {ttl}, proxied: false, created_on: '2025-01-01T00:00:00Z'}}
"
        )
    };
    check(
        "DNSRecord",
        &yaml(1),
        &expect![[r#"
        stage
          PATCH DNSRecord apps/a {"metadata":{"annotations":{"kflare.dev/creating":null},"labels":{"kflare.dev/record-id":"r1"},"uid":"uid-a"}}
            DNSRecord apps/a claim (nothing that exists is touched)
        status: DNSRecord apps/a Ready=True Synced: Cloudflare's object is as the spec says
        next: DNSRecord apps/a Drift
    "#]],
    );
    check_once(
        "DNSRecord",
        &yaml(300),
        &expect![[r#"
        stage
          PATCH DNSRecord apps/a {"metadata":{"annotations":{"kflare.dev/creating":null},"uid":"uid-a"}}
            DNSRecord apps/a unmark (nothing that exists is touched)
        status: DNSRecord apps/a Ready=False AlreadyExists: r1 exists with this key and kflare did not create it; annotate the DNSRecord with kflare.dev/adoption-policy: adopt to take it over
        next: DNSRecord apps/a Resync
    "#]],
    );
}

#[test]
fn the_mark_of_a_clock_that_was_set_back_since_starts_anew_beside_what_it_made() {
    check_once(
        "DNSRecord",
        "
objects:
- metadata: {name: sip, namespace: apps, finalizers: [kflare.dev/finalizer], labels: {kflare.dev/record-id: r1}, annotations: {kflare.dev/creating: 'content=1 2 5060 sip.example.com name=_sip._tcp.example.com type=SRV image=807ab85c5ddca3d2 until 2026-01-01T01:04:00Z'}}
  spec: {zoneRef: {name: example-com}, name: _sip._tcp, type: SRV, data: {priority: 1, weight: 2, port: 5060, target: sip.example.com}, ttl: 1, proxied: false}
live:
- {id: r1, type: SRV, name: _sip._tcp.example.com, priority: 1, data: {priority: 1, weight: 2, port: 5060, target: sip.example.com}, ttl: 1, proxied: false, created_on: '2025-01-01T00:00:00Z'}
",
        &expect![[r#"
            stage
              PATCH DNSRecord apps/sip {"metadata":{"annotations":{"kflare.dev/creating":"content=1 2 5060 sip.example.com name=_sip._tcp.example.com type=SRV image=807ab85c5ddca3d2 until 2026-01-01T00:04:31Z"},"resourceVersion":"","uid":"uid-sip"}}
                DNSRecord apps/sip unmark (nothing that exists is touched)
            status: DNSRecord apps/sip Ready=True Synced: Cloudflare's object is as the spec says
            next: DNSRecord apps/sip After(270s, Drift)
        "#]],
    );
}

#[test]
fn an_edit_while_a_create_is_open_and_unseen_waits() {
    check_once(
        "DNSRecord",
        "
objects:
- metadata: {name: a, namespace: apps, finalizers: [kflare.dev/finalizer], annotations: {kflare.dev/creating: 'content=192.0.2.1 name=a.example.com type=A until 2026-01-01T00:04:00Z'}}
  spec: {zoneRef: {name: example-com}, name: a, type: A, content: 192.0.2.2, ttl: 1, proxied: false}
",
        &expect![[r#"
            status: DNSRecord apps/a Ready=False APIError: an earlier create was never answered and may still take effect until 2026-01-01T00:04:00Z; then it is looked for once more
            next: DNSRecord apps/a Fault(Some(241s))
        "#]],
    );
}

#[test]
fn a_resource_deleted_while_its_create_is_open_waits_and_takes_what_landed_with_it() {
    let mut world = check_once(
        "DNSRecord",
        "
objects:
- metadata: {name: a, namespace: apps, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [kflare.dev/finalizer], annotations: {kflare.dev/creating: 'content=192.0.2.1 name=a.example.com type=A until 2026-01-01T00:04:00Z'}}
  spec: {zoneRef: {name: example-com}, name: a, type: A, content: 192.0.2.1, ttl: 1, proxied: false}
",
        &expect![[r#"
            status: DNSRecord apps/a Ready=False APIError: an earlier create was never answered and may still take effect until 2026-01-01T00:04:00Z; then it is looked for once more
            next: DNSRecord apps/a Fault(Some(241s))
        "#]],
    );
    world.live.push(serde_json::json!({
        "id": "late", "type": "A", "name": "a.example.com", "content": "192.0.2.1", "ttl": 1, "proxied": false,
        "created_on": "2026-01-01T00:01:00Z",
    }));
    world.clock = 60;
    expect![[r#"
        stage
          DELETE /zones/0000000000000000000000000000abcd/dns_records/late as kflare/token/CF_API_TOKEN
            DNSRecord apps/a delete (creating mark proves late)
        stage
          PATCH DNSRecord apps/a {"metadata":{"finalizers":null,"resourceVersion":"","uid":"uid-a"}}
            DNSRecord apps/a release (nothing that exists is touched)
        next: DNSRecord apps/a Forget
    "#]]
    .assert_eq(&world.pass(record()));
}

#[test]
fn b138_a_crash_between_create_and_claim_is_healed_by_the_mark() {
    check_once(
        "DNSRecord",
        "
objects:
- metadata: {name: a, namespace: apps, finalizers: [kflare.dev/finalizer], annotations: {kflare.dev/creating: 'content=192.0.2.1 name=a.example.com type=A until 2026-01-01T00:04:00Z'}}
  spec: {zoneRef: {name: example-com}, name: a, type: A, content: 192.0.2.1, ttl: 1, proxied: false}
  status: {recordID: lost}
live:
- {id: r2, type: A, name: a.example.com, content: 192.0.2.1, ttl: 1, proxied: false, created_on: '2026-01-01T00:00:00Z'}
",
        &expect![[r#"
            stage
              PATCH DNSRecord apps/a {"metadata":{"annotations":{"kflare.dev/creating":null},"labels":{"kflare.dev/record-id":"r2"},"uid":"uid-a"}}
                DNSRecord apps/a claim (nothing that exists is touched)
            status: DNSRecord apps/a Ready=True Synced: Cloudflare's object is as the spec says
            next: DNSRecord apps/a Drift
        "#]],
    );
}

#[test]
fn of_two_srv_records_that_lost_creates_made_one_is_claimed_and_the_other_deleted() {
    check_once(
        "DNSRecord",
        "
objects:
- metadata: {name: sip, namespace: apps, finalizers: [kflare.dev/finalizer], annotations: {kflare.dev/creating: 'content=1 2 5060 sip.example.com name=_sip._tcp.example.com type=SRV until 2026-01-01T00:04:00Z'}}
  spec: {zoneRef: {name: example-com}, name: _sip._tcp, type: SRV, data: {priority: 1, weight: 2, port: 5060, target: sip.example.com}, ttl: 1, proxied: false}
live:
- {id: r1, type: SRV, name: _sip._tcp.example.com, priority: 1, data: {priority: 1, weight: 2, port: 5060, target: sip.example.com}, ttl: 1, proxied: false, created_on: '2026-01-01T00:00:00Z'}
- {id: r2, type: SRV, name: _sip._tcp.example.com, priority: 1, data: {priority: 1, weight: 2, port: 5060, target: sip.example.com}, ttl: 1, proxied: false, created_on: '2026-01-01T00:00:01Z'}
",
        &expect![[r#"
            stage
              PATCH DNSRecord apps/sip {"metadata":{"labels":{"kflare.dev/record-id":"r1"},"uid":"uid-sip"}}
                DNSRecord apps/sip claim (nothing that exists is touched)
            stage
              DELETE /zones/0000000000000000000000000000abcd/dns_records/r2 as kflare/token/CF_API_TOKEN
                DNSRecord apps/sip delete (r2 was made by our own late request)
            status: DNSRecord apps/sip Ready=True Synced: Cloudflare's object is as the spec says
            next: DNSRecord apps/sip After(270s, Drift)
        "#]],
    );
}

#[test]
fn a_resource_deleted_with_an_open_srv_create_takes_a_late_twin_with_it() {
    let mut world = check_once(
        "DNSRecord",
        "
objects:
- metadata: {name: sip, namespace: apps, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [kflare.dev/finalizer], labels: {kflare.dev/record-id: r1}, annotations: {kflare.dev/creating: 'content=1 2 5060 sip.example.com name=_sip._tcp.example.com type=SRV until 2026-01-01T00:04:00Z'}}
  spec: {zoneRef: {name: example-com}, name: _sip._tcp, type: SRV, data: {priority: 1, weight: 2, port: 5060, target: sip.example.com}, ttl: 1, proxied: false}
live:
- {id: r1, type: SRV, name: _sip._tcp.example.com, priority: 1, data: {priority: 1, weight: 2, port: 5060, target: sip.example.com}, ttl: 1, proxied: false, created_on: '2026-01-01T00:00:00Z'}
- {id: r2, type: SRV, name: _sip._tcp.example.com, priority: 1, data: {priority: 1, weight: 2, port: 5060, target: sip.example.com}, ttl: 1, proxied: false, created_on: '2026-01-01T00:00:01Z'}
",
        &expect![[r#"
            stage
              DELETE /zones/0000000000000000000000000000abcd/dns_records/r1 as kflare/token/CF_API_TOKEN
                DNSRecord apps/sip delete (label claims r1)
            stage
              DELETE /zones/0000000000000000000000000000abcd/dns_records/r2 as kflare/token/CF_API_TOKEN
                DNSRecord apps/sip delete (creating mark proves r2)
            status: DNSRecord apps/sip Ready=False APIError: an earlier create was never answered and may still take effect until 2026-01-01T00:04:00Z; then it is looked for once more
            next: DNSRecord apps/sip Fault(Some(241s))
        "#]],
    );
    world.clock = 300;
    world.live.clear();
    expect![[r#"
        stage
          PATCH DNSRecord apps/sip {"metadata":{"finalizers":null,"resourceVersion":"","uid":"uid-sip"}}
            DNSRecord apps/sip release (nothing that exists is touched)
        next: DNSRecord apps/sip Forget
    "#]]
    .assert_eq(&world.pass(record()));
}
