//! Text of files that people name, within a bound: what is named may be a device or a pipe that never ends.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The text of a file of at most so many bytes.
///
/// # Errors
/// Those of reading; [`io::ErrorKind::FileTooLarge`] for a longer one.
pub(crate) fn read(path: &Path, bytes_max: u64) -> io::Result<String> {
    let mut text = String::new();
    let bytes = File::open(path)?.take(bytes_max.saturating_add(1)).read_to_string(&mut text)?;
    if u64::try_from(bytes).is_ok_and(|bytes| bytes <= bytes_max) {
        Ok(text)
    } else {
        Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {bytes_max} bytes")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_never_ends_is_read_to_the_bound_and_refused() {
        let error = read(Path::new("/dev/zero"), 1_000).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge, "{error}");
        assert_eq!(read(Path::new("/dev/null"), 1_000).unwrap(), "");
    }
}
