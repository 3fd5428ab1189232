//! Finding branches and tags by a part of their name.

use kernel::{Error, Result};
use regex::{Regex, RegexBuilder};

/// So much memory a pattern may take; matching takes time in proportion to the name.
const PATTERN_BYTES: usize = 1 << 20;

/// The name filter of a list.
#[derive(Clone, Debug, Default)]
pub struct NameFilter {
    search: Option<Search>,
    regex: Option<Regex>,
}

#[derive(Clone, Debug)]
struct Search {
    text: String,
    from_start: bool,
    to_end: bool,
}

impl NameFilter {
    /// `search` is a part of the name, in whatever letter case; `^` binds it to the beginning and `$` to the end.
    pub fn new(search: Option<&str>, regex: Option<&str>) -> Result<Self> {
        let regex = regex.filter(|text| !text.is_empty()).map(compile).transpose()?;
        let search = search.filter(|text| !text.is_empty()).map(|text| {
            let (bare, from_start) =
                text.strip_prefix('^').map_or((text, false), |rest| (rest, true));
            let (bare, to_end) = bare.strip_suffix('$').map_or((bare, false), |rest| (rest, true));
            Search { text: bare.to_lowercase(), from_start, to_end }
        });
        Ok(Self { search, regex })
    }

    pub fn matches(&self, name: &str) -> bool {
        self.search.as_ref().is_none_or(|search| search.matches(&name.to_lowercase()))
            && self.regex.as_ref().is_none_or(|regex| regex.is_match(name))
    }
}

fn compile(text: &str) -> Result<Regex> {
    let compiled = RegexBuilder::new(text).size_limit(PATTERN_BYTES).build();
    compiled.map_err(|_malformed| Error::bad_request().parameters("regex is invalid"))
}

impl Search {
    fn matches(&self, name: &str) -> bool {
        match (self.from_start, self.to_end) {
            (false, false) => name.contains(&self.text),
            (true, false) => name.starts_with(&self.text),
            (false, true) => name.ends_with(&self.text),
            (true, true) => name == self.text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::NameFilter;

    #[test]
    fn a_search_can_be_bound_to_either_end() {
        let names = ["main", "Main-2", "re/main", "other"];
        for (search, found) in [
            ("", vec!["main", "Main-2", "re/main", "other"]),
            ("main", vec!["main", "Main-2", "re/main"]),
            ("^MAIN", vec!["main", "Main-2"]),
            ("main$", vec!["main", "re/main"]),
            ("^main$", vec!["main"]),
            ("m*n", vec![]),
        ] {
            let filter = NameFilter::new(Some(search), None).unwrap();
            let kept: Vec<&str> = names.into_iter().filter(|name| filter.matches(name)).collect();
            assert_eq!(kept, found, "{search}");
        }
    }

    #[test]
    fn a_pattern_that_cannot_be_read_is_refused() {
        let filter = NameFilter::new(None, Some("^re/.*n$")).unwrap();
        assert!(filter.matches("re/main") && !filter.matches("main"));
        for pattern in ["(", "a{1000}{1000}{1000}"] {
            assert!(NameFilter::new(None, Some(pattern)).is_err(), "{pattern}");
        }
    }
}
