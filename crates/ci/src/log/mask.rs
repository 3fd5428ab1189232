//! Secrets in a log are hidden by as many signs as they have: runners count the bytes that they sent.

use std::sync::Arc;

use aho_corasick::{AhoCorasick, MatchKind};
use kernel::{Error, Result};

/// What stands in the place of a secret's bytes.
const SIGN: u8 = b'x';
/// So much is kept back at most for the sake of secrets that hang together.
const MOST_KEPT: usize = 64 << 10;

/// Hides some secrets in a text that comes in pieces. The end of a piece may be the beginning of a secret, so it is kept
/// back until the next one.
#[derive(Clone, Debug, Default)]
pub struct Mask {
    secrets: Option<Arc<AhoCorasick>>,
    /// Bytes of the longest secret.
    longest: usize,
}

impl Mask {
    pub fn new(secrets: &[String]) -> Result<Self> {
        let secrets: Vec<&str> =
            secrets.iter().map(String::as_str).filter(|secret| !secret.is_empty()).collect();
        let longest = secrets.iter().map(|secret| secret.len()).max().unwrap_or_default();
        if secrets.is_empty() {
            return Ok(Self::default());
        }
        // Secrets may lie over one another: all of them count.
        let found = AhoCorasick::builder().match_kind(MatchKind::Standard).build(&secrets);
        Ok(Self { secrets: Some(Arc::new(found.map_err(Error::internal)?)), longest })
    }

    /// Hides what is in `text`, and tells how much of it can be shown: nothing that comes later changes that part.
    pub fn shown(&self, text: &[u8]) -> (Vec<u8>, usize) {
        let mut hidden = text.to_vec();
        let Some(secrets) = &self.secrets else { return (hidden, text.len()) };
        let runs = runs(secrets.find_overlapping_iter(text).map(|one| (one.start(), one.end())));
        for (from, to) in &runs {
            hidden[*from..*to].fill(SIGN);
        }
        let end = text.len().saturating_sub(self.longest - 1);
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
    fn a_text_of_nothing_but_secrets_is_not_kept_for_ever() {
        let mask = Mask::new(&["aa".to_owned()]).unwrap();
        let (_, end) = mask.shown(&vec![b'a'; 1 << 20]);
        assert!(end > (1 << 20) - (65 << 10), "{end}");
    }
}
