//! Which names, labels and annotations Kubernetes accepts, with the words of
//! `k8s.io/apimachinery/pkg/util/validation`. Leaves it to the kinds which rule is theirs.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::complaint::{invalid, invalid_raw, required, too_long};
use super::schema::{Cause, go_json};

/// RFC 1123: a host name.
const SUBDOMAIN_MAX: usize = 253;
/// RFC 1123: one label of a host name; label values share the bound.
const LABEL_MAX: usize = 63;
/// `validation.TotalAnnotationSizeLimitB`: all annotations of an object together.
const ANNOTATIONS_MAX: usize = 256 * 1024;

/// Finalizers without a domain that the server knows.
const STANDARD_FINALIZERS: &[&str] = &["orphan", "foregroundDeletion", "kubernetes"];

/// What a name must look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameRule {
    /// DNS-1123 subdomain: most kinds.
    Subdomain,
    /// DNS-1123 label: namespaces.
    Label,
    /// DNS-1035 label: services.
    Dns1035,
    /// Anything that can be a path segment: RBAC kinds.
    PathSegment,
}

static SUBDOMAIN: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$").ok());
static LABEL: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$").ok());
static DNS_1035: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^[a-z]([-a-z0-9]*[a-z0-9])?$").ok());
static QUALIFIED: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$").ok());
static DATA_KEY: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^[-._a-zA-Z0-9]+$").ok());

fn fits(pattern: &LazyLock<Option<Regex>>, text: &str) -> bool {
    pattern.as_ref().is_some_and(|regex| regex.is_match(text))
}

const SUBDOMAIN_TEXT: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL_TEXT: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const DNS_1035_TEXT: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const NAME_PART_TEXT: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const LABEL_VALUE_TEXT: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const DATA_KEY_TEXT: &str = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

/// What is wrong with `name` under `rule`; empty when nothing is.
pub(crate) fn name_errors(rule: NameRule, name: &str) -> Vec<String> {
    let (pattern, max, text) = match rule {
        NameRule::Subdomain => (&SUBDOMAIN, SUBDOMAIN_MAX, SUBDOMAIN_TEXT),
        NameRule::Label => (&LABEL, LABEL_MAX, LABEL_TEXT),
        NameRule::Dns1035 => (&DNS_1035, LABEL_MAX, DNS_1035_TEXT),
        NameRule::PathSegment => return path_segment_errors(name),
    };
    let mut errors = Vec::new();
    if name.len() > max {
        errors.push(format!("must be no more than {max} characters"));
    }
    if !fits(pattern, name) {
        let has_dots = rule == NameRule::Label && fits(&SUBDOMAIN, name);
        errors.push(if has_dots { "must not contain dots" } else { text }.to_owned());
    }
    errors
}

fn path_segment_errors(name: &str) -> Vec<String> {
    if matches!(name, "." | "..") {
        return vec![format!("may not be '{name}'")];
    }
    ['/', '%']
        .into_iter()
        .filter(|bad| name.contains(*bad))
        .map(|bad| format!("may not contain '{bad}'"))
        .collect()
}

/// What is wrong with a key of a label.
pub(crate) fn label_key_errors(key: &str) -> Vec<String> {
    let errors = qualified_name_errors(key);
    errors.iter().map(|error| error.replacen("a qualified name must", "a valid label key must", 1)).collect()
}

