use super::{
    BatchAnswer, BatchBody, BatchError, TokenKind, ZonePlan, ZoneProperty, batch, create_record, create_zone,
    delete_record, delete_zone, find_zone, get_account, get_record, get_subscription, get_zone, list_records,
    list_records_named, list_zones, patch_record, patch_zone, put_record, put_subscription, verify,
};
use crate::envelope::Answer;
use crate::limits::{BATCH_MAX_FREE, BATCH_MAX_PAID};
use serde_json::{Value, json};

#[test]
fn requests_are_spelt_as_cloudflare_expects_them() {
    let body = || json!({ "ttl": 60 });
    let vanity = ZoneProperty::VanityNameServers(vec!["ns1.example.com".to_owned()]);
    let table = [
        (list_records("z", 5_000).unwrap().first(), "GET /zones/z/dns_records?per_page=5000"),
        (
            list_records_named("z", "*.example.com").unwrap().first(),
            "GET /zones/z/dns_records?name.exact=%2A.example.com&per_page=5000",
        ),
        (get_record("z", "r").unwrap(), "GET /zones/z/dns_records/r"),
        (create_record("z", body()).unwrap(), "POST /zones/z/dns_records {\"ttl\":60}"),
        (patch_record("z", "r", body()).unwrap(), "PATCH /zones/z/dns_records/r {\"ttl\":60}"),
        (put_record("z", "r", body()).unwrap(), "PUT /zones/z/dns_records/r {\"ttl\":60}"),
        (delete_record("z", "r").unwrap(), "DELETE /zones/z/dns_records/r"),
        (
            find_zone("example.com", "acc").unwrap().first(),
            "GET /zones?name=example.com&account.id=acc&per_page=50",
        ),
        (list_zones("acc").unwrap().first(), "GET /zones?account.id=acc&per_page=50"),
        (get_zone("z").unwrap(), "GET /zones/z"),
        (patch_zone("z", ZoneProperty::Paused(true)).unwrap(), "PATCH /zones/z {\"paused\":true}"),
        (
            patch_zone("z", ZoneProperty::Type("full".to_owned())).unwrap(),
            "PATCH /zones/z {\"type\":\"full\"}",
        ),
        (patch_zone("z", vanity).unwrap(), "PATCH /zones/z {\"vanity_name_servers\":[\"ns1.example.com\"]}"),
        (delete_zone("z").unwrap(), "DELETE /zones/z"),
        (get_subscription("z").unwrap(), "GET /zones/z/subscription"),
        (put_subscription("z", "pro").unwrap(), "PUT /zones/z/subscription {\"rate_plan\":{\"id\":\"pro\"}}"),
        (get_account("acc").unwrap(), "GET /accounts/acc"),
        (verify(TokenKind::User, "").unwrap(), "GET /user/tokens/verify"),
        (verify(TokenKind::Account, "acc").unwrap(), "GET /accounts/acc/tokens/verify"),
    ];
    for (request, wanted) in table {
        assert_eq!(request.to_string(), wanted);
    }
    let create = create_zone("example.com", "acc", "full").unwrap();
    assert_eq!(
        create.body,
        Some(json!({ "name": "example.com", "account": { "id": "acc" }, "type": "full" }))
    );
    assert_eq!(create.uri(), "/zones");
}

#[test]
fn b150_a_filter_is_never_empty() {
    assert!(find_zone("", "acc").is_err());
    assert!(find_zone("example.com", "").is_err());
    assert!(list_zones("").is_err());
    assert!(create_zone("", "acc", "full").is_err());
    assert!(create_zone("example.com", " ", "full").is_err());
    assert!(list_records_named("z", "").is_err());
    assert!(list_records("", 100).is_err());
    assert!(verify(TokenKind::Account, "").is_err());
}

#[test]
fn the_prefix_of_a_token_tells_its_kind() {
    let table = [
        ("cfat_abc", TokenKind::Account),
        ("cfut_abc", TokenKind::User),
        ("0123456789012345678901234567890123456789", TokenKind::User),
        ("CFAT_abc", TokenKind::User),
    ];
    for (token, kind) in table {
        assert_eq!(TokenKind::of(token), kind, "{token}");
    }
}

#[test]
fn the_plan_of_a_zone_bounds_its_batches() {
    let table = [
        ("free by name", json!({ "plan": { "legacy_id": "free" } }), ZonePlan::Free),
        ("free by id", json!({ "plan": { "id": "0feeeeeeeeeeeeeeeeeeeeeeeeeeeeee" } }), ZonePlan::Free),
        ("pro", json!({ "plan": { "id": "x", "legacy_id": "pro" } }), ZonePlan::Paid),
        ("enterprise by id", json!({ "plan": { "id": "94f3b7b768b0458b56d2cac4fe5ec0f9" } }), ZonePlan::Paid),
        ("no plan told", json!({ "plan": null }), ZonePlan::Free),
        ("an answer without plan", json!({}), ZonePlan::Free),
    ];
    for (situation, zone, plan) in table {
        assert_eq!(ZonePlan::of_zone(&zone), plan, "{situation}");
    }
    let posts = |n| BatchBody { posts: vec![json!({}); n], ..BatchBody::default() };
    for (plan, max) in [(ZonePlan::Free, BATCH_MAX_FREE), (ZonePlan::Paid, BATCH_MAX_PAID)] {
        assert!(batch("z", &posts(max), plan).is_ok());
        assert_eq!(batch("z", &posts(max + 1), plan), Err(BatchError::TooMany { max, got: max + 1 }));
    }
}

