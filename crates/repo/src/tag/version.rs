//! Names of tags in the order of the versions they stand for: `v1.9` before `v1.10`, `2.0-rc1` before `2.0`.

use std::cmp::Ordering;

/// A run of digits, without leading zeros, or of letters.
#[derive(Debug, PartialEq, Eq)]
enum Part<'a> {
    Number(&'a str),
    Word(&'a str),
}

/// Compares two names as versions; those that are equal as versions, as text.
pub(super) fn compare(one: &str, other: &str) -> Ordering {
    let (mine, theirs) = (parts(one), parts(other));
    let mut common = mine.iter().zip(&theirs).map(|(one, other)| one.compare(other));
    let differing = common.find(|order| order.is_ne());
    let rest = || match (mine.get(theirs.len()), theirs.get(mine.len())) {
        // What goes on with a word came before the version itself.
        (Some(Part::Word(_)), _) | (None, Some(Part::Number(_))) => Ordering::Less,
        (Some(Part::Number(_)), _) | (None, Some(Part::Word(_))) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    };
    differing.unwrap_or_else(rest).then_with(|| one.cmp(other))
}

impl Part<'_> {
    fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            // Without leading zeros, a longer number is the greater one.
            (Self::Number(one), Self::Number(other)) => {
                one.len().cmp(&other.len()).then_with(|| one.cmp(other))
            }
            (Self::Word(one), Self::Word(other)) => one.cmp(other),
            (Self::Word(_), Self::Number(_)) => Ordering::Less,
            (Self::Number(_), Self::Word(_)) => Ordering::Greater,
        }
    }
}

fn parts(name: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = name;
    while let Some(first) = rest.chars().next() {
        let is_same: fn(char) -> bool = if first.is_ascii_digit() {
            |c| c.is_ascii_digit()
        } else if first.is_alphabetic() {
            char::is_alphabetic
        } else {
            rest = &rest[first.len_utf8()..];
            continue;
        };
        let end = rest.find(|c| !is_same(c)).unwrap_or(rest.len());
        let (run, tail) = rest.split_at(end);
        parts.push(if first.is_ascii_digit() {
            Part::Number(run.trim_start_matches('0'))
        } else {
            Part::Word(run)
        });
        rest = tail;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::compare;

    #[test]
    fn numbers_count_as_numbers_and_candidates_come_first() {
        let sorted = [
            "v1.0.0-alpha",
            "v1.0.0-rc1",
            "v1.0.0-rc2",
            "v1.0.0-rc10",
            "v1.0.0",
            "v1.0.1",
            "v1.2",
            "v1.9.9",
            "v1.10",
            "v2",
            "v010",
        ];
        let mut mixed = sorted;
        mixed.reverse();
        mixed.sort_by(|one, other| compare(one, other));
        assert_eq!(mixed, sorted);
        assert!(compare("v1.99999999999999999999999", "v1.100000000000000000000000").is_lt());
        assert!(compare("v1", "v01").is_ne());
    }
}
