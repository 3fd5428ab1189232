//! Patterns of paths: `*` and `?` stay within a folder, `**/` crosses any number of them, `{a,b}` and `[a-z]` choose.
//!
//! A leading dot is a letter like any other, and capital letters count. A pattern is translated to a regular expression
//! and matched in linear time, however its braces nest.

use std::{collections::HashMap, sync::Arc};

use regex::Regex;

/// A compiled pattern needs no more memory than this.
const LARGEST: usize = 1 << 20;

/// What a compiled pattern may remember of the paths that it was held against.
const REMEMBERED: usize = 256 << 10;

/// A pattern with more letters fits nothing, as no file system has longer paths.
const LONGEST: usize = 4 << 10;

/// Patterns kept compiled.
const KEPT: usize = 1000;

/// What these cost together: a few bytes of memory for each.
const KEPT_COST: usize = 4 << 20;

/// Patterns compiled once for many jobs. What cannot be compiled matches nothing.
#[derive(Default)]
pub(super) struct Globs {
    compiled: HashMap<String, Option<Arc<Regex>>>,
    cost: usize,
}

impl Globs {
    /// Whether there is nothing to do for [`Globs::compile`].
    pub(super) fn is_ready(&self, pattern: &str) -> bool {
        pattern.len() > LONGEST || self.compiled.contains_key(pattern)
    }

    pub(super) fn compile(&mut self, pattern: &str) -> Option<Arc<Regex>> {
        if pattern.len() > LONGEST {
            return None;
        }
        if let Some(known) = self.compiled.get(pattern) {
            return known.clone();
        }
        let cost = cost(pattern);
        if self.compiled.len() >= KEPT || self.cost + cost > KEPT_COST {
            self.compiled.clear();
            self.cost = 0;
        }
        self.cost += cost;
        let regex = anchored(&translate(pattern)).map(Arc::new);
        self.compiled.insert(pattern.to_owned(), regex.clone());
        regex
    }
}

/// How all paths begin that fit a pattern: to compile one takes half a millisecond, which most paths are not worth.
#[derive(Clone, Copy)]
pub(super) struct GlobStart<'p> {
    letters: &'p str,
    /// Whether these are the whole path.
    is_whole: bool,
}

impl<'p> GlobStart<'p> {
    /// `None` of a pattern that fits nothing.
    pub(super) fn of(pattern: &'p str) -> Option<Self> {
        let end = pattern.find(['*', '?', '[', '{', '\\']);
        let letters = pattern.get(..end.unwrap_or(pattern.len()))?;
        (pattern.len() <= LONGEST).then_some(Self { letters, is_whole: end.is_none() })
    }

    /// Whether a path fits the pattern; `None` where its beginning does, and the rest is to be seen.
    pub(super) fn fits(self, path: &str) -> Option<bool> {
        let rest = path.strip_prefix(self.letters).map(|rest| (rest, self.is_whole));
        match rest {
            None => Some(false),
            Some((rest, true)) => Some(rest.is_empty()),
            Some((_, false)) => None,
        }
    }
}

/// What it takes to compile a pattern, next to a letter that is written out. What stands for many letters takes most.
pub(super) fn cost(pattern: &str) -> usize {
    let wide = pattern.bytes().filter(|sign| matches!(sign, b'*' | b'?' | b'[')).count();
    16 * pattern.len() + 256 * wide
}

/// The pattern of an included path, in which `**` stands for anything.
pub(super) fn wildcard(path: &str) -> Option<Regex> {
    if path.len() > LONGEST {
        return None;
    }
    let part = |text: &str| regex::escape(text).replace(r"\*", "[^/]*");
    anchored(&path.split("**").map(part).collect::<Vec<_>>().join(".*"))
}

fn anchored(pattern: &str) -> Option<Regex> {
    let whole = format!("(?s)\\A(?:{pattern})\\z");
    let mut builder = regex::RegexBuilder::new(&whole);
    builder.size_limit(LARGEST).dfa_size_limit(REMEMBERED).nest_limit(250).build().ok()
}

