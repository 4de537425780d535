//! Ingresses and IngressClasses. Leaves routing to whoever claims the class.

use std::net::IpAddr;

use serde_json::Value;

use super::super::complaint::{invalid, invalid_raw, required, unsupported};
use super::super::names::{NameRule, name_errors};
use super::super::schema::Cause;
use super::{entries, text};

const PATH_TYPES: &[&str] = &["Exact", "ImplementationSpecific", "Prefix"];
const CLASS_ANNOTATION: &str = "kubernetes.io/ingress.class";
/// `maxLenIngressClassController`.
const CONTROLLER_MAX: usize = 250;
const WILDCARD_TEXT: &str = "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

pub(super) fn validate(new: &Value, old: Option<&Value>) -> Vec<Cause> {
    let spec = &new["spec"];
    let mut causes = Vec::new();
    let rules = entries(&spec["rules"]);
    if rules.is_empty() && spec["defaultBackend"].is_null() {
        let why = "either `defaultBackend` or `rules` must be specified";
        causes.push(invalid_raw("spec", &spec["rules"], why));
    }
    if !spec["defaultBackend"].is_null() {
        causes.extend(backend_causes(&spec["defaultBackend"], "spec.defaultBackend"));
    }
    for (index, tls) in entries(&spec["tls"]).iter().enumerate() {
        for (at, host) in entries(&tls["hosts"]).iter().enumerate() {
            let host = host.as_str().unwrap_or_default();
            causes.extend(host_causes(host, &format!("spec.tls[{index}].hosts[{at}]")));
        }
    }
    for (index, rule) in rules.iter().enumerate() {
        causes.extend(rule_causes(rule, &format!("spec.rules[{index}]")));
    }
    if let Some(class) = spec["ingressClassName"].as_str() {
        let errors = name_errors(NameRule::Subdomain, class);
        causes.extend(errors.iter().map(|error| invalid("spec.ingressClassName", class, error)));
        // Only new objects: what was stored with both may keep both.
        if let (None, Some(annotation)) = (old, new["metadata"]["annotations"][CLASS_ANNOTATION].as_str()) {
            let field = format!("annotations.{CLASS_ANNOTATION}");
            causes.push(invalid(field, annotation, "can not be set when the class field is also set"));
        }
    }
    causes
}

fn rule_causes(rule: &Value, path: &str) -> Vec<Cause> {
    let host = text(rule, "host");
    let mut causes = Vec::new();
    if host.parse::<IpAddr>().is_ok() {
        causes.push(invalid(format!("{path}.host"), host, "must be a DNS name, not an IP address"));
    } else if !host.is_empty() {
        causes.extend(host_causes(host, &format!("{path}.host")));
    }
    if rule["http"].is_null() {
        return causes;
    }
    let paths = entries(&rule["http"]["paths"]);
    if paths.is_empty() {
        causes.push(required(format!("{path}.http.paths"), ""));
    }
    for (index, entry) in paths.iter().enumerate() {
        let at = format!("{path}.http.paths[{index}]");
        causes.extend(path_causes(entry, &at));
        causes.extend(backend_causes(&entry["backend"], &format!("{at}.backend")));
    }
    causes
}

fn host_causes(host: &str, path: &str) -> Vec<Cause> {
    if let Some(rest) = host.strip_prefix('*') {
        let fits =
            rest.strip_prefix('.').is_some_and(|rest| name_errors(NameRule::Subdomain, rest).is_empty());
        return if fits { Vec::new() } else { vec![invalid(path, host, WILDCARD_TEXT)] };
    }
    name_errors(NameRule::Subdomain, host).iter().map(|error| invalid(path, host, error)).collect()
}

fn path_causes(entry: &Value, at: &str) -> Vec<Cause> {
    const INSIDE: &[&str] = &["//", "/./", "/../", "%2f", "%2F"];
    const AT_END: &[&str] = &["/..", "/."];
    let path = text(entry, "path");
    let field = format!("{at}.path");
    match entry["pathType"].as_str() {
        None => vec![required(format!("{at}.pathType"), "pathType must be specified")],
        Some("ImplementationSpecific") if path.is_empty() || path.starts_with('/') => Vec::new(),
        Some("Exact" | "Prefix") if path.starts_with('/') => {
            let inside = INSIDE.iter().filter(|bad| path.contains(**bad));
            let ends = AT_END.iter().filter(|bad| path.ends_with(**bad));
            inside
                .map(|bad| invalid(field.clone(), path, format!("must not contain '{bad}'")))
                .chain(ends.map(|bad| invalid(field.clone(), path, format!("cannot end with '{bad}'"))))
                .collect()
        }
        Some("ImplementationSpecific" | "Exact" | "Prefix") => {
            vec![invalid(field, path, "must be an absolute path")]
        }
        Some(other) => vec![unsupported(format!("{at}.pathType"), other, PATH_TYPES)],
    }
}

fn backend_causes(backend: &Value, path: &str) -> Vec<Cause> {
    let (service, resource) = (&backend["service"], &backend["resource"]);
    match (service.is_null(), resource.is_null()) {
        (false, false) => vec![invalid(path, "", "cannot set both resource and service backends")],
        (true, true) => vec![invalid(path, "", "resource or service backend is required")],
        (true, false) => ["kind", "name"]
            .into_iter()
            .filter(|field| text(resource, field).is_empty())
            .map(|field| required(format!("{path}.resource.{field}"), ""))
            .collect(),
        (false, true) => service_causes(service, path),
    }
}

fn service_causes(service: &Value, path: &str) -> Vec<Cause> {
    let mut causes = Vec::new();
    let name = text(service, "name");
    if name.is_empty() {
        causes.push(required(format!("{path}.service.name"), ""));
    } else {
        let errors = name_errors(NameRule::Dns1035, name);
        causes.extend(errors.iter().map(|error| invalid(format!("{path}.service.name"), name, error)));
    }
    let port = &service["port"];
    let number = port["number"].as_i64().unwrap_or_default();
    match (text(port, "name").is_empty(), number == 0) {
        (false, false) => causes.push(invalid(path, "", "cannot set both port name & port number")),
        (true, true) => causes.push(required(path, "port name or number is required")),
        (true, false) if !(1..=65_535).contains(&number) => {
            let field = format!("{path}.service.port.number");
            causes.push(invalid_raw(field, number, "must be between 1 and 65535, inclusive"));
        }
        _ => {}
    }
    causes
}

pub(super) fn validate_class(new: &Value, old: Option<&Value>) -> Vec<Cause> {
    let controller = text(&new["spec"], "controller");
    let mut causes = Vec::new();
    if let Some(old) = old
        && old["spec"]["controller"] != new["spec"]["controller"]
    {
        causes.push(invalid("spec.controller", controller, "field is immutable"));
    }
    if controller.is_empty() {
        causes.push(required("spec.controller", ""));
    } else if controller.len() > CONTROLLER_MAX {
        causes.push(super::super::complaint::too_long("spec.controller", CONTROLLER_MAX));
    } else {
        let domain =
            controller.split_once('/').filter(|(_, path)| !path.is_empty()).map(|(domain, _)| domain);
        if domain.is_none_or(|domain| !name_errors(NameRule::Subdomain, domain).is_empty()) {
            let why = "must be a domain-prefixed path (such as \"acme.io/foo\")";
            causes.push(invalid("spec.controller", controller, why));
        }
    }
    causes
}
