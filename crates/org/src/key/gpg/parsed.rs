//! Reading an armoured PGP key.

use pgp::{
    composed::{Deserializable as _, SignedPublicKey},
    types::KeyDetails,
};

const BEGIN: &str = "-----BEGIN PGP PUBLIC KEY BLOCK-----";
const END: &str = "-----END PGP PUBLIC KEY BLOCK-----";

/// What a key is known by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    pub keyid: String,
    pub fingerprint: String,
}

impl Names {
    pub fn of(key: &impl KeyDetails) -> Self {
        Self {
            keyid: hex::encode_upper(key.legacy_key_id()),
            fingerprint: format!("{:X}", key.fingerprint()),
        }
    }
}

/// A key that could be read.
#[derive(Clone, Debug)]
pub struct Parsed {
    pub primary: Names,
    pub subkeys: Vec<Names>,
}

/// Whether the text is one public key in its armour, whatever is inside.
pub fn is_armoured(text: &str) -> bool {
    let Some(inner) = text.strip_prefix(BEGIN).and_then(|text| text.strip_suffix(END)) else {
        return false;
    };
    !inner.is_empty() && !inner.contains(BEGIN) && !inner.contains(END)
}

/// Reads the key inside; takes a moment, so call it off the async threads.
pub fn read(text: &str) -> Option<SignedPublicKey> {
    SignedPublicKey::from_string(text).ok().map(|(key, _headers)| key)
}

impl Parsed {
    pub fn read(text: &str) -> Option<Self> {
        let key = read(text)?;
        let subkeys = key.public_subkeys.iter();
        // What is not bound to the key by its own signature may be somebody else's.
        let bound = subkeys.filter(|subkey| subkey.verify_bindings(&key.primary_key).is_ok());
        Some(Self {
            primary: Names::of(&key.primary_key),
            subkeys: bound.map(|subkey| Names::of(&subkey.key)).collect(),
        })
    }
}
