//! Create, replace and patch: versions, generations, preconditions and finalizers, as
//! `k8s.io/apiserver/pkg/registry` keeps them. Leaves what follows from a write to `settle`, removal to
//! `delete`, and the content of objects to `admit`.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::admit::{self, FieldValidation, Part};
use super::builtins::BuiltIn;
use super::complaint;
use super::crd;
use super::document::Document;
use super::history::Author;
use super::names::finalizer_warnings;
use super::ownership::Managers;
use super::patch::{self, Patch};
use super::precondition::{
    self, asked_version, carry_metadata, check_finalizers, check_immutable, check_name, check_replaced,
    check_size, check_version, is_made_by_put, place,
};
use super::resource::Endpoint;
use super::status::{Status, Subject};
use super::store::{Key, State, Stored, Unsettled};
use super::tracking::{self, Given, Tracker};

/// How a write is meant.
#[derive(Clone, Debug, Default)]
pub(crate) struct WriteOptions {
    pub(crate) dry_run: bool,
    pub(crate) field_validation: FieldValidation,
    /// Who owns what it sets.
    pub(crate) manager: String,
}

/// Carries out writes on the state, at one moment.
pub(crate) struct Writer<'a> {
    pub(crate) state: &'a mut State,
    pub(crate) now: Timestamp,
    pub(crate) options: WriteOptions,
    /// What the answer warns of.
    pub(crate) warnings: Vec<String>,
    /// True while it does what follows from a write.
    pub(crate) is_settling: bool,
}

pub(crate) const NAMESPACES: Subject<'static> =
    Subject { group: "", plural: "namespaces", kind: "Namespace" };

impl<'a> Writer<'a> {
    pub(crate) fn new(state: &'a mut State, now: Timestamp, options: WriteOptions) -> Self {
        state.history.begin(now, Author::Client);
        Self { state, now, options, warnings: Vec::new(), is_settling: false }
    }

    /// The same for what people do.
    pub(crate) fn by_scene(self) -> Self {
        self.state.history.begin(self.now, Author::Scene);
        self
    }

    /// POST on a collection.
    pub(crate) fn create(
        &mut self,
        endpoint: &Endpoint,
        namespace: Option<&str>,
        body: Document,
    ) -> Result<Arc<Stored>, Status> {
        self.create_owned(endpoint, namespace, body, None)
    }

