//! Tables of documents that say which tests hold what: the rows, the tests that they cite, and whether these exist.
//! Which numbers a table must have, and whether the cited tests hold what the row says, is for its own test and for
//! reviewers.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Begins the part of a row's last cell that says why no test holds it, or a part of it.
pub(crate) const NOT_HELD: &str = "Not held:";
/// A reason shorter than this is no reason.
const REASON_LETTERS_MIN: usize = 12;

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every Rust file below `folder`, with its path from the root.
pub(crate) fn sources(folder: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open = vec![root().join(folder)];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(&next).unwrap_or_else(|error| panic!("{}: {error}", next.display())) {
            let path = entry.expect("an entry of a folder").path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                let text = fs::read_to_string(&path).unwrap_or_default();
                let name = path.strip_prefix(root()).unwrap_or(&path).to_string_lossy().into_owned();
                found.push((name, text));
            }
        }
    }
    found.sort();
    found
}

/// The words in backticks of a line.
fn quoted(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

/// The scenarios and functions that a text names: `zone/create.txt`, `v12_the_same_seed_...`. Other words in
/// backticks are fields, paths and options.
pub(crate) fn cited(text: &str) -> Vec<&str> {
    let is_function = |word: &str| word.contains('_') && !word.contains([':', '.', '/', '(', ' ']);
    quoted(text).filter(|word| word.ends_with(".txt") || is_function(word)).collect()
}

/// A row of a table: its cells. The first is its number or title, the last says what holds it.
#[derive(Debug)]
pub(crate) struct Row(Vec<String>);

impl Row {
    pub(crate) fn number(&self) -> &str {
        self.0.first().map_or("", String::as_str)
    }

    pub(crate) fn held_by(&self) -> &str {
        let last = self.0.last().map_or("", String::as_str);
        last.split(NOT_HELD).next().unwrap_or_default()
    }

    fn why_not_held(&self) -> Option<&str> {
        Some(self.0.last()?.split_once(NOT_HELD)?.1.trim())
    }
}

/// The rows of all tables of a document, without their headings.
pub(crate) fn rows(document: &str) -> Vec<Row> {
    let path = root().join(document);
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{document}: {error}"));
    let lines: Vec<&str> = text.lines().collect();
    let is_divider = |line: Option<&&str>| line.is_some_and(|line| line.starts_with("| ---"));
    let is_row = |at: &usize| {
        lines[*at].starts_with("| ") && !is_divider(lines.get(*at)) && !is_divider(lines.get(at + 1))
    };
    let cells = |line: &str| line.trim_matches('|').split(" |").map(|cell| cell.trim().to_owned()).collect();
    (0..lines.len()).filter(is_row).map(|at| Row(cells(lines[at]))).collect()
}

/// What can be cited: every function of the workspace, and which of them are tests.
pub(crate) struct Known {
    functions: BTreeSet<String>,
    tests: BTreeSet<String>,
}

impl Known {
    pub(crate) fn of_the_workspace() -> Self {
        let mut known = Self { functions: BTreeSet::new(), tests: BTreeSet::new() };
        for (_, text) in sources("crates").into_iter().chain(sources("xtask")) {
            known.read(&text);
        }
        known
    }

    fn read(&mut self, text: &str) {
        // A function's attributes stand above it, after an empty line, a brace or another function's end.
        let mut is_test = false;
        for line in text.lines().map(str::trim) {
            if let Some(name) = defined(line) {
                self.functions.insert(name.to_owned());
                if is_test {
                    self.tests.insert(name.to_owned());
                }
            }
            is_test = line == "#[test]"
                || line.starts_with("#[tokio::test")
                || is_test && !line.is_empty() && defined(line).is_none();
        }
    }

    /// Whether this scenario, test or other function exists.
    pub(crate) fn has(&self, cited: &str) -> bool {
        self.functions.contains(cited) || is_scenario(cited)
    }

    /// Every test and every scenario.
    pub(crate) fn all_tests(&self) -> BTreeSet<String> {
        self.tests.iter().cloned().chain(scenarios()).collect()
    }

    fn has_test(&self, cited: &str) -> bool {
        self.tests.contains(cited) || is_scenario(cited)
    }

    /// What is wrong with a row that must name tests, or say why none holds it. With `by_number`, one test at least
    /// has the row's number at the beginning of its name.
    pub(crate) fn complaints(&self, row: &Row, by_number: bool) -> Vec<String> {
        let number = row.number();
        let named = cited(row.held_by());
        let missing = named.iter().filter(|name| !self.has_test(name));
        let mut complaints: Vec<_> = missing.map(|name| format!("{number}: no test `{name}`")).collect();
        let begins = format!("{}_", number.to_lowercase());
        let is_named = |name: &&str| name.rsplit('/').next().is_some_and(|name| name.starts_with(&begins));
        match row.why_not_held() {
            Some(why) if why.len() < REASON_LETTERS_MIN => {
                complaints.push(format!("{number}: `{NOT_HELD}` without a reason"));
            }
            Some(_) => {}
            None if named.is_empty() => complaints.push(format!("{number}: neither a test nor `{NOT_HELD}`")),
            None if by_number && !named.iter().any(is_named) => {
                complaints.push(format!("{number}: no test's name begins with {begins}"));
            }
            None => {}
        }
        complaints
    }
}

/// The function that a line defines.
fn defined(line: &str) -> Option<&str> {
    let (before, after) = line.split_once("fn ")?;
    let is_code = before
        .split(' ')
        .all(|word| ["", "pub", "pub(crate)", "pub(super)", "const", "async"].contains(&word));
    if is_code { after.split(['(', '<']).next() } else { None }
}

/// Every scenario, as documents name it: by its path below scenarios/.
fn scenarios() -> impl Iterator<Item = String> {
    crate::scenarios::all().into_iter().filter_map(|path| {
        let folder = path.parent()?.file_name()?.to_str()?.to_owned();
        Some(format!("{folder}/{}", path.file_name()?.to_str()?))
    })
}

fn is_scenario(cited: &str) -> bool {
    cited.ends_with(".txt") && root().join("scenarios").join(cited).exists()
}

#[test]
fn a_row_names_tests_that_exist_or_says_why_none_does() {
    let mut known = Known { functions: BTreeSet::new(), tests: BTreeSet::new() };
    known.read("fn x_helper() {}\n\n#[test]\n#[expect(a)]\nfn b037_a_test() {}\nfn y_helper() {}\n");
    let wrong = |cell: &str, by_number| {
        known.complaints(&Row(vec!["B037".to_owned(), "A case".to_owned(), cell.to_owned()]), by_number)
    };
    assert!(known.has("x_helper") && known.has("zone/create.txt") && !known.has("zone/none.txt"));
    assert_eq!(wrong("`b037_a_test`", true), [""; 0]);
    assert_eq!(wrong("`zone/create.txt`, beside `spec.ttl`", false), [""; 0]);
    assert_eq!(wrong("Not held: it concerns Ingress", true), [""; 0]);
    assert_eq!(wrong("`b037_a_test`. Not held: ", true).len(), 1);
    assert_eq!(wrong("`x_helper`", false), ["B037: no test `x_helper`"]);
    assert_eq!(wrong("`y_helper`", false), ["B037: no test `y_helper`"]);
    assert_eq!(wrong("`zone/create.txt`", true), ["B037: no test's name begins with b037_"]);
    assert_eq!(wrong("see elsewhere", false), ["B037: neither a test nor `Not held:`"]);
}
