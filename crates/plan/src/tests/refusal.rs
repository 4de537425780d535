//! What people read when Cloudflare refuses a token: what it needs, whose it is, and Cloudflare's own words last.

use expect_test::{Expect, expect};

use super::document::TOY;
use super::harness::{Tested, World};

const RECORD: &str = "
objects:
- metadata: {name: www, namespace: apps}
  spec: {zoneRef: {name: example-com}, name: www, type: A, content: 192.0.2.1, ttl: 1, proxied: false}
";
const OWN_RECORD: &str = "
objects:
- metadata: {name: www, namespace: apps, finalizers: [kflare.dev/finalizer], labels: {kflare.dev/record-id: r1}}
  spec: {zoneRef: {name: example-com}, name: www, type: A, content: 192.0.2.1, ttl: 300, proxied: false}
  status: {cloudflareMetadata: {recordID: r1}}
live:
- {id: r1, type: A, name: www.example.com, content: 192.0.2.1, ttl: 1, proxied: false}
";
const ZONE: &str = "
objects:
- metadata: {name: example-com, namespace: apps}
  spec: {name: example.com, accountRef: {name: acct}, type: full}
";
const OWN_ZONE: &str = "
objects:
- metadata: {name: example-com, namespace: apps, finalizers: [kflare.dev/finalizer], labels: {kflare.dev/zone-id: z1}}
  spec: {name: example.com, accountRef: {name: acct}, type: partial, plan: pro}
  status: {cloudflareMetadata: {zoneID: z1}}
live:
- {id: z1, name: example.com, type: full, status: active, account: {id: 000000000000000000000000000000ac}, plan: {legacy_id: free}}
";
const ACCOUNT: &str = "
objects:
- metadata: {name: acct, finalizers: [kflare.dev/finalizer]}
  spec: {accountID: 000000000000000000000000000000ac, tokenSecretRef: {name: token, namespace: kflare, key: CF_API_TOKEN}}
secret: [kflare.dev/token-protection]
";

/// What is reported of a world in which this goes wrong.
#[track_caller]
fn check(kind: impl Tested, world: &str, trouble: &str, expected: &Expect) {
    let mut world: World = serde_saphyr::from_str(&format!("{world}{trouble}")).expect("the table's YAML");
    let passed = world.pass(kind.row());
    let reports = passed.lines().filter(|line| line.starts_with("status:") || line.starts_with("next:"));
    expected.assert_eq(&reports.map(|line| format!("{line}\n")).collect::<String>());
}