fn translate(pattern: &str) -> String {
    let signs: Vec<char> = pattern.chars().collect();
    let braces = matched_braces(&signs);
    let mut made = String::with_capacity(pattern.len() * 2);
    let (mut at, mut depth) = (0, 0_usize);
    while let Some(sign) = signs.get(at) {
        let taken = match sign {
            '*' => star(&signs, at, &mut made),
            '?' => push(&mut made, "[^/]"),
            '[' => class(&signs, at, &mut made),
            '{' if braces.contains(&at) => {
                depth += 1;
                push(&mut made, "(?:")
            }
            '}' if braces.contains(&at) => {
                depth -= 1;
                push(&mut made, ")")
            }
            ',' if depth > 0 => push(&mut made, "|"),
            '\\' if signs.get(at + 1).is_some() => {
                letter(&mut made, signs[at + 1]);
                2
            }
            sign => {
                letter(&mut made, *sign);
                1
            }
        };
        at += taken;
    }
    made
}

fn push(made: &mut String, text: &str) -> usize {
    made.push_str(text);
    1
}

fn letter(made: &mut String, sign: char) {
    made.push_str(&regex::escape(sign.encode_utf8(&mut [0; 4])));
}

/// The places of braces that have a partner; others are letters.
fn matched_braces(signs: &[char]) -> std::collections::HashSet<usize> {
    let (mut open, mut matched, mut at) = (Vec::new(), std::collections::HashSet::new(), 0);
    while let Some(sign) = signs.get(at) {
        match sign {
            '\\' => at += 1,
            '{' => open.push(at),
            '}' => {
                if let Some(partner) = open.pop() {
                    matched.extend([partner, at]);
                }
            }
            _ => {}
        }
        at += 1;
    }
    matched
}

/// One or more stars: `**/` at the beginning of a part of the path is any number of folders.
fn star(signs: &[char], at: usize, made: &mut String) -> usize {
    let count = signs[at..].iter().take_while(|sign| **sign == '*').count();
    let begins = at == 0 || matches!(signs[at - 1], '/' | '{' | ',');
    if count == 2 && begins && signs.get(at + 2) == Some(&'/') {
        made.push_str("(?:[^/]*/)*");
        return 3;
    }
    made.push_str("[^/]*");
    count
}

/// `[a-z]`, `[^a-z]`, `[!a-z]`. One that is never closed matches nothing.
fn class(signs: &[char], at: usize, made: &mut String) -> usize {
    let mut next = at + 1;
    let negated = matches!(signs.get(next), Some('^' | '!'));
    next += usize::from(negated);
    let mut members = String::new();
    while let Some(sign) = signs.get(next) {
        if *sign == ']' {
            made.push_str(&match (members.is_empty(), negated) {
                (true, true) => "[^/]".to_owned(),
                (true, false) => NOTHING.to_owned(),
                (false, true) => format!("[^/{members}]"),
                (false, false) => format!("[{members}&&[^/]]"),
            });
            return next + 1 - at;
        }
        next += member(signs, next, &mut members);
    }
    made.push_str(NOTHING);
    signs.len() - at
}

/// A class without members.
const NOTHING: &str = "[^\\x00-\\x{10FFFF}]";

/// One sign or range of a class; how many signs of the pattern it takes.
fn member(signs: &[char], at: usize, members: &mut String) -> usize {
    let (first, mut taken) = one(signs, at);
    let ranged = signs.get(at + taken) == Some(&'-')
        && signs.get(at + taken + 1).is_some_and(|sign| *sign != ']');
    if !ranged {
        members.push_str(&escaped(first));
        return taken;
    }
    let (last, more) = one(signs, at + taken + 1);
    taken += 1 + more;
    if first <= last {
        members.push_str(&format!("{}-{}", escaped(first), escaped(last)));
    }
    taken
}

fn one(signs: &[char], at: usize) -> (char, usize) {
    match (signs.get(at), signs.get(at + 1)) {
        (Some('\\'), Some(sign)) => (*sign, 2),
        (Some(sign), _) => (*sign, 1),
        (None, _) => ('/', 1),
    }
}

fn escaped(sign: char) -> String {
    format!("\\x{{{:X}}}", u32::from(sign))
}

