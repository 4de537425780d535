//! House rules.
use anyhow::Result;
use std::path::Path;
pub(crate) fn check(_root: &Path) -> Result<()> {
    Ok(())
}
