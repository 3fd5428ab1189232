//! SQL of the project search, and similarity to the search text.

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

/// What SQLite's index of texts is asked. One word may be in any of the columns, which is one walk instead of three.
pub(super) fn question(words: &[String], columns: &[&str; 3]) -> String {
    let phrases: Vec<String> =
        words.iter().map(|word| format!("\"{}\"", word.replace('"', "\"\""))).collect();
    match &phrases[..] {
        [phrase] => format!("{{{}}} : {phrase}", columns.join(" ")),
        phrases => {
            let phrases = phrases.join(" AND ");
            columns.map(|column| format!("{column} : ({phrases})")).join(" OR ")
        }
    }
}

/// What PostgreSQL's indexes of texts hold, letter for letter: see the migration `search_columns_together`.
pub(super) fn together([path, name, description]: [&str; 3]) -> String {
    let all = format!("p.{path} || E'\\n' || p.{name} || E'\\n' || COALESCE(p.{description}, '')");
    format!("({all}) COLLATE \"default\"")
}

#[cfg(test)]
mod tests {
    use super::{likeness, question};

    #[test]
    fn one_word_is_looked_for_once_and_several_must_be_in_one_column() {
        let asked = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(ToString::to_string).collect();
            question(&words, &["path", "name", "description"])
        };
        assert_eq!(asked(&["a\"b"]), r#"{path name description} : "a""b""#);
        let both = asked(&["one", "two"]);
        assert!(both.starts_with(r#"path : ("one" AND "two") OR name : "#), "{both}");
    }

    #[test]
    fn likeness_grows_with_what_is_shared() {
        assert_eq!(likeness("engine", "Engine"), 1000);
        assert!(likeness("engine-two", "engine") > likeness("steam-engines-and-more", "engine"));
        assert_eq!(likeness("", ""), 0);
    }
}
