//! The order of rules, who wins, how the list ends, and what of it is written.

use expect_test::expect;
use serde_json::{Value, json};

use super::harness::{World, check};
use crate::ingress::rules::{Change, derived};
use crate::ingress::{assemble, change};
use crate::snapshot::Lookup;

#[test]
fn b006_exact_stands_before_prefix_and_longer_before_shorter() {
    check(
        "ingresses: [{name: apps/web, rules: [{host: app.example.com, paths: [
           Prefix / web-a:80, Prefix /login web-a:80, Exact /login web-b:80, Exact /install.sh web-b:80,
           ImplementationSpecific /login web-c:80, Prefix /log/ web-c:80, Exact /log web-b:80]}]}]",
        &expect![[r#"
            app.example.com ^/install\.sh$ -> http://web-b.apps.svc.cluster.local:80 (apps/web)
            app.example.com ^/login$ -> http://web-b.apps.svc.cluster.local:80 (apps/web)
            app.example.com ^/login(/|$) -> http://web-a.apps.svc.cluster.local:80 (apps/web)
            app.example.com /login -> http://web-c.apps.svc.cluster.local:80 (apps/web)
            app.example.com ^/log$ -> http://web-b.apps.svc.cluster.local:80 (apps/web)
            app.example.com ^/log(/|$) -> http://web-c.apps.svc.cluster.local:80 (apps/web)
            app.example.com / -> http://web-a.apps.svc.cluster.local:80 (apps/web)
            *  -> http_status:404 (last)
        "#]],
    );
}

