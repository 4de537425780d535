//! Zones: one object a unit, several calls an update.

use expect_test::expect;

use super::harness::{check, check_once};

#[test]
fn a_new_zone_is_created_in_its_account() {
    check(
        "Zone",
        "
objects:
- metadata: {name: example-com, namespace: apps}
  spec: {name: example.com, accountRef: {name: acct}, type: full}
",
        &expect![[r#"
            stage
              PATCH Zone apps/example-com {"metadata":{"annotations":{"kflare.dev/creating":"name=example.com image=4ece60ac63cc3789 until 2026-01-01T00:04:31Z"},"finalizers":["kflare.dev/finalizer"],"resourceVersion":"","uid":"uid-example-com"}}
                Zone apps/example-com prepare (nothing that exists is touched)
            stage
              POST /zones {"account":{"id":"000000000000000000000000000000ac"},"name":"example.com","type":"full"} as kflare/token/CF_API_TOKEN
                Zone apps/example-com create (nothing that exists is touched)
            stage
              PATCH Zone apps/example-com {"metadata":{"annotations":{"kflare.dev/creating":null},"labels":{"kflare.dev/zone-id":"new1"},"uid":"uid-example-com"}}
                Zone apps/example-com claim (nothing that exists is touched)
            status: Zone apps/example-com Ready=True Synced: Cloudflare's object is as the spec says
            next: Zone apps/example-com Drift
        "#]],
    );
}

#[test]
fn a_zone_waits_for_its_records() {
    check(
        "Zone",
        "
objects:
- metadata: {name: example-com, namespace: apps, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [kflare.dev/finalizer], labels: {kflare.dev/zone-id: z1}}
  spec: {name: example.com, accountRef: {name: acct}, type: full}
  status: {cloudflareMetadata: {zoneID: z1}}
dependents: [DNSRecord apps/a, DNSRecord apps/b, DNSRecord apps/c, DNSRecord apps/d, DNSRecord apps/e, DNSRecord apps/f]
",
        &expect![[r#"
            status: Zone apps/example-com Ready=False InUse: waiting for DNSRecord apps/a, DNSRecord apps/b, DNSRecord apps/c, DNSRecord apps/d, DNSRecord apps/e and 1 more
            next: Zone apps/example-com Wait
        "#]],
    );
}

#[test]
fn a_plan_is_changed_by_the_subscription() {
    check_once(
        "Zone",
        "
objects:
- metadata: {name: example-com, namespace: apps, finalizers: [kflare.dev/finalizer], labels: {kflare.dev/zone-id: z1}}
  spec: {name: example.com, accountRef: {name: acct}, type: full, plan: pro}
  status: {cloudflareMetadata: {zoneID: z1}}
live:
- {id: z1, name: example.com, type: full, status: active, account: {id: 000000000000000000000000000000ac}, plan: {legacy_id: free}}
",
        &expect![[r#"
            stage
              PUT /zones/z1/subscription {"rate_plan":{"id":"pro"}} as kflare/token/CF_API_TOKEN
                Zone apps/example-com update [plan: "free" -> "pro"] (status records z1)
            status: Zone apps/example-com Ready=False TerminalError: Cloudflare accepted plan but did not apply it: it is still "free" instead of "pro"
            next: Zone apps/example-com Resync
        "#]],
    );
}

#[test]
fn b073_a_zone_whose_read_fails_keeps_its_id_and_is_not_made_again() {
    let mut world = check_once(
        "Zone",
        "
objects:
- metadata: {name: example-com, namespace: apps, finalizers: [kflare.dev/finalizer], labels: {kflare.dev/zone-id: z1}}
  spec: {name: example.com, accountRef: {name: acct}, type: full}
  status: {cloudflareMetadata: {zoneID: z1}}
live:
- {id: z1, name: example.com, type: full, status: active, account: {id: 000000000000000000000000000000ac}}
reads_fail: 500
",
        &expect![[r#"
            status: Zone apps/example-com Ready=False APIError: cannot read the object z1: no (10000)
            next: Zone apps/example-com Fault(None)
        "#]],
    );
    assert_eq!(world.objects[0]["status"]["cloudflareMetadata"]["zoneID"], "z1");
    world.reads_fail = None;
    expect![[r#"
        status: Zone apps/example-com Ready=True Synced: Cloudflare's object is as the spec says
        next: Zone apps/example-com Drift
    "#]]
    .assert_eq(&world.pass(kinds::kind("Zone").unwrap()));
    assert_eq!(world.objects[0]["status"]["cloudflareMetadata"]["zoneID"], "z1");
}

#[test]
fn b155_a_moved_zone_is_reported_and_not_used() {
    check(
        "Zone",
        "
objects:
- metadata: {name: example-com, namespace: apps, finalizers: [kflare.dev/finalizer], labels: {kflare.dev/zone-id: z1}}
  spec: {name: example.com, accountRef: {name: acct}, type: full}
  status: {cloudflareMetadata: {zoneID: z1}}
live:
- {id: z1, name: example.com, type: full, status: moved, account: {id: 000000000000000000000000000000ac}}
",
        &expect![[r#"
            status: Zone apps/example-com Ready=False TerminalError: Cloudflare says that the zone is moved: its domain no longer points at Cloudflare's name servers
            next: Zone apps/example-com Resync
        "#]],
    );
}

const NAMED: &str = "
objects:
- metadata: {name: example-com, namespace: apps, annotations: {kflare.dev/adopt-id: z1}}
  spec: {name: example.com, accountRef: {name: acct}, type: full}
";
const LIVE: &str = "
live:
- {id: z1, name: example.com, type: full, status: active, account: {id: 000000000000000000000000000000ac}}
";

#[test]
fn b148_a_zone_that_is_named_by_its_id_is_read_by_it_and_taken_over() {
    check(
        "Zone",
        &format!("{NAMED}{LIVE}"),
        &expect![[r#"
        stage
          PATCH Zone apps/example-com {"metadata":{"annotations":{"kflare.dev/adopted":"true","kflare.dev/creating":null},"finalizers":["kflare.dev/finalizer"],"labels":{"kflare.dev/zone-id":"z1"},"resourceVersion":"","uid":"uid-example-com"}}
            Zone apps/example-com prepare (nothing that exists is touched)
        status: Zone apps/example-com Ready=True Synced: Cloudflare's object is as the spec says
        next: Zone apps/example-com Drift
    "#]],
    );
}

#[test]
fn a_zone_that_is_named_by_its_id_and_cannot_be_read_is_neither_looked_for_nor_made() {
    check(
        "Zone",
        &format!("{NAMED}reads_fail: 403"),
        &expect![[r#"
        status: Zone apps/example-com Ready=False TerminalError: cannot read the object to adopt with the token of CloudflareAccount acct (Secret kflare/token/CF_API_TOKEN), which needs the permission "Zone: Read" on the zone: no (10000)
        next: Zone apps/example-com After(600s, Drift)
    "#]],
    );
}

#[test]
fn a_mark_of_before_is_looked_after_although_a_zone_is_named() {
    let marked = NAMED.replace(
        "kflare.dev/adopt-id: z1",
        "kflare.dev/adopt-id: z1, kflare.dev/creating: 'name=example.com until 2025-12-31T00:00:00Z'",
    );
    check(
        "Zone",
        &format!("{marked}{LIVE}"),
        &expect![[r#"
        stage
          PATCH Zone apps/example-com {"metadata":{"annotations":{"kflare.dev/creating":null},"finalizers":["kflare.dev/finalizer"],"labels":{"kflare.dev/zone-id":"z1"},"resourceVersion":"","uid":"uid-example-com"}}
            Zone apps/example-com claim (nothing that exists is touched)
        status: Zone apps/example-com Ready=True Synced: Cloudflare's object is as the spec says
        next: Zone apps/example-com Drift
    "#]],
    );
}

#[test]
fn b155_a_zone_of_another_account_is_not_taken_over_by_its_id() {
    let anothers = LIVE.replace("000000000000000000000000000000ac", "00000000000000000000000000000bad");
    check(
        "Zone",
        &format!("{NAMED}{anothers}"),
        &expect![[r#"
            status: Zone apps/example-com Ready=False AdoptionMismatch: the object z1 belongs to another CloudflareAccount than the spec names; correct annotation kflare.dev/adopt-id
            next: Zone apps/example-com Resync
        "#]],
    );
}

/// A Zone that only a label leads to a zone of another name.
fn mislabelled(metadata: &str, status: &str) -> String {
    format!(
        "
objects:
- metadata: {{name: new, namespace: apps, labels: {{kflare.dev/zone-id: z2}}, finalizers: [kflare.dev/finalizer]{metadata}}}
  spec: {{name: new.example, accountRef: {{name: acct}}, plan: business}}
  status: {status}
live:
- {{id: z1, name: new.example, type: full, status: active, account: {{id: 000000000000000000000000000000ac}}, plan: {{legacy_id: free}}}}
- {{id: z2, name: other.example, type: full, status: active, account: {{id: 000000000000000000000000000000ac}}, plan: {{legacy_id: free}}}}
"
    )
}

#[test]
fn a_label_that_names_a_zone_of_another_name_leads_to_no_write() {
    check(
        "Zone",
        &mislabelled("", "{}"),
        &expect![[r#"
        status: Zone apps/new Ready=False AdoptionMismatch: label kflare.dev/zone-id names z2, which is name=other.example, but the spec says name=new.example: nothing is written; remove the label
        next: Zone apps/new Resync
    "#]],
    );
}

/// A Zone whose label and status both name a zone of another name.
fn misrecorded(metadata: &str) -> String {
    mislabelled(metadata, "{cloudflareMetadata: {zoneID: z2}}")
}

#[test]
fn a_status_that_names_a_zone_of_another_name_leads_to_no_write() {
    check(
        "Zone",
        &misrecorded(""),
        &expect![[r#"
            status: Zone apps/new Ready=False AdoptionMismatch: status.cloudflareMetadata.zoneID records z2, which is name=other.example and not what the spec says: nothing is written or deleted; correct it, or annotate the resource with kflare.dev/deletion-policy: retain, with which it can be deleted
            next: Zone apps/new Resync
        "#]],
    );
}

#[test]
fn a_deleted_zone_whose_status_names_a_zone_of_another_name_leaves_that_one_alone() {
    let deleted = misrecorded(", deletionTimestamp: '2026-01-01T00:00:00Z'");
    check_once(
        "Zone",
        &deleted,
        &expect![[r#"
            status: Zone apps/new Ready=False AdoptionMismatch: status.cloudflareMetadata.zoneID records z2, which is name=other.example and not what the spec says: nothing is written or deleted; correct it, or annotate the resource with kflare.dev/deletion-policy: retain, with which it can be deleted
            next: Zone apps/new Resync
        "#]],
    );
}

#[test]
fn a_deleted_zone_whose_label_names_a_zone_of_another_name_leaves_that_one_alone() {
    const DELETED: &str = ", deletionTimestamp: '2026-01-01T00:00:00Z'";
    check_once(
        "Zone",
        &mislabelled(DELETED, "{}"),
        &expect![[r#"
        stage
          PATCH Zone apps/new {"metadata":{"finalizers":null,"resourceVersion":"","uid":"uid-new"}}
            Zone apps/new release (nothing that exists is touched)
        next: Zone apps/new Forget
    "#]],
    );
    let recorded = mislabelled(DELETED, "{cloudflareMetadata: {zoneID: z1}}");
    check_once(
        "Zone",
        &recorded,
        &expect![[r#"
        stage
          PATCH Zone apps/new {"metadata":{"annotations":{"kflare.dev/deleting":"z1"},"resourceVersion":"","uid":"uid-new"}}
            Zone apps/new mark as deleting (nothing that exists is touched)
        stage
          DELETE /zones/z1 as kflare/token/CF_API_TOKEN
            Zone apps/new delete (status records z1)
        stage
          PATCH Zone apps/new {"metadata":{"finalizers":null,"resourceVersion":"","uid":"uid-new"}}
            Zone apps/new release (nothing that exists is touched)
        next: Zone apps/new Forget
    "#]],
    );
}

/// Only the status counts, and it names a zone of another name too: that one is looked at before it would be deleted.
#[test]
fn a_deleted_zone_is_seen_under_its_own_id_where_the_label_names_anothers() {
    let third = "
- {id: z3, name: third.example, type: full, status: active, account: {id: 000000000000000000000000000000ac}, plan: {legacy_id: free}}
";
    let deleted =
        mislabelled(", deletionTimestamp: '2026-01-01T00:00:00Z'", "{cloudflareMetadata: {zoneID: z3}}");
    check_once(
        "Zone",
        &format!("{}{third}", deleted.trim_end()),
        &expect![[r#"
        status: Zone apps/new Ready=False AdoptionMismatch: status.cloudflareMetadata.zoneID records z3, which is name=third.example and not what the spec says: nothing is written or deleted; correct it, or annotate the resource with kflare.dev/deletion-policy: retain, with which it can be deleted
        next: Zone apps/new Resync
    "#]],
    );
}

#[test]
fn outside_the_allowed_namespaces_a_deleted_zone_is_seen_before_what_its_status_names_goes() {
    let barred = |deleted: &str| format!("{deleted}allowed: {{names: [other]}}\n");
    let deleted = ", deletionTimestamp: '2026-01-01T00:00:00Z'";
    check_once(
        "Zone",
        &barred(&misrecorded(deleted)),
        &expect![[r#"
        status: Zone apps/new Ready=False AdoptionMismatch: status.cloudflareMetadata.zoneID records z2, which is name=other.example and not what the spec says: nothing is written or deleted; correct it, or annotate the resource with kflare.dev/deletion-policy: retain, with which it can be deleted
        next: Zone apps/new Resync
    "#]],
    );
    let own = mislabelled(deleted, "{cloudflareMetadata: {zoneID: z1}}");
    check_once(
        "Zone",
        &barred(&own),
        &expect![[r#"
        stage
          PATCH Zone apps/new {"metadata":{"annotations":{"kflare.dev/deleting":"z1"},"resourceVersion":"","uid":"uid-new"}}
            Zone apps/new mark as deleting (nothing that exists is touched)
        stage
          DELETE /zones/z1 as kflare/token/CF_API_TOKEN
            Zone apps/new delete (status records z1)
        stage
          PATCH Zone apps/new {"metadata":{"finalizers":null,"resourceVersion":"","uid":"uid-new"}}
            Zone apps/new release (nothing that exists is touched)
        next: Zone apps/new Forget
    "#]],
    );
}
