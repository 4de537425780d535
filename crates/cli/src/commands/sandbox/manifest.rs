//! Manifests: files and directories to Kubernetes objects that know where they stand.
//! Reads only; what applying them means is the API server's.

use std::fmt;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use super::{json, yaml};
use crate::file_text;
use crate::terminal;

/// Extensions that `kubectl apply -f DIRECTORY` takes.
const EXTENSIONS: &[&str] = &["yaml", "yml", "json"];

/// How kubectl and others call standard input.
const STANDARD_INPUT: &str = "-";

/// Largest file: many times the 10,000 objects that one sandbox is measured with, and it must fit in memory.
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Characters of a kind, a namespace or a name that a message shows: the longest that Kubernetes takes.
const WORD_SHOWN: usize = 253;

/// The samples, which are applied when no file is named; parents before children.
pub(in crate::commands) const SAMPLES: &[(&str, &str)] = &[
    ("cloudflare_account.yaml", include_str!("../../../../../deploy/samples/cloudflare_account.yaml")),
    ("zone.yaml", include_str!("../../../../../deploy/samples/zone.yaml")),
    ("dns_record.yaml", include_str!("../../../../../deploy/samples/dns_record.yaml")),
];

/// Where an object stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::commands) struct Place {
    /// The file as it was named.
    pub(in crate::commands) file: String,
    /// The document in it, from 1.
    pub(in crate::commands) document: usize,
    /// The line of the object's first word, from 1.
    pub(in crate::commands) line: usize,
}

impl Place {
    /// `FILE:LINE`.
    pub(in crate::commands) fn short(&self) -> String {
        format!("{}:{}", terminal::escaped(&self.file), self.line)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = terminal::escaped(&self.file);
        write!(f, "{file}: document {} (line {})", self.document, self.line)
    }
}

/// One object to apply.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::commands) struct Manifest {
    pub(in crate::commands) place: Place,
    pub(in crate::commands) object: Value,
    /// Its lines as they were written, from that of its place on.
    pub(in crate::commands) text: Arc<str>,
}

impl Manifest {
    /// `Kind namespace/name`, for messages.
    pub(in crate::commands) fn title(&self) -> String {
        let word = |pointer: &str| {
            let word = self.object.pointer(pointer).and_then(Value::as_str);
            word.map(|word| terminal::cut(word, WORD_SHOWN))
        };
        let kind = word("/kind").unwrap_or_default();
        let name = word("/metadata/name").unwrap_or_default();
        let title = match word("/metadata/namespace") {
            Some(namespace) => format!("{kind} {namespace}/{name}"),
            None => format!("{kind} {name}"),
        };
        terminal::escaped(&title)
    }

    /// The place of a field, as far as its names can be followed through the text; else that of the document.
    pub(in crate::commands) fn place_of<'n>(&self, fields: impl Iterator<Item = &'n str>) -> Place {
        let lines: Vec<&str> = self.text.lines().collect();
        let first = lines.iter().position(|line| is_content(line)).unwrap_or(0);
        let mut at = first;
        for field in fields {
            match lines.iter().skip(at).position(|line| has_key(line, field)) {
                Some(further) => at += further,
                None => break,
            }
        }
        Place { line: self.place.line + at - first, ..self.place.clone() }
    }
}

/// Why manifests cannot be read.
#[derive(Debug, thiserror::Error)]
pub(in crate::commands) enum ManifestError {
    #[error("cannot read {}: {}", shown(path), unread(error))]
    Read { path: PathBuf, error: std::io::Error },
    #[error("URLs are not read: pipe it, as in `curl -fsSL {} | kflare plan -f -`", shown(.0))]
    Url(PathBuf),
    #[error("no objects in {}; name files that hold some, and see whether what writes them has failed", .0.iter().map(|path| shown(path)).collect::<Vec<_>>().join(", "))]
    NoObjects(Vec<PathBuf>),
    #[error("{} is larger than 64 MiB: split it", shown(.0))]
    TooLarge(PathBuf),
    #[error("{} holds no .yaml, .yml or .json file", shown(.0))]
    NoFiles(PathBuf),
    #[error("{0}: {1}")]
    Syntax(Place, String),
    #[error("{0}: {1} is missing: an object needs apiVersion, kind and metadata.name")]
    Field(Place, &'static str),
    #[error("{0}: not an object: every document is a Kubernetes object with apiVersion and kind")]
    NotAnObject(Place),
}

/// Why a file cannot be read and what to do, without the system's number for it.
fn unread(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => {
            "it does not exist: name a file, a directory or - for standard input".to_owned()
        }
        ErrorKind::PermissionDenied => "permission denied: run this as a user who may read it".to_owned(),
        ErrorKind::InvalidData => "it is not text in UTF-8: save it so".to_owned(),
        _ => {
            let text = error.to_string();
            text.split(" (os error").next().unwrap_or(&text).to_owned()
        }
    }
}

