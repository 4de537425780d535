//! Changes to one zone's records as a transaction: each operation is checked against what stands then, and
//! all of them can be taken back. Parsing requests and answering is left to `calls` and `batch`.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;

use super::super::call::Actor;
use super::super::envelope::ApiErrors;
use super::super::switches::Switches;
use super::super::world::{Ids, ObjectKind, Recorded, World};
use super::super::zone::Zone;
use super::fields::{self, Setting};
use super::record::Record;
use super::refusal::DnsRefusal;
use super::rules;

/// What an operation changed, to take it back or to note it.
struct Step {
    id: String,
    before: Option<Arc<Record>>,
    after: Option<Arc<Record>>,
}

/// An open transaction on one zone.
pub(in crate::cloudflare) struct Desk<'a> {
    zone: &'a mut Zone,
    ids: &'a mut Ids,
    switches: &'a Switches,
    now: Timestamp,
    steps: Vec<Step>,
}

impl Desk<'_> {
    pub(in crate::cloudflare) fn create(&mut self, body: &Value) -> Result<Arc<Record>, DnsRefusal> {
        let fields = fields::of_body(body, None, None, self.setting())?;
        rules::check(&self.zone.records, &fields, None, &self.zone.name, self.switches)?;
        if self.zone.records.len() >= self.switches.record_quota(self.zone.plan) {
            return Err(DnsRefusal::Quota);
        }
        let record = Arc::new(Record::new(self.ids.next(), fields, None, self.now));
        self.store(&record);
        Ok(record)
    }

    /// PUT: what the body leaves out goes back to its default.
    pub(super) fn overwrite(&mut self, id: &str, body: &Value) -> Result<Arc<Record>, DnsRefusal> {
        self.change(id, body, false)
    }

    /// PATCH: what the body leaves out stays.
    pub(in crate::cloudflare) fn merge(&mut self, id: &str, body: &Value) -> Result<Arc<Record>, DnsRefusal> {
        self.change(id, body, true)
    }

    fn change(&mut self, id: &str, body: &Value, merge: bool) -> Result<Arc<Record>, DnsRefusal> {
        let before = self.zone.records.get(id).cloned().ok_or(DnsRefusal::NoRecord)?;
        let base = merge.then_some(&before.fields);
        let fields = fields::of_body(body, Some(before.fields.kind), base, self.setting())?;
        rules::check(&self.zone.records, &fields, Some(id), &self.zone.name, self.switches)?;
        let record = Arc::new(Record::new(id.to_owned(), fields, Some(&before), self.now));
        self.store(&record);
        Ok(record)
    }

    pub(in crate::cloudflare) fn remove(&mut self, id: &str) -> Result<Arc<Record>, DnsRefusal> {
        let record = self.zone.records.remove(id).ok_or(DnsRefusal::NoRecord)?;
        self.steps.push(Step { id: id.to_owned(), before: Some(record.clone()), after: None });
        Ok(record)
    }

    fn setting(&self) -> Setting<'_> {
        Setting { zone: &self.zone.name, plan: self.zone.plan, switches: self.switches }
    }

    fn store(&mut self, record: &Arc<Record>) {
        let before = self.zone.records.put(record.clone());
        self.steps.push(Step { id: record.id.clone(), before, after: Some(record.clone()) });
    }

    fn take_back(self) {
        for step in self.steps.into_iter().rev() {
            match step.before {
                Some(record) => self.zone.records.put(record),
                None => self.zone.records.remove(&step.id),
            };
        }
    }
}

/// How a change ends that is only tried.
enum Judged {
    Refused(DnsRefusal),
    Stands(Arc<Record>),
}

impl From<DnsRefusal> for Judged {
    fn from(refusal: DnsRefusal) -> Self {
        Self::Refused(refusal)
    }
}

impl World {
    /// What a record would be stored as, or why it would be refused: the change is made and taken back.
    pub(in crate::cloudflare) fn judge_record(
        &mut self,
        zone_id: &str,
        own_id: Option<&str>,
        body: &Value,
        now: Timestamp,
    ) -> Result<Value, ApiErrors> {
        let judged: Result<(), Judged> = self.at_desk(zone_id, now, &Actor::out_of_band(), |desk| {
            let record = match own_id {
                Some(id) => desk.overwrite(id, body)?,
                None => desk.create(body)?,
            };
            Err(Judged::Stands(record))
        });
        match judged {
            Err(Judged::Stands(record)) => Ok(serde_json::from_str(&record.answer).unwrap_or_default()),
            Err(Judged::Refused(refusal)) => Err(refusal.into()),
            Ok(()) => Ok(Value::Null),
        }
    }

    /// Runs `work` on a zone's records: all of it happens, or nothing.
    pub(in crate::cloudflare) fn at_desk<T, E: From<DnsRefusal>>(
        &mut self,
        zone_id: &str,
        now: Timestamp,
        actor: &Actor,
        work: impl FnOnce(&mut Desk<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let Some(zone) = self.zones.get_mut(zone_id) else { return Err(DnsRefusal::NoRecord.into()) };
        let mut desk = Desk { zone, ids: &mut self.ids, switches: &self.switches, now, steps: Vec::new() };
        match work(&mut desk) {
            Ok(done) => {
                let answer = |record: Option<Arc<Record>>| record.map(|record| record.answer.clone());
                for Step { id, before, after } in desk.steps {
                    self.history.push(Recorded {
                        at: now,
                        object: ObjectKind::DnsRecord,
                        zone_id: zone_id.to_owned(),
                        id,
                        who: actor.id.clone(),
                        before: answer(before),
                        after: answer(after),
                    });
                }
                Ok(done)
            }
            Err(refusal) => {
                desk.take_back();
                Err(refusal)
            }
        }
    }
}
