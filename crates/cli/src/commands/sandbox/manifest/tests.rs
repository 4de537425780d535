//! Files as people and programs write them, and what is said of those that cannot be read.

use super::*;

fn error(text: &str) -> String {
    parse("a.yaml", text).unwrap_err().to_string()
}

#[test]
fn the_samples_are_those_of_deploy() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/samples");
    let found: Vec<_> =
        files(&directory).unwrap().into_iter().map(|file| file.file_name().unwrap().to_owned()).collect();
    let mut known: Vec<_> = SAMPLES.iter().map(|(name, _)| *name).collect();
    known.sort_unstable();
    assert_eq!(found, known);
    assert!(samples().unwrap().len() >= known.len());
    assert!(SAMPLES.iter().any(|(_, text)| text.contains(kinds::names::TOKEN_PLACEHOLDER)));
}

#[test]
fn documents_know_their_lines() {
    let text = "# first\n---\n\napiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n---\n# nothing\n--- # more\n\
                apiVersion: v1\nkind: Secret\nmetadata: {name: b, namespace: a}\n";
    let manifests = parse("a.yaml", text).unwrap();
    let seen: Vec<_> =
        manifests.iter().map(|manifest| (manifest.place.to_string(), manifest.title())).collect();
    assert_eq!(
        seen,
        [
            ("a.yaml: document 1 (line 4)".to_owned(), "Namespace a".to_owned()),
            ("a.yaml: document 2 (line 10)".to_owned(), "Secret a/b".to_owned()),
        ]
    );
}

#[test]
fn a_list_is_its_items() {
    let list = r#"{"apiVersion": "v1", "kind": "List", "items": [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}},
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "b"}}]}"#;
    assert_eq!(parse("a.json", list).unwrap().len(), 2);
}

#[test]
fn an_item_of_a_list_knows_its_own_line() {
    let item = |name: &str| {
        format!(
            "- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: {name}\n    labels: {{a/b.c: d}}\n"
        )
    };
    let yaml =
        format!("# all\n---\n# of them\napiVersion: v1\nitems:\n{}{}kind: List\n", item("a"), item("b"));
    let json = r#"{"apiVersion": "v1", "kind": "List",
        "items": [
            {"apiVersion": "v1",
                "kind": "ConfigMap", "metadata": {"name": "a", "labels": {
                    "a/b.c": "d"}}},
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b", "labels": {"a/b.c": "d"}}}
        ]}"#;
    for (text, expected) in [(yaml.as_str(), [(6, 10), (11, 15)]), (json, [(3, 5), (6, 6)])] {
        let lines: Vec<_> = parse("a", text)
            .unwrap()
            .iter()
            .map(|item| {
                let label = ["metadata", "labels", "a/b.c"].into_iter();
                (item.place.line, item.place_of(label).line)
            })
            .collect();
        assert_eq!(lines, expected, "{text}");
    }
}

#[test]
fn an_item_that_lacks_something_is_told_with_its_own_line() {
    let list = "kind: List\napiVersion: v1\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n- kind: ConfigMap\n";
    assert!(error(list).starts_with("a.yaml: document 1 (line 5): apiVersion is missing"), "{}", error(list));
}

#[test]
fn errors_name_file_document_and_line() {
    let good = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: a\n";
    assert_eq!(
        error(&format!("{good}---\nkind: Namespace\n")),
        "a.yaml: document 2 (line 6): apiVersion is missing: an object needs apiVersion, kind and metadata.name"
    );
    assert_eq!(
        error("apiVersion: v1\nkind: Namespace\n"),
        "a.yaml: document 1 (line 1): metadata.name is missing: an object needs apiVersion, kind and metadata.name"
    );
    assert_eq!(
        error(&format!("{good}---\n- a\n")),
        "a.yaml: document 2 (line 6): not an object: every document is a Kubernetes object with apiVersion and kind"
    );
    let broken = error(&format!("{good}---\nkind: x\nmetadata: [a\n"));
    assert!(broken.starts_with("a.yaml: document 2 (line "), "{broken}");
    assert!(broken.contains(": not YAML: "), "{broken}");
    let twice = error("kind: x\nkind: y\n");
    assert!(twice.starts_with("a.yaml: document 1 (line 2): the key \"kind\" "), "{twice}");
}

#[test]
fn names_of_others_stay_on_their_line() {
    let failed = parse("a\nb\u{1b}.yaml", "kind: x\n").unwrap_err().to_string();
    assert!(failed.starts_with(r"a\u{a}b\u{1b}.yaml: document 1"), "{failed}");
    let text = "{apiVersion: v1, kind: Namespace, metadata: {name: \"a\\nb\"}}";
    assert_eq!(parse("a.yaml", text).unwrap()[0].title(), r"Namespace a\u{a}b");
    let missing = read(&[PathBuf::from("no/such\nfile")]).unwrap_err().to_string();
    assert!(missing.starts_with(r"cannot read no/such\u{a}file: "), "{missing}");
}

#[test]
fn a_path_that_is_not_there_is_named() {
    let error = read(&[PathBuf::from("no/such/file.yaml")]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot read no/such/file.yaml: it does not exist: name a file, a directory or - for standard input"
    );
    let url = read(&[PathBuf::from("https://example.com/a.yaml")]).unwrap_err();
    assert_eq!(
        url.to_string(),
        "URLs are not read: pipe it, as in `curl -fsSL https://example.com/a.yaml | kflare plan -f -`"
    );
}

#[test]
fn files_without_objects_are_named() {
    let directory = std::env::temp_dir().join(format!("kflare-no-objects-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let file = directory.join("a.yaml");
    std::fs::write(&file, "# nothing yet\n").unwrap();
    let error = read(std::slice::from_ref(&file)).unwrap_err();
    std::fs::remove_dir_all(&directory).unwrap();
    assert!(matches!(&error, ManifestError::NoObjects(paths) if *paths == [file]), "{error}");
    assert_eq!(read(&[]).unwrap(), []);
}

#[test]
fn json_values_one_after_another_are_documents() {
    let of = |name: &str| {
        format!(r#"{{"apiVersion": "v1", "kind": "Namespace", "metadata": {{"name": "{name}"}}}}"#)
    };
    let text = format!("{}\n{}\n---\n{}", of("a"), of("b"), of("c"));
    for file in ["a.json", "standard input"] {
        let manifests = parse(file, &text).unwrap();
        let seen: Vec<_> = manifests.iter().map(|m| (m.place.document, m.place.line, m.title())).collect();
        let title = |name: &str| format!("Namespace {name}");
        assert_eq!(seen, [(1, 1, title("a")), (2, 2, title("b")), (3, 4, title("c"))]);
    }
    assert_eq!(parse("a.json", "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n").unwrap().len(), 1);
}

#[test]
fn broken_json_is_told_as_json() {
    let said = |text: &str| parse("a.json", text).unwrap_err().to_string();
    assert_eq!(
        said("{\"kind\": \"x\",\n\"metadata\": [1}\n"),
        "a.json: document 1 (line 2): not JSON: expected `,` or `]`"
    );
    let later =
        said("{\"apiVersion\": \"v1\", \"kind\": \"x\", \"metadata\": {\"name\": \"a\"}}\n{\"kind\": }\n");
    assert!(later.ends_with("(line 2): not JSON: expected value"), "{later}");
}
