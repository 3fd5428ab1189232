//! Names with wildcards: `*` stands for any run of characters, slashes included.

/// A name, taken apart at its wildcards. Matching takes time in proportion to the name's length for each part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    head: String,
    /// What lies between wildcards and after the last one; none where there is no wildcard.
    parts: Vec<String>,
}

impl Pattern {
    pub fn new(name: &str) -> Self {
        let mut parts = name.split('*').map(str::to_owned);
        let head = parts.next().unwrap_or_default();
        Self { head, parts: parts.collect() }
    }

    pub fn matches(&self, name: &str) -> bool {
        let Some((tail, middle)) = self.parts.split_last() else { return name == self.head };
        let Some(mut rest) = name.strip_prefix(self.head.as_str()) else { return false };
        for part in middle {
            // The first place will do: it leaves the most for the parts that follow.
            match rest.find(part.as_str()) {
                Some(at) => rest = &rest[at + part.len()..],
                None => return false,
            }
        }
        rest.ends_with(tail.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    #[test]
    fn a_star_stands_for_anything() {
        for (pattern, matching, other) in [
            ("main", vec!["main"], vec!["Main", "main2", "amain", ""]),
            ("*", vec!["main", "a/b", ""], vec![]),
            ("*-stable", vec!["1-stable", "a/b-stable", "-stable"], vec!["1-stable-2", "stable"]),
            (
                "production/*",
                vec!["production/", "production/a/b"],
                vec!["production", "aproduction/x"],
            ),
            ("*forge*", vec!["forge", "a-forge", "forge/b"], vec!["for-ge"]),
            ("a*b*c", vec!["abc", "axbxc", "abbcc", "abcbc"], vec!["acb", "ab", "abcd"]),
            ("ab*ba", vec!["abba", "ab/ba"], vec!["aba", "ab"]),
            ("**", vec!["", "x"], vec![]),
            ("a.c", vec!["a.c"], vec!["abc"]),
        ] {
            let compiled = Pattern::new(pattern);
            for name in matching {
                assert!(compiled.matches(name), "{pattern} {name}");
            }
            for name in other {
                assert!(!compiled.matches(name), "{pattern} {name}");
            }
        }
    }
}
