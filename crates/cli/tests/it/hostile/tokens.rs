//! Hostile Secrets: whatever stands where the token should be, the account says so and shows none of it.

use cli::commands::log::Format;
use cli::world::{SECRET_NAME, SECRET_NAMESPACE, TOKEN, TOKEN_KEY};
use serde_json::{Value, json};

use super::{STEERING, record, watched, zone};

/// In every text that is stored, to be looked for.
const MARK: &str = "mark7mark";

/// The Secret without the copy that kubectl would keep of it in an annotation, which holds a quarter of its size.
fn secret(data: &[u8]) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": SECRET_NAME, "namespace": SECRET_NAMESPACE},
        "data": {TOKEN_KEY: base64(data)},
    })
}

/// Standard base64 with padding.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |group: &[u8]| {
        let number = group
            .iter()
            .chain([0, 0].iter())
            .take(3)
            .fold(0_u32, |number, byte| number << 8 | u32::from(*byte));
        let digit = |at: usize| {
            let digit = DIGITS[(number >> (18 - 6 * at) & 63) as usize];
            if at <= group.len() { char::from(digit) } else { '=' }
        };
        (0..4).map(digit).collect::<String>()
    };
    bytes.chunks(3).map(group).collect()
}

#[test]
fn whatever_stands_where_the_token_should_be_is_told_and_not_shown() {
    let long = format!("{MARK}{}", "x".repeat(900 * 1_024));
    let cases: [(&str, Vec<u8>); 9] = [
        ("two lines", format!("{MARK}\n{MARK}").into_bytes()),
        ("escapes", format!("{MARK}{STEERING}").into_bytes()),
        ("nearly a megabyte", long.into_bytes()),
        ("bytes", [MARK.as_bytes(), b"\xff\xfe\xc3"].concat()),
        ("NUL", format!("{MARK}\0").into_bytes()),
        ("a header of its own", format!("{MARK}\r\nX-Auth-Key: {MARK}").into_bytes()),
        ("quotes", format!("\"{MARK}\"").into_bytes()),
        ("nothing", Vec::new()),
        ("another token", format!("{MARK}OfTheFormOfTokens000000000000000000").into_bytes()),
    ];
    for (at, (case, data)) in cases.into_iter().enumerate() {
        let format = if at % 2 == 0 { Format::Text } else { Format::Json };
        let (taken, shown) = watched(format, &[secret(&data), zone(), record("www", "192.0.2.1")], |way| way);
        assert_eq!(taken, 3, "{case}");
        shown.is_fit(case);
        let (reason, message) = shown.ready("CloudflareAccount", "main");
        assert!(reason != "Validated", "{case}: {reason} {message}");
        for (place, text) in shown.places() {
            assert!(
                !text.contains(MARK) && !text.contains(&base64(MARK.as_bytes())),
                "{case}: {place} shows it: {text}"
            );
        }
    }
}

#[test]
fn a_token_between_blanks_is_a_token() {
    let (_, shown) = watched(Format::Text, &[secret(format!("\n {TOKEN}\t\n").as_bytes())], |way| way);
    assert_eq!(shown.ready("CloudflareAccount", "main").0, "Validated");
}
