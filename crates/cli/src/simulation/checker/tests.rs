//! Each checker sees what it is for, in histories and worlds that break the promise.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use sandbox::cloudflare::{Change, ChangeKind, OUT_OF_BAND, ObjectKind};
use sandbox::fault::Fault;
use sandbox::kubernetes::{Author, Version};
use sandbox::request_log::Line;
use serde_json::{Value, json};

use super::silence::{Excused, Written, noise};
use super::{exposure, obedience, ownership, reasons, telling, truth, watches_may_hang};
use crate::scenario::{Mode, Runner, Script, simulate};
use crate::simulation::draw::Drawn;
use crate::simulation::facts::Facts;

const ZONE: &str = "example-zone";
const TOKEN_ID: &str = "token";

fn at(seconds: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_secs(1_000_000 + seconds)
}

/// A change of an SRV record.
fn change(seconds: i64, id: &str, who: &str, before: Option<&str>, after: Option<&str>) -> Change {
    let record =
        |content: &str| json!({ "id": id, "name": "a.example.com", "type": "SRV", "content": content });
    let kind = match (before, after) {
        (None, _) => ChangeKind::Create,
        (_, Some(_)) => ChangeKind::Update,
        (_, None) => ChangeKind::Delete,
    };
    Change {
        at: at(seconds),
        object: ObjectKind::DnsRecord,
        zone_id: ZONE.to_owned(),
        id: id.to_owned(),
        kind,
        who: who.to_owned(),
        before: before.map(record),
        after: after.map(record),
    }
}

fn zone_made() -> Change {
    let zone = Some(json!({ "id": ZONE, "name": "example.com" }));
    Change {
        object: ObjectKind::Zone,
        id: ZONE.to_owned(),
        after: zone,
        ..change(0, "", TOKEN_ID, None, None)
    }
}

/// Puts the members of one object into another.
fn merge(target: &mut Value, more: &Value) {
    match (target.as_object_mut(), more.as_object()) {
        (Some(target), Some(more)) => {
            more.iter().for_each(|(name, value)| merge(target.entry(name).or_insert(Value::Null), value));
        }
        _ => *target = more.clone(),
    }
}

fn version(seconds: i64, author: Author, kind: &str, object: Value) -> Version {
    let mut whole = json!({ "kind": kind });
    merge(&mut whole, &object);
    Version {
        at: at(seconds),
        number: 0,
        kind: kind.to_owned(),
        author,
        object: Arc::new(whole),
        is_last: false,
    }
}

/// A version of the DNSRecord `a`, with these members besides.
fn record(seconds: i64, author: Author, more: Value) -> Version {
    let mut object = json!({
        "metadata": { "uid": "u1", "namespace": "default", "name": "a", "generation": 1 },
        "spec": { "zoneRef": { "name": "z" }, "name": "a", "type": "SRV" },
    });
    merge(&mut object, &more);
    version(seconds, author, "DNSRecord", object)
}

fn zone() -> Version {
    let metadata = json!({ "uid": "u0", "namespace": "default", "name": "z" });
    version(0, Author::Scene, "Zone", json!({ "metadata": metadata, "spec": { "name": "example.com" } }))
}

fn annotated(key: &str, value: &str) -> Value {
    json!({ "metadata": { "annotations": { key: value } } })
}

fn claimed(key: &str, value: &str) -> Value {
    let mut object = annotated(key, value);
    object["metadata"]["labels"] = json!({ "kflare.dev/record-id": "r1" });
    object
}

