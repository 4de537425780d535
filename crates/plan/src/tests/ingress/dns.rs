//! The records of hosts: what is made, changed, left alone and let go.

use expect_test::expect;

use super::zone::check_dns;

pub(super) const WEB: &str =
    "ingresses: [{name: apps/web, rules: [{host: app.example.com, paths: [Prefix / web-a:80]}]}]";
const ADOPTING: &str = "ingresses: [{name: apps/web, annotations: {own/adoption-policy: adopt},
  rules: [{host: app.example.com, paths: [Prefix / web-a:80]}]}]";
pub(super) const GOING: &str = "ingresses: [{name: apps/web, deleting: true, rules: [{host: app.example.com, paths: [Prefix / gone:80]}]}]";
pub(super) const OWNED: &str = "records:
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
                app.example.com conflict: a CNAME that kflare did not make stands there
                apps/web DNSRecordConflict: host "app.example.com" gets no DNS record: a CNAME that kflare did not make stands there; to let kflare have it, remove it or set annotation kflare.dev/adoption-policy to "adopt"
            "#]],
        ),
        (
            "{type: CNAME, name: app.example.com, content: '@foreign'}",
            expect![[r#"
                app.example.com conflict: its CNAME leads to a tunnel that is not served here
                apps/web DNSRecordConflict: host "app.example.com" gets no DNS record: its CNAME leads to a tunnel that is not served here; to let kflare have it, remove it or set annotation kflare.dev/adoption-policy to "adopt"
            "#]],
        ),
        (
            "{type: CNAME, name: app.example.com, content: '@gone'}",
            expect![[r#"
                app.example.com conflict: a CNAME that kflare did not make stands there
                apps/web DNSRecordConflict: host "app.example.com" gets no DNS record: a CNAME that kflare did not make stands there; to let kflare have it, remove it or set annotation kflare.dev/adoption-policy to "adopt"
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
            app.example.com conflict: its CNAME leads to a tunnel that is not served here
            apps/web DNSRecordConflict: host "app.example.com" gets no DNS record: its CNAME leads to a tunnel that is not served here; to let kflare have it, remove it or set annotation kflare.dev/adoption-policy to "adopt"
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
