//! What users write as manifests: YAML with all it can do, and JSON. Objects or one complaint, and the objects come back
//! when they are written again.

use cli::commands::sandbox::objects_of;
use serde_json::{Value, json};

use crate::wording::is_fit;

/// Longest complaint, whatever it quotes.
const COMPLAINT_CHARACTERS: usize = 1_000;

pub(crate) fn run(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    for file in ["fuzz.yaml", "fuzz.json"] {
        match objects_of(file, &text) {
            Ok(objects) => come_back(&objects),
            Err(complaint) => is_fit(&complaint, COMPLAINT_CHARACTERS),
        }
    }
}

fn come_back(objects: &[Value]) {
    for object in objects {
        let has = |pointer: &str| {
            object.pointer(pointer).and_then(Value::as_str).is_some_and(|word| !word.is_empty())
        };
        assert!(has("/apiVersion") && has("/kind") && has("/metadata/name"), "{object}");
    }
    let one_by_one: String = objects.iter().map(|object| format!("{object}\n")).collect();
    let list = json!({ "apiVersion": "v1", "kind": "List", "items": objects }).to_string();
    for text in [&one_by_one, &list] {
        assert_eq!(objects_of("again.json", text).as_deref(), Ok(objects), "{text}");
    }
}