#[test]
fn who_touches_what_others_made_is_seen_unless_it_was_asked_for() {
    let changes =
        vec![change(0, "r1", OUT_OF_BAND, None, Some("x")), change(50, "r1", TOKEN_ID, Some("x"), None)];
    let broken = |versions| ownership::foreign_touched(&Facts::new(versions, changes.clone())).len();
    assert_eq!(broken(vec![]), 1, "nobody asked");
    let going = |mut object: Value| {
        object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        object
    };
    let policy = "kflare.dev/adoption-policy";
    let adopted = || record(10, Author::Client, claimed(policy, "adopt"));
    assert_eq!(broken(vec![adopted()]), 1, "taking over is not deleting");
    let mut told = going(claimed(policy, "adopt"));
    told["metadata"]["annotations"]["kflare.dev/deletion-policy"] = json!("delete");
    assert_eq!(broken(vec![adopted(), record(40, Author::Scene, told.clone())]), 0);
    let unasked = record(10, Author::Client, claimed("other", ""));
    assert_eq!(broken(vec![unasked, record(40, Author::Scene, told)]), 1, "never asked to take over");
}

#[test]
fn a_second_identical_record_is_seen_and_one_that_came_late_has_its_time() {
    let made = |seconds, id| change(seconds, id, TOKEN_ID, None, Some("x"));
    let facts = Facts::new(vec![], vec![zone_made(), made(0, "r1"), made(5, "r2")]);
    assert_eq!(ownership::twins(&facts, None, at(60)).len(), 1);
    let lists = [(at(10), format!("/zones/{ZONE}/dns_records"))];
    assert!(ownership::twins(&facts, Some(&lists), at(60)).is_empty());
    assert_eq!(ownership::twins(&facts, Some(&lists), at(2_000)).len(), 1);
    let gone =
        Facts::new(vec![], vec![made(0, "r1"), change(4, "r1", TOKEN_ID, Some("x"), None), made(5, "r2")]);
    assert!(ownership::twins(&gone, None, at(60)).is_empty());
}

#[test]
fn more_records_than_resources_are_seen() {
    let made = |id, content| change(5, id, TOKEN_ID, None, Some(content));
    let changes = vec![zone_made(), made("r1", "x"), made("r2", "y")];
    let one = vec![zone(), record(1, Author::Scene, json!({}))];
    assert_eq!(ownership::surplus(&Facts::new(one.clone(), changes.clone()), false).len(), 1);
    let mut second = record(1, Author::Scene, json!({}));
    Arc::make_mut(&mut second.object)["metadata"]["uid"] = json!("u2");
    let two = one.into_iter().chain([second]).collect();
    assert!(ownership::surplus(&Facts::new(two, changes), false).is_empty());
}

#[test]
fn a_write_for_a_paused_resource_is_seen_once_the_pause_was_heard_of() {
    let paused = || record(10, Author::Scene, claimed("kflare.dev/paused", "true"));
    let broken = |seconds| {
        let update = change(seconds, "r1", TOKEN_ID, Some("x"), Some("y"));
        let changes = vec![zone_made(), change(5, "r1", TOKEN_ID, None, Some("x")), update];
        obedience::disobeyed(
            &Facts::new(vec![zone(), record(1, Author::Scene, json!({})), paused()], changes),
            false,
        )
    };
    assert!(broken(60).is_empty(), "it was under way");
    assert_eq!(broken(600).len(), 1);
}

#[test]
fn a_write_from_a_namespace_that_is_kept_out_is_seen() {
    let account = |rule: Value| {
        let spec = json!({ "allowedNamespaces": rule });
        version(
            0,
            Author::Scene,
            "CloudflareAccount",
            json!({ "metadata": { "uid": "a", "name": "main" }, "spec": spec }),
        )
    };
    let broken = |rule| {
        let mut zone = zone();
        Arc::make_mut(&mut zone.object)["spec"]["accountRef"] = json!({ "name": "main" });
        let versions = vec![account(rule), zone, record(1, Author::Scene, json!({}))];
        let made = change(600, "r1", TOKEN_ID, None, Some("x"));
        obedience::disobeyed(&Facts::new(versions, vec![zone_made(), made]), false).len()
    };
    assert_eq!(broken(json!({ "names": ["other"] })), 1);
    assert_eq!(broken(json!({ "names": ["default"] })), 0);
    assert_eq!(broken(Value::Null), 0);
}

fn told(seconds: i64, author: Author, generation: i64, reason: &str) -> Version {
    let condition = json!([{ "type": "Ready", "status": "True", "reason": reason }]);
    let status = json!({ "observedGeneration": generation, "conditions": condition });
    record(seconds, author, json!({ "metadata": { "generation": 2 }, "status": status }))
}

