//! Where in an object (or a schema) a complaint points. A path is a chain on the stack and becomes text
//! only when there is something to complain about.

use super::cause::NO_FIELD;

#[derive(Clone, Copy)]
enum Step<'a> {
    Root,
    Field(&'a str),
    Key(&'a str),
    Index(usize),
}

/// A place, as the chain of steps that leads there.
pub(super) struct Path<'a> {
    parent: Option<&'a Path<'a>>,
    step: Step<'a>,
}

impl<'a> Path<'a> {
    /// The whole object.
    pub(super) const ROOT: Path<'static> = Path { parent: None, step: Step::Root };

    /// A path whose first step is `name`.
    pub(super) fn start(name: &'a str) -> Self {
        Self { parent: None, step: Step::Field(name) }
    }

    /// The named field of an object.
    pub(super) fn field<'b>(&'b self, name: &'b str) -> Path<'b> {
        Path { parent: Some(self), step: Step::Field(name) }
    }

    /// The value of a map at a key.
    pub(super) fn key<'b>(&'b self, name: &'b str) -> Path<'b> {
        Path { parent: Some(self), step: Step::Key(name) }
    }

    /// The item of a list.
    pub(super) fn index(&self, index: usize) -> Path<'_> {
        Path { parent: Some(self), step: Step::Index(index) }
    }

    /// As `field.Path` prints it: `spec.map[key].list[0]`.
    pub(super) fn bracketed(&self) -> String {
        let text = self.text(true);
        if text.is_empty() { NO_FIELD.to_owned() } else { text }
    }

    /// As the OpenAPI validator prints it: `spec.map.key.list[0]`, and nothing at the root.
    pub(super) fn dotted(&self) -> String {
        self.text(false)
    }

    fn text(&self, keys_in_brackets: bool) -> String {
        let mut text = match self.parent {
            Some(parent) => parent.text(keys_in_brackets),
            None => String::new(),
        };
        match self.step {
            Step::Root => {}
            Step::Key(name) if keys_in_brackets => {
                text.push('[');
                text.push_str(name);
                text.push(']');
            }
            Step::Field(name) | Step::Key(name) => {
                if !text.is_empty() {
                    text.push('.');
                }
                text.push_str(name);
            }
            Step::Index(index) => text.push_str(&format!("[{index}]")),
        }
        text
    }
}
