//! The list that the members of a unit share: its items are handed to the members they concern, and the list goes.
//! Who asks for it, and what its failure means, is in `read`.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;

use crate::context;
use crate::creating::Mark;
use crate::read::{Read, ReadAnswer, full_key, loose_key, not_one, reading_context, shared_read_failed};
use crate::snapshot::{Listing, Member, Observed, Snapshot};

/// Hands the items of the shared list to the members they concern.
pub(crate) fn fold_list(snapshot: &mut Snapshot, read: &Read, answer: ReadAnswer, began: Timestamp) {
    let (items, one_page) = match answer {
        ReadAnswer::Many { items, one_page } => (items, one_page),
        ReadAnswer::One(_) => return shared_read_failed(snapshot, read, &not_one()),
        ReadAnswer::Failed(fault) => return shared_read_failed(snapshot, read, &fault),
    };
    snapshot.listing = Observed::Seen(Listing { count: items.len(), one_page }, began);
    snapshot.memory.listed = Some(items.len());
    let index = Index::of(snapshot, items);
    for member in snapshot.members.values_mut() {
        member.progress.listed = true;
        index.show(member, one_page, began);
    }
}

/// The items of a list by external ID and by the part of the key that adoptions match.
struct Index {
    items: Vec<Value>,
    by_id: BTreeMap<String, usize>,
    by_key: BTreeMap<String, Vec<usize>>,
}

impl Index {
    fn of(snapshot: &Snapshot, items: Vec<Value>) -> Self {
        let mut index = Self { items: Vec::new(), by_id: BTreeMap::new(), by_key: BTreeMap::new() };
        let Some(member) = snapshot.members.values().find(|member| reading_context(member).is_ok()) else {
            return index;
        };
        let Ok(context) = reading_context(member) else { return index };
        for (position, item) in items.iter().enumerate() {
            if let Some(id) = item.pointer(member.kind.identity.wire).and_then(Value::as_str) {
                index.by_id.insert(id.to_owned(), position);
            }
            index.by_key.entry(loose_key(member, item, &context.parents)).or_default().push(position);
        }
        index.items = items;
        index
    }

    fn show(&self, member: &mut Member, one_page: bool, began: Timestamp) {
        let external = member.kind.external_id(&member.object);
        if let Some(item) = external.and_then(|id| self.by_id.get(id)).and_then(|at| self.items.get(*at)) {
            member.live = Observed::Seen(item.clone(), began);
            if Mark::of(&member.object).is_none() {
                return;
            }
        }
        let Ok(context) = reading_context(member) else { return };
        let Ok(desired) = context::desired(member, &context) else { return };
        let positions = self.by_key.get(&desired.loose_key).map(Vec::as_slice).unwrap_or_default();
        let matching: Vec<Value> = positions.iter().filter_map(|at| self.items.get(*at)).cloned().collect();
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
