//! Single records: what is stored, and what is refused with which code.

use serde_json::{Value, json};

use super::super::{ContentBesideData, IdenticalCode, Plan, PrivateProxied};
use super::Scene;

/// A pointer into the result and what stands there, or the code of the refusal.
type Wanted<'a> = Result<(&'a str, Value), u64>;

/// Posts each record into its own zone and compares one field of the answer, or the code of the refusal.
async fn check(plan: Plan, rows: Vec<(&str, Value, Wanted<'_>)>) {
    for (situation, body, wanted) in rows {
        let scene = Scene::new(plan);
        let got = scene.post(body).await;
        match wanted {
            Ok((pointer, value)) => {
                assert_eq!(got.status, 200, "{situation}: {}", got.text);
                assert_eq!(got.result().pointer(pointer), Some(&value), "{situation}: {}", got.text);
                let read = scene.get(&format!("{}/{}", scene.records_path(), got.id())).await;
                assert_eq!(read.result(), got.result(), "{situation}: reads as it was answered");
            }
            Err(code) => {
                assert_eq!((got.status, got.code()), (400, code), "{situation}: {}", got.text);
                assert!(scene.cloudflare.records(&scene.zone).is_empty(), "{situation}");
            }
        }
    }
}

fn a(name: &str, content: &str) -> Value {
    json!({ "type": "A", "name": name, "content": content })
}

#[tokio::test]
async fn addresses_and_hosts_are_normalised_or_refused() {
    let content = |value: &str| Ok(("/content", json!(value)));
    let row =
        |kind: &str, value: &str| json!({ "type": kind, "name": "x", "content": value, "priority": 10 });
    check(
        Plan::Free,
        vec![
            ("an IPv4 address", row("A", "192.0.2.1"), content("192.0.2.1")),
            ("shorthand", row("A", "1.1"), Err(9005)),
            ("leading zeros", row("A", "192.0.02.1"), Err(9005)),
            ("no content", json!({ "type": "A", "name": "x" }), Err(9005)),
            ("a long IPv6 form", row("AAAA", "2001:0DB8:0:0::0001"), content("2001:db8::1")),
            ("an IPv4 address in AAAA", row("AAAA", "192.0.2.1"), Err(9006)),
            ("b060_case_and_final_dot", row("CNAME", "LB.Example.NET."), content("lb.example.net")),
            ("b063_wildcard_target", row("CNAME", "*.example.net"), Err(9007)),
            ("an address as CNAME", row("CNAME", "192.0.2.1"), Err(9007)),
            ("itself", row("CNAME", "X.example.com."), Err(9039)),
            ("MX", row("MX", "Mail.Example.NET."), content("mail.example.net")),
            ("null MX", row("MX", "."), content(".")),
            ("MX without priority", json!({"type":"MX","name":"x","content":"m.example.net"}), Err(9101)),
            ("MX to an address", row("MX", "192.0.2.1"), Err(9009)),
            ("NS", row("NS", "ns1.Example.net."), content("ns1.example.net")),
            ("PTR", row("PTR", "foo.example.net"), content("foo.example.net")),
            ("TXT", row("TXT", "v=spf1 -all"), content("\"v=spf1 -all\"")),
            ("an empty TXT", row("TXT", ""), Err(9007)),
            ("OPENPGPKEY", row("OPENPGPKEY", "mQIN BF=="), content("mQINBF==")),
            (
                "b061_name_of_another_zone",
                a("app.example.net", "192.0.2.1"),
                Ok(("/name", json!("app.example.net.example.com"))),
            ),
            ("b061_at", a("@", "192.0.2.1"), Ok(("/name", json!("example.com")))),
            ("b059_unicode", a("bücher", "192.0.2.1"), Ok(("/name", json!("xn--bcher-kva.example.com")))),
            ("an unknown type", row("SPF", "x"), Err(9207)),
        ],
    )
    .await;
}

#[tokio::test]
async fn r11_every_type_with_data_composes_its_content() {
    let cases = [
        ("SRV", json!({"priority":0,"weight":0,"port":0,"target":"."}), "0 0 ."),
        (
            "CAA",
            json!({"flags":"128","tag":"issue","value":"letsencrypt.example"}),
            "128 issue \"letsencrypt.example\"",
        ),
        ("CAA", json!({"flags":0,"tag":"issue","value":";"}), "0 issue \";\""),
        ("CERT", json!({"type":9,"key_tag":1,"algorithm":1,"certificate":"AQID"}), "9 1 1 AQID"),
        ("DNSKEY", json!({"flags":257,"protocol":3,"algorithm":13,"public_key":"AQID"}), "257 3 13 AQID"),
        (
            "HTTPS",
            json!({"priority":1,"target":"www.Example.com.","value":"alpn=\"h3,h2\""}),
            "1 www.example.com alpn=\"h3,h2\"",
        ),
        ("SVCB", json!({"priority":0,"target":"."}), "0 ."),
        (
            "LOC",
            json!({"lat_degrees":51,"lat_minutes":30,"lat_seconds":12.3,"lat_direction":"N",
            "long_degrees":0,"long_minutes":7,"long_seconds":39.5,"long_direction":"W","altitude":-2.5,
            "size":10,"precision_horz":10,"precision_vert":2}),
            "51 30 12.300 N 0 7 39.500 W -2.50m 10.00m 10.00m 2.00m",
        ),
        (
            "NAPTR",
            json!({"order":10,"preference":100,"flags":"S","service":"SIP+D2U",
            "regex":"!^.*$!sip:info@example.com!","replacement":"."}),
            "10 100 \"S\" \"SIP+D2U\" \"!^.*$!sip:info@example.com!\" .",
        ),
        ("SMIMEA", json!({"usage":3,"selector":1,"matching_type":1,"certificate":"ab cd"}), "3 1 1 abcd"),
        ("TLSA", json!({"usage":3,"selector":1,"matching_type":1,"certificate":"abcd"}), "3 1 1 abcd"),
        ("SSHFP", json!({"algorithm":1,"type":1,"fingerprint":"0123456789abcdef"}), "1 1 0123456789abcdef"),
        ("URI", json!({"weight":5,"target":"https://example.com/"}), "5 \"https://example.com/\""),
    ];
    for (kind, data, content) in cases {
        let scene = Scene::new(Plan::Free);
        let priority = if kind == "URI" { json!(7) } else { Value::Null };
        let got = scene.post(json!({"type":kind,"name":"x","data":data,"priority":priority})).await;
        assert_eq!(got.result()["content"], json!(content), "{}", got.text);
        // The content alone says the same, so that zone files and old clients work.
        let other = Scene::new(Plan::Free);
        let priority = got.result()["priority"].clone();
        let again = other.post(json!({"type":kind,"name":"x","content":content,"priority":priority})).await;
        assert_eq!(again.result()["content"], json!(content), "{}", again.text);
        let numbers = |value: &Value| {
            let fields = value.as_object().unwrap().clone();
            fields.into_iter().map(|(key, value)| (key, value.as_f64().ok_or(value))).collect::<Vec<_>>()
        };
        assert_eq!(numbers(&again.result()["data"]), numbers(&got.result()["data"]), "{kind}");
    }
}

#[tokio::test]
async fn data_is_checked_field_by_field() {
    let srv = |data: Value| json!({"type":"SRV","name":"_x._tcp","data":data});
    check(
        Plan::Free,
        vec![
            ("a field is missing", srv(json!({"priority":1,"weight":1,"target":"a.example"})), Err(9101)),
            (
                "a string for a number",
                srv(json!({"priority":1,"weight":1,"port":"80","target":"a"})),
                Err(9208),
            ),
            ("out of bounds", srv(json!({"priority":1,"weight":1,"port":65536,"target":"a"})), Err(9207)),
            ("negative", srv(json!({"priority":1,"weight":1,"port":-1,"target":"a"})), Err(9207)),
            ("no object", srv(json!([1])), Err(9208)),
            (
                "content and data",
                json!({"type":"SRV","name":"x","priority":1,"content":"1 1 a",
                "data":{"priority":1,"weight":1,"port":1,"target":"a"}}),
                Err(9207),
            ),
            (
                "b053_fields_of_other_types_are_dropped",
                srv(json!({"priority":1,"weight":1,"port":1,"target":"a","lat_minutes":0})),
                Ok(("/data", json!({"priority":1,"weight":1,"port":1,"target":"a"}))),
            ),
            (
                "SRV tells its priority",
                srv(json!({"priority":9,"weight":1,"port":1,"target":"a"})),
                Ok(("/priority", json!(9))),
            ),
            (
                "a LOC seconds bound",
                json!({"type":"LOC","name":"x","data":{"lat_degrees":1,"lat_seconds":60,
                "lat_direction":"N","long_degrees":1,"long_direction":"E"}}),
                Err(9207),
            ),
            (
                "b055_left_out_minutes_are_zero",
                json!({"type":"LOC","name":"x","data":{"lat_degrees":1,
                "lat_direction":"N","long_degrees":1,"long_direction":"E"}}),
                Ok(("/data/lat_minutes", json!(0))),
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn ttl_proxy_comment_tags_and_settings_follow_type_and_plan() {
    let with = |key: &str, value: Value| {
        let mut record = a("app", "192.0.2.10");
        record[key] = value;
        record
    };
    let proxied = |content: &str| json!({"type":"A","name":"x","content":content,"proxied":true});
    check(
        Plan::Free,
        vec![
            ("no ttl", a("app", "192.0.2.10"), Ok(("/ttl", json!(1)))),
            ("b046_ttl_30_on_free", with("ttl", json!(30)), Err(9021)),
            ("ttl 86401", with("ttl", json!(86401)), Err(9021)),
            ("ttl 0", with("ttl", json!(0)), Err(9021)),
            ("ttl as text", with("ttl", json!("300")), Err(9208)),
            (
                "b045_proxied_ttl",
                json!({"type":"A","name":"x","content":"192.0.2.1","proxied":true,"ttl":300}),
                Ok(("/ttl", json!(1))),
            ),
            ("b065_private", proxied("10.0.0.5"), Err(9003)),
            ("b065_resolver", proxied("1.1.1.1"), Err(9003)),
            (
                "b065_resolver_of_ipv6",
                json!({"type":"AAAA","name":"x","content":"2606:4700:4700::1111","proxied":true}),
                Err(9003),
            ),
            ("private and unproxied", a("lan", "10.0.0.5"), Ok(("/proxiable", json!(false)))),
            ("b067_txt_proxied", json!({"type":"TXT","name":"t","content":"x","proxied":true}), Err(9004)),
            (
                "a comment of 100",
                with("comment", json!("x".repeat(100))),
                Ok(("/comment", json!("x".repeat(100)))),
            ),
            ("b074_a_comment_of_101", with("comment", json!("x".repeat(101))), Err(9313)),
            ("an empty comment", with("comment", json!("")), Ok(("/comment", Value::Null))),
            ("a comment with a line end", with("comment", json!("a\nb")), Err(9313)),
            ("tags on free", with("tags", json!(["a:b"])), Err(9300)),
            ("tags null", with("tags", Value::Null), Ok(("/tags", json!([])))),
            ("settings on an unproxied A", with("settings", json!({"ipv4_only":true})), Err(9041)),
            ("proxied as text", with("proxied", json!("yes")), Err(9208)),
        ],
    )
    .await;
    check(
        Plan::Enterprise,
        vec![
            ("ttl 30", with("ttl", json!(30)), Ok(("/ttl", json!(30)))),
            ("ttl 29", with("ttl", json!(29)), Err(9021)),
            (
                "a comment of 500",
                with("comment", json!("x".repeat(500))),
                Ok(("/comment", json!("x".repeat(500)))),
            ),
            ("tags are sorted", with("tags", json!(["b:2", "a:1"])), Ok(("/tags", json!(["a:1", "b:2"])))),
            ("a tag's name", with("tags", json!(["ä:1"])), Err(9300)),
            (
                "flatten",
                json!({"type":"CNAME","name":"x","content":"y.example","settings":{"flatten_cname":true}}),
                Ok(("/settings", json!({"flatten_cname":true}))),
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn what_may_stand_beside_what() {
    let cname = |name: &str, content: &str| json!({"type":"CNAME","name":name,"content":content});
    let ns = |name: &str| json!({"type":"NS","name":name,"content":"ns1.example.net"});
    let txt = |text: &str| json!({"type":"TXT","name":"x","content":text});
    let srv = json!({"type":"SRV","name":"x","data":{"priority":1,"weight":1,"port":1,"target":"a"}});
    let ds =
        json!({"type":"DS","name":"x","data":{"key_tag":1,"algorithm":13,"digest_type":2,"digest":"ab"}});
    for (situation, first, second, code) in [
        ("two addresses", a("x", "192.0.2.1"), a("x", "192.0.2.2"), 0),
        ("b041_identical", a("x", "192.0.2.1"), a("X.example.com.", "192.0.2.1"), 81058),
        ("a CNAME beside an address", a("x", "192.0.2.1"), cname("x", "y.example"), 81053),
        ("an address beside a CNAME", cname("x", "y.example"), a("x", "192.0.2.1"), 81053),
        ("a second CNAME", cname("x", "y.example"), cname("x", "z.example"), 81053),
        ("TXT beside a CNAME", cname("x", "y.example"), txt("t"), 0),
        ("b040_two_txt", txt("v=spf1 -all"), txt("site-verification=abc"), 0),
        ("quotes make no difference", txt("t"), txt("\"t\""), 81058),
        ("an address beside NS", ns("x"), a("x", "192.0.2.1"), 81056),
        ("NS at the apex", ns("@"), a("@", "192.0.2.1"), 0),
        ("NS beside an address", a("x", "192.0.2.1"), ns("x"), 81053),
        ("b051_identical_srv", srv.clone(), srv, 0),
        ("r11_ds_beside_ns", ns("x"), ds.clone(), 0),
        ("r11_ds_without_ns", txt("t"), ds, 9207),
    ] {
        let scene = Scene::new(Plan::Free);
        assert_eq!(scene.post(first).await.status, 200, "{situation}");
        let got = scene.post(second).await;
        assert_eq!(got.code(), code, "{situation}: {}", got.text);
        assert_eq!(scene.cloudflare.records(&scene.zone).len(), 1 + usize::from(code == 0), "{situation}");
    }
}

#[tokio::test]
async fn switches_change_codes_and_forms() {
    let scene = Scene::new(Plan::Free);
    let mut switches = scene.cloudflare.switches();
    switches.identical_code = IdenticalCode::Code81057;
    switches.private_proxied = PrivateProxied::StayUnproxied;
    switches.txt_quoted = false;
    switches.content_beside_data = ContentBesideData::Ignore;
    scene.cloudflare.set_switches(switches);
    scene.post(a("x", "192.0.2.1")).await;
    assert_eq!(scene.post(a("x", "192.0.2.1")).await.code(), 81057);
    let lan = scene.post(json!({"type":"A","name":"lan","content":"10.0.0.5","proxied":true})).await;
    assert_eq!((lan.status, &lan.result()["proxied"]), (200, &json!(false)));
    let txt = scene.post(json!({"type":"TXT","name":"t","content":"as it is"})).await;
    assert_eq!(txt.result()["content"], "as it is");
    let data = json!({"priority":1,"weight":2,"port":3,"target":"a"});
    let srv = scene.post(json!({"type":"SRV","name":"s","content":"9 9 z","data":data})).await;
    assert_eq!(srv.result()["content"], "2 3 a");
}

#[tokio::test]
async fn lengths_and_quotas_are_kept() {
    let scene = Scene::new(Plan::Free);
    let txt = |text: String| json!({"type":"TXT","name":"x","content":text});
    assert_eq!(scene.post(txt("a".repeat(4097))).await.code(), 9015);
    assert_eq!(scene.post(txt("a".repeat(4000))).await.code(), 0);
    assert_eq!(scene.post(txt("b".repeat(4000))).await.code(), 0);
    assert_eq!(scene.post(txt("c".repeat(200))).await.code(), 83011);
    for n in 2..200 {
        assert_eq!(scene.post(a(&format!("n{n}"), "192.0.2.1")).await.status, 200);
    }
    assert_eq!(scene.post(a("one-more", "192.0.2.1")).await.code(), 81045);
    let usage = scene.get(&format!("{}/usage", scene.records_path())).await;
    assert_eq!(usage.result(), &json!({"record_quota":200,"record_usage":200}));
}

#[tokio::test]
async fn put_resets_what_is_left_out_and_patch_keeps_it() {
    let scene = Scene::new(Plan::Pro);
    let full =
        json!({"type":"A","name":"app","content":"192.0.2.10","ttl":600,"comment":"keep me","tags":["a:1"]});
    let id = scene.post(full).await.id();
    let path = format!("{}/{id}", scene.records_path());
    let patched = scene.ask("PATCH", &path, json!({"content":"192.0.2.11"})).await;
    assert_eq!(patched.result()["comment"], "keep me");
    assert_eq!(patched.result()["ttl"], 600);
    assert!(patched.result()["comment_modified_on"].is_string());
    let put = scene.ask("PUT", &path, a("app", "192.0.2.12")).await;
    assert_eq!(put.id(), id);
    for (field, value) in
        [("comment", Value::Null), ("ttl", json!(1)), ("tags", json!([])), ("proxied", json!(false))]
    {
        assert_eq!(put.result()[field], value, "b047 {field}");
    }
    assert!(put.result().get("comment_modified_on").is_none());
    assert!(put.result().get("tags_modified_on").is_none());
}

#[tokio::test]
async fn b043_a_type_never_changes_and_b044_a_name_does() {
    let scene = Scene::new(Plan::Free);
    let id = scene.post(json!({"type":"CNAME","name":"old","content":"y.example"})).await.id();
    let path = format!("{}/{id}", scene.records_path());
    for method in ["PUT", "PATCH"] {
        assert_eq!(scene.ask(method, &path, a("old", "192.0.2.1")).await.code(), 9207);
    }
    let renamed = scene.ask("PATCH", &path, json!({"name":"new"})).await;
    assert_eq!(renamed.result()["name"], "new.example.com");
    let list = scene.get(&format!("{}?name=old.example.com", scene.records_path())).await;
    assert_eq!(list.result(), &json!([]));
}

#[tokio::test]
async fn b072_a_record_that_is_gone() {
    let scene = Scene::new(Plan::Free);
    let id = scene.post(a("x", "192.0.2.1")).await.id();
    let path = format!("{}/{id}", scene.records_path());
    assert_eq!(scene.ask("DELETE", &path, Value::Null).await.result(), &json!({ "id": id }));
    for (method, body) in
        [("GET", Value::Null), ("DELETE", Value::Null), ("PUT", a("x", "192.0.2.1")), ("PATCH", json!({}))]
    {
        let got = scene.ask(method, &path, body).await;
        assert_eq!((got.status, got.code()), (404, 81044), "{method}");
    }
}

#[tokio::test]
async fn b045_a_ttl_comes_back_when_the_proxy_goes() {
    let scene = Scene::new(Plan::Free);
    let id = scene
        .post(json!({"type":"A","name":"app","content":"192.0.2.10","proxied":true,"ttl":300}))
        .await
        .id();
    let path = format!("{}/{id}", scene.records_path());
    for (body, ttl) in [
        (json!({"proxied": false}), 1),
        (json!({"proxied": true, "ttl": 600}), 1),
        (json!({"proxied": false, "ttl": 300}), 300),
        (json!({"ttl": null}), 1),
    ] {
        assert_eq!(scene.ask("PATCH", &path, body.clone()).await.result()["ttl"], ttl, "{body}");
    }
}

#[test]
fn a_record_is_judged_and_nothing_changes() {
    let scene = Scene::new(Plan::Free);
    let judge = |own: Option<&str>, body: &Value| scene.cloudflare.judge_record(&scene.zone, own, body);
    let stored = judge(None, &json!({ "type": "AAAA", "name": "x", "content": "2001:DB8:0::1" })).unwrap();
    assert_eq!(stored["content"], "2001:db8::1");
    assert!(scene.cloudflare.records(&scene.zone).is_empty());
    let own = scene.cloudflare.put_record(&scene.zone, a("x", "192.0.2.1")).unwrap();
    assert!(judge(None, &a("x", "192.0.2.1")).is_err(), "an identical record stands there");
    assert_eq!(judge(Some(&own), &a("x", "192.0.2.2")).unwrap()["content"], "192.0.2.2");
    assert_eq!(scene.cloudflare.records(&scene.zone)[0]["content"], "192.0.2.1");
    assert_eq!(scene.cloudflare.history().len(), 2, "the zone and its record");
}
