//! Taking over objects that exist, contract K7 and K12 to K14.

use expect_test::expect;

use super::harness::{World, check, check_once};

#[test]
fn adopt_id_picks_one_of_two_records_and_means_adopt() {
    check(
        "DNSRecord",
        "
objects:
- metadata: {name: a, namespace: apps, annotations: {kflare.dev/adopt-id: r2}}
  spec: {zoneRef: {name: example-com}, name: a, type: A, content: 192.0.2.9, ttl: 1, proxied: false}
live:
- {id: r1, type: A, name: a.example.com, content: 192.0.2.1, ttl: 1, proxied: false}
- {id: r2, type: A, name: a.example.com, content: 192.0.2.2, ttl: 1, proxied: false}
",
        &expect![[r#"
            stage
              PATCH DNSRecord apps/a {"metadata":{"annotations":{"kflare.dev/adopted":"true","kflare.dev/creating":null},"finalizers":["kflare.dev/finalizer"],"labels":{"kflare.dev/record-id":"r2"},"resourceVersion":"","uid":"uid-a"}}
                DNSRecord apps/a prepare (nothing that exists is touched)
            stage
              PATCH /zones/0000000000000000000000000000abcd/dns_records/r2 {"content":"192.0.2.9"} as kflare/token/CF_API_TOKEN
                DNSRecord apps/a update [content: "192.0.2.2" -> "192.0.2.9"] (label claims r2)
            status: DNSRecord apps/a Ready=True Synced: Cloudflare's object is as the spec says
            next: DNSRecord apps/a Drift
        "#]],
    );
}

#[test]
fn adopt_id_of_a_record_with_another_name_is_a_mismatch() {
    check(
        "DNSRecord",
        "
objects:
- metadata: {name: a, namespace: apps, annotations: {kflare.dev/adopt-id: r1}}
  spec: {zoneRef: {name: example-com}, name: a, type: A, content: 192.0.2.9, ttl: 1, proxied: false}
live:
- {id: r1, type: A, name: b.example.com, content: 192.0.2.1, ttl: 1, proxied: false}
",
        &expect![[r#"
            status: DNSRecord apps/a Ready=False AdoptionMismatch: the object r1 is name=b.example.com type=A, but the spec says name=a.example.com type=A
            next: DNSRecord apps/a Resync
        "#]],
    );
}

#[test]
fn adopt_id_of_nothing_is_not_found_and_with_adopt_or_create_it_is_created() {
    check(
        "DNSRecord",
        "
objects:
- metadata: {name: a, namespace: apps, annotations: {kflare.dev/adopt-id: r1}}
  spec: {zoneRef: {name: example-com}, name: a, type: A, content: 192.0.2.9, ttl: 1, proxied: false}
- metadata: {name: b, namespace: apps, annotations: {kflare.dev/adopt-id: r1, kflare.dev/adoption-policy: adopt-or-create}}
  spec: {zoneRef: {name: example-com}, name: b, type: A, content: 192.0.2.9, ttl: 1, proxied: false}
",
        &expect![[r#"
            stage
              PATCH DNSRecord apps/b {"metadata":{"annotations":{"kflare.dev/creating":"content=192.0.2.9 name=b.example.com type=A image=c7f1b81550f6a533 until 2026-01-01T00:04:31Z"},"finalizers":["kflare.dev/finalizer"],"resourceVersion":"","uid":"uid-b"}}
                DNSRecord apps/b prepare (nothing that exists is touched)
            stage
              POST /zones/0000000000000000000000000000abcd/dns_records {"content":"192.0.2.9","name":"b.example.com","proxied":false,"ttl":1,"type":"A"} as kflare/token/CF_API_TOKEN
                DNSRecord apps/b create (nothing that exists is touched)
            stage
              PATCH DNSRecord apps/b {"metadata":{"annotations":{"kflare.dev/creating":null},"labels":{"kflare.dev/record-id":"new1"},"uid":"uid-b"}}
                DNSRecord apps/b claim (nothing that exists is touched)
            status: DNSRecord apps/a Ready=False NotFound: annotation kflare.dev/adopt-id names r1, which does not exist
            next: DNSRecord apps/a After(60s, Drift)
            status: DNSRecord apps/b Ready=True Synced: Cloudflare's object is as the spec says
            next: DNSRecord apps/b Drift
        "#]],
    );
}

#[test]
fn adopt_id_of_a_record_that_another_resource_claims_is_a_conflict() {
    check(
        "DNSRecord",
        "
objects:
- metadata: {name: a, namespace: apps, annotations: {kflare.dev/adopt-id: r1}}
  spec: {zoneRef: {name: example-com}, name: a, type: A, content: 192.0.2.9, ttl: 1, proxied: false}
live:
- {id: r1, type: A, name: a.example.com, content: 192.0.2.1, ttl: 1, proxied: false}
claims: {r1: other/a}
",
        &expect![[r#"
            status: DNSRecord apps/a Ready=False RecordConflict: DNSRecord other/a already manages this object: change or delete one of the two
            next: DNSRecord apps/a After(60s, Drift)
        "#]],
    );
}

#[test]
fn an_adopted_record_that_was_lost_is_created_anew_and_is_our_own_from_then_on() {
    check(
        "DNSRecord",
        "
objects:
- metadata: {name: a, namespace: apps, finalizers: [kflare.dev/finalizer], labels: {kflare.dev/record-id: r1}, annotations: {kflare.dev/adoption-policy: adopt-or-create, kflare.dev/adopted: 'true'}}
  spec: {zoneRef: {name: example-com}, name: a, type: A, content: 192.0.2.9, ttl: 1, proxied: false}
  status: {recordID: r1}
",
        &expect![[r#"
            stage
              PATCH DNSRecord apps/a {"metadata":{"annotations":{"kflare.dev/adopted":null,"kflare.dev/creating":"content=192.0.2.9 name=a.example.com type=A image=a28dfc863603240a until 2026-01-01T00:04:31Z"},"labels":{"kflare.dev/record-id":null},"resourceVersion":"","uid":"uid-a"}}
                DNSRecord apps/a prepare (nothing that exists is touched)
            stage
              POST /zones/0000000000000000000000000000abcd/dns_records {"content":"192.0.2.9","name":"a.example.com","proxied":false,"ttl":1,"type":"A"} as kflare/token/CF_API_TOKEN
                DNSRecord apps/a create (nothing that exists is touched)
            stage
              PATCH DNSRecord apps/a {"metadata":{"annotations":{"kflare.dev/creating":null},"labels":{"kflare.dev/record-id":"new1"},"uid":"uid-a"}}
                DNSRecord apps/a claim (nothing that exists is touched)
            status: DNSRecord apps/a Ready=True Synced: Cloudflare's object is as the spec says
            next: DNSRecord apps/a Drift
        "#]],
    );
}

#[test]
fn two_new_resources_of_one_key_do_not_make_two_records() {
    check_once(
        "DNSRecord",
        "
objects:
- metadata: {name: younger, namespace: apps, creationTimestamp: '2026-01-01T00:00:00Z'}
  spec: {zoneRef: {name: example-com}, name: www, type: A, content: 192.0.2.1, ttl: 1, proxied: false}
- metadata: {name: older, namespace: apps, creationTimestamp: '2025-01-01T00:00:00Z'}
  spec: {zoneRef: {name: example-com}, name: WWW.example.com., type: A, content: 192.0.2.1, ttl: 1, proxied: false}
",
        &expect![[r#"
            stage
              PATCH DNSRecord apps/older {"metadata":{"annotations":{"kflare.dev/creating":"content=192.0.2.1 name=www.example.com type=A image=f1b815494ff5055c until 2026-01-01T00:04:31Z"},"finalizers":["kflare.dev/finalizer"],"resourceVersion":"","uid":"uid-older"}}
                DNSRecord apps/older prepare (nothing that exists is touched)
            stage
              POST /zones/0000000000000000000000000000abcd/dns_records {"content":"192.0.2.1","name":"www.example.com","proxied":false,"ttl":1,"type":"A"} as kflare/token/CF_API_TOKEN
                DNSRecord apps/older create (nothing that exists is touched)
            stage
              PATCH DNSRecord apps/older {"metadata":{"annotations":{"kflare.dev/creating":null},"labels":{"kflare.dev/record-id":"new1"},"uid":"uid-older"}}
                DNSRecord apps/older claim (nothing that exists is touched)
            status: DNSRecord apps/older Ready=True Synced: Cloudflare's object is as the spec says
            next: DNSRecord apps/older Drift
            status: DNSRecord apps/younger Ready=False RecordConflict: DNSRecord apps/older already manages this object: change or delete one of the two
            next: DNSRecord apps/younger After(60s, Drift)
        "#]],
    );
}

const TWO_OF_ONE_SRV: &str = "
objects:
- metadata: {name: first, namespace: apps, finalizers: [kflare.dev/finalizer], labels: {kflare.dev/record-id: unseen1}}
  spec: &spec {zoneRef: {name: example-com}, name: _sip._tcp, type: SRV, data: {priority: 1, weight: 2, port: 5060, target: sip.example.com}, ttl: 1, proxied: false}
- metadata: {name: second, namespace: apps}
  spec: *spec
";

#[test]
fn what_another_resources_record_is_about_to_become_is_not_made_beside_it() {
    check_once(
        "DNSRecord",
        "
objects:
- metadata: {name: older, namespace: apps, creationTimestamp: '2025-01-01T00:00:00Z'}
  spec: &spec {zoneRef: {name: example-com}, name: _sip._tcp, type: SRV, data: {priority: 2, weight: 2, port: 5060, target: sip.example.com}, ttl: 1, proxied: false}
- metadata: {name: edited, namespace: apps, creationTimestamp: '2026-01-01T00:00:00Z', finalizers: [kflare.dev/finalizer], labels: {kflare.dev/record-id: r1}}
  spec: *spec
  status: {recordID: r1}
live:
- {id: r1, type: SRV, name: _sip._tcp.example.com, priority: 1, data: {priority: 1, weight: 2, port: 5060, target: sip.example.com}, ttl: 1, proxied: false, created_on: '2025-01-01T00:00:00Z'}
",
        &expect![[r#"
            stage
              PATCH /zones/0000000000000000000000000000abcd/dns_records/r1 {"data":{"port":5060,"priority":2,"target":"sip.example.com","weight":2}} as kflare/token/CF_API_TOKEN
                DNSRecord apps/edited update [data: {"port":5060,"priority":1,"target":"sip.example.com","weight":2} -> {"port":5060,"priority":2,"target":"sip.example.com","weight":2}] (status records r1)
            status: DNSRecord apps/edited Ready=True Synced: Cloudflare's object is as the spec says
            next: DNSRecord apps/edited Drift
            status: DNSRecord apps/older Ready=False RecordConflict: DNSRecord apps/edited already manages this object: change or delete one of the two
            next: DNSRecord apps/older After(60s, Drift)
        "#]],
    );
}

#[test]
fn what_another_resources_record_was_before_its_edit_is_free_at_once() {
    check_once(
        "DNSRecord",
        "
objects:
- metadata: {name: edited, namespace: apps, creationTimestamp: '2025-01-01T00:00:00Z', finalizers: [kflare.dev/finalizer], labels: {kflare.dev/record-id: r1}}
  spec: {zoneRef: {name: example-com}, name: www, type: A, content: 192.0.2.2, ttl: 1, proxied: false}
  status: {recordID: r1}
- metadata: {name: twin, namespace: apps, creationTimestamp: '2026-01-01T00:00:00Z'}
  spec: {zoneRef: {name: example-com}, name: www, type: A, content: 192.0.2.1, ttl: 1, proxied: false}
live:
- {id: r1, type: A, name: www.example.com, content: 192.0.2.1, ttl: 1, proxied: false, created_on: '2025-01-01T00:00:00Z'}
",
        &expect![[r#"
            stage
              PATCH /zones/0000000000000000000000000000abcd/dns_records/r1 {"content":"192.0.2.2"} as kflare/token/CF_API_TOKEN
                DNSRecord apps/edited update [content: "192.0.2.1" -> "192.0.2.2"] (status records r1)
            stage
              PATCH DNSRecord apps/twin {"metadata":{"annotations":{"kflare.dev/creating":"content=192.0.2.1 name=www.example.com type=A image=f1b815494ff5055c until 2026-01-01T00:04:31Z"},"finalizers":["kflare.dev/finalizer"],"resourceVersion":"","uid":"uid-twin"}}
                DNSRecord apps/twin prepare (nothing that exists is touched)
            stage
              POST /zones/0000000000000000000000000000abcd/dns_records {"content":"192.0.2.1","name":"www.example.com","proxied":false,"ttl":1,"type":"A"} as kflare/token/CF_API_TOKEN
                DNSRecord apps/twin create (nothing that exists is touched)
            stage
              PATCH DNSRecord apps/twin {"metadata":{"annotations":{"kflare.dev/creating":null},"labels":{"kflare.dev/record-id":"new1"},"uid":"uid-twin"}}
                DNSRecord apps/twin claim (nothing that exists is touched)
            status: DNSRecord apps/edited Ready=True Synced: Cloudflare's object is as the spec says
            next: DNSRecord apps/edited Drift
            status: DNSRecord apps/twin Ready=True Synced: Cloudflare's object is as the spec says
            next: DNSRecord apps/twin Drift
        "#]],
    );
}

#[test]
fn what_another_resource_made_is_not_made_again_while_lists_do_not_show_it() {
    let mut world: World = serde_saphyr::from_str(TWO_OF_ONE_SRV).unwrap();
    world.objects.remove(0);
    let (kind, key) = (
        kinds::kind("DNSRecord").unwrap(),
        "content=1 2 5060 sip.example.com name=_sip._tcp.example.com type=SRV",
    );
    let first = crate::MemberId::new(kind, kinds::Key::new("apps", "first"));
    world.memory.made.insert(key.to_owned(), first);
    expect![[r#"
        status: DNSRecord apps/second Ready=False RecordConflict: DNSRecord apps/first already manages this object: change or delete one of the two
        next: DNSRecord apps/second After(60s, Drift)
    "#]].assert_eq(&world.pass(kind));
}

#[test]
fn what_the_process_before_may_have_made_is_not_made_again_while_lists_do_not_show_it() {
    let mut world: World = serde_saphyr::from_str(TWO_OF_ONE_SRV).unwrap();
    world.memory.since = Some("2025-12-31T23:59:58Z".parse().unwrap());
    expect![[r#"
        status: DNSRecord apps/first Ready=False APIError: Cloudflare does not show yet what was just written
        next: DNSRecord apps/first Fault(Some(60s))
        status: DNSRecord apps/second Ready=False RecordConflict: DNSRecord apps/first already manages this object: change or delete one of the two
        next: DNSRecord apps/second After(60s, Drift)
    "#]].assert_eq(&world.pass(kinds::kind("DNSRecord").unwrap()));
}

#[test]
fn a_namespace_that_the_account_does_not_allow_causes_no_call() {
    check(
        "DNSRecord",
        "
objects:
- metadata: {name: a, namespace: apps}
  spec: {zoneRef: {name: example-com}, name: a, type: A, content: 192.0.2.9, ttl: 1, proxied: false}
allowed: {names: [other], selector: {matchLabels: {team: dns}}}
reads_fail: 500
",
        &expect![[r#"
            status: DNSRecord apps/a Ready=False NamespaceNotAllowed: CloudflareAccount acct does not list namespace "apps" in spec.allowedNamespaces
            next: DNSRecord apps/a Resync
        "#]],
    );
}

#[test]
fn a_namespace_is_allowed_by_its_labels() {
    check(
        "DNSRecord",
        "
objects:
- metadata: {name: a, namespace: apps}
  spec: {zoneRef: {name: example-com}, name: a, type: A, content: 192.0.2.9, ttl: 1, proxied: false}
allowed: {selector: {matchExpressions: [{key: team, operator: In, values: [dns, web]}]}}
namespace_labels: {team: web}
",
        &expect![[r#"
            stage
              PATCH DNSRecord apps/a {"metadata":{"annotations":{"kflare.dev/creating":"content=192.0.2.9 name=a.example.com type=A image=a28dfc863603240a until 2026-01-01T00:04:31Z"},"finalizers":["kflare.dev/finalizer"],"resourceVersion":"","uid":"uid-a"}}
                DNSRecord apps/a prepare (nothing that exists is touched)
            stage
              POST /zones/0000000000000000000000000000abcd/dns_records {"content":"192.0.2.9","name":"a.example.com","proxied":false,"ttl":1,"type":"A"} as kflare/token/CF_API_TOKEN
                DNSRecord apps/a create (nothing that exists is touched)
            stage
              PATCH DNSRecord apps/a {"metadata":{"annotations":{"kflare.dev/creating":null},"labels":{"kflare.dev/record-id":"new1"},"uid":"uid-a"}}
                DNSRecord apps/a claim (nothing that exists is touched)
            status: DNSRecord apps/a Ready=True Synced: Cloudflare's object is as the spec says
            next: DNSRecord apps/a Drift
        "#]],
    );
}

#[test]
fn outside_the_allowed_namespaces_a_label_that_names_another_object_deletes_nothing_of_it() {
    check_once(
        "DNSRecord",
        "
objects:
- metadata: {name: www, namespace: apps, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [kflare.dev/finalizer], labels: {kflare.dev/record-id: r1}, annotations: {kflare.dev/creating: 'content=192.0.2.8 name=c.example.com type=A until 2026-01-01T00:04:31Z'}}
  spec: {zoneRef: {name: example-com}, name: a, type: A, content: 192.0.2.9, ttl: 1, proxied: false}
  status: {recordID: r2}
live:
- {id: r1, type: A, name: b.example.com, content: 192.0.2.9, ttl: 1, proxied: false}
- {id: r2, type: A, name: a.example.com, content: 192.0.2.9, ttl: 1, proxied: false}
- {id: r3, type: A, name: c.example.com, content: 192.0.2.8, ttl: 1, proxied: false, created_on: '2026-01-01T00:01:00Z'}
allowed: {names: [other]}
",
        &expect![[r#"
            stage
              DELETE /zones/0000000000000000000000000000abcd/dns_records/r2 as kflare/token/CF_API_TOKEN
                DNSRecord apps/www delete (status records r2)
            stage
              PATCH DNSRecord apps/www {"metadata":{"finalizers":null,"resourceVersion":"","uid":"uid-www"}}
                DNSRecord apps/www release (nothing that exists is touched)
            next: DNSRecord apps/www Forget
        "#]],
    );
}

#[test]
fn outside_the_allowed_namespaces_only_a_recorded_object_is_cleaned_up() {
    check_once(
        "DNSRecord",
        "
objects:
- metadata: {name: labelled, namespace: apps, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [kflare.dev/finalizer], labels: {kflare.dev/record-id: r1}}
  spec: {zoneRef: {name: example-com}, name: a, type: A, content: 192.0.2.9, ttl: 1, proxied: false}
- metadata: {name: recorded, namespace: apps, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [kflare.dev/finalizer], labels: {kflare.dev/record-id: r2}}
  spec: {zoneRef: {name: example-com}, name: b, type: A, content: 192.0.2.9, ttl: 1, proxied: false}
  status: {recordID: r2}
live:
- {id: r1, type: A, name: a.example.com, content: 192.0.2.9, ttl: 1, proxied: false}
- {id: r2, type: A, name: b.example.com, content: 192.0.2.9, ttl: 1, proxied: false}
allowed: {names: [other]}
",
        &expect![[r#"
            stage
              PATCH DNSRecord apps/labelled {"metadata":{"finalizers":null,"resourceVersion":"","uid":"uid-labelled"}}
                DNSRecord apps/labelled release (nothing that exists is touched)
            stage
              DELETE /zones/0000000000000000000000000000abcd/dns_records/r2 as kflare/token/CF_API_TOKEN
                DNSRecord apps/recorded delete (status records r2)
            stage
              PATCH DNSRecord apps/recorded {"metadata":{"finalizers":null,"resourceVersion":"","uid":"uid-recorded"}}
                DNSRecord apps/recorded release (nothing that exists is touched)
            next: DNSRecord apps/labelled Forget
            next: DNSRecord apps/recorded Forget
        "#]],
    );
}

#[test]
fn a_label_that_a_person_overwrote_does_not_make_the_record_of_the_status_a_strangers() {
    check(
        "DNSRecord",
        "
objects:
- metadata: {name: a, namespace: apps, finalizers: [kflare.dev/finalizer], labels: {kflare.dev/record-id: nothing1}}
  spec: {zoneRef: {name: example-com}, name: a, type: A, content: 192.0.2.1, ttl: 1, proxied: false}
  status: {recordID: r1}
live:
- {id: r1, type: A, name: a.example.com, content: 192.0.2.1, ttl: 1, proxied: false, created_on: '2025-01-01T00:00:00Z'}
",
        &expect![[r#"
            stage
              PATCH DNSRecord apps/a {"metadata":{"labels":{"kflare.dev/record-id":"r1"},"uid":"uid-a"}}
                DNSRecord apps/a claim (nothing that exists is touched)
            status: DNSRecord apps/a Ready=True Synced: Cloudflare's object is as the spec says
            next: DNSRecord apps/a Drift
        "#]],
    );
}

#[test]
fn a_record_of_the_status_that_another_resource_claims_is_the_others() {
    check(
        "DNSRecord",
        "
objects:
- metadata: {name: a, namespace: apps, finalizers: [kflare.dev/finalizer], labels: {kflare.dev/record-id: nothing1}}
  spec: {zoneRef: {name: example-com}, name: a, type: A, content: 192.0.2.1, ttl: 1, proxied: false}
  status: {recordID: r1}
live:
- {id: r1, type: A, name: a.example.com, content: 192.0.2.1, ttl: 1, proxied: false, created_on: '2025-01-01T00:00:00Z'}
claims: {r1: team/b}
",
        &expect![[r#"
            status: DNSRecord apps/a Ready=False RecordConflict: DNSRecord team/b already manages this object: change or delete one of the two
            next: DNSRecord apps/a After(60s, Drift)
        "#]],
    );
}
