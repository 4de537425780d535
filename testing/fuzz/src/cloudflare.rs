//! Requests of any kind to the sandbox's Cloudflare. Every answer is an envelope that our own reader takes as what it is, and
//! fits the facts of the real API; what is refused or only read changes nothing.

use cf_api::envelope;
use http::{HeaderValue, Method, header};
use sandbox::clock::Clock;
use sandbox::cloudflare::{Cloudflare, Plan, Switches, Token};
use serde_json::{Value, json};

use crate::exchange::{Answer, fits, in_standing_time, requests, send};

/// The account that there is.
const ACCOUNT: &str = "0123456789abcdef0123456789abcdef";
/// Its token, which requests without one carry.
const TOKEN: &str = "fuzzTokenThatIsOfTheFormOfRealOnes000000";

pub(crate) fn run(input: &[u8]) {
    in_standing_time(|| {
        let clock = Clock::starting_at("2026-11-01T00:00:00Z".parse().expect("a time"));
        let cloudflare =
            Cloudflare::with_switches(clock, 1, Switches { rate_limit: false, ..Switches::default() });
        cloudflare.hold_to_schemas();
        cloudflare.add_account(ACCOUNT, "Fuzz");
        cloudflare.add_token(TOKEN, Token::all(ACCOUNT));
        let zone = cloudflare.add_zone(ACCOUNT, "example.com", Plan::Free);
        let record = json!({ "type": "A", "name": "www", "content": "192.0.2.1" });
        let record = cloudflare.put_record(&zone, record).expect("a record");
        let places = [("{account}", ACCOUNT), ("{zone}", zone.as_str()), ("{record}", record.as_str())];
        let mut service = cloudflare.service();
        for mut request in requests(&filled(input, &places)) {
            let line = format!("{} {}", request.method(), request.uri());
            // What people do to the world from outside is no call of the API.
            if request.uri().path().contains("/_sandbox") {
                continue;
            }
            // Whoever is not kflare may ask for nonsense.
            request.headers_mut().remove(header::USER_AGENT);
            let authorization = format!("Bearer {TOKEN}");
            let value = HeaderValue::try_from(authorization).expect("a header");
            request.headers_mut().entry(header::AUTHORIZATION).or_insert(value);
            let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
            let before = everything(&cloudflare);
            let Some(answer) = send(&mut service, request) else { continue };
            is_envelope(&line, &answer);
            fits(&line, &cloudflare);
            if is_read || answer.status.as_u16() >= 400 {
                assert!(
                    everything(&cloudflare) == before,
                    "{line}, answered with {}, changed something",
                    answer.status
                );
            }
        }
    });
}

/// The input with the IDs, which no mutation would guess, in their places.
fn filled(input: &[u8], places: &[(&str, &str)]) -> Vec<u8> {
    places.iter().fold(input.to_owned(), |text, (place, id)| {
        let mut filled = Vec::with_capacity(text.len());
        let mut rest = &text[..];
        while let Some(at) = rest.windows(place.len()).position(|window| window == place.as_bytes()) {
            filled.extend_from_slice(&rest[..at]);
            filled.extend_from_slice(id.as_bytes());
            rest = &rest[at + place.len()..];
        }
        filled.extend_from_slice(rest);
        filled
    })
}

fn everything(cloudflare: &Cloudflare) -> (Vec<Value>, Vec<(String, Value)>) {
    (cloudflare.zones(), cloudflare.records_anywhere())
}

fn is_envelope(line: &str, answer: &Answer) {
    let text = String::from_utf8_lossy(&answer.body);
    assert!(answer.status.as_u16() != 500, "{line}: {text}");
    let is_json = answer.headers.get(header::CONTENT_TYPE).is_some_and(|value| value == "application/json");
    if !is_json {
        assert!(answer.status.is_success(), "{line}: a refusal that is no envelope: {text}");
        return;
    }
    let now = "2026-11-01T00:00:00Z".parse().expect("a time");
    let read = envelope::parse(answer.status.as_u16(), &answer.headers, &answer.body, now);
    match read {
        Ok(_) => assert!(answer.status.is_success(), "{line}: {text}"),
        Err(error) => {
            assert!(!answer.status.is_success(), "{line}: {error}: {text}");
            assert!(error.defect.is_none() && !error.errors.is_empty(), "{line}: {error}: {text}");
        }
    }
}
