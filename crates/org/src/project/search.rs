//! How alike a project is to what is searched for.

use std::collections::BTreeSet;

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
    use super::likeness;

    #[test]
    fn likeness_grows_with_what_is_shared() {
        assert_eq!(likeness("engine", "Engine"), 1000);
        assert!(likeness("engine-two", "engine") > likeness("steam-engines-and-more", "engine"));
        assert_eq!(likeness("", ""), 0);
    }
}
