//! What each request means: from method and route to an operation on the state and the answer's body.
//! Leaves bodies, faults and headers to `service`.

use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use serde_json::{Value, json};

use super::ApiServer;
use super::admit::{FieldValidation, Part};
use super::applying::Applied;
use super::builtins::BuiltIn;
use super::complaint;
use super::delete::{DeleteOptions, Deleted, Propagation, refused};
use super::discovery;
use super::document;
use super::identity;
use super::openapi;
use super::patch::Patch;
use super::present::{Presenter, negotiate};
use super::read::{self, ListOptions};
use super::resource::Endpoint;
use super::scale::is_scaled;
use super::schema::Cause;
use super::selector::Selector;
use super::service::Call;
use super::status::{self, Status, Subject};
use super::store::{Key, State};
use super::tracking::{MANAGER_BYTES_MAX, manager_name};
use super::uri::{self, Route};
use super::watch::{self, WatchOptions};
use super::write::{WriteOptions, Writer};
use crate::serve::AnswerBody;

/// The longest that a watch lasts which asks for more: far beyond any use, and no instant overflows.
const WATCH_MAX: Duration = Duration::from_secs(7 * 24 * 3_600);

/// The body of an answer.
pub(crate) enum Content {
    Bytes(Bytes),
    Text(String),
    Stream(AnswerBody),
}

/// An answer that is not an error.
pub(crate) struct Answer {
    pub(crate) code: StatusCode,
    pub(crate) content: Content,
    pub(crate) warnings: Vec<String>,
    /// Absent: JSON, or plain text for a text.
    pub(crate) media_type: Option<&'static str>,
}

impl Answer {
    pub(crate) fn ok(bytes: Bytes) -> Self {
        Self { code: StatusCode::OK, content: Content::Bytes(bytes), warnings: Vec::new(), media_type: None }
    }

    pub(crate) fn json(value: &Value) -> Self {
        Self::ok(value.to_string().into())
    }

    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self { content: Content::Text(text.into()), ..Self::ok(Bytes::new()) }
    }
}

impl ApiServer {
    /// Carries out one request.
    pub(crate) fn perform(&self, call: &Call) -> Result<Answer, Status> {
        let routed = uri::route(&self.state().registry, &call.path);
        match routed.route {
            Route::Collection { endpoint, namespace } => {
                self.on_collection(call, &endpoint, namespace.as_deref())
            }
            Route::Object { endpoint, key, subresource }
                if subresource.as_deref() == Some("scale") && is_scaled(&endpoint) =>
            {
                self.on_scale(call, &endpoint, &key)
            }
            Route::Object { endpoint, key, subresource } => {
                let part = part(&endpoint, &key, subresource.as_deref())?;
                self.on_object(call, &endpoint, &key, part)
            }
            Route::Server(parts) => self.on_server(call, &parts),
        }
    }

    fn on_collection(
        &self,
        call: &Call,
        endpoint: &Endpoint,
        namespace: Option<&str>,
    ) -> Result<Answer, Status> {
        let presenter = self.presenter(call, endpoint)?;
        match call.method.as_str() {
            "GET" | "HEAD" if call.query.flag("watch") => self.watch(call, presenter, namespace),
            "GET" | "HEAD" => {
                let options = list_options(call, endpoint)?;
                let page = read::list(&self.state(), endpoint, namespace, &options)?;
                Ok(Answer::ok(presenter.page(&page)))
            }
            "POST" | "DELETE" if endpoint.resource.namespaced && namespace.is_none() => {
                // Across all namespaces there are lists and watches alone.
                Err(match endpoint.resource.built_in {
                    Some(_) => Status::method_not_allowed(),
                    None => return Ok(no_page()),
                })
            }
            "POST" => {
                let body = document::parse_object(endpoint, &call.content_type, &call.body)?;
                let mut state = self.state();
                let mut writer = self.writer_for(&mut state, call)?;
                let created = writer.create(endpoint, namespace, body);
                let (stored, warnings) = warned(&mut writer, created)?;
                let answer = Answer::ok(presenter.object(&stored));
                Ok(Answer { code: StatusCode::CREATED, warnings, ..answer })
            }
            "DELETE" if endpoint.resource.built_in == Some(BuiltIn::Namespace) => {
                Err(Status::method_not_allowed())
            }
            "DELETE" => self.delete_collection(call, endpoint, namespace, &presenter),
            "PUT" | "PATCH" if endpoint.resource.built_in.is_none() => {
                Err(Status::bad_request("name must be provided"))
            }
            _ => Err(not_allowed(endpoint, verb(call))),
        }
    }

