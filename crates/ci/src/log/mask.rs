//! Secrets in a log are hidden by as many signs as they have: runners count the bytes that they sent.

use std::sync::Arc;

use aho_corasick::{AhoCorasick, MatchKind};
use kernel::{Error, Result};

/// What stands in the place of a secret's bytes.
const SIGN: u8 = b'x';
/// So much is kept back at most for the sake of secrets that hang together.
const MOST_KEPT: usize = 64 << 10;

/// Hides some secrets in a text that comes in pieces. Where the end of a piece may be the beginning of a secret, it is
/// kept back until the next one.
#[derive(Clone, Debug, Default)]
pub struct Mask {
    secrets: Option<Arc<Secrets>>,
}

#[derive(Debug)]
struct Secrets {
    all: AhoCorasick,
    each: Vec<Prefixes>,
}

/// A secret, of which the beginning is looked for.
#[derive(Debug)]
struct Prefixes {
    secret: Vec<u8>,
    /// For each beginning of the secret: how much of its end is a shorter beginning.
    borders: Vec<usize>,
}

impl Prefixes {
    fn new(secret: &str) -> Self {
        let mut of = Self { secret: secret.as_bytes().to_vec(), borders: vec![0; secret.len()] };
        let mut length = 0;
        for index in 1..of.secret.len() {
            length = of.after(length, of.secret[index]);
            of.borders[index] = length;
        }
        of
    }

    /// How much of the secret stands at the end of a text when this byte comes behind that much of it.
    fn after(&self, mut length: usize, byte: u8) -> usize {
        while length > 0 && self.secret.get(length) != Some(&byte) {
            length = self.borders[length - 1];
        }
        if self.secret.get(length) == Some(&byte) { length + 1 } else { 0 }
    }

    /// How much of the end of a text may be the beginning of the secret.
    fn begun(&self, text: &[u8]) -> usize {
        let whole = self.secret.len();
        let end = &text[text.len().saturating_sub(whole - 1)..];
        end.iter().fold(0, |length, byte| self.after(length, *byte))
    }
}

impl Mask {
    pub fn new(secrets: &[String]) -> Result<Self> {
        let secrets: Vec<&str> =
            secrets.iter().map(String::as_str).filter(|secret| !secret.is_empty()).collect();
        if secrets.is_empty() {
            return Ok(Self::default());
        }
        // Secrets may lie over one another: all of them count.
        let all = AhoCorasick::builder().match_kind(MatchKind::Standard).build(&secrets);
        let each = secrets.into_iter().map(Prefixes::new).collect();
        Ok(Self { secrets: Some(Arc::new(Secrets { all: all.map_err(Error::internal)?, each })) })
    }

    /// Hides what is in `text`, and tells how much of it can be shown: nothing that comes later changes that part.
    pub fn shown(&self, text: &[u8]) -> (Vec<u8>, usize) {
        let mut hidden = text.to_vec();
        let Some(secrets) = &self.secrets else { return (hidden, text.len()) };
        let found = secrets.all.find_overlapping_iter(text);
        let runs = runs(found.map(|one| (one.start(), one.end())));
        for (from, to) in &runs {
            hidden[*from..*to].fill(SIGN);
        }
        let begun = secrets.each.iter().map(|secret| secret.begun(text)).max().unwrap_or_default();
        let end = text.len() - begun;
        let floor = text.len().saturating_sub(MOST_KEPT);
        // A secret is not cut in two: its end alone would not be known again.
        let cut = runs.iter().rfind(|(from, to)| *from < end && end < *to);
        let end = cut.map(|(from, _)| *from).filter(|from| *from >= floor).unwrap_or(end);
        (hidden, end)
    }
}

/// Joins spans that lie over one another. They come in the order of their ends.
fn runs(spans: impl Iterator<Item = (usize, usize)>) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for (mut from, to) in spans {
        while let Some(last) = runs.pop_if(|last| last.1 > from) {
            from = from.min(last.0);
        }
        runs.push((from, to));
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::Mask;

    /// The whole of a text that comes in pieces of that size.
    fn whole(secrets: &[&str], text: &str, size: usize) -> String {
        let secrets: Vec<String> = secrets.iter().map(ToString::to_string).collect();
        let mask = Mask::new(&secrets).unwrap();
        let (mut shown, mut kept) = (Vec::new(), Vec::new());
        for piece in text.as_bytes().chunks(size) {
            kept.extend_from_slice(piece);
            let (hidden, end) = mask.shown(&kept);
            shown.extend_from_slice(&hidden[..end]);
            kept.drain(..end);
        }
        shown.extend(mask.shown(&kept).0);
        String::from_utf8(shown).unwrap()
    }

    #[test]
    fn secrets_are_hidden_wherever_a_text_is_cut() {
        for (secrets, text, expected) in [
            (&["hunter22"][..], "a hunter22 b hunter22", "a xxxxxxxx b xxxxxxxx"),
            (&["hunter22", "hunter"], "hunter22 hunter2", "xxxxxxxx xxxxxx2"),
            (&["aXa"], "-aXaXaXa-aX-", "-xxxxxxx-aX-"),
            (&["abcd", "cdef"], "abcdef", "xxxxxx"),
            (&["grün"], "grün", "xxxxx"),
            (&[""], "nothing", "nothing"),
            (&[], "nothing", "nothing"),
        ] {
            for size in 1..=text.len() {
                assert_eq!(whole(secrets, text, size), expected, "{secrets:?} by {size}");
            }
        }
    }

    #[test]
    fn what_begins_no_secret_is_shown_at_once() {
        let mask = Mask::new(&["hunter22".to_owned(), "abcabd".to_owned()]).unwrap();
        for (text, kept) in [("Running\n", 0), ("say hunt", 4), ("abcabcab", 5), ("hunter22", 0)] {
            assert_eq!(mask.shown(text.as_bytes()).1, text.len() - kept, "{text}");
        }
    }

    #[test]
    fn a_text_of_nothing_but_secrets_is_not_kept_for_ever() {
        let mask = Mask::new(&["aa".to_owned()]).unwrap();
        let (_, end) = mask.shown(&vec![b'a'; 1 << 20]);
        assert!(end > (1 << 20) - (65 << 10), "{end}");
    }
}
