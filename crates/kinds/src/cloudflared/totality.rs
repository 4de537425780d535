//! Made-up configurations, expressions and requests: nothing of them makes the model panic, and what it says of the
//! parts agrees with what it says of the whole. That the answers are cloudflared's is for the tables of `tests.rs`.

use serde_json::{Map, Value, json};

use super::*;

/// Words that rules, expressions and URLs are made of, and some that are none of them.
const WORDS: &[&str] = &[
    "a",
    "A",
    "é",
    "ſ",
    "日",
    "😀",
    "\u{FFFD}",
    "\u{0}",
    "\n",
    " ",
    "/",
    "//",
    ".",
    "..",
    "*",
    "*.",
    "**",
    "-",
    "_",
    ":",
    ":80",
    "[",
    "]",
    "[::1]",
    "(",
    ")",
    "(?i)",
    "(?",
    "(?P<",
    "|",
    "+",
    "?",
    "{",
    "}",
    "{2}",
    "{1000}",
    "{0,",
    "^",
    "$",
    "\\",
    "\\Q",
    "\\E",
    "\\p",
    "\\p{",
    "\\pL",
    "\\x{",
    "\\x",
    "\\b",
    "[:",
    ":]",
    "[^",
    "%",
    "%4",
    "%41",
    "%FF",
    "@",
    "#",
    "http",
    "://",
    "http://",
    "tcp://",
    "http_status:",
    "404",
    "unix:",
    "bastion",
    "socks-proxy",
    "example.com",
    "xn--",
    "xn--bcher-kva",
    "עב",
    "\u{200D}",
    "1.2.3.4",
    "::",
    "/24",
];
const FIELDS: &[&str] = &[
    "ingress",
    "originRequest",
    "warp-routing",
    "hostname",
    "path",
    "service",
    "Service",
    "connectTimeout",
    "caPool",
    "proxyPort",
    "noTLSVerify",
    "bastionMode",
    "access",
    "required",
    "teamName",
    "audTag",
    "ipRules",
    "prefix",
    "ports",
    "allow",
    "maxActiveFlows",
    "other",
];
/// Knuth's MMIX constants: the same inputs in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }

    fn text(&mut self) -> String {
        (0..self.below(7)).map(|_| WORDS[self.below(WORDS.len())]).collect()
    }

    fn value(&mut self, depth: usize) -> Value {
        match self.below(if depth == 0 { 6 } else { 10 }) {
            0 => Value::Null,
            1 => json!(self.below(2) == 0),
            2 => json!([0, -1, 80, 65_536, i64::MAX][self.below(5)]),
            3 => json!(30.5),
            4 | 5 => json!(self.text()),
            6 | 7 => (0..self.below(4)).map(|_| self.value(depth - 1)).collect(),
            _ => Value::Object(self.members(depth - 1)),
        }
    }

    fn members(&mut self, depth: usize) -> Map<String, Value> {
        (0..self.below(5)).map(|_| (FIELDS[self.below(FIELDS.len())].to_owned(), self.value(depth))).collect()
    }

    /// Something like a rule, most often.
    fn rule(&mut self) -> Value {
        let mut rule = if self.below(4) == 0 { self.members(3) } else { Map::new() };
        let hosts = ["a.example.com", "*.example.com", "A.example.com", "é.example.com", "*", ""];
        let host = if self.below(3) == 0 { self.text() } else { hosts[self.below(hosts.len())].to_owned() };
        rule.insert("hostname".to_owned(), json!(host));
        let paths = ["/", "^/a", "a$", "(?i)/A", "."];
        let path = if self.below(3) == 0 { self.text() } else { paths[self.below(paths.len())].to_owned() };
        rule.insert("path".to_owned(), json!(path));
        let service = if self.below(4) == 0 { self.text() } else { "http://svc".to_owned() };
        rule.insert("service".to_owned(), json!(service));
        Value::Object(rule)
    }
}

fn last() -> Value {
    json!({"service": "http_status:404"})
}

#[test]
fn anything_at_all_is_read_or_refused_at_a_place_that_exists() {
    let mut random = Random(1);
    for _ in 0..20_000 {
        let config = random.value(5);
        if let Err(refusal) = Configuration::read(&config) {
            assert!(!refusal.to_string().is_empty());
            let rules = config.get("ingress").and_then(Value::as_array).map_or(0, Vec::len);
            assert!(refusal.place.rule.is_none_or(|rule| rule < rules), "{config}: {refusal}");
        }
    }
}

#[test]
fn any_expression_is_taken_or_refused_and_any_bytes_are_a_path() {
    let mut random = Random(2);
    let mut taken = 0;
    for _ in 0..20_000 {
        let text = random.text();
        let Ok(expression) = PathExpression::parse(&text) else { continue };
        let path: Vec<u8> = (0..random.below(12)).map(|_| u8::try_from(random.below(256)).unwrap()).collect();
        let found = expression.matches(&path);
        // A group changes nothing; only a quotation that is not closed would swallow its end.
        if !text.contains(r"\Q") {
            taken += 1;
            let grouped = PathExpression::parse(&format!("(?:{text})")).unwrap();
            assert_eq!(grouped.matches(&path), found, "{text:?} on {path:?}");
        }
    }
    assert!(taken > 1_000);
}

#[test]
fn the_rule_of_a_request_is_the_first_that_would_have_it_alone() {
    let mut random = Random(3);
    let mut asked = 0;
    for _ in 0..3_000 {
        let mut rules: Vec<Value> = (0..random.below(5)).map(|_| random.rule()).collect();
        rules.retain(|rule| Configuration::read(&json!({ "ingress": [rule, last()] })).is_ok());
        let alone: Vec<Configuration> = rules
            .iter()
            .map(|rule| Configuration::read(&json!({ "ingress": [rule, last()] })).unwrap())
            .collect();
        rules.push(last());
        let whole = Configuration::read(&json!({ "ingress": rules })).unwrap();
        for _ in 0..5 {
            let hosts = ["a.example.com", "x.example.com", "xn--9ca.example.com:443", "[::1]:80", "z"];
            let host = if random.below(4) == 0 {
                random.text()
            } else {
                hosts[random.below(hosts.len())].to_owned()
            };
            let path = random.text();
            let expected = alone.iter().position(|one| one.rule_for(&host, path.as_bytes()) == 0);
            assert_eq!(
                whole.rule_for(&host, path.as_bytes()),
                expected.unwrap_or(alone.len()),
                "{rules:?} {host} {path}"
            );
            asked += usize::from(expected.is_some());
        }
        let _ = whole.rule_for_url(&random.text());
    }
    assert!(asked > 1_000);
}
