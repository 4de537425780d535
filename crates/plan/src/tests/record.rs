//! DNS records: the lifecycle of members that share a list and its batches.

use cf_api::limits::BATCH_MAX_FREE;
use expect_test::expect;

use super::harness::{World, check, check_once};

#[test]
fn a_new_record_is_marked_created_and_claimed() {
    check(
        "DNSRecord",
        "
objects:
- metadata: {name: www, namespace: apps}
  spec: {zoneRef: {name: example-com}, name: www, type: A, content: 192.0.2.1, ttl: 1, proxied: false}
",
        &expect![[r#"
            stage
              PATCH DNSRecord apps/www {"metadata":{"annotations":{"kflare.dev/creating":"content=192.0.2.1 name=www.example.com type=A image=f1b815494ff5055c until 2026-01-01T00:04:31Z"},"finalizers":["kflare.dev/finalizer"],"resourceVersion":"","uid":"uid-www"}}
                DNSRecord apps/www prepare (nothing that exists is touched)
            stage
              POST /zones/0000000000000000000000000000abcd/dns_records {"content":"192.0.2.1","name":"www.example.com","proxied":false,"ttl":1,"type":"A"} as kflare/token/CF_API_TOKEN
                DNSRecord apps/www create (nothing that exists is touched)
            stage
              PATCH DNSRecord apps/www {"metadata":{"annotations":{"kflare.dev/creating":null},"labels":{"kflare.dev/record-id":"new1"},"uid":"uid-www"}}
                DNSRecord apps/www claim (nothing that exists is touched)
            status: DNSRecord apps/www Ready=True Synced: Cloudflare's object is as the spec says
            next: DNSRecord apps/www Drift
        "#]],
    );
}

#[test]
fn two_new_records_ride_in_one_batch() {
    check(
        "DNSRecord",
        "
objects:
- metadata: {name: a, namespace: apps}
  spec: {zoneRef: {name: example-com}, name: a, type: A, content: 192.0.2.1, ttl: 1, proxied: false}
- metadata: {name: b, namespace: apps}
  spec: {zoneRef: {name: example-com}, name: b, type: A, content: 192.0.2.2, ttl: 1, proxied: false}
",
        &expect![[r#"
            stage
              PATCH DNSRecord apps/a {"metadata":{"annotations":{"kflare.dev/creating":"content=192.0.2.1 name=a.example.com type=A image=fbcb81fb2ec01332 until 2026-01-01T00:04:31Z"},"finalizers":["kflare.dev/finalizer"],"resourceVersion":"","uid":"uid-a"}}
                DNSRecord apps/a prepare (nothing that exists is touched)
              PATCH DNSRecord apps/b {"metadata":{"annotations":{"kflare.dev/creating":"content=192.0.2.2 name=b.example.com type=A image=cfec5e9d7cf4ee3e until 2026-01-01T00:04:31Z"},"finalizers":["kflare.dev/finalizer"],"resourceVersion":"","uid":"uid-b"}}
                DNSRecord apps/b prepare (nothing that exists is touched)
            stage
              POST /zones/0000000000000000000000000000abcd/dns_records/batch {"posts":[{"content":"192.0.2.1","name":"a.example.com","proxied":false,"ttl":1,"type":"A"},{"content":"192.0.2.2","name":"b.example.com","proxied":false,"ttl":1,"type":"A"}]} as kflare/token/CF_API_TOKEN
                DNSRecord apps/a create (nothing that exists is touched)
                DNSRecord apps/b create (nothing that exists is touched)
            stage
              PATCH DNSRecord apps/a {"metadata":{"annotations":{"kflare.dev/creating":null},"labels":{"kflare.dev/record-id":"new1"},"uid":"uid-a"}}
                DNSRecord apps/a claim (nothing that exists is touched)
              PATCH DNSRecord apps/b {"metadata":{"annotations":{"kflare.dev/creating":null},"labels":{"kflare.dev/record-id":"new2"},"uid":"uid-b"}}
                DNSRecord apps/b claim (nothing that exists is touched)
            status: DNSRecord apps/a Ready=True Synced: Cloudflare's object is as the spec says
            next: DNSRecord apps/a Drift
            status: DNSRecord apps/b Ready=True Synced: Cloudflare's object is as the spec says
            next: DNSRecord apps/b Drift
        "#]],
    );
}

#[test]
fn more_records_than_a_batch_holds_do_not_keep_the_first_batch_from_going() {
    let record = |n: usize| {
        format!(
            "- metadata: {{name: r{n}, namespace: apps}}\n  spec: {{zoneRef: {{name: example-com}}, name: r{n}, \
             type: A, content: 192.0.2.1, ttl: 1, proxied: false}}\n"
        )
    };
    let records: String = (0..=BATCH_MAX_FREE).map(record).collect();
    let mut world: World = serde_saphyr::from_str(&format!("objects:\n{records}")).unwrap();
    let kind = kinds::kind("DNSRecord").unwrap();
    for created in [BATCH_MAX_FREE, 1] {
        let passed = world.pass(kind);
        assert_eq!(passed.matches(" create (").count(), created, "{passed}");
    }
    assert!(!world.pass(kind).contains("stage"));
}

#[test]
fn a_changed_ttl_is_one_patch_with_its_difference() {
    check(
        "DNSRecord",
        "
objects:
- metadata: {name: www, namespace: apps, finalizers: [kflare.dev/finalizer], labels: {kflare.dev/record-id: r1}}
  spec: {zoneRef: {name: example-com}, name: www, type: A, content: 192.0.2.1, ttl: 300, proxied: false}
  status: {recordID: r1}
live:
- {id: r1, type: A, name: www.example.com, content: 192.0.2.1, ttl: 120, proxied: false}
",
        &expect![[r#"
            stage
              PATCH /zones/0000000000000000000000000000abcd/dns_records/r1 {"ttl":300} as kflare/token/CF_API_TOKEN
                DNSRecord apps/www update [ttl: 120 -> 300] (status records r1)
            status: DNSRecord apps/www Ready=True Synced: Cloudflare's object is as the spec says
            next: DNSRecord apps/www Drift
        "#]],
    );
}

#[test]
fn a_foreign_record_is_left_alone() {
    check(
        "DNSRecord",
        "
objects:
- metadata: {name: www, namespace: apps}
  spec: {zoneRef: {name: example-com}, name: www, type: CNAME, content: lb.example.net, ttl: 1, proxied: false}
live:
- {id: r1, type: CNAME, name: www.example.com, content: other.example.net, ttl: 1, proxied: false}
",
        &expect![[r#"
            status: DNSRecord apps/www Ready=False AlreadyExists: r1 exists with this key and kflare did not create it; annotate the DNSRecord with kflare.dev/adoption-policy: adopt to take it over
            next: DNSRecord apps/www Resync
        "#]],
    );
}

#[test]
fn an_adopted_record_is_claimed_before_it_is_changed() {
    check(
        "DNSRecord",
        "
objects:
- metadata: {name: www, namespace: apps, annotations: {kflare.dev/adoption-policy: adopt}}
  spec: {zoneRef: {name: example-com}, name: www, type: A, content: 192.0.2.9, ttl: 1, proxied: false}
live:
- {id: r1, type: A, name: www.example.com, content: 192.0.2.1, ttl: 1, proxied: false}
",
        &expect![[r#"
            stage
              PATCH DNSRecord apps/www {"metadata":{"annotations":{"kflare.dev/adopted":"true","kflare.dev/creating":null},"finalizers":["kflare.dev/finalizer"],"labels":{"kflare.dev/record-id":"r1"},"resourceVersion":"","uid":"uid-www"}}
                DNSRecord apps/www prepare (nothing that exists is touched)
            stage
              PATCH /zones/0000000000000000000000000000abcd/dns_records/r1 {"content":"192.0.2.9"} as kflare/token/CF_API_TOKEN
                DNSRecord apps/www update [content: "192.0.2.1" -> "192.0.2.9"] (label claims r1)
            status: DNSRecord apps/www Ready=True Synced: Cloudflare's object is as the spec says
            next: DNSRecord apps/www Drift
        "#]],
    );
}

#[test]
fn b040_of_two_txt_records_none_is_guessed() {
    check(
        "DNSRecord",
        "
objects:
- metadata: {name: spf, namespace: apps, annotations: {kflare.dev/adoption-policy: adopt}}
  spec: {zoneRef: {name: example-com}, name: '@', type: TXT, content: v=spf1 include:_spf.example.net -all, ttl: 1, proxied: false}
live:
- {id: r1, type: TXT, name: example.com, content: '\"v=spf1 -all\"', ttl: 1, proxied: false}
- {id: r2, type: TXT, name: example.com, content: '\"site-verification=abc\"', ttl: 1, proxied: false}
",
        &expect![[r#"
            status: DNSRecord apps/spf Ready=False AdoptionAmbiguous: r1, r2 could be adopted; name one in annotation kflare.dev/adopt-id
            next: DNSRecord apps/spf Resync
        "#]],
    );
}

#[test]
fn a_record_that_another_resource_claims_is_a_conflict_whatever_the_policy() {
    check(
        "DNSRecord",
        "
objects:
- metadata: {name: www, namespace: apps, annotations: {kflare.dev/adoption-policy: nonsense}}
  spec: {zoneRef: {name: example-com}, name: www, type: A, content: 192.0.2.1, ttl: 1, proxied: false}
live:
- {id: r1, type: A, name: www.example.com, content: 192.0.2.1, ttl: 1, proxied: false}
claims: {r1: other/www}
",
        &expect![[r#"
            status: DNSRecord apps/www Ready=False RecordConflict: DNSRecord other/www already manages this object: change or delete one of the two
            next: DNSRecord apps/www After(60s, Drift)
        "#]],
    );
}

#[test]
fn a_lost_answer_is_found_again_by_its_mark() {
    let mut world = check_once(
        "DNSRecord",
        "
objects:
- metadata: {name: sip, namespace: apps}
  spec: {zoneRef: {name: example-com}, name: _sip._tcp, type: SRV, data: {priority: 1, weight: 2, port: 5060, target: sip.example.com}, ttl: 1, proxied: false}
lost: [_sip._tcp]
",
        &expect![[r#"
            stage
              PATCH DNSRecord apps/sip {"metadata":{"annotations":{"kflare.dev/creating":"content=1 2 5060 sip.example.com name=_sip._tcp.example.com type=SRV image=807ab85c5ddca3d2 until 2026-01-01T00:04:31Z"},"finalizers":["kflare.dev/finalizer"],"resourceVersion":"","uid":"uid-sip"}}
                DNSRecord apps/sip prepare (nothing that exists is touched)
            stage
              POST /zones/0000000000000000000000000000abcd/dns_records {"data":{"port":5060,"priority":1,"target":"sip.example.com","weight":2},"name":"_sip._tcp.example.com","ttl":1,"type":"SRV"} as kflare/token/CF_API_TOKEN
                DNSRecord apps/sip create (nothing that exists is touched)
            status: DNSRecord apps/sip Ready=False APIError: cannot create it: no answer in time
            next: DNSRecord apps/sip Fault(None)
        "#]],
    );
    expect![[r#"
        stage
          PATCH DNSRecord apps/sip {"metadata":{"labels":{"kflare.dev/record-id":"new1"},"uid":"uid-sip"}}
            DNSRecord apps/sip claim (nothing that exists is touched)
        status: DNSRecord apps/sip Ready=True Synced: Cloudflare's object is as the spec says
        next: DNSRecord apps/sip After(270s, Drift)
    "#]]
    .assert_eq(&world.pass(kinds::kind("DNSRecord").unwrap()));
}

#[test]
fn b074_one_bad_record_does_not_block_its_batch() {
    check_once(
        "DNSRecord",
        "
objects:
- metadata: {name: a, namespace: apps}
  spec: {zoneRef: {name: example-com}, name: a, type: A, content: 192.0.2.1, ttl: 1, proxied: false}
- metadata: {name: b, namespace: apps}
  spec: {zoneRef: {name: example-com}, name: bad, type: A, content: 192.0.2.2, ttl: 1, proxied: false}
- metadata: {name: c, namespace: apps}
  spec: {zoneRef: {name: example-com}, name: c, type: A, content: 192.0.2.3, ttl: 1, proxied: false}
refuses: {bad.example.com: 9000}
",
        &expect![[r#"
            stage
              PATCH DNSRecord apps/a {"metadata":{"annotations":{"kflare.dev/creating":"content=192.0.2.1 name=a.example.com type=A image=fbcb81fb2ec01332 until 2026-01-01T00:04:31Z"},"finalizers":["kflare.dev/finalizer"],"resourceVersion":"","uid":"uid-a"}}
                DNSRecord apps/a prepare (nothing that exists is touched)
              PATCH DNSRecord apps/b {"metadata":{"annotations":{"kflare.dev/creating":"content=192.0.2.2 name=bad.example.com type=A image=12f581db42889df9 until 2026-01-01T00:04:31Z"},"finalizers":["kflare.dev/finalizer"],"resourceVersion":"","uid":"uid-b"}}
                DNSRecord apps/b prepare (nothing that exists is touched)
              PATCH DNSRecord apps/c {"metadata":{"annotations":{"kflare.dev/creating":"content=192.0.2.3 name=c.example.com type=A image=82c79e4810885852 until 2026-01-01T00:04:31Z"},"finalizers":["kflare.dev/finalizer"],"resourceVersion":"","uid":"uid-c"}}
                DNSRecord apps/c prepare (nothing that exists is touched)
            stage
              POST /zones/0000000000000000000000000000abcd/dns_records/batch {"posts":[{"content":"192.0.2.1","name":"a.example.com","proxied":false,"ttl":1,"type":"A"},{"content":"192.0.2.2","name":"bad.example.com","proxied":false,"ttl":1,"type":"A"},{"content":"192.0.2.3","name":"c.example.com","proxied":false,"ttl":1,"type":"A"}]} as kflare/token/CF_API_TOKEN
                DNSRecord apps/a create (nothing that exists is touched)
                DNSRecord apps/b create (nothing that exists is touched)
                DNSRecord apps/c create (nothing that exists is touched)
            stage
              POST /zones/0000000000000000000000000000abcd/dns_records {"content":"192.0.2.1","name":"a.example.com","proxied":false,"ttl":1,"type":"A"} as kflare/token/CF_API_TOKEN
                DNSRecord apps/a create (nothing that exists is touched)
              POST /zones/0000000000000000000000000000abcd/dns_records {"content":"192.0.2.2","name":"bad.example.com","proxied":false,"ttl":1,"type":"A"} as kflare/token/CF_API_TOKEN
                DNSRecord apps/b create (nothing that exists is touched)
              POST /zones/0000000000000000000000000000abcd/dns_records {"content":"192.0.2.3","name":"c.example.com","proxied":false,"ttl":1,"type":"A"} as kflare/token/CF_API_TOKEN
                DNSRecord apps/c create (nothing that exists is touched)
            stage
              PATCH DNSRecord apps/a {"metadata":{"annotations":{"kflare.dev/creating":null},"labels":{"kflare.dev/record-id":"new1"},"uid":"uid-a"}}
                DNSRecord apps/a claim (nothing that exists is touched)
              PATCH DNSRecord apps/b {"metadata":{"annotations":{"kflare.dev/creating":null},"uid":"uid-b"}}
                DNSRecord apps/b unmark (nothing that exists is touched)
              PATCH DNSRecord apps/c {"metadata":{"annotations":{"kflare.dev/creating":null},"labels":{"kflare.dev/record-id":"new2"},"uid":"uid-c"}}
                DNSRecord apps/c claim (nothing that exists is touched)
            status: DNSRecord apps/a Ready=True Synced: Cloudflare's object is as the spec says
            next: DNSRecord apps/a Drift
            status: DNSRecord apps/b Ready=False TerminalError: cannot create it: refused because of bad.example.com (9000)
            next: DNSRecord apps/b Resync
            status: DNSRecord apps/c Ready=True Synced: Cloudflare's object is as the spec says
            next: DNSRecord apps/c Drift
        "#]],
    );
}

#[test]
fn b041_an_identical_record_that_the_list_did_not_show_is_not_created_again() {
    check_once(
        "DNSRecord",
        "
objects:
- metadata: {name: www, namespace: apps}
  spec: {zoneRef: {name: example-com}, name: www, type: A, content: 192.0.2.1, ttl: 1, proxied: false}
refuses: {POST: 81058}
",
        &expect![[r#"
            stage
              PATCH DNSRecord apps/www {"metadata":{"annotations":{"kflare.dev/creating":"content=192.0.2.1 name=www.example.com type=A image=f1b815494ff5055c until 2026-01-01T00:04:31Z"},"finalizers":["kflare.dev/finalizer"],"resourceVersion":"","uid":"uid-www"}}
                DNSRecord apps/www prepare (nothing that exists is touched)
            stage
              POST /zones/0000000000000000000000000000abcd/dns_records {"content":"192.0.2.1","name":"www.example.com","proxied":false,"ttl":1,"type":"A"} as kflare/token/CF_API_TOKEN
                DNSRecord apps/www create (nothing that exists is touched)
            stage
              PATCH DNSRecord apps/www {"metadata":{"annotations":{"kflare.dev/creating":null},"uid":"uid-www"}}
                DNSRecord apps/www unmark (nothing that exists is touched)
            status: DNSRecord apps/www Ready=False AlreadyExists: an object of another type, or one that this token is not shown, is in the way; remove it, or change this one: refused because of POST (81058)
            next: DNSRecord apps/www Resync
        "#]],
    );
}

#[test]
fn b149_a_refused_token_creates_and_forgets_nothing() {
    check(
        "DNSRecord",
        "
objects:
- metadata: {name: www, namespace: apps, finalizers: [kflare.dev/finalizer], labels: {kflare.dev/record-id: r1}}
  spec: {zoneRef: {name: example-com}, name: www, type: A, content: 192.0.2.1, ttl: 1, proxied: false}
  status: {recordID: r1}
reads_fail: 403
",
        &expect![[r#"
            status: DNSRecord apps/www Ready=False TerminalError: cannot list the objects of the parent with the token of CloudflareAccount acct (Secret kflare/token/CF_API_TOKEN), which needs the permission "DNS: Read" on the zone: no (10000)
            next: DNSRecord apps/www After(600s, Drift)
        "#]],
    );
}

#[test]
fn b069_a_comment_that_was_ours_is_cleared_and_another_stays() {
    check(
        "DNSRecord",
        "
objects:
- metadata: {name: ours, namespace: apps, finalizers: [kflare.dev/finalizer], labels: {kflare.dev/record-id: r1}}
  spec: {zoneRef: {name: example-com}, name: ours, type: A, content: 192.0.2.1, ttl: 1, proxied: false}
  status: {recordID: r1, appliedFields: [comment]}
- metadata: {name: theirs, namespace: apps, finalizers: [kflare.dev/finalizer], labels: {kflare.dev/record-id: r2}}
  spec: {zoneRef: {name: example-com}, name: theirs, type: A, content: 192.0.2.1, ttl: 1, proxied: false}
  status: {recordID: r2}
live:
- {id: r1, type: A, name: ours.example.com, content: 192.0.2.1, ttl: 1, proxied: false, comment: hello}
- {id: r2, type: A, name: theirs.example.com, content: 192.0.2.1, ttl: 1, proxied: false, comment: from the dashboard}
",
        &expect![[r#"
            stage
              PATCH /zones/0000000000000000000000000000abcd/dns_records/r1 {"comment":""} as kflare/token/CF_API_TOKEN
                DNSRecord apps/ours update [comment: "hello" -> null] (status records r1)
            status: DNSRecord apps/ours Ready=True Synced: Cloudflare's object is as the spec says
            next: DNSRecord apps/ours Drift
            status: DNSRecord apps/theirs Ready=True Synced: Cloudflare's object is as the spec says
            next: DNSRecord apps/theirs Drift
        "#]],
    );
}

#[test]
fn a_deleted_resource_deletes_what_its_label_names() {
    check_once(
        "DNSRecord",
        "
objects:
- metadata: {name: www, namespace: apps, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [kflare.dev/finalizer], labels: {kflare.dev/record-id: r1}}
  spec: {zoneRef: {name: example-com}, name: www, type: A, content: 192.0.2.1, ttl: 1, proxied: false}
live:
- {id: r1, type: A, name: www.example.com, content: 192.0.2.1, ttl: 1, proxied: false}
",
        &expect![[r#"
            stage
              DELETE /zones/0000000000000000000000000000abcd/dns_records/r1 as kflare/token/CF_API_TOKEN
                DNSRecord apps/www delete (label claims r1)
            stage
              PATCH DNSRecord apps/www {"metadata":{"finalizers":null,"resourceVersion":"","uid":"uid-www"}}
                DNSRecord apps/www release (nothing that exists is touched)
            next: DNSRecord apps/www Forget
        "#]],
    );
}

#[test]
fn an_adopted_record_stays_when_its_resource_goes() {
    check_once(
        "DNSRecord",
        "
objects:
- metadata: {name: www, namespace: apps, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [kflare.dev/finalizer], labels: {kflare.dev/record-id: r1}, annotations: {kflare.dev/adopted: 'true'}}
  spec: {zoneRef: {name: example-com}, name: www, type: A, content: 192.0.2.1, ttl: 1, proxied: false}
live:
- {id: r1, type: A, name: www.example.com, content: 192.0.2.1, ttl: 1, proxied: false}
",
        &expect![[r#"
            stage
              PATCH DNSRecord apps/www {"metadata":{"finalizers":null,"resourceVersion":"","uid":"uid-www"}}
                DNSRecord apps/www release (nothing that exists is touched)
            next: DNSRecord apps/www Forget
        "#]],
    );
}

#[test]
fn a_record_whose_zone_is_gone_lets_go_without_a_call() {
    check_once(
        "DNSRecord",
        "
objects:
- metadata: {name: www, namespace: apps, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [kflare.dev/finalizer, other/one], labels: {kflare.dev/record-id: r1}}
  spec: {zoneRef: {name: example-com}, name: www, type: A, content: 192.0.2.1, ttl: 1, proxied: false}
zone: missing
",
        &expect![[r#"
            stage
              PATCH DNSRecord apps/www {"metadata":{"finalizers":["other/one"],"resourceVersion":"","uid":"uid-www"}}
                DNSRecord apps/www release (nothing that exists is touched)
            next: DNSRecord apps/www Forget
        "#]],
    );
}

#[test]
fn a_paused_record_is_neither_read_nor_written_and_its_deletion_waits() {
    check(
        "DNSRecord",
        "
objects:
- metadata: {name: new, namespace: apps, annotations: {kflare.dev/paused: 'true'}}
  spec: {zoneRef: {name: example-com}, name: new, type: A, content: 192.0.2.1, ttl: 1, proxied: false}
- metadata: {name: old, namespace: apps, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [kflare.dev/finalizer], labels: {kflare.dev/record-id: r1}, annotations: {kflare.dev/paused: 'true'}}
  spec: {zoneRef: {name: example-com}, name: old, type: A, content: 192.0.2.1, ttl: 1, proxied: false}
reads_fail: 500
",
        &expect![[r#"
            status: DNSRecord apps/new Ready=Unknown Paused: paused by annotation kflare.dev/paused: nothing is read or changed
            next: DNSRecord apps/new Resync
            status: DNSRecord apps/old Ready=Unknown Paused: paused: the deletion waits until annotation kflare.dev/paused is removed
            next: DNSRecord apps/old Resync
        "#]],
    );
}

#[test]
fn an_unknown_deletion_policy_deletes_nothing() {
    check(
        "DNSRecord",
        "
objects:
- metadata: {name: www, namespace: apps, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [kflare.dev/finalizer], labels: {kflare.dev/record-id: r1}, annotations: {kflare.dev/deletion-policy: orphan}}
  spec: {zoneRef: {name: example-com}, name: www, type: A, content: 192.0.2.1, ttl: 1, proxied: false}
live:
- {id: r1, type: A, name: www.example.com, content: 192.0.2.1, ttl: 1, proxied: false}
",
        &expect![[r#"
            status: DNSRecord apps/www Ready=False InvalidDeletionPolicy: annotation kflare.dev/deletion-policy is "orphan"; use "delete" or "retain", or remove it; until then nothing is deleted
            next: DNSRecord apps/www Resync
        "#]],
    );
}

#[test]
fn an_object_missing_from_a_list_of_two_pages_is_read_before_it_counts_as_gone() {
    check(
        "DNSRecord",
        "
objects:
- metadata: {name: www, namespace: apps, finalizers: [kflare.dev/finalizer], labels: {kflare.dev/record-id: r1}}
  spec: {zoneRef: {name: example-com}, name: www, type: A, content: 192.0.2.1, ttl: 1, proxied: false}
  status: {recordID: r1}
live:
- {id: r1, type: A, name: www.example.com, content: 192.0.2.1, ttl: 1, proxied: false}
unlisted: [r1]
two_pages: true
",
        &expect![[r#"
            status: DNSRecord apps/www Ready=True Synced: Cloudflare's object is as the spec says
            next: DNSRecord apps/www Drift
        "#]],
    );
}

#[test]
fn r11_a_ds_record_that_is_refused_without_its_ns_is_tried_again() {
    check_once(
        "DNSRecord",
        "
objects:
- metadata: {name: ds, namespace: apps}
  spec: {zoneRef: {name: example-com}, name: ds, type: DS, data: {key_tag: 1, algorithm: 13, digest_type: 2, digest: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef}, ttl: 300, proxied: false}
refuses: {POST: 9207}
",
        &expect![[r#"
            stage
              PATCH DNSRecord apps/ds {"metadata":{"annotations":{"kflare.dev/creating":"content=1 13 2 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef name=ds.example.com type=DS image=8c956361f9005183 until 2026-01-01T00:04:31Z"},"finalizers":["kflare.dev/finalizer"],"resourceVersion":"","uid":"uid-ds"}}
                DNSRecord apps/ds prepare (nothing that exists is touched)
            stage
              POST /zones/0000000000000000000000000000abcd/dns_records {"data":{"algorithm":13,"digest":"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef","digest_type":2,"key_tag":1},"name":"ds.example.com","ttl":300,"type":"DS"} as kflare/token/CF_API_TOKEN
                DNSRecord apps/ds create (nothing that exists is touched)
            stage
              PATCH DNSRecord apps/ds {"metadata":{"annotations":{"kflare.dev/creating":null},"uid":"uid-ds"}}
                DNSRecord apps/ds unmark (nothing that exists is touched)
            status: DNSRecord apps/ds Ready=False APIError: cannot create it; it may need an NS record of the same name, so it is tried again: refused because of POST (9207)
            next: DNSRecord apps/ds Fault(None)
        "#]],
    );
}