#[cfg(test)]
mod tests {
    use super::{GlobStart, Globs, KEPT_COST, LONGEST, wildcard};

    /// What the compiled pattern says; what is known before must be the same.
    fn fits(globs: &mut Globs, pattern: &str, path: &str) -> bool {
        let answer = globs.compile(pattern).is_some_and(|regex| regex.is_match(path));
        let early = GlobStart::of(pattern).map_or(Some(false), |start| start.fits(path));
        assert!(early.is_none_or(|early| early == answer), "{pattern} {path}");
        answer
    }

    #[test]
    fn patterns_fit_as_a_shell_of_paths_does() {
        for (pattern, fitting, other) in [
            ("src/*.rs", &["src/a.rs", "src/.rs"][..], &["src/a/b.rs", "src/a.RS"][..]),
            ("*", &["a", ".env"], &["a/b", ".a/b"]),
            ("?", &["a", "é"], &["", "ab", "/"]),
            ("**/*.rs", &["a.rs", "a/b/c.rs", ".a/b.rs"], &["a.rb"]),
            ("src/**/*", &["src/a", "src/a/b"], &["src", "lib/a"]),
            ("src/**", &["src/a"], &["src/a/b"]),
            ("**", &["a"], &["a/b"]),
            ("src/**/a", &["src/a", "src/x/y/a"], &["src/xa", "srca"]),
            ("src/", &[], &["src/a", "src"]),
            ("*.{yml,to{m,x}l}", &["a.yml", "a.toml", "a.toxl"], &["a.tol", "a.{yml"]),
            ("{a,b}/**/c", &["a/c", "b/x/c"], &["c", "a/b/d"]),
            ("[a-c]x", &["ax", "cx"], &["dx", "x"]),
            ("[!a-c]x", &["dx"], &["ax", "/x"]),
            ("[^a]", &["b"], &["a"]),
            ("[a-]", &["a", "-"], &["b"]),
            ("[z-a]", &[], &["z", "a"]),
            ("[]", &[], &["[]", "]"]),
            ("[a", &[], &["[a", "a"]),
            ("a\\*b", &["a*b"], &["axb"]),
            ("{a", &["{a"], &["a"]),
            ("a{b}", &["ab"], &["a{b}"]),
            ("a,b", &["a,b"], &["a"]),
            ("[+--]", &["+", ",", "-"], &["."]),
            ("src/a.rs", &["src/a.rs"], &["src/a.rs/b", "src/a_rs", "src"]),
            ("a}b,c", &["a}b,c"], &["a", "c"]),
        ] {
            let mut globs = Globs::default();
            for path in fitting {
                assert!(fits(&mut globs, pattern, path), "{pattern} {path}");
            }
            for path in other {
                assert!(!fits(&mut globs, pattern, path), "{pattern} {path}");
            }
        }
    }

    #[test]
    fn braces_that_multiply_cost_no_more_than_their_letters() {
        let pattern = "{a,b}".repeat(200);

        assert!(fits(&mut Globs::default(), &pattern, &"ab".repeat(100)));
    }

    #[test]
    fn patterns_longer_than_any_path_fit_nothing() {
        let (mut globs, long) = (Globs::default(), "a".repeat(LONGEST + 1));

        assert!(fits(&mut globs, &long[1..], &long[1..]));
        assert!(!fits(&mut globs, &long, &long));
        assert!(globs.is_ready(&long) && globs.compiled.len() == 1);
    }

    #[test]
    fn large_patterns_do_not_stay_together() {
        let mut globs = Globs::default();
        for number in 100..180 {
            assert!(globs.compile(&format!("{}{number}", "a".repeat(4000))).is_some());
        }

        assert!(globs.cost <= KEPT_COST);
        assert!(globs.compiled.len() < 80);
    }

    #[test]
    fn wildcards_of_includes_take_two_stars_for_anything() {
        assert!(wildcard("ci/*.yml").unwrap().is_match("ci/a.yml"));
        assert!(!wildcard("ci/*.yml").unwrap().is_match("ci/a/b.yml"));
        assert!(wildcard("ci/**.yml").unwrap().is_match("ci/a/b.yml"));
    }
}
