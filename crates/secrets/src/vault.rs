//! Authenticated encryption of secrets.

use std::{io, path::Path};

use base64::{Engine as _, engine::general_purpose::STANDARD_NO_PAD as BASE64};
use chacha20poly1305::{
    KeyInit as _, XChaCha20Poly1305,
    aead::{Aead as _, Payload},
};
use sha2::{Digest as _, Sha256};

use crate::{
    Secret,
    key_file::{self, Key},
};

/// Version prefix of sealed values; another format gets another number.
const FORMAT: &str = "1:";
/// Bytes of a nonce. At this length random nonces do not repeat.
const NONCE: usize = 24;

/// A sealed value cannot be opened: it was changed, was copied to another place, or was sealed with another key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a secret cannot be read with secrets.key of the data folder")]
pub struct UnsealError;

/// Seals secrets with the key of a data folder.
pub struct Vault {
    cipher: XChaCha20Poly1305,
    key: Key,
    number: i64,
}

impl Vault {
    /// With the key of a data folder; `None` where there is none yet.
    ///
    /// # Errors
    /// When the file cannot be read, or is no key.
    pub fn find(data: &Path) -> io::Result<Option<Self>> {
        Ok(key_file::read(data)?.map(|key| Self::with(&key)))
    }

    /// With the key of a data folder, made where there is none.
    ///
    /// # Errors
    /// When the file can be neither read nor written.
    pub fn find_or_make(data: &Path) -> io::Result<Self> {
        match Self::find(data)? {
            Some(vault) => Ok(vault),
            None => Ok(Self::with(&key_file::make(data)?)),
        }
    }

    fn with(key: &Key) -> Self {
        let digest =
            Sha256::new().chain_update("forgeway secrets.key").chain_update(key).finalize();
        let first = digest.first_chunk().copied().unwrap_or_default();
        let number = i64::from_be_bytes(first);
        Self { cipher: XChaCha20Poly1305::new(key.into()), key: *key, number }
    }

    /// Number that identifies this key without revealing it.
    pub fn number(&self) -> i64 {
        self.number
    }

    /// A key for one purpose, as hexadecimal digits: the same each time, and of no use for guessing any other.
    pub fn derived_key(&self, purpose: &str) -> Secret {
        let digest = Sha256::new()
            .chain_update("forgeway secrets.key for ")
            .chain_update(purpose)
            .chain_update(self.key);
        Secret::new(format!("{:x}", digest.finalize()))
    }

    /// Seals a secret for one place. It can be unsealed only for that place, so copying a row reveals nothing.
    ///
    /// # Errors
    /// When it is longer than any can be.
    pub fn seal(&self, place: &str, secret: &Secret) -> Result<String, UnsealError> {
        let nonce: [u8; NONCE] = rand::random();
        let payload = Payload { msg: secret.reveal().as_bytes(), aad: place.as_bytes() };
        let sealed =
            self.cipher.encrypt(&nonce.into(), payload).map_err(|_too_long| UnsealError)?;
        Ok(format!("{FORMAT}{}", BASE64.encode([nonce.as_slice(), &sealed].concat())))
    }

    /// The secret that was sealed for this place.
    ///
    /// # Errors
    /// When it is not as it was sealed.
    pub fn unseal(&self, place: &str, sealed: &str) -> Result<Secret, UnsealError> {
        let clear = || {
            let bytes = BASE64.decode(sealed.strip_prefix(FORMAT)?).ok()?;
            let (nonce, sealed) = bytes.split_first_chunk::<NONCE>()?;
            let payload = Payload { msg: sealed, aad: place.as_bytes() };
            let clear = self.cipher.decrypt(&(*nonce).into(), payload).ok()?;
            String::from_utf8(clear).ok()
        };
        clear().map(Secret::new).ok_or(UnsealError)
    }
}

impl std::fmt::Debug for Vault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Vault")
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::{UnsealError, Vault};
    use crate::{KEY_FILE, Secret};

    fn vault() -> Vault {
        Vault::with(&[7; 32])
    }

    #[test]
    fn what_is_sealed_is_read_where_it_was_sealed_for() {
        let sealed = vault().seal("project/1/KEY", &Secret::new("hunter2")).unwrap();
        assert_eq!(vault().unseal("project/1/KEY", &sealed).unwrap().reveal(), "hunter2");
        assert!(!sealed.contains("hunter2") && sealed.starts_with("1:"));
        assert_eq!(vault().unseal("project/2/KEY", &sealed), Err(UnsealError));
        assert_eq!(Vault::with(&[8; 32]).unseal("project/1/KEY", &sealed), Err(UnsealError));
    }

    #[test]
    fn the_same_is_never_sealed_alike() {
        let sealed = || vault().seal("", &Secret::new("")).unwrap();
        assert_ne!(sealed(), sealed());
        assert_eq!(vault().unseal("", &sealed()).unwrap().reveal(), "");
    }

    #[test]
    fn what_was_changed_is_not_read() {
        let sealed = vault().seal("x", &Secret::new("hunter2")).unwrap();
        for place in 0..sealed.len() {
            let mut changed = sealed.clone().into_bytes();
            changed[place] = if changed[place] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).unwrap();
            assert_eq!(vault().unseal("x", &changed), Err(UnsealError), "{changed}");
        }
        for broken in ["", "1:", "2:AAAA", &sealed[..sealed.len() - 4]] {
            assert_eq!(vault().unseal("x", broken), Err(UnsealError));
        }
    }

    #[test]
    fn a_derived_key_is_the_same_each_time_and_another_one_for_each_purpose_and_key() {
        let derived = |vault: &Vault, purpose: &str| vault.derived_key(purpose).into_revealed();
        let first = derived(&vault(), "files");
        assert_eq!((first.len(), &first), (64, &derived(&vault(), "files")));
        assert_ne!(first, derived(&vault(), "pages"));
        assert_ne!(first, derived(&Vault::with(&[8; 32]), "files"));
    }

    #[test]
    fn the_key_is_made_once_and_is_nobody_elses() {
        let data = tempfile::tempdir().unwrap();
        assert!(Vault::find(data.path()).unwrap().is_none());
        let first = Vault::find_or_make(data.path()).unwrap();
        let again = Vault::find_or_make(data.path()).unwrap();
        assert_eq!(first.number(), again.number());
        let mode = std::fs::metadata(data.path().join(KEY_FILE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(data.path()).unwrap().count(), 1);
        std::fs::write(data.path().join(KEY_FILE), "short").unwrap();
        assert!(Vault::find(data.path()).is_err());
    }
}
