//! The names of the Ingress side: those of the controller that it takes over from, byte for byte, and its own.
//! Manifests and records that stand carry them, so none may ever change.

/// `controller` in an IngressClass, and in the JSON of an ownership record.
pub const CONTROLLER: &str = "strrl.dev/cloudflare-tunnel-ingress-controller";
/// Kept on an Ingress until its rules and records are gone.
pub const FINALIZER: &str = "strrl.dev/cloudflare-tunnel-ingress-controller-controlled";
/// The annotation by which an Ingress named its class before `spec.ingressClassName`.
pub const LEGACY_CLASS: &str = "kubernetes.io/ingress.class";
/// The kind that an IngressClass's `spec.parameters` may name.
pub const PARAMETERS_KIND: &str = "Tunnel";

/// Scheme of the origin, `http` when absent.
pub const BACKEND_PROTOCOL: &str = "cloudflare-tunnel-ingress-controller.strrl.dev/backend-protocol";
/// `on` or `off`: whether an https origin's certificate is verified.
pub const PROXY_SSL_VERIFY: &str = "cloudflare-tunnel-ingress-controller.strrl.dev/proxy-ssl-verify";
/// `true` or `false`: the inverse of the one above, for every scheme.
pub const NO_TLS_VERIFY: &str = "cloudflare-tunnel-ingress-controller.strrl.dev/no-tls-verify";
/// `Host` that the origin sees.
pub const HTTP_HOST_HEADER: &str = "cloudflare-tunnel-ingress-controller.strrl.dev/http-host-header";
/// Name that an https origin's certificate must have.
pub const ORIGIN_SERVER_NAME: &str = "cloudflare-tunnel-ingress-controller.strrl.dev/origin-server-name";
/// `true` leaves the host's records to someone else.
pub const DISABLE_DNS_MANAGEMENT: &str =
    "cloudflare-tunnel-ingress-controller.strrl.dev/disable-dns-management";
/// Go duration of whole seconds.
pub const CONNECT_TIMEOUT: &str = "cloudflare-tunnel-ingress-controller.strrl.dev/connect-timeout";
/// Go duration of whole seconds.
pub const TLS_TIMEOUT: &str = "cloudflare-tunnel-ingress-controller.strrl.dev/tls-timeout";
/// Go duration of whole seconds.
pub const TCP_KEEPALIVE: &str = "cloudflare-tunnel-ingress-controller.strrl.dev/tcp-keepalive";
/// Go duration of whole seconds.
pub const KEEPALIVE_TIMEOUT: &str = "cloudflare-tunnel-ingress-controller.strrl.dev/keepalive-timeout";
/// Idle connections that are kept to the origin; 0 keeps none.
pub const KEEPALIVE_CONNECTIONS: &str =
    "cloudflare-tunnel-ingress-controller.strrl.dev/keepalive-connections";
/// `true` or `false`.
pub const NO_HAPPY_EYEBALLS: &str = "cloudflare-tunnel-ingress-controller.strrl.dev/no-happy-eyeballs";
/// `true` or `false`.
pub const DISABLE_CHUNKED_ENCODING: &str =
    "cloudflare-tunnel-ingress-controller.strrl.dev/disable-chunked-encoding";
/// `true` or `false`; needs an https origin.
pub const HTTP2_ORIGIN: &str = "cloudflare-tunnel-ingress-controller.strrl.dev/http2-origin";

/// What stands before a host in the name of its ownership record.
pub const MARK_PREFIX: &str = "_ctic_managed.";
/// The domain below which Cloudflare answers for a tunnel's ID.
pub const TUNNEL_DOMAIN: &str = "cfargotunnel.com";

/// The comment that the old controller's first versions wrote instead of an ownership record.
#[must_use]
pub fn old_comment(tunnel: &str) -> String {
    format!("managed by {CONTROLLER}, tunnel [{tunnel}]")
}

/// The comment of records where no template is given, in Go's template syntax.
pub const COMMENT_TEMPLATE: &str =
    "managed by cloudflare-tunnel-ingress-controller, tunnel [{{.TunnelName}}]";
