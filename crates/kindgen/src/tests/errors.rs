//! What a person reads who gets a table wrong: the file, the place and the fix.

use expect_test::{Expect, expect};

use super::toy;
use crate::{Project, TableError};

/// Replaces `from` by `to` in the widget's table, once.
fn load(from: &str, to: &str) -> Result<Project, TableError> {
    let mut sources = toy();
    assert!(sources[1].text.contains(from), "{from}");
    sources[1].text = sources[1].text.replacen(from, to, 1);
    Project::load(&sources)
}

fn check(from: &str, to: &str, expected: &Expect) {
    let error = load(from, to).map(|_| ()).expect_err("the table is wrong");
    expected.assert_eq(&error.to_string());
}

#[test]
fn unknown_field() {
    check(
        "min = 1\n",
        "minimum = 1\n",
        &expect![
            "kinds/red_widget.toml:73: unknown field `minimum`, expected one of `name`, `type`, `doc`, `required`, `default`, `immutable`, `write_only`, `min`, `max`, `min_length`, `max_length`, `pattern`, `format`, `enum`, `fields`, `item`, `list`, `min_items`, `max_items`, `max_properties`, `rules`, `wire`, `unset`, `clear`, `own_call`"
        ],
    );
}

#[test]
fn wrong_type() {
    check(
        "page_size = 100",
        "page_size = \"many\"",
        &expect![[r#"kinds/red_widget.toml:23: invalid type: string "many", expected u32"#]],
    );
}

#[test]
fn unknown_value() {
    check(
        "scope = \"namespaced\"",
        "scope = \"galaxy\"",
        &expect!["kinds/red_widget.toml:5: unknown variant `galaxy`, expected `cluster` or `namespaced`"],
    );
}

#[test]
fn not_toml() {
    check(
        "claims = true",
        "claims = yes",
        &expect!["kinds/red_widget.toml:31: string values must be quoted, expected literal string"],
    );
}

#[test]
fn missing_reference() {
    check(
        "kind = \"Shelf\"",
        "kind = \"Cupboard\"",
        &expect![
            "kinds/red_widget.toml: references.shelfRef: no table describes the kind Cupboard; write one of RedWidget, Shelf, or add its table"
        ],
    );
}

#[test]
fn reference_without_its_field() {
    check(
        "field = \"shelfRef\"",
        "field = \"cupboardRef\"",
        &expect![
            "kinds/red_widget.toml: references.cupboardRef: there is no field spec.cupboardRef.name; add it to the table or correct the name"
        ],
    );
}

#[test]
fn unknown_reason() {
    check(
        "conflict = \"Taken\"",
        "conflict = \"Gone\"",
        &expect![
            "kinds/red_widget.toml: identity.conflict: there is no reason Gone; add it to crates/kinds/src/reason.rs, or write one that is there"
        ],
    );
}

#[test]
fn a_kind_as_its_own_parent() {
    check(
        "kind = \"Shelf\"",
        "kind = \"RedWidget\"",
        &expect![
            "kinds/red_widget.toml: references: RedWidget is among its own parents; mend the `kind` of a parent reference"
        ],
    );
}

#[test]
fn taken_names() {
    check(
        "short_names = [\"rw\"]",
        "short_names = [\"shelves\"]",
        &expect!["kinds/shelf.toml: resource name shelves is taken by RedWidget; choose another"],
    );
}

#[test]
fn foreign_label() {
    check(
        "toys.example/widget-id",
        "example.com/widget-id",
        &expect![
            "kinds/red_widget.toml: identity: the label example.com/widget-id is not ours; begin it with toys.example/"
        ],
    );
}

#[test]
fn claim_without_a_label() {
    check(
        "label = \"toys.example/widget-id\"\n",
        "",
        &expect![
            "kinds/red_widget.toml: identity: `label` is missing; a claim needs a `label` that carries it and a `conflict` reason"
        ],
    );
}

#[test]
fn no_key() {
    check(
        "key = [\"size\"]\n",
        "",
        &expect![
            "kinds/red_widget.toml: identity: `key` is missing; list the spec fields by which an existing object is found"
        ],
    );
}

#[test]
fn column_of_nothing() {
    check(
        "path = \".spec.size\"",
        "path = \".spec.sise\"",
        &expect![
            "kinds/red_widget.toml: columns: there is no field spec.sise; add it to the table or correct the name"
        ],
    );
}

#[test]
fn bounds_of_the_wrong_type() {
    check(
        "max = 9",
        "max_length = 9",
        &expect!["kinds/red_widget.toml: spec.size: `max_length` has no meaning here; only strings have it"],
    );
}

#[test]
fn a_list_without_items() {
    check(
        "item = { type = \"string\", max_length = 10 }\n",
        "",
        &expect![[
            r#"kinds/red_widget.toml: spec.tags: `item` is missing; say what it holds: item = { type = "string" }"#
        ]],
    );
}

#[test]
fn default_out_of_bounds() {
    check(
        "default = 3",
        "default = 10",
        &expect![
            "kinds/red_widget.toml: spec.size: the default 10 is not a value of the field; correct it or drop it"
        ],
    );
}

#[test]
fn required_with_a_default() {
    check(
        "default = 3",
        "default = 3\nrequired = true",
        &expect![
            "kinds/red_widget.toml: spec.size: `default` has no meaning here; a required field is never left out; drop one of the two"
        ],
    );
}

#[test]
fn silence_without_a_meaning() {
    check(
        "unset = \"keep\"\n",
        "",
        &expect![[
            r#"kinds/red_widget.toml: spec.grade: `unset` is missing; say what leaving the field out means: "clear", "keep" or "required""#
        ]],
    );
}

#[test]
fn clear_that_is_not_json() {
    check(
        "clear = \"null\"",
        "clear = \"nothing\"",
        &expect![[
            r#"kinds/red_widget.toml: spec.note: clear = 'nothing' is not JSON; quote strings twice: clear = '""'"#
        ]],
    );
}

#[test]
fn undocumented_field() {
    check(
        "doc = \"How good.\"\n",
        "",
        &expect![
            "kinds/red_widget.toml: spec.grade: `doc` is missing; write a sentence that a user of the field needs"
        ],
    );
}

#[test]
fn a_message_without_its_field() {
    check(
        "message = \"tags: a",
        "message = \"Bad: a",
        &expect![[
            r#"kinds/red_widget.toml: rules: the message of `self.size > 1 || !has(self.tags)` must begin with the field it is about and say the fix: "ttl: set it to 1""#
        ]],
    );
}

#[test]
fn a_sample_with_a_misspelt_field() {
    check(
        "[samples.spec]\nsize",
        "[samples.spec]\nsise",
        &expect![
            "kinds/red_widget.toml: samples.small: there is no field sise; add it to the table or correct the name"
        ],
    );
}

#[test]
fn a_sample_without_a_required_field() {
    check(
        "shelfRef = { name = \"top\" }",
        "",
        &expect![
            "kinds/red_widget.toml: samples.small.shelfRef: `value` is missing; give every required field, so that the sample can be applied"
        ],
    );
    check(
        "shelfRef = { name = \"top\" }",
        "shelfRef = {}",
        &expect![
            "kinds/red_widget.toml: samples.small.shelfRef.name: `value` is missing; give every required field, so that the sample can be applied"
        ],
    );
}

#[test]
fn a_document_where_there_is_none() {
    check(
        "grouping = \"parent-list\"",
        "grouping = \"parent-document\"",
        &expect![
            "kinds/red_widget.toml: routes: `document` is missing; say where the document lists its `entries` and which member is an entry's `mark`"
        ],
    );
}

#[test]
fn missing_files() {
    let without = |index: usize| {
        let mut sources = toy();
        sources.remove(index);
        Project::load(&sources).map(|_| ()).expect_err("something is missing").to_string()
    };
    expect!["kinds/manager.toml is missing: it says the API group and what the manager may do"]
        .assert_eq(&without(0));
    expect!["crates/kinds/src/reason.rs is missing: it lists the reasons that tables may name"]
        .assert_eq(&without(3));
}

#[test]
fn calls_without_a_permission() {
    check(
        "for = [\"read\"]",
        "for = []",
        &expect![
            "kinds/red_widget.toml: permissions: `read` is missing; say in its `for` which permission these calls need"
        ],
    );
}

#[test]
fn one_purpose_of_two_permissions() {
    check(
        "for = [\"create\", \"change\"]",
        "for = [\"create\", \"change\", \"read\"]",
        &expect![
            "kinds/red_widget.toml: the purpose of the permission Widgets: Edit is taken by Widgets: Read; choose another"
        ],
    );
}

#[test]
fn own_call_with_an_unknown_permission() {
    check(
        "permission = \"Grades: Edit\"",
        "permission = \"Marks: Edit\"",
        &expect![[
            r#"kinds/red_widget.toml: spec.grade.own_call: "Marks: Edit" is none of the table's permissions; add it there"#
        ]],
    );
}

#[test]
fn write_permission_of_a_kind_that_is_only_read() {
    let mut sources = toy();
    sources[2].text = sources[2].text.replace("for = [\"read\"]", "for = [\"read\", \"create\"]");
    let error = Project::load(&sources).map(|_| ()).expect_err("the table is wrong");
    expect!["kinds/shelf.toml: permissions: `create` has no meaning here; the kind is only read"]
        .assert_eq(&error.to_string());
}

#[test]
fn a_status_field_that_would_be_copied_whole() {
    let of = |what: &str| {
        let field = "name = \"widgetID\"\ntype = \"string\"\ndoc = \"Its ID.\"";
        load(field, &format!("name = \"widgetID\"\n{what}\ndoc = \"Its ID.\"")).map(drop)
    };
    let object = "type = \"object\"\nfields = [{ name = \"id\", type = \"string\", doc = \"An ID.\" }]";
    let map = "type = \"map\"\nitem = { type = \"string\" }";
    let numbers = "type = \"list\"\nlist = \"ordered\"\nitem = { type = \"integer\" }";
    for what in [object, map, "type = \"free\"", numbers] {
        let error = of(what).expect_err(what).to_string();
        assert!(error.contains("status.widgetID: `wire` has no meaning here"), "{error}");
    }
    let texts = "type = \"list\"\nlist = \"ordered\"\nitem = { type = \"string\" }";
    assert_eq!(of(texts), Ok(()));
}
