use super::{BatchAnswer, BatchBody, BatchError, TokenKind, verify};
use crate::envelope::Answer;
use serde_json::{Value, json};

#[test]
fn a_token_is_verified_where_its_kind_is_known() {
    assert_eq!(verify(TokenKind::User, "").unwrap().to_string(), "GET /user/tokens/verify");
    let account = verify(TokenKind::Account, "acc").unwrap();
    assert_eq!(account.to_string(), "GET /accounts/acc/tokens/verify");
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

fn changes() -> BatchBody {
    BatchBody {
        deletes: vec!["d1".to_owned(), "d2".to_owned()],
        patches: vec![("p1".to_owned(), json!({ "ttl": 60 }))],
        puts: vec![("u1".to_owned(), json!({ "type": "A" })), ("u2".to_owned(), json!({ "type": "A" }))],
        posts: vec![json!({ "type": "A", "name": "a" }), json!({ "type": "TXT", "name": "a" })],
    }
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
