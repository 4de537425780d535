//! The shapes in which objects go out: as they are, metadata alone, or rows of a table. Leaves the columns
//! to `table`.

use bytes::{BufMut, Bytes, BytesMut};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::form;
use super::read::Page;
use super::resource::Endpoint;
use super::status::{Reason, Status};
use super::store::Stored;
use super::table::{self, IncludeObject};

/// The shape that a client accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Plain,
    Metadata,
    Table(IncludeObject),
}

/// Picks the first entry of an `Accept` header that this server can give.
pub(crate) fn negotiate(endpoint: &Endpoint, accept: &str, include: &str) -> Result<Shape, Status> {
    if accept.trim().is_empty() {
        return Ok(Shape::Plain);
    }
    for entry in accept.split(',') {
        let mut parts = entry.split(';').map(str::trim);
        if !matches!(parts.next(), Some("application/json" | "*/*" | "application/*")) {
            continue;
        }
        let parameters: Vec<(&str, &str)> = parts.filter_map(|part| part.split_once('=')).collect();
        let get = |name: &str| parameters.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        match (get("as"), get("g"), get("v")) {
            (None, _, _) => return Ok(Shape::Plain),
            (Some("Table"), Some("meta.k8s.io"), Some("v1" | "v1beta1")) => {
                return Ok(Shape::Table(IncludeObject::parse(include)?));
            }
            (
                Some("PartialObjectMetadata" | "PartialObjectMetadataList"),
                Some("meta.k8s.io"),
                Some("v1" | "v1beta1"),
            ) => {
                return Ok(Shape::Metadata);
            }
            _ => {}
        }
    }
    let known = accept.split(',').any(|entry| {
        matches!(entry.split(';').next().map(str::trim), Some("application/json" | "*/*" | "application/*"))
    });
    if endpoint.resource.built_in.is_some() && !known {
        // It does not reach the handler.
        return Err(Status::bare(
            Reason::NotAcceptable,
            "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf, application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch",
        ));
    }
    let message = "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf";
    Err(Status::new(Reason::NotAcceptable, message))
}

/// Turns stored objects into bytes for one client.
#[derive(Clone, Debug)]
pub(crate) struct Presenter {
    pub(crate) endpoint: Endpoint,
    pub(crate) shape: Shape,
    pub(crate) now: Timestamp,
}

impl Presenter {
    /// One object as the answer to a get or a write.
    pub(crate) fn object(&self, object: &Stored) -> Bytes {
        match self.shape {
            Shape::Plain => self.plain(object),
            Shape::Metadata => metadata_only(&object.value).to_string().into(),
            Shape::Table(include) => {
                let version = object.version.to_string();
                self.table([object], include, json!({ "resourceVersion": version }), true)
            }
        }
    }

    /// An item of a list. Those of built-in kinds do not say what they are: Go decodes them without it.
    fn item(&self, object: &Stored) -> Bytes {
        if self.endpoint.resource.built_in.is_none() {
            return self.plain(object);
        }
        let mut value = form::from_store(&self.endpoint, &object.value).into_owned();
        if let Some(fields) = value.as_object_mut() {
            fields.remove("apiVersion");
            fields.remove("kind");
        }
        value.to_string().into()
    }

    fn plain(&self, object: &Stored) -> Bytes {
        if self.endpoint.is_storage_form() && object.version != 0 {
            return object.bytes();
        }
        form::from_store(&self.endpoint, &object.value).to_string().into()
    }

