//! Passwords: kept as argon2id, checked in a time that does not tell whether somebody has one.

use std::sync::LazyLock;

use argon2::{
    PasswordHasher, PasswordVerifier,
    password_hash::{PasswordHash, SaltString},
};
use kernel::{Error, Result, values::length_fault};

use super::{common_passwords::COMMON, hasher::Hasher, model::Identity};
use crate::settings::Settings;

/// The most that is hashed.
pub const MAX_LENGTH: usize = 128;
const WEAK: &str = "must not contain commonly used combinations of words and letters";
const PRODUCT: &str = "forgeway";

/// A hash of nothing anybody knows, so that a missing user costs as much as a wrong password.
static NOBODY: LazyLock<Option<String>> =
    LazyLock::new(|| hash(&hex::encode(rand::random::<[u8; 32]>())).ok());

/// A password that somebody chose, with what is stored of it.
#[derive(Clone)]
pub struct PasswordChoice {
    clear: String,
    hash: String,
    /// Whether a machine chose it: then nothing speaks against it.
    random: bool,
}

impl std::fmt::Debug for PasswordChoice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Chosen(…)")
    }
}

impl PasswordChoice {
    /// Hashes the password: slow on purpose, so call it off the async threads.
    pub fn new(clear: String) -> Result<Self> {
        let shown: String = clear.chars().take(MAX_LENGTH).collect();
        Ok(Self { hash: hash(&shown)?, clear, random: false })
    }

    /// A password that nobody will ever type.
    pub fn random() -> Result<Self> {
        let chosen = Self::new(hex::encode(rand::random::<[u8; 24]>()))?;
        Ok(Self { random: true, ..chosen })
    }

    pub fn hash(&self) -> &str {
        &self.hash
    }

    pub fn is_empty(&self) -> bool {
        self.clear.is_empty()
    }

    /// What speaks against it, for somebody who is called so.
    pub fn faults(&self, identity: &Identity, settings: &Settings) -> Vec<String> {
        if self.random { Vec::new() } else { faults(&self.clear, identity, settings) }
    }
}

fn faults(clear: &str, identity: &Identity, settings: &Settings) -> Vec<String> {
    let least = settings.minimum_password_length;
    let mut texts = Vec::new();
    if clear.is_empty() {
        return vec!["can't be blank".to_owned()];
    }
    if i64::try_from(clear.chars().count()).unwrap_or(i64::MAX) < least {
        texts.push(format!("is too short (minimum is {least} characters)"));
    }
    texts.extend(length_fault(clear, MAX_LENGTH));
    if is_weak(clear, identity) {
        texts.push(WEAK.to_owned());
    }
    texts.extend(missing_kinds(clear, settings));
    texts
}

/// Whether it is a usual password, or made of what everybody knows of the person.
fn is_weak(clear: &str, identity: &Identity) -> bool {
    let lower = clear.to_lowercase();
    if COMMON.iter().any(|word| lower.starts_with(word) && lower.len() < word.len() + 4) {
        return true;
    }
    let local = identity.email.split('@').next().unwrap_or_default();
    let own = [identity.name.as_str(), &identity.username, &identity.email, local, PRODUCT];
    let parts = own.into_iter().chain(identity.name.split_whitespace());
    let mut words = parts.map(str::to_lowercase).filter(|word| word.chars().count() >= 4);
    words.any(|word| lower.contains(&word))
}

/// The kinds of letters that the installation wants, and that are not there.
fn missing_kinds(clear: &str, settings: &Settings) -> Vec<String> {
    let has = |kind: fn(char) -> bool| clear.chars().any(kind);
    let kinds = [
        (settings.password_number_required, has(char::is_numeric), "number"),
        (settings.password_lowercase_required, has(char::is_lowercase), "lowercase letter"),
        (settings.password_uppercase_required, has(char::is_uppercase), "uppercase letter"),
        (
            settings.password_symbol_required,
            has(|letter| !letter.is_alphanumeric() && !letter.is_whitespace()),
            "symbol character",
        ),
    ];
    let missing = kinds.into_iter().filter(|(wanted, there, _)| *wanted && !there);
    missing.map(|(_, _, kind)| format!("requires at least one {kind}")).collect()
}

/// What is stored of a password. Slow on purpose: call it off the async threads.
pub fn hash(password: &str) -> Result<String> {
    let failed = |cause: argon2::password_hash::Error| Error::internal(cause.to_string());
    let salt = SaltString::encode_b64(&rand::random::<[u8; 16]>()).map_err(failed)?;
    let hash = Hasher.hash_password(password.as_bytes(), &salt);
    Ok(hash.map_err(failed)?.to_string())
}

/// Whether `password` is the one whose hash is stored. Somebody without a password never matches, in the same time.
pub fn verify(password: &str, stored: Option<&str>) -> bool {
    let Some(compared) = stored.or(NOBODY.as_deref()) else { return false };
    let Ok(parsed) = PasswordHash::new(compared) else { return false };
    let same = Hasher.verify_password(password.as_bytes(), &parsed).is_ok();
    same && stored.is_some()
}

#[cfg(test)]
mod tests {
    use argon2::password_hash::PasswordHash;

    use super::{NOBODY, faults, hash, verify};
    use crate::{settings::Settings, user::model::Identity};

    #[test]
    fn only_the_right_password_of_somebody_who_has_one_is_taken() {
        let stored = hash("a long and winding road").unwrap();
        assert!(verify("a long and winding road", Some(&stored)));
        assert!(!verify("another road", Some(&stored)));
        assert!(!verify("a long and winding road", None));
    }

    #[test]
    fn what_was_stored_by_earlier_releases_is_still_right() {
        let stored = "$argon2id$v=19$m=19456,t=2,p=1$vxMJzlDoR9JvyalEBG4W2A$\
                      2l5QtJlt1G/lI8FguWL/kUgRtPERd+SSvnTg/Bxx5VY";
        assert!(verify("difference engine", Some(stored)));
        assert!(!verify("analytical engine", Some(stored)));
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
        let settings = Settings::default();
        let count = |clear: &str| faults(clear, &identity, &settings).len();
        assert_eq!(count("short"), 1);
        assert_eq!(count(&"long".repeat(40)), 1);
        assert_eq!(count("Password12"), 1);
        assert_eq!(count("xx-Lovelace-xx"), 1);
        assert_eq!(count("my countess 99"), 1);
        assert_eq!(count("the ada way forgeway"), 1);
        assert_eq!(count("correct horse battery"), 0);
    }

    #[test]
    fn an_installation_may_want_each_kind_of_letter() {
        let identity = Identity::new("ada", "Ada", "ada@example.com");
        let settings = Settings {
            password_number_required: true,
            password_lowercase_required: true,
            password_uppercase_required: true,
            password_symbol_required: true,
            ..Settings::default()
        };

        assert_eq!(
            faults("........", &identity, &settings),
            [
                "requires at least one number",
                "requires at least one lowercase letter",
                "requires at least one uppercase letter",
            ]
        );
        assert_eq!(
            faults("Grüße 7 mal", &identity, &settings),
            ["requires at least one symbol character"]
        );
        assert!(faults("Grüße, 7 mal", &identity, &settings).is_empty());
    }
}
