//! The filters of the record list: exact values and parts of name, content, comment and tag; type, proxied,
//! and free text. Matching ignores case (cloudflare API docs).

use super::super::query::Query;
use super::kind::RecordType;
use super::record::Record;
use super::refusal::DnsRefusal;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Name,
    Content,
    Comment,
    Tag,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Test {
    Exact,
    Contains,
    StartsWith,
    EndsWith,
    Present,
    Absent,
}

#[derive(Debug)]
struct Condition {
    field: Field,
    test: Test,
    /// Lower case.
    wanted: String,
}

/// The parsed filters of one list.
#[derive(Debug)]
pub(super) struct Filter {
    conditions: Vec<Condition>,
    kind: Option<Option<RecordType>>,
    proxied: Option<bool>,
    search: Option<String>,
    any: bool,
    any_tag: bool,
}

impl Filter {
    pub(super) fn of(query: &Query) -> Result<Self, DnsRefusal> {
        let any = |field: &str| match query.get(field) {
            None | Some("all") => Ok(false),
            Some("any") => Ok(true),
            Some(_) => Err(DnsRefusal::body(format!("{field} must be any or all"))),
        };
        let proxied = match query.get("proxied") {
            None => None,
            Some("true") => Some(true),
            Some("false") => Some(false),
            Some(_) => return Err(DnsRefusal::field("proxied")),
        };
        Ok(Self {
            conditions: query.pairs().filter_map(|(key, value)| condition(key, value)).collect(),
            // A type that is none matches nothing.
            kind: query.get("type").map(|name| RecordType::of(&name.to_ascii_uppercase())),
            proxied,
            search: query.get("search").map(str::to_lowercase),
            any: any("match")?,
            any_tag: any("tag_match")?,
        })
    }

    /// The one name that all results have, if the filter says so.
    pub(super) fn exact_name(&self) -> Option<String> {
        let by_name =
            |condition: &&Condition| condition.field == Field::Name && condition.test == Test::Exact;
        if self.any {
            return None;
        }
        self.conditions.iter().find(by_name).map(|condition| condition.wanted.clone())
    }

    pub(super) fn keeps(&self, record: &Record) -> bool {
        let tags = |condition: &&Condition| condition.field == Field::Tag;
        let mut tag_verdicts = self.conditions.iter().filter(tags).map(|tag| tag.holds(record)).peekable();
        let tag_verdict = match (tag_verdicts.peek().is_some(), self.any_tag) {
            (false, _) => None,
            (true, true) => Some(tag_verdicts.any(|verdict| verdict)),
            (true, false) => Some(tag_verdicts.all(|verdict| verdict)),
        };
        let mut verdicts = self
            .conditions
            .iter()
            .filter(|condition| condition.field != Field::Tag)
            .map(|condition| condition.holds(record))
            .chain(tag_verdict)
            .chain(self.kind.map(|kind| kind == Some(record.fields.kind)))
            .chain(self.proxied.map(|proxied| proxied == record.fields.proxied))
            .chain(self.search.as_deref().map(|text| mentions(record, text)))
            .peekable();
        if self.any && verdicts.peek().is_some() {
            verdicts.any(|verdict| verdict)
        } else {
            verdicts.all(|verdict| verdict)
        }
    }
}

fn condition(key: &str, value: &str) -> Option<Condition> {
    let (field, test) = key.split_once('.').unwrap_or((key, ""));
    let field = match field {
        "name" => Field::Name,
        "content" => Field::Content,
        "comment" => Field::Comment,
        "tag" => Field::Tag,
        _ => return None,
    };
    let may_be_absent = matches!(field, Field::Comment | Field::Tag);
    let test = match test {
        // Cloudflare API docs: a tag's bare name means that the tag is present.
        "" if field == Field::Tag && !value.contains(':') => Test::Present,
        "" | "exact" => Test::Exact,
        "contains" => Test::Contains,
        "startswith" => Test::StartsWith,
        "endswith" => Test::EndsWith,
        "present" if may_be_absent => Test::Present,
        "absent" if may_be_absent => Test::Absent,
        _ => return None,
    };
    Some(Condition { field, test, wanted: value.to_lowercase() })
}

impl Condition {
    fn holds(&self, record: &Record) -> bool {
        let fields = &record.fields;
        match self.field {
            // Stored names are in lower case.
            Field::Name => self.fits(&fields.name),
            Field::Content => self.fits(&fields.content.to_lowercase()) || self.fits_unquoted(record),
            Field::Comment => match (self.test, &fields.comment) {
                (Test::Present, comment) => comment.is_some(),
                (Test::Absent, comment) => comment.is_none(),
                (_, comment) => comment.as_ref().is_some_and(|comment| self.fits(&comment.to_lowercase())),
            },
            Field::Tag => self.fits_tags(&fields.tags),
        }
    }

    /// TXT content is found in quotes and without them.
    fn fits_unquoted(&self, record: &Record) -> bool {
        record.fields.kind == RecordType::Txt
            && record
                .fields
                .content
                .strip_prefix('"')
                .and_then(|content| content.strip_suffix('"'))
                .is_some_and(|bare| self.fits(&bare.to_lowercase()))
    }

    /// `tag.present=name` looks at names, `tag.contains=name:part` and the like at the value of one name.
    fn fits_tags(&self, tags: &[String]) -> bool {
        let (name, value) = self.wanted.split_once(':').unwrap_or((&self.wanted, ""));
        let mut named = tags.iter().map(|tag| tag.to_lowercase()).filter_map(|tag| {
            let (tag_name, tag_value) = tag.split_once(':').unwrap_or((&tag, ""));
            (tag_name == name).then(|| tag_value.to_owned())
        });
        match self.test {
            Test::Present => named.next().is_some(),
            Test::Absent => named.next().is_none(),
            Test::Exact => named.any(|tag| tag == value),
            Test::Contains => named.any(|tag| tag.contains(value)),
            Test::StartsWith => named.any(|tag| tag.starts_with(value)),
            Test::EndsWith => named.any(|tag| tag.ends_with(value)),
        }
    }

    fn fits(&self, text: &str) -> bool {
        match self.test {
            Test::Exact => text == self.wanted,
            Test::Contains => text.contains(&self.wanted),
            Test::StartsWith => text.starts_with(&self.wanted),
            Test::EndsWith => text.ends_with(&self.wanted),
            Test::Present | Test::Absent => false,
        }
    }
}

/// Cloudflare API docs: `search` looks at all fields.
fn mentions(record: &Record, text: &str) -> bool {
    let fields = &record.fields;
    let comment = fields.comment.as_deref().unwrap_or("");
    [fields.name.as_str(), fields.content.as_str(), fields.kind.name(), comment]
        .into_iter()
        .chain(fields.tags.iter().map(String::as_str))
        .any(|field| field.to_lowercase().contains(text))
}
