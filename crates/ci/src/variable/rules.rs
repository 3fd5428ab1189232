//! Validation of names, values and scopes of variables.

use kernel::Faults;

use super::{Variable, VariableOwner};
use crate::{
    pipeline::{LONGEST_NAME, LONGEST_VALUE},
    ports::excess,
};

const LONGEST_OF_INSTANCE: usize = 10_000;
/// Shorter ones are found everywhere in a log.
const SHORTEST_MASKED: usize = 8;

const KEY: &str = "can contain only letters, digits and '_'.";
const SCOPE: &str =
    "can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.', '*' and spaces";
pub(super) const HIDDEN_STAYS: &str =
    "The visibility setting cannot be changed for masked and hidden variables.";

/// The number of a project's or group's variables, and their total size, sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Usage {
    pub count: i64,
    pub bytes: i64,
}

/// All of a place are read for each of its pipelines.
const MOST_BYTES: i64 = 4 << 20;

/// Why a place that may have `limit` variables can take no more.
pub(super) fn fullness(home: VariableOwner, usage: Usage, limit: i64) -> Option<String> {
    let name = match home {
        VariableOwner::Instance => "ci instance level variables",
        VariableOwner::Group(_) => "group ci variables",
        VariableOwner::Project(_) => "project ci variables",
    };
    let megabytes = MOST_BYTES >> 20;
    excess(name, usage.count, limit).or_else(|| {
        (usage.bytes > MOST_BYTES)
            .then(|| format!("Maximum size of {name} ({megabytes} MiB) exceeded"))
    })
}

/// What is wrong with a name, whosever it is.
pub(crate) fn name_faults(faults: &mut Faults, key: &str) {
    if key.is_empty() {
        faults.add("key", "can't be blank");
    }
    faults.at_most("key", Some(key), LONGEST_NAME);
    if key.is_empty() || !key.bytes().all(|sign| sign.is_ascii_alphanumeric() || sign == b'_') {
        faults.add("key", KEY);
    }
}

/// What is wrong with a variable of this value, besides its being there already.
pub(super) fn faults(variable: &Variable, value: &str) -> Faults {
    let mut faults = Faults::default();
    name_faults(&mut faults, &variable.key);
    if variable.masked && !may_be_masked(value, variable.raw) {
        faults.add("value", "is invalid");
    }
    match variable.home() {
        VariableOwner::Instance if value.chars().count() > LONGEST_OF_INSTANCE => {
            let text = format!(
                "The value of the provided variable exceeds the {LONGEST_OF_INSTANCE} character limit"
            );
            faults.add("value", text);
        }
        _ => faults.at_most("value", Some(value), LONGEST_VALUE),
    }
    let scope = &variable.environment_scope;
    if scope.is_empty() {
        faults.add("environment_scope", "can't be blank");
    }
    faults.at_most("environment_scope", Some(scope), LONGEST_NAME);
    if scope.is_empty() || !scope.bytes().all(is_of_scope) {
        faults.add("environment_scope", SCOPE);
    }
    faults.at_most("description", variable.description.as_deref(), LONGEST_NAME);
    faults
}

/// Whether a log can be searched for a value: a line break would be found nowhere, and signs that shells give a meaning
/// come out changed, unless the value is taken as it is.
fn may_be_masked(value: &str, raw: bool) -> bool {
    let fits = |sign: char| match raw {
        true => !sign.is_whitespace(),
        false => sign.is_ascii_alphanumeric() || "_+=/@:.~-".contains(sign),
    };
    value.chars().count() >= SHORTEST_MASKED && value.chars().all(fits)
}

fn is_of_scope(sign: u8) -> bool {
    sign.is_ascii_alphanumeric() || b"-_/${}.* ".contains(&sign)
}

#[cfg(test)]
mod tests {
    use kernel::{
        Faults,
        ids::{NamespaceId, ProjectId},
    };

    use super::{Usage, VariableOwner, fullness, may_be_masked, name_faults};

    #[test]
    fn a_masked_value_can_be_found_in_a_log() {
        for (value, plain, raw) in [
            ("abcdefg", false, false),
            ("abcdefgh", true, true),
            ("A9_+=/@:.~-", true, true),
            ("pass word", false, false),
            ("pass$word", false, true),
            ("pass\nword", false, false),
            ("päßwörter", false, true),
            ("", false, false),
        ] {
            assert_eq!(
                (may_be_masked(value, false), may_be_masked(value, true)),
                (plain, raw),
                "{value}"
            );
        }
    }

    #[test]
    fn a_name_is_one_of_a_shell() {
        let told = |key: &str| {
            let mut faults = Faults::default();
            name_faults(&mut faults, key);
            faults.into_fields().into_iter().map(|(_, texts)| texts.len()).sum::<usize>()
        };
        assert_eq!(["A_1", "", "A-B", "Ä", "A B"].map(told), [0, 2, 1, 1, 1]);
        assert_eq!((told(&"a".repeat(255)), told(&"a".repeat(256))), (0, 1));
    }

    #[test]
    fn a_place_takes_only_so_much() {
        let of = |home, count, bytes| fullness(home, Usage { count, bytes }, 25);
        for home in [
            VariableOwner::Instance,
            VariableOwner::Group(NamespaceId(1)),
            VariableOwner::Project(ProjectId(1)),
        ] {
            assert_eq!(of(home, 25, 4 << 20), None);
            assert!(of(home, 26, 0).is_some_and(|text| text.contains("(25)")));
            assert!(of(home, 1, (4 << 20) + 1).is_some_and(|text| text.contains("4 MiB")));
            assert_eq!(fullness(home, Usage { count: 26, bytes: 0 }, 0), None);
        }
    }
}
