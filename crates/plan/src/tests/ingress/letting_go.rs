//! Records of hosts that are let go, retained or held: what goes, on which proof, and what stays.

use expect_test::expect;

use super::dns::{GOING, OWNED, WEB};
use super::zone::check_dns;

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

#[test]
fn b163_while_an_ingress_cannot_be_read_nothing_of_anyone_goes() {
    use super::property::plan;
    use super::zone::apply;
    use crate::ingress::backend::Services;
    use crate::ingress::dns::HostOutcome;
    use crate::ingress::{Surroundings, expose};

    let services = Services::new();
    let around = Surroundings { services: &services, cluster_domain: "cluster.local", compiles: &|_| Ok(()) };
    let world = super::harness::World::read(WEB);
    let standing = apply(&[], &plan(&world.exposed(), &[]));
    let unreadable =
        serde_json::json!({"metadata": {"namespace": "apps", "name": "other"}, "spec": {"rules": 1}});
    let plans = plan(&[expose(&unreadable, &around)], &standing);
    assert_eq!(plans.len(), 1);
    assert_eq!((&plans[0].outcome, plans[0].writes.len()), (&HostOutcome::Waiting, 0));
    assert_eq!(plan(&[], &standing)[0].writes.len(), 2, "it goes once everything is read");
}