#[test]
fn a_status_that_looks_back_is_seen_unless_a_person_wiped_it() {
    let broken = |versions| telling::regressed(&Facts::new(versions, vec![])).len();
    assert_eq!(broken(vec![told(1, Author::Client, 2, "Synced"), told(2, Author::Client, 1, "Synced")]), 1);
    assert_eq!(broken(vec![told(1, Author::Client, 3, "Synced")]), 1, "there is no such generation");
    let wiped = record(2, Author::Scene, json!({ "metadata": { "generation": 2 } }));
    assert_eq!(
        broken(vec![told(1, Author::Client, 2, "Synced"), wiped, told(3, Author::Client, 1, "Synced")]),
        0
    );
}

#[test]
fn an_event_without_a_change_is_seen() {
    let event = |name: &str| {
        let object =
            json!({ "metadata": { "namespace": "default", "name": name }, "regarding": { "uid": "u1" } });
        version(3, Author::Client, "Event", object)
    };
    let told = || vec![record(1, Author::Scene, json!({})), told(2, Author::Client, 1, "Synced")];
    let broken = |events: Vec<Version>| {
        telling::repeated_events(&Facts::new(told().into_iter().chain(events).collect(), vec![])).len()
    };
    assert_eq!(broken(vec![event("a")]), 0);
    assert_eq!(broken(vec![event("a"), event("b")]), 1);
}

#[test]
fn a_condition_that_turns_while_the_resource_is_paused_is_seen() {
    let paused = |seconds, status: &str, reason: &str| {
        let mut object = annotated("kflare.dev/paused", "true");
        object["status"] = json!({ "conditions": [{ "type": "Ready", "status": status, "reason": reason }] });
        record(seconds, Author::Client, object)
    };
    let broken = |versions| telling::turned_while_paused(&Facts::new(versions, vec![]), false).len();
    assert_eq!(broken(vec![paused(0, "True", "Synced"), paused(600, "True", "Paused")]), 0);
    assert_eq!(broken(vec![paused(0, "True", "Synced"), paused(600, "False", "APIError")]), 1);
}

/// What is found in a world after a script, by `look`.
fn after<T>(script: &str, look: impl FnOnce(&Runner) -> T) -> T {
    let script = Script::parse("test", std::path::Path::new(""), script).unwrap();
    simulate(async {
        let mut runner = Runner::new(script, Mode { history: true, ..Mode::default() }).unwrap();
        runner.run().await.unwrap();
        look(&runner)
    })
    .unwrap()
}

const READY: &str = r#"
apply {"apiVersion":"kflare.dev/v1alpha1","kind":"Zone","metadata":{"name":"z"},"spec":{"name":"example.com","accountRef":{"name":"main"}}}
apply {"apiVersion":"kflare.dev/v1alpha1","kind":"DNSRecord","metadata":{"name":"a"},"spec":{"zoneRef":{"name":"z"},"name":"a","type":"A","content":"192.0.2.1","comment":"mine"}}
settle
"#;

fn lies_after(line: &str) -> Vec<String> {
    after(&format!("{READY}{line}"), |runner| truth::lies(&runner.world, &Facts::of(&runner.world)))
}

#[test]
fn a_ready_resource_that_is_not_as_it_says_is_seen() {
    assert_eq!(lies_after(""), [""; 0]);
    for (line, lie) in [
        ("cf set record a ttl=300", "its ttl is 300"),
        ("cf set record a comment=theirs", "its comment is \"theirs\""),
        ("cf set record a content=192.0.2.9", "its content is"),
        ("cf delete record a", "does not exist"),
        ("cf set zone example.com status=moved", "has moved"),
        ("cf delete zone example.com", "does not exist"),
        ("cf token disabled", "refuses its token"),
        ("crash\npatch dnsrecord/a {\"spec\":{\"ttl\":300}}", "generation"),
        ("crash\npatch dnsrecord/a status {\"recordID\":\"other\"}", "record \"other\" does not exist"),
    ] {
        let lies = lies_after(line);
        assert!(lies.iter().any(|found| found.contains(lie)), "{line}: {lies:?}");
    }
}

