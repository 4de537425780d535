//! placeholder
use super::answer::Answer;
use super::resource::Registry;
use super::status::Status;
pub(crate) fn answer(_: &Registry, _: &[&str]) -> Result<Answer, Status> {
    Err(Status::no_such_resource())
}
