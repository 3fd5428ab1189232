//! The address of a webhook with places for values that nobody is to see, `https://a.example.com/{key}`.

use std::collections::{BTreeMap, BTreeSet};

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

/// Signs of a name, and of a value.
const LONGEST_NAME: usize = 255;
const LONGEST_VALUE: usize = 2_048;

/// The names in braces, in order.
pub fn placeholders(url: &str) -> Vec<&str> {
    let parts = url.split('{').skip(1);
    parts
        .filter_map(|part| part.split_once('}').map(|(name, _)| name))
        .filter(|n| is_name(n))
        .collect()
}

/// The address with all values.
pub fn fill(url: &str, values: &BTreeMap<String, String>) -> String {
    values.iter().fold(url.to_owned(), |url, (name, value)| {
        let is_host = url.starts_with(&format!("{{{name}}}"));
        // A value that holds the beginning of the address is not encoded.
        let value = match is_host {
            true => value.clone(),
            false => encoded(value),
        };
        url.replace(&format!("{{{name}}}"), &value)
    })
}

/// Scheme, host and port of an address: who is spoken to.
pub(super) fn origin(address: &str) -> (String, String) {
    let (scheme, rest) = address.split_once("://").unwrap_or(("", address));
    let scheme = scheme.to_ascii_lowercase();
    let place = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let host = place.rsplit('@').next().unwrap_or_default().to_ascii_lowercase();
    let usual = if scheme == "https" { ":443" } else { ":80" };
    let host = host.strip_suffix(usual).unwrap_or(&host).to_owned();
    (scheme, host)
}

/// Whether an address says who goes there, before its host.
pub(crate) fn names_user(url: &str) -> bool {
    parts_around_user(url).is_some()
}

/// Scheme, user, and what follows the user, of an address that names one.
fn parts_around_user(url: &str) -> Option<(&str, &str, &str)> {
    let (scheme, rest) = url.split_once("://")?;
    let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    let at = rest.get(..end)?.rfind('@')?;
    Some((scheme, rest.get(..at)?, rest.get(at + 1..)?))
}

/// Names of URL variables that are none yet.
struct NewNames<'a> {
    known: &'a BTreeSet<String>,
    new: BTreeSet<String>,
}

impl NewNames<'_> {
    /// A place for a variable that has a name like this one.
    fn place(&mut self, wanted: &str) -> String {
        const LONGEST_STEM: usize = 100;
        let is_usable = is_name(wanted) && wanted.len() <= LONGEST_STEM;
        let stem = if is_usable { wanted } else { "value" };
        let (mut name, mut number) = (stem.to_owned(), 1_usize);
        while self.known.contains(&name) || self.new.contains(&name) {
            number += 1;
            name = format!("{stem}_{number}");
        }
        let place = format!("{{{name}}}");
        self.new.insert(name);
        place
    }
}

/// An address with places for values where it has a user, a password or a query, and the names of these values, which are
/// none of the known ones. A part that has such a place already stays as it is.
pub(super) fn without_credentials(
    url: &str,
    known: &BTreeSet<String>,
) -> (String, BTreeSet<String>) {
    let mut names = NewNames { known, new: BTreeSet::new() };
    let masked = without_user(url, &mut names);
    let Some((place, query)) = masked.split_once('?') else { return (masked, names.new) };
    let without_value = |part: &str| match part.split_once('=') {
        Some((name, value)) if is_clear(value) => format!("{name}={}", names.place(name)),
        None if is_clear(part) => names.place(""),
        _ => part.to_owned(),
    };
    let query: Vec<String> = query.split('&').map(without_value).collect();
    let url = format!("{place}?{}", query.join("&"));
    (url, names.new)
}

/// As [`without_credentials`], for a query of more values than an address can have places for: all of it gets one.
pub(super) fn without_query(url: &str, known: &BTreeSet<String>) -> (String, BTreeSet<String>) {
    let mut names = NewNames { known, new: BTreeSet::new() };
    let masked = without_user(url, &mut names);
    let url = match masked.split_once('?') {
        Some((place, _)) => format!("{place}?{}", names.place("query")),
        None => masked,
    };
    (url, names.new)
}

/// The address without a user, a password and a query, where there is no room for another place.
pub(super) fn bare(url: &str) -> String {
    let url = match parts_around_user(url) {
        Some((scheme, _, rest)) => format!("{scheme}://{rest}"),
        None => url.to_owned(),
    };
    url.split('?').next().unwrap_or_default().to_owned()
}