/// A path on one line: a name may hold anything.
fn shown(path: &Path) -> String {
    terminal::escaped(&path.display().to_string())
}

/// The samples.
pub(in crate::commands) fn samples() -> Result<Vec<Manifest>, ManifestError> {
    let mut manifests = Vec::new();
    for (name, text) in SAMPLES {
        manifests.extend(parse(name, text)?);
    }
    Ok(manifests)
}

/// The objects of these files, and of the files of these directories by name, in order.
pub(in crate::commands) fn read(paths: &[PathBuf]) -> Result<Vec<Manifest>, ManifestError> {
    let mut manifests = Vec::new();
    for path in paths {
        if path.as_os_str() == STANDARD_INPUT {
            manifests.extend(parse("standard input", &standard_input()?)?);
            continue;
        }
        if is_url(path) {
            return Err(ManifestError::Url(path.clone()));
        }
        for file in files(path)? {
            manifests.extend(parse(&file.display().to_string(), &text(&file)?)?);
        }
    }
    // As in kubectl: what produced the input has probably failed.
    if manifests.is_empty() && !paths.is_empty() {
        return Err(ManifestError::NoObjects(paths.to_owned()));
    }
    Ok(manifests)
}

fn is_url(path: &Path) -> bool {
    path.to_str().is_some_and(|path| path.starts_with("https://") || path.starts_with("http://"))
}

fn standard_input() -> Result<String, ManifestError> {
    let path = || PathBuf::from(STANDARD_INPUT);
    let mut text = String::new();
    let read = std::io::stdin().lock().take(FILE_BYTES_MAX + 1).read_to_string(&mut text);
    let bytes = read.map_err(|error| ManifestError::Read { path: path(), error })?;
    if u64::try_from(bytes).is_ok_and(|bytes| bytes > FILE_BYTES_MAX) {
        return Err(ManifestError::TooLarge(path()));
    }
    Ok(text)
}

fn files(path: &Path) -> Result<Vec<PathBuf>, ManifestError> {
    let failed = |error| ManifestError::Read { path: path.to_owned(), error };
    if !std::fs::metadata(path).map_err(failed)?.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    for entry in std::fs::read_dir(path).map_err(failed)? {
        let file = entry.map_err(failed)?.path();
        let fits = file
            .extension()
            .and_then(|extension| extension.to_str())
            .is_some_and(|e| EXTENSIONS.contains(&e));
        if fits && file.is_file() {
            files.push(file);
        }
    }
    if files.is_empty() {
        return Err(ManifestError::NoFiles(path.to_owned()));
    }
    files.sort();
    Ok(files)
}

fn text(file: &Path) -> Result<String, ManifestError> {
    file_text::read(file, FILE_BYTES_MAX).map_err(|error| match error.kind() {
        ErrorKind::FileTooLarge => ManifestError::TooLarge(file.to_owned()),
        _ => ManifestError::Read { path: file.to_owned(), error },
    })
}

/// The objects of one file's text; a `List` is its items.
pub(in crate::commands) fn parse(file: &str, text: &str) -> Result<Vec<Manifest>, ManifestError> {
    let mut manifests = Vec::new();
    let mut number = 0;
    for (line, text) in documents(text) {
        let first = text.lines().position(is_content).unwrap_or(0);
        let place = Place { file: file.to_owned(), document: number + 1, line: line + first };
        let Some(parts) = json_parts(file, &text).map_err(|fault| syntax(&place, line, fault))? else {
            number += 1;
            let value = yaml::parse(&text).map_err(|fault| syntax(&place, line, fault))?;
            if !value.is_null() {
                add(&mut manifests, place, value, &text.into())?;
            }
            continue;
        };
        for part in parts {
            number += 1;
            let line = line + part.line - 1;
            let place = Place { document: number, line, ..place.clone() };
            let value = json::parse(part.text).map_err(|fault| syntax(&place, line, fault))?;
            add(&mut manifests, place, value, &part.text.into())?;
        }
    }
    Ok(manifests)
}

