//! Which fields there are in a place: the names that a schema knows there.
//! Whether a field fits is the API server's to say.

use serde_json::Value;

/// The names that a CustomResourceDefinition knows in the place of the last part of a path like `spec.data[0].port`.
pub(in crate::commands) fn siblings(kind: &str, path: &str) -> Vec<String> {
    let crds = kinds::CRDS.iter().filter_map(|crd| serde_json::from_str::<Value>(crd).ok());
    let Some(crd) = crds.into_iter().find(|crd| crd["spec"]["names"]["kind"] == kind) else {
        return Vec::new();
    };
    let mut schema = &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    let parts: Vec<&str> = parts(path).collect();
    for part in parts.iter().take(parts.len().saturating_sub(1)) {
        schema = &schema["properties"][part];
        if schema["type"] == "array" {
            schema = &schema["items"];
        }
    }
    schema["properties"].as_object().map(|fields| fields.keys().cloned().collect()).unwrap_or_default()
}

/// The names of a path, without the places in lists.
pub(in crate::commands) fn parts(path: &str) -> impl Iterator<Item = &str> {
    path.split('.').map(|part| part.split('[').next().unwrap_or(part)).filter(|part| !part.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_knows_the_names_of_every_level() {
        assert!(siblings("DNSRecord", "spec.contnet").contains(&"content".to_owned()));
        assert!(siblings("DNSRecord", "spec.zoneRef.nam").contains(&"name".to_owned()));
        assert!(siblings("DNSRecord", "spce").contains(&"spec".to_owned()));
        assert!(siblings("Widget", "spec.a").is_empty());
        assert_eq!(parts("spec.list[3].port").collect::<Vec<_>>(), ["spec", "list", "port"]);
    }
}
