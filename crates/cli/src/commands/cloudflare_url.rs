//! What an address of the Cloudflare API must not hold, so that it can be logged. That it is a URL is the transport's.

/// Why an address is refused. It is never quoted: a password may be in it.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum CloudflareUrlError {
    #[error(
        "--cloudflare-api-url (or CLOUDFLARE_API_URL) holds a user or a password before an @, which would be logged and \
         not be sent: remove it; tokens come from the Secret of the CloudflareAccount"
    )]
    UserInfo,
    #[error("--cloudflare-api-url (or CLOUDFLARE_API_URL) has a query or a fragment (? or #): remove it")]
    Rest,
}

/// Refuses user info, queries and fragments.
pub(super) fn check(url: &str) -> Result<(), CloudflareUrlError> {
    // An @ anywhere: a password may hold a slash, and no path of the API an @.
    if url.contains('@') {
        Err(CloudflareUrlError::UserInfo)
    } else if url.contains(['?', '#']) {
        Err(CloudflareUrlError::Rest)
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_hold_a_password_is_refused_and_not_quoted() {
        assert_eq!(check("https://api.cloudflare.com/client/v4"), Ok(()));
        assert_eq!(check("http://127.0.0.1:8080/client/v4"), Ok(()));
        for url in ["http://user:hunter2@host/x#f", "user:hunter2@host", "http://user:hun/ter2@host"] {
            let error = check(url).unwrap_err();
            assert_eq!(error, CloudflareUrlError::UserInfo, "{url}");
            assert!(!error.to_string().contains("ter2"), "{error}");
        }
        assert_eq!(check("http://host/x#hunter2"), Err(CloudflareUrlError::Rest));
        assert_eq!(check("http://host/x?key=hunter2"), Err(CloudflareUrlError::Rest));
    }
}
