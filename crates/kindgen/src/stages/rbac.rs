//! RBAC: what the manager may do, each rule with its why, and roles that Kubernetes' own view and edit take in.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::{File, origin_of_all};
use crate::project::Project;
use crate::table::{AccessRule, Scope};
use crate::yaml;

const RBAC: &str = "rbac.authorization.k8s.io";

pub(super) fn files(project: &Project) -> Vec<File> {
    let head = format!("# {}\n", origin_of_all(project));
    let file = |name: &str, text: String| File {
        path: format!("deploy/rbac/{name}.yaml"),
        text: head.clone() + &text,
    };
    vec![file("manager", manager(project)), file("view", view(project)), file("edit", edit(project))]
}

fn manager(project: &Project) -> String {
    let manager = &project.manager;
    let (name, namespace) = (manager.name.as_str(), manager.namespace.as_str());
    let mut rules = own_kinds(project);
    rules.extend(manager.rules.iter().cloned());
    let subject = json!([{ "kind": "ServiceAccount", "name": name, "namespace": namespace }]);
    let binding = |kind: &str, role: &str, metadata: Value| {
        yaml::ordered(
            &json!({
                "apiVersion": format!("{RBAC}/v1"),
                "kind": kind,
                "metadata": metadata,
                "roleRef": { "apiGroup": RBAC, "kind": role, "name": name },
                "subjects": subject,
            }),
            ORDER,
        )
    };
    let account = json!({
        "apiVersion": "v1", "kind": "ServiceAccount", "metadata": { "name": name, "namespace": namespace },
    });
    let home = json!({ "name": name, "namespace": namespace });
    let own_namespace = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": namespace } });
    [
        yaml::ordered(&own_namespace, ORDER),
        yaml::ordered(&account, ORDER),
        role("ClusterRole", json!({ "name": name }), &rules),
        binding("ClusterRoleBinding", "ClusterRole", json!({ "name": name })),
        role("Role", home.clone(), &manager.namespaced_rules),
        binding("RoleBinding", "Role", home),
    ]
    .join("---\n")
}

const ORDER: &[&str] = &["apiVersion", "kind", "metadata", "roleRef", "subjects"];

fn own_kinds(project: &Project) -> Vec<AccessRule> {
    let with =
        |suffix: &str| plurals(project, |_| true).iter().map(|name| format!("{name}{suffix}")).collect();
    let rule = |why: &str, suffix: &str, verbs: &[&str]| AccessRule {
        why: why.to_owned(),
        groups: vec![project.manager.group.clone()],
        resources: with(suffix),
        names: Vec::new(),
        verbs: verbs.iter().map(|verb| (*verb).to_owned()).collect(),
    };
    vec![
        rule(
            "lists and watches what users write; patches finalizers, claims and marks",
            "",
            &["list", "watch", "patch"],
        ),
        rule("patches in what became of it", "/status", &["patch"]),
    ]
}

fn view(project: &Project) -> String {
    let why = "whoever may view a namespace sees what kflare does in it".to_owned();
    aggregated(project, "view", vec![access(project, why, |_| true, &["get", "list", "watch"])])
}

// An account says which token is used for what: only administrators of the cluster write it.
fn edit(project: &Project) -> String {
    let why =
        "whoever may edit a namespace writes kflare's namespaced kinds; accounts are the administrators'"
            .to_owned();
    let verbs = ["create", "delete", "deletecollection", "patch", "update"];
    aggregated(project, "edit", vec![access(project, why, |scope| scope == Scope::Namespaced, &verbs)])
}

fn access(project: &Project, why: String, which: fn(Scope) -> bool, verbs: &[&str]) -> AccessRule {
    AccessRule {
        why,
        groups: vec![project.manager.group.clone()],
        resources: plurals(project, which),
        names: Vec::new(),
        verbs: verbs.iter().map(|verb| (*verb).to_owned()).collect(),
    }
}

fn aggregated(project: &Project, to: &str, rules: Vec<AccessRule>) -> String {
    let mut labels = Map::new();
    labels.insert(format!("{RBAC}/aggregate-to-{to}"), json!("true"));
    role("ClusterRole", json!({ "name": format!("{}-{to}", project.manager.name), "labels": labels }), &rules)
}

fn plurals(project: &Project, which: fn(Scope) -> bool) -> Vec<String> {
    project
        .kinds
        .iter()
        .filter(|kind| which(kind.table.scope))
        .map(|kind| kind.table.plural.clone())
        .collect()
}

// Rules are written by hand around the YAML of their parts, since a comment is no value.
fn role(kind: &str, metadata: Value, rules: &[AccessRule]) -> String {
    let head = json!({ "apiVersion": format!("{RBAC}/v1"), "kind": kind, "metadata": metadata });
    let mut text = yaml::ordered(&head, ORDER);
    text.push_str("rules:\n");
    for rule in rules {
        let _ = writeln!(text, "# {}", rule.why);
        let _ = writeln!(text, "- apiGroups: {}", list(&rule.groups));
        let _ = writeln!(text, "  resources: {}", list(&rule.resources));
        if !rule.names.is_empty() {
            let _ = writeln!(text, "  resourceNames: {}", list(&rule.names));
        }
        let _ = writeln!(text, "  verbs: {}", list(&rule.verbs));
    }
    text
}

fn list(items: &[String]) -> String {
    let items: Vec<String> = items.iter().map(|item| yaml::scalar(item)).collect();
    format!("[{}]", items.join(", "))
}
