//! The API server's audit log: what the operator's account asked for, and what of it was refused.
//! Whether that is too much is for `privilege`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::cluster::ACCOUNT;
use crate::world::SECRET_NAMESPACE;

/// Where a line says what the roles said.
const DECISION: &str = "authorization.k8s.io/decision";

/// What a request needs the permission for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Use {
    pub(super) verb: String,
    pub(super) group: String,
    /// With its subresource, as roles have it.
    pub(super) resource: String,
    pub(super) namespace: String,
    pub(super) name: String,
}

/// What is read of a log so far.
#[derive(Debug, Default)]
pub(crate) struct Audit {
    path: PathBuf,
    offset: u64,
    /// The last line so far, which may not be whole.
    rest: Vec<u8>,
    pub(super) uses: BTreeSet<Use>,
    pub(super) refused: BTreeSet<String>,
    /// Writes but for those of the Lease.
    pub(super) writes: u64,
    /// Requests by verb and resource.
    pub(crate) asked: BTreeMap<(String, String), u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    verb: String,
    user: User,
    #[serde(default)]
    object_ref: Option<Object>,
    #[serde(default)]
    response_status: Option<Answer>,
    #[serde(default, rename = "requestURI")]
    uri: String,
    #[serde(default)]
    annotations: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct User {
    #[serde(default)]
    username: String,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Object {
    resource: String,
    subresource: String,
    namespace: String,
    name: String,
    api_group: String,
}

#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    code: u16,
}

impl Audit {
    /// Reads a log from its beginning.
    pub(super) fn of(path: PathBuf) -> Self {
        Self { path, ..Self::default() }
    }

    /// Reads a log from where it ends now.
    pub(crate) fn from_now(path: PathBuf) -> Self {
        let offset = std::fs::metadata(&path).map_or(0, |log| log.len());
        Self { offset, ..Self::of(path) }
    }

    /// Reads on.
    pub(crate) fn read_on(&mut self) -> std::io::Result<()> {
        let bytes = read_from(&self.path, self.offset)?;
        self.offset += bytes.len() as u64;
        self.hear(&bytes)
    }

    /// Takes the lines that are whole by now.
    fn hear(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.rest.extend_from_slice(bytes);
        let end = self.rest.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let lines: Vec<u8> = self.rest.drain(..end).collect();
        lines
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
            .try_for_each(|line| self.take(line))
    }

    /// A whole line that cannot be read fails: it could be a refusal.
    fn take(&mut self, line: &[u8]) -> std::io::Result<()> {
        let account = format!("system:serviceaccount:{SECRET_NAMESPACE}:{ACCOUNT}");
        let line: Line = serde_json::from_slice(line)?;
        if line.user.username != account {
            return Ok(());
        }
        // What the API server refuses although the roles allow it, such as an Event in a namespace that goes, is no matter of
        // privilege.
        let is_forbidden = line.annotations.get(DECISION).is_some_and(|decision| decision != "allow");
        if is_forbidden || line.response_status.is_some_and(|answer| answer.code == 401) {
            self.refused.insert(format!("{} {}", line.verb, line.uri));
        }
        // What every account may see, such as the list of what is served, is no object.
        let Some(object) = line.object_ref else { return Ok(()) };
        let is_read = matches!(line.verb.as_str(), "get" | "list" | "watch");
        self.writes += u64::from(!is_read && object.resource != "leases");
        let resource = match object.subresource.as_str() {
            "" => object.resource,
            subresource => format!("{}/{subresource}", object.resource),
        };
        *self.asked.entry((line.verb.clone(), resource.clone())).or_default() += 1;
        self.uses.insert(Use {
            verb: line.verb,
            group: object.api_group,
            resource,
            namespace: object.namespace,
            name: object.name,
        });
        Ok(())
    }
}

fn read_from(path: &Path, offset: u64) -> std::io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(user: &str, verb: &str, resource: &str, decision: &str, code: u16) -> Vec<u8> {
        serde_json::json!({
            "verb": verb,
            "user": { "username": user },
            "requestURI": "/x",
            "objectRef": { "resource": resource, "subresource": "status", "apiGroup": "kflare.dev" },
            "responseStatus": { "code": code },
            "annotations": { DECISION: decision },
        })
        .to_string()
        .into_bytes()
    }

    #[test]
    fn what_the_account_used_wrote_and_was_refused_is_read() {
        let mut audit = Audit::default();
        let account = "system:serviceaccount:kflare-system:kflare";
        audit.take(&line("admin", "patch", "zones", "allow", 200)).unwrap();
        audit.take(&line(account, "get", "zones", "allow", 200)).unwrap();
        audit.take(&line(account, "patch", "zones", "allow", 403)).unwrap();
        audit.take(&line(account, "patch", "zones", "forbid", 403)).unwrap();
        assert_eq!((audit.writes, audit.uses.len()), (2, 2));
        let asked = |verb: &str, n| ((verb.to_owned(), "zones/status".to_owned()), n);
        assert_eq!(audit.asked, [asked("get", 1), asked("patch", 2)].into());
        assert_eq!(audit.refused, ["patch /x".to_owned()].into());
        assert_eq!(audit.uses.first().unwrap().resource, "zones/status");
    }

    #[test]
    fn a_line_that_cannot_be_read_fails_once_it_is_whole() {
        let mut audit = Audit::default();
        let refusal = line("system:serviceaccount:kflare-system:kflare", "get", "zones", "forbid", 403);
        let (begun, rest) = refusal.split_at(40);
        audit.hear(begun).unwrap();
        assert!(audit.refused.is_empty());
        audit.hear(rest).unwrap();
        audit.hear(b"\n").unwrap();
        assert_eq!(audit.refused.len(), 1);
        audit.hear(begun).unwrap();
        assert!(audit.hear(b"\n").is_err());
    }
}
