//! The filters and orders of the zone list.
//! What a token may see is decided before.

use std::cmp::Ordering;

use jiff::Timestamp;

use super::envelope::ApiErrors;
use super::query::Query;
use super::zone::{Zone, ZoneRefusal, ZoneType};

/// How a text is compared (cloudflare API docs: `operator:value`, each with a case-sensitive variant).
#[derive(Debug, Clone, Copy)]
enum Operator {
    Equal,
    NotEqual,
    StartsWith,
    EndsWith,
    Contains,
}

#[derive(Debug, Clone)]
struct TextFilter {
    operator: Operator,
    case_sensitive: bool,
    wanted: String,
}

impl TextFilter {
    fn of(value: &str) -> Self {
        let (prefix, rest) = value.split_once(':').unwrap_or(("", value));
        let bare = prefix.strip_suffix("_case_sensitive");
        let operator = match bare.unwrap_or(prefix) {
            "equal" => Some(Operator::Equal),
            "not_equal" => Some(Operator::NotEqual),
            "starts_with" => Some(Operator::StartsWith),
            "ends_with" => Some(Operator::EndsWith),
            "contains" => Some(Operator::Contains),
            _ => None,
        };
        match operator {
            Some(operator) => Self { operator, case_sensitive: bare.is_some(), wanted: rest.to_owned() },
            None => Self { operator: Operator::Equal, case_sensitive: false, wanted: value.to_owned() },
        }
    }

    fn keeps(&self, text: &str) -> bool {
        let (text, wanted) = if self.case_sensitive {
            (text.to_owned(), self.wanted.clone())
        } else {
            (text.to_lowercase(), self.wanted.to_lowercase())
        };
        match self.operator {
            Operator::Equal => text == wanted,
            Operator::NotEqual => text != wanted,
            Operator::StartsWith => text.starts_with(&wanted),
            Operator::EndsWith => text.ends_with(&wanted),
            Operator::Contains => text.contains(&wanted),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OrderBy {
    Name,
    Status,
    AccountId,
    AccountName,
    PlanId,
}

/// The parsed parameters of one list.
#[derive(Debug)]
pub(super) struct ZoneFilter {
    name: Option<TextFilter>,
    account_id: Option<String>,
    account_name: Option<TextFilter>,
    status: Option<String>,
    /// Empty: all but internal zones.
    kinds: Vec<ZoneType>,
    any: bool,
    order: OrderBy,
    descending: bool,
}

impl ZoneFilter {
    pub(super) fn of(query: &Query) -> Result<Self, ApiErrors> {
        let invalid = |field| ApiErrors::from(ZoneRefusal::InvalidField { field });
        // Cloudflare's own clients repeat the parameter; a list with commas is the documented form.
        let kinds = query
            .pairs()
            .filter(|(key, _)| *key == "type")
            .flat_map(|(_, list)| list.split(','))
            .map(|word| ZoneType::of(word).ok_or_else(|| invalid("type")))
            .collect::<Result<Vec<_>, _>>()?;
        let any = match query.get("match") {
            None | Some("all") => false,
            Some("any") => true,
            Some(_) => return Err(invalid("match")),
        };
        let order = match query.get("order") {
            None | Some("name") => OrderBy::Name,
            Some("status") => OrderBy::Status,
            Some("account.id") => OrderBy::AccountId,
            Some("account.name") => OrderBy::AccountName,
            Some("plan.id") => OrderBy::PlanId,
            Some(_) => return Err(invalid("order")),
        };
        let descending = match query.get("direction") {
            None | Some("asc") => false,
            Some("desc") => true,
            Some(_) => return Err(invalid("direction")),
        };
        let status = query.get("status").map(str::to_owned);
        if status
            .as_deref()
            .is_some_and(|word| !matches!(word, "initializing" | "pending" | "active" | "moved"))
        {
            return Err(invalid("status"));
        }
        Ok(Self {
            name: query.get("name").map(TextFilter::of),
            account_id: query.get("account.id").map(str::to_owned),
            account_name: query.get("account.name").map(TextFilter::of),
            status,
            kinds,
            any,
            order,
            descending,
        })
    }

    pub(super) fn keeps(&self, zone: &Zone, account_name: &str, now: Timestamp) -> bool {
        // Cloudflare API docs: internal zones are listed only when asked for.
        let kind_fits = match self.kinds.as_slice() {
            [] => zone.kind != ZoneType::Internal,
            kinds => kinds.contains(&zone.kind),
        };
        let verdicts = [
            self.name.as_ref().map(|filter| filter.keeps(&zone.name)),
            self.account_id.as_ref().map(|id| *id == zone.account_id),
            self.account_name.as_ref().map(|filter| filter.keeps(account_name)),
            self.status.as_ref().map(|status| status == zone.status_at(now)),
        ];
        let mut given = verdicts.into_iter().flatten().peekable();
        let fits = if self.any && given.peek().is_some() {
            given.any(|verdict| verdict)
        } else {
            given.all(|verdict| verdict)
        };
        kind_fits && fits
    }

    pub(super) fn sort(&self, rows: &mut [(&Zone, &str)], now: Timestamp) {
        rows.sort_by(|(a, a_account), (b, b_account)| {
            let first = match self.order {
                OrderBy::Name => Ordering::Equal,
                OrderBy::Status => a.status_at(now).cmp(b.status_at(now)),
                OrderBy::AccountId => a.account_id.cmp(&b.account_id),
                OrderBy::AccountName => a_account.cmp(b_account),
                OrderBy::PlanId => a.plan.cmp(&b.plan),
            };
            let whole = first.then_with(|| a.name.cmp(&b.name)).then_with(|| a.id.cmp(&b.id));
            if self.descending { whole.reverse() } else { whole }
        });
    }
}
