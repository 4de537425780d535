use super::File;
use crate::project::Project;
pub(super) fn files(_: &Project) -> Vec<File> {
    Vec::new()
}
