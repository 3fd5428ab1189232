//! Patterns written `/…/flags`, in the dialect of RE2, for the library that matches them here.
//!
//! Both promise linear time, so neither has look-around or back-references. They differ in small things: here classes
//! such as `\d` are of ASCII, braces that count nothing are letters, and classes know no operations.

use std::{collections::HashMap, time::Instant};

use regex::{Regex, RegexBuilder};

/// A compiled pattern needs no more memory than this.
const LARGEST: usize = 2 << 20;
/// RE2 repeats nothing more often.
const MOST_REPETITIONS: u32 = 1000;
/// Patterns kept compiled, as most stand in many jobs.
const KEPT: usize = 500;

/// Compiles patterns, each once, until the time is over.
#[derive(Default)]
pub(crate) struct Patterns {
    compiled: HashMap<String, Option<Regex>, ahash::RandomState>,
    deadline: Option<Instant>,
    expired: bool,
}

impl Patterns {
    pub(crate) fn until(deadline: Option<Instant>) -> Self {
        Self { deadline, ..Self::default() }
    }

    /// Whether patterns were left alone because the time was over.
    pub(crate) fn is_expired(&self) -> bool {
        self.expired
    }

    pub(crate) fn is_valid(&mut self, literal: &str) -> bool {
        self.get(literal).is_some()
    }

    /// Whether the pattern, if it is one, is found in the text.
    pub(crate) fn fits(&mut self, literal: &str, text: &str) -> bool {
        self.get(literal).is_some_and(|regex| regex.is_match(text))
    }

    fn get(&mut self, literal: &str) -> Option<&Regex> {
        if !self.compiled.contains_key(literal) {
            self.expired |= self.deadline.is_some_and(|deadline| Instant::now() > deadline);
            if self.compiled.len() >= KEPT {
                self.compiled.clear();
            }
            let regex = if self.expired { None } else { compile(literal) };
            self.compiled.insert(literal.to_owned(), regex);
        }
        self.compiled.get(literal)?.as_ref()
    }
}

/// Whether a text is written as a pattern, be it valid or not.
pub(crate) fn is_written(text: &str) -> bool {
    parts(text).is_some()
}

/// What stands between the slashes, and the flags.
fn parts(literal: &str) -> Option<(&str, &str)> {
    let (body, flags) = literal.strip_prefix('/')?.rsplit_once('/')?;
    let known = flags.chars().all(|flag| matches!(flag, 'i' | 's' | 'm' | 'U'));
    (known && !literal.contains('\n')).then_some((body, flags))
}

fn compile(literal: &str) -> Option<Regex> {
    let (body, flags) = parts(literal)?;
    let mut builder = RegexBuilder::new(&translate(&body.replace("\\/", "/"))?);
    builder.size_limit(LARGEST).nest_limit(200);
    for flag in flags.chars() {
        match flag {
            'i' => builder.case_insensitive(true),
            's' => builder.dot_matches_new_line(true),
            'm' => builder.multi_line(true),
            _ => builder.swap_greed(true),
        };
    }
    builder.build().ok()
}

/// The pattern in the library's dialect; `None` for what only the library knows.
fn translate(pattern: &str) -> Option<String> {
    let signs: Vec<char> = pattern.chars().collect();
    let mut made = String::with_capacity(pattern.len() + 16);
    let mut at = 0;
    while let Some(sign) = signs.get(at) {
        at += match sign {
            '\\' => escape(&signs, at, &mut made, PatternContext::Outside)?,
            '[' => class(&signs, at, &mut made)?,
            '{' => match count(&signs[at..]) {
                None => letter(&mut made, '{'),
                Some(times) if times > MOST_REPETITIONS => return None,
                Some(_) => {
                    made.push('{');
                    1
                }
            },
            '(' => group(&signs[at..], &mut made)?,
            sign => {
                made.push(*sign);
                1
            }
        };
    }
    Some(made)
}

/// The larger number of a count that a brace begins: `{2}`, `{2,}`, `{2,3}`.
fn count(signs: &[char]) -> Option<u32> {
    let end = signs.iter().position(|sign| *sign == '}')?;
    let inner: String = signs[1..end].iter().collect();
    let (least, most) = inner.split_once(',').unwrap_or((&inner, ""));
    let digits = |text: &str| text.bytes().all(|sign| sign.is_ascii_digit());
    let number = |text: &str| if text.is_empty() { 0 } else { text.parse().unwrap_or(u32::MAX) };
    let is_count = !least.is_empty() && digits(least) && digits(most);
    is_count.then(|| number(least).max(number(most)))
}

/// Flags of a group that RE2 knows.
fn group(signs: &[char], made: &mut String) -> Option<usize> {
    made.push('(');
    let Some(('?', rest)) = signs.get(1).map(|sign| (*sign, &signs[2..])) else { return Some(1) };
    let named = matches!(rest, ['P', '<', ..] | ['<', ..]);
    let flags = rest.iter().take_while(|sign| !matches!(sign, ')' | ':'));
    let known = flags.clone().all(|sign| matches!(sign, 'i' | 's' | 'm' | 'U' | '-'));
    (named || known).then_some(1)
}

#[derive(Clone, Copy, PartialEq)]
enum PatternContext {
    Outside,
    InClass,
}

