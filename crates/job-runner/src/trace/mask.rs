//! Hides secrets in a stream, also where one lies across two pieces.

/// What stands in the place of a secret.
const HIDDEN: &[u8] = b"[MASKED]";

/// Replaces secrets. The end of a piece that may be the beginning of a secret is held back until more is known.
pub(crate) struct Masker {
    /// Longest first, none empty.
    secrets: Vec<Vec<u8>>,
    begins: [bool; 256],
    held: Vec<u8>,
}

impl Masker {
    pub(crate) fn new<S: AsRef<str>>(secrets: impl IntoIterator<Item = S>) -> Self {
        let mut masker = Self { secrets: Vec::new(), begins: [false; 256], held: Vec::new() };
        masker.add(secrets);
        masker
    }

    /// Hides further secrets from here on.
    pub(crate) fn add<S: AsRef<str>>(&mut self, secrets: impl IntoIterator<Item = S>) {
        let new = secrets.into_iter().map(|secret| secret.as_ref().as_bytes().to_vec());
        self.secrets.extend(new.filter(|secret| !secret.is_empty()));
        self.secrets.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        self.secrets.dedup();
        for secret in &self.secrets {
            self.begins[usize::from(secret[0])] = true;
        }
    }

    /// Takes a piece and gives what can be shown.
    pub(crate) fn mask(&mut self, piece: &[u8]) -> Vec<u8> {
        self.held.extend_from_slice(piece);
        self.advance(false)
    }

    /// Gives what is still held back.
    pub(crate) fn flush(&mut self) -> Vec<u8> {
        self.advance(true)
    }

    fn advance(&mut self, is_end: bool) -> Vec<u8> {
        let mut shown = Vec::with_capacity(self.held.len());
        let mut at = 0;
        while let Some(rest) = self.held.get(at..).filter(|rest| !rest.is_empty()) {
            if !self.begins[usize::from(rest[0])] {
                shown.push(rest[0]);
                at += 1;
                continue;
            }
            let may_grow =
                |secret: &&Vec<u8>| secret.len() > rest.len() && secret.starts_with(rest);
            if !is_end && self.secrets.iter().any(|secret| may_grow(&secret)) {
                break;
            }
            match self.secrets.iter().find(|secret| rest.starts_with(secret)) {
                Some(secret) => {
                    shown.extend_from_slice(HIDDEN);
                    at += secret.len();
                }
                None => {
                    shown.push(rest[0]);
                    at += 1;
                }
            }
        }
        self.held.drain(..at);
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masked(secrets: &[&str], pieces: &[&str]) -> String {
        let mut masker = Masker::new(secrets);
        let mut shown = Vec::new();
        pieces.iter().for_each(|piece| shown.extend(masker.mask(piece.as_bytes())));
        shown.extend(masker.flush());
        String::from_utf8(shown).unwrap()
    }

    #[test]
    fn the_longest_secret_wins() {
        assert_eq!(masked(&["abc", "abcdef"], &["abcdef abc"]), "[MASKED] [MASKED]");
    }

    #[test]
    fn every_way_of_cutting_gives_the_same() {
        let text = "xx secret-1 secre secret-12 y";
        let whole = masked(&["secret-1", "secret-12"], &[text]);
        assert_eq!(whole, "xx [MASKED] secre [MASKED] y");
        for cut in 0..text.len() {
            assert_eq!(masked(&["secret-1", "secret-12"], &[&text[..cut], &text[cut..]]), whole);
        }
    }

    #[test]
    fn an_empty_secret_hides_nothing() {
        assert_eq!(masked(&[""], &["abc"]), "abc");
    }

    #[test]
    fn the_beginning_of_a_secret_at_the_end_is_shown() {
        assert_eq!(masked(&["token"], &["a tok"]), "a tok");
    }
}
