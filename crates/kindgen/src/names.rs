//! Names in other spellings: `accountID` as a Rust field, a file's stem as a Rust type.

/// `accountID` becomes `account_id`, `nameServers` becomes `name_servers`; a keyword gets a final underscore.
pub(crate) fn snake(camel: &str) -> String {
    let mut snake = String::new();
    let mut previous_lower = false;
    for letter in camel.chars() {
        if letter.is_ascii_uppercase() && previous_lower {
            snake.push('_');
        }
        previous_lower = !letter.is_ascii_uppercase();
        snake.push(letter.to_ascii_lowercase());
    }
    if matches!(snake.as_str(), "type" | "ref" | "match" | "use" | "mod" | "move" | "static" | "for" | "in") {
        snake.push('_');
    }
    snake
}

/// `dns_record`, `zoneRef` and `free-form` become `DnsRecord`, `ZoneRef` and `FreeForm`.
pub(crate) fn camel(name: &str) -> String {
    let mut camel = String::new();
    let mut upper = true;
    for letter in name.chars() {
        if !letter.is_ascii_alphanumeric() {
            upper = true;
        } else if upper {
            camel.push(letter.to_ascii_uppercase());
            upper = false;
        } else {
            camel.push(letter);
        }
    }
    camel
}

/// The paragraphs of a text as one line each: tables break lines where it suits their reader.
pub(crate) fn paragraphs(text: &str) -> String {
    let joined = |paragraph: &str| paragraph.lines().map(str::trim).collect::<Vec<_>>().join(" ");
    text.trim().split("\n\n").map(joined).collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings() {
        assert_eq!(snake("accountID"), "account_id");
        assert_eq!(snake("cloudflareMetadata"), "cloudflare_metadata");
        assert_eq!(snake("type"), "type_");
        assert_eq!(camel("dns_record"), "DnsRecord");
        assert_eq!(camel("zoneRef"), "ZoneRef");
    }

    #[test]
    fn paragraphs_lose_their_line_breaks_only() {
        assert_eq!(paragraphs("one\ntwo\n\nthree\n"), "one two\n\nthree");
    }
}
