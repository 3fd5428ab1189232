//! Variables: which of several of one name counts, what is written out where, and which name one another in a circle.

mod circle;
mod expand;
mod predefined;
mod scope;

use std::sync::LazyLock;

use regex::Regex;

pub use circle::circle;
pub use expand::{UnknownVariable, expand, expanded};
pub use predefined::{CommitFacts, Server, of_commit, of_project, of_server};
pub use scope::in_scope;
pub(super) use scope::{Lookup, View};

/// A variable as a job gets it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Variable {
    pub key: String,
    pub value: String,
    /// Whether everybody who sees the job may see it.
    pub public: bool,
    pub masked: bool,
    /// Whether the job gets the path of a file that holds the value.
    pub file: bool,
    /// Whether names in the value are left alone.
    pub raw: bool,
}

impl Variable {
    /// One that the server or a configuration sets.
    pub fn public(key: impl Into<String>, value: impl Into<String>) -> Self {
        let (key, value) = (key.into(), value.into());
        Self { key, value, public: true, masked: false, file: false, raw: false }
    }

    /// One that people set: on a project, a group, a schedule, or for one pipeline.
    pub fn secret(key: impl Into<String>, value: impl Into<String>) -> Self {
        Self { public: false, ..Self::public(key, value) }
    }
}

/// A variable that only jobs of some environments get.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScopedVariable {
    pub variable: Variable,
    /// A name, or a pattern in which `*` stands for anything.
    pub environment_scope: String,
}

impl ScopedVariable {
    /// One for all jobs.
    pub fn everywhere(variable: Variable) -> Self {
        Self { variable, environment_scope: "*".to_owned() }
    }
}

/// All variables but those of the configuration itself, by what they win against.
#[derive(Clone, Debug, Default)]
pub struct OuterVariables {
    /// Predefined: a variable of the configuration of the same name wins.
    pub beneath: Vec<Variable>,
    /// They win over the configuration: person, instance, groups, project, pipeline, schedule, each layer over the one
    /// before.
    pub above: Vec<Vec<ScopedVariable>>,
}

/// A name for addresses: small letters, digits and dashes, at most 63 of them.
pub fn slug(name: &str) -> String {
    let dashed = |sign: char| if sign.is_ascii_alphanumeric() { sign } else { '-' };
    let slug: String = name.to_lowercase().chars().map(dashed).take(63).collect();
    slug.trim_matches('-').to_owned()
}

/// The name that copies of a job share: without `1/3`, `: [a, b]` and the like at its end.
pub fn group_name(name: &str) -> &str {
    static COPY: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"(?:[\s:]+(?:\[.*\]|\d+[\s:/\\]+\d+))+\s*$").ok());
    let copy = COPY.as_ref().and_then(|copy| copy.find(name));
    copy.map_or(name, |copy| &name[..copy.start()]).trim()
}

#[cfg(test)]
mod tests {
    use super::{group_name, slug};

    #[test]
    fn copies_of_a_job_share_a_name() {
        for (name, group) in [
            ("unit 1/3", "unit"),
            ("unit: [a, b]", "unit"),
            ("unit 1 2", "unit"),
            ("unit: [a] 2/3", "unit"),
            ("unit 1", "unit 1"),
            ("1/3", "1/3"),
        ] {
            assert_eq!(group_name(name), group, "{name}");
        }
    }

    #[test]
    fn a_slug_is_short_and_plain() {
        assert_eq!(slug("Feature/Ünï_1."), "feature--n--1");
        assert_eq!(slug(&"a".repeat(70)), "a".repeat(63));
    }
}
