//! Ingresses that are paused or cannot be told: what stands for them stays, and nothing else does.

use expect_test::expect;

use super::harness::check;

const LIVE: &str = "live:
- {hostname: app.example.com, path: /api, service: 'http://old.apps.svc.cluster.local:80'}
- {hostname: app.example.com, path: /, service: 'http://web-a.apps.svc.cluster.local:80', originRequest: {later: 1}}
- {hostname: far.example.com, path: /, service: 'http://web-a.elsewhere.svc.cluster.local:80'}
- {hostname: name.example.com, path: /, service: 'http://db.example.net:80'}
- {service: 'http_status:404'}
";

#[test]
fn a_bad_annotation_keeps_the_last_good_rules() {
    check(
        &format!(
            "{LIVE}
ingresses: [{{name: apps/web, annotations: {{connect-timeout: soon}}, rules: [
  {{host: app.example.com, paths: [Prefix /other web-b:80, Prefix / web-b:80]}}]}}]"
        ),
        &expect![[r#"
            app.example.com /api -> http://old.apps.svc.cluster.local:80 (kept for apps/web)
            app.example.com / -> http://web-a.apps.svc.cluster.local:80 {"later":1} (kept for apps/web)
            *  -> http_status:404 (last)
            apps/web Warning TransformFailed: invalid value "soon" for annotation cloudflare-tunnel-ingress-controller.strrl.dev/connect-timeout, expect a Go duration string, such as "30s"; the rules that stand are kept as they are
        "#]],
    );
}

#[test]
fn a_bad_annotation_on_a_new_ingress_gets_it_no_rule() {
    check(
        "ingresses: [{name: apps/web, annotations: {connect-timeout: soon}, rules: [
  {host: app.example.com, paths: [Prefix / web-b:80]}]}]",
        &expect![[r#"
            *  -> http_status:404 (last)
            apps/web Warning TransformFailed: invalid value "soon" for annotation cloudflare-tunnel-ingress-controller.strrl.dev/connect-timeout, expect a Go duration string, such as "30s"; the rules that stand are kept as they are
        "#]],
    );
}

#[test]
fn paused_rules_stay_as_they_stand_even_while_it_is_deleted() {
    check(
        &format!(
            "{LIVE}
services: {{apps/name: {{type: ExternalName, externalName: db.example.net}}}}
ingresses: [{{name: apps/web, deleting: true, annotations: {{own/paused: 'true'}}, rules: [
  {{host: new.example.com, paths: [Prefix / web-b:80]}}, {{host: name.example.com, paths: [Prefix / name:80]}}]}}]"
        ),
        &expect![[r#"
            app.example.com /api -> http://old.apps.svc.cluster.local:80 (kept for apps/web)
            app.example.com / -> http://web-a.apps.svc.cluster.local:80 {"later":1} (kept for apps/web)
            name.example.com / -> http://db.example.net:80 (kept for apps/web)
            *  -> http_status:404 (last)
        "#]],
    );
}

#[test]
fn a_rule_that_another_ingress_of_the_namespace_stands_for_is_not_kept() {
    check(
        &format!(
            "{LIVE}
ingresses:
- {{name: apps/paused, annotations: {{own/paused: 'true'}}}}
- {{name: apps/going, deleting: true, rules: [{{host: app.example.com, paths: [Prefix /api gone:80]}}]}}
- {{name: apps/moved, rules: [{{host: app.example.com, paths: [Prefix / web-c:80]}}]}}"
        ),
        &expect![[r#"
            app.example.com / -> http://web-c.apps.svc.cluster.local:80 (apps/moved)
            *  -> http_status:404 (last)
        "#]],
    );
}

#[test]
fn pausing_hands_nothing_to_a_younger_ingress_elsewhere() {
    check(
        &format!(
            "{LIVE}
services: {{team/web: [80]}}
ingresses:
- {{name: apps/web, age: 1, annotations: {{own/paused: 'true'}}, rules: [
    {{host: app.example.com, paths: [Prefix / web-a:80]}}]}}
- {{name: team/web, age: 2, rules: [{{host: app.example.com, paths: [Prefix / web:80, Prefix /team web:80]}}]}}"
        ),
        &expect![[r#"
            app.example.com ^/team(/|$) -> http://web.team.svc.cluster.local:80 (team/web)
            app.example.com /api -> http://old.apps.svc.cluster.local:80 (kept for apps/web)
            app.example.com / -> http://web-a.apps.svc.cluster.local:80 {"later":1} (kept for apps/web)
            *  -> http_status:404 (last)
            team/web Warning PathConflict: path "/" of host "app.example.com" belongs to Ingress apps/web, which is older
        "#]],
    );
}

#[test]
fn b163_a_service_that_cannot_be_read_holds_what_stands() {
    check(
        &format!(
            "{LIVE}
services: {{apps/name: unknown}}
ingresses:
- {{name: apps/web, rules: [{{host: app.example.com, paths: [Prefix / web-b:80, Prefix /n name:80]}},
    {{host: name.example.com, paths: [Prefix / name:80]}}]}}
- {{name: apps/other, rules: [{{host: other.example.com, paths: [Prefix / web-b:80]}}]}}"
        ),
        &expect![[r#"
            app.example.com /api -> http://old.apps.svc.cluster.local:80 (kept for apps/web)
            app.example.com / -> http://web-a.apps.svc.cluster.local:80 {"later":1} (kept for apps/web)
            name.example.com / -> http://db.example.net:80 (kept for apps/web)
            other.example.com / -> http://web-b.apps.svc.cluster.local:80 (apps/other)
            *  -> http_status:404 (last)
            apps/web Warning LookupFailed: Service apps/name: timed out; the rules that stand are kept as they are until it can be read
        "#]],
    );
}

#[test]
fn a_path_that_answers_503_goes_on_doing_so_while_paused() {
    check(
        "live:
- {hostname: app.example.com, path: '^/new(/|$)', service: 'http_status:503'}
- {hostname: gone.example.com, path: /, service: 'http_status:503'}
- {hostname: app.example.com, path: /, service: 'http://web-a.apps.svc.cluster.local:80'}
- {service: 'http_status:404'}
ingresses: [{name: apps/web, annotations: {own/paused: 'true'}, rules: [
  {host: app.example.com, paths: [Prefix / web-a:80, Prefix /new web-b:80]}]}]",
        &expect![[r#"
            app.example.com ^/new(/|$) -> http_status:503 (kept for apps/web)
            app.example.com / -> http://web-a.apps.svc.cluster.local:80 (kept for apps/web)
            *  -> http_status:404 (last)
        "#]],
    );
}

#[test]
fn a_paused_default_backend_stays_with_the_guards_it_makes() {
    check(
        "live:
- {hostname: app.example.com, path: '^/api(/|$)', service: 'http://web-b.apps.svc.cluster.local:80'}
- {hostname: app.example.com, service: 'http://web-a.apps.svc.cluster.local:80'}
- {hostname: '*.example.com', path: /, service: 'http://web-b.apps.svc.cluster.local:80'}
- {service: 'http://web-a.apps.svc.cluster.local:80'}
services: {team/web: [80]}
ingresses:
- {name: apps/web, annotations: {own/paused: 'true'}, default: 'web-a:80', rules: [
    {host: app.example.com, paths: [Prefix /api web-b:80]}, {host: '*.example.com', paths: [Prefix / web-b:80]}]}
- {name: team/web, age: 5, default: 'web:80'}",
        &expect![[r#"
            app.example.com ^/api(/|$) -> http://web-b.apps.svc.cluster.local:80 (kept for apps/web)
            app.example.com  -> http://web-a.apps.svc.cluster.local:80 (guard)
            *.example.com / -> http://web-b.apps.svc.cluster.local:80 (kept for apps/web)
            *  -> http://web-a.apps.svc.cluster.local:80 (apps/web)
            team/web Warning DefaultBackendConflict: the default backend belongs to Ingress apps/web, which is older
        "#]],
    );
}

#[test]
fn b004_a_rule_that_connectors_refuse_is_not_kept() {
    check(
        "live:
- {hostname: app.example.com, path: '/(unclosed', service: 'http://web-a.apps.svc.cluster.local:80'}
- {hostname: bad.example.com, service: '://web-a.apps.svc.cluster.local:80'}
- {hostname: good.example.com, service: 'http://web-a.apps.svc.cluster.local:80'}
- {service: 'http_status:404'}
ingresses: [{name: apps/web, annotations: {own/paused: 'true'}}]",
        &expect![[r#"
            good.example.com  -> http://web-a.apps.svc.cluster.local:80 (kept for apps/web)
            *  -> http_status:404 (last)
        "#]],
    );
}