fn changes() -> BatchBody {
    BatchBody {
        deletes: vec!["d1".to_owned(), "d2".to_owned()],
        patches: vec![("p1".to_owned(), json!({ "ttl": 60 }))],
        puts: vec![("u1".to_owned(), json!({ "type": "A" })), ("u2".to_owned(), json!({ "type": "A" }))],
        posts: vec![json!({ "type": "A", "name": "a" }), json!({ "type": "TXT", "name": "a" })],
    }
}

#[test]
fn a_batch_names_every_operation() {
    let request = batch("z", &changes(), ZonePlan::Free).unwrap();
    assert_eq!(request.uri(), "/zones/z/dns_records/batch");
    let wanted = json!({
        "deletes": [{ "id": "d1" }, { "id": "d2" }],
        "patches": [{ "id": "p1", "ttl": 60 }],
        "puts": [{ "id": "u1", "type": "A" }, { "id": "u2", "type": "A" }],
        "posts": [{ "type": "A", "name": "a" }, { "type": "TXT", "name": "a" }],
    });
    assert_eq!(request.body, Some(wanted));
    let one = BatchBody { deletes: vec!["d1".to_owned()], ..BatchBody::default() };
    let request = batch("z", &one, ZonePlan::Free).unwrap();
    assert_eq!(request.body, Some(json!({ "deletes": [{ "id": "d1" }] })));
}

#[test]
fn a_batch_that_would_be_refused_is_not_built() {
    let body = |change: fn(&mut BatchBody)| {
        let mut body = changes();
        change(&mut body);
        batch("z", &body, ZonePlan::Free)
    };
    assert_eq!(batch("z", &BatchBody::default(), ZonePlan::Paid), Err(BatchError::Empty));
    assert!(matches!(batch("", &changes(), ZonePlan::Free), Err(BatchError::Path(_))));
    assert!(matches!(body(|b| b.deletes[0].clear()), Err(BatchError::Path(_))));
    assert!(matches!(body(|b| b.patches[0].0.clear()), Err(BatchError::Path(_))));
    let no_object = |list, at| Err(BatchError::NotAnObject { list, at });
    assert_eq!(body(|b| b.puts[1].1 = Value::Null), no_object("puts", 1));
    assert_eq!(body(|b| b.posts[0] = json!([])), no_object("posts", 0));
}

fn answered() -> Value {
    json!({
        "deletes": [{ "id": "d1" }, { "id": "d2" }],
        "patches": [{ "id": "p1", "ttl": 60 }],
        "puts": [{ "id": "u2" }, { "id": "u1" }],
        "posts": [{ "id": "n1", "type": "A" }, { "id": "n2", "type": "TXT" }],
    })
}

#[test]
fn a_batch_answer_is_read_back_to_its_operations() {
    let read = BatchAnswer::read(&changes(), &Answer::of(answered())).unwrap();
    let ids: Vec<&str> = read.in_order().map(|record| record["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["d1", "d2", "p1", "u1", "u2", "n1", "n2"]);
    let one = BatchBody { posts: vec![json!({ "type": "A" })], ..BatchBody::default() };
    let answer = json!({ "deletes": null, "patches": [], "posts": [{ "id": "n1", "type": "A" }] });
    assert_eq!(BatchAnswer::read(&one, &Answer::of(answer)).unwrap().posts.len(), 1);
}

#[test]
fn a_batch_answer_that_does_not_fit_is_not_guessed() {
    let read = |change: fn(&mut Value)| {
        let mut answer = answered();
        change(&mut answer);
        BatchAnswer::read(&changes(), &Answer::of(answer)).unwrap_err()
    };
    let count = |list, wanted, got| BatchError::Count { list, wanted, got };
    let foreign = |list, at| BatchError::Foreign { list, at };
    assert_eq!(read(|a| *a = Value::Null), count("deletes", 2, 0));
    assert_eq!(read(|a| a["posts"] = json!([{ "id": "n1", "type": "A" }])), count("posts", 2, 1));
    assert_eq!(read(|a| a["patches"][0]["id"] = json!("other")), foreign("patches", 0));
    assert_eq!(read(|a| a["posts"][0]["type"] = json!("TXT")), foreign("posts", 0));
    assert_eq!(read(|a| a["posts"][1]["id"] = json!("")), foreign("posts", 1));
}
