//! Rules for names and URLs of environments.

use kernel::{Error, Faults, Result, Ts};

use super::{Environment, EnvironmentState, Tier};

const LONGEST: usize = 255;
const NAME_PROBLEM: &str = "can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.', and spaces, but it cannot start or end with '/'";

/// Attributes of an environment that users set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvironmentAttributes {
    pub name: String,
    pub external_url: Option<String>,
    pub tier: Tier,
}

/// Whether an environment may be called so.
pub fn is_name(name: &str) -> bool {
    let fits = |sign: char| sign.is_ascii_alphanumeric() || "-_/${}. ".contains(sign);
    let is_in_bounds = !name.is_empty() && name.len() <= LONGEST;
    is_in_bounds && name.chars().all(fits) && !name.starts_with('/') && !name.ends_with('/')
}

/// Whether an environment may be shown at this address.
pub(crate) fn is_address(url: &str) -> bool {
    url_problem(url).is_none()
}

fn url_problem(url: &str) -> Option<&'static str> {
    if url.trim_start().to_ascii_lowercase().starts_with("javascript:") {
        return Some("javascript URI scheme is not allowed");
    }
    let is_broken = url.contains(|sign: char| sign.is_control() || sign.is_whitespace());
    is_broken.then_some("URI is invalid")
}

impl EnvironmentAttributes {
    /// What is wrong with them, beside what only the database tells.
    pub(super) fn faults(&self) -> Faults {
        let mut faults = Faults::default();
        if self.name.trim().is_empty() {
            faults.add("name", "can't be blank");
        }
        faults.at_most("name", Some(&self.name), LONGEST);
        if self.name.chars().count() <= LONGEST && !is_name(&self.name) {
            faults.add("name", NAME_PROBLEM);
        }
        faults.at_most("external_url", self.external_url.as_deref(), LONGEST);
        if let Some(problem) = self.external_url.as_deref().and_then(url_problem) {
            faults.add("external_url", problem);
        }
        faults
    }
}

impl Environment {
    /// Refuses to remove what was not stopped.
    pub(super) fn ensure_removable(&self) -> Result<()> {
        match self.state {
            EnvironmentState::Stopped => Ok(()),
            EnvironmentState::Available | EnvironmentState::Stopping => Err(Error::forbidden()),
        }
    }

    /// Whether it stops by itself by now.
    pub fn is_overdue(&self, now: Ts) -> bool {
        self.state == EnvironmentState::Available && self.auto_stop_at.is_some_and(|at| at <= now)
    }
}

#[cfg(test)]
mod tests {
    use super::{EnvironmentAttributes, is_address, is_name};
    use crate::environment::Tier;

    #[test]
    fn names_hold_letters_digits_and_a_few_signs() {
        for name in ["production", "review/$REF", "a b.c_{d}", "-"] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", "/a", "a/", "a:b", "ä", "a\n"] {
            assert!(!is_name(name), "{name}");
        }
    }

    #[test]
    fn what_is_wrong_is_told_by_field() {
        let attributes = EnvironmentAttributes {
            name: "a".repeat(256),
            external_url: Some("javascript:alert(1)".to_owned()),
            tier: Tier::Other,
        };
        let fields = attributes.faults().into_fields();
        let told: Vec<&str> =
            fields.iter().flat_map(|(_, texts)| texts).map(String::as_str).collect();
        assert_eq!(
            told,
            ["is too long (maximum is 255 characters)", "javascript URI scheme is not allowed"]
        );
        assert!(is_address("https://example.com/a?b") && !is_address("https://a b"));
    }
}
