//! How a search is understood: which words count, and how alike a project is to them.

use std::collections::BTreeSet;

/// Shorter words are not looked for.
const SHORTEST: usize = 3;

/// What a search asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// All of these, somewhere in one column.
    Words(Vec<String>),
    /// A column that says just this: every word was too short.
    Exactly(String),
}

/// Takes a search apart; words in quotation marks are one.
pub fn understand(text: &str) -> Wanted {
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
        Wanted::Exactly(text.trim().to_lowercase())
    } else {
        Wanted::Words(words)
    }
}

/// How alike two texts are: the share of their groups of three letters that both have, from 0 to 1000.
pub fn likeness(text: &str, search: &str) -> u64 {
    let (left, right) = (trigrams(text), trigrams(search));
    let both = left.intersection(&right).count();
    let all = left.len() + right.len() - both;
    let thousandths = both.saturating_mul(1000).checked_div(all).unwrap_or_default();
    u64::try_from(thousandths).unwrap_or_default()
}

/// As PostgreSQL has them: of each word, with two blanks before and one after.
fn trigrams(text: &str) -> BTreeSet<[char; 3]> {
    let lower = text.to_lowercase();
    let words =
        lower.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut found = BTreeSet::new();
    for word in words {
        let padded: Vec<char> = format!("  {word} ").chars().collect();
        for group in padded.windows(3) {
            found.insert([group[0], group[1], group[2]]);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{Wanted, likeness, understand};

    #[test]
    fn long_words_count_and_short_ones_only_alone() {
        let words = |words: &[&str]| Wanted::Words(words.iter().map(|&word| word.into()).collect());
        assert_eq!(understand("git lab"), words(&["git", "lab"]));
        assert_eq!(understand("a  engine"), words(&["engine"]));
        assert_eq!(understand("\"two words\" more"), words(&["two words", "more"]));
        assert_eq!(understand("Go"), Wanted::Exactly("go".to_owned()));
        assert_eq!(understand("ab cd"), Wanted::Exactly("ab cd".to_owned()));
    }

    #[test]
    fn likeness_grows_with_what_is_shared() {
        assert_eq!(likeness("engine", "Engine"), 1000);
        assert!(likeness("engine-two", "engine") > likeness("steam-engines-and-more", "engine"));
        assert_eq!(likeness("", ""), 0);
    }
}
