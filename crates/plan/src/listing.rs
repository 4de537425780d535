//! The list that the members of a unit share: its items are handed to the members they concern, and the list goes.
//! Who asks for it, and what its failure means, is in `read`.

use std::collections::BTreeMap;

use cf_api::items::Items;
use jiff::Timestamp;
use serde_json::Value;

use crate::context;
use crate::creating::Mark;
use crate::read::{Read, ReadAnswer, full_key, loose_key, not_one, reading_context, shared_read_failed};
use crate::snapshot::{Listing, Member, Observed, Snapshot};

/// Hands the items of the shared list to the members they concern.
pub(crate) fn fold_list(snapshot: &mut Snapshot, read: &Read, answer: ReadAnswer, began: Timestamp) {
    match answer {
        ReadAnswer::Many { items, one_page } => List::of(snapshot, items, one_page, began).show(snapshot),
        ReadAnswer::One(_) => shared_read_failed(snapshot, read, &not_one()),
        ReadAnswer::Failed(fault) => shared_read_failed(snapshot, read, &fault),
    }
}

/// The shared list as read: its items by external ID and by the part of the key that adoptions match. It serves a
/// snapshot whose members come in portions as well as one that holds them all.
#[derive(Debug)]
pub struct List {
    shown: Listing,
    began: Timestamp,
    items: Items,
    by_id: BTreeMap<String, usize>,
    by_key: BTreeMap<String, Vec<usize>>,
}

impl List {
    /// The list that these members, or some of them, asked for.
    #[must_use]
    pub fn of(snapshot: &Snapshot, items: Items, one_page: bool, began: Timestamp) -> Self {
        let shown = Listing { count: items.len(), one_page };
        let (by_id, by_key) = (BTreeMap::new(), BTreeMap::new());
        let mut list = Self { shown, began, items: Items::default(), by_id, by_key };
        let Some(member) = snapshot.members.values().find(|member| reading_context(member).is_ok()) else {
            return list;
        };
        let Ok(context) = reading_context(member) else { return list };
        for (position, item) in items.iter().enumerate() {
            if let Some(id) = item.pointer(member.kind.identity.wire).and_then(Value::as_str) {
                list.by_id.insert(id.to_owned(), position);
            }
            list.by_key.entry(loose_key(member, &item, &context.parents)).or_default().push(position);
        }
        list.items = items;
        list
    }

    /// The external IDs of what it shows.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.by_id.keys().map(String::as_str)
    }

    /// Hands its items to the members that are in the snapshot now.
    pub fn show(&self, snapshot: &mut Snapshot) {
        snapshot.listing = Observed::Seen(self.shown, self.began);
        snapshot.memory.listed = Some(self.shown.count);
        for member in snapshot.members.values_mut() {
            member.progress.listed = true;
            self.show_to(member);
        }
    }

    fn show_to(&self, member: &mut Member) {
        let (one_page, began) = (self.shown.one_page, self.began);
        let external = member.kind.external_id(&member.object);
        if let Some(item) = external.and_then(|id| self.by_id.get(id)).and_then(|at| self.items.get(*at)) {
            member.live = Observed::Seen(item, began);
            if Mark::of(&member.object).is_none() {
                return;
            }
        }
        let Ok(context) = reading_context(member) else { return };
        let Ok(desired) = context::desired(member, &context) else { return };
        let positions = self.by_key.get(&desired.loose_key).map(Vec::as_slice).unwrap_or_default();
        let matching: Vec<Value> = positions.iter().filter_map(|at| self.items.get(*at)).collect();
        let mark = Mark::of(&member.object).map(|mark| mark.key);
        let exact = matching.iter().any(|item| {
            let key = full_key(member, item, &context.parents);
            key == desired.key || Some(&key) == mark.as_ref()
        });
        if !matching.is_empty() && (exact || one_page) {
            member.found = Observed::Seen(matching, began);
        } else if one_page {
            member.found = Observed::Absent(began);
        }
    }
}
