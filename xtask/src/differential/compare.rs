//! Two answers, side by side: where they differ. Lists of complaints are compared as sets, since neither server promises
//! their order. Leaves what may differ to `neutral`, and what is known to differ to `excuse`.

use std::fmt;

use serde_json::{Value, json};

/// One place where the answers to one request differ.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Difference {
    /// The number of the request, from 1.
    pub(crate) step: usize,
    /// The request as it is written in the sequence.
    pub(crate) ask: String,
    /// Where in the answer.
    pub(crate) at: String,
    pub(crate) real: Value,
    pub(crate) ours: Value,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { step, ask, at, real, ours } = self;
        write!(f, "{step}. {ask}: {at}\n      real: {}\n      ours: {}", short(real), short(ours))
    }
}

/// Longest value that is printed.
const SHOWN_MAX: usize = 1_500;

fn short(value: &Value) -> String {
    let text = if value.is_null() { "nothing".to_owned() } else { value.to_string() };
    if text.len() <= SHOWN_MAX { text } else { text.chars().take(SHOWN_MAX).chain(['…']).collect() }
}

/// All places where two neutral answers differ, as pointers with both values.
pub(crate) fn differences(real: &Value, ours: &Value) -> Vec<(String, Value, Value)> {
    if real["status"] != ours["status"] {
        // Everything else would only follow from it.
        return vec![("/status".to_owned(), verdict(real), verdict(ours))];
    }
    let mut found = Vec::new();
    descend("", &ordered(real), &ordered(ours), &mut found);
    if found.iter().any(|(at, ..)| at.starts_with("/body/details/causes")) {
        // The message repeats the causes.
        found.retain(|(at, ..)| at != "/body/message");
    }
    found
}

/// What an answer comes to.
fn verdict(answer: &Value) -> Value {
    let body = &answer["body"];
    if body["kind"] == "Status" {
        json!({ "status": answer["status"], "reason": body["reason"], "message": body["message"] })
    } else {
        json!({ "status": answer["status"] })
    }
}

fn descend(at: &str, real: &Value, ours: &Value, found: &mut Vec<(String, Value, Value)>) {
    match (real, ours) {
        (Value::Object(left), Value::Object(right)) => {
            let keys: std::collections::BTreeSet<&String> = left.keys().chain(right.keys()).collect();
            for key in keys {
                let (a, b) = (left.get(key), right.get(key));
                match (a, b) {
                    (Some(a), Some(b)) => descend(&format!("{at}/{key}"), a, b, found),
                    // A field that is null is not one that is absent.
                    _ => {
                        let shown = |value: Option<&Value>| match value {
                            Some(Value::Null) => json!("null"),
                            Some(value) => value.clone(),
                            None => Value::Null,
                        };
                        found.push((format!("{at}/{key}"), shown(a), shown(b)));
                    }
                }
            }
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (index, (a, b)) in left.iter().zip(right).enumerate() {
                descend(&format!("{at}/{index}"), a, b, found);
            }
        }
        (a, b) if a == b => {}
        (a, b) => found.push((at.to_owned(), a.clone(), b.clone())),
    }
}

/// A `Status` with its causes sorted, and its message with the texts of the causes in that order.
fn ordered(answer: &Value) -> Value {
    let mut answer = answer.clone();
    let Some(body) = answer.get_mut("body").filter(|body| body["kind"] == "Status") else { return answer };
    if let Some(causes) = body.pointer_mut("/details/causes").and_then(Value::as_array_mut) {
        causes.sort_by_key(ToString::to_string);
        causes.dedup();
        let texts: Vec<String> = causes
            .iter()
            .map(|cause| {
                let text = |field: &str| cause[field].as_str().unwrap_or_default().to_owned();
                format!("{}: {}", text("field"), text("message"))
            })
            .collect();
        if texts.len() > 1
            && let Some(message) = body["message"].as_str()
        {
            body["message"] = json!(without_order(message, &texts));
        }
    }
    if let Some(message) = body["message"].as_str()
        && let Some((head, list)) = message.split_once("strict decoding error: ")
    {
        let mut complaints: Vec<&str> = list.split(", ").collect();
        complaints.sort_unstable();
        body["message"] = json!(format!("{head}strict decoding error: {}", complaints.join(", ")));
    }
    answer
}

/// The message with each of the texts, if it is there, moved to its end in the order given.
fn without_order(message: &str, texts: &[String]) -> String {
    let mut rest = message.to_owned();
    let mut tail = Vec::new();
    let mut longest_first: Vec<&String> = texts.iter().collect();
    longest_first.sort_by_key(|text| std::cmp::Reverse(text.len()));
    for text in longest_first {
        if let Some(at) = rest.find(text.as_str()) {
            rest.replace_range(at..at + text.len(), "");
            tail.push(text.clone());
        }
    }
    tail.sort();
    tail.dedup();
    format!("{rest}{}", tail.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_complaints_does_not_count_and_their_texts_do() {
        let of = |causes: [(&str, &str); 2]| {
            let texts: Vec<String> = causes.iter().map(|(field, text)| format!("{field}: {text}")).collect();
            let causes: Vec<Value> =
                causes.iter().map(|(field, text)| json!({ "field": field, "message": text })).collect();
            json!({ "body": {
                "kind": "Status", "message": format!("x is invalid: [{}]", texts.join(", ")),
                "details": { "causes": causes },
            }})
        };
        let one = of([("a", "wrong"), ("b", "bad")]);
        assert_eq!(differences(&one, &of([("b", "bad"), ("a", "wrong")])), []);
        assert_eq!(differences(&one, &of([("b", "worse"), ("a", "wrong")])).len(), 1);
    }

    #[test]
    fn an_absent_field_differs_from_null() {
        let found = differences(&json!({ "a": null, "b": 1 }), &json!({ "b": 2 }));
        assert_eq!(
            found,
            [("/a".to_owned(), json!("null"), Value::Null), ("/b".to_owned(), json!(1), json!(2))]
        );
    }
}
