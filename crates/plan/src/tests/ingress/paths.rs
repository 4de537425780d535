//! What becomes of paths and backends, one table for each situation.

use expect_test::expect;

use super::harness::check;

#[test]
fn b003_a_final_slash_counts_for_exact_alone() {
    check(
        "ingresses: [{name: apps/web, rules: [{host: app.example.com, paths:
          [Prefix /foo/ web-a:80, Exact /bar/ web-b:80]}]}]",
        &expect![[r#"
            app.example.com ^/bar/$ -> http://web-b.apps.svc.cluster.local:80 (apps/web)
            app.example.com ^/foo(/|$) -> http://web-a.apps.svc.cluster.local:80 (apps/web)
            *  -> http_status:404 (last)
        "#]],
    );
}

#[test]
fn b004_characters_with_a_meaning_are_escaped_and_no_other_host_suffers() {
    check(
        "ingresses:
         - {name: apps/web, rules: [
             {host: app.example.com, paths: ['Prefix /files[v1 web-a:80', Prefix /v1.0 web-a:80, Prefix /a+b web-a:80]},
             {host: other.example.com, paths: [Prefix / web-b:80]}]}
         - {name: apps/own, rules: [{host: own.example.com, paths: [
             'ImplementationSpecific /(unclosed web-a:80', 'ImplementationSpecific /v[0-9]+/.* web-a:80',
             ImplementationSpecific - web-b:80]}]}",
        &expect![[r#"
            app.example.com ^/files\[v1(/|$) -> http://web-a.apps.svc.cluster.local:80 (apps/web)
            app.example.com ^/v1\.0(/|$) -> http://web-a.apps.svc.cluster.local:80 (apps/web)
            app.example.com ^/a\+b(/|$) -> http://web-a.apps.svc.cluster.local:80 (apps/web)
            other.example.com / -> http://web-b.apps.svc.cluster.local:80 (apps/web)
            own.example.com /v[0-9]+/.* -> http://web-a.apps.svc.cluster.local:80 (apps/own)
            own.example.com  -> http://web-b.apps.svc.cluster.local:80 (apps/own)
            *  -> http_status:404 (last)
            apps/own Warning PathRefused: path "/(unclosed" of host "own.example.com" is left out: connectors cannot read it as a regular expression: a `(` is not closed; add the `)`, or write `\(`
        "#]],
    );
}

#[test]
fn b005_a_star_for_every_path_is_a_slash() {
    check(
        "ingresses: [{name: apps/web, rules: [
           {host: app.example.com, paths: [Prefix /* web-a:80]},
           {host: own.example.com, paths: [ImplementationSpecific /* web-a:80]},
           {host: deep.example.com, paths: [Prefix /deep/* web-a:80]}]}]",
        &expect![[r#"
            app.example.com / -> http://web-a.apps.svc.cluster.local:80 (apps/web)
            deep.example.com ^/deep/\*(/|$) -> http://web-a.apps.svc.cluster.local:80 (apps/web)
            own.example.com /* -> http://web-a.apps.svc.cluster.local:80 (apps/web)
            *  -> http_status:404 (last)
            apps/web Normal PathNoted: path "/*" of host "app.example.com" is read as "/"
            apps/web Warning PathNoted: path "/deep/*" of host "deep.example.com" ends with a star, which is a character like any other here; for an expression use ImplementationSpecific
        "#]],
    );
}

#[test]
fn r01_a_manifest_of_a_live_cluster_serves_all_paths() {
    check(
        "services: {console-system/console: [80]}
ingresses: [{name: console-system/dashboard-via-tunnel, rules: [
  {host: console.example.com, paths: [Prefix /* console:80]}]}]",
        &expect![[r#"
            console.example.com / -> http://console.console-system.svc.cluster.local:80 (console-system/dashboard-via-tunnel)
            *  -> http_status:404 (last)
            console-system/dashboard-via-tunnel Normal PathNoted: path "/*" of host "console.example.com" is read as "/"
        "#]],
    );
}

#[test]
fn r02_a_tls_section_for_another_host_is_told_once_and_makes_no_rule() {
    check(
        "services: {kubernetes-dashboard/dashboard-proxy: [443]}
ingresses: [{name: kubernetes-dashboard/dashboard, tls: true, rules: [
  {host: dashboard.example.com, paths: [Prefix / dashboard-proxy:443]}]}]",
        &expect![[r#"
            dashboard.example.com / -> http://dashboard-proxy.kubernetes-dashboard.svc.cluster.local:443 (kubernetes-dashboard/dashboard)
            *  -> http_status:404 (last)
            kubernetes-dashboard/dashboard Warning TLSIgnored: TLS passthrough is not supported, spec.tls is ignored: visitors get the certificate of Cloudflare's edge
            kubernetes-dashboard/dashboard Warning PlainHTTP: port 443 of Service "dashboard-proxy" is reached by plain http; if it speaks TLS, set annotation cloudflare-tunnel-ingress-controller.strrl.dev/backend-protocol to "https"
        "#]],
    );
}

#[test]
fn b016_a_missing_service_is_its_own_paths_alone() {
    check(
        "services: {apps/missing: missing, apps/headless: {clusterIP: None, ports: [{port: 80}]}}
ingresses:
- {name: apps/web, rules: [{host: app.example.com, paths:
    [Prefix / web-a:80, Prefix /new missing:80, Prefix /headless headless:80, Prefix /bucket Bucket]}]}
- {name: apps/other, rules: [{host: other.example.com, paths: [Prefix / missing:80]}]}",
        &expect![[r#"
            app.example.com ^/headless(/|$) -> http_status:503 (apps/web)
            app.example.com ^/bucket(/|$) -> http_status:503 (apps/web)
            app.example.com ^/new(/|$) -> http_status:503 (apps/web)
            app.example.com / -> http://web-a.apps.svc.cluster.local:80 (apps/web)
            other.example.com / -> http_status:503 (apps/other)
            *  -> http_status:404 (last)
            apps/web Warning BackendUnavailable: path "/new" of host "app.example.com" answers 503: Service apps/missing does not exist
            apps/web Warning BackendUnavailable: path "/headless" of host "app.example.com" answers 503: Service apps/headless is headless, which is not supported
            apps/web Warning BackendUnavailable: path "/bucket" of host "app.example.com" answers 503: its backend is no Service
            apps/other Warning BackendUnavailable: path "/" of host "other.example.com" answers 503: Service apps/missing does not exist
        "#]],
    );
}

#[test]
fn b031_ports_are_the_services_own() {
    check(
        "services: {apps/forge: [{name: ssh, port: 22, targetPort: 2222}]}
ingresses: [{name: apps/forge, annotations: {backend-protocol: ssh}, rules: [
  {host: a.example.com, paths: [Prefix / forge:ssh]},
  {host: b.example.com, paths: [Prefix / forge:2222]},
  {host: c.example.com, paths: [Prefix / forge:nope]}]}]",
        &expect![[r#"
            a.example.com  -> ssh://forge.apps.svc.cluster.local:22 (apps/forge)
            b.example.com  -> http_status:503 (apps/forge)
            c.example.com  -> http_status:503 (apps/forge)
            *  -> http_status:404 (last)
            apps/forge Warning BackendUnavailable: path "/" of host "b.example.com" answers 503: Service apps/forge has no port 2222
            apps/forge Warning BackendUnavailable: path "/" of host "c.example.com" answers 503: Service apps/forge has no port named "nope"
        "#]],
    );
}

#[test]
fn b033_an_external_name_is_dialled_by_itself() {
    check(
        "services:
  apps/vault: {type: ExternalName, externalName: vault.internal.example.net.}
  apps/odd: {type: ExternalName, externalName: 'http://x/'}
ingresses: [{name: apps/vault, annotations: {backend-protocol: https}, rules: [
  {host: vault.example.com, paths: [Prefix / vault:443, Prefix /named vault:https, Prefix /odd odd:80]}]}]",
        &expect![[r#"
            vault.example.com ^/named(/|$) -> http_status:503 (apps/vault)
            vault.example.com ^/odd(/|$) -> http_status:503 (apps/vault)
            vault.example.com / -> https://vault.internal.example.net:443 {"noTLSVerify":true} (apps/vault)
            *  -> http_status:404 (last)
            apps/vault Warning BackendUnavailable: path "/named" of host "vault.example.com" answers 503: Service apps/vault has no port named "https"
            apps/vault Warning BackendUnavailable: path "/odd" of host "vault.example.com" answers 503: Service apps/odd leads to a name that is no DNS name
        "#]],
    );
}

#[test]
fn b035_plain_http_to_a_port_of_tls_is_told() {
    check(
        "services: {kubernetes-dashboard/proxy: [443, {name: https, port: 8443}]}
ingresses: [{name: kubernetes-dashboard/dashboard, tls: true, rules: [
  {host: dashboard.example.com, paths: [Prefix / proxy:443, Prefix /named proxy:https]}]}]",
        &expect![[r#"
            dashboard.example.com ^/named(/|$) -> http://proxy.kubernetes-dashboard.svc.cluster.local:8443 (kubernetes-dashboard/dashboard)
            dashboard.example.com / -> http://proxy.kubernetes-dashboard.svc.cluster.local:443 (kubernetes-dashboard/dashboard)
            *  -> http_status:404 (last)
            kubernetes-dashboard/dashboard Warning TLSIgnored: TLS passthrough is not supported, spec.tls is ignored: visitors get the certificate of Cloudflare's edge
            kubernetes-dashboard/dashboard Warning PlainHTTP: port 443 of Service "proxy" is reached by plain http; if it speaks TLS, set annotation cloudflare-tunnel-ingress-controller.strrl.dev/backend-protocol to "https"
            kubernetes-dashboard/dashboard Warning PlainHTTP: port 8443 of Service "proxy" is reached by plain http; if it speaks TLS, set annotation cloudflare-tunnel-ingress-controller.strrl.dev/backend-protocol to "https"
        "#]],
    );
}

#[test]
fn a_rule_without_paths_or_with_an_impossible_host_is_skipped_alone() {
    check(
        "ingresses: [{name: apps/web, rules: [
  {host: empty.example.com}, {host: a.*.example.com, paths: [Prefix / web-a:80]},
  {host: 192.0.2.1, paths: [Prefix / web-a:80]}, {host: app.example.com, paths: [Prefix / web-a:80]},
  {host: app.example.com, paths: [prefix /typed web-a:80, Prefix relative web-a:80]}]}]",
        &expect![[r#"
            app.example.com / -> http://web-a.apps.svc.cluster.local:80 (apps/web)
            *  -> http_status:404 (last)
            apps/web Warning RuleSkipped: the rule for host "empty.example.com" has no http section and is skipped
            apps/web Warning RuleSkipped: the rule for host "a.*.example.com" is skipped: it is neither a DNS name nor one below "*."
            apps/web Warning RuleSkipped: the rule for host "192.0.2.1" is skipped: it is neither a DNS name nor one below "*."
            apps/web Warning PathRefused: path "/typed" of host "app.example.com" is left out: its pathType is "prefix"; use Exact, Prefix or ImplementationSpecific
            apps/web Warning PathRefused: path "relative" of host "app.example.com" is left out: it must begin with one slash and hold no empty element
        "#]],
    );
}
