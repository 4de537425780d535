//! Accounts: read only, with a Secret to protect.

use expect_test::expect;

use super::harness::{check, check_once};

#[test]
fn a_new_account_protects_its_secret_and_is_validated() {
    check(
        "CloudflareAccount",
        "
objects:
- metadata: {name: acct}
  spec: {accountID: 000000000000000000000000000000ac, tokenSecretRef: {name: token, namespace: kflare, key: CF_API_TOKEN}}
live:
- {id: 000000000000000000000000000000ac, name: Example}
secret: []
",
        &expect![[r#"
            stage
              PATCH CloudflareAccount acct {"metadata":{"finalizers":["kflare.dev/finalizer"],"resourceVersion":"","uid":"uid-acct"}}
                CloudflareAccount acct prepare (nothing that exists is touched)
            stage
              PATCH Secret kflare/token {"metadata":{"finalizers":["kflare.dev/token-protection"],"resourceVersion":"","uid":""}}
                CloudflareAccount acct protect (nothing that exists is touched)
            status: CloudflareAccount acct Ready=True Validated: the token works and the account can be read
            next: CloudflareAccount acct Drift
        "#]],
    );
}

#[test]
fn an_account_without_its_secret_waits_for_it() {
    check(
        "CloudflareAccount",
        "
objects:
- metadata: {name: acct}
  spec: {accountID: 000000000000000000000000000000ac, tokenSecretRef: {name: token, namespace: kflare, key: CF_API_TOKEN}}
",
        &expect![[r#"
            stage
              PATCH CloudflareAccount acct {"metadata":{"finalizers":["kflare.dev/finalizer"],"resourceVersion":"","uid":"uid-acct"}}
                CloudflareAccount acct prepare (nothing that exists is touched)
            status: CloudflareAccount acct Ready=False SecretNotFound: Secret kflare/token with the API token does not exist: create it, or correct tokenSecretRef of the CloudflareAccount
            next: CloudflareAccount acct Wait
        "#]],
    );
}

#[test]
fn a_token_that_cloudflare_does_not_know_is_invalid() {
    check(
        "CloudflareAccount",
        "
objects:
- metadata: {name: acct}
  spec: {accountID: 000000000000000000000000000000ac, tokenSecretRef: {name: token, namespace: kflare, key: CF_API_TOKEN}}
secret: [kflare.dev/token-protection]
token: invalid
",
        &expect![[r#"
            stage
              PATCH CloudflareAccount acct {"metadata":{"finalizers":["kflare.dev/finalizer"],"resourceVersion":"","uid":"uid-acct"}}
                CloudflareAccount acct prepare (nothing that exists is touched)
            status: CloudflareAccount acct Ready=False InvalidToken: Cloudflare refused the token of CloudflareAccount acct (Secret kflare/token/CF_API_TOKEN): Invalid API Token (1000)
            next: CloudflareAccount acct After(600s, Drift)
        "#]],
    );
}

#[test]
fn the_placeholder_of_the_samples_is_told_once_it_is_refused() {
    check(
        "CloudflareAccount",
        "
objects:
- metadata: {name: acct, finalizers: [kflare.dev/finalizer]}
  spec: {accountID: 000000000000000000000000000000ac, tokenSecretRef: {name: token, namespace: kflare, key: CF_API_TOKEN}}
secret: [kflare.dev/token-protection]
token: invalid
placeholder: true
",
        &expect![[r#"
            status: CloudflareAccount acct Ready=False InvalidToken: Cloudflare refused the token of CloudflareAccount acct (Secret kflare/token/CF_API_TOKEN, which still holds the placeholder of the samples: put an API token of your account in its place): Invalid API Token (1000)
            next: CloudflareAccount acct After(600s, Drift)
        "#]],
    );
}

#[test]
fn a_deleted_account_takes_its_protection_off_first() {
    check_once(
        "CloudflareAccount",
        "
objects:
- metadata: {name: acct, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [kflare.dev/finalizer]}
  spec: {accountID: 000000000000000000000000000000ac, tokenSecretRef: {name: token, namespace: kflare, key: CF_API_TOKEN}}
secret: [other/finalizer, kflare.dev/token-protection]
",
        &expect![[r#"
            stage
              PATCH Secret kflare/token {"metadata":{"finalizers":["other/finalizer"],"resourceVersion":"","uid":""}}
                CloudflareAccount acct protect (nothing that exists is touched)
            stage
              PATCH CloudflareAccount acct {"metadata":{"finalizers":null,"resourceVersion":"","uid":"uid-acct"}}
                CloudflareAccount acct release (nothing that exists is touched)
            next: CloudflareAccount acct Forget
        "#]],
    );
}
