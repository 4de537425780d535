//! Two Zones of one zone: whose deletion takes it away, and who waits for whom.

use expect_test::expect;

use super::harness::{Tested, World, check, check_once};

const MAKER: &str = "
objects:
- metadata: {name: example-com, namespace: apps, creationTimestamp: '2025-06-01T00:00:00Z', deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [kflare.dev/finalizer], labels: {kflare.dev/zone-id: z1}}
  spec: {name: example.com, accountRef: {name: acct}, type: full}
  status: {cloudflareMetadata: {zoneID: z1}}
live:
- {id: z1, name: example.com, type: full, status: active, account: {id: 000000000000000000000000000000ac}}
";

/// Another Zone that stands for the zone, with these metadata besides.
fn sharer(metadata: &str, rest: &str) -> String {
    format!(
        "sharers:
- object:
    metadata: {{name: example-com, namespace: web, labels: {{kflare.dev/zone-id: z1}}, {metadata}}}
    spec: {{name: example.com, accountRef: {{name: acct}}}}
    status: {{cloudflareMetadata: {{zoneID: z1}}}}
  {rest}
"
    )
}

const DELETING: &str = "deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [kflare.dev/finalizer]";
const LET_GO: &str = "deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [example.net/other]";
const OLDER: &str = "creationTimestamp: '2025-01-01T00:00:00Z'";
const YOUNGER: &str = "creationTimestamp: '2025-09-01T00:00:00Z'";
const TAKES_IT: &str = "annotations: {kflare.dev/adopted: 'true', kflare.dev/deletion-policy: delete}";
const KEEPS_IT: &str = "annotations: {kflare.dev/adopted: 'true'}";

/// What becomes of the maker's deletion.
#[derive(Debug, PartialEq)]
enum End {
    Waits,
    Deletes,
    LetsGo,
}

fn end(world: &str) -> End {
    let mut world: World = serde_saphyr::from_str(world).expect("the table's YAML");
    let passed = world.pass("Zone".row());
    match (passed.contains("DELETE /zones/z1 "), passed.contains(" release ")) {
        (true, true) => End::Deletes,
        (false, true) => End::LetsGo,
        (false, false) if passed.contains("InUse") => End::Waits,
        _ => panic!("{passed}"),
    }
}

#[test]
fn a_zone_that_another_stands_for_waits_for_it() {
    check(
        "Zone",
        &format!("{MAKER}{}", sharer(KEEPS_IT, "")),
        &expect![[r#"
        status: Zone apps/example-com Ready=False InUse: waiting for Zone web/example-com: one Zone in Cloudflare serves them all and goes with the last; annotate this one with kflare.dev/deletion-policy: retain to let it go now and leave the Zone to the others
        next: Zone apps/example-com Wait
    "#]],
    );
}

#[test]
fn a_zone_that_is_kept_waits_for_nobody() {
    let kept = MAKER.replace("labels:", "annotations: {kflare.dev/deletion-policy: retain}, labels:");
    check_once(
        "Zone",
        &format!("{kept}{}", sharer(KEEPS_IT, "")),
        &expect![[r#"
        stage
          PATCH Zone apps/example-com {"metadata":{"finalizers":null,"resourceVersion":"","uid":"uid-example-com"}}
            Zone apps/example-com release (nothing that exists is touched)
        next: Zone apps/example-com Forget
    "#]],
    );
}

#[test]
fn one_whose_account_cannot_be_read_or_that_cannot_be_read_itself_is_waited_for() {
    assert_eq!(end(&format!("{MAKER}{}", sharer("", "account: unknown"))), End::Waits);
    assert_eq!(end(&format!("{MAKER}sharers: [{{}}]")), End::Waits);
}

#[test]
fn one_that_stands_for_nothing_is_not_waited_for() {
    assert_eq!(
        end(&format!("{MAKER}{}", sharer("", "account: missing"))),
        End::Deletes,
        "its account is gone"
    );
    assert_eq!(
        end(&format!("{MAKER}{}", sharer("", "account: 00000000000000000000000000000bad"))),
        End::Deletes
    );
}

#[test]
fn a_label_alone_proves_nothing_where_the_account_may_not_be_used() {
    let by_label = sharer("", "").replace("    status: {cloudflareMetadata: {zoneID: z1}}\n", "");
    let allowed = |names: &str| format!("allowed: {{names: {names}}}\n");
    assert_eq!(end(&format!("{MAKER}{by_label}{}", allowed("[apps]"))), End::Deletes);
    assert_eq!(end(&format!("{MAKER}{by_label}{}", allowed("[apps, web]"))), End::Waits);
    // A label that names another zone than the status proves nothing there, either.
    let other = sharer("", "").replace("zoneID: z1", "zoneID: z2");
    assert_eq!(end(&format!("{MAKER}{other}{}", allowed("[apps]"))), End::Deletes);
    // What its status records was allowed once, and its records are there.
    assert_eq!(end(&format!("{MAKER}{}{}", sharer("", ""), allowed("[apps]"))), End::Waits);
}

#[test]
fn of_several_that_go_one_takes_the_zone_after_the_others() {
    let going = |policy: &str, age: &str, rest: &str| {
        end(&format!("{MAKER}{}", sharer(&format!("{DELETING}, {age}, {policy}"), rest)))
    };
    assert_eq!(going(KEEPS_IT, OLDER, ""), End::Deletes, "the other leaves the zone alone");
    assert_eq!(
        going(KEEPS_IT, OLDER, "dependents: [DNSRecord web/www]"),
        End::Waits,
        "it has records to delete"
    );
    assert_eq!(going(TAKES_IT, YOUNGER, ""), End::Waits, "a second delete would be refused");
    assert_eq!(going(TAKES_IT, OLDER, ""), End::LetsGo, "the other takes it");
    assert_eq!(going(TAKES_IT, OLDER, "dependents: [DNSRecord web/www]"), End::LetsGo);
    let let_go = format!("{MAKER}{}", sharer(&format!("{LET_GO}, {OLDER}, {TAKES_IT}"), ""));
    assert_eq!(end(&let_go), End::Deletes, "kflare has already let the other go");
}
