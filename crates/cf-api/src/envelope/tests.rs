use super::{Answer, ListAnswer, PageInfo, RateLimit, parse, parse_list};
use crate::error::{ApiError, Class, Defect};
use crate::limits::{ERRORS_MAX, EXCERPT_MAX, RETRY_AFTER_MAX, TEXT_MAX};
use http::{HeaderMap, HeaderName, HeaderValue};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::time::Duration;

fn now() -> Timestamp {
    "2026-11-30T12:00:00Z".parse().unwrap()
}

fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
    let pair = |(name, value): &(&'static str, &str)| {
        (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())
    };
    pairs.iter().map(pair).collect()
}

fn read(status: u16, body: &str) -> Result<Answer, ApiError> {
    parse(status, &HeaderMap::new(), body.as_bytes(), now())
}

fn list(body: &str) -> Result<ListAnswer, ApiError> {
    parse_list(200, &HeaderMap::new(), body.as_bytes(), now())
}

#[test]
fn successes_are_read_with_all_their_variations() {
    let table = [
        (
            "plain",
            200,
            r#"{"success":true,"errors":[],"messages":[],"result":{"id":"a"}}"#,
            json!({"id":"a"}),
        ),
        ("messages null", 200, r#"{"success":true,"messages":null,"errors":null,"result":[]}"#, json!([])),
        ("messages as text", 200, r#"{"success":true,"messages":["ok"],"result":1}"#, json!(1)),
        (
            "messages as objects",
            200,
            r#"{"success":true,"messages":[{"code":10000}],"result":{}}"#,
            json!({}),
        ),
        ("created", 201, r#"{"success":true,"result":"token"}"#, json!("token")),
        ("accepted", 202, r#"{"success":true,"result":{"id":"a"}}"#, json!({"id":"a"})),
        ("no body with 204", 204, "", Value::Null),
        ("result null", 200, r#"{"success":true,"result":null}"#, Value::Null),
        ("no result", 200, r#"{"success":true}"#, Value::Null),
        ("no success but a result", 200, r#"{"result":[1],"errors":[]}"#, json!([1])),
    ];
    for (situation, status, body, wanted) in table {
        assert_eq!(read(status, body).unwrap(), Answer::of(wanted), "{situation}");
    }
}

#[test]
fn refusals_are_read_with_all_their_variations() {
    let table = [
        ("plain", r#"{"success":false,"errors":[{"code":9005,"message":"bad"}]}"#, "bad (9005)"),
        ("code missing", r#"{"success":false,"errors":[{"message":"bad"}],"result":null}"#, "bad"),
        ("code 0", r#"{"success":false,"errors":[{"code":0,"message":"bad"}]}"#, "bad"),
        ("code as text", r#"{"success":false,"errors":[{"code":"9005","message":"bad"}]}"#, "bad (9005)"),
        ("errors as text", r#"{"success":false,"errors":["bad"],"messages":null}"#, "bad"),
        ("one error, no list", r#"{"success":false,"errors":{"code":1,"message":"bad"}}"#, "bad (1)"),
        ("no success", r#"{"errors":[{"code":1,"message":"bad"}]}"#, "bad (1)"),
        (
            "pointer",
            r#"{"success":false,"errors":[{"code":1,"message":"m","source":{"pointer":"/a"}}]}"#,
            "/a: m (1)",
        ),
        (
            "b046 chain",
            r#"{"success":false,"errors":[{"code":1004,"message":"DNS","error_chain":[{"code":9021,"message":"TTL"}]}]}"#,
            "DNS (1004): TTL (9021)",
        ),
        ("entries that are nothing", r#"{"success":false,"errors":[null,3,{}]}"#, "no message"),
    ];
    for (situation, body, wanted) in table {
        let error = read(400, body).unwrap_err();
        assert_eq!(error.text(), wanted, "{situation}");
        assert_eq!(error.class(), Class::Invalid, "{situation}");
        assert_eq!(error.defect, None, "{situation}");
    }
}

#[test]
fn success_false_with_200_is_a_refusal() {
    let error = read(200, r#"{"success":false,"errors":[{"code":81044,"message":"gone"}]}"#).unwrap_err();
    assert_eq!((error.status, error.class()), (200, Class::NotFound));
    let error = read(200, r#"{"success":false,"errors":[]}"#).unwrap_err();
    assert_eq!((error.class(), error.defect), (Class::Transient, None));
}

#[test]
fn b153_broken_answers_are_transient_and_say_what_came() {
    let html = "<!DOCTYPE html>\n<html><head><title>502 Bad Gateway</title>\
        <style>p{}</style></head><body>cloudflare";
    let table = [
        ("html", 502, html, "HTTP 502 with a body that is not JSON: 502 Bad Gateway cloudflare"),
        (
            "html with 200",
            200,
            "<p>captive portal</p>",
            "HTTP 200 with a body that is not JSON: captive portal",
        ),
        ("html with 404", 404, "<h1>Not Found</h1>", "HTTP 404 with a body that is not JSON: Not Found"),
        (
            "text",
            503,
            "upstream\r\nconnect \u{1b}[1merror",
            "HTTP 503 with a body that is not JSON: upstream connect error",
        ),
        ("empty", 200, "", "HTTP 200 with an empty body"),
        ("white space", 200, " \n", "HTTP 200 with an empty body"),
        ("empty 500", 500, "", "HTTP 500 with an empty body"),
        (
            "cut",
            200,
            r#"{"success":true,"result":"c2Vj"#,
            "HTTP 200 with JSON that is cut or malformed after 30 bytes",
        ),
        ("not an object", 200, "[1]", "HTTP 200 with JSON that is not Cloudflare's envelope"),
        ("empty object", 200, "{}", "HTTP 200 with JSON that is not Cloudflare's envelope"),
        (
            "someone else's 404",
            404,
            r#"{"detail":"no"}"#,
            "HTTP 404 with JSON that is not Cloudflare's envelope",
        ),
        (
            "says success with 404",
            404,
            r#"{"success":true}"#,
            "HTTP 404 with JSON that is not Cloudflare's envelope",
        ),
    ];
    for (situation, status, body, wanted) in table {
        let error = read(status, body).unwrap_err();
        assert_eq!(error.text(), wanted, "{situation}");
        assert_eq!(error.class(), Class::Transient, "{situation}");
    }
    let long = format!("<p>{}</p>", "word ".repeat(10_000));
    let Some(Defect::NotJson { excerpt }) = read(502, &long).unwrap_err().defect else { panic!("not JSON") };
    assert_eq!(excerpt.chars().count(), EXCERPT_MAX);
}

#[test]
fn v9_a_cut_answer_is_never_quoted() {
    let error = read(200, r#"{"success":true,"result":"eyJhIjoi-secret"#).unwrap_err();
    assert!(!format!("{error} {error:?}").contains("secret"));
}

#[test]
fn b153_null_is_no_empty_list() {
    let table = [
        (r#"{"success":true,"result":null}"#, "null"),
        (r#"{"success":true}"#, "null"),
        (r#"{"success":true,"result":{"id":"a"}}"#, "an object"),
        (r#"{"success":true,"result":"x"}"#, "a string"),
        (r#"{"success":true,"result":false}"#, "a boolean"),
        (r#"{"success":true,"result":-1}"#, "a number"),
    ];
    for (body, got) in table {
        let error = list(body).unwrap_err();
        assert_eq!(error.class(), Class::Transient, "{body}");
        assert!(error.may_have_happened(), "{body}");
        assert_eq!(error.text(), format!("HTTP 200 whose result is {got} instead of an array"));
    }
    assert_eq!(list(r#"{"success":true,"result":[]}"#).unwrap(), ListAnswer::default());
}

#[test]
fn items_of_a_list_are_read_one_by_one() {
    let body = r#"{"success":true,"result":[ {"id":"a","ttl":1}, 7, {"id":2} ],"result_info":{"page":1}}"#;
    let answer = list(body).unwrap();
    let items: Vec<Value> = answer.items.iter().collect();
    assert_eq!(items, [json!({"id":"a","ttl":1}), json!(7), json!({"id":2})]);
    assert_eq!(answer.ids, [Some("a".to_owned()), None, None]);
    assert_eq!(answer.page, Some(PageInfo { page: Some(1), ..PageInfo::default() }));
    // One that cannot be read must not look like one that is not there.
    for broken in [r#"[{"id":"a"},{"n":1e999}]"#, r#"["\ud800"]"#, r#"[{"id":"a"},"#] {
        let body = format!(r#"{{"success":true,"result":{broken}}}"#);
        let error = list(&body).unwrap_err();
        assert_eq!(error.defect, Some(Defect::BrokenJson { bytes: body.len() }), "{broken}");
    }
    let refused = list(r#"{"success":false,"errors":[{"code":9005,"message":"bad"}],"result":[]}"#);
    assert_eq!(refused.unwrap_err().text(), "bad (9005)");
}

#[test]
fn page_information_may_lack_every_part() {
    let info = |text: &str| {
        read(200, &format!(r#"{{"success":true,"result":[],"result_info":{text}}}"#)).unwrap().page
    };
    let whole = PageInfo {
        page: Some(1),
        per_page: Some(20),
        count: Some(2),
        total_count: Some(2),
        total_pages: Some(1),
        cursor: None,
    };
    assert_eq!(info(r#"{"page":1,"per_page":20,"count":2,"total_count":2,"total_pages":1}"#), Some(whole));
    let cursor = |cursor: &str| Some(PageInfo { cursor: Some(cursor.to_owned()), ..PageInfo::default() });
    assert_eq!(info(r#"{"cursor":"abc"}"#), cursor("abc"));
    assert_eq!(info(r#"{"cursors":{"after":"abc","before":"x"}}"#), cursor("abc"));
    for empty in ["{}", r#"{"cursor":""}"#, r#"{"cursors":{}}"#, r#"{"page":-1,"per_page":"x"}"#] {
        assert_eq!(info(empty), Some(PageInfo::default()), "{empty}");
    }
    for none in ["null", "[]", "3"] {
        assert_eq!(info(none), None, "{none}");
    }
}

#[test]
fn the_ratelimit_header_is_read() {
    let limit = |remaining, reset| Some(RateLimit { remaining, reset: Duration::from_secs(reset) });
    let table = [
        ("documented", r#""default";r=50;t=30"#, limit(50, 30)),
        ("spaces", r#""default"; r=50 ; t=30"#, limit(50, 30)),
        ("the least of two", r#""default";r=500;t=200, "burst";r=3;t=7"#, limit(3, 7)),
        ("the longer of two equal", r#""a";r=0;t=7,"b";r=0;t=200"#, limit(0, 200)),
        ("one that can't be read", r#""a";r=x;t=7,"b";r=9;t=1"#, limit(9, 1)),
        ("unknown parameters", r#""a";q;r=9;pk=:abc:;t=1"#, limit(9, 1)),
        ("a reset of years", r#""a";r=9;t=99999999999"#, limit(9, 3_600)),
        ("half of it", r#""a";r=9"#, None),
        ("nonsense", "r=1 t=2", None),
        ("empty", "", None),
    ];
    for (situation, value, wanted) in table {
        assert_eq!(RateLimit::from_headers(&headers(&[("ratelimit", value)])), wanted, "{situation}");
    }
    let answer = parse(204, &headers(&[("ratelimit", "\"a\";r=9;t=1")]), b"", now()).unwrap();
    assert_eq!(answer.ratelimit, limit(9, 1));
}

#[test]
fn retry_after_and_ray_are_read_and_bounded() {
    let table = [
        ("seconds", "300", Some(Duration::from_secs(300))),
        ("zero", "0", Some(Duration::ZERO)),
        ("a date", "Mon, 30 Nov 2026 12:01:30 GMT", Some(Duration::from_secs(90))),
        ("a date that is past", "Mon, 30 Nov 2026 11:00:00 GMT", Some(Duration::ZERO)),
        ("years", "99999999999", Some(RETRY_AFTER_MAX)),
        ("beyond all numbers", "99999999999999999999999", None),
        ("negative", "-5", None),
        ("nonsense", "soon", None),
    ];
    for (situation, value, wanted) in table {
        let error = parse(429, &headers(&[("retry-after", value)]), b"", now()).unwrap_err();
        assert_eq!(error.retry_after, wanted, "{situation}");
        assert_eq!(error.class(), Class::RateLimited, "{situation}");
    }
    let ray = |value| parse(500, &headers(&[("cf-ray", value)]), b"", now()).unwrap_err().ray;
    assert_eq!(ray("8f0e1d2c3b4a5968-FRA").as_deref(), Some("8f0e1d2c3b4a5968-FRA"));
    assert_eq!(ray("<script>"), None);
    assert_eq!(ray(&"a".repeat(100)), None);
}

/// Numerical Recipes' generator: random enough for hostile bodies, the same in every run.
struct Lcg(u64);

impl Lcg {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}

#[test]
fn hostile_bodies_neither_panic_nor_flood() {
    let mut random = Lcg(7);
    let chain = format!(r#"{{"errors":{}"x"{}}}"#, r#"[{"error_chain":"#.repeat(40), "}]".repeat(40));
    let nested = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let mut wide = r#"{"success":false,"errors":["#.to_owned();
    wide.push_str(
        &r#"{"code":1,"message":"\u001b]0;x\u0007 long text","error_chain":["a","b"]},"#.repeat(5_000),
    );
    wide.push_str("1]}");
    let seeds = [
        chain.as_str(),
        nested.as_str(),
        wide.as_str(),
        r#"{"success":false,"errors":[{"code":9223372036854775808,"message":{}}],"result_info":{"page":1e99}}"#,
        "<html><script>if (a<b) {</html>",
        "<!-- <style>",
        "\u{feff}{\"success\":true}",
        r#"{"success":true,"success":false,"errors":7}"#,
    ];
    let pieces = [
        "{", "}", "[", "]", "\"", ":", ",", "\\u", "<", ">", "success", "errors", "null", "\u{1b}[", "é",
        "\0",
    ];
    for round in 0..4_000 {
        let mut body: Vec<u8> = match seeds.get(round % 16) {
            Some(seed) => seed.bytes().take(20_000).collect(),
            None => (0..random.below(40)).flat_map(|_| pieces[random.below(pieces.len())].bytes()).collect(),
        };
        for _ in 0..random.below(4) {
            let at = random.below(body.len() + 1);
            body.insert(at, random.below(256) as u8);
        }
        body.truncate(random.below(body.len() + 1).max(body.len() * usize::from(round % 3 != 0)));
        let status = [200, 201, 204, 302, 400, 404, 429, 502, 999][random.below(9)];
        if let Err(error) = parse(status, &HeaderMap::new(), &body, now()) {
            let text = error.text();
            assert!(text.chars().count() <= TEXT_MAX && !text.chars().any(char::is_control), "{text:?}");
            let _ = error.class();
        }
    }
    for seed in seeds {
        assert!(read(500, seed).unwrap_err().errors.len() <= ERRORS_MAX);
    }
}