    fn delete_collection(
        &self,
        call: &Call,
        endpoint: &Endpoint,
        namespace: Option<&str>,
        presenter: &Presenter,
    ) -> Result<Answer, Status> {
        let options = list_options(call, endpoint)?;
        let (delete, dry_run) = delete_options(call)?;
        let mut state = self.state();
        let page = read::list(&state, endpoint, namespace, &options)?;
        let mut writer = self.writer_for(&mut state, call)?;
        writer.options.dry_run |= dry_run;
        for object in &page.items {
            let metadata = &object.value["metadata"];
            let key = Key::new(metadata["namespace"].as_str(), metadata["name"].as_str().unwrap_or_default());
            match writer.delete(endpoint, &key, &delete) {
                Ok(_) => {}
                // It went with one that was deleted before it.
                Err(status) if status.code() == 404 => {}
                Err(status) => return Err(status),
            }
        }
        drop(state);
        // The answer shows what was there.
        Ok(Answer::ok(presenter.page(&page)))
    }

    fn on_object(&self, call: &Call, endpoint: &Endpoint, key: &Key, part: Part) -> Result<Answer, Status> {
        let presenter = self.presenter(call, endpoint)?;
        let mut state = self.state();
        match call.method.as_str() {
            "GET" | "HEAD" => {
                read::check_known(&state, call.query.get("resourceVersion"))?;
                let found = state.find(endpoint.resource.id, key);
                let found = found.ok_or_else(|| Status::not_found(endpoint.subject(), &key.name))?;
                Ok(Answer::ok(presenter.object(found)))
            }
            "PUT" => {
                let body = document::parse_object(endpoint, &call.content_type, &call.body)?;
                let mut writer = self.writer_for(&mut state, call)?;
                let replaced = writer.replace(endpoint, key, part, body);
                let ((stored, is_new), warnings) = warned(&mut writer, replaced)?;
                let code = if is_new { StatusCode::CREATED } else { StatusCode::OK };
                Ok(Answer { code, warnings, ..Answer::ok(presenter.object(&stored)) })
            }
            "PATCH" if is_apply(&call.content_type) => {
                self.apply_object(call, &mut state, endpoint, key, part)
            }
            "PATCH" => {
                let mut writer = self.writer_for(&mut state, call)?;
                let patch = Patch::parse(endpoint, &call.content_type, &call.body)?;
                let patched = writer.patch(endpoint, key, part, &patch);
                let (stored, warnings) = warned(&mut writer, patched)?;
                Ok(Answer { warnings, ..Answer::ok(presenter.object(&stored)) })
            }
            "DELETE" if part == Part::Main => {
                let (options, dry_run) = delete_options(call)?;
                let mut writer = self.writer_for(&mut state, call)?;
                writer.options.dry_run |= dry_run;
                match writer.delete(endpoint, key, &options)? {
                    Deleted::Gone(object) if shows_what_it_deletes(endpoint) => {
                        Ok(Answer::ok(presenter.object(&object)))
                    }
                    Deleted::Gone(object) => {
                        Ok(Answer::json(&status::success(endpoint.subject(), &key.name, object.uid())))
                    }
                    Deleted::Waiting(object) => Ok(Answer::ok(presenter.object(&object))),
                }
            }
            _ => Err(not_allowed(endpoint, verb(call))),
        }
    }

    fn on_server(&self, call: &Call, parts: &[String]) -> Result<Answer, Status> {
        let words: Vec<&str> = parts.iter().map(String::as_str).collect();
        let state = self.state();
        match words.as_slice() {
            ["healthz" | "livez" | "readyz", ..] => Ok(Answer::text("ok")),
            ["openapi", "v2"] => Ok(openapi::version_2(&call.accept)),
            ["openapi", "v3", rest @ ..] => openapi::answer(&state.registry, rest),
            _ => match discovery::answer(&state.registry, call, &words) {
                Err(status) if status.code() == 404 && !is_typed(&state, &words) => Ok(no_page()),
                other => other,
            },
        }
    }

    fn apply_object(
        &self,
        call: &Call,
        state: &mut State,
        endpoint: &Endpoint,
        key: &Key,
        part: Part,
    ) -> Result<Answer, Status> {
        let presenter = self.presenter(call, endpoint)?;
        let config = document::parse_apply(&call.body)?;
        let applied = Applied { config, force: call.query.flag("force") };
        let mut writer = self.writer_for(state, call)?;
        let applied = writer.apply(endpoint, key, part, &applied);
        let ((stored, is_new), warnings) = warned(&mut writer, applied)?;
        let code = if is_new { StatusCode::CREATED } else { StatusCode::OK };
        Ok(Answer { code, warnings, ..Answer::ok(presenter.object(&stored)) })
    }

