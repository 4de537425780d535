//! Import and export of zone files.
//! The text itself is read by `zone_file_text`, records are made by `desk`.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::super::call::Call;
use super::super::envelope::{ApiErrors, Extra, Reply};
use super::super::multipart;
use super::super::rate_limit;
use super::super::service::too_many;
use super::super::world::{World, stamp};
use super::kind::RecordType;
use super::record::Record;
use super::refusal::DnsRefusal;
use super::zone_file_text::{Entry, absolute, entries};

/// Cloudflare DNS docs: the largest zone file.
const FILE_MAX: usize = 256 * 1024;
/// Cloudflare docs: this comment carries what a zone file cannot say.
const TAGS: &str = "cf_tags=";

/// Cloudflare docs: imports and exports have a limit of their own.
fn limited(world: &mut World, now: Timestamp, call: &Call) -> Result<(), ApiErrors> {
    if !world.switches.rate_limit {
        return Ok(());
    }
    match world.zone_files.ask(&call.actor.limit_subject(), now) {
        Ok(_) => Ok(()),
        Err(excess) => Err(too_many(world, rate_limit::ZONE_FILE, excess.retry_after_s)),
    }
}

pub(in crate::cloudflare) fn export(
    world: &mut World,
    now: Timestamp,
    call: &Call,
) -> Result<Reply, ApiErrors> {
    limited(world, now, call)?;
    let zone = world.zone_of(now, call)?;
    let mut records: Vec<&Record> = zone.records.iter().map(AsRef::as_ref).collect();
    records.sort_by(|a, b| {
        let key =
            |record: &Record| (record.fields.kind, record.fields.name.clone(), record.fields.content.clone());
        key(a).cmp(&key(b))
    });
    let mut text = format!(";;\n;; Domain:     {}.\n;; Exported:   {}\n;;\n", zone.name, stamp(now));
    let mut section = None;
    for record in records {
        if section != Some(record.fields.kind) {
            section = Some(record.fields.kind);
            text.push_str(&format!("\n;; {} Records\n", record.fields.kind.name()));
        }
        text.push_str(&line_of(record));
    }
    if text.len() > FILE_MAX {
        return Err(DnsRefusal::FileSize { max: FILE_MAX }.into());
    }
    Ok(Reply::Text(text))
}

fn line_of(record: &Record) -> String {
    let fields = &record.fields;
    let mut content = match fields.priority {
        Some(priority) => format!("{priority} {}", fields.content),
        None => fields.content.clone(),
    };
    if ends_in_host(fields.kind) && !content.ends_with('.') {
        content.push('.');
    }
    let mut notes: Vec<String> = fields.comment.iter().cloned().collect();
    if fields.kind.can_be_proxied() {
        let tags =
            std::iter::once(format!("cf-proxied:{}", fields.proxied)).chain(fields.tags.iter().cloned());
        notes.push(format!("{TAGS}{}", tags.collect::<Vec<_>>().join(",")));
    }
    let notes = if notes.is_empty() { String::new() } else { format!(" ; {}", notes.join(" ")) };
    format!("{}.\t{}\tIN\t{}\t{content}{notes}\n", fields.name, fields.ttl, fields.kind.name())
}

/// Types whose data ends in a host name, which zone files write with a final dot.
fn ends_in_host(kind: RecordType) -> bool {
    matches!(
        kind,
        RecordType::Cname
            | RecordType::Mx
            | RecordType::Ns
            | RecordType::Ptr
            | RecordType::Srv
            | RecordType::Naptr
    )
}

pub(in crate::cloudflare) fn import(
    world: &mut World,
    now: Timestamp,
    call: &Call,
) -> Result<Reply, ApiErrors> {
    limited(world, now, call)?;
    let zone = world.zone_of(now, call)?;
    let (zone_id, zone_name) = (zone.id.clone(), zone.name.clone());
    let parts = multipart::parts(&call.content_type, &call.body)
        .ok_or_else(|| DnsRefusal::body("it must be multipart/form-data"))?;
    let file = parts.get("file").ok_or_else(|| DnsRefusal::body("file is required"))?;
    if file.len() > FILE_MAX {
        return Err(DnsRefusal::FileSize { max: FILE_MAX }.into());
    }
    let text =
        std::str::from_utf8(file).map_err(|_| DnsRefusal::File { why: "it is no UTF-8".to_owned() })?;
    let proxied = parts.get("proxied").is_some_and(|value| value == b"true");
    let entries = entries(text, &zone_name).map_err(|why| DnsRefusal::File { why })?;
    let bodies: Vec<Value> = entries
        .iter()
        .filter(|entry| is_imported(entry, &zone_name))
        .map(|entry| body_of(entry, proxied))
        .collect();
    let added = world.at_desk(&zone_id, now, &call.actor, |desk| {
        let mut added = 0_u64;
        for body in &bodies {
            match desk.create(body) {
                Ok(_) => added += 1,
                Err(DnsRefusal::Quota) => return Err(DnsRefusal::Quota),
                // A record that is refused, mostly because it exists already, does not stop the others.
                Err(_) => {}
            }
        }
        Ok(added)
    })?;
    let timing = json!({ "start_time": stamp(now), "end_time": stamp(now), "process_time": 0 });
    let result = json!({ "recs_added": added, "total_records_parsed": bodies.len() });
    Ok(Reply::value(&result).with(Extra::Member { name: "timing", json: timing.to_string() }))
}

/// Cloudflare is the authority itself: the file's SOA and its NS at the apex are left out.
fn is_imported(entry: &Entry, zone: &str) -> bool {
    entry.kind != "SOA" && !(entry.kind == "NS" && entry.name.eq_ignore_ascii_case(zone))
}

fn body_of(entry: &Entry, proxied: bool) -> Value {
    let kind = RecordType::of(&entry.kind);
    let has_priority = matches!(kind, Some(RecordType::Mx | RecordType::Uri | RecordType::Srv));
    let (first, rest) = match entry.words.split_first() {
        Some((first, rest)) if has_priority => (first.parse::<u16>().ok(), rest),
        _ => (None, entry.words.as_slice()),
    };
    let mut words = rest.to_vec();
    if kind.is_some_and(ends_in_host)
        && let Some(host) = words.last_mut().filter(|host| *host != ".")
    {
        *host = absolute(host, &entry.origin);
    }
    let (comment, tags) = match entry.comment.split_once(TAGS) {
        Some((comment, tags)) => (comment.trim(), tags.trim()),
        None => (entry.comment.as_str(), ""),
    };
    let mut wants_proxy = proxied;
    let mut kept = Vec::new();
    for tag in tags.split(',').filter(|tag| !tag.is_empty()) {
        match tag.strip_prefix("cf-proxied:") {
            Some(value) => wants_proxy = value == "true",
            None => kept.push(tag),
        }
    }
    json!({
        "type": entry.kind,
        "name": format!("{}.", entry.name),
        "content": words.join(" "),
        "priority": first,
        "ttl": entry.ttl,
        "proxied": wants_proxy && kind.is_some_and(RecordType::can_be_proxied),
        "comment": if comment.is_empty() { Value::Null } else { json!(comment) },
        "tags": kept,
    })
}