    /// The same, for a body whose owners are known.
    pub(crate) fn create_owned(
        &mut self,
        endpoint: &Endpoint,
        namespace: Option<&str>,
        body: Document,
        owners: Option<Managers>,
    ) -> Result<Arc<Stored>, Status> {
        let (mut value, warnings) = admit::decode(endpoint, body, self.options.field_validation)?;
        self.warnings.extend(warnings);
        let given = tracking::take(&mut value);
        place(endpoint, namespace, &mut value)?;
        self.name(&mut value);
        let name = value["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        self.check_namespace(endpoint, namespace, &name)?;
        crd::check_accepts_new(self.state, endpoint)?;
        if let Some(metadata) = value["metadata"].as_object_mut() {
            metadata.remove("deletionTimestamp");
            metadata.remove("deletionGracePeriodSeconds");
        }
        self.warnings.extend(precondition::once_each_owner(&mut value));
        admit::default(endpoint, &mut value);
        let owners = owners.unwrap_or_else(|| self.owners(endpoint, Part::Main, None, &value, given));
        let uid = self.state.next_uid();
        if let Some(metadata) = value["metadata"].as_object_mut() {
            metadata.insert("uid".to_owned(), json!(uid));
            metadata.insert("creationTimestamp".to_owned(), admit::seconds(self.now));
            if endpoint.resource.has_generation {
                metadata.insert("generation".to_owned(), json!(1));
            }
        }
        admit::split_status(endpoint, Part::Main, &mut value, None);
        self.state.addresses += 1;
        admit::complete(endpoint, Part::Main, &mut value, None, self.state.addresses)?;
        if endpoint.resource.built_in.is_none() {
            self.warnings.extend(finalizer_warnings(&value, None));
        }
        crd::check(self.state, endpoint, &mut value, self.now)?;
        let owners = self.with_definition_status(endpoint, None, &value, owners);
        tracking::put(&mut value, &owners, None);
        let is_filled = admit::read_back(endpoint, &mut value);
        if asked_version(&value).is_ok_and(|version| version != 0) {
            return Err(Status::unknown("resourceVersion should not be set on objects to be created"));
        }
        let key = Key::new(namespace, &name);
        match self.state.find(endpoint.resource.id, &key) {
            Some(found) if found.is_terminating() => {
                return Err(Status::still_exists(endpoint.subject(), &name));
            }
            Some(_) => return Err(Status::already_exists(endpoint.subject(), &name)),
            None => {}
        }
        check_size(&value)?;
        if self.options.dry_run {
            return Ok(Arc::new(Stored::new(value, 0)));
        }
        let stored = self.state.put(endpoint.resource.id, key.clone(), value);
        if is_filled {
            self.state.unfilled.insert((endpoint.resource.id, key));
        }
        self.after_put(endpoint, &stored);
        Ok(stored)
    }

    /// PUT on an object or its status; the second value is whether it is new.
    pub(crate) fn replace(
        &mut self,
        endpoint: &Endpoint,
        key: &Key,
        part: Part,
        body: Document,
    ) -> Result<(Arc<Stored>, bool), Status> {
        let given_body = body.clone();
        let (mut value, warnings) = admit::decode(endpoint, body, self.options.field_validation)?;
        self.warnings.extend(warnings);
        let namespace = (!key.namespace.is_empty()).then_some(key.namespace.as_str());
        place(endpoint, namespace, &mut value)?;
        check_name(key, &value)?;
        if is_made_by_put(endpoint) && self.state.find(endpoint.resource.id, key).is_none() {
            check_replaced(endpoint, key, &value, "", self.options.dry_run)?;
            asked_version(&value)?;
            return Ok((self.create_by_put(endpoint, namespace, given_body)?, true));
        }
        let old = self.existing(endpoint, key)?;
        check_replaced(endpoint, key, &value, old.uid(), self.options.dry_run)?;
        Ok((self.update(endpoint, key, part, value, &old, None)?, false))
    }

    /// A PUT of what is not there. Its warnings are told already.
    fn create_by_put(
        &mut self,
        endpoint: &Endpoint,
        namespace: Option<&str>,
        mut body: Document,
    ) -> Result<Arc<Stored>, Status> {
        let told = std::mem::take(&mut self.warnings);
        let asked =
            body.value["metadata"].as_object_mut().and_then(|metadata| metadata.remove("resourceVersion"));
        let created = self.create(endpoint, namespace, body);
        self.warnings = told;
        match asked {
            // What is only tried shows the version that it came with: no store has given it another.
            Some(version) if self.options.dry_run => created.map(|stored| {
                let mut value = stored.value.clone();
                value["metadata"]["resourceVersion"] = version;
                Arc::new(Stored::new(value, stored.version))
            }),
            _ => created,
        }
    }

    /// PATCH on an object or its status.
    pub(crate) fn patch(
        &mut self,
        endpoint: &Endpoint,
        key: &Key,
        part: Part,
        patch: &Patch,
    ) -> Result<Arc<Stored>, Status> {
        let old = self.existing(endpoint, key)?;
        let patched = patch.apply(endpoint, &old.value)?;
        check_type(endpoint, key, &patched.value)?;
        let updated = self.update_from(endpoint, key, part, patched, &old, None);
        updated.map_err(|status| {
            // The patched object is made once more: an error is rare.
            let patched = patch.apply(endpoint, &old.value).map(|patched| patch.quoted(&patched.value));
            patch::explain(&patched.unwrap_or_default(), status)
        })
    }

    /// An update whose object comes from the stored one.
    pub(crate) fn update_from(
        &mut self,
        endpoint: &Endpoint,
        key: &Key,
        part: Part,
        body: Document,
        old: &Arc<Stored>,
        owners: Option<Managers>,
    ) -> Result<Arc<Stored>, Status> {
        let (mut value, warnings) = admit::decode(endpoint, body, self.options.field_validation)?;
        self.warnings.extend(warnings);
        let namespace = (!key.namespace.is_empty()).then_some(key.namespace.as_str());
        place(endpoint, namespace, &mut value)?;
        check_name(key, &value)?;
        self.update(endpoint, key, part, value, old, owners)
    }

    fn existing(&self, endpoint: &Endpoint, key: &Key) -> Result<Arc<Stored>, Status> {
        let found = self.state.find(endpoint.resource.id, key);
        found.cloned().ok_or_else(|| Status::not_found(endpoint.subject(), &key.name))
    }

    fn update(
        &mut self,
        endpoint: &Endpoint,
        key: &Key,
        part: Part,
        mut value: Value,
        old: &Arc<Stored>,
        owners: Option<Managers>,
    ) -> Result<Arc<Stored>, Status> {
        let given = tracking::take(&mut value);
        check_version(endpoint, key, &value, old)?;
        check_immutable(endpoint, key, part, &value, old)?;
        self.warnings.extend(precondition::once_each_owner(&mut value));
        admit::default(endpoint, &mut value);
        let owners = owners.unwrap_or_else(|| self.owners(endpoint, part, Some(&old.value), &value, given));
        admit::split_status(endpoint, part, &mut value, Some(&old.value));
        carry_metadata(&mut value, &old.value);
        check_finalizers(endpoint, key, &value, old)?;
        let previous = &old.value;
        admit::complete(endpoint, part, &mut value, Some(previous), self.state.addresses)?;
        if endpoint.resource.built_in.is_none() && part == Part::Main {
            self.warnings.extend(finalizer_warnings(&value, Some(previous)));
        }
        crd::check(self.state, endpoint, &mut value, self.now)?;
        let owners = self.with_definition_status(endpoint, Some(previous), &value, owners);
        // What is stored is read as a body is: without the nulls that an apply may leave.
        admit::read_back(endpoint, &mut value);
        tracking::put(&mut value, &owners, Some(previous));
        // What was read has more than what was stored: the first write that changes nothing changes that.
        let is_unfilled = self.state.unfilled.contains(&(endpoint.resource.id, key.clone()));
        if value == *previous && !is_unfilled {
            return Ok(Arc::clone(old));
        }
        if endpoint.resource.has_generation && admit::differs_in_generation(endpoint, &value, previous) {
            let generation = previous["metadata"]["generation"].as_u64().unwrap_or_default();
            value["metadata"]["generation"] = json!(generation + 1);
        }
        check_size(&value)?;
        if self.options.dry_run {
            return Ok(Arc::new(Stored::new(value, old.version)));
        }
        if old.is_terminating() && is_free(&value) {
            // The write that takes the last finalizer away is the removal: it is answered, and stored nowhere.
            let removed = self.state.remove(endpoint.resource.id, key, old.value.clone());
            self.settle();
            let removed = removed.map(|_| Arc::new(Stored::new(value, old.version)));
            return removed.ok_or_else(|| Status::not_found(endpoint.subject(), &key.name));
        }
        let stored = self.state.put(endpoint.resource.id, key.clone(), value);
        self.after_put(endpoint, &stored);
        Ok(stored)
    }

    /// Who owns the fields of an object that a request without `apply` writes; nobody where owners are not told.
    fn owners(
        &self,
        endpoint: &Endpoint,
        part: Part,
        old: Option<&Value>,
        new: &Value,
        given: Given,
    ) -> Managers {
        if !self.state.tells_owners {
            return Managers::default();
        }
        Tracker::new(endpoint, part, self.now).after_update(old, new, given, &self.options.manager)
    }

    fn with_definition_status(
        &self,
        endpoint: &Endpoint,
        old: Option<&Value>,
        new: &Value,
        owners: Managers,
    ) -> Managers {
        if !self.state.tells_owners {
            return owners;
        }
        tracking::with_definition_status(endpoint, old, new, owners, self.now)
    }

    fn after_put(&mut self, endpoint: &Endpoint, stored: &Arc<Stored>) {
        match endpoint.resource.built_in {
            Some(BuiltIn::CustomResourceDefinition) => crd::serve(self.state, &stored.value),
            Some(BuiltIn::Namespace) if !stored.is_terminating() => {
                let name = stored.value["metadata"]["name"].as_str().unwrap_or_default().to_owned();
                self.ensure_service_account(&name);
            }
            Some(BuiltIn::Deployment | BuiltIn::ReplicaSet | BuiltIn::Pod) => {
                let namespace = stored.value["metadata"]["namespace"].as_str();
                let key = Key::new(namespace, stored.value["metadata"]["name"].as_str().unwrap_or_default());
                self.state.unsettled.push_back(Unsettled::Workload((endpoint.resource.id, key)));
                self.wake_owner(stored);
            }
            _ => {}
        }
        self.settle();
    }

    /// Every namespace has a ServiceAccount `default`, which the server makes.
    fn ensure_service_account(&mut self, namespace: &str) {
        let Some(endpoint) = self.state.registry.for_object("v1", "ServiceAccount") else { return };
        if self.state.find_named(&endpoint, namespace, "default").is_some() {
            return;
        }
        let account = json!({ "apiVersion": "v1", "kind": "ServiceAccount", "metadata": {
            "name": "default", "namespace": namespace, "uid": self.state.next_uid(),
            "creationTimestamp": admit::seconds(self.now),
        }});
        self.state.put(endpoint.resource.id, Key::new(Some(namespace), "default"), account);
    }

    fn name(&mut self, value: &mut Value) {
        /// A generated name leaves room for its suffix (`names.maxGeneratedNameLength`).
        const PREFIX_MAX: usize = 58;
        let metadata = &mut value["metadata"];
        if metadata["name"].is_string() {
            return;
        }
        // An object without a name is refused with all else that is wrong with it.
        let Some(prefix) = metadata["generateName"].as_str() else { return };
        let short: String = prefix.chars().take(PREFIX_MAX).collect();
        metadata["name"] = json!(format!("{short}{}", self.state.next_suffix()));
    }

    /// `NamespaceLifecycle`: nothing new in a namespace that is missing or going.
    fn check_namespace(
        &self,
        endpoint: &Endpoint,
        namespace: Option<&str>,
        name: &str,
    ) -> Result<(), Status> {
        let Some(namespace) = namespace else { return Ok(()) };
        let kind = self.state.registry.for_object("v1", "Namespace");
        let found = kind.and_then(|kind| self.state.find_named(&kind, "", namespace).cloned());
        let Some(found) = found else { return Err(Status::not_found(NAMESPACES, namespace)) };
        if found.is_terminating() {
            let why = format!(
                "unable to create new content in namespace {namespace} because it is being terminated"
            );
            return Err(Status::forbidden(endpoint.subject(), name, &why).with_cause(
                "NamespaceTerminating",
                &format!("namespace {namespace} is being terminated"),
                "metadata.namespace",
            ));
        }
        Ok(())
    }
}

/// A patch that turns a custom resource into another kind.
fn check_type(endpoint: &Endpoint, key: &Key, patched: &Value) -> Result<(), Status> {
    if endpoint.resource.built_in.is_some() {
        return Ok(());
    }
    let mut causes = Vec::new();
    for (field, wanted) in [("kind", &endpoint.resource.kind), ("apiVersion", &endpoint.api_version())] {
        let given = patched[field].as_str().unwrap_or_default();
        if given != wanted && !given.is_empty() {
            causes.push(complaint::invalid(field, given, format!("must be {wanted}")));
        }
    }
    let subject = Subject { kind: patched["kind"].as_str().unwrap_or_default(), ..endpoint.subject() };
    if causes.is_empty() { Ok(()) } else { Err(Status::invalid(subject, &key.name, causes)) }
}

/// True when nothing holds an object that is being deleted.
pub(crate) fn is_free(value: &Value) -> bool {
    let none = |list: &Value| list.as_array().is_none_or(Vec::is_empty);
    let namespace_holds = value["kind"] == "Namespace" && !none(&value["spec"]["finalizers"]);
    none(&value["metadata"]["finalizers"]) && !namespace_holds
}
