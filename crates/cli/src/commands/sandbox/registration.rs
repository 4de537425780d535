//! Makes the simulated Cloudflare know the accounts and tokens that manifests name, so that manifests work as they are.
//! Only what stands in the files counts: a token that someone puts into a Secret later is as wrong as on the real API.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use kinds::names::TOKEN_PLACEHOLDER;
use sandbox::cloudflare::{Cloudflare, Plan, Scope, Token};
use serde_json::Value;

use super::manifest::Manifest;
use crate::world::{ACCOUNT_ID, TOKEN, TOKEN_KEY};

/// The ID of the token that stands for the placeholder.
const OWN_TOKEN_ID: &str = "00000000000000000000000000000001";

/// Namespace, name and key of a Secret.
type SecretPlace = (String, String, String);

/// Registers what the manifests' CloudflareAccounts name. New zones get `plan`.
pub(super) fn register(cloudflare: &Cloudflare, manifests: &[Manifest], plan: Plan) {
    let accounts = || manifests.iter().map(|manifest| &manifest.object).filter(|object| is_account(object));
    let known: BTreeSet<String> =
        cloudflare.accounts().iter().filter_map(|account| word(account, "/id")).collect();
    let mut tokens: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let secrets = secrets(manifests);
    for object in accounts() {
        let Some(id) = word(object, "/spec/accountID") else { continue };
        if !known.contains(&id) {
            let name = word(object, "/metadata/name").unwrap_or_default();
            cloudflare.add_account(&id, &name);
        }
        if let Some(token) = secret_place(object).and_then(|place| secrets.get(&place)) {
            tokens.entry(token.clone()).or_default().insert(id);
        }
    }
    for account in cloudflare.accounts() {
        if let Some(id) = word(&account, "/id") {
            cloudflare.set_new_zone_plan(&id, plan);
        }
    }
    for (secret, accounts) in tokens {
        let first = accounts.first().map_or(ACCOUNT_ID, String::as_str);
        let token = Token { accounts: Scope::Only(accounts.clone()), ..Token::all(first) };
        if secret == TOKEN_PLACEHOLDER {
            cloudflare.add_token_as(OWN_TOKEN_ID, TOKEN, token.clone());
        }
        cloudflare.add_token(&secret, token);
    }
}

/// Puts a token into the Secrets in the place of the samples' placeholder. Here the placeholder works too, for whoever
/// applies the samples again, but kflare says of every one that it is to blame.
pub(super) fn replace_placeholder(manifests: &mut [Manifest]) {
    let secrets = manifests.iter_mut().map(|manifest| &mut manifest.object);
    for object in secrets.filter(|object| object["kind"] == "Secret") {
        let encoded = |text: &str| STANDARD.encode(text);
        for (field, placeholder, token) in [
            ("stringData", TOKEN_PLACEHOLDER.to_owned(), TOKEN.to_owned()),
            ("data", encoded(TOKEN_PLACEHOLDER), encoded(TOKEN)),
        ] {
            let Some(values) = object.get_mut(field).and_then(Value::as_object_mut) else { continue };
            for value in values.values_mut().filter(|value| **value == placeholder) {
                *value = Value::String(token.clone());
            }
        }
    }
}

fn is_account(object: &Value) -> bool {
    object["kind"] == "CloudflareAccount" && object["apiVersion"] == kinds::names::API_VERSION
}

fn word(object: &Value, pointer: &str) -> Option<String> {
    object.pointer(pointer).and_then(Value::as_str).filter(|word| !word.is_empty()).map(ToOwned::to_owned)
}

fn secret_place(account: &Value) -> Option<SecretPlace> {
    let field = |name: &str| word(account, &format!("/spec/tokenSecretRef/{name}"));
    Some((field("namespace")?, field("name")?, field("key").unwrap_or_else(|| TOKEN_KEY.to_owned())))
}

/// Every key of every Secret with its value, white space around it dropped as when the operator reads it.
fn secrets(manifests: &[Manifest]) -> BTreeMap<SecretPlace, String> {
    let mut values = BTreeMap::new();
    for object in
        manifests.iter().map(|manifest| &manifest.object).filter(|object| object["kind"] == "Secret")
    {
        let namespace = word(object, "/metadata/namespace").unwrap_or_else(|| "default".to_owned());
        let name = word(object, "/metadata/name").unwrap_or_default();
        let mut put = |key: &str, value: &str| {
            let value = value.trim();
            if !value.is_empty() {
                values.insert((namespace.clone(), name.clone(), key.to_owned()), value.to_owned());
            }
        };
        for (key, value) in object["data"].as_object().into_iter().flatten() {
            let bytes = value.as_str().and_then(|text| STANDARD.decode(text).ok());
            if let Some(text) = bytes.and_then(|bytes| String::from_utf8(bytes).ok()) {
                put(key, &text);
            }
        }
        // `stringData` wins over `data`, as the API server merges them.
        for (key, value) in object["stringData"].as_object().into_iter().flatten() {
            put(key, value.as_str().unwrap_or_default());
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::manifest::Place;
    use super::*;

    fn manifest(object: Value) -> Manifest {
        let place = Place { file: "a.yaml".to_owned(), document: 1, line: 1 };
        Manifest { place, object, text: "".into() }
    }

    #[test]
    fn values_of_secrets_are_found_in_both_forms() {
        let secret = manifest(json!({
            "kind": "Secret",
            "metadata": { "name": "s", "namespace": "n" },
            "data": { "a": "b25l", "b": "dHdvCg==", "bad": "%%" },
            "stringData": { "b": " three\n" },
        }));
        let found = secrets(&[secret]);
        let value =
            |key: &str| found.get(&("n".to_owned(), "s".to_owned(), key.to_owned())).map(String::as_str);
        assert_eq!((value("a"), value("b"), value("bad")), (Some("one"), Some("three"), None));
    }

    #[test]
    fn the_default_key_counts_when_none_is_named() {
        let account = json!({ "spec": { "tokenSecretRef": { "name": "s", "namespace": "n" } } });
        assert_eq!(secret_place(&account), Some(("n".to_owned(), "s".to_owned(), TOKEN_KEY.to_owned())));
    }
}
