//! Passwords: kept as argon2id, checked in a time that does not tell whether somebody has one.

use std::sync::LazyLock;

use argon2::{Argon2, PasswordHasher, PasswordVerifier, password_hash::phc::PasswordHash};
use kernel::{Error, Result};

use super::model::Identity;

/// The most that is hashed.
pub const MAX_LENGTH: usize = 128;
const WEAK: &str = "must not contain commonly used combinations of words and letters";
/// Beginnings and ends that add nothing to one of these words do not save it.
const COMMON: &[&str] = &[
    "12345678", "87654321", "abcdefgh", "abcd1234", "access14", "baseball", "changeme", "computer",
    "football", "forgeway", "hello123", "iloveyou", "jennifer", "letmein", "monkey12", "passw0rd",
    "password", "princess", "qwertyui", "qwerty12", "secret12", "security", "sunshine", "superman",
    "trustno1", "welcome1", "11111111", "00000000", "1q2w3e4r", "1qaz2wsx", "asdfghjk", "zxcvbnm1",
];

/// A hash of nothing anybody knows, so that a missing user costs as much as a wrong password.
static NOBODY: LazyLock<Option<String>> =
    LazyLock::new(|| hash(&hex::encode(rand::random::<[u8; 32]>())).ok());

/// A password that somebody chose, with what is stored of it.
#[derive(Clone)]
pub struct Chosen {
    clear: String,
    hash: String,
}

impl std::fmt::Debug for Chosen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Chosen(…)")
    }
}

impl Chosen {
    /// Hashes the password: slow on purpose, so call it off the async threads.
    pub fn new(clear: String) -> Result<Self> {
        let shown: String = clear.chars().take(MAX_LENGTH).collect();
        Ok(Self { hash: hash(&shown)?, clear })
    }

    /// A password that nobody will ever type.
    pub fn random() -> Result<Self> {
        Self::new(hex::encode(rand::random::<[u8; 24]>()))
    }

    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// What speaks against it, for somebody who is called so.
    pub fn faults(&self, identity: &Identity, least: i64) -> Vec<String> {
        faults(&self.clear, identity, least)
    }
}

fn faults(clear: &str, identity: &Identity, least: i64) -> Vec<String> {
    let length = clear.chars().count();
    let mut texts = Vec::new();
    if clear.is_empty() {
        return vec!["can't be blank".to_owned()];
    }
    if i64::try_from(length).unwrap_or(i64::MAX) < least {
        texts.push(format!("is too short (minimum is {least} characters)"));
    }
    if length > MAX_LENGTH {
        texts.push(format!("is too long (maximum is {MAX_LENGTH} characters)"));
    }
    let lower = clear.to_lowercase();
    let local = identity.email.split('@').next().unwrap_or_default().to_owned();
    let own = [identity.name.clone(), identity.username.clone(), local];
    let named = own.iter().map(|word| word.to_lowercase());
    let mut words = named.filter(|word| word.chars().count() >= 4);
    let common = COMMON.iter().any(|word| lower.starts_with(word) && lower.len() < word.len() + 4);
    if common || words.any(|word| lower.contains(&word)) {
        texts.push(WEAK.to_owned());
    }
    texts
}

/// What is stored of a password. Slow on purpose: call it off the async threads.
pub fn hash(password: &str) -> Result<String> {
    let hash = Argon2::default().hash_password(password.as_bytes());
    Ok(hash.map_err(|cause| Error::internal(cause.to_string()))?.to_string())
}

/// Whether `password` is the one whose hash is stored. Somebody without a password never matches, in the same time.
pub fn verify(password: &str, stored: Option<&str>) -> bool {
    let Some(compared) = stored.or(NOBODY.as_deref()) else { return false };
    let Ok(parsed) = PasswordHash::new(compared) else { return false };
    let same = Argon2::default().verify_password(password.as_bytes(), &parsed).is_ok();
    same && stored.is_some()
}

#[cfg(test)]
mod tests {
    use argon2::password_hash::phc::PasswordHash;

    use super::{NOBODY, faults, hash, verify};
    use crate::user::model::Identity;

    #[test]
    fn only_the_right_password_of_somebody_who_has_one_is_taken() {
        let stored = hash("a long and winding road").unwrap();
        assert!(verify("a long and winding road", Some(&stored)));
        assert!(!verify("another road", Some(&stored)));
        assert!(!verify("a long and winding road", None));
    }

    #[test]
    fn nobody_costs_as_much_as_somebody() {
        let stored = hash("a long and winding road").unwrap();
        let cost = |text: &str| PasswordHash::new(text).unwrap().params.to_string();
        assert_eq!(cost(NOBODY.as_deref().unwrap()), cost(&stored));
    }

    #[test]
    fn short_long_common_and_own_words_are_turned_down() {
        let (name, username, email) = ("Ada Lovelace", "lovelace", "countess@example.com");
        let identity = Identity::new(username, name, email);
        let count = |clear: &str| faults(clear, &identity, 8).len();
        assert_eq!(count("short"), 1);
        assert_eq!(count(&"long".repeat(40)), 1);
        assert_eq!(count("Password12"), 1);
        assert_eq!(count("xx-Lovelace-xx"), 1);
        assert_eq!(count("my countess 99"), 1);
        assert_eq!(count("correct horse battery"), 0);
    }
}
