//! Paths of Ingresses and the expressions that connectors match them by. A connector searches its expression anywhere
//! in the path, so what we send is anchored and escaped; only `/` stays as it is, which every path has (contract I1).

use std::fmt;

/// Whether an expression is one that connectors take; the text says what is wrong with it.
pub type Compiles<'a> = &'a dyn Fn(&str) -> Result<(), String>;

/// What a path means, in the order in which equal paths are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PathKind {
    /// This very path, in this very case.
    Exact,
    /// The path and what lies below it, by whole elements.
    Prefix,
    /// A connector's own expression.
    ImplementationSpecific,
}

impl PathKind {
    /// As manifests spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exact => "Exact",
            Self::Prefix => "Prefix",
            Self::ImplementationSpecific => "ImplementationSpecific",
        }
    }
}

/// A path of an Ingress. The text of a prefix has no slash at its end, since that one does not count.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path {
    /// What it means.
    pub kind: PathKind,
    /// The path or the expression.
    pub text: String,
}

/// What is worth saying of a path that is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PathNote {
    /// `/*` under Prefix, which many manifests carry, means every path.
    ReadAsRoot,
    /// A star at the end of another prefix is a character like any other, and perhaps meant otherwise.
    StarIsLiteral,
}

/// Why a path gets no rule at all.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum PathRefusal {
    /// A type that Ingresses do not have, or none.
    #[error("its pathType is {0:?}; use Exact, Prefix or ImplementationSpecific")]
    Type(String),
    /// No absolute path.
    #[error("it must begin with one slash and hold no empty element")]
    Shape,
    /// An expression that connectors do not take: one of them, and they would refuse all rules of the tunnel.
    #[error("connectors cannot read it as a regular expression: {0}")]
    Expression(String),
}

/// Expressions that every path matches.
const MATCH_ALL: &[&str] = &["", "/", "/*", "/.*", ".*", "^", "^/", "^/.*", "^.*"];
/// What has a meaning of its own in an expression.
const SPECIAL: &str = r"\.+*?()|[]{}^$";

impl Path {
    /// Reads a path as an Ingress has it.
    pub fn read(
        kind: &str,
        text: &str,
        compiles: Compiles<'_>,
    ) -> Result<(Self, Option<PathNote>), PathRefusal> {
        let (path, note) = match kind {
            "Exact" => (Self::new(PathKind::Exact, text), None),
            "Prefix" if text == "/*" => (Self::new(PathKind::Prefix, "/"), Some(PathNote::ReadAsRoot)),
            "Prefix" => {
                (Self::new(PathKind::Prefix, text), text.ends_with('*').then_some(PathNote::StarIsLiteral))
            }
            "ImplementationSpecific" => (Self::new(PathKind::ImplementationSpecific, text), None),
            other => return Err(PathRefusal::Type(other.to_owned())),
        };
        let is_own = path.kind == PathKind::ImplementationSpecific;
        if !is_own && (!text.starts_with('/') || text.contains("//")) {
            return Err(PathRefusal::Shape);
        }
        if let Some(expression) = path.expression() {
            compiles(&expression).map_err(PathRefusal::Expression)?;
        }
        Ok((path, note))
    }

    /// A path of this kind; the slash at the end of a prefix is dropped.
    #[must_use]
    pub fn new(kind: PathKind, text: &str) -> Self {
        let text = match text.strip_suffix('/') {
            Some(shorter) if kind == PathKind::Prefix && !shorter.is_empty() => shorter,
            _ => text,
        };
        Self { kind, text: text.to_owned() }
    }

    /// What a rule carries as its path; nothing matches every path.
    #[must_use]
    pub fn expression(&self) -> Option<String> {
        let text = self.text.as_str();
        match self.kind {
            PathKind::ImplementationSpecific if text.is_empty() => None,
            PathKind::ImplementationSpecific => Some(text.to_owned()),
            PathKind::Prefix if text == "/" => Some("/".to_owned()),
            PathKind::Prefix => Some(format!("^{}(/|$)", escaped(text))),
            PathKind::Exact => Some(format!("^{}$", escaped(text))),
        }
    }

