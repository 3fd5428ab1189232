//! Of which branches a webhook is told that somebody pushed to them.

kernel::text_enum! {
    pub enum BranchStrategy {
        Wildcard = "wildcard",
        Regex = "regex",
        AllBranches = "all_branches",
    }
}

/// Characters of a filter.
const LONGEST: usize = 5_000;

impl BranchStrategy {
    /// Whether this can be a filter; no filter lets everything through.
    pub fn takes(self, filter: Option<&str>) -> bool {
        let Some(filter) = filter.filter(|text| !text.is_empty()) else { return true };
        if filter.chars().count() > LONGEST {
            return false;
        }
        match self {
            Self::AllBranches => true,
            Self::Wildcard => is_pattern(filter),
            Self::Regex => regex::Regex::new(filter).is_ok(),
        }
    }

    /// Whether a branch is let through.
    pub fn matches(self, filter: Option<&str>, branch: &str) -> bool {
        let Some(filter) = filter.filter(|text| !text.is_empty()) else { return true };
        match self {
            Self::AllBranches => true,
            Self::Wildcard => is_like(branch, filter),
            Self::Regex => regex::Regex::new(filter).is_ok_and(|regex| regex.is_match(branch)),
        }
    }
}

/// A branch's name, with stars.
fn is_pattern(text: &str) -> bool {
    let odd = |sign: char| sign.is_control() || sign.is_whitespace() || "~^:?[\\".contains(sign);
    !text.contains(odd)
        && !text.contains("..")
        && !text.starts_with(['-', '/'])
        && !text.ends_with('/')
}

/// Whether a name is like a pattern in which each star stands for anything.
fn is_like(name: &str, pattern: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return name == pattern };
    let Some(mut left) = name.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        let Some(at) = left.find(part) else { return false };
        left = &left[at + part.len()..];
    }
    left.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::BranchStrategy::{AllBranches, Regex, Wildcard};

    #[test]
    fn stars_stand_for_anything() {
        for (pattern, name, fits) in [
            ("main", "main", true),
            ("main", "main2", false),
            ("feature/*", "feature/a/b", true),
            ("*-stable", "1-2-stable", true),
            ("a*b*c", "a-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("*", "x", true),
        ] {
            assert_eq!(Wildcard.matches(Some(pattern), name), fits, "{pattern} {name}");
        }
    }

    #[test]
    fn a_filter_is_judged_by_its_strategy() {
        assert!(Regex.takes(Some("^a+$")) && !Regex.takes(Some("(")));
        assert!(Regex.matches(Some("^a+$"), "aaa") && !Regex.matches(Some("^a+$"), "b"));
        assert!(Wildcard.takes(Some("a*")) && !Wildcard.takes(Some("a b")));
        assert!(!Wildcard.takes(Some("/a")) && !Wildcard.takes(Some("a/")));
        assert!(AllBranches.matches(Some("x"), "y") && Wildcard.matches(None, "y"));
    }
}
