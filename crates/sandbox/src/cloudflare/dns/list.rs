//! GET dns_records: filter, order and page.
//! What a filter matches is left to `filter`.

use std::cmp::Ordering;
use std::sync::Arc;

use jiff::Timestamp;

use super::super::call::Call;
use super::super::envelope::{ApiErrors, Reply};
use super::super::query::{Page, Query, RECORD_LIST};
use super::super::world::World;
use super::super::zone::is_younger;
use super::filter::Filter;
use super::record::Record;
use super::refusal::DnsRefusal;
use super::shadow::{Shadow, ShadowFilter};

/// Cloudflare API docs: the fields a list can be ordered by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OrderBy {
    Type,
    Name,
    Content,
    Ttl,
    Proxied,
}

#[derive(Debug, Clone, Copy)]
struct Order {
    by: OrderBy,
    descending: bool,
}

impl Order {
    fn of(query: &Query) -> Result<Self, DnsRefusal> {
        let by = match query.get("order") {
            None | Some("type") => OrderBy::Type,
            Some("name") => OrderBy::Name,
            Some("content") => OrderBy::Content,
            Some("ttl") => OrderBy::Ttl,
            Some("proxied") => OrderBy::Proxied,
            Some(_) => return Err(DnsRefusal::body("order is not a field of records")),
        };
        let descending = match query.get("direction") {
            None | Some("asc") => false,
            Some("desc") => true,
            Some(_) => return Err(DnsRefusal::body("direction must be asc or desc")),
        };
        Ok(Self { by, descending })
    }

    fn compare(self, a: &Record, b: &Record) -> Ordering {
        let (x, y) = (&a.fields, &b.fields);
        let first = match self.by {
            OrderBy::Type => x.kind.cmp(&y.kind),
            OrderBy::Name => Ordering::Equal,
            OrderBy::Content => x.content.cmp(&y.content),
            OrderBy::Ttl => x.ttl.cmp(&y.ttl),
            OrderBy::Proxied => x.proxied.cmp(&y.proxied),
        };
        let first = if self.descending && self.by != OrderBy::Name { first.reverse() } else { first };
        let names = x.name.cmp(&y.name);
        let names = if self.descending && self.by == OrderBy::Name { names.reverse() } else { names };
        // Ties end at the id, so that pages never overlap.
        first
            .then(names)
            .then_with(|| x.kind.cmp(&y.kind))
            .then_with(|| x.content.cmp(&y.content))
            .then_with(|| a.id.cmp(&b.id))
    }
}

pub(in crate::cloudflare) fn list(
    world: &mut World,
    now: Timestamp,
    call: &Call,
) -> Result<Reply, ApiErrors> {
    let zone = world.zone_of(now, call)?;
    let page = Page::of(&call.query, RECORD_LIST, world.switches.too_large_per_page)?;
    let filter = Filter::of(&call.query)?;
    let delegations = ShadowFilter::of(&call.query, &zone.name)?;
    let order = Order::of(&call.query)?;
    let lag = world.switches.lag.list_after_create;
    let keeps = |record: &&Arc<Record>| {
        filter.keeps(record)
            && delegations.keeps(record, &zone.name)
            && !is_younger(record.created_on, now, lag, &call.actor)
    };
    let mut rows: Vec<&Arc<Record>> = match filter.exact_name() {
        // Look-ups by name are what operators do most; they need not read the whole zone.
        Some(name) => zone.records.named(&name).filter(keeps).collect(),
        None => zone.records.iter().filter(keeps).collect(),
    };
    rows.sort_unstable_by(|a, b| order.compare(a, b));
    let (part, info) = page.cut(&rows);
    let shadow = Shadow::of(&call.query, &zone.records, &zone.name, part.len());
    let mut result =
        String::with_capacity(2 + part.iter().map(|record| record.answer.len() + 1).sum::<usize>());
    result.push('[');
    for (position, record) in part.iter().enumerate() {
        if position > 0 {
            result.push(',');
        }
        result.push_str(&shadow.show(record));
    }
    result.push(']');
    Ok(Reply::page(result, info))
}
