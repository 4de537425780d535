//! What proves that an object is a resource's own, and in which order a resource is looked at: pausing, deletion,
//! parents.

use expect_test::expect;
use kinds::Kind;
use kinds::table::Identity;

use super::harness::{check, check_once};

#[test]
fn an_object_that_the_label_names_is_its_own_though_status_is_empty() {
    check(
        "DNSRecord",
        "
objects:
- metadata: {name: a, namespace: apps, finalizers: [kflare.dev/finalizer], labels: {kflare.dev/record-id: r1}}
  spec: {zoneRef: {name: example-com}, name: a, type: A, content: 192.0.2.1, ttl: 1, proxied: false}
live:
- {id: r1, type: A, name: a.example.com, content: 192.0.2.1, ttl: 300, proxied: false}
",
        &expect![[r#"
            stage
              PATCH /zones/0000000000000000000000000000abcd/dns_records/r1 {"ttl":1} as kflare/token/CF_API_TOKEN
                DNSRecord apps/a update [ttl: 300 -> 1] (label claims r1)
            status: DNSRecord apps/a Ready=True Synced: Cloudflare's object is as the spec says
            next: DNSRecord apps/a Drift
        "#]],
    );
}

#[test]
fn a_mark_that_was_left_behind_goes_with_the_next_find_by_id() {
    check(
        "DNSRecord",
        "
objects:
- metadata: {name: a, namespace: apps, finalizers: [kflare.dev/finalizer], labels: {kflare.dev/record-id: r1}, annotations: {kflare.dev/creating: 'content=192.0.2.1 name=a.example.com type=A until 2026-01-01T00:04:00Z'}}
  spec: {zoneRef: {name: example-com}, name: a, type: A, content: 192.0.2.1, ttl: 1, proxied: false}
  status: {recordID: r1}
live:
- {id: r1, type: A, name: a.example.com, content: 192.0.2.1, ttl: 1, proxied: false}
",
        &expect![[r#"
            stage
              PATCH DNSRecord apps/a {"metadata":{"annotations":{"kflare.dev/creating":null},"uid":"uid-a"}}
                DNSRecord apps/a unmark (nothing that exists is touched)
            status: DNSRecord apps/a Ready=True Synced: Cloudflare's object is as the spec says
            next: DNSRecord apps/a Drift
        "#]],
    );
}

/// A kind like records, but without a label to claim with.
fn without_label() -> &'static Kind {
    let row = kinds::kind("DNSRecord").unwrap();
    Box::leak(Box::new(Kind { identity: Identity { label: None, ..row.identity }, ..*row }))
}

#[test]
fn a_kind_without_a_label_keeps_its_mark_until_status_names_the_object() {
    let kind = without_label();
    let mut world = check_once(
        kind,
        "
objects:
- metadata: {name: a, namespace: apps}
  spec: {zoneRef: {name: example-com}, name: a, type: A, content: 192.0.2.1, ttl: 1, proxied: false}
",
        &expect![[r#"
            stage
              PATCH DNSRecord apps/a {"metadata":{"annotations":{"kflare.dev/creating":"content=192.0.2.1 name=a.example.com type=A image=fbcb81fb2ec01332 until 2026-01-01T00:04:31Z"},"finalizers":["kflare.dev/finalizer"],"resourceVersion":"","uid":"uid-a"}}
                DNSRecord apps/a prepare (nothing that exists is touched)
            stage
              POST /zones/0000000000000000000000000000abcd/dns_records {"content":"192.0.2.1","name":"a.example.com","proxied":false,"ttl":1,"type":"A"} as kflare/token/CF_API_TOKEN
                DNSRecord apps/a create (nothing that exists is touched)
            status: DNSRecord apps/a Ready=True Synced: Cloudflare's object is as the spec says
            next: DNSRecord apps/a After(270s, Drift)
        "#]],
    );
    expect![[r#"
        stage
          PATCH DNSRecord apps/a {"metadata":{"annotations":{"kflare.dev/creating":null},"uid":"uid-a"}}
            DNSRecord apps/a unmark (nothing that exists is touched)
        next: DNSRecord apps/a Drift
    "#]]
    .assert_eq(&world.pass(kind));
}

#[test]
fn keeping_an_object_needs_no_read_and_makes_no_call() {
    check_once(
        "DNSRecord",
        "
objects:
- metadata: {name: kept, namespace: apps, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [kflare.dev/finalizer], labels: {kflare.dev/record-id: r1}, annotations: {kflare.dev/deletion-policy: retain}}
  spec: {zoneRef: {name: example-com}, name: a, type: A, content: 192.0.2.1, ttl: 1, proxied: false}
  status: {recordID: r1}
- metadata: {name: taken-over, namespace: apps, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [kflare.dev/finalizer], labels: {kflare.dev/record-id: r2}, annotations: {kflare.dev/adopted: 'true', kflare.dev/creating: 'content=192.0.2.1 name=b.example.com type=A until 2026-01-01T00:04:00Z'}}
  spec: {zoneRef: {name: example-com}, name: b, type: A, content: 192.0.2.1, ttl: 1, proxied: false}
reads_fail: 500
",
        &expect![[r#"
            stage
              PATCH DNSRecord apps/kept {"metadata":{"finalizers":null,"resourceVersion":"","uid":"uid-kept"}}
                DNSRecord apps/kept release (nothing that exists is touched)
              PATCH DNSRecord apps/taken-over {"metadata":{"finalizers":null,"resourceVersion":"","uid":"uid-taken-over"}}
                DNSRecord apps/taken-over release (nothing that exists is touched)
            next: DNSRecord apps/kept Forget
            next: DNSRecord apps/taken-over Forget
        "#]],
    );
}

#[test]
fn a_deleting_resource_without_our_finalizer_is_left_alone() {
    check(
        "DNSRecord",
        "
objects:
- metadata: {name: a, namespace: apps, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [other/one], labels: {kflare.dev/record-id: r1}}
  spec: {zoneRef: {name: example-com}, name: a, type: A, content: 192.0.2.1, ttl: 1, proxied: false}
  status: {recordID: r1}
live:
- {id: r1, type: A, name: a.example.com, content: 192.0.2.1, ttl: 300, proxied: false}
",
        &expect![[r#"
            next: DNSRecord apps/a Forget
        "#]],
    );
}

#[test]
fn pausing_comes_before_parents_policies_and_the_spec() {
    check(
        "DNSRecord",
        "
objects:
- metadata: {name: a, namespace: apps, annotations: {kflare.dev/paused: 'true', kflare.dev/adoption-policy: nonsense}}
  spec: {zoneRef: {name: example-com}, name: a, type: A, content: nonsense, ttl: 1, proxied: false}
- metadata: {name: b, namespace: apps, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [kflare.dev/finalizer], annotations: {kflare.dev/paused: 'true', kflare.dev/deletion-policy: nonsense}}
  spec: {zoneRef: {name: example-com}, name: b, type: A, content: nonsense, ttl: 1, proxied: false}
zone: missing
",
        &expect![[r#"
            status: DNSRecord apps/a Ready=Unknown Paused: paused by annotation kflare.dev/paused: nothing is read or changed
            next: DNSRecord apps/a Resync
            status: DNSRecord apps/b Ready=Unknown Paused: paused: the deletion waits until annotation kflare.dev/paused is removed
            next: DNSRecord apps/b Resync
        "#]],
    );
}

#[test]
fn deletion_comes_before_the_spec_and_a_parent_need_not_be_ready_for_it() {
    check_once(
        "DNSRecord",
        "
objects:
- metadata: {name: a, namespace: apps, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [kflare.dev/finalizer], labels: {kflare.dev/record-id: r1}}
  spec: {zoneRef: {name: example-com}, name: a, type: A, content: nonsense, ttl: 1, proxied: false}
  status: {recordID: r1}
live:
- {id: r1, type: A, name: a.example.com, content: 192.0.2.1, ttl: 300, proxied: false}
zone: {metadata: {name: example-com, namespace: apps, deletionTimestamp: '2026-01-01T00:00:00Z'}, spec: {name: example.com}, status: {cloudflareMetadata: {zoneID: 0000000000000000000000000000abcd}, conditions: [{type: Ready, status: 'False'}]}}
",
        &expect![[r#"
            stage
              DELETE /zones/0000000000000000000000000000abcd/dns_records/r1 as kflare/token/CF_API_TOKEN
                DNSRecord apps/a delete (status records r1)
            stage
              PATCH DNSRecord apps/a {"metadata":{"finalizers":null,"resourceVersion":"","uid":"uid-a"}}
                DNSRecord apps/a release (nothing that exists is touched)
            next: DNSRecord apps/a Forget
        "#]],
    );
}

#[test]
fn a_list_that_fails_concerns_nobody_who_does_not_need_it() {
    check_once(
        "DNSRecord",
        "
objects:
- metadata: {name: due, namespace: apps, finalizers: [kflare.dev/finalizer], labels: {kflare.dev/record-id: r1}}
  spec: {zoneRef: {name: example-com}, name: a, type: A, content: 192.0.2.1, ttl: 1, proxied: false}
  status: {recordID: r1}
- metadata: {name: kept, namespace: apps, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [kflare.dev/finalizer], annotations: {kflare.dev/deletion-policy: retain}}
  spec: {zoneRef: {name: example-com}, name: b, type: A, content: 192.0.2.1, ttl: 1, proxied: false}
  status: {recordID: r2}
- metadata: {name: paused, namespace: apps, finalizers: [kflare.dev/finalizer], annotations: {kflare.dev/paused: 'true'}}
  spec: {zoneRef: {name: example-com}, name: c, type: A, content: 192.0.2.1, ttl: 1, proxied: false}
  status: {recordID: r3, conditions: [{type: Ready, status: 'True', reason: Synced, message: good}]}
- metadata: {name: wrong, namespace: apps}
  spec: {zoneRef: {name: example-com}, name: d, type: A, content: nonsense, ttl: 1, proxied: false}
reads_fail: 500
",
        &expect![[r#"
            stage
              PATCH DNSRecord apps/kept {"metadata":{"finalizers":null,"resourceVersion":"","uid":"uid-kept"}}
                DNSRecord apps/kept release (nothing that exists is touched)
            status: DNSRecord apps/due Ready=False APIError: cannot list the objects of the parent: no (10000)
            next: DNSRecord apps/due Fault(None)
            next: DNSRecord apps/kept Forget
            status: DNSRecord apps/paused Ready=True Paused: paused by annotation kflare.dev/paused: nothing is read or changed
            next: DNSRecord apps/paused Resync
            status: DNSRecord apps/wrong Ready=False InvalidSpec: spec.content: is not an IPv4 address; write all four numbers, such as 192.0.2.10 (Cloudflare: 9005)
            next: DNSRecord apps/wrong Resync
        "#]],
    );
}
