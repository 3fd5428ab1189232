//! Versions as releases are numbered: `1.2.3`, with or without a leading `v`, `1.2.3-rc1`, `1.2.3+build`.

use std::cmp::Ordering;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    numbers: [u64; 3],
    candidate: Option<String>,
}

impl Version {
    /// Reads a version; whatever else is in the text makes it none.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.strip_prefix('v').unwrap_or(text);
        let (text, build) =
            text.split_once('+').map_or((text, None), |(text, build)| (text, Some(build)));
        let (numbers, candidate) = match text.split_once('-') {
            Some((numbers, candidate)) => (numbers, Some(candidate)),
            None => (text, None),
        };
        let is_word = |word: &str| {
            let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.');
            !word.is_empty() && word.chars().all(allowed)
        };
        if !candidate.into_iter().chain(build).all(is_word) {
            return None;
        }
        let mut parts = numbers.split('.').map(number);
        let numbers = [parts.next()??, parts.next()??, parts.next()??];
        if parts.next().is_some() {
            return None;
        }
        Some(Self { numbers, candidate: candidate.map(str::to_owned) })
    }

    pub fn is_candidate(&self) -> bool {
        self.candidate.is_some()
    }
}

fn number(text: &str) -> Option<u64> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.is_empty();
    let has_zeros = text.len() > 1 && text.starts_with('0');
    if is_number && !has_zeros { text.parse().ok() } else { None }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        self.numbers.cmp(&other.numbers).then_with(|| match (&self.candidate, &other.candidate) {
            (None, None) => Ordering::Equal,
            (None, Some(_)) => Ordering::Greater,
            (Some(_), None) => Ordering::Less,
            (Some(one), Some(other)) => one.cmp(other),
        })
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::Version;

    #[test]
    fn versions_are_read_and_compared() {
        let version = |text| Version::parse(text).unwrap();
        assert!(version("1.10.0") > version("v1.9.9"));
        assert!(version("1.0.0") > version("1.0.0-rc1"));
        assert_eq!(version("v1.0.0"), version("1.0.0+build.5"));
        for text in ["", "1", "1.2", "1.2.3.4", "01.2.3", "a.b.c", "1.2.3-", "1.2.x", "1.2.3 "] {
            assert!(Version::parse(text).is_none(), "{text}");
        }
    }
}