    /// The path that this expression was made of, so that a rule whose Ingress nobody can ask keeps its place in the
    /// order. What we did not make is an expression of its own, as the old controller's paths were.
    #[must_use]
    pub fn of_expression(expression: Option<&str>) -> Self {
        let Some(expression) = expression else { return Self::new(PathKind::ImplementationSpecific, "") };
        if expression == "/" {
            return Self::new(PathKind::Prefix, "/");
        }
        let literal = expression.strip_prefix('^');
        if let Some(text) = literal.and_then(|text| text.strip_suffix("(/|$)")).and_then(plain) {
            return Self::new(PathKind::Prefix, &text);
        }
        if let Some(text) = literal.and_then(|text| text.strip_suffix('$')).and_then(plain) {
            return Self::new(PathKind::Exact, &text);
        }
        Self::new(PathKind::ImplementationSpecific, expression)
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind.name(), self.text)
    }
}

/// Whether every path matches this expression. It may say no of an unusual one.
pub(super) fn matches_all(expression: Option<&str>) -> bool {
    expression.is_none_or(|expression| MATCH_ALL.contains(&expression))
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if SPECIAL.contains(c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// The text that was escaped to this, or nothing if it is more than a text.
fn plain(expression: &str) -> Option<String> {
    let mut plain = String::with_capacity(expression.len());
    let mut characters = expression.chars();
    while let Some(c) = characters.next() {
        match c {
            '\\' => plain.push(characters.next().filter(|c| SPECIAL.contains(*c))?),
            c if SPECIAL.contains(c) => return None,
            c => plain.push(c),
        }
    }
    Some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(kind: &str, text: &str) -> Result<Option<String>, PathRefusal> {
        Path::read(kind, text, &|_| Ok(())).map(|(path, _)| path.expression())
    }

    #[test]
    fn b003_b004_b006_paths_are_anchored_and_escaped() {
        for (kind, text, expression) in [
            ("Prefix", "/", "/"),
            ("Prefix", "/*", "/"),
            ("Prefix", "/foo", "^/foo(/|$)"),
            ("Prefix", "/foo/", "^/foo(/|$)"),
            ("Prefix", "/files[v1", r"^/files\[v1(/|$)"),
            ("Prefix", "/v1.0", r"^/v1\.0(/|$)"),
            ("Prefix", "/a+b", r"^/a\+b(/|$)"),
            ("Prefix", "/foo/*", r"^/foo/\*(/|$)"),
            ("Exact", "/", "^/$"),
            ("Exact", "/bar/", "^/bar/$"),
            ("Exact", "/install.sh", r"^/install\.sh$"),
            ("Exact", "/*", r"^/\*$"),
            ("ImplementationSpecific", "/v[0-9]+/.*", "/v[0-9]+/.*"),
            ("ImplementationSpecific", "/*", "/*"),
        ] {
            assert_eq!(read(kind, text), Ok(Some(expression.to_owned())), "{kind} {text}");
        }
        assert_eq!(read("ImplementationSpecific", ""), Ok(None));
    }

    #[test]
    fn b004_what_is_no_path_gets_no_rule() {
        for (kind, text, refusal) in [
            ("Prefix", "", PathRefusal::Shape),
            ("Prefix", "foo", PathRefusal::Shape),
            ("Exact", "/a//b", PathRefusal::Shape),
            ("", "/", PathRefusal::Type(String::new())),
            ("prefix", "/", PathRefusal::Type("prefix".to_owned())),
        ] {
            assert_eq!(read(kind, text), Err(refusal), "{kind} {text}");
        }
        let broken = Path::read("ImplementationSpecific", "/(unclosed", &|_| Err("missing )".to_owned()));
        assert_eq!(broken, Err(PathRefusal::Expression("missing )".to_owned())));
    }

    #[test]
    fn an_expression_leads_back_to_its_path() {
        for path in [
            Path::new(PathKind::Prefix, "/"),
            Path::new(PathKind::Prefix, "/a.b/c+"),
            Path::new(PathKind::Exact, "/"),
            Path::new(PathKind::Exact, "/a$(/|$)"),
            Path::new(PathKind::ImplementationSpecific, ""),
            Path::new(PathKind::ImplementationSpecific, "/api"),
            Path::new(PathKind::ImplementationSpecific, "^/a|b$"),
        ] {
            assert_eq!(Path::of_expression(path.expression().as_deref()), path);
        }
    }
}
