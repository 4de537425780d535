//! Which field a user may have meant: the known names of a schema, and how near a word is to each.
//! Looks at words only; whether a field fits is the API server's to say.

use serde_json::Value;

/// Letters that may be wrong in a word for another to count as what was meant: a slip or two, not another word.
const SLIPS_MAX: usize = 2;

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

/// The nearest of some names, if it is near enough to have been meant.
pub(in crate::commands) fn nearest<'n>(
    word: &str,
    names: impl IntoIterator<Item = &'n str>,
) -> Option<&'n str> {
    let slips = |name: &&str| slips(&word.to_lowercase(), &name.to_lowercase());
    let nearest = names.into_iter().min_by_key(slips)?;
    (slips(&nearest) <= SLIPS_MAX.min(word.len() / 2)).then_some(nearest)
}

/// Insertions, deletions, replacements and swaps of neighbours that make one word of another.
fn slips(from: &str, to: &str) -> usize {
    let (from, to): (Vec<char>, Vec<char>) = (from.chars().collect(), to.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=to.len()).collect()];
    for (i, a) in from.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in to.iter().enumerate() {
            let replaced = rows[i][j] + usize::from(a != b);
            let mut least = replaced.min(rows[i][j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && from[i - 1] == *b && to[j - 1] == *a {
                least = least.min(rows[i - 1][j - 1] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows.last().and_then(|row| row.last()).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_seen_and_another_word_is_not() {
        let names = ["content", "comment", "ttl", "zoneRef"];
        assert_eq!(nearest("contnet", names), Some("content"));
        assert_eq!(nearest("tll", names), Some("ttl"));
        assert_eq!(nearest("zoneref", names), Some("zoneRef"));
        assert_eq!(nearest("weight", names), None);
        assert_eq!(nearest("x", names), None);
    }

    #[test]
    fn the_schema_knows_the_names_of_every_level() {
        assert!(siblings("DNSRecord", "spec.contnet").contains(&"content".to_owned()));
        assert!(siblings("DNSRecord", "spec.zoneRef.nam").contains(&"name".to_owned()));
        assert!(siblings("DNSRecord", "spce").contains(&"spec".to_owned()));
        assert!(siblings("Widget", "spec.a").is_empty());
        assert_eq!(parts("spec.list[3].port").collect::<Vec<_>>(), ["spec", "list", "port"]);
    }
}