#[test]
fn a_field_that_was_dropped_and_still_stands_is_seen() {
    let script = format!("{READY}crash\npatch dnsrecord/a {{\"spec\":{{\"comment\":null}}}}");
    let lie = after(&script, |runner| {
        let world = &runner.world;
        let object = world.kubernetes.get("DNSRecord", None, "a").unwrap();
        let (_, record) = world.cloudflare.records_anywhere().remove(0);
        truth::dropped(&Facts::of(world), &object, &record)
    });
    assert!(lie.is_some_and(|lie| lie.contains("comment")));
}

#[test]
fn a_condition_that_nothing_explains_is_seen() {
    let told = |status: &str, reason: &str| {
        let condition = json!([{ "type": "Ready", "status": status, "reason": reason, "message": "why",
            "lastTransitionTime": "2026-01-01T00:00:00Z" }]);
        let patch = json!({ "conditions": condition });
        after(&format!("{READY}crash\npatch dnsrecord/a status {patch}"), |runner| {
            reasons::unexplained(&runner.world, &Facts::of(&runner.world), true)
        })
    };
    assert_eq!(told("True", "Synced"), [""; 0]);
    let known = kinds::Reason::ALL.iter().map(|reason| reason.name());
    for reason in known.filter(|reason| !["Synced", "Validated"].contains(reason)) {
        assert_eq!(told("False", reason).len(), 1, "{reason}");
    }
}

#[test]
fn a_secret_in_an_object_is_seen() {
    let script = format!("{READY}patch dnsrecord/a {{\"spec\":{{\"comment\":\"{}\"}}}}", crate::world::TOKEN);
    assert!(!after(&script, |runner| exposure::exposed(&runner.world)).is_empty());
    assert!(after(READY, |runner| exposure::exposed(&runner.world)).is_empty());
}

/// A request with this token of one user.
fn asked(seconds: i64, token: &str, status: u16, fault: Option<Fault>) -> Line {
    Line {
        at: at(seconds),
        method: "GET".to_owned(),
        route: "/zones".to_owned(),
        path: "/zones".to_owned(),
        status,
        body: String::new(),
        who: token.to_owned(),
        subject: "user one".to_owned(),
        fault,
    }
}

#[test]
fn more_calls_than_kflare_allows_itself_are_seen_and_those_that_were_refused_count() {
    let lines = |count: i64, per_second: i64| {
        let line = |n: i64| asked(n / per_second, ["a", "b"][usize::from(n % 2 == 0)], 200, None);
        (0..count).map(line).collect::<Vec<_>>()
    };
    let most = i64::try_from(cf_api::limits::OWN_LIMIT).unwrap();
    assert_eq!(exposure::budget_broken(&lines(most, 10)), [""; 0]);
    assert_eq!(exposure::budget_broken(&lines(most + 1, 10)).len(), 1, "two tokens of one user");
    assert_eq!(exposure::budget_broken(&lines(3 * most, 3)), [""; 0], "over more than one window");
    let mut refused = lines(most, 10);
    refused.push(asked(200, "a", 429, Some(Fault::TooManyRequests)));
    assert_eq!(exposure::budget_broken(&refused).len(), 1);
    refused.iter_mut().for_each(|line| line.subject = line.who.clone());
    assert_eq!(exposure::budget_broken(&refused), [""; 0], "each token of an account has its own limit");
}

#[test]
fn a_429_that_no_fault_made_is_seen() {
    let fault = Some(Fault::TooManyRequestsBare);
    assert_eq!(exposure::budget_broken(&[asked(0, "a", 429, fault)]), [""; 0]);
    for fault in [None, Some(Fault::LateCommit)] {
        assert_eq!(exposure::budget_broken(&[asked(0, "a", 429, fault)]).len(), 1);
    }
    let script = format!("{READY}fault cf 429 2\nannotate zone/z kflare.dev/reconcile-at=1\nsettle");
    let (broken, refused) = after(&script, |runner| {
        let lines = runner.world.cloudflare.log().lines();
        (exposure::exposed(&runner.world), lines.iter().filter(|line| line.status == 429).count())
    });
    assert_eq!((broken, refused), (vec![], 2));
}

