//! Patterns of paths: `*` and `?` stay within a name, `**` crosses folders, `[a-z]` and `{a,b}` choose.

use anyhow::{Result, bail, ensure};

/// Patterns that `{…}` in one pattern may come to.
const MOST_ALTERNATIVES: usize = 256;
/// Names in one pattern.
const MOST_NAMES: usize = 128;

/// One pattern without `{…}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    /// Any number of folders.
    Deep,
    Name(Vec<Sign>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Sign {
    Plain(char),
    One,
    Many,
    Class { negated: bool, ranges: Vec<(char, char)> },
}

/// How far a path has come in a pattern: places before which it may stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Progress(Vec<bool>);

impl Progress {
    /// Whether something below may match.
    pub(crate) fn is_alive(&self) -> bool {
        self.0.iter().any(|place| *place)
    }
}

impl Pattern {
    /// Reads a pattern; `{…}` makes several of it. Ways out of the folder are refused.
    pub(crate) fn parse(text: &str) -> Result<Vec<Self>> {
        let mut all = Vec::new();
        spread(text, &mut all)?;
        all.iter().map(|text| Self::parse_one(text)).collect()
    }

    fn parse_one(text: &str) -> Result<Self> {
        ensure!(!text.starts_with('/'), "the path is outside of the project folder");
        let mut parts = Vec::new();
        for name in text.split('/') {
            match name {
                "" | "." => {}
                ".." => bail!("the path is outside of the project folder"),
                "**" if parts.last() == Some(&Part::Deep) => {}
                "**" => parts.push(Part::Deep),
                name => parts.push(Part::Name(signs(name)?)),
            }
        }
        ensure!(parts.len() <= MOST_NAMES, "the path has more than {MOST_NAMES} names");
        // The folder itself: everything.
        if parts.is_empty() {
            parts.push(Part::Deep);
        }
        Ok(Self { parts })
    }

    pub(crate) fn start(&self) -> Progress {
        let mut places = vec![false; self.parts.len() + 1];
        places[0] = true;
        self.skip_deep(&mut places);
        Progress(places)
    }

    /// `**` may stand for no folder at all.
    fn skip_deep(&self, places: &mut [bool]) {
        for (at, part) in self.parts.iter().enumerate() {
            if places[at] && *part == Part::Deep {
                places[at + 1] = true;
            }
        }
    }

    /// Goes one name further.
    pub(crate) fn step(&self, progress: &Progress, name: &str) -> Progress {
        let mut next = vec![false; self.parts.len() + 1];
        for (at, part) in self.parts.iter().enumerate() {
            if !progress.0[at] {
                continue;
            }
            match part {
                Part::Deep => next[at] = true,
                Part::Name(signs) if fits(signs, name) => next[at + 1] = true,
                Part::Name(_) => {}
            }
        }
        self.skip_deep(&mut next);
        Progress(next)
    }

    /// Whether the path that was gone is one that the pattern means.
    pub(crate) fn is_match(&self, progress: &Progress) -> bool {
        progress.0[self.parts.len()]
    }

    pub(crate) fn matches(&self, path: &str) -> bool {
        let mut progress = self.start();
        for name in path.split('/') {
            progress = self.step(&progress, name);
        }
        self.is_match(&progress)
    }
}

/// Writes out `{a,b}`, also nested.
fn spread(text: &str, into: &mut Vec<String>) -> Result<()> {
    let mut pending = vec![text.to_owned()];
    while let Some(text) = pending.pop() {
        ensure!(
            into.len() + pending.len() < MOST_ALTERNATIVES,
            "the path has too many alternatives"
        );
        let Some((head, choices, tail)) = first_braces(&text) else {
            into.push(text);
            continue;
        };
        pending.extend(choices.iter().rev().map(|choice| format!("{head}{choice}{tail}")));
    }
    Ok(())
}

/// The first `{…}` of a text with what is before and behind.
fn first_braces(text: &str) -> Option<(&str, Vec<&str>, &str)> {
    let (mut depth, mut open, mut from) = (0_usize, 0, 0);
    let mut choices = Vec::new();
    let mut escaped = false;
    for (at, sign) in text.char_indices() {
        if std::mem::take(&mut escaped) {
            continue;
        }
        match sign {
            '\\' => escaped = true,
            '{' => {
                if depth == 0 {
                    (open, from) = (at, at + 1);
                }
                depth += 1;
            }
            ',' if depth == 1 => {
                choices.push(&text[from..at]);
                from = at + 1;
            }
            '}' if depth == 1 => {
                choices.push(&text[from..at]);
                return Some((&text[..open], choices, &text[at + 1..]));
            }
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

fn signs(name: &str) -> Result<Vec<Sign>> {
    let mut all = Vec::new();
    let mut rest = name.chars().peekable();
    while let Some(sign) = rest.next() {
        match sign {
            '*' if all.last() == Some(&Sign::Many) => {}
            '*' => all.push(Sign::Many),
            '?' => all.push(Sign::One),
            '\\' => all.push(Sign::Plain(rest.next().unwrap_or('\\'))),
            '[' => all.push(class(&mut rest)?),
            sign => all.push(Sign::Plain(sign)),
        }
    }
    Ok(all)
}

fn class(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Result<Sign> {
    let negated = rest.next_if(|sign| matches!(sign, '!' | '^')).is_some();
    let mut ranges: Vec<(char, char)> = Vec::new();
    loop {
        let Some(sign) = rest.next() else { bail!("a [ is not closed") };
        match sign {
            ']' if !ranges.is_empty() => return Ok(Sign::Class { negated, ranges }),
            '\\' => {
                let sign = rest.next().unwrap_or('\\');
                ranges.push((sign, sign));
            }
            '-' if !ranges.is_empty() && rest.peek().is_some_and(|next| *next != ']') => {
                let end = rest.next().unwrap_or('-');
                if let Some(last) = ranges.last_mut() {
                    last.1 = end;
                }
            }
            sign => ranges.push((sign, sign)),
        }
    }
}

/// Whether a name fits. A `*` takes as little as possible and more when the rest does not fit, so the time is at most the
/// product of both lengths.
fn fits(signs: &[Sign], name: &str) -> bool {
    let name: Vec<char> = name.chars().collect();
    let (mut at, mut here) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while here < name.len() {
        match signs.get(at) {
            Some(Sign::Many) => {
                star = Some((at, here));
                at += 1;
            }
            Some(sign) if fits_one(sign, name[here]) => {
                at += 1;
                here += 1;
            }
            _ => match &mut star {
                Some((place, taken)) => {
                    *taken += 1;
                    (at, here) = (*place + 1, *taken);
                }
                None => return false,
            },
        }
    }
    signs[at..].iter().all(|sign| *sign == Sign::Many)
}

fn fits_one(sign: &Sign, given: char) -> bool {
    match sign {
        Sign::Plain(plain) => *plain == given,
        Sign::One => true,
        Sign::Many => false,
        Sign::Class { negated, ranges } => {
            ranges.iter().any(|(from, to)| (*from..=*to).contains(&given)) != *negated
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, path: &str) -> bool {
        Pattern::parse(pattern).unwrap().iter().any(|pattern| pattern.matches(path))
    }

    #[test]
    fn a_star_stays_within_a_name() {
        assert!(matches("target/*.bin", "target/a.bin") && matches("*", ".hidden"));
        assert!(!matches("target/*.bin", "target/x/a.bin"));
        assert!(matches("a?c", "abc") && !matches("a?c", "ac"));
    }

    #[test]
    fn two_stars_cross_folders() {
        assert!(matches("**/*.log", "x.log") && matches("**/*.log", "a/b/x.log"));
        assert!(matches("a/**/z", "a/z") && matches("a/**/z", "a/b/c/z"));
        assert!(!matches("a/**/z", "b/z"));
        assert!(matches("build/**", "build/x/y"));
    }

    #[test]
    fn braces_and_classes_choose() {
        assert!(matches("{a,b/{c,d}}/x", "b/d/x") && !matches("{a,b}/x", "c/x"));
        assert!(matches("v[0-9].txt", "v7.txt") && matches("[!a]", "b") && !matches("[^a]", "a"));
        assert!(Pattern::parse("[abc").is_err());
    }

    #[test]
    fn a_pattern_does_not_leave_its_folder() {
        for text in ["/etc/*", "../x", "a/../../b", "{/etc,a}/x"] {
            assert!(Pattern::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn nasty_patterns_take_little_time_and_room() {
        assert!(!matches(&"*a".repeat(60), &"a".repeat(59)));
        assert!(!matches(&"**/a/".repeat(50), &"b/".repeat(100)));
        assert!(Pattern::parse(&"{a,b}".repeat(20)).is_err());
    }

    #[test]
    fn what_is_below_a_dead_path_is_not_looked_at() {
        let pattern = &Pattern::parse("dist/**/*.js").unwrap()[0];
        assert!(!pattern.step(&pattern.start(), "node_modules").is_alive());
        assert!(pattern.step(&pattern.start(), "dist").is_alive());
    }
}