    fn watch(&self, call: &Call, presenter: Presenter, namespace: Option<&str>) -> Result<Answer, Status> {
        let query = &call.query;
        let (labels, fields) = (query.get("labelSelector"), query.get("fieldSelector"));
        let selector = Selector::parse(&presenter.endpoint, labels, fields)?;
        let timeout = match query.get("timeoutSeconds") {
            "" | "0" => None,
            seconds => {
                let seconds: u64 = seconds.parse().map_err(|_| bad_number(seconds))?;
                Some(Duration::from_secs(seconds).min(WATCH_MAX))
            }
        };
        let options = WatchOptions {
            presenter,
            namespace: namespace.map(str::to_owned),
            selector,
            resource_version: query.get("resourceVersion").to_owned(),
            version_match: query.get("resourceVersionMatch").to_owned(),
            bookmarks: query.flag("allowWatchBookmarks"),
            send_initial: (!query.get("sendInitialEvents").is_empty())
                .then(|| query.flag("sendInitialEvents")),
            timeout,
            path: call.path.clone(),
        };
        let body = watch::start(self, options)?;
        Ok(Answer { content: Content::Stream(body), ..Answer::ok(Bytes::new()) })
    }

    fn presenter(&self, call: &Call, endpoint: &Endpoint) -> Result<Presenter, Status> {
        let shape = negotiate(endpoint, &call.accept, call.query.get("includeObject"))?;
        Ok(Presenter { endpoint: endpoint.clone(), shape, now: self.inner.clock.now() })
    }

    pub(crate) fn writer_for<'s>(&self, state: &'s mut State, call: &Call) -> Result<Writer<'s>, Status> {
        check_options(call)?;
        let field_validation = match call.query.get("fieldValidation") {
            "Ignore" => FieldValidation::Ignore,
            "Strict" => FieldValidation::Strict,
            _ => FieldValidation::Warn,
        };
        let manager = manager_name(call.query.get("fieldManager"), &call.user_agent);
        let options = WriteOptions { dry_run: call.query.get("dryRun") == ALL, field_validation, manager };
        Ok(Writer::new(state, self.inner.clock.now(), options))
    }
}

/// Whether a path is below a group of built-in kinds, whose answers are the API's own.
fn is_typed(state: &State, words: &[&str]) -> bool {
    let served = |group: &str| {
        let mut all = state.registry.all();
        all.any(|resource| {
            resource.built_in.is_some()
                && (resource.group == group || resource.other_group.as_deref() == Some(group))
        })
    };
    match words {
        ["api", ..] => true,
        ["apis", group, ..] => served(group),
        _ => false,
    }
}

/// What Go's multiplexer answers when nothing is registered for a path.
fn no_page() -> Answer {
    Answer { code: StatusCode::NOT_FOUND, ..Answer::text("404 page not found\n") }
}

fn is_apply(content_type: &str) -> bool {
    content_type
        .split(';')
        .next()
        .is_some_and(|media_type| media_type.trim() == "application/apply-patch+yaml")
}

/// The one value of `dryRun`.
const ALL: &str = "All";

/// The outcome of a write with its warnings, which are told beside an error, too.
fn warned<T>(writer: &mut Writer<'_>, outcome: Result<T, Status>) -> Result<(T, Vec<String>), Status> {
    let warnings = std::mem::take(&mut writer.warnings);
    match outcome {
        Ok(done) => Ok((done, warnings)),
        Err(mut status) => {
            status.details.warnings = warnings;
            Err(status)
        }
    }
}

/// Kinds whose delete answers with the object (`ReturnDeletedObject`).
fn shows_what_it_deletes(endpoint: &Endpoint) -> bool {
    matches!(
        endpoint.resource.built_in,
        Some(BuiltIn::Namespace | BuiltIn::Service | BuiltIn::ServiceAccount)
    )
}

