//! Lists of records: filters, orders, pages.

use serde_json::{Value, json};

use super::super::Plan;
use super::Scene;

async fn filled() -> Scene {
    let scene = Scene::new(Plan::Pro);
    for body in [
        json!({"type":"A","name":"a","content":"192.0.2.1","proxied":true,"comment":"Web server","tags":["team:dns","prod"]}),
        json!({"type":"A","name":"b","content":"192.0.2.2","ttl":300,"tags":["team:web"]}),
        json!({"type":"TXT","name":"a","content":"V=spf1 -all"}),
        json!({"type":"CNAME","name":"www","content":"a.example.com","comment":"alias"}),
    ] {
        assert_eq!(scene.post(body).await.status, 200);
    }
    scene
}

#[tokio::test]
async fn filters_find_what_they_say() {
    let scene = filled().await;
    for (query, wanted) in [
        ("", "A a,A b,CNAME www,TXT a"),
        ("name=A.Example.com", "A a,TXT a"),
        ("name.exact=a.example.com&type=TXT", "TXT a"),
        ("name=a", ""),
        ("name.contains=EXAMPLE", "A a,A b,CNAME www,TXT a"),
        ("name.startswith=w", "CNAME www"),
        ("name.endswith=b.example.com", "A b"),
        ("content=192.0.2.2", "A b"),
        ("content=v=spf1%20-all", "TXT a"),
        ("content=%22v%3Dspf1+-all%22", "TXT a"),
        ("content.contains=spf1", "TXT a"),
        ("comment.present", "A a,CNAME www"),
        ("comment.absent", "A b,TXT a"),
        ("comment.contains=SERVER", "A a"),
        ("tag=prod", "A a"),
        ("tag=team:web", "A b"),
        ("tag=team", "A a,A b"),
        ("tag=team:web&tag=prod", ""),
        ("tag=team:web&tag=prod&tag_match=any", "A a,A b"),
        ("tag.startswith=team:d", "A a"),
        ("tag.absent=prod", "A b,CNAME www,TXT a"),
        ("proxied=true", "A a"),
        ("proxied=false&type=A", "A b"),
        ("search=ALIAS", "CNAME www"),
        ("name=b.example.com&type=TXT&match=any", "A b,TXT a"),
        ("type=NOPE", ""),
        ("order=name", "A a,TXT a,A b,CNAME www"),
        ("order=name&direction=desc", "CNAME www,A b,A a,TXT a"),
        ("order=ttl&direction=desc", "A b,A a,TXT a,CNAME www"),
        ("name=contains:a", ""),
        ("something=else", "A a,A b,CNAME www,TXT a"),
    ] {
        let got = scene.get(&format!("{}?{query}", scene.records_path())).await;
        assert_eq!(got.status, 200, "{query}: {}", got.text);
        let rows: Vec<String> = got
            .result()
            .as_array()
            .unwrap()
            .iter()
            .map(|record| {
                let name = record["name"].as_str().unwrap().trim_end_matches(".example.com");
                format!("{} {name}", record["type"].as_str().unwrap())
            })
            .collect();
        assert_eq!(rows.join(","), wanted, "{query}");
        assert_eq!(got.json["result_info"]["total_count"], rows.len(), "{query}");
    }
    for query in
        ["match=some", "order=id", "direction=up", "proxied=1", "per_page=0", "page=0", "per_page=5000001"]
    {
        let got = scene.get(&format!("{}?{query}", scene.records_path())).await;
        assert_eq!(got.status, 400, "{query}");
    }
}

#[tokio::test]
async fn b157_pages_hold_each_record_once() {
    let scene = filled().await;
    let mut seen = Vec::new();
    for page in 1..=3 {
        let got = scene.get(&format!("{}?per_page=2&page={page}", scene.records_path())).await;
        let info = &got.json["result_info"];
        let rows = got.result().as_array().unwrap();
        assert_eq!(
            info,
            &json!({"page":page,"per_page":2,"count":rows.len(),"total_count":4,"total_pages":2})
        );
        seen.extend(rows.iter().map(|record| record["id"].clone()));
    }
    assert_eq!(seen.len(), 4);
    let all: Vec<Value> = scene.cloudflare.records(&scene.zone);
    assert!(all.iter().all(|record| seen.contains(&record["id"])));
}

#[tokio::test]
async fn shadow_metadata_tells_what_delegations_hide() {
    let scene = Scene::new(Plan::Free);
    let path = scene.records_path();
    let ask = "include_shadow_metadata=true";
    let a = |name: &str| json!({"type":"A","name":name,"content":"192.0.2.1"});
    let ns = |name: &str, host: &str| json!({"type":"NS","name":name,"content":host});
    let glue = scene.post(a("ns1.sub")).await.id();
    let www = scene.post(a("www.sub")).await.id();
    let other = scene.post(a("notsub")).await.id();
    let sub = scene.post(ns("sub", "ns1.sub.example.com")).await.id();
    let meta = async |id: &str| scene.get(&format!("{path}/{id}?{ask}")).await.result()["meta"].clone();
    assert_eq!(meta(&glue).await, json!({"shadowed_by": [sub], "is_glue": true}));
    assert_eq!(meta(&www).await, json!({"shadowed_by": [sub]}));
    assert_eq!(meta(&other).await, json!({}));
    assert_eq!(meta(&sub).await, json!({"shadowed_records_count": 2}));
    assert_eq!(scene.get(&format!("{path}/{sub}")).await.result()["meta"], json!({}));
    let deep = scene.post(ns("deep.sub", "ns1.deep.sub.example.com")).await.id();
    let body = json!({"posts": [a("ns1.deep.sub")]});
    let dead = scene.ask("POST", &format!("{path}/batch?{ask}"), body).await;
    let dead = &dead.result()["posts"][0]["meta"];
    assert_eq!((&dead["is_glue"], &dead["dead_glue"]), (&json!(true), &json!(true)));
    assert_eq!(dead["shadowed_by"].as_array().unwrap().len(), 2);
    assert_eq!(meta(&deep).await, json!({"shadowed_by": [sub]}));
    for (query, total) in [
        (format!("{ask}&shadowed_by_name=sub.example.com"), 4),
        ("shadowing_name=www.sub.example.com".to_owned(), 1),
        ("shadowing_name=x.deep.sub.example.com".to_owned(), 2),
        (ask.to_owned(), 6),
    ] {
        let got = scene.get(&format!("{path}?{query}")).await;
        assert_eq!(got.json["result_info"]["total_count"], total, "{query}: {}", got.text);
    }
    for query in
        ["shadowed_by_name=sub.example.com", "shadowing_name=example.com", "shadowing_name=x.example.net"]
    {
        assert_eq!(scene.get(&format!("{path}?{query}")).await.code(), 9207, "{query}");
    }
}