/// The JSON values of a document, if that is what it holds, as programs print them: one after another. A mapping of
/// YAML may begin like one of JSON, and kubectl takes YAML in files of any name, so what is no JSON may still be YAML.
fn json_parts<'t>(file: &str, text: &'t str) -> Result<Option<Vec<json::Part<'t>>>, yaml::Fault> {
    let is_named_so = Path::new(file).extension().is_some_and(|extension| extension == "json");
    if !is_named_so && !text.trim_start().starts_with('{') {
        return Ok(None);
    }
    match json::split(text) {
        Ok(parts) => Ok(Some(parts)),
        Err(broken) if broken.values > 0 => Err(broken.fault),
        Err(broken) if is_named_so && yaml::parse(text).is_err() => Err(broken.fault),
        Err(_) => Ok(None),
    }
}

/// A fault knows a line of its document; ours is a line of the file.
fn syntax(place: &Place, first_line: usize, fault: yaml::Fault) -> ManifestError {
    let line = fault.line.map_or(place.line, |line| first_line + line.saturating_sub(1));
    ManifestError::Syntax(Place { line, ..place.clone() }, fault.said)
}

fn add(
    manifests: &mut Vec<Manifest>,
    place: Place,
    value: Value,
    text: &Arc<str>,
) -> Result<(), ManifestError> {
    if !value.is_object() {
        return Err(ManifestError::NotAnObject(place));
    }
    let has =
        |pointer: &str| value.pointer(pointer).and_then(Value::as_str).is_some_and(|word| !word.is_empty());
    for (pointer, field) in [("/apiVersion", "apiVersion"), ("/kind", "kind")] {
        if !has(pointer) {
            return Err(ManifestError::Field(place, field));
        }
    }
    if let Some(items) = value.get("items").and_then(Value::as_array).filter(|_| value["kind"] == "List") {
        let parts = items_of(&place, items.len(), text);
        return items
            .iter()
            .zip(parts)
            .try_for_each(|(item, (place, text))| add(manifests, place, item.clone(), &text));
    }
    if !has("/metadata/name") {
        return Err(ManifestError::Field(place, "metadata.name"));
    }
    manifests.push(Manifest { place, object: value, text: Arc::clone(text) });
    Ok(())
}

/// Where each item of a list stands, with its lines; where that cannot be told, the place of the list.
fn items_of(list: &Place, count: usize, text: &str) -> Vec<(Place, Arc<str>)> {
    let Some(found) = yaml::lines_of_items(text).filter(|found| found.len() == count) else {
        return vec![(list.clone(), "".into()); count];
    };
    let lines: Vec<&str> = text.lines().collect();
    let first = lines.iter().position(|line| is_content(line)).unwrap_or(0);
    let ends = found.iter().skip(1).map(|next| next - 1).chain([lines.len()]);
    let item = |(begin, end): (&usize, usize)| {
        let own = lines.get(begin - 1..end.max(*begin)).unwrap_or_default();
        (Place { line: list.line + begin - 1 - first, ..list.clone() }, own.join("\n").into())
    };
    found.iter().zip(ends).map(item).collect()
}

/// Whether a line of YAML or JSON has this key.
fn has_key(line: &str, key: &str) -> bool {
    let within = |c: char| c.is_alphanumeric() || "-_./".contains(c);
    line.match_indices(key).any(|(at, _)| {
        let (before, after) = line.split_at(at);
        let after = after.strip_prefix(key).unwrap_or_default();
        let after = after.strip_prefix(['"', '\'']).unwrap_or(after);
        !before.ends_with(within) && after.trim_start().starts_with(':')
    })
}

/// The documents of a text with the line that each begins in, as kubectl parts them: at lines that begin with `---`.
fn documents(text: &str) -> Vec<(usize, String)> {
    let mut documents = vec![(1, String::new())];
    for (index, line) in text.lines().enumerate() {
        if line == "---" || line.starts_with("--- ") || line.starts_with("---\t") {
            let rest = line.trim_start_matches("---").trim_start();
            documents.push((index + 1, format!("{rest}\n")));
        } else if let Some((_, document)) = documents.last_mut() {
            document.push_str(line);
            document.push('\n');
        }
    }
    documents.retain(|(_, document)| document.lines().any(is_content));
    documents
}

fn is_content(line: &str) -> bool {
    let line = line.trim();
    !line.is_empty() && !line.starts_with('#')
}

#[cfg(test)]
mod tests;
