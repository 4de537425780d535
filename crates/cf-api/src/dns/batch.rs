//! The DNS batch: many changes of one zone in one call and one transaction (cloudflare-api.md 4.1).
//!
//! Which changes ride together, and what is done after a refusal, is decided in `plan`.

use crate::envelope::Answer;
use crate::limits::{BATCH_MAX_FREE, BATCH_MAX_PAID};
use crate::request::{Method, PathError, Request, check};
use serde_json::{Map, Value, json};

const BATCH: &str = "/zones/{zone_id}/dns_records/batch";

/// What limits a batch: a zone's plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ZonePlan {
    /// Free.
    Free,
    /// Any other.
    Paid,
}

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

/// Why a batch can't be built, or its answer not be read. After an answer that can't be read, the changes
/// have probably happened: look before the next one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BatchError {
    /// The zone's or a record's identifier.
    #[error("an identifier of the batch is unusable")]
    Path(#[from] PathError),
    /// No change at all.
    #[error("the batch is empty")]
    Empty,
    /// More operations than the plan allows.
    #[error("{got} operations in one batch, {max} are allowed")]
    TooMany {
        /// The plan's limit.
        max: usize,
        /// Operations given.
        got: usize,
    },
    /// The body of an operation is no JSON object.
    #[error("operation {at} of {list} is no object")]
    NotAnObject {
        /// `patches`, `puts` or `posts`.
        list: &'static str,
        /// Place in the list, from 0.
        at: usize,
    },
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

impl ZonePlan {
    /// The plan of a zone object. Unknown plans count as Free: its limit holds everywhere.
    pub fn of_zone(zone: &Value) -> ZonePlan {
        let plan = zone.get("plan");
        let text = |name: &str| plan.and_then(|plan| plan.get(name)).and_then(Value::as_str);
        match (text("legacy_id"), text("id")) {
            (Some("free"), _) | (None, None | Some(FREE_PLAN_ID)) => ZonePlan::Free,
            _ => ZonePlan::Paid,
        }
    }

    /// Operations per batch.
    pub fn batch_max(self) -> usize {
        match self {
            ZonePlan::Free => BATCH_MAX_FREE,
            ZonePlan::Paid => BATCH_MAX_PAID,
        }
    }
}

/// The identifier of the Free plan, the same for every zone (cloudflare-api.md 3.1).
const FREE_PLAN_ID: &str = "0feeeeeeeeeeeeeeeeeeeeeeeeeeeeee";

impl BatchBody {
    /// Number of operations.
    pub fn len(&self) -> usize {
        self.deletes.len() + self.patches.len() + self.puts.len() + self.posts.len()
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The request for a batch.
///
/// # Errors
/// [`BatchError`] when it would be refused for certain: empty, too long, or an operation without an
/// identifier.
pub fn batch(zone: &str, body: &BatchBody, plan: ZonePlan) -> Result<Request, BatchError> {
    let request = Request::new(Method::Post, BATCH, &[zone])?;
    let (got, max) = (body.len(), plan.batch_max());
    if got == 0 {
        return Err(BatchError::Empty);
    }
    if got > max {
        return Err(BatchError::TooMany { max, got });
    }
    let mut lists = Map::new();
    if !body.deletes.is_empty() {
        let ids: Result<Vec<Value>, PathError> =
            body.deletes.iter().map(|id| known(id).map(|()| json!({ "id": id }))).collect();
        lists.insert("deletes".to_owned(), Value::Array(ids?));
    }
    for (list, changes) in [("patches", &body.patches), ("puts", &body.puts)] {
        if !changes.is_empty() {
            lists.insert(list.to_owned(), Value::Array(with_ids(list, changes)?));
        }
    }
    if let Some(at) = body.posts.iter().position(|post| !post.is_object()) {
        return Err(BatchError::NotAnObject { list: "posts", at });
    }
    if !body.posts.is_empty() {
        lists.insert("posts".to_owned(), Value::Array(body.posts.clone()));
    }
    Ok(request.body(Value::Object(lists)))
}

/// Refuses identifiers that a single call would refuse, too.
fn known(id: &str) -> Result<(), PathError> {
    check(BATCH, "record_id", id)
}

fn with_ids(list: &'static str, changes: &[(String, Value)]) -> Result<Vec<Value>, BatchError> {
    let mut bodies = Vec::with_capacity(changes.len());
    for (at, (id, change)) in changes.iter().enumerate() {
        known(id)?;
        let Value::Object(fields) = change else { return Err(BatchError::NotAnObject { list, at }) };
        let mut fields = fields.clone();
        fields.insert("id".to_owned(), Value::String(id.clone()));
        bodies.push(Value::Object(fields));
    }
    Ok(bodies)
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
