//! Patterns of paths: `*` within a folder, `**/` across folders. Looking never goes back further than to the last star,
//! so that no pattern takes longer than its length times that of the path.

/// A pattern, ready to be compared with paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Glob(Vec<Segment>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Segment {
    /// Any folders, or none.
    Folders,
    Name(Vec<Piece>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    One(char),
    Any,
    Star,
    /// Whether one of these ranges is wanted, or none of them.
    Set(Vec<(char, char)>, bool),
}

impl Glob {
    /// A pattern as it is written: without a slash in front it is looked for everywhere, with one behind it is for all
    /// that is in a folder.
    pub(super) fn new(text: &str) -> Self {
        if text == "*" {
            return Self(vec![Segment::Folders, Segment::Name(vec![Piece::Star])]);
        }
        let (anchored, rest) = match text.strip_prefix('/') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let mut segments = Vec::new();
        if !anchored {
            segments.push(Segment::Folders);
        }
        let (names, folder) = match rest.strip_suffix('/') {
            Some(names) => (names, true),
            None => (rest, false),
        };
        let mut names = names.split('/').peekable();
        while let Some(name) = names.next() {
            let last = names.peek().is_none() && !folder;
            segments.push(if name == "**" && !last {
                Segment::Folders
            } else {
                Segment::Name(pieces(name))
            });
        }
        if folder {
            segments.push(Segment::Folders);
            segments.push(Segment::Name(vec![Piece::Star]));
        }
        Self(segments)
    }

    /// Whether a path, from the root and without a slash in front, is meant.
    pub(super) fn matches(&self, path: &str) -> bool {
        let names: Vec<&str> = path.split('/').collect();
        let (mut at, mut place) = (0, 0);
        // Where the last `**` stood, and how much of the path it took so far.
        let mut back: Option<(usize, usize)> = None;
        while place < names.len() {
            match self.0.get(at) {
                Some(Segment::Folders) => {
                    back = Some((at, place));
                    at += 1;
                    continue;
                }
                Some(Segment::Name(pieces)) if fits(pieces, names[place]) => {
                    (at, place) = (at + 1, place + 1);
                    continue;
                }
                _ => {}
            }
            let Some((folders, taken)) = back else { return false };
            back = Some((folders, taken + 1));
            (at, place) = (folders + 1, taken + 1);
        }
        at == self.0.len()
    }
}

fn pieces(name: &str) -> Vec<Piece> {
    let mut found = Vec::new();
    let mut letters = name.chars().peekable();
    while let Some(letter) = letters.next() {
        found.push(match letter {
            '*' => {
                while letters.next_if_eq(&'*').is_some() {}
                Piece::Star
            }
            '?' => Piece::Any,
            '\\' => Piece::One(letters.next().unwrap_or('\\')),
            '[' => match set(letters.clone()) {
                Some((set, used)) => {
                    letters.nth(used - 1);
                    set
                }
                None => Piece::One('['),
            },
            other => Piece::One(other),
        });
    }
    found
}

/// The letters between brackets, with how many letters that took; `None` where nothing closes them.
fn set(letters: impl Iterator<Item = char>) -> Option<(Piece, usize)> {
    let mut letters = letters.enumerate().peekable();
    let negated = letters.next_if(|(_, letter)| matches!(letter, '!' | '^')).is_some();
    let mut ranges: Vec<(char, char)> = Vec::new();
    while let Some((place, letter)) = letters.next() {
        match letter {
            ']' if !ranges.is_empty() => return Some((Piece::Set(ranges, !negated), place + 1)),
            '-' if !ranges.is_empty() => match letters.peek() {
                Some((_, end)) if *end != ']' => {
                    let end = *end;
                    letters.next();
                    if let Some(last) = ranges.last_mut() {
                        last.1 = end;
                    }
                }
                _ => ranges.push(('-', '-')),
            },
            '\\' => {
                let (_, letter) = letters.next()?;
                ranges.push((letter, letter));
            }
            letter => ranges.push((letter, letter)),
        }
    }
    None
}

fn fits(pieces: &[Piece], name: &str) -> bool {
    let letters: Vec<char> = name.chars().collect();
    let (mut at, mut place) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    while place < letters.len() {
        let letter = letters[place];
        let taken = match pieces.get(at) {
            Some(Piece::Star) => {
                back = Some((at, place));
                at += 1;
                continue;
            }
            Some(Piece::One(wanted)) => *wanted == letter,
            Some(Piece::Any) => true,
            Some(Piece::Set(ranges, wanted)) => {
                ranges.iter().any(|(from, to)| (*from..=*to).contains(&letter)) == *wanted
            }
            None => false,
        };
        if taken {
            (at, place) = (at + 1, place + 1);
            continue;
        }
        let Some((star, taken)) = back else { return false };
        back = Some((star, taken + 1));
        (at, place) = (star + 1, taken + 1);
    }
    pieces[at..].iter().all(|piece| *piece == Piece::Star)
}

#[cfg(test)]
mod tests {
    use super::Glob;

    #[test]
    fn patterns_mean_the_paths_that_people_expect() {
        for (pattern, path, expected) in [
            ("*", "a", true),
            ("*", "a/b/.c", true),
            ("README.md", "README.md", true),
            ("README.md", "docs/README.md", true),
            ("/README.md", "docs/README.md", false),
            ("*.rb", "a/b/c.rb", true),
            ("/*.rb", "a/c.rb", false),
            ("/docs/", "docs/a/b.md", true),
            ("/docs/", "docs", false),
            ("docs/", "x/docs/a", true),
            ("/docs/*", "docs/a", true),
            ("/docs/*", "docs/a/b", false),
            ("/docs/**/*.md", "docs/b.md", true),
            ("/docs/**/*.md", "docs/a/c/b.md", true),
            ("/docs/**/*.md", "docs/a/c/b.rb", false),
            ("/a/**/b/**/c", "a/b/x/b/y/c", true),
            ("/a/**/b/**/c", "a/x/c", false),
            ("lib", "lib/a", false),
            ("/docs", "docs/a", false),
            ("file?.txt", "x/file1.txt", true),
            ("file[0-3].txt", "file2.txt", true),
            ("file[!0-3].txt", "file2.txt", false),
            ("file[^0-3].txt", "file9.txt", true),
            ("[", "[", true),
            ("a[b", "a[b", true),
            ("\\#x", "#x", true),
            ("a b.txt", "a b.txt", true),
            ("ü*", "über", true),
        ] {
            assert_eq!(Glob::new(pattern).matches(path), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn no_pattern_takes_long() {
        let pattern = format!("/{}b", "*a".repeat(500));
        assert!(!Glob::new(&pattern).matches(&"a".repeat(4000)));
        let pattern = format!("/{}x/b", "**/a/".repeat(300));
        assert!(!Glob::new(&pattern).matches(&"a/".repeat(1500)));
    }
}
