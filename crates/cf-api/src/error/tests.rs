use super::{ApiError, ApiMessage, Cause, Class, Defect};
use crate::limits::{MESSAGE_MAX, TEXT_MAX};

fn refused(status: u16, codes: &[i64]) -> ApiError {
    ApiError::new(status, codes.iter().map(|code| ApiMessage::new(*code, "text")).collect())
}

fn chained(status: u16, code: i64, inner: i64) -> ApiError {
    let mut error = refused(status, &[code]);
    error.errors[0].chain = vec![ApiMessage::new(inner, "inner")];
    error
}

fn defect(status: u16) -> ApiError {
    ApiError { status, defect: Some(Defect::NotAnEnvelope), ..ApiError::default() }
}

#[test]
fn every_refusal_has_its_class() {
    let table = [
        ("record gone", refused(404, &[81044]), Class::NotFound),
        ("b072 record gone, said with 400", refused(400, &[81044]), Class::NotFound),
        ("b072 record gone, said with 200", refused(200, &[81044]), Class::NotFound),
        ("b072 record gone, said with 403", refused(403, &[81044]), Class::NotFound),
        ("tunnel gone", refused(404, &[1002]), Class::NotFound),
        ("no entry point", refused(404, &[10003]), Class::NotFound),
        ("404 without a code", ApiError::new(404, vec![ApiMessage::default()]), Class::NotFound),
        ("v3 a proxy's 404", defect(404), Class::Transient),
        ("b150 no route", refused(400, &[7003, 7000]), Class::Invalid),
        ("b150 no route, said with 404", refused(404, &[7003, 7000]), Class::Invalid),
        ("host taken by an A record", refused(400, &[81053]), Class::AlreadyExists),
        ("same record", refused(400, &[81057]), Class::AlreadyExists),
        ("identical record", refused(400, &[81058]), Class::AlreadyExists),
        ("same record in a chain", chained(400, 1004, 81057), Class::AlreadyExists),
        ("zone exists", refused(400, &[1061]), Class::AlreadyExists),
        ("namespace title exists", refused(400, &[10014]), Class::AlreadyExists),
        ("worker not authorised has the same code", refused(403, &[10014]), Class::Forbidden),
        ("bucket exists", refused(409, &[10004]), Class::AlreadyExists),
        ("tunnel name in use", refused(409, &[1013]), Class::AlreadyExists),
        ("database exists", refused(400, &[7502]), Class::AlreadyExists),
        ("worker fails validation", refused(400, &[10021]), Class::Invalid),
        ("token unknown", refused(401, &[1000]), Class::Unauthorized),
        ("b149 authentication error", refused(401, &[10000]), Class::Unauthorized),
        ("b149 authentication error, said with 400", refused(400, &[10000]), Class::Forbidden),
        ("b149 authentication error, said with 200", refused(200, &[10000]), Class::Forbidden),
        ("b149 authentication error, said with 404", refused(404, &[10000]), Class::Forbidden),
        ("b149 no permission", refused(403, &[9109]), Class::Forbidden),
        ("b149 no credentials", refused(400, &[9106]), Class::Unauthorized),
        ("b147 malformed authorization", chained(400, 6003, 6111), Class::Unauthorized),
        ("malformed content type", chained(400, 6003, 6105), Class::Invalid),
        ("a plan's refusal", refused(403, &[1015]), Class::Invalid),
        ("a proxy's 403", defect(403), Class::Forbidden),
        ("too many calls", refused(429, &[10429]), Class::RateLimited),
        ("too many calls, as HTML", defect(429), Class::RateLimited),
        ("too many calls, said with 403", refused(403, &[971]), Class::RateLimited),
        ("wrong content", refused(400, &[9005]), Class::Invalid),
        ("ruleset refusal without a code", ApiError::new(400, vec![ApiMessage::default()]), Class::Invalid),
        ("bucket not empty", refused(409, &[10008]), Class::Invalid),
        ("method not available", refused(405, &[7001]), Class::Invalid),
        ("too large, said by the edge", defect(413), Class::Invalid),
        ("a broken 400", defect(400), Class::Transient),
        ("request timeout", refused(408, &[]), Class::Transient),
        ("too early", refused(425, &[]), Class::Transient),
        ("b153 internal error", refused(500, &[10002]), Class::Transient),
        ("b153 bad gateway", defect(502), Class::Transient),
        ("b153 authentication service down", refused(503, &[10000]), Class::Transient),
        ("b153 refused without a reason, 200", refused(200, &[]), Class::Transient),
        ("refused with a reason, 200", refused(200, &[9005]), Class::Invalid),
        ("b153 cut answer", defect(200), Class::Transient),
        ("a redirect", defect(302), Class::Transient),
    ];
    for (situation, error, wanted) in table {
        assert_eq!(error.class(), wanted, "{situation}");
    }
}

