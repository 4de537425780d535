//! The closed list of reasons, read from the source of `kinds::Reason` as text: kindgen must work while `kinds` does
//! not compile, which is what a new table makes of it until the generator has run.

use crate::TableError;
use crate::project::Source;

/// Path of the list.
pub const PATH: &str = "crates/kinds/src/reason.rs";

/// One reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// As conditions show it.
    pub name: String,
    /// `None`, `Wait`, `Rejected` or `Fault`.
    pub retry: String,
    /// What it means.
    pub doc: String,
}

/// The entries between `reasons! {` and its closing brace: doc lines, then `Name => Retry,`.
pub(crate) fn parse(source: &Source) -> Result<Vec<Reason>, TableError> {
    let mut reasons = Vec::new();
    let mut doc = String::new();
    let lines = source.text.lines().enumerate().skip_while(|(_, line)| *line != "reasons! {").skip(1);
    for (number, line) in lines.take_while(|(_, line)| *line != "}") {
        if let Some(text) = line.trim().strip_prefix("///") {
            doc.push_str(text);
        } else if let Some((name, retry)) =
            line.trim().strip_suffix(',').and_then(|entry| entry.split_once(" => "))
        {
            let doc = std::mem::take(&mut doc).trim().to_owned();
            reasons.push(Reason { name: name.to_owned(), retry: retry.to_owned(), doc });
        } else {
            let problem = format!("`{}` is no entry; write a doc line, then `Name => Retry,`", line.trim());
            return Err(TableError::Format { file: source.path.clone(), line: number + 1, problem });
        }
    }
    if reasons.is_empty() {
        let problem = "no `reasons! {` with entries; the reasons that tables may name stand there".to_owned();
        return Err(TableError::Format { file: source.path.clone(), line: 1, problem });
    }
    Ok(reasons)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Source {
        Source { path: PATH.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn entries_have_a_name_a_retry_and_a_doc() {
        let reasons =
            parse(&source("x\nreasons! {\n    /// All is\n    /// well.\n    Fine => None,\n}\ny => z,\n"));
        let fine = Reason { name: "Fine".into(), retry: "None".into(), doc: "All is well.".into() };
        assert_eq!(reasons, Ok(vec![fine]));
    }

    #[test]
    fn another_form_is_refused_with_its_line() {
        let error = parse(&source("reasons! {\n    Fine\n}\n")).expect_err("no entry");
        assert!(error.to_string().starts_with("crates/kinds/src/reason.rs:2: `Fine`"), "{error}");
    }
}
