//! The words of a search text.

/// Shorter words are not looked for.
const SHORTEST: usize = 3;

/// The terms of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SearchTerms {
    /// All of these, somewhere in one column.
    Words(Vec<String>),
    /// A column that says just this: every word was too short.
    Exactly(String),
}

/// Takes a search apart; words in quotation marks are one.
pub fn understand(text: &str) -> SearchTerms {
    let mut words: Vec<String> = Vec::new();
    for (position, part) in text.split('"').enumerate() {
        if position % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words.retain(|word| word.chars().count() >= SHORTEST);
    if words.is_empty() {
        SearchTerms::Exactly(text.trim().to_lowercase())
    } else {
        SearchTerms::Words(words)
    }
}

#[cfg(test)]
mod tests {
    use super::{SearchTerms, understand};

    #[test]
    fn long_words_count_and_short_ones_only_alone() {
        let words =
            |words: &[&str]| SearchTerms::Words(words.iter().map(|&word| word.into()).collect());
        assert_eq!(understand("git lab"), words(&["git", "lab"]));
        assert_eq!(understand("a  engine"), words(&["engine"]));
        assert_eq!(understand("\"two words\" more"), words(&["two words", "more"]));
        assert_eq!(understand("Go"), SearchTerms::Exactly("go".to_owned()));
        assert_eq!(understand("ab cd"), SearchTerms::Exactly("ab cd".to_owned()));
    }
}
