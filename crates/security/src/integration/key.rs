//! The key of an integration.

use secrets::Secret;
use sha2::{Digest as _, Sha256};

/// The authorization key of a monitoring tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntegrationKey(Secret);

impl IntegrationKey {
    /// A new one, which nobody can guess.
    pub fn generate() -> Self {
        Self(Secret::new(hex::encode(rand::random::<[u8; 16]>())))
    }

    /// One given by a client.
    pub fn given(text: impl Into<String>) -> Self {
        Self(Secret::new(text))
    }

    pub(super) fn unsealed(secret: Secret) -> Self {
        Self(secret)
    }

    pub fn reveal(&self) -> &str {
        self.0.reveal()
    }

    pub(super) fn secret(&self) -> &Secret {
        &self.0
    }

    pub(super) fn digest(&self) -> String {
        hex::encode(Sha256::digest(self.reveal()))
    }

    /// Whether it has this digest, compared in constant time.
    pub(super) fn has_digest(&self, digest: &str) -> bool {
        let own = self.digest();
        let differences = own.bytes().zip(digest.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
        own.len() == digest.len() && differences == 0
    }
}

#[cfg(test)]
mod tests {
    use super::IntegrationKey;

    #[test]
    fn a_key_is_new_each_time_and_shown_in_no_log() {
        let (one, other) = (IntegrationKey::generate(), IntegrationKey::generate());
        assert_ne!(one.reveal(), other.reveal());
        assert_eq!(one.reveal().len(), 32);
        assert!(!format!("{one:?}").contains(one.reveal()));
    }

    #[test]
    fn only_the_same_key_has_its_digest() {
        let key = IntegrationKey::given("abc");
        assert!(IntegrationKey::given("abc").has_digest(&key.digest()));
        for other in ["", "ab", "abcd", "abd"] {
            assert!(!IntegrationKey::given(other).has_digest(&key.digest()), "{other}");
        }
        assert!(!key.has_digest(""));
    }
}
