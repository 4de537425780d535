//! Services of rules: where cloudflared sends what a rule matches, or what it answers itself.

use super::address::Address;
use super::refusal::Cause;

/// What answers instead of an origin.
const STATUS: &str = "http_status:";
/// A socket in the file system; any path will do.
const SOCKETS: [&str; 2] = ["unix:", "unix+tls:"];
/// A page of cloudflared's own, by either name.
const HELLO_WORLD: [&str; 2] = ["hello_world", "hello-world"];
const SOCKS_PROXY: &str = "socks-proxy";
const BASTION: &str = "bastion";
/// Schemes of which cloudflared speaks HTTP; with any other it passes bytes on.
const WEB: [&str; 4] = ["http", "https", "ws", "wss"];

/// What kind of service it is, as far as it matters to whether a configuration is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Service {
    /// Speaks HTTP with an origin, and reads the file of `caPool` when it starts.
    Web,
    /// Passes bytes on.
    Stream,
    /// A SOCKS proxy, with rules for addresses.
    Socks,
    /// Answers by itself.
    Status,
}

impl Service {
    /// Reads a rule's service. With `bastion` (`originRequest.bastionMode`) an address is not looked at.
    pub(super) fn parse(text: &str, bastion: bool) -> Result<Self, Cause> {
        if SOCKETS.iter().any(|prefix| text.starts_with(prefix)) || HELLO_WORLD.contains(&text) {
            return Ok(Self::Web);
        }
        if let Some(code) = text.strip_prefix(STATUS) {
            return if is_status(code) { Ok(Self::Status) } else { Err(Cause::Status) };
        }
        if text == SOCKS_PROXY {
            return Ok(Self::Socks);
        }
        if text == BASTION || bastion {
            return Ok(Self::Stream);
        }
        let address = Address::parse(text).map_err(Cause::Address)?;
        if address.scheme.is_empty() || address.hostname().is_empty() {
            return Err(Cause::AddressIncomplete);
        }
        if !address.path.is_empty() {
            return Err(Cause::AddressWithPath);
        }
        Ok(if WEB.contains(&address.scheme.as_str()) { Self::Web } else { Self::Stream })
    }
}

/// Whether a rule may have this service, given that `originRequest` does not make it a bastion.
///
/// # Errors
/// What cloudflared would not take.
pub fn check_service(service: &str) -> Result<(), Cause> {
    Service::parse(service, false).map(|_| ())
}

/// A number with or without a sign, as Go's `strconv.Atoi` reads it.
fn is_status(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number && text.parse::<i64>().is_ok_and(|code| (100..=999).contains(&code))
}
