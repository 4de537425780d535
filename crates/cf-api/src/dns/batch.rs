//! The DNS batch: many changes of one zone in one call and one transaction (cloudflare-api.md 4.1).
//!
//! Which changes ride together, their request, and what is done after a refusal, is decided in `plan`.

use crate::envelope::Answer;
use serde_json::Value;

/// The changes of a batch. Cloudflare runs deletes, patches, puts, posts, in this order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BatchBody {
    /// Identifiers of records to delete.
    pub deletes: Vec<String>,
    /// Identifiers and the fields to change.
    pub patches: Vec<(String, Value)>,
    /// Identifiers and whole records.
    pub puts: Vec<(String, Value)>,
    /// Records to create.
    pub posts: Vec<Value>,
}

/// The records of a batch's answer, each at the place of its operation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BatchAnswer {
    /// The deleted records (at least their `id`).
    pub deletes: Vec<Value>,
    /// The patched records.
    pub patches: Vec<Value>,
    /// The overwritten records.
    pub puts: Vec<Value>,
    /// The created records.
    pub posts: Vec<Value>,
}

/// Why the answer to a batch can't be read. The changes have probably happened: look before the next one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BatchError {
    /// The answer has another number of records than there were operations.
    #[error("{got} records in the answer's {list}, {wanted} were changed")]
    Count {
        /// `deletes`, `patches`, `puts` or `posts`.
        list: &'static str,
        /// Operations sent.
        wanted: usize,
        /// Records answered.
        got: usize,
    },
    /// A record of the answer belongs to no operation.
    #[error("record {at} of the answer's {list} belongs to no operation")]
    Foreign {
        /// `deletes`, `patches`, `puts` or `posts`.
        list: &'static str,
        /// Place in the list, from 0.
        at: usize,
    },
}

impl BatchAnswer {
    /// Assigns the records of an answer to the operations of its batch: by identifier, and created ones by
    /// their place, checked against the type that was asked for.
    ///
    /// # Errors
    /// [`BatchError::Count`] or [`BatchError::Foreign`] when that isn't possible without doubt.
    pub fn read(body: &BatchBody, answer: &Answer) -> Result<BatchAnswer, BatchError> {
        let ids = |changes: &[(String, Value)]| changes.iter().map(|(id, _)| id.clone()).collect::<Vec<_>>();
        Ok(BatchAnswer {
            deletes: by_id("deletes", &body.deletes, answer)?,
            patches: by_id("patches", &ids(&body.patches), answer)?,
            puts: by_id("puts", &ids(&body.puts), answer)?,
            posts: by_place(&body.posts, answer)?,
        })
    }

    /// The records in the order in which Cloudflare ran the operations: deletes, patches, puts, posts.
    pub fn in_order(&self) -> impl Iterator<Item = &Value> {
        self.deletes.iter().chain(&self.patches).chain(&self.puts).chain(&self.posts)
    }
}

fn records<'a>(list: &'static str, wanted: usize, answer: &'a Answer) -> Result<&'a [Value], BatchError> {
    let records = answer.result.get(list).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    if records.len() == wanted {
        Ok(records)
    } else {
        Err(BatchError::Count { list, wanted, got: records.len() })
    }
}

fn by_id(list: &'static str, ids: &[String], answer: &Answer) -> Result<Vec<Value>, BatchError> {
    let records = records(list, ids.len(), answer)?;
    let id_of = |record: &Value, id: &str| record.get("id").and_then(Value::as_str) == Some(id);
    let mut sorted = Vec::with_capacity(ids.len());
    for (at, id) in ids.iter().enumerate() {
        // Nearly always at its place; the search keeps an answer in another order readable.
        let record = records.get(at).filter(|record| id_of(record, id));
        let record = record.or_else(|| records.iter().find(|record| id_of(record, id)));
        sorted.push(record.ok_or(BatchError::Foreign { list, at })?.clone());
    }
    Ok(sorted)
}

fn by_place(posts: &[Value], answer: &Answer) -> Result<Vec<Value>, BatchError> {
    let records = records("posts", posts.len(), answer)?;
    for (at, (post, record)) in posts.iter().zip(records).enumerate() {
        let has_id = record.get("id").and_then(Value::as_str).is_some_and(|id| !id.is_empty());
        if !has_id || post.get("type") != record.get("type") {
            return Err(BatchError::Foreign { list: "posts", at });
        }
    }
    Ok(records.to_vec())
}