/// What is wrong with a key of an annotation, or with a finalizer.
pub(crate) fn qualified_name_errors(key: &str) -> Vec<String> {
    let mut errors = Vec::new();
    let parts: Vec<&str> = key.split('/').collect();
    let name = match parts.as_slice() {
        [name] => *name,
        [prefix, name] => {
            if prefix.is_empty() {
                errors.push("prefix part must be non-empty".to_owned());
            } else {
                errors.extend(
                    name_errors(NameRule::Subdomain, prefix)
                        .into_iter()
                        .map(|error| format!("prefix part {error}")),
                );
            }
            *name
        }
        _ => {
            return vec![format!(
                "a qualified name {NAME_PART_TEXT} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            )];
        }
    };
    if name.is_empty() {
        errors.push("name part must be non-empty".to_owned());
    } else if name.len() > LABEL_MAX {
        errors.push(format!("name part must be no more than {LABEL_MAX} bytes"));
    }
    if !fits(&QUALIFIED, name) {
        errors.push(format!("name part {NAME_PART_TEXT}"));
    }
    errors
}

/// What is wrong with a label's value.
pub(crate) fn label_value_errors(value: &str) -> Vec<String> {
    let mut errors = Vec::new();
    if value.len() > LABEL_MAX {
        errors.push(format!("must be no more than {LABEL_MAX} bytes"));
    }
    if !value.is_empty() && !fits(&QUALIFIED, value) {
        errors.push(LABEL_VALUE_TEXT.to_owned());
    }
    errors
}

/// What is wrong with a key in `data` of a Secret or ConfigMap.
pub(crate) fn data_key_errors(key: &str) -> Vec<String> {
    let mut errors = Vec::new();
    if key.len() > SUBDOMAIN_MAX {
        errors.push(format!("must be no more than {SUBDOMAIN_MAX} characters"));
    }
    if !fits(&DATA_KEY, key) {
        errors.push(DATA_KEY_TEXT.to_owned());
    } else if key == "." || key == ".." {
        errors.push(format!("must not be '{key}'"));
    } else if key.starts_with("..") {
        errors.push("must not start with '..'".to_owned());
    }
    errors
}

/// Complaints about `labels`, found at `field`.
pub(crate) fn label_causes(labels: Option<&Value>, field: &str) -> Vec<Cause> {
    let mut causes = Vec::new();
    let Some(labels) = labels.and_then(Value::as_object) else { return causes };
    for (key, value) in labels {
        causes.extend(label_key_errors(key).iter().map(|error| invalid(field, key, error)));
        let value = value.as_str().unwrap_or_default();
        causes.extend(label_value_errors(value).iter().map(|error| invalid(field, value, error)));
    }
    causes
}

/// Complaints about the name, labels, annotations, finalizers and owners of an object.
pub(crate) fn metadata_causes(rule: NameRule, metadata: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    if let Some(prefix) = metadata["generateName"].as_str() {
        // A dash at its end is no fault: something comes after it.
        let masked = prefix.strip_suffix('-').map_or_else(|| prefix.to_owned(), |head| format!("{head}a"));
        let errors = name_errors(rule, &masked);
        causes.extend(errors.iter().map(|error| invalid("metadata.generateName", prefix, error)));
    }
    let name = metadata["name"].as_str().unwrap_or_default();
    if name.is_empty() {
        causes.push(required("metadata.name", "name or generateName is required"));
    } else {
        causes.extend(name_errors(rule, name).iter().map(|error| invalid("metadata.name", name, error)));
    }
    causes.extend(label_causes(metadata.get("labels"), "metadata.labels"));
    let mut size = 0;
    for (key, value) in metadata["annotations"].as_object().into_iter().flatten() {
        let errors = qualified_name_errors(&key.to_lowercase());
        causes.extend(errors.iter().map(|error| invalid("metadata.annotations", key, error)));
        size += key.len() + value.as_str().map_or(0, str::len);
    }
    if size > ANNOTATIONS_MAX {
        causes.push(too_long("metadata.annotations", ANNOTATIONS_MAX));
    }
    for finalizer in metadata["finalizers"].as_array().into_iter().flatten() {
        let finalizer = finalizer.as_str().unwrap_or_default();
        let errors = qualified_name_errors(finalizer);
        causes.extend(errors.iter().map(|error| invalid("metadata.finalizers", finalizer, error)));
    }
    let held = |finalizer: &str| {
        metadata["finalizers"].as_array().is_some_and(|all| all.iter().any(|one| one == finalizer))
    };
    if held("orphan") && held("foregroundDeletion") {
        let why = "finalizer orphan and foregroundDeletion cannot be both set";
        causes.push(invalid_raw("metadata.finalizers", go_json(&metadata["finalizers"]), why));
    }
    causes.extend(owner_causes(&metadata["ownerReferences"]));
    causes
}

/// Finalizers of built-in kinds have a domain in front of them, or are the server's own.
pub(crate) fn unqualified_finalizer_causes(metadata: &Value) -> Vec<Cause> {
    const WHY: &str = "name is neither a standard finalizer name nor is it fully qualified";
    let all = metadata["finalizers"].as_array().into_iter().flatten().filter_map(Value::as_str);
    all.enumerate()
        .filter(|(_, finalizer)| !finalizer.contains('/') && !STANDARD_FINALIZERS.contains(finalizer))
        .map(|(index, finalizer)| invalid(format!("metadata.finalizers[{index}]"), finalizer, WHY))
        .collect()
}

/// What the server warns of in the finalizers that a write adds to a custom resource.
pub(crate) fn finalizer_warnings(new: &Value, old: Option<&Value>) -> Vec<String> {
    let of = |object: &Value| -> BTreeSet<String> {
        let all = object["metadata"]["finalizers"].as_array().into_iter().flatten();
        all.filter_map(|finalizer| finalizer.as_str().map(str::to_owned)).collect()
    };
    let before = old.map(of).unwrap_or_default();
    let mut warnings = Vec::new();
    for finalizer in of(new).difference(&before) {
        let at = format!("metadata.finalizers: {finalizer:?}");
        warnings.extend(qualified_name_errors(finalizer).iter().map(|error| format!("{at}: {error}")));
        if !finalizer.contains('/') && !STANDARD_FINALIZERS.contains(&finalizer.as_str()) {
            let path = if finalizer.contains('.') { " including a path (/)" } else { "" };
            warnings.push(format!(
                "{at}: prefer a domain-qualified finalizer name{path} to avoid accidental conflicts with other finalizer writers"
            ));
        }
    }
    warnings
}

fn owner_causes(owners: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let mut first_controller: Option<String> = None;
    for (index, owner) in owners.as_array().into_iter().flatten().enumerate() {
        let text = |part: &str| owner[part].as_str().unwrap_or_default();
        for part in ["apiVersion", "kind", "name", "uid"] {
            let field = format!("metadata.ownerReferences[{index}].{part}");
            if text(part).is_empty() {
                causes.push(required(field, "must not be empty"));
            } else if part == "apiVersion"
                && (text(part).matches('/').count() > 1 || text(part).ends_with('/'))
            {
                causes.push(invalid(field, text(part), "must be <group>/<version> or <version>"));
            }
        }
        if owner["apiVersion"] == "v1" && owner["kind"] == "Event" {
            let why = "/v1, Kind=Event is disallowed from being an owner";
            let field = format!("metadata.ownerReferences[{index}]");
            causes.push(invalid_raw(field, go_owner(owner), why));
        }
        if owner["controller"] == true {
            let name = format!("{}/{}", text("kind"), text("name"));
            match &first_controller {
                None => first_controller = Some(name),
                Some(first) => {
                    let why = format!(
                        "Only one reference can have Controller set to true. Found \"true\" in references for {first} and {name}"
                    );
                    let shown: Vec<String> = owners.as_array().into_iter().flatten().map(go_owner).collect();
                    let shown = format!("[{}]", shown.join(","));
                    causes.push(invalid_raw("metadata.ownerReferences", shown, why));
                }
            }
        }
    }
    causes
}

/// An owner as Go prints it: its fields in the order of the struct, and those that are no pointers always.
fn go_owner(owner: &Value) -> String {
    let always =
        ["apiVersion", "kind", "name", "uid"].map(|part| (part, owner[part].as_str().unwrap_or_default()));
    let mut fields: Vec<String> =
        always.iter().map(|(part, text)| format!("\"{part}\":{}", go_json(&Value::from(*text)))).collect();
    for part in ["controller", "blockOwnerDeletion"] {
        if let Some(flag) = owner[part].as_bool() {
            fields.push(format!("\"{part}\":{flag}"));
        }
    }
    format!("{{{}}}", fields.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_uppercase_name_is_refused_in_the_servers_words() {
        let errors = name_errors(NameRule::Subdomain, "Web");
        assert_eq!(errors, [SUBDOMAIN_TEXT]);
        assert!(name_errors(NameRule::Subdomain, "a.b-c.example").is_empty());
    }

    #[test]
    fn a_namespace_name_has_no_dots() {
        assert_eq!(name_errors(NameRule::Label, "a.b"), ["must not contain dots"]);
        assert_eq!(name_errors(NameRule::Label, "A"), [LABEL_TEXT]);
        assert_eq!(name_errors(NameRule::Dns1035, "1a"), [DNS_1035_TEXT]);
    }

    #[test]
    fn a_label_key_may_have_one_prefix() {
        assert!(qualified_name_errors("kflare.dev/claim").is_empty());
        assert_eq!(qualified_name_errors("a/b/c").len(), 1);
        assert_eq!(qualified_name_errors("/b"), ["prefix part must be non-empty"]);
        assert_eq!(label_value_errors("no spaces").len(), 1);
    }
}
