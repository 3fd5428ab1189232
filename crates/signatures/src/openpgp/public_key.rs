//! Armoured OpenPGP public keys.

use pgp::{
    composed::{Deserializable as _, SignedPublicKey},
    types::KeyDetails,
};

const BEGIN: &str = "-----BEGIN PGP PUBLIC KEY BLOCK-----";
const END: &str = "-----END PGP PUBLIC KEY BLOCK-----";

/// Key id and fingerprint of a primary key or subkey, in upper-case hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyName {
    pub keyid: String,
    pub fingerprint: String,
}

impl KeyName {
    fn of(key: &impl KeyDetails) -> Self {
        Self { keyid: hex::encode_upper(key.legacy_key_id()), fingerprint: fingerprint(key) }
    }
}

pub(super) fn fingerprint(key: &impl KeyDetails) -> String {
    format!("{:X}", key.fingerprint())
}

/// Names of a public key and of the subkeys bound to it.
#[derive(Clone, Debug)]
pub struct PublicKey {
    pub primary: KeyName,
    pub subkeys: Vec<KeyName>,
}

/// Whether the text is exactly one armoured block, whatever it contains.
pub fn is_armored(text: &str) -> bool {
    let Some(inner) = text.strip_prefix(BEGIN).and_then(|text| text.strip_suffix(END)) else {
        return false;
    };
    !inner.is_empty() && !inner.contains(BEGIN) && !inner.contains(END)
}

pub(super) fn parse(armor: &str) -> Option<SignedPublicKey> {
    SignedPublicKey::from_string(armor).ok().map(|(key, _headers)| key)
}

impl PublicKey {
    /// Parses an armoured key. Verifying the bindings of its subkeys is CPU-bound: do not call it on an async thread.
    pub fn parse(armor: &str) -> Option<Self> {
        let key = parse(armor)?;
        let subkeys = key.public_subkeys.iter();
        // A subkey without a valid binding signature may belong to somebody else.
        let bound = subkeys.filter(|subkey| subkey.verify_bindings(&key.primary_key).is_ok());
        Some(Self {
            primary: KeyName::of(&key.primary_key),
            subkeys: bound.map(|subkey| KeyName::of(&subkey.key)).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{BEGIN, END, PublicKey, is_armored};

    #[test]
    fn one_block_is_armored() {
        let block = format!("{BEGIN}\n\nAAAA\n{END}");
        assert!(is_armored(&block));
        for text in ["", BEGIN, &format!("{BEGIN}{END}"), &format!("{block}\n{block}")] {
            assert!(!is_armored(text), "{text}");
        }
    }

    #[test]
    fn an_armor_without_a_key_does_not_parse() {
        assert!(PublicKey::parse(&format!("{BEGIN}\n\nAAAA\n{END}")).is_none());
    }
}
