//! Key pairs with which nodes sign what they say to each other.

use secrets::Secret;

/// The half of a key pair that signs. Shows itself in no log.
pub struct SecretKey(Secret);

impl SecretKey {
    pub(super) fn new(secret: Secret) -> Self {
        Self(secret)
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.0.reveal().as_bytes()
    }

    pub(super) fn secret(&self) -> &Secret {
        &self.0
    }
}

impl std::fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SecretKey")
    }
}

/// A name that may be seen, and the key behind it.
#[derive(Debug)]
pub struct KeyPair {
    pub access_key: String,
    pub secret: SecretKey,
}

impl KeyPair {
    pub fn generate() -> Self {
        let access_key = hex::encode(rand::random::<[u8; 10]>());
        let secret = Secret::new(hex::encode(rand::random::<[u8; 32]>()));
        Self { access_key, secret: SecretKey(secret) }
    }
}

#[cfg(test)]
mod tests {
    use super::KeyPair;

    #[test]
    fn key_pairs_differ_and_hide_their_secret() {
        let (one, other) = (KeyPair::generate(), KeyPair::generate());
        assert_ne!(one.access_key, other.access_key);
        assert_ne!(one.secret.bytes(), other.secret.bytes());
        assert_eq!((one.access_key.len(), one.secret.bytes().len()), (20, 64));
        let shown = format!("{one:?}");
        assert!(shown.ends_with("secret: SecretKey }"), "{shown}");
    }
}
