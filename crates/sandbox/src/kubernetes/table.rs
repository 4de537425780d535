//! placeholder
use super::resource::Endpoint;
use super::status::Status;
use serde_json::Value;
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IncludeObject {
    None,
    Metadata,
    Object,
}
impl IncludeObject {
    pub(crate) fn parse(text: &str) -> Result<Self, Status> {
        match text {
            "None" => Ok(Self::None),
            "Object" => Ok(Self::Object),
            "" | "Metadata" => Ok(Self::Metadata),
            o => Err(Status::bad_request(o.to_owned())),
        }
    }
}
pub(crate) fn columns(_: &Endpoint) -> Vec<Value> {
    vec![serde_json::json!({"name":"Name","type":"string","format":"name","description":"","priority":0})]
}
pub(crate) fn cells(_: &Endpoint, o: &Value, _: jiff::Timestamp) -> Vec<Value> {
    vec![o["metadata"]["name"].clone()]
}
