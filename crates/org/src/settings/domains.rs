//! Allowed and denied e-mail domains.

use db::Tx;
use kernel::Result;
use regex::Regex;

use super::{Settings, store::SettingsStore};

/// Whether people with such an address may be let in.
pub fn is_welcome(tx: &mut Tx<'_>, email: &str) -> Result<bool> {
    Ok(tx.settings()?.welcomes(email))
}

impl Settings {
    pub fn welcomes(&self, email: &str) -> bool {
        if self.is_restricted(email) {
            return false;
        }
        let domain = email.rsplit_once('@').map_or("", |(_, domain)| domain).to_lowercase();
        let within =
            |list: &[String]| list.iter().any(|pattern| matches(&pattern.to_lowercase(), &domain));
        if !self.domain_allowlist.is_empty() {
            return within(&self.domain_allowlist);
        }
        !(self.domain_denylist_enabled && within(&self.domain_denylist))
    }
}

impl Settings {
    /// Whether the pattern of addresses that are not wanted fits this one.
    fn is_restricted(&self, email: &str) -> bool {
        let pattern = self.email_restrictions().filter(|_| self.email_restrictions_enabled());
        pattern.and_then(|text| Regex::new(text).ok()).is_some_and(|odd| odd.is_match(email))
    }
}

/// Whether a domain is as the pattern says, whose `*` stands for anything.
fn matches(pattern: &str, domain: &str) -> bool {
    let mut parts = pattern.trim().split('*');
    let Some(mut rest) = parts.next().and_then(|first| domain.strip_prefix(first)) else {
        return false;
    };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::Settings;

    fn settings(allowed: &[&str], denied: &[&str]) -> Settings {
        let owned = |list: &[&str]| list.iter().map(|&domain| domain.to_owned()).collect();
        Settings {
            domain_allowlist: owned(allowed),
            domain_denylist: owned(denied),
            domain_denylist_enabled: true,
            ..Settings::default()
        }
    }

    #[test]
    fn people_come_from_where_they_are_welcome() {
        assert!(settings(&[], &[]).welcomes("ada@anywhere.test"));
        let allowed = settings(&["good.test", "*.Fine.test"], &["good.test"]);
        assert!(allowed.welcomes("ada@GOOD.test"));
        assert!(allowed.welcomes("ada@very.fine.test"));
        assert!(!allowed.welcomes("ada@fine.test"));
        assert!(!allowed.welcomes("ada@not-good.test"));
        let denied = settings(&[], &["*bad*"]);
        assert!(!denied.welcomes("eve@so.bad.test"));
        assert!(denied.welcomes("eve@good.test"));
    }

    #[test]
    fn addresses_that_fit_the_restriction_are_not_welcome() {
        let with = |on: bool| -> Settings {
            let values = serde_json::json!({ "email_restrictions": "(@|\\.)bad\\.test$", "email_restrictions_enabled": on });
            serde_json::from_value(values).unwrap()
        };
        assert!(!with(true).welcomes("eve@bad.test") && !with(true).welcomes("eve@so.bad.test"));
        assert!(with(true).welcomes("eve@notbad.test") && with(false).welcomes("eve@bad.test"));
    }

    #[test]
    fn a_list_that_is_off_keeps_nobody_out() {
        let off = Settings { domain_denylist_enabled: false, ..settings(&[], &["bad.test"]) };
        assert!(off.welcomes("eve@bad.test"));
    }
}