    /// A page of a list.
    pub(crate) fn page(&self, page: &Page) -> Bytes {
        let mut metadata = json!({ "resourceVersion": page.version.to_string() });
        if let Some(token) = &page.token {
            metadata["continue"] = json!(token);
        } else if self.endpoint.resource.built_in.is_none() && self.shape == Shape::Plain {
            // What has no Go type has no `omitempty`.
            metadata["continue"] = json!("");
        }
        if let Some(remaining) = page.remaining {
            metadata["remainingItemCount"] = json!(remaining);
        }
        let items = page.items.iter().map(AsRef::as_ref);
        let (api_version, kind) = match self.shape {
            Shape::Plain => (self.endpoint.api_version(), self.endpoint.resource.list_kind.clone()),
            Shape::Metadata => ("meta.k8s.io/v1".to_owned(), "PartialObjectMetadataList".to_owned()),
            Shape::Table(include) => return self.table(items, include, metadata, true),
        };
        let mut head = json!({ "apiVersion": api_version, "kind": kind, "metadata": metadata });
        if self.shape == Shape::Metadata && page.items.is_empty() {
            // A list that Go never made.
            head["items"] = Value::Null;
            return head.to_string().into();
        }
        let head = head.to_string();
        let mut body = BytesMut::new();
        body.put_slice(head.trim_end_matches('}').as_bytes());
        // The metadata is an object of its own: its brace was trimmed with the outer one.
        body.put_slice(b"},\"items\":[");
        for (index, item) in items.enumerate() {
            if index > 0 {
                body.put_u8(b',');
            }
            match self.shape {
                Shape::Plain => body.put_slice(&self.item(item)),
                _ => body.put_slice(metadata_only(&item.value).to_string().as_bytes()),
            }
        }
        body.put_slice(b"]}");
        body.freeze()
    }

    fn table<'s>(
        &self,
        objects: impl IntoIterator<Item = &'s Stored>,
        include: IncludeObject,
        metadata: Value,
        with_columns: bool,
    ) -> Bytes {
        let rows: Vec<Value> = objects
            .into_iter()
            .map(|object| {
                let shown = form::from_store(&self.endpoint, &object.value);
                let cells = table::cells(&self.endpoint, &object.value, self.now);
                let mut row = json!({ "cells": cells });
                match include {
                    IncludeObject::None => row["object"] = Value::Null,
                    IncludeObject::Metadata => row["object"] = metadata_only(&shown),
                    IncludeObject::Object => row["object"] = shown.into_owned(),
                }
                row
            })
            .collect();
        let columns = if with_columns { table::columns(&self.endpoint) } else { Vec::new() };
        json!({
            "kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": metadata,
            "columnDefinitions": columns, "rows": rows,
        })
        .to_string()
        .into()
    }

    /// One line of a watch.
    pub(crate) fn event(&self, kind: &str, object: &Stored, first: bool) -> Bytes {
        let body = match self.shape {
            Shape::Table(include) => {
                let version = object.version.to_string();
                self.table([object], include, json!({ "resourceVersion": version }), first)
            }
            _ => self.object(object),
        };
        line(kind, &body)
    }

    /// The line that says how far the client has seen.
    pub(crate) fn bookmark(&self, version: u64, ends_initial: bool) -> Bytes {
        let mut metadata = json!({ "resourceVersion": version.to_string() });
        if ends_initial {
            metadata["annotations"] = json!({ "k8s.io/initial-events-end": "true" });
        }
        let object = match self.shape {
            Shape::Plain => json!({
                "kind": self.endpoint.resource.kind, "apiVersion": self.endpoint.api_version(), "metadata": metadata,
            }),
            Shape::Metadata => {
                json!({ "kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": metadata })
            }
            Shape::Table(_) => json!({
                "kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": metadata,
                "columnDefinitions": [], "rows": [],
            }),
        };
        line("BOOKMARK", object.to_string().as_bytes())
    }
}

/// The line that ends a watch with an error.
pub(crate) fn error_line(status: &Status) -> Bytes {
    line("ERROR", status.to_value().to_string().as_bytes())
}

fn line(kind: &str, object: &[u8]) -> Bytes {
    let mut line = BytesMut::with_capacity(object.len() + 40);
    line.put_slice(format!("{{\"type\":\"{kind}\",\"object\":").as_bytes());
    line.put_slice(object);
    line.put_slice(b"}\n");
    line.freeze()
}

fn metadata_only(object: &Value) -> Value {
    json!({ "kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": object["metadata"] })
}