/// An escape, with classes narrowed to ASCII.
fn escape(signs: &[char], at: usize, made: &mut String, place: PatternContext) -> Option<usize> {
    let sign = *signs.get(at + 1)?;
    let ascii = match sign {
        'd' => "0-9",
        'w' => "0-9A-Za-z_",
        's' => "\\t\\n\\x0C\\r ",
        'D' | 'W' | 'S' => {
            made.push_str(negated_class(sign));
            return Some(2);
        }
        'b' if place == PatternContext::Outside => {
            made.push_str("(?-u:\\b)");
            return Some(2);
        }
        'Q' => return quotation(signs, at, made),
        '<' | '>' => {
            made.push(sign);
            return Some(2);
        }
        // Octal in RE2, a reference elsewhere.
        '0'..='9' => return None,
        _ => {
            made.push('\\');
            made.push(sign);
            return Some(2);
        }
    };
    match place {
        PatternContext::InClass => made.push_str(ascii),
        PatternContext::Outside => made.push_str(&format!("[{ascii}]")),
    }
    Some(2)
}

fn negated_class(sign: char) -> &'static str {
    match sign {
        'D' => "[^0-9]",
        'W' => "[^0-9A-Za-z_]",
        _ => "[^\\t\\n\\x0C\\r ]",
    }
}

/// `\Q…\E`: letters as they stand.
fn quotation(signs: &[char], at: usize, made: &mut String) -> Option<usize> {
    let rest: String = signs[at + 2..].iter().collect();
    let (quoted, closed) = match rest.split_once("\\E") {
        Some((quoted, _)) => (quoted, 2),
        None => (rest.as_str(), 0),
    };
    made.push_str(&regex::escape(quoted));
    Some(2 + quoted.chars().count() + closed)
}

/// A class. What would be an operation on classes in the library is letters here.
fn class(signs: &[char], at: usize, made: &mut String) -> Option<usize> {
    made.push('[');
    let mut next = at + 1;
    if signs.get(next) == Some(&'^') {
        made.push('^');
        next += 1;
    }
    let first = next;
    while let Some(sign) = signs.get(next) {
        next += match sign {
            ']' if next > first => {
                made.push(']');
                return Some(next + 1 - at);
            }
            ']' => letter(made, ']'),
            '\\' => escape(signs, next, made, PatternContext::InClass)?,
            '[' if signs.get(next + 1) == Some(&':') => posix(signs, next, made)?,
            '-' if signs.get(next + 1) != Some(&'-') && next > first => {
                made.push('-');
                1
            }
            '[' | '&' | '~' | '-' => letter(made, *sign),
            sign => {
                made.push(*sign);
                1
            }
        };
    }
    None
}

fn letter(made: &mut String, sign: char) -> usize {
    made.push('\\');
    made.push(sign);
    1
}

/// `[:alpha:]`.
fn posix(signs: &[char], at: usize, made: &mut String) -> Option<usize> {
    let length = signs[at..].windows(2).position(|pair| pair == [':', ']'])? + 2;
    made.extend(&signs[at..at + length]);
    Some(length)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{Patterns, is_written};

    #[test]
    fn patterns_are_those_of_re2() {
        for (literal, text, expected) in [
            ("/^main$/", "main", true),
            ("/^MAIN$/i", "main", true),
            ("/a.b/s", "a\nb", true),
            ("/a.b/", "a\nb", false),
            ("/^b/m", "a\nb", true),
            ("/^b/", "a\nb", false),
            ("/^\\d+$/", "12", true),
            ("/^\\d+$/", "١٢", false),
            ("/^\\w+$/", "é", false),
            ("/^\\W$/", "é", true),
            ("/^[\\w-]+$/", "a-b", true),
            ("/^[^\\d]$/", "a", true),
            ("/\\bx\\b/", "a x", true),
            ("/^{a}$/", "{a}", true),
            ("/^a{2}$/", "aa", true),
            ("/^a{,2}$/", "a{,2}", true),
            ("/^a{0,1000}$/", "aa", true),
            ("/^[a&&b]+$/", "a&b", true),
            ("/^[[a]+$/", "[a", true),
            ("/^[[:alpha:]]$/", "a", true),
            ("/^[]a]$/", "]", true),
            ("/^\\Qa.b\\E$/", "a.b", true),
            ("/^\\<a$/", "<a", true),
            ("/^feature\\/x$/", "feature/x", true),
            ("/^(?P<n>a)$/", "a", true),
            ("/(?i)A/", "a", true),
            ("/^a-b_c.d:e@f$/", "a-b_c.d:e@f", true),
        ] {
            assert_eq!(Patterns::default().fits(literal, text), expected, "{literal} {text}");
        }
    }

    #[test]
    fn what_re2_does_not_know_is_no_pattern() {
        for literal in [
            "/(?!x)/",
            "/(?=x)/",
            "/(?<=x)/",
            "/(a)\\1/",
            "/(/",
            "/[a/",
            "/(?x) a/",
            "/a**b(/",
            "main",
            "/a/x",
            "/",
            "/a{1001}/",
            "/a{1,2000}/",
            "/a{99999999999}/",
        ] {
            assert!(!Patterns::default().is_valid(literal), "{literal}");
        }
        assert!(is_written("/(/") && !is_written("main"));
    }

    #[test]
    fn nothing_is_compiled_when_the_time_is_over() {
        let past = Instant::now().checked_sub(Duration::from_secs(1));
        let mut patterns = Patterns::until(past);

        assert!(!patterns.is_valid("/a/"));
        assert!(patterns.is_expired());
    }
}
