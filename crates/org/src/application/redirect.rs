//! Validation of redirect URIs.

use kernel::values::is_web_url;

/// Schemes whose addresses a browser runs, or reads from the machine that it is on.
const FORBIDDEN: [&str; 6] = ["about", "blob", "data", "file", "javascript", "vbscript"];

/// Addresses of programs that nobody can be sent back to: people carry the code there themselves.
const OUT_OF_BAND: [&str; 2] = ["urn:ietf:wg:oauth:2.0:oob", "urn:ietf:wg:oauth:2.0:oob:auto"];

/// Whether a code for this address is shown to the person, in place of sending them there.
pub fn is_out_of_band(address: &str) -> bool {
    OUT_OF_BAND.contains(&address)
}

/// What is wrong with one address; nothing where it can be used.
pub(super) fn fault(address: &str) -> Option<&'static str> {
    if is_out_of_band(address) {
        return None;
    }
    if address.contains('#') {
        return Some("cannot contain a fragment.");
    }
    let is_odd =
        |sign: char| sign.is_control() || sign.is_whitespace() || "\"<>\\^`{|}".contains(sign);
    if !address.is_ascii() || address.contains(is_odd) {
        return Some("must be a valid URI.");
    }
    let Some((scheme, rest)) = address.split_once(':') else {
        return Some("must be an absolute URI.");
    };
    let scheme = scheme.to_ascii_lowercase();
    let is_scheme = scheme.starts_with(|sign: char| sign.is_ascii_lowercase())
        && scheme.chars().all(|sign| sign.is_ascii_alphanumeric() || "+-.".contains(sign));
    if !is_scheme {
        return Some("must be an absolute URI.");
    }
    if FORBIDDEN.contains(&scheme.as_str()) {
        return Some("is forbidden by the server.");
    }
    let names_a_place = match scheme.as_str() {
        "http" | "https" => is_web_url(address) && !has_user(rest),
        // A program on somebody's machine, `com.example.app:/back`.
        _ => rest.starts_with('/'),
    };
    (!names_a_place).then_some("must be an absolute URI.")
}

/// Whether a name stands before the host, which people take for the host.
fn has_user(rest: &str) -> bool {
    let authority = rest.trim_start_matches('/').split(['/', '?']).next().unwrap_or_default();
    authority.contains('@')
}

#[cfg(test)]
mod tests {
    use super::fault;

    #[test]
    fn an_address_leads_to_one_place() {
        for address in [
            "https://a.example.com/back",
            "http://127.0.0.1:8080/back?x=1",
            "https://a.example.com",
            "com.example.app:/back",
            "myapp://back",
            "urn:ietf:wg:oauth:2.0:oob",
            "urn:ietf:wg:oauth:2.0:oob:auto",
        ] {
            assert_eq!(fault(address), None, "{address}");
        }
    }

    #[test]
    fn addresses_that_could_harm_are_refused() {
        let absolute = "must be an absolute URI.";
        for (address, text) in [
            ("https://a.example.com/#x", "cannot contain a fragment."),
            ("https://a.example.com/<b>", "must be a valid URI."),
            ("https://a.example.com\\@b", "must be a valid URI."),
            ("/back", absolute),
            ("a.example.com", absolute),
            ("https://", absolute),
            ("https:a.example.com", absolute),
            ("https://good.example.com@evil.example.com", absolute),
            ("urn:ietf:wg:oauth:2.0:other", absolute),
            ("URN:ietf:wg:oauth:2.0:oob", absolute),
            ("1a://x", absolute),
            ("JavaScript:alert(1)", "is forbidden by the server."),
            ("data:text/html,x", "is forbidden by the server."),
        ] {
            assert_eq!(fault(address), Some(text), "{address}");
        }
    }
}