#[test]
fn a_write_while_all_is_at_rest_is_seen_unless_it_tells_of_what_keeps_failing() {
    let event = json!({ "metadata": { "name": "e" }, "regarding": { "uid": "u1" } });
    let noted = annotated("kflare.dev/deleting", "r1");
    let failing =
        Excused { uids: ["u1".to_owned()].into(), refused: ["r1".to_owned()].into(), awaits: false };
    let other = Excused { uids: ["u2".to_owned()].into(), ..Excused::default() };
    let broken = |then: Version, excused: &Excused| {
        let versions = vec![record(1, Author::Client, json!({})), then];
        noise(&Written { versions, ..Written::default() }, at(10), excused).len()
    };
    let writes = [
        told(20, Author::Client, 1, "APIError").object,
        record(20, Author::Client, noted).object,
        Arc::new(event),
    ];
    for (object, kind) in writes.into_iter().zip(["DNSRecord", "DNSRecord", "Event"]) {
        // A write of the status leaves the generation as it was.
        let mut object = Value::clone(&object);
        object["metadata"]["generation"] = json!(1);
        let then = version(20, Author::Client, kind, object);
        assert_eq!(broken(then.clone(), &failing), 0, "{kind}");
        assert_eq!(broken(then.clone(), &other), 1, "about another: {kind}");
        assert_eq!(broken(Version { at: at(5), ..then }, &other), 0, "before: {kind}");
    }
    let claimed = record(20, Author::Client, claimed("other", ""));
    assert_eq!(broken(claimed, &failing), 1, "more than a note");
}

#[test]
fn what_is_sent_to_cloudflare_while_all_is_at_rest_is_seen() {
    let failing =
        Excused { uids: ["u1".to_owned()].into(), refused: ["r1".to_owned()].into(), awaits: false };
    let heard = |path: String, method: &str, status, excused: &Excused| {
        let line = Line { method: method.to_owned(), path, ..asked(20, "a", status, None) };
        noise(&Written { requests: vec![line], ..Written::default() }, at(10), excused).len()
    };
    let broken = |method: &str, id: &str, status| {
        heard(format!("/zones/z/dns_records/{id}"), method, status, &failing)
    };
    let created = |awaits, status| {
        heard("/zones/z/dns_records".to_owned(), "POST", status, &Excused { awaits, ..failing.clone() })
    };
    assert_eq!(created(true, 400), 0, "asked whether what it awaits is there");
    assert_eq!((created(true, 200), created(false, 400)), (1, 1));
    assert_eq!(broken("GET", "r2", 200), 0);
    assert_eq!(broken("DELETE", "r1", 403), 0, "asked whether it is still refused");
    assert_eq!(broken("DELETE", "r1", 200), 1);
    assert_eq!(broken("DELETE", "r2", 403), 1, "another's");
    assert_eq!(broken("PATCH", "r1", 403), 1);
    let changes = vec![change(20, "r1", TOKEN_ID, None, Some("x"))];
    assert_eq!(noise(&Written { changes, ..Written::default() }, at(10), &failing).len(), 1);
}

#[test]
fn a_fault_that_names_no_request_may_silence_a_watch() {
    let hangs = |fault: &str| {
        let line = format!("fault kubernetes {fault} after 3");
        watches_may_hang(&Drawn { seed: 1, world: "world".to_owned(), lines: vec![line], is_mended: true })
    };
    let silent = ["watch-stale WATCH at zones", "timeout-before-commit", "timeout-after-commit", "slow-body"];
    assert_eq!(silent.map(hangs), [true; 4]);
    assert_eq!(["500", "504", "cut-body", "watch-cut WATCH", "stale-read GET"].map(hangs), [false; 5]);
}
