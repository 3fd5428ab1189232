//! What speaks against a status that is reported.

use kernel::{Faults, Result};

const LONGEST: usize = 255;

/// What is told of a status, beside its name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Told<'a> {
    pub name: &'a str,
    pub target_url: Option<&'a str>,
    pub description: Option<&'a str>,
}

impl Told<'_> {
    pub(super) fn check(self) -> Result<()> {
        let mut faults = Faults::default();
        if self.name.trim().is_empty() {
            faults.add("name", "can't be blank");
        }
        faults.at_most("name", Some(self.name), LONGEST);
        if self.target_url.is_some_and(|url| !is_web_address(url)) {
            faults.add("target_url", "is blocked: Only allowed schemes are http, https");
        }
        faults.at_most("target_url", self.target_url, LONGEST);
        faults.at_most("description", self.description, LONGEST);
        faults.into_result()
    }
}

/// An address of http or https that names a host.
fn is_web_address(url: &str) -> bool {
    let lower = url.to_ascii_lowercase();
    let after = ["http://", "https://"].into_iter().find_map(|scheme| lower.strip_prefix(scheme));
    let odd = |c: char| c.is_whitespace() || c.is_control();
    after.is_some_and(|rest| {
        !rest.contains(odd)
            && rest.split(['/', '?', '#']).next().is_some_and(|host| !host.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::is_web_address;

    #[test]
    fn only_addresses_of_the_web_are_followed() {
        for url in ["http://a", "https://ci.example.com/b/1?x#y", "HTTPS://A.b"] {
            assert!(is_web_address(url), "{url}");
        }
        for url in
            ["", "git://a", "http://", "https:///x", "javascript:alert(1)", "http://a b", "ci"]
        {
            assert!(!is_web_address(url), "{url}");
        }
    }
}
