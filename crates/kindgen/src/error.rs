//! What can be wrong with a table. Each variant names the file, the place and the fix.

use thiserror::Error;

/// A table that cannot be used.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum TableError {
    /// Not TOML, or not the format.
    #[error("{file}:{line}: {problem}")]
    Format {
        /// The table's path.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What the parser says: the unknown or missing field, and the known ones.
        problem: String,
    },
    /// The file of the manager is missing.
    #[error("{file} is missing: it says the API group and what the manager may do")]
    NoManager {
        /// The path where it is looked for.
        file: String,
    },
    /// The list of reasons is missing.
    #[error("{file} is missing: it lists the reasons that tables may name")]
    NoReasons {
        /// The path where it is looked for.
        file: String,
    },
    /// A reason that the closed list does not have.
    #[error("{file}: {place}: there is no reason {reason}; add it to {list}, or write one that is there")]
    UnknownReason {
        /// The table's path.
        file: String,
        /// Where it is named.
        place: String,
        /// The name.
        reason: String,
        /// The file with the list.
        list: &'static str,
    },
    /// A reference to a kind without a table.
    #[error(
        "{file}: references.{field}: no table describes the kind {kind}; write one of {known}, or add its table"
    )]
    UnknownKind {
        /// The table's path.
        file: String,
        /// The reference.
        field: String,
        /// The kind it names.
        kind: String,
        /// The kinds that have tables.
        known: String,
    },
    /// Kinds that are each other's parents.
    #[error("{file}: references: {kind} is among its own parents; mend the `kind` of a parent reference")]
    ParentCycle {
        /// The table's path.
        file: String,
        /// The kind.
        kind: String,
    },
    /// A place names a field that the table does not have.
    #[error("{file}: {place}: there is no field {field}; add it to the table or correct the name")]
    NoSuchField {
        /// The table's path.
        file: String,
        /// Where it is named.
        place: String,
        /// The name.
        field: String,
    },
    /// Something that the place needs is not there.
    #[error("{file}: {place}: `{missing}` is missing; {fix}")]
    Missing {
        /// The table's path.
        file: String,
        /// Where.
        place: String,
        /// What.
        missing: &'static str,
        /// What to write.
        fix: &'static str,
    },
    /// Something that has no meaning at this place.
    #[error("{file}: {place}: `{extra}` has no meaning here; {fix}")]
    Misplaced {
        /// The table's path.
        file: String,
        /// Where.
        place: String,
        /// What.
        extra: &'static str,
        /// What to do instead.
        fix: &'static str,
    },
    /// A value that does not fit its field.
    #[error("{file}: {place}: {problem}")]
    BadValue {
        /// The table's path.
        file: String,
        /// Where.
        place: String,
        /// What is wrong and what to write.
        problem: String,
    },
    /// A name that must be unique and is not.
    #[error("{file}: {what} {value} is taken by {other}; choose another")]
    Duplicate {
        /// The table's path.
        file: String,
        /// What kind of name.
        what: &'static str,
        /// The name.
        value: String,
        /// Who has it.
        other: String,
    },
}