fn is_clear(text: &str) -> bool {
    !text.is_empty() && placeholders(text).is_empty()
}

fn without_user(url: &str, names: &mut NewNames<'_>) -> String {
    match parts_around_user(url) {
        Some((scheme, user, rest)) if is_clear(user) => {
            format!("{scheme}://{}@{rest}", names.place("credentials"))
        }
        _ => url.to_owned(),
    }
}

fn encoded(value: &str) -> String {
    const KEPT: percent_encoding::AsciiSet = NON_ALPHANUMERIC
        .remove(b'-')
        .remove(b'.')
        .remove(b'_')
        .remove(b'~')
        .remove(b':')
        .remove(b'/');
    utf8_percent_encode(value, &KEPT).to_string()
}

fn is_name(name: &str) -> bool {
    let first = name.chars().next().is_some_and(|sign| sign.is_ascii_alphabetic());
    first
        && name.len() <= LONGEST_NAME
        && name.chars().all(|sign| sign.is_ascii_alphanumeric() || "_-.".contains(sign))
}

/// Whether a name or its value cannot be.
pub fn illegal_pair(name: &str, value: &str) -> bool {
    let control = |sign: char| sign.is_control();
    !is_name(name)
        || value.is_empty()
        || value.chars().count() > LONGEST_VALUE
        || value.contains(control)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::{
        bare, fill, illegal_pair, origin, placeholders, without_credentials, without_query,
    };

    #[test]
    fn names_in_braces_are_replaced_by_their_values() {
        let url = "https://a.example.com/{path}?t={key}";
        assert_eq!(placeholders(url), ["path", "key"]);
        let values = [("path", "x/y"), ("key", "a b&c")];
        let values: BTreeMap<_, _> =
            values.into_iter().map(|(k, v)| (k.to_owned(), v.to_owned())).collect();
        assert_eq!(fill(url, &values), "https://a.example.com/x/y?t=a%20b%26c");
        assert!(placeholders("https://a/{}{1}{").is_empty());
    }

    #[test]
    fn who_goes_to_an_address_and_what_is_in_its_query_become_places_for_values() {
        let known = BTreeSet::from(["key".to_owned()]);
        for (url, masked, names) in [
            ("https://a.test/b?", "https://a.test/b?", ""),
            ("https://a.test/{key}?t={key}", "https://a.test/{key}?t={key}", ""),
            ("https://ada:p%40@a.test/b", "https://{credentials}@a.test/b", "credentials"),
            ("https://a.test/b@c?x", "https://a.test/b@c?{value}", "value"),
            ("https://a.test?key=1&key=2", "https://a.test?key={key_2}&key={key_3}", "key_2 key_3"),
            (
                "https://a.test?a[]=1&b=&1",
                "https://a.test?a[]={value}&b=&{value_2}",
                "value value_2",
            ),
        ] {
            let (found, new) = without_credentials(url, &known);
            assert_eq!((found.as_str(), Vec::from_iter(new).join(" ").as_str()), (masked, names));
        }
    }

    #[test]
    fn a_query_can_get_one_place_or_none() {
        let known = BTreeSet::from(["query".to_owned()]);
        for (url, masked, names, stripped) in [
            ("https://a.test/b", "https://a.test/b", "", "https://a.test/b"),
            ("https://a.test/b?a=1&b", "https://a.test/b?{query_2}", "query_2", "https://a.test/b"),
            (
                "https://ada:p@a.test?a",
                "https://{credentials}@a.test?{query_2}",
                "credentials query_2",
                "https://a.test",
            ),
        ] {
            let (found, new) = without_query(url, &known);
            assert_eq!((found.as_str(), Vec::from_iter(new).join(" ").as_str()), (masked, names));
            assert_eq!(bare(url), stripped);
        }
    }

    #[test]
    fn another_scheme_host_or_port_is_another_receiver() {
        let one = origin("https://A.example.com/x?a=https://b");
        for same in ["HTTPS://a.example.com:443/y", "https://ada:pw@a.example.com"] {
            assert_eq!(origin(same), one, "{same}");
        }
        for other in ["http://a.example.com", "https://a.example.com:8443", "https://b.example.com"]
        {
            assert_ne!(origin(other), one, "{other}");
        }
    }

    #[test]
    fn a_pair_has_a_name_and_a_value() {
        assert!(!illegal_pair("a-b", "x"));
        for (name, value) in [("", "x"), ("1", "x"), ("a b", "x"), ("a", ""), ("a", "x\ny")] {
            assert!(illegal_pair(name, value), "{name:?} {value:?}");
        }
    }
}