#[test]
fn b148_a_read_that_is_refused_names_the_permission_that_it_needs() {
    check(
        "DNSRecord",
        RECORD,
        "reads_fail: 403\n",
        &expect![[r#"
        status: DNSRecord apps/www Ready=False TerminalError: cannot list the objects of the parent with the token of CloudflareAccount acct (Secret kflare/token/CF_API_TOKEN), which needs the permission "DNS: Read" on the zone: no (10000)
        next: DNSRecord apps/www After(600s, Drift)
    "#]],
    );
    check(
        "Zone",
        ZONE,
        "reads_fail: 403\n",
        &expect![[r#"
        status: Zone apps/example-com Ready=False TerminalError: cannot look for the object with the token of CloudflareAccount acct (Secret kflare/token/CF_API_TOKEN), which needs the permission "Zone: Read" on the zone: no (10000)
        next: Zone apps/example-com After(600s, Drift)
    "#]],
    );
    check(
        "CloudflareAccount",
        ACCOUNT,
        "reads_fail: 403\n",
        &expect![[r#"
        status: CloudflareAccount acct Ready=False InvalidToken: Cloudflare refused the token of CloudflareAccount acct (Secret kflare/token/CF_API_TOKEN): no (10000)
        next: CloudflareAccount acct After(600s, Drift)
    "#]],
    );
}

#[test]
fn b148_a_write_that_is_refused_names_the_permission_that_it_needs() {
    let refused = |word: &str| format!("refuses: {{{word}: 10000}}\nrefusal_status: 403\n");
    check(
        "DNSRecord",
        RECORD,
        &refused("POST"),
        &expect![[r#"
        status: DNSRecord apps/www Ready=False TerminalError: cannot create it with the token of CloudflareAccount acct (Secret kflare/token/CF_API_TOKEN), which needs the permission "DNS: Edit" on the zone: refused because of POST (10000)
        next: DNSRecord apps/www After(600s, Drift)
    "#]],
    );
    check(
        "DNSRecord",
        OWN_RECORD,
        &refused("PATCH"),
        &expect![[r#"
        status: DNSRecord apps/www Ready=False TerminalError: cannot update it with the token of CloudflareAccount acct (Secret kflare/token/CF_API_TOKEN), which needs the permission "DNS: Edit" on the zone: refused because of PATCH (10000)
        next: DNSRecord apps/www After(600s, Drift)
    "#]],
    );
    check(
        "Zone",
        ZONE,
        &refused("POST"),
        &expect![[r#"
        status: Zone apps/example-com Ready=False TerminalError: cannot create it with the token of CloudflareAccount acct (Secret kflare/token/CF_API_TOKEN), which needs the permission "Zone: Edit" on the account: refused because of POST (10000)
        next: Zone apps/example-com After(600s, Drift)
    "#]],
    );
    check(
        "Zone",
        OWN_ZONE,
        &refused("PATCH"),
        &expect![[r#"
        status: Zone apps/example-com Ready=False TerminalError: cannot update it with the token of CloudflareAccount acct (Secret kflare/token/CF_API_TOKEN), which needs the permission "Zone: Edit" on the zone: refused because of PATCH (10000)
        next: Zone apps/example-com After(600s, Drift)
    "#]],
    );
    check(
        "Zone",
        OWN_ZONE,
        &refused("subscription"),
        &expect![[r#"
        status: Zone apps/example-com Ready=False TerminalError: cannot update it with the token of CloudflareAccount acct (Secret kflare/token/CF_API_TOKEN), which needs the permission "Billing: Edit" on the account: refused because of subscription (10000)
        next: Zone apps/example-com After(600s, Drift)
    "#]],
    );
}

#[test]
fn a_delete_that_is_refused_names_the_permission_and_the_way_out() {
    let deleted = OWN_RECORD
        .replace("name: www, namespace", "name: www, deletionTimestamp: '2026-01-01T00:00:00Z', namespace");
    check(
        "DNSRecord",
        &deleted,
        "refuses: {DELETE: 10000}\nrefusal_status: 403\n",
        &expect![[r#"
        status: DNSRecord apps/www Ready=False TerminalError: cannot delete it with the token of CloudflareAccount acct (Secret kflare/token/CF_API_TOKEN), which needs the permission "DNS: Edit" on the zone: refused because of DELETE (10000)
        next: DNSRecord apps/www After(600s, Drift)
    "#]],
    );
    check(
        "DNSRecord",
        &deleted,
        "refuses: {DELETE: 7003}\nrefusal_status: 404\n",
        &expect![[r#"
        status: DNSRecord apps/www Ready=False TerminalError: cannot delete it; if it is gone, annotate the resource with kflare.dev/deletion-policy: retain to let it go: refused because of DELETE (7003)
        next: DNSRecord apps/www Resync
    "#]],
    );
}

#[test]
fn a_document_that_may_not_be_written_names_the_permission() {
    let toy = "
objects:
- {metadata: {name: a, namespace: apps, finalizers: [kflare.dev/finalizer]}, spec: {zoneRef: {name: example-com}, color: red}}
document: {toys: []}
";
    check(
        &TOY,
        toy,
        "refuses: {PUT: 10000}\nrefusal_status: 403\n",
        &expect![[r#"
            status: Toy apps/a Ready=False TerminalError: cannot set its entry with the token of CloudflareAccount acct (Secret kflare/token/CF_API_TOKEN), which needs the permission "Toys: Edit" on the zone: refused because of PUT (10000)
            next: Toy apps/a After(600s, Drift)
        "#]],
    );
}

#[test]
fn b149_a_401_names_a_permission_only_where_cloudflare_speaks_of_one() {
    check(
        "DNSRecord",
        RECORD,
        "reads_fail: 401\n",
        &expect![[r#"
        status: DNSRecord apps/www Ready=False TerminalError: cannot list the objects of the parent with the token of CloudflareAccount acct (Secret kflare/token/CF_API_TOKEN), which needs the permission "DNS: Read" on the zone: no (10000)
        next: DNSRecord apps/www After(600s, Drift)
    "#]],
    );
    check(
        "DNSRecord",
        RECORD,
        "refuses: {POST: 1000}\nrefusal_status: 401\n",
        &expect![[r#"
        status: DNSRecord apps/www Ready=False TerminalError: cannot create it with the token of CloudflareAccount acct (Secret kflare/token/CF_API_TOKEN): refused because of POST (1000)
        next: DNSRecord apps/www After(600s, Drift)
    "#]],
    );
}

#[test]
fn what_a_new_token_or_zone_is_refused_may_pass() {
    for (age, reason) in [(0, "APIError"), (119, "APIError"), (120, "TerminalError"), (-1, "TerminalError")] {
        for trouble in ["reads_fail: 403\n", "refuses: {POST: 10000}\nrefusal_status: 403\n"] {
            let text = format!("{RECORD}{trouble}age: {age}\n");
            let mut world: World = serde_saphyr::from_str(&text).unwrap();
            let passed = world.pass("DNSRecord".row());
            assert!(passed.contains(&format!("Ready=False {reason}: ")), "{age}: {passed}");
            assert_eq!(passed.contains("Fault(None)"), reason == "APIError", "{age}: {passed}");
        }
    }
}

#[test]
fn a_token_that_is_unknown_is_so_however_new_it_is() {
    check(
        "DNSRecord",
        RECORD,
        "reads_fail: 401\nage: 0\n",
        &expect![[r#"
        status: DNSRecord apps/www Ready=False TerminalError: cannot list the objects of the parent with the token of CloudflareAccount acct (Secret kflare/token/CF_API_TOKEN), which needs the permission "DNS: Read" on the zone: no (10000)
        next: DNSRecord apps/www After(600s, Drift)
    "#]],
    );
    check(
        "CloudflareAccount",
        ACCOUNT,
        "token: invalid\nage: 0\n",
        &expect![[r#"
        status: CloudflareAccount acct Ready=False InvalidToken: Cloudflare refused the token of CloudflareAccount acct (Secret kflare/token/CF_API_TOKEN): Invalid API Token (1000)
        next: CloudflareAccount acct After(600s, Drift)
    "#]],
    );
}

#[test]
fn a_new_token_that_may_not_be_verified_yet_is_tried_again() {
    check(
        "CloudflareAccount",
        ACCOUNT,
        "reads_fail: 403\nage: 0\n",
        &expect![[r#"
            status: CloudflareAccount acct Ready=False APIError: cannot verify the token with the token of CloudflareAccount acct (Secret kflare/token/CF_API_TOKEN); the token or what it is for is new, and Cloudflare may not know it everywhere yet, so it is tried again: no (10000)
            next: CloudflareAccount acct Fault(None)
        "#]],
    );
}

#[test]
fn b150_an_answer_that_there_is_no_such_route_is_final() {
    check(
        "DNSRecord",
        OWN_RECORD,
        "refuses: {PATCH: 7003}\nrefusal_status: 400\n",
        &expect![[r#"
        status: DNSRecord apps/www Ready=False TerminalError: cannot update it: refused because of PATCH (7003)
        next: DNSRecord apps/www Resync
    "#]],
    );
    check(
        "DNSRecord",
        OWN_RECORD,
        "refuses: {PATCH: 7000}\nrefusal_status: 404\n",
        &expect![[r#"
        status: DNSRecord apps/www Ready=False TerminalError: cannot update it: refused because of PATCH (7000)
        next: DNSRecord apps/www Resync
    "#]],
    );
}

#[test]
fn b150_a_record_whose_zone_has_no_id_asks_nothing() {
    let zone = "
zone: {metadata: {name: example-com, namespace: apps}, spec: {name: example.com}, status: {conditions: [{type: Ready, status: 'True'}]}}
reads_fail: 500
";
    check(
        "DNSRecord",
        RECORD,
        zone,
        &expect![[r#"
        status: DNSRecord apps/www Ready=False ZoneNotReady: Zone apps/example-com is not Ready: its own condition says why
        next: DNSRecord apps/www Wait
    "#]],
    );
}
