//! A parent that is nearly full: what fits is created, what does not says so and is not sent.

use expect_test::expect;

use super::harness::check_once;

#[test]
fn what_does_not_fit_into_the_zone_is_not_sent() {
    check_once(
        "DNSRecord",
        "
quota: 2
live:
- {id: r1, name: old.example.com, type: A, content: 192.0.2.9, ttl: 1, proxied: false}
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
            stage
              POST /zones/0000000000000000000000000000abcd/dns_records {"content":"192.0.2.1","name":"a.example.com","proxied":false,"ttl":1,"type":"A"} as kflare/token/CF_API_TOKEN
                DNSRecord apps/a create (nothing that exists is touched)
            stage
              PATCH DNSRecord apps/a {"metadata":{"annotations":{"kflare.dev/creating":null},"labels":{"kflare.dev/record-id":"new1"},"uid":"uid-a"}}
                DNSRecord apps/a claim (nothing that exists is touched)
            status: DNSRecord apps/a Ready=True Synced: Cloudflare's object is as the spec says
            next: DNSRecord apps/a Drift
            status: DNSRecord apps/b Ready=False TerminalError: there is no room: Cloudflare lets the Zone hold 2 objects of this kind, and it does; delete some, or change its plan
            next: DNSRecord apps/b After(600s, Drift)
        "#]],
    );
}

#[test]
fn room_that_a_deletion_makes_is_used_in_the_same_batch() {
    check_once(
        "DNSRecord",
        "
quota: 2
live:
- {id: r1, name: old.example.com, type: A, content: 192.0.2.9, ttl: 1, proxied: false}
objects:
- metadata: {name: old, namespace: apps, deletionTimestamp: 2026-01-01T00:00:00Z, finalizers: [kflare.dev/finalizer], labels: {kflare.dev/record-id: r1}}
  spec: {zoneRef: {name: example-com}, name: old, type: A, content: 192.0.2.9, ttl: 1, proxied: false}
  status: {recordID: r1}
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
              POST /zones/0000000000000000000000000000abcd/dns_records/batch {"deletes":[{"id":"r1"}],"posts":[{"content":"192.0.2.1","name":"a.example.com","proxied":false,"ttl":1,"type":"A"},{"content":"192.0.2.2","name":"b.example.com","proxied":false,"ttl":1,"type":"A"}]} as kflare/token/CF_API_TOKEN
                DNSRecord apps/old delete (status records r1)
                DNSRecord apps/a create (nothing that exists is touched)
                DNSRecord apps/b create (nothing that exists is touched)
            stage
              PATCH DNSRecord apps/a {"metadata":{"annotations":{"kflare.dev/creating":null},"labels":{"kflare.dev/record-id":"new1"},"uid":"uid-a"}}
                DNSRecord apps/a claim (nothing that exists is touched)
              PATCH DNSRecord apps/b {"metadata":{"annotations":{"kflare.dev/creating":null},"labels":{"kflare.dev/record-id":"new2"},"uid":"uid-b"}}
                DNSRecord apps/b claim (nothing that exists is touched)
              PATCH DNSRecord apps/old {"metadata":{"finalizers":null,"resourceVersion":"","uid":"uid-old"}}
                DNSRecord apps/old release (nothing that exists is touched)
            status: DNSRecord apps/a Ready=True Synced: Cloudflare's object is as the spec says
            next: DNSRecord apps/a Drift
            status: DNSRecord apps/b Ready=True Synced: Cloudflare's object is as the spec says
            next: DNSRecord apps/b Drift
            next: DNSRecord apps/old Forget
        "#]],
    );
}

#[test]
fn who_would_create_nothing_takes_nobodys_room() {
    check_once(
        "DNSRecord",
        "
quota: 2
live:
- {id: r1, name: old.example.com, type: A, content: 192.0.2.9, ttl: 1, proxied: false}
objects:
- metadata: {name: a, namespace: apps, annotations: {kflare.dev/adoption-policy: adopt}}
  spec: {zoneRef: {name: example-com}, name: a, type: A, content: 192.0.2.1, ttl: 1, proxied: false}
- metadata: {name: b, namespace: apps, annotations: {kflare.dev/adoption-policy: always}}
  spec: {zoneRef: {name: example-com}, name: b, type: A, content: 192.0.2.2, ttl: 1, proxied: false}
- metadata: {name: c, namespace: apps}
  spec: {zoneRef: {name: example-com}, name: c, type: A, content: 192.0.2.3, ttl: 1, proxied: false}
- metadata: {name: d, namespace: apps, annotations: {kflare.dev/deletion-policy: retain}, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [kflare.dev/finalizer], labels: {kflare.dev/record-id: r1}}
  spec: {zoneRef: {name: example-com}, name: old, type: A, content: 192.0.2.9, ttl: 1, proxied: false}
  status: {recordID: r1}
- metadata: {name: e, namespace: apps}
  spec: {zoneRef: {name: example-com}, name: e, type: A, content: 192.0.2.5, ttl: 1, proxied: false}
",
        &expect![[r#"
            stage
              PATCH DNSRecord apps/d {"metadata":{"finalizers":null,"resourceVersion":"","uid":"uid-d"}}
                DNSRecord apps/d release (nothing that exists is touched)
              PATCH DNSRecord apps/c {"metadata":{"annotations":{"kflare.dev/creating":"content=192.0.2.3 name=c.example.com type=A image=82c79e4810885852 until 2026-01-01T00:04:31Z"},"finalizers":["kflare.dev/finalizer"],"resourceVersion":"","uid":"uid-c"}}
                DNSRecord apps/c prepare (nothing that exists is touched)
            stage
              POST /zones/0000000000000000000000000000abcd/dns_records {"content":"192.0.2.3","name":"c.example.com","proxied":false,"ttl":1,"type":"A"} as kflare/token/CF_API_TOKEN
                DNSRecord apps/c create (nothing that exists is touched)
            stage
              PATCH DNSRecord apps/c {"metadata":{"annotations":{"kflare.dev/creating":null},"labels":{"kflare.dev/record-id":"new1"},"uid":"uid-c"}}
                DNSRecord apps/c claim (nothing that exists is touched)
            status: DNSRecord apps/a Ready=False NotFound: there is no DNSRecord to adopt with content=192.0.2.1 name=a.example.com type=A
            next: DNSRecord apps/a After(60s, Drift)
            status: DNSRecord apps/b Ready=False InvalidAdoptionPolicy: annotation kflare.dev/adoption-policy is "always"; use "adopt" or "adopt-or-create", or remove it
            next: DNSRecord apps/b Resync
            status: DNSRecord apps/c Ready=True Synced: Cloudflare's object is as the spec says
            next: DNSRecord apps/c Drift
            next: DNSRecord apps/d Forget
            status: DNSRecord apps/e Ready=False TerminalError: there is no room: Cloudflare lets the Zone hold 2 objects of this kind, and it does; delete some, or change its plan
            next: DNSRecord apps/e After(600s, Drift)
        "#]],
    );
}
