//! The comment on records, from a template in Go's syntax with three variables. A template that Go would not take, or
//! that names something else, means no comments at all, as it did for the old controller.

use std::fmt;

/// What a comment can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Variable {
    TunnelName,
    TunnelId,
    Hostname,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Variable(Variable),
}

/// A template that can be rendered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template(Vec<Piece>);

/// Why records get no comment although a template is given.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadTemplate {
    /// An action without an end.
    #[error("the template for comments has \"{{{{\" without \"}}}}\"; records get no comment")]
    Open,
    /// An action that is not one of the variables.
    #[error(
        "the template for comments has {{{{{0}}}}}, which is none of {{{{.TunnelName}}}}, {{{{.TunnelId}}}} and \
         {{{{.Hostname}}}}; records get no comment"
    )]
    Action(String),
}

/// What the variables stand for.
#[derive(Clone, Copy, Debug)]
pub struct Variables<'a> {
    /// The tunnel's name.
    pub tunnel_name: &'a str,
    /// The tunnel's ID.
    pub tunnel_id: &'a str,
    /// The name of the record, be it the CNAME or its mark.
    pub hostname: &'a str,
}

impl Template {
    /// Reads a template; an empty one means that there are no comments.
    pub fn read(text: &str) -> Result<Option<Self>, BadTemplate> {
        let mut pieces = Vec::new();
        let mut rest = text;
        let mut trims = false;
        while let Some((before, after)) = rest.split_once("{{") {
            let (action, following) = after.split_once("}}").ok_or(BadTemplate::Open)?;
            let (action, trims_left) = match action.strip_prefix("- ") {
                Some(action) => (action, true),
                None => (action, false),
            };
            let (action, trims_right) = match action.strip_suffix(" -") {
                Some(action) => (action, true),
                None => (action, false),
            };
            pieces.push(Piece::Text(trimmed(before, trims, trims_left)));
            pieces.extend(piece(action.trim_ascii())?);
            (rest, trims) = (following, trims_right);
        }
        pieces.push(Piece::Text(trimmed(rest, trims, false)));
        Ok((!text.is_empty()).then_some(Self(pieces)))
    }

    /// The comment, shortened to what a zone takes.
    #[must_use]
    pub fn render(&self, variables: Variables<'_>, characters_max: usize) -> String {
        let text: String = self.0.iter().map(|piece| piece.text(variables)).collect();
        match text.char_indices().nth(characters_max) {
            None => text,
            Some(_) => text.chars().take(characters_max.saturating_sub(1)).chain(['…']).collect(),
        }
    }
}

impl Piece {
    fn text<'a>(&'a self, variables: Variables<'a>) -> &'a str {
        match self {
            Self::Text(text) => text,
            Self::Variable(Variable::TunnelName) => variables.tunnel_name,
            Self::Variable(Variable::TunnelId) => variables.tunnel_id,
            Self::Variable(Variable::Hostname) => variables.hostname,
        }
    }
}

fn piece(action: &str) -> Result<Option<Piece>, BadTemplate> {
    let quoted = |quote: char| {
        let inner = action.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote))?;
        (!inner.contains([quote, '\\'])).then(|| Piece::Text(inner.to_owned()))
    };
    match action {
        ".TunnelName" => Ok(Some(Piece::Variable(Variable::TunnelName))),
        ".TunnelId" => Ok(Some(Piece::Variable(Variable::TunnelId))),
        ".Hostname" => Ok(Some(Piece::Variable(Variable::Hostname))),
        _ if action.starts_with("/*") && action.ends_with("*/") && action.len() >= 4 => Ok(None),
        _ => quoted('"')
            .or_else(|| quoted('`'))
            .map(Some)
            .ok_or_else(|| BadTemplate::Action(action.to_owned())),
    }
}

fn trimmed(text: &str, left: bool, right: bool) -> String {
    let text = if left { text.trim_ascii_start() } else { text };
    (if right { text.trim_ascii_end() } else { text }).to_owned()
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let variables = Variables {
            tunnel_name: "{{.TunnelName}}",
            tunnel_id: "{{.TunnelId}}",
            hostname: "{{.Hostname}}",
        };
        f.write_str(&self.render(variables, usize::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VARIABLES: Variables<'_> = Variables { tunnel_name: "edge", tunnel_id: "id", hostname: "a.b" };

    fn render(text: &str, max: usize) -> Result<Option<String>, BadTemplate> {
        Ok(Template::read(text)?.map(|template| template.render(VARIABLES, max)))
    }

    #[test]
    fn templates_are_read_as_go_reads_them() {
        for (text, expected) in [
            (
                kinds::names::ingress::COMMENT_TEMPLATE,
                "managed by cloudflare-tunnel-ingress-controller, tunnel [edge]",
            ),
            ("{{.TunnelName}}/{{ .TunnelId }}/{{.Hostname}}", "edge/id/a.b"),
            ("a {{- .TunnelName -}} b", "aedgeb"),
            ("a{{/* nothing */}}b {{\"{\"}}{{`}`}} }}", "ab {} }}"),
            (" ", " "),
        ] {
            assert_eq!(render(text, 100), Ok(Some(expected.to_owned())), "{text}");
        }
        assert_eq!(render("", 100), Ok(None));
    }

    #[test]
    fn a_template_that_go_refuses_means_no_comments() {
        assert_eq!(render("{{.TunnelName", 100), Err(BadTemplate::Open));
        for action in
            [".Nothing", "", ".tunnelname", "if .Hostname", "/*/", "TunnelName", ".TunnelName | len"]
        {
            assert_eq!(
                render(&format!("x {{{{{action}}}}}"), 100),
                Err(BadTemplate::Action(action.to_owned()))
            );
        }
    }

    #[test]
    fn b069_a_comment_that_is_too_long_is_shortened() {
        assert_eq!(render("äöü{{.TunnelName}}", 7), Ok(Some("äöüedge".to_owned())));
        assert_eq!(render("äöü{{.TunnelName}}", 6), Ok(Some("äöüed…".to_owned())));
        assert_eq!(render("äöü", 0), Ok(Some("…".to_owned())));
    }
}
