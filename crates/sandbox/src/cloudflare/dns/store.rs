//! The records of one zone, by id and by name and type.
//! Stores anything: validation and conflicts are left to `desk`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use super::kind::RecordType;
use super::record::Record;

/// The records of a zone.
#[derive(Debug, Default)]
pub(in crate::cloudflare) struct Records {
    by_id: BTreeMap<String, Arc<Record>>,
    by_name: BTreeMap<String, BTreeMap<RecordType, BTreeSet<String>>>,
}

impl Records {
    pub(in crate::cloudflare) fn len(&self) -> usize {
        self.by_id.len()
    }

    pub(super) fn get(&self, id: &str) -> Option<&Arc<Record>> {
        self.by_id.get(id)
    }

    pub(in crate::cloudflare) fn iter(&self) -> impl Iterator<Item = &Arc<Record>> {
        self.by_id.values()
    }

    /// All records as the API answers them, by name, type, content and id.
    pub(in crate::cloudflare) fn sorted_values(&self) -> Vec<Value> {
        let mut records: Vec<&Arc<Record>> = self.by_id.values().collect();
        records.sort_by_key(|record| {
            let fields = &record.fields;
            (&fields.name, fields.kind, &fields.content, &record.id)
        });
        records.into_iter().filter_map(|record| serde_json::from_str(&record.answer).ok()).collect()
    }

    /// All records with this name.
    pub(super) fn named(&self, name: &str) -> impl Iterator<Item = &Arc<Record>> {
        self.by_name
            .get(name)
            .into_iter()
            .flat_map(BTreeMap::values)
            .flatten()
            .filter_map(|id| self.by_id.get(id))
    }

    /// All records with this name and type.
    pub(super) fn of_type(&self, name: &str, kind: RecordType) -> impl Iterator<Item = &Arc<Record>> {
        self.by_name
            .get(name)
            .and_then(|types| types.get(&kind))
            .into_iter()
            .flatten()
            .filter_map(|id| self.by_id.get(id))
    }

    /// How many records have a name and type that `counts` says yes to.
    pub(super) fn count_where(&self, counts: impl Fn(&str, RecordType) -> bool) -> usize {
        let types = self.by_name.iter().flat_map(|(name, types)| types.iter().map(move |row| (name, row)));
        types.filter(|(name, (kind, _))| counts(name, **kind)).map(|(_, (_, ids))| ids.len()).sum()
    }

    /// The types that stand at this name.
    pub(super) fn types_at(&self, name: &str) -> impl Iterator<Item = RecordType> {
        self.by_name.get(name).into_iter().flat_map(BTreeMap::keys).copied()
    }

    /// Stores a record and gives back what stood under its id.
    pub(super) fn put(&mut self, record: Arc<Record>) -> Option<Arc<Record>> {
        let before = self.remove(&record.id);
        self.by_name
            .entry(record.fields.name.clone())
            .or_default()
            .entry(record.fields.kind)
            .or_default()
            .insert(record.id.clone());
        self.by_id.insert(record.id.clone(), record);
        before
    }

    pub(super) fn remove(&mut self, id: &str) -> Option<Arc<Record>> {
        let record = self.by_id.remove(id)?;
        if let Some(types) = self.by_name.get_mut(&record.fields.name) {
            if let Some(ids) = types.get_mut(&record.fields.kind) {
                ids.remove(id);
                if ids.is_empty() {
                    types.remove(&record.fields.kind);
                }
            }
            if types.is_empty() {
                self.by_name.remove(&record.fields.name);
            }
        }
        Some(record)
    }
}