#[test]
fn b154_only_what_surely_did_not_run_may_be_sent_again() {
    for cause in [Cause::Timeout, Cause::Reset, Cause::BodyTooLarge, Cause::Cancelled] {
        assert!(cause.may_have_happened(), "{cause:?}");
    }
    for cause in [
        Cause::Connect,
        Cause::OutOfTime,
        Cause::BudgetExhausted,
        Cause::NotLeader,
        Cause::NoCredentials,
        Cause::Malformed,
    ] {
        assert!(!cause.may_have_happened(), "{cause:?}");
    }
    for error in [defect(502), refused(500, &[10002]), defect(200), refused(200, &[])] {
        assert!(error.may_have_happened(), "{error}");
    }
    for error in [refused(400, &[9005]), refused(429, &[]), refused(404, &[81044]), refused(408, &[])] {
        assert!(!error.may_have_happened(), "{error}");
    }
}

#[test]
fn codes_within_chains_count() {
    let error = chained(400, 1004, 9021);
    assert_eq!(error.codes(), [1004, 9021]);
    assert!(error.has_code(9021) && error.has_code(1004) && !error.has_code(9005));
    assert_eq!(ApiMessage::new(0, "x").code, None);
}

#[test]
fn texts_show_cloudflares_words_and_codes() {
    let with = |message: ApiMessage| ApiError::new(400, vec![message]);
    let ttl = ApiMessage::new(9021, "TTL must be between 60 and 86400 seconds, or 1 for Automatic.");
    let dns = ApiMessage { chain: vec![ttl.clone()], ..ApiMessage::new(1004, "DNS Validation Error") };
    let expression = ApiMessage {
        pointer: Some("/rules/0/expression".to_owned()),
        ..ApiMessage::new(20127, "no such list")
    };
    let two =
        ApiError::new(400, vec![ApiMessage::new(7003, "Could not route"), ApiMessage::new(7000, "No route")]);
    let thrice = ApiError::new(400, vec![ttl.clone(), ttl.clone(), ttl]);
    let table = [
        ("plain", with(ApiMessage::new(9005, "DNS record invalid")), "DNS record invalid (9005)"),
        (
            "b046 chain",
            with(dns),
            "DNS Validation Error (1004): TTL must be between 60 and 86400 seconds, or 1 for Automatic. (9021)",
        ),
        ("pointer", with(expression), "/rules/0/expression: no such list (20127)"),
        ("two", two, "Could not route (7003); No route (7000)"),
        ("said thrice", thrice, "TTL must be between 60 and 86400 seconds, or 1 for Automatic. (9021)"),
        ("no code", with(ApiMessage::new(0, "not entitled")), "not entitled"),
        ("no text", with(ApiMessage::new(1000, "")), "no message (1000)"),
        ("terminal escape", with(ApiMessage::new(1, "\u{1b}[31mred\u{1b}[0m\r\nline\u{7}")), "red line (1)"),
        ("nothing at all", ApiError::new(500, vec![]), "HTTP 500 without an error message"),
    ];
    for (situation, error, wanted) in table {
        assert_eq!(error.text(), wanted, "{situation}");
        assert_eq!(error.to_string(), wanted, "{situation}");
    }
}

#[test]
fn b046_the_innermost_code_survives_every_length() {
    let long = "x".repeat(5_000);
    let inner = ApiMessage { message: long.clone(), ..ApiMessage::new(9021, "") };
    let middle = ApiMessage { message: long.clone(), chain: vec![inner], ..ApiMessage::new(1004, "") };
    let outer =
        ApiMessage { message: long.clone(), pointer: Some(long), chain: vec![middle], code: Some(1000) };
    let text = ApiError::new(400, vec![outer]).text();
    assert!(text.contains("(1000): ") && text.contains("(1004): ") && text.ends_with("… (9021)"), "{text}");
    assert!(text.chars().count() <= MESSAGE_MAX + 40, "{}", text.chars().count());
}

#[test]
fn a_flood_of_errors_is_counted_not_shown() {
    let many: Vec<ApiMessage> = (1..=16).map(|code| ApiMessage::new(code, &"y".repeat(200))).collect();
    let text = ApiError::new(400, many).text();
    assert!(text.ends_with("(4); and 12 more"), "{text}");
    let wide = |chain| ApiMessage { chain, ..ApiMessage::default() };
    let deep = wide(vec![wide(vec![ApiMessage::default(); 100]); 100]);
    let text = ApiError::new(400, vec![deep]).text();
    assert!(text.chars().count() <= TEXT_MAX, "{}", text.chars().count());
}
