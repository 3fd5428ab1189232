//! Finds closing patterns in a text: `Closes #1, #2 and group/project#3`.

/// An issue as it is named in a text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NamedIssue {
    /// The full path of its project, or the path alone beside this one; `None` for this one.
    pub project: Option<String>,
    pub iid: i64,
}

/// Each stem with what it may end in, the longest first.
const WORDS: [(&str, &[&str]); 4] = [
    ("clos", &["ing", "es", "ed", "e"]),
    ("fix", &["ing", "es", "ed", ""]),
    ("resolv", &["ing", "es", "ed", "e"]),
    ("implement", &["ing", "ed", "s", ""]),
];

/// What the words begin with that close something.
pub fn stems() -> [&'static str; WORDS.len()] {
    WORDS.map(|(stem, _)| stem)
}

/// The issues that a text closes, each once, in the order of the text. `home` is where this installation is found, in
/// front of the addresses of its issues. Looks at every character a fixed number of times.
pub fn closes(text: &str, home: &str) -> Vec<NamedIssue> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let begins = !text[..at].chars().next_back().is_some_and(is_word);
        match begins.then(|| after_word(rest)).flatten() {
            None => at += rest.chars().next().map_or(1, char::len_utf8),
            Some(behind) => {
                let (issues, end) = issues(behind, home);
                for issue in issues {
                    if !found.contains(&issue) {
                        found.push(issue);
                    }
                }
                at = text.len() - end.len();
            }
        }
    }
    found
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// What stands behind the word, its colon and its blanks.
fn after_word(text: &str) -> Option<&str> {
    let behind = WORDS.iter().find_map(|(stem, endings)| {
        let (first, others) = (text.get(..1)?, text.get(1..stem.len())?);
        if !first.eq_ignore_ascii_case(&stem[..1]) || others != &stem[1..] {
            return None;
        }
        let rest = &text[stem.len()..];
        endings
            .iter()
            .find_map(|ending| rest.strip_prefix(ending))
            .filter(|rest| rest.starts_with([':', ' ']))
    })?;
    blanks(behind.strip_prefix(':').unwrap_or(behind))
}

/// What stands behind at least one blank.
fn blanks(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(' ');
    (rest.len() < text.len()).then_some(rest)
}

/// Issues in a row, and what stands behind the last of them.
fn issues<'a>(mut rest: &'a str, home: &str) -> (Vec<NamedIssue>, &'a str) {
    let mut found = Vec::new();
    loop {
        let word = rest.strip_prefix("issues").or_else(|| rest.strip_prefix("issue"));
        let start = word.and_then(blanks).unwrap_or(rest);
        let Some((issue, behind)) = by_address(start, home).or_else(|| by_number(start)) else {
            return (found, rest);
        };
        found.push(issue);
        rest = joint(behind);
    }
}

/// What stands behind a comma, an `and`, or blanks.
fn joint(text: &str) -> &str {
    let bare = text.trim_start_matches(' ');
    let behind_comma = bare.strip_prefix(',').unwrap_or(bare).trim_start_matches(' ');
    let has_gap = behind_comma.len() < text.len();
    match behind_comma.strip_prefix("and").and_then(blanks) {
        Some(rest) if has_gap => rest,
        _ => behind_comma,
    }
}

fn by_number(text: &str) -> Option<(NamedIssue, &str)> {
    let is_path = |letter: char| letter.is_ascii_alphanumeric() || "_-./".contains(letter);
    let behind = text.trim_start_matches(is_path);
    let project = &text[..text.len() - behind.len()];
    let (iid, rest) = number(behind.strip_prefix('#')?)?;
    let project = (!project.is_empty()).then(|| project.to_owned());
    Some((NamedIssue { project, iid }, rest))
}

fn by_address<'a>(text: &'a str, home: &str) -> Option<(NamedIssue, &'a str)> {
    let path = text.strip_prefix(home)?.strip_prefix('/')?;
    let end =
        path.find(|letter: char| letter.is_whitespace() || letter == '#').unwrap_or(path.len());
    let place = path[..end].find("/-/issues/").map(|at| (at, at + "/-/issues/".len()));
    let place =
        place.or_else(|| path[..end].find("/issues/").map(|at| (at, at + "/issues/".len())));
    let (project, digits) = place?;
    let (iid, rest) = number(&path[digits..])?;
    Some((NamedIssue { project: Some(path[..project].to_owned()), iid }, rest))
}

fn number(text: &str) -> Option<(i64, &str)> {
    let rest = text.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let digits = &text[..text.len() - rest.len()];
    let ends = !rest.chars().next().is_some_and(is_word);
    Some((digits.parse().ok().filter(|_| ends)?, rest))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::closes;

    fn found(text: &str) -> String {
        let named = closes(text, "https://forge.test")
            .into_iter()
            .map(|issue| format!("{}#{}", issue.project.unwrap_or_default(), issue.iid));
        named.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn every_form_of_every_word_closes() {
        let words = "close closes closed closing fix fixes fixed fixing resolve resolves resolved \
                     resolving implement implements implemented implementing";
        for word in words.split_whitespace() {
            assert_eq!(found(&format!("{word} #1")), "#1", "{word}");
            let (first, rest) = word.split_at(1);
            let upper = first.to_uppercase();
            assert_eq!(found(&format!("{upper}{rest}: #1")), "#1", "{word}");
        }
        for text in [
            "CLOSES #1",
            "closer #1",
            "disclose #1",
            "clos #1",
            "fixe #1",
            "close#1",
            "closes:#1",
            "closes\n#1",
        ] {
            assert_eq!(found(text), "", "{text}");
        }
    }

    #[test]
    fn issues_come_in_rows() {
        for (text, issues) in [
            ("Closes #1, #2 and #3", "#1 #2 #3"),
            ("Closes #1 #2, and #3.", "#1 #2 #3"),
            ("Closes issues #1 and issue #2", "#1 #2"),
            ("fixes  forge/core#3", "forge/core#3"),
            ("Fixes other#3,a/b/c.d#4", "other#3 a/b/c.d#4"),
            ("Closes #1 but not #2", "#1"),
            ("Closes #1 and fixes #2", "#1 #2"),
            ("Closes #1\nCloses #1\nResolves #2", "#1 #2"),
            ("(closes #1)", "#1"),
            ("Closes #1a #2", ""),
            ("Closes !1", ""),
            ("Closes #99999999999999999999", ""),
            ("Grüße: schließt nicht. Closes #5", "#5"),
        ] {
            assert_eq!(found(text), issues, "{text}");
        }
    }

    #[test]
    fn an_address_of_an_issue_names_it() {
        for (text, issues) in [
            ("Closes https://forge.test/a/b/-/issues/7", "a/b#7"),
            ("Closes https://forge.test/a/b/issues/7, #8", "a/b#7 #8"),
            ("Closes https://forge.test/a/b/-/issues/7#note_3", "a/b#7"),
            ("Closes https://elsewhere.test/a/b/-/issues/7", ""),
            ("Closes https://forge.test/a/b/-/merge_requests/7", ""),
        ] {
            assert_eq!(found(text), issues, "{text}");
        }
    }

    #[test]
    fn long_texts_are_read_once() {
        let texts = [
            "close ".repeat(200_000),
            format!("closes {}", "a/close".repeat(200_000)),
            format!("closes {}", " ".repeat(1_000_000)),
            format!("closes #1{}", " and".repeat(200_000)),
            "closes https://forge.test/".repeat(40_000),
        ];
        let begun = Instant::now();
        for text in texts {
            closes(&text, "https://forge.test");
        }
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    }
}
