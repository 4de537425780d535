//! The kubeconfig that a sandbox writes while it serves, and takes away when it ends.
//! Never replaces a file that a sandbox has not written.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::file_text;

/// How a file of ours begins.
const MARK: &str = "# Written by `kflare sandbox`, which removes it when it ends.\n";

/// Readable by its owner alone: kubectl warns about anything else.
const MODE: u32 = 0o600;

/// A kubeconfig of ours has some hundred bytes; a longer file is another's.
const BYTES_MAX: u64 = 64 * 1024;

/// How the line begins that names the server.
const SERVER: &str = "server: http://";

/// Loopback answers at once or not at all.
const CONNECT_MAX: Duration = Duration::from_millis(200);

/// Why the file cannot be written.
#[derive(Debug, thiserror::Error)]
pub(super) enum KubeconfigError {
    #[error("{} exists and no sandbox wrote it: name another file with --kubeconfig", .0.display())]
    Foreign(PathBuf),
    #[error("{} is another sandbox's, which listens on {address}: name another file with --kubeconfig", path.display())]
    InUse { path: PathBuf, address: SocketAddr },
    #[error("cannot write the kubeconfig {}: name another file with --kubeconfig", path.display())]
    Write { path: PathBuf, source: io::Error },
}

/// The file; dropping it removes it.
#[derive(Debug)]
pub(super) struct KubeconfigFile {
    path: PathBuf,
    content: String,
}

impl KubeconfigFile {
    /// Writes the file.
    pub(super) fn write(path: &Path, kubeconfig: &str) -> Result<Self, KubeconfigError> {
        let failed = |source| KubeconfigError::Write { path: path.to_owned(), source };
        match file_text::read(path, BYTES_MAX).map(String::into_bytes) {
            Ok(found) if !found.starts_with(MARK.as_bytes()) => {
                return Err(KubeconfigError::Foreign(path.to_owned()));
            }
            Ok(found) => {
                if let Some(address) = live_server(&found) {
                    return Err(KubeconfigError::InUse { path: path.to_owned(), address });
                }
                // One that was killed left it.
                fs::remove_file(path).map_err(failed)?;
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) if matches!(error.kind(), ErrorKind::FileTooLarge | ErrorKind::InvalidData) => {
                return Err(KubeconfigError::Foreign(path.to_owned()));
            }
            Err(error) => return Err(failed(error)),
        }
        let content = format!("{MARK}{kubeconfig}");
        let mut file =
            OpenOptions::new().write(true).create_new(true).mode(MODE).open(path).map_err(failed)?;
        if let Err(error) = file.write_all(content.as_bytes()) {
            // Half of it would be nobody's, and in the way of the next sandbox.
            let _ = fs::remove_file(path);
            return Err(failed(error));
        }
        Ok(Self { path: path.to_owned(), content })
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

/// The server of a kubeconfig of ours, when something listens there.
fn live_server(kubeconfig: &[u8]) -> Option<SocketAddr> {
    let text = std::str::from_utf8(kubeconfig).ok()?;
    let server = text.lines().find_map(|line| line.trim().strip_prefix(SERVER))?;
    let address = server.trim().parse().ok()?;
    TcpStream::connect_timeout(&address, CONNECT_MAX).is_ok().then_some(address)
}

impl Drop for KubeconfigFile {
    fn drop(&mut self) {
        // Another sandbox may have taken the name meanwhile.
        if fs::read(&self.path).is_ok_and(|found| found == self.content.as_bytes()) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory that goes with the test.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(test: &str) -> Self {
            let directory = std::env::temp_dir().join(format!("kflare-{}-{test}", std::process::id()));
            fs::create_dir_all(&directory).unwrap();
            Self(directory)
        }

        fn file(&self) -> PathBuf {
            self.0.join("kubeconfig")
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn it_goes_when_dropped_and_replaces_only_its_own_kind() {
        let scratch = Scratch::new("own");
        let path = scratch.file();
        let first = KubeconfigFile::write(&path, "one").unwrap();
        let second = KubeconfigFile::write(&path, "two").unwrap();
        drop(first);
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("{MARK}two"));
        drop(second);
        assert!(!path.exists());
    }

    #[test]
    fn a_file_of_someone_else_stays() {
        let scratch = Scratch::new("foreign");
        let path = scratch.file();
        fs::write(&path, "mine").unwrap();
        assert!(matches!(KubeconfigFile::write(&path, "x"), Err(KubeconfigError::Foreign(_))));
        assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
    }

    #[test]
    fn a_directory_that_is_missing_is_an_error_that_helps() {
        let error = KubeconfigFile::write(Path::new("no/such/kubeconfig"), "x").unwrap_err();
        assert!(error.to_string().ends_with("name another file with --kubeconfig"), "{error}");
    }

    #[test]
    fn a_sandbox_that_still_serves_keeps_its_file() {
        let scratch = Scratch::new("live");
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let kubeconfig =
            format!("clusters:\n- cluster:\n    server: http://{}\n", listener.local_addr().unwrap());
        let _held = KubeconfigFile::write(&scratch.file(), &kubeconfig).unwrap();
        let second = KubeconfigFile::write(&scratch.file(), "x");
        assert!(matches!(second, Err(KubeconfigError::InUse { .. })), "{second:?}");
        drop(listener);
        assert!(KubeconfigFile::write(&scratch.file(), "x").is_ok());
    }
}
