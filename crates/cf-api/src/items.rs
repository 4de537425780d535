//! The items of a list as the text that was sent: parsed they take six times as much, and most are looked at once.
//!
//! Of what kind they are, and which of them belong together, is said by whoever reads them.

use serde_json::Value;

/// Items of a list, in the server's order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Items {
    /// One text for all, so that thousands of items are one piece of memory.
    text: String,
    ends: Vec<usize>,
}

impl Items {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// One item, parsed.
    pub fn get(&self, at: usize) -> Option<Value> {
        // It was parsed when it came.
        serde_json::from_str(self.text(at)?).ok()
    }

    /// All items, each parsed when its turn comes.
    pub fn iter(&self) -> impl Iterator<Item = Value> {
        (0..self.len()).filter_map(|at| self.get(at))
    }

    /// The text of one item.
    pub(crate) fn text(&self, at: usize) -> Option<&str> {
        let start = if at == 0 { 0 } else { *self.ends.get(at - 1)? };
        self.text.get(start..*self.ends.get(at)?)
    }

    /// Adds an item whose text is known to be JSON.
    pub(crate) fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.ends.push(self.text.len());
    }
}

impl FromIterator<Value> for Items {
    fn from_iter<I: IntoIterator<Item = Value>>(values: I) -> Self {
        let mut items = Items::default();
        values.into_iter().for_each(|value| items.push(&value.to_string()));
        items
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Items;

    #[test]
    fn items_come_back_as_they_were_put_in() {
        let values = [json!({"id": "a"}), json!("ü"), json!(null), json!([1, {"b": 2.5}])];
        let items: Items = values.iter().cloned().collect();
        assert_eq!(items.len(), values.len());
        assert_eq!(items.iter().collect::<Vec<_>>(), values);
        assert_eq!((items.get(1), items.get(4)), (Some(json!("ü")), None));
        assert!(Items::default().is_empty() && Items::default().get(0).is_none());
    }
}