#[test]
fn b007_exact_comes_first_on_the_same_path_in_whatever_order_they_are_written() {
    let rules = expect![[r#"
        app.example.com ^/login$ -> http://web-b.apps.svc.cluster.local:80 (apps/web)
        app.example.com ^/login(/|$) -> http://web-a.apps.svc.cluster.local:80 (apps/web)
        *  -> http_status:404 (last)
    "#]];
    for paths in
        ["Prefix /login web-a:80, Exact /login web-b:80", "Exact /login web-b:80, Prefix /login web-a:80"]
    {
        let ingress =
            format!("ingresses: [{{name: apps/web, rules: [{{host: app.example.com, paths: [{paths}]}}]}}]");
        check(&ingress, &rules);
    }
}

#[test]
fn b014_ingresses_of_two_namespaces_share_a_host() {
    check(
        "services: {other/web-b: [80]}
ingresses:
- {name: apps/main, rules: [{host: app.example.com, paths: [Prefix / web-a:80]}]}
- {name: other/api, age: 1, rules: [{host: app.example.com, paths: [Prefix /api web-b:80]}]}",
        &expect![[r#"
            app.example.com ^/api(/|$) -> http://web-b.other.svc.cluster.local:80 (other/api)
            app.example.com / -> http://web-a.apps.svc.cluster.local:80 (apps/main)
            *  -> http_status:404 (last)
        "#]],
    );
}

#[test]
fn b008_a_longer_path_that_is_added_later_stands_first() {
    check(
        "ingresses:
         - {name: apps/main, rules: [{host: app.example.com, paths: [Prefix / web-a:80]}]}
         - {name: apps/api, age: 1, rules: [{host: app.example.com, paths: [Prefix /ui/v2/login web-b:80]}]}",
        &expect![[r#"
            app.example.com ^/ui/v2/login(/|$) -> http://web-b.apps.svc.cluster.local:80 (apps/api)
            app.example.com / -> http://web-a.apps.svc.cluster.local:80 (apps/main)
            *  -> http_status:404 (last)
        "#]],
    );
}

#[test]
fn b010_wildcards_follow_precise_hosts_and_deeper_ones_come_first() {
    check(
        "ingresses: [{name: apps/web, rules: [
           {host: '*.example.com', paths: [Prefix / web-a:80]},
           {host: '*.internal.example.com', paths: [Prefix / web-b:80]},
           {host: app.example.com, paths: [Prefix / web-c:80]}]}]",
        &expect![[r#"
            app.example.com / -> http://web-c.apps.svc.cluster.local:80 (apps/web)
            *.internal.example.com / -> http://web-b.apps.svc.cluster.local:80 (apps/web)
            *.example.com / -> http://web-a.apps.svc.cluster.local:80 (apps/web)
            *  -> http_status:404 (last)
        "#]],
    );
}

#[test]
fn b011_what_a_hosts_paths_leave_does_not_fall_to_a_wildcard() {
    check(
        "ingresses: [{name: apps/web, rules: [
           {host: app.example.com, paths: [Prefix /api web-a:80]},
           {host: app.example.org, paths: [Prefix /api web-a:80]},
           {host: '*.deep.example.com', paths: [Exact /x web-c:80]},
           {host: '*.example.com', paths: [Prefix / web-b:80]}]}]",
        &expect![[r#"
            app.example.com ^/api(/|$) -> http://web-a.apps.svc.cluster.local:80 (apps/web)
            app.example.com  -> http_status:404 (guard)
            app.example.org ^/api(/|$) -> http://web-a.apps.svc.cluster.local:80 (apps/web)
            *.deep.example.com ^/x$ -> http://web-c.apps.svc.cluster.local:80 (apps/web)
            *.deep.example.com  -> http_status:404 (guard)
            *.example.com / -> http://web-b.apps.svc.cluster.local:80 (apps/web)
            *  -> http_status:404 (last)
        "#]],
    );
}

#[test]
fn b013_the_older_ingress_keeps_host_and_path() {
    check(
        "services: {team-a/web: [80], team-b/web: [80], team-c/web: [80]}
ingresses:
- {name: team-b/web, age: 2, rules: [{host: app.example.com, paths: [Prefix / web:80, Prefix /b web:80]}]}
- {name: team-a/web, age: 1, rules: [{host: app.example.com, paths: [Prefix / web:80]}]}
- {name: team-c/web, age: 2, rules: [{host: app.example.com, paths: [ImplementationSpecific / web:80, Prefix / web:80]}]}",
        &expect![[r#"
            app.example.com ^/b(/|$) -> http://web.team-b.svc.cluster.local:80 (team-b/web)
            app.example.com / -> http://web.team-a.svc.cluster.local:80 (team-a/web)
            *  -> http_status:404 (last)
            team-b/web Warning PathConflict: path "/" of host "app.example.com" belongs to Ingress team-a/web, which is older
            team-c/web Warning PathConflict: path "/" of host "app.example.com" belongs to Ingress team-a/web, which is older
        "#]],
    );
}

#[test]
fn b028_a_rule_without_a_host_stands_behind_all_others() {
    check(
        "ingresses: [{name: apps/web, rules: [
           {paths: [Prefix / web-a:80, Exact /x web-c:80]},
           {host: app.example.com, paths: [Prefix /app web-b:80]}]}]",
        &expect![[r#"
            app.example.com ^/app(/|$) -> http://web-b.apps.svc.cluster.local:80 (apps/web)
            app.example.com  -> http_status:404 (guard)
            * ^/x$ -> http://web-c.apps.svc.cluster.local:80 (apps/web)
            * / -> http://web-a.apps.svc.cluster.local:80 (apps/web)
            *  -> http_status:404 (last)
        "#]],
    );
}

#[test]
fn b029_the_oldest_default_backend_ends_the_list_with_its_settings() {
    check(
        "ingresses:
         - {name: apps/young, age: 2, default: 'web-b:80'}
         - {name: apps/old, age: 1, default: 'web-a:80', annotations: {backend-protocol: https, origin-server-name: dash.internal}}
         - {name: apps/own, age: 3, rules: [{paths: [ImplementationSpecific - web-c:80]}]}
         - {name: apps/web, age: 3, rules: [{host: app.example.com, paths: [Prefix /app web-b:80]},
             {host: '*.example.com', paths: [Prefix / web-b:80]}]}",
        &expect![[r#"
            app.example.com ^/app(/|$) -> http://web-b.apps.svc.cluster.local:80 (apps/web)
            app.example.com  -> https://web-a.apps.svc.cluster.local:80 {"noTLSVerify":true,"originServerName":"dash.internal"} (guard)
            *.example.com / -> http://web-b.apps.svc.cluster.local:80 (apps/web)
            *  -> https://web-a.apps.svc.cluster.local:80 {"noTLSVerify":true,"originServerName":"dash.internal"} (apps/old)
            apps/young Warning DefaultBackendConflict: the default backend belongs to Ingress apps/old, which is older
            apps/own Warning DefaultBackendConflict: the default backend belongs to Ingress apps/old, which is older
        "#]],
    );
}

#[test]
fn b029_a_default_backend_that_is_missing_answers_503() {
    check(
        "ingresses: [{name: apps/web, default: 'gone:80'}]\nservices: {apps/gone: missing}",
        &expect![[r#"
        *  -> http_status:503 (apps/web)
        apps/web Warning BackendUnavailable: the default backend answers 503: Service apps/gone does not exist
    "#]],
    );
}

#[test]
fn what_goes_leaves_its_rules_to_whoever_stays() {
    check(
        "ingresses:
         - {name: apps/going, deleting: true, tls: true, default: 'web-a:80', annotations: {connect-timeout: never},
            rules: [{host: app.example.com, paths: [Prefix / gone:80]}]}
         - {name: apps/stays, age: 1, rules: [{host: app.example.com, paths: [Prefix / web-b:80]}]}",
        &expect![[r#"
            app.example.com / -> http://web-b.apps.svc.cluster.local:80 (apps/stays)
            *  -> http_status:404 (last)
        "#]],
    );
}

fn rules_of(yaml: &str) -> Vec<crate::ingress::Rule> {
    let world = World::read(yaml);
    assemble(&world.exposed(), &world.live, "cluster.local").rules
}

const ONE: &str =
    "ingresses: [{name: apps/web, rules: [{host: app.example.com, paths: [Prefix / web-a:80]}]}]";

fn stored() -> Value {
    json!({"hostname": "app.example.com", "path": "/", "service": "http://web-a.apps.svc.cluster.local:80"})
}

#[test]
fn b078_what_cloudflare_adds_is_no_difference() {
    let mut rule = stored();
    rule["originRequest"] = json!({});
    let live = json!({"ingress": [rule, {"service": "http_status:404", "path": "", "hostname": null}],
        "originRequest": {}, "warp-routing": {"enabled": false}});
    assert_eq!(change(&Lookup::Found(live), &rules_of(ONE)), Change::Nothing);
}

#[test]
fn b079_every_other_member_of_a_configuration_stays() {
    let live = json!({"ingress": [{"service": "http_status:404"}], "originRequest": {"connectTimeout": 20},
        "warp-routing": {"enabled": true}, "later": [1]});
    let Change::Put { config, removed } = change(&Lookup::Found(live), &rules_of(ONE)) else { panic!() };
    assert!(removed.is_empty(), "{removed:?}");
    expect![[r#"{"ingress":[{"hostname":"app.example.com","path":"/","service":"http://web-a.apps.svc.cluster.local:80"},{"service":"http_status:404"}],"later":[1],"originRequest":{"connectTimeout":20},"warp-routing":{"enabled":true}}"#]].assert_eq(&config.to_string());
}

#[test]
fn b163_a_configuration_that_cannot_be_read_is_not_written() {
    for live in [Lookup::Unread, Lookup::Unknown("timed out".to_owned())] {
        assert!(matches!(change(&live, &rules_of(ONE)), Change::Unknown(_)));
    }
    assert_eq!(change(&Lookup::Missing, &rules_of("{}")), Change::Nothing);
    assert!(matches!(change(&Lookup::Missing, &rules_of(ONE)), Change::Put { .. }));
}

#[test]
fn b080_rules_that_nobody_speaks_of_are_told_apart_from_those_that_were_edited() {
    let legacy = json!({"hostname": "legacy.example.com", "service": "http://10.0.0.5:8080"});
    let edited = json!({"hostname": "app.example.com", "service": "http://old.apps.svc.cluster.local:80"});
    let live = json!({"ingress": [legacy, edited, {"service": "http_status:404"}]});
    let world = World::read(ONE);
    let Change::Put { removed, .. } = change(&Lookup::Found(live), &rules_of(ONE)) else { panic!() };
    assert_eq!(removed, [legacy.clone(), edited]);
    assert_eq!(derived(&removed, &world.exposed()), [&legacy]);
}

#[test]
fn b185_five_thousand_rules_are_one_list_in_one_order() {
    let paths: Vec<String> = (0..5_000).map(|n| format!("Prefix /p{n} web-a:80")).collect();
    let world = |paths: &[String]| {
        let paths = serde_json::to_string(paths).unwrap();
        format!("ingresses: [{{name: apps/web, rules: [{{host: app.example.com, paths: {paths}}}]}}]")
    };
    let rules = rules_of(&world(&paths));
    let backwards: Vec<String> = paths.iter().rev().cloned().collect();
    assert_eq!(rules.len(), 5_001);
    assert_eq!(rules, rules_of(&world(&backwards)));
}
