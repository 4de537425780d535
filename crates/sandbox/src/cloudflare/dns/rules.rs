//! What may stand beside what in a zone: coexistence, identical records, combined lengths, quotas.
//! The record itself was checked before.

use super::super::switches::{CoexistenceCode, IdenticalCode, Switches};
use super::kind::{ACCEPTED_TWICE, RecordType};
use super::record::Fields;
use super::refusal::DnsRefusal;
use super::store::Records;
use super::txt;

/// Cloudflare DNS docs: characters of content of one name and type together.
const COMBINED_MAX: usize = 8_192;
/// Cloudflare DNS docs: bytes of one record in wire format.
const WIRE_MAX: usize = 4_096;

/// Checks a record against the zone; `own_id` is the record that it replaces.
pub(super) fn check(
    records: &Records,
    fields: &Fields,
    own_id: Option<&str>,
    zone: &str,
    switches: &Switches,
) -> Result<(), DnsRefusal> {
    let wire = match fields.kind {
        RecordType::Txt => txt::wire_len(&fields.content),
        _ => fields.content.len(),
    };
    if wire > WIRE_MAX {
        return Err(DnsRefusal::WireLength { max: WIRE_MAX });
    }
    if fields.kind == RecordType::Cname && fields.content.eq_ignore_ascii_case(&fields.name) {
        return Err(DnsRefusal::SelfReference);
    }
    identical_and_combined(records, fields, own_id, switches)?;
    coexistence(records, fields, own_id, zone, switches)
}

fn identical_and_combined(
    records: &Records,
    fields: &Fields,
    own_id: Option<&str>,
    switches: &Switches,
) -> Result<(), DnsRefusal> {
    let may_repeat = ACCEPTED_TWICE.contains(&fields.kind);
    let mut combined = fields.content.chars().count();
    for other in records.of_type(&fields.name, fields.kind) {
        if own_id == Some(other.id.as_str()) {
            continue;
        }
        if other.fields.content == fields.content && !may_repeat {
            return Err(match switches.identical_code {
                IdenticalCode::Code81057 => DnsRefusal::ExistsOld,
                IdenticalCode::Code81058 => DnsRefusal::Identical,
            });
        }
        combined += other.fields.content.chars().count();
    }
    if combined > COMBINED_MAX { Err(DnsRefusal::CombinedLength { max: COMBINED_MAX }) } else { Ok(()) }
}

/// Cloudflare API docs: A and AAAA may not share a name with CNAME, nor NS below the apex with any other type.
/// DS beside NS is the exception that delegation needs.
fn coexistence(
    records: &Records,
    fields: &Fields,
    own_id: Option<&str>,
    zone: &str,
    switches: &Switches,
) -> Result<(), DnsRefusal> {
    use RecordType as T;
    let own_alone =
        |kind: T| records.of_type(&fields.name, kind).all(|record| own_id == Some(record.id.as_str()));
    let others: Vec<T> = records.types_at(&fields.name).filter(|kind| !own_alone(*kind)).collect();
    let has = |kinds: &[T]| others.iter().any(|other| kinds.contains(other));
    let below_apex = fields.name != zone;
    if fields.kind == T::Ds && switches.ds_needs_ns && !has(&[T::Ns]) {
        return Err(DnsRefusal::DsWithoutNs);
    }
    let specific = switches.coexistence_code == CoexistenceCode::Specific;
    match fields.kind {
        T::Cname if has(&[T::Cname]) => {
            Err(if specific { DnsRefusal::CnameTaken } else { DnsRefusal::HostTaken })
        }
        T::Cname if has(&[T::A, T::Aaaa]) => {
            Err(if specific { DnsRefusal::AddressTaken } else { DnsRefusal::HostTaken })
        }
        T::A | T::Aaaa if has(&[T::Cname]) => {
            Err(if specific { DnsRefusal::CnameTaken } else { DnsRefusal::HostTaken })
        }
        T::Ns if below_apex && has(&[T::A, T::Aaaa, T::Cname]) => Err(DnsRefusal::HostTaken),
        T::Ns if below_apex && others.iter().any(|other| !matches!(other, T::Ns | T::Ds)) => {
            Err(DnsRefusal::NsTaken)
        }
        T::Ns | T::Ds => Ok(()),
        _ if below_apex && has(&[T::Ns]) => Err(DnsRefusal::NsTaken),
        _ => Ok(()),
    }
}
