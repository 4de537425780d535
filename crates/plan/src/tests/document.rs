//! The engine's second shape on a toy: a document of one list, to which every resource adds an entry.

use std::collections::BTreeMap;

use expect_test::expect;
use kinds::table::{
    Document, GrantedOn, Grouping, Hooks, Identity, Lifecycle, Permission, Permissions, Reference, Routes,
    Scope, Update,
};
use kinds::{Kind, Reason};
use serde_json::json;

use super::harness::{check, check_once};

const TOYS: Permission = Permission { name: "Toys: Edit", on: GrantedOn::Zone };

pub(super) static TOY: Kind = Kind {
    name: "Toy",
    plural: "toys",
    singular: "toy",
    short_names: &[],
    scope: Scope::Namespaced,
    lifecycle: Lifecycle::Managed,
    grouping: Grouping::ParentDocument,
    references: &[Reference {
        field: "zoneRef",
        kind: "Zone",
        parent: true,
        not_found: Reason::ZoneNotFound,
        not_ready: Reason::ZoneNotReady,
    }],
    secret: None,
    routes: Routes {
        collection: "/zones/{parent}/toys",
        item: "/zones/{parent}/toys",
        update: Update::Put,
        batch: None,
        page_size: 50,
        lookup: &[],
        parent_in_body: None,
        absent_is_forbidden: false,
        document: Some(Document { entries: "/toys", mark: "ref" }),
    },
    identity: Identity {
        wire: "/id",
        created: "/created_on",
        status: "/toyID",
        spec: None,
        label: None,
        claims: false,
        conflict: Reason::AlreadyExists,
        fixed_key: false,
    },
    permissions: Permissions { read: TOYS, create: Some(TOYS), change: Some(TOYS) },
    fields: &[],
    status: &[],
    ready: Reason::Synced,
    hooks: Hooks {
        body: |spec, _| Ok(json!({"color": spec["color"]})),
        canonical: |wire, _| json!({"color": wire["color"]}),
        key: |_| BTreeMap::new(),
        loose_key: |_| BTreeMap::new(),
        refuses_twins: |_| true,
        unusable: |_| None,
        recheck: |_| None,
        awaits: |_| None,
        refused: |_, _| None,
    },
};

#[test]
fn entries_of_many_resources_are_one_write_and_foreign_ones_stay() {
    check(
        &TOY,
        "
objects:
- metadata: {name: a, namespace: apps}
  spec: {zoneRef: {name: example-com}, color: red}
- metadata: {name: b, namespace: apps, finalizers: [kflare.dev/finalizer]}
  spec: {zoneRef: {name: example-com}, color: blue}
document:
  toys:
  - {color: green}
  - {ref: kflare-Toy/apps/b, color: grey}
  other: kept
",
        &expect![[r#"
            stage
              PATCH Toy apps/a {"metadata":{"finalizers":["kflare.dev/finalizer"],"resourceVersion":"","uid":"uid-a"}}
                Toy apps/a prepare (nothing that exists is touched)
            stage
              PUT /zones/0000000000000000000000000000abcd/toys {"other":"kept","toys":[{"color":"green"},{"color":"blue","ref":"kflare-Toy/apps/b"},{"color":"red","ref":"kflare-Toy/apps/a"}]} as kflare/token/CF_API_TOKEN
                Toy apps/a set its entry (nothing that exists is touched)
                Toy apps/b set its entry (the entry is marked kflare-Toy/apps/b)
            status: Toy apps/a Ready=True Synced: Cloudflare's object is as the spec says
            next: Toy apps/a Drift
            status: Toy apps/b Ready=True Synced: Cloudflare's object is as the spec says
            next: Toy apps/b Drift
        "#]],
    );
}

#[test]
fn a_paused_members_entry_keeps_its_live_version_and_blocks_nobody() {
    check(
        &TOY,
        "
objects:
- metadata: {name: a, namespace: apps, finalizers: [kflare.dev/finalizer], annotations: {kflare.dev/paused: 'true'}}
  spec: {zoneRef: {name: example-com}, color: red}
- metadata: {name: b, namespace: apps, finalizers: [kflare.dev/finalizer]}
  spec: {zoneRef: {name: example-com}, color: blue}
document:
  toys:
  - {ref: kflare-Toy/apps/a, color: grey}
",
        &expect![[r#"
            stage
              PUT /zones/0000000000000000000000000000abcd/toys {"toys":[{"color":"grey","ref":"kflare-Toy/apps/a"},{"color":"blue","ref":"kflare-Toy/apps/b"}]} as kflare/token/CF_API_TOKEN
                Toy apps/b set its entry (nothing that exists is touched)
            status: Toy apps/a Ready=Unknown Paused: paused by annotation kflare.dev/paused: nothing is read or changed
            next: Toy apps/a Resync
            status: Toy apps/b Ready=True Synced: Cloudflare's object is as the spec says
            next: Toy apps/b Drift
        "#]],
    );
}

#[test]
fn an_entry_leaves_by_its_resources_deletion_alone() {
    check_once(
        &TOY,
        "
objects:
- metadata: {name: a, namespace: apps, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [kflare.dev/finalizer]}
  spec: {zoneRef: {name: example-com}, color: red}
document:
  toys:
  - {ref: kflare-Toy/apps/a, color: red}
  - {ref: kflare-Toy/apps/unknown, color: red}
",
        &expect![[r#"
            stage
              PUT /zones/0000000000000000000000000000abcd/toys {"toys":[{"color":"red","ref":"kflare-Toy/apps/unknown"}]} as kflare/token/CF_API_TOKEN
                Toy apps/a set its entry (the entry is marked kflare-Toy/apps/a)
            stage
              PATCH Toy apps/a {"metadata":{"finalizers":null,"resourceVersion":"","uid":"uid-a"}}
                Toy apps/a release (nothing that exists is touched)
            next: Toy apps/a Forget
        "#]],
    );
}

#[test]
fn nothing_is_written_while_a_cache_is_not_synced() {
    check(
        &TOY,
        "
objects:
- metadata: {name: a, namespace: apps, finalizers: [kflare.dev/finalizer]}
  spec: {zoneRef: {name: example-com}, color: red}
document:
  toys:
  - {ref: kflare-Toy/apps/b, color: red}
incomplete: true
",
        &expect![[r#"
            status: Toy apps/a Ready=False APIError: not all resources of this document were read yet
            next: Toy apps/a Fault(None)
        "#]],
    );
}

#[test]
fn a_document_that_cannot_be_read_is_not_written() {
    check(
        &TOY,
        "
objects:
- metadata: {name: a, namespace: apps, finalizers: [kflare.dev/finalizer]}
  spec: {zoneRef: {name: example-com}, color: red}
reads_fail: 503
",
        &expect![[r#"
            status: Toy apps/a Ready=False APIError: cannot read the shared document: no (10000)
            next: Toy apps/a Fault(None)
        "#]],
    );
}
