//! Which names, labels and annotations Kubernetes accepts, with the words of
//! `k8s.io/apimachinery/pkg/util/validation`. Leaves it to the kinds which rule is theirs.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::complaint::{forbidden, invalid, too_long};
use super::schema::Cause;

/// RFC 1123: a host name.
const SUBDOMAIN_MAX: usize = 253;
/// RFC 1123: one label of a host name; label values share the bound.
const LABEL_MAX: usize = 63;
/// `validation.TotalAnnotationSizeLimitB`: all annotations of an object together.
const ANNOTATIONS_MAX: usize = 256 * 1024;

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
        errors.push(text.to_owned());
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

/// What is wrong with a key of a label or an annotation, or with a finalizer.
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
        errors.push(format!("name part must be no more than {LABEL_MAX} characters"));
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
        errors.push(format!("must be no more than {LABEL_MAX} characters"));
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
        causes.extend(qualified_name_errors(key).iter().map(|error| invalid(field, key, error)));
        let value = value.as_str().unwrap_or_default();
        causes.extend(label_value_errors(value).iter().map(|error| invalid(field, value, error)));
    }
    causes
}

/// Complaints about the name, labels, annotations, finalizers and owners of an object.
pub(crate) fn metadata_causes(rule: NameRule, metadata: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let name = metadata["name"].as_str().unwrap_or_default();
    causes.extend(name_errors(rule, name).iter().map(|error| invalid("metadata.name", name, error)));
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
    causes.extend(owner_causes(&metadata["ownerReferences"]));
    causes
}

fn owner_causes(owners: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let mut controllers = 0;
    for (index, owner) in owners.as_array().into_iter().flatten().enumerate() {
        for part in ["apiVersion", "kind", "name", "uid"] {
            if owner[part].as_str().unwrap_or_default().is_empty() {
                let field = format!("metadata.ownerReferences[{index}].{part}");
                causes.push(invalid(field, "", format!("{} must not be empty", owner_word(part))));
            }
        }
        controllers += usize::from(owner["controller"] == Value::Bool(true));
    }
    if controllers > 1 {
        causes.push(forbidden(
            "metadata.ownerReferences",
            "Only one reference can have Controller set to true. Found more than one",
        ));
    }
    causes
}

fn owner_word(part: &str) -> &str {
    // `ValidateOwnerReferences` says "version" of the apiVersion.
    if part == "apiVersion" { "version" } else { part }
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
        assert_eq!(name_errors(NameRule::Label, "a.b"), [LABEL_TEXT]);
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
