//! The records of hosts: what is made, changed, left alone and let go.

use expect_test::expect;

use super::zone::check_dns;

const WEB: &str =
    "ingresses: [{name: apps/web, rules: [{host: app.example.com, paths: [Prefix / web-a:80]}]}]";
const ADOPTING: &str = "ingresses: [{name: apps/web, annotations: {own/adoption-policy: adopt},
  rules: [{host: app.example.com, paths: [Prefix / web-a:80]}]}]";
const GOING: &str = "ingresses: [{name: apps/web, deleting: true, rules: [{host: app.example.com, paths: [Prefix / gone:80]}]}]";
const OWNED: &str = "records:
- {type: CNAME, name: app.example.com, content: '@edge'}
- {type: TXT, name: _ctic_managed.app.example.com, content: '@edge'}";

#[test]
fn a_host_gets_a_cname_and_a_mark() {
    check_dns(
        WEB,
        "comment: 'tunnel [{{.TunnelName}}] {{.Hostname}}'",
        &expect![[r#"
        app.example.com served
          create {"comment":"tunnel [edge] app.example.com","content":"<edge>.cfargotunnel.com","name":"app.example.com","proxied":true,"ttl":1,"type":"CNAME"}
          create {"comment":"tunnel [edge] _ctic_managed.app.example.com","content":"{\"controller\":\"strrl.dev/cloudflare-tunnel-ingress-controller\",\"tunnel\":\"edge\"}","name":"_ctic_managed.app.example.com","proxied":false,"ttl":1,"type":"TXT"}
    "#]],
    );
}

#[test]
fn b179_what_is_in_order_costs_no_write() {
    check_dns(
        WEB,
        OWNED,
        &expect![[r#"
        app.example.com served
    "#]],
    );
}

#[test]
fn only_what_differs_is_written() {
    let records = "comment: '{{.TunnelName}}'
records:
- {type: CNAME, name: app.example.com, content: elsewhere.example.org, off: true, comment: edge}
- {type: TXT, name: _ctic_managed.app.example.com, content: '@edge', comment: other}";
    check_dns(
        WEB,
        records,
        &expect![[r#"
        app.example.com served
          update r0 CNAME app.example.com {"content":"<edge>.cfargotunnel.com","proxied":true} (marked by r1)
          update r1 TXT _ctic_managed.app.example.com {"comment":"edge"} (names a tunnel of ours)
    "#]],
    );
}

#[test]
fn b173_a_mark_that_is_missing_follows() {
    check_dns(
        WEB,
        "records: [{type: CNAME, name: app.example.com, content: '@edge'}]",
        &expect![[r#"
        app.example.com served
          create {"content":"{\"controller\":\"strrl.dev/cloudflare-tunnel-ingress-controller\",\"tunnel\":\"edge\"}","name":"_ctic_managed.app.example.com","proxied":false,"ttl":1,"type":"TXT"}
    "#]],
    );
}

#[test]
fn foreign_records_are_left_alone_and_told() {
    for (what, expected) in [
        (
            "{type: A, name: app.example.com, content: 192.0.2.1}",
            expect![[r#"
            app.example.com conflict: a record of type A that kflare did not make stands there
            apps/web DNSRecordConflict: host "app.example.com" gets no DNS record: a record of type A that kflare did not make stands there; to let kflare have it, remove it or set annotation kflare.dev/adoption-policy to "adopt"
        "#]],
        ),
        (
            "{type: CNAME, name: app.example.com, content: lb.example.org}",
            expect![[r#"
            app.example.com conflict: a CNAME that kflare did not make leads to something else
            apps/web DNSRecordConflict: host "app.example.com" gets no DNS record: a CNAME that kflare did not make leads to something else; to let kflare have it, remove it or set annotation kflare.dev/adoption-policy to "adopt"
        "#]],
        ),
        (
            "{type: CNAME, name: app.example.com, content: '@foreign'}",
            expect![[r#"
            app.example.com conflict: a CNAME that kflare did not make leads to another tunnel
            apps/web DNSRecordConflict: host "app.example.com" gets no DNS record: a CNAME that kflare did not make leads to another tunnel; to let kflare have it, remove it or set annotation kflare.dev/adoption-policy to "adopt"
        "#]],
        ),
        (
            "{type: CNAME, name: app.example.com, content: '@gone'}",
            expect![[r#"
            app.example.com conflict: a CNAME that kflare did not make leads to something else
            apps/web DNSRecordConflict: host "app.example.com" gets no DNS record: a CNAME that kflare did not make leads to something else; to let kflare have it, remove it or set annotation kflare.dev/adoption-policy to "adopt"
        "#]],
        ),
        (
            "{type: TXT, name: _ctic_managed.app.example.com, content: '@foreign'}",
            expect![[r#"
            app.example.com conflict: its ownership record names tunnel "foreign", which is not served here
            apps/web DNSRecordConflict: host "app.example.com" gets no DNS record: its ownership record names tunnel "foreign", which is not served here; to let kflare have it, remove it or set annotation kflare.dev/adoption-policy to "adopt"
        "#]],
        ),
    ] {
        check_dns(WEB, &format!("records: [{what}]"), &expected);
    }
}

#[test]
fn a_marked_cname_that_leads_to_a_strangers_tunnel_is_left_alone() {
    check_dns(
        WEB,
        &OWNED.replacen("@edge", "@foreign", 1),
        &expect![[r#"
        app.example.com conflict: a CNAME that kflare did not make leads to another tunnel
        apps/web DNSRecordConflict: host "app.example.com" gets no DNS record: a CNAME that kflare did not make leads to another tunnel; to let kflare have it, remove it or set annotation kflare.dev/adoption-policy to "adopt"
    "#]],
    );
}

#[test]
fn adoption_takes_over_what_stands() {
    for (what, expected) in [
        (
            "{type: A, name: app.example.com, content: 192.0.2.1}, {type: AAAA, name: app.example.com, content: '2001:db8::1'}",
            expect![[r#"
                app.example.com served
                  delete r0 A app.example.com (adopted by apps/web)
                  delete r1 AAAA app.example.com (adopted by apps/web)
                  create {"content":"<edge>.cfargotunnel.com","name":"app.example.com","proxied":true,"ttl":1,"type":"CNAME"}
                  create {"content":"{\"controller\":\"strrl.dev/cloudflare-tunnel-ingress-controller\",\"tunnel\":\"edge\"}","name":"_ctic_managed.app.example.com","proxied":false,"ttl":1,"type":"TXT"}
            "#]],
        ),
        (
            "{type: CNAME, name: app.example.com, content: '@foreign'}, {type: TXT, name: _ctic_managed.app.example.com, content: '@foreign'}",
            expect![[r#"
                app.example.com served
                  update r0 CNAME app.example.com {"content":"<edge>.cfargotunnel.com"} (adopted by apps/web)
                  update r1 TXT _ctic_managed.app.example.com {"content":"{\"controller\":\"strrl.dev/cloudflare-tunnel-ingress-controller\",\"tunnel\":\"edge\"}"} (adopted by apps/web)
            "#]],
        ),
        (
            "{type: TXT, name: app.example.com, content: v=spf1}, {type: TXT, name: _ctic_managed.app.example.com, content: theirs}",
            expect![[r#"
                app.example.com served
                  create {"content":"<edge>.cfargotunnel.com","name":"app.example.com","proxied":true,"ttl":1,"type":"CNAME"}
                  create {"content":"{\"controller\":\"strrl.dev/cloudflare-tunnel-ingress-controller\",\"tunnel\":\"edge\"}","name":"_ctic_managed.app.example.com","proxied":false,"ttl":1,"type":"TXT"}
            "#]],
        ),
    ] {
        check_dns(ADOPTING, &format!("records: [{what}]"), &expected);
    }
}

#[test]
fn b022_what_is_ours_goes_when_its_ingress_goes_whatever_became_of_its_service() {
    check_dns(
        GOING,
        OWNED,
        &expect![[r#"
        app.example.com let go
          delete r0 CNAME app.example.com (marked by r1, points at <edge>)
          delete r1 TXT _ctic_managed.app.example.com (names a tunnel of ours)
    "#]],
    );
}

#[test]
fn b021_a_host_that_was_edited_away_goes_and_the_new_one_comes() {
    let records = OWNED.replace("app.example.com", "old.example.com");
    check_dns(
        WEB,
        &records,
        &expect![[r#"
        app.example.com served
          create {"content":"<edge>.cfargotunnel.com","name":"app.example.com","proxied":true,"ttl":1,"type":"CNAME"}
          create {"content":"{\"controller\":\"strrl.dev/cloudflare-tunnel-ingress-controller\",\"tunnel\":\"edge\"}","name":"_ctic_managed.app.example.com","proxied":false,"ttl":1,"type":"TXT"}
        old.example.com let go, nobody names it
          delete r0 CNAME old.example.com (marked by r1, points at <edge>)
          delete r1 TXT _ctic_managed.old.example.com (names a tunnel of ours)
    "#]],
    );
}

#[test]
fn what_was_repointed_loses_only_its_mark() {
    check_dns(
        GOING,
        &OWNED.replacen("@edge", "lb.example.org", 1),
        &expect![[r#"
        app.example.com let go
          delete r1 TXT _ctic_managed.app.example.com (names a tunnel of ours)
    "#]],
    );
    check_dns(
        GOING,
        &OWNED.replacen("@edge", "@foreign", 1),
        &expect![[r#"
        app.example.com let go
          delete r1 TXT _ctic_managed.app.example.com (names a tunnel of ours)
    "#]],
    );
}

#[test]
fn a_cname_to_a_deleted_tunnel_is_ours_by_its_mark_alone() {
    check_dns(
        GOING,
        &OWNED.replacen("@edge", "@gone", 1),
        &expect![[r#"
        app.example.com let go
          delete r0 CNAME app.example.com (marked by r1, points at deleted <gone>)
          delete r1 TXT _ctic_managed.app.example.com (names a tunnel of ours)
    "#]],
    );
    check_dns(
        GOING,
        "records: [{type: CNAME, name: app.example.com, content: '@gone'}]",
        &expect![[r#"
        app.example.com let go
    "#]],
    );
    check_dns(
        WEB,
        &OWNED.replacen("@edge", "@gone", 1),
        &expect![[r#"
        app.example.com served
          update r0 CNAME app.example.com {"content":"<edge>.cfargotunnel.com"} (marked by r1)
    "#]],
    );
}

#[test]
fn a_mark_without_a_cname_goes_when_nobody_names_its_host() {
    check_dns(
        "{}",
        "records: [{type: TXT, name: _ctic_managed.app.example.com, content: '@edge'},
      {type: TXT, name: _ctic_managed.their.example.com, content: '@foreign'}]",
        &expect![[r#"
            app.example.com let go, nobody names it
              delete r0 TXT _ctic_managed.app.example.com (names a tunnel of ours)
        "#]],
    );
}

#[test]
fn the_comment_of_the_first_versions_counts_as_a_mark() {
    let old = "managed by strrl.dev/cloudflare-tunnel-ingress-controller, tunnel";
    let records = format!(
        "records:
- {{type: CNAME, name: app.example.com, content: '@edge', comment: '{old} [edge]'}}
- {{type: CNAME, name: gone.example.com, content: '@edge', comment: '{old} [edge]'}}
- {{type: CNAME, name: moved.example.com, content: lb.example.org, comment: '{old} [edge]'}}
- {{type: CNAME, name: theirs.example.com, content: '@foreign', comment: '{old} [foreign]'}}
- {{type: CNAME, name: new.example.com, content: '@edge', comment: 'managed by cloudflare-tunnel-ingress-controller, tunnel [edge]'}}"
    );
    check_dns(
        WEB,
        &records,
        &expect![[r#"
        app.example.com served
          create {"content":"{\"controller\":\"strrl.dev/cloudflare-tunnel-ingress-controller\",\"tunnel\":\"edge\"}","name":"_ctic_managed.app.example.com","proxied":false,"ttl":1,"type":"TXT"}
        gone.example.com let go, nobody names it
          delete r1 CNAME gone.example.com (commented by the old controller, points at <edge>)
        moved.example.com let go, nobody names it
    "#]],
    );
}

#[test]
fn b024_dns_that_is_left_to_others_loses_the_mark_and_a_cname_that_leads_to_us() {
    let disabled = "ingresses: [{name: apps/web, annotations: {disable-dns-management: 'true'},
      rules: [{host: app.example.com, paths: [Prefix / web-a:80]}, {host: far.example.org, paths: [Prefix / web-a:80]}]}]";
    check_dns(
        disabled,
        OWNED,
        &expect![[r#"
        app.example.com let go
          delete r0 CNAME app.example.com (marked by r1, points at <edge>)
          delete r1 TXT _ctic_managed.app.example.com (names a tunnel of ours)
    "#]],
    );
    check_dns(
        disabled,
        &OWNED.replacen("@edge", "lb.example.org", 1),
        &expect![[r#"
        app.example.com let go
          delete r1 TXT _ctic_managed.app.example.com (names a tunnel of ours)
    "#]],
    );
    check_dns(
        disabled,
        "records: [{type: CNAME, name: app.example.com, content: lb.example.org}]",
        &expect![[r#"
            app.example.com let go
        "#]],
    );
}

#[test]
fn one_ingress_that_manages_a_host_is_enough() {
    let both = "ingresses:
- {name: apps/off, annotations: {disable-dns-management: 'true'}, rules: [{host: app.example.com, paths: [Prefix /x web-a:80]}]}
- {name: apps/on, age: 1, rules: [{host: app.example.com, paths: [Prefix / web-a:80]}]}
- {name: apps/going, deleting: true, rules: [{host: app.example.com, paths: [Prefix /y web-a:80]}]}";
    check_dns(
        both,
        OWNED,
        &expect![[r#"
        app.example.com served
    "#]],
    );
}

#[test]
fn retained_cnames_stay_and_their_marks_go() {
    let retained = "ingresses: [{name: apps/web, deleting: true, annotations: {own/deletion-policy: retain, connect-timeout: bad},
      rules: [{host: app.example.com, paths: [Prefix / web-a:80]}]}]";
    check_dns(
        retained,
        OWNED,
        &expect![[r#"
        app.example.com let go
          delete r1 TXT _ctic_managed.app.example.com (names a tunnel of ours)
    "#]],
    );
    check_dns(
        &retained.replace("retain", "keep"),
        OWNED,
        &expect![[r#"
        app.example.com stays
    "#]],
    );
}

#[test]
fn held_ingresses_keep_their_records_as_they_stand() {
    for annotation in ["own/paused: 'true'", "connect-timeout: bad"] {
        let held = format!(
            "live: [{{hostname: old.example.com, service: 'http://web.apps.svc.cluster.local:80'}}, {{service: 'http_status:404'}}]
ingresses: [{{name: apps/web, annotations: {{{annotation}}}, rules: [{{host: app.example.com, paths: [Prefix / web-a:80]}}]}}]"
        );
        let records = format!(
            "{}
- {{type: CNAME, name: old.example.com, content: '@edge', off: true}}
- {{type: TXT, name: _ctic_managed.old.example.com, content: '@edge'}}",
            OWNED.replacen("@edge", "lb.example.org", 1)
        );
        check_dns(
            &held,
            &records,
            &expect![[r#"
            app.example.com stays
            old.example.com stays
        "#]],
        );
    }
}

#[test]
fn b163_a_service_that_cannot_be_read_lets_no_record_go() {
    let unknown = "services: {apps/slow: unknown}
ingresses: [{name: apps/web, rules: [{host: app.example.com, paths: [Prefix / slow:80]}]}]";
    check_dns(
        unknown,
        OWNED,
        &expect![[r#"
        app.example.com stays
    "#]],
    );
}

#[test]
fn records_of_dns_record_objects_are_theirs() {
    let claimed = "records:
- {type: CNAME, name: app.example.com, content: lb.example.org, claimed: true}
- {type: TXT, name: _ctic_managed.app.example.com, content: '@edge'}";
    for ingresses in [WEB, ADOPTING, GOING] {
        check_dns(
            ingresses,
            claimed,
            &expect![[r#"
            app.example.com claimed by a DNSRecord
              delete r1 TXT _ctic_managed.app.example.com (names a tunnel of ours)
        "#]],
        );
    }
    check_dns(
        WEB,
        "records: [{type: A, name: app.example.com, content: 192.0.2.1, claimed: true}]",
        &expect![[r#"
        app.example.com claimed by a DNSRecord
    "#]],
    );
}

#[test]
fn b182_a_host_moves_between_tunnels_in_place() {
    check_dns(
        WEB,
        &format!("second: [apps/web]\n{OWNED}"),
        &expect![[r#"
        app.example.com served
          update r0 CNAME app.example.com {"content":"<second>.cfargotunnel.com"} (marked by r1)
          update r1 TXT _ctic_managed.app.example.com {"content":"{\"controller\":\"strrl.dev/cloudflare-tunnel-ingress-controller\",\"tunnel\":\"second\"}"} (names a tunnel of ours)
    "#]],
    );
}

#[test]
fn b017_b018_b036_zones_are_chosen_by_length_and_a_host_in_none_fails_alone() {
    let hosts = "ingresses:
- {name: apps/web, rules: [
    {host: app.dev.example.com, paths: [Prefix / web-a:80]}, {host: a.b.example.com, paths: [Prefix / web-a:80]},
    {host: test.myexample.com, paths: [Prefix / web-a:80]}]}
- {name: apps/typo, rules: [{host: paperless.example.usa, paths: [Prefix / web-a:80]}]}";
    check_dns(
        hosts,
        "zones: [example.com, dev.example.com, myexample.com]",
        &expect![[r#"
        a.b.example.com served
          create {"content":"<edge>.cfargotunnel.com","name":"a.b.example.com","proxied":true,"ttl":1,"type":"CNAME"}
          create {"content":"{\"controller\":\"strrl.dev/cloudflare-tunnel-ingress-controller\",\"tunnel\":\"edge\"}","name":"_ctic_managed.a.b.example.com","proxied":false,"ttl":1,"type":"TXT"}
        app.dev.example.com served
          create {"content":"<edge>.cfargotunnel.com","name":"app.dev.example.com","proxied":true,"ttl":1,"type":"CNAME"}
          create {"content":"{\"controller\":\"strrl.dev/cloudflare-tunnel-ingress-controller\",\"tunnel\":\"edge\"}","name":"_ctic_managed.app.dev.example.com","proxied":false,"ttl":1,"type":"TXT"}
        test.myexample.com served
          create {"content":"<edge>.cfargotunnel.com","name":"test.myexample.com","proxied":true,"ttl":1,"type":"CNAME"}
          create {"content":"{\"controller\":\"strrl.dev/cloudflare-tunnel-ingress-controller\",\"tunnel\":\"edge\"}","name":"_ctic_managed.test.myexample.com","proxied":false,"ttl":1,"type":"TXT"}
        apps/web CertificateNotCovering: host "a.b.example.com" lies more than one level below zone "example.com": the zone's universal certificate does not cover it, so visitors need another one
        apps/typo ZoneNotFound: host "paperless.example.usa" is in no zone that the token can see, so it gets no DNS record
    "#]],
    );
}

#[test]
fn an_active_host_keeps_what_it_has_in_the_zone_above_its_own() {
    let host = WEB.replace("app.example.com", "app.dev.example.com");
    let records = OWNED.replace("app.example.com", "app.dev.example.com");
    check_dns(
        &host,
        &format!("zones: [example.com, dev.example.com]\n{records}"),
        &expect![[r#"
        app.dev.example.com stays
        app.dev.example.com served
    "#]],
    );
}

#[test]
fn b062_wildcard_apex_and_long_hosts_have_marks() {
    let long = format!("{}example.com", "a123456789.".repeat(21));
    let hosts = format!("ingresses: [{{name: apps/web, rules: [
      {{host: '*.example.com', paths: [Prefix / web-a:80]}}, {{host: example.com, paths: [Prefix / web-a:80]}},
      {{host: {long}, paths: [Prefix / web-a:80]}}]}}]");
    check_dns(
        &hosts,
        "{}",
        &expect![[r#"
        *.example.com served
          create {"content":"<edge>.cfargotunnel.com","name":"*.example.com","proxied":true,"ttl":1,"type":"CNAME"}
          create {"content":"{\"controller\":\"strrl.dev/cloudflare-tunnel-ingress-controller\",\"tunnel\":\"edge\"}","name":"_ctic_managed.*.example.com","proxied":false,"ttl":1,"type":"TXT"}
        a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.example.com served
          create {"content":"<edge>.cfargotunnel.com","name":"a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.example.com","proxied":true,"ttl":1,"type":"CNAME"}
          create {"content":"{\"controller\":\"strrl.dev/cloudflare-tunnel-ingress-controller\",\"tunnel\":\"edge\",\"host\":\"a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.example.com\"}","name":"_ctic_managed.f4c158633f81aa1f8273b39b5f6ff856.example.com","proxied":false,"ttl":1,"type":"TXT"}
        example.com served
          create {"content":"<edge>.cfargotunnel.com","name":"example.com","proxied":true,"ttl":1,"type":"CNAME"}
          create {"content":"{\"controller\":\"strrl.dev/cloudflare-tunnel-ingress-controller\",\"tunnel\":\"edge\"}","name":"_ctic_managed.example.com","proxied":false,"ttl":1,"type":"TXT"}
        apps/web CertificateNotCovering: host "a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.a123456789.example.com" lies more than one level below zone "example.com": the zone's universal certificate does not cover it, so visitors need another one
    "#]],
    );
    let records = "hashes_wildcards: true\nrecords:\n- {type: CNAME, name: '*.example.com', content: '@edge'}\n\
                   - {type: TXT, name: '_ctic_managed.*.example.com', content: '@edge'}";
    check_dns(
        &WEB.replace("app.example.com", "'*.example.com'"),
        records,
        &expect![[r#"
        *.example.com served
          update r1 TXT _ctic_managed.*.example.com {"content":"{\"controller\":\"strrl.dev/cloudflare-tunnel-ingress-controller\",\"tunnel\":\"edge\",\"host\":\"*.example.com\"}","name":"_ctic_managed.47287a8f16ec75e6073f193989bb1c0c.example.com"} (names a tunnel of ours)
    "#]],
    );
}

#[test]
fn of_two_marks_one_is_kept() {
    let records =
        format!("{OWNED}\n- {{type: TXT, name: _ctic_managed.app.example.com, content: '@second'}}");
    check_dns(
        WEB,
        &records,
        &expect![[r#"
        app.example.com served
          delete r2 TXT _ctic_managed.app.example.com (names a tunnel of ours)
    "#]],
    );
}

#[test]
fn b164_ten_hosts_that_nobody_names_are_read_again_before_they_go() {
    use super::zone::{apply, tunnel};
    use crate::ingress::dns::{ZoneScope, needs_second_reading, plan_zone};
    use crate::ingress::wish::Wishes;
    use crate::ingress::zone::Zone;

    let zones = [Zone { id: "z".to_owned(), name: "example.com".to_owned() }];
    let host = |n: usize| format!("h{n:02}.example.com");
    let wishing = |served: std::ops::Range<usize>| Wishes {
        hosts: served
            .map(|n| (host(n), crate::ingress::wish::Wish::Serve { tunnel: tunnel("edge"), adopter: None }))
            .collect(),
        is_complete: true,
        ..Wishes::default()
    };
    let deleted = std::collections::BTreeSet::new();
    let planned = |wishes: &Wishes, live: &[_]| {
        let scope = ZoneScope {
            zone: &zones[0],
            zones: &zones,
            wishes,
            tunnels: &[tunnel("edge")],
            deleted_tunnels: &deleted,
            comments: None,
            comment_characters_max: 100,
            hashes_wildcards: false,
        };
        plan_zone(&scope, live)
    };
    let standing = apply(&[], &planned(&wishing(0..20), &[]));
    let verdicts =
        [0, 9, 10, 11].map(|served| needs_second_reading(&planned(&wishing(0..served), &standing)));
    assert_eq!(verdicts, [true, true, false, false]);
}
