//! Rust expressions and imports laid out as rustfmt does with the repository's `rustfmt.toml`, so that generated
//! files stay as they are under `cargo fmt`. Knows only the forms that rows are made of.

/// `max_width` of `rustfmt.toml`; with heuristics `Max`, whatever fits it stands on one line.
const WIDTH: usize = 110;

/// An expression.
pub(super) enum Code {
    Atom(String),
    Struct(&'static str, Vec<(&'static str, Code)>),
    Slice(Vec<Code>),
    Some(Box<Code>),
}

impl Code {
    pub(super) fn atom(text: impl Into<String>) -> Self {
        Self::Atom(text.into())
    }

    pub(super) fn text(text: &str) -> Self {
        Self::Atom(format!("{text:?}"))
    }

    pub(super) fn option(inner: Option<Self>) -> Self {
        inner.map_or_else(|| Self::atom("None"), |inner| Self::Some(Box::new(inner)))
    }

    /// The expression after `prefix`, which stands at `indent` spaces; a final `,` or `;` is counted in.
    pub(super) fn after(&self, prefix: &str, indent: usize) -> String {
        let flat = format!("{prefix}{}", self.flat());
        if indent + flat.len() < WIDTH { flat } else { format!("{prefix}{}", self.broken(indent)) }
    }

    fn flat(&self) -> String {
        match self {
            Self::Atom(text) => text.clone(),
            Self::Struct(name, fields) => {
                let fields: Vec<_> =
                    fields.iter().map(|(field, code)| format!("{field}: {}", code.flat())).collect();
                format!("{name} {{ {} }}", fields.join(", "))
            }
            Self::Slice(items) => {
                format!("&[{}]", items.iter().map(Self::flat).collect::<Vec<_>>().join(", "))
            }
            Self::Some(inner) => format!("Some({})", inner.flat()),
        }
    }

    fn broken(&self, indent: usize) -> String {
        let inner = " ".repeat(indent + 4);
        let close = " ".repeat(indent);
        match self {
            Self::Atom(text) => text.clone(),
            Self::Struct(name, fields) => {
                let line = |(field, code): &(&str, Self)| {
                    format!("{inner}{},\n", code.after(&format!("{field}: "), indent + 4))
                };
                format!("{name} {{\n{}{close}}}", fields.iter().map(line).collect::<String>())
            }
            // A single item shares its brackets' lines.
            Self::Slice(items) if matches!(items.as_slice(), [Self::Struct(..)]) => {
                format!("&[{}]", items.iter().map(|item| item.broken(indent)).collect::<String>())
            }
            Self::Slice(items) => {
                let line = |item: &Self| format!("{inner}{},\n", item.after("", indent + 4));
                format!("&[\n{}{close}]", items.iter().map(line).collect::<String>())
            }
            Self::Some(code) => format!("Some({})", code.broken(indent)),
        }
    }
}

/// `use a::{B, C};` with names in the order of rustfmt, wrapped where it does not fit.
pub(super) fn import(prefix: &str, names: &[String]) -> String {
    let mut names = names.to_vec();
    names.sort_unstable();
    names.dedup();
    if let [name] = names.as_slice() {
        return format!("{prefix}{name};\n");
    }
    let flat = format!("{prefix}{{{}}};\n", names.join(", "));
    if flat.len() <= WIDTH + 1 {
        return flat;
    }
    let indent = prefix.len() - prefix.trim_start().len();
    let inner = " ".repeat(indent + 4);
    let mut text = format!("{prefix}{{\n");
    let mut line = inner.clone();
    for name in &names {
        // rustfmt leaves a column of a wrapped list unused.
        if line.len() + name.len() + 1 >= WIDTH {
            text.push_str(line.trim_end());
            text.push('\n');
            line.clone_from(&inner);
        }
        line.push_str(name);
        line.push_str(", ");
    }
    text.push_str(line.trim_end());
    text.push_str(&format!("\n{}}};\n", " ".repeat(indent)));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_stands_on_one_line_and_the_rest_is_broken_from_outside_in() {
        let pair = || Code::Struct("Pair", vec![("left", Code::text("l")), ("right", Code::text("r"))]);
        assert_eq!(pair().after("x = ", 0), r#"x = Pair { left: "l", right: "r" }"#);
        let wide = Code::Slice(vec![pair(), pair(), pair(), pair()]);
        let expected = format!("x = &[\n{}]", "    Pair { left: \"l\", right: \"r\" },\n".repeat(4));
        assert_eq!(wide.after("x = ", 0), expected);
    }

    #[test]
    fn imports_are_sorted() {
        assert_eq!(import("use a::", &["C".to_owned(), "B".to_owned()]), "use a::{B, C};\n");
        assert_eq!(import("use a::", &["B".to_owned()]), "use a::B;\n");
    }

    #[test]
    fn a_wrapped_import_leaves_the_last_column_free() {
        let first_line = |second: usize| {
            let names = ["a".repeat(60), "b".repeat(second), "c".to_owned(), "d".repeat(30)];
            import("use x::", &names).lines().nth(1).map(str::len)
        };
        assert_eq!(first_line(39), Some(109), "as rustfmt leaves it");
        assert_eq!(first_line(40), Some(107), "as rustfmt breaks it");
    }
}