/// The options of a write. An apply has to say who writes, and nothing else may be forced.
fn check_options(call: &Call) -> Result<(), Status> {
    let asked = call.query.get("fieldManager");
    let mut causes = Vec::new();
    if call.method == "PATCH" {
        if is_apply(&call.content_type) {
            if asked.is_empty() {
                causes.push(complaint::required("fieldManager", "is required for apply patch"));
            }
        } else if !call.query.get("force").is_empty() {
            causes.push(complaint::forbidden("force", "may not be specified for non-apply patch"));
        }
    }
    if asked.len() > MANAGER_BYTES_MAX {
        causes.push(complaint::too_long("fieldManager", MANAGER_BYTES_MAX));
    }
    for (at, letter) in asked.char_indices().filter(|(_, letter)| letter.is_control()) {
        let why = format!("invalid character U+{:04X} (at position {at})", u32::from(letter));
        causes.push(complaint::invalid("fieldManager", asked, why));
    }
    causes.extend(dry_run_cause(call.query.get("dryRun")));
    let validation = call.query.get("fieldValidation");
    if !matches!(validation, "" | "Ignore" | "Warn" | "Strict") {
        causes.push(complaint::unsupported("fieldValidation", validation, &["", "Ignore", "Strict", "Warn"]));
    }
    if causes.is_empty() {
        return Ok(());
    }
    let kind = match call.method.as_str() {
        "POST" => "CreateOptions",
        "PUT" => "UpdateOptions",
        "DELETE" => "DeleteOptions",
        _ => "PatchOptions",
    };
    Err(Status::invalid(Subject { group: "meta.k8s.io", plural: "", kind }, "", causes))
}

fn dry_run_cause(asked: &str) -> Option<Cause> {
    if asked.is_empty() || asked == ALL {
        return None;
    }
    let message = format!("Unsupported value: [{asked:?}]: supported values: \"All\"");
    Some(Cause { message, ..complaint::unsupported("dryRun", "", &[]) })
}

fn part(endpoint: &Endpoint, key: &Key, subresource: Option<&str>) -> Result<Part, Status> {
    match subresource {
        None => Ok(Part::Main),
        Some("status") if endpoint.has_status() => Ok(Part::Status),
        Some(_) if endpoint.resource.built_in.is_none() => {
            Err(Status::not_found(endpoint.subject(), &key.name))
        }
        Some(_) => Err(Status::no_such_resource()),
    }
}

/// What a request does to an object, as the server calls it.
fn verb(call: &Call) -> &'static str {
    match call.method.as_str() {
        "POST" => "create",
        "PUT" => "update",
        "PATCH" => "patch",
        "DELETE" => "delete",
        _ => "get",
    }
}

fn not_allowed(endpoint: &Endpoint, verb: &str) -> Status {
    match endpoint.resource.built_in {
        Some(_) => Status::method_not_allowed(),
        None => Status::not_supported(endpoint.subject(), verb),
    }
}

fn bad_number(text: &str) -> Status {
    Status::bad_request(format!("strconv.ParseInt: parsing {text:?}: invalid syntax"))
}

fn list_options(call: &Call, endpoint: &Endpoint) -> Result<ListOptions, Status> {
    let query = &call.query;
    let limit = match query.get("limit") {
        "" => 0,
        // Less than nothing is no limit.
        text => usize::try_from(text.parse::<i64>().map_err(|_| bad_number(text))?).unwrap_or_default(),
    };
    Ok(ListOptions {
        selector: Selector::parse(endpoint, query.get("labelSelector"), query.get("fieldSelector"))?,
        limit,
        token: Some(query.get("continue").to_owned()),
        resource_version: query.get("resourceVersion").to_owned(),
        version_match: query.get("resourceVersionMatch").to_owned(),
        sends_initial: !query.get("sendInitialEvents").is_empty(),
    })
}

/// Options of a delete, from its body or its query; the second is whether the body asks for a dry run.
fn delete_options(call: &Call) -> Result<(DeleteOptions, bool), Status> {
    let body = if call.body.is_empty() {
        json!({})
    } else {
        document::parse_options(&call.content_type, &call.body)?
    };
    if let Some(kind) = body["kind"].as_str().filter(|kind| !matches!(*kind, "" | "DeleteOptions")) {
        let version = body["apiVersion"].as_str().unwrap_or_default();
        return Err(Status::bad_request(identity::unregistered(kind, version)));
    }
    let mut options = DeleteOptions::from_body(&body)?;
    match call.query.get("propagationPolicy") {
        "" => {}
        policy => options.propagation = Some(Propagation::parse(policy)?),
    }
    let asked = body["dryRun"].as_array().and_then(|all| all.first()).and_then(Value::as_str);
    let asked = asked.unwrap_or_default();
    match dry_run_cause(asked) {
        Some(cause) => Err(refused(cause)),
        None => Ok((options, asked == ALL)),
    }
}
