//! Detached OpenPGP signatures, and the check against registered keys.

use pgp::{
    composed::{Deserializable as _, DetachedSignature},
    packet::Signature,
};

use super::{public_key, signing_key::SigningKey, user_id::identities};
use crate::{Keyring, OpenPgpKey, SignedMessage, Verification};

const BEGIN: &[u8] = b"-----BEGIN PGP";
/// More than anybody uses; signatures after these are ignored.
const MAX_SIGNATURES: usize = 4;

/// Result of checking an OpenPGP signature.
#[derive(Clone, Debug)]
pub struct OpenPgpVerdict {
    pub verification: Verification,
    /// Id of the registered key; `None` when the key is not registered.
    pub key: Option<i64>,
    pub subkey: Option<i64>,
    /// Of the registered primary key, otherwise as the signature names its issuer.
    pub keyid: Option<String>,
    pub name: Option<String>,
    pub email: Option<String>,
}

impl OpenPgpVerdict {
    fn without_key(verification: Verification, keyid: Option<String>) -> Self {
        Self { verification, key: None, subkey: None, keyid, name: None, email: None }
    }
}

/// All signatures of an armour.
pub struct Signatures(Vec<Signature>);

impl Signatures {
    pub(crate) fn parse(text: &[u8]) -> Self {
        let mut signatures = Vec::new();
        let starts = (0..text.len()).filter(|at| text[*at..].starts_with(BEGIN));
        for at in starts.take(MAX_SIGNATURES) {
            let Ok((block, _headers)) = DetachedSignature::from_armor_many_buf(&text[at..]) else {
                continue;
            };
            let readable = block.map_while(Result::ok).take(MAX_SIGNATURES);
            signatures.extend(readable.map(|detached| detached.signature));
        }
        Self(signatures)
    }

    /// Ids of the keys that the signatures name as their issuers, in upper-case hexadecimal.
    pub fn issuers(&self) -> Vec<String> {
        self.0.iter().flat_map(issuers).collect()
    }

    pub(crate) fn check(
        &self,
        message: &SignedMessage,
        keys: &Keyring,
        now: i64,
    ) -> OpenPgpVerdict {
        let [signature, others @ ..] = self.0.as_slice() else {
            return OpenPgpVerdict::without_key(Verification::UnknownKey, None);
        };
        let keyid = issuers(signature).into_iter().next();
        if !others.is_empty() {
            return OpenPgpVerdict::without_key(Verification::MultipleSignatures, keyid);
        }
        let mut keys_in_turn = keys.openpgp.iter();
        let verdict = keys_in_turn.find_map(|key| check_with(key, signature, message, keys, now));
        verdict.unwrap_or_else(|| OpenPgpVerdict::without_key(Verification::UnknownKey, keyid))
    }
}

fn issuers(signature: &Signature) -> Vec<String> {
    let ids = signature.issuer_key_id().into_iter().map(hex::encode_upper);
    // The key id is the end of a fingerprint, since version 6 its beginning.
    let of_fingerprints = signature.issuer_fingerprint().into_iter().filter_map(|fingerprint| {
        let bytes = fingerprint.as_bytes();
        let id = if bytes.len() == 20 { bytes.get(12..) } else { bytes.get(..8) };
        id.map(hex::encode_upper)
    });
    let mut issuers: Vec<String> = ids.chain(of_fingerprints).collect();
    issuers.dedup();
    issuers
}

/// `None` when the signature does not name this key.
fn check_with(
    key: &OpenPgpKey,
    signature: &Signature,
    message: &SignedMessage,
    keys: &Keyring,
    now: i64,
) -> Option<OpenPgpVerdict> {
    let certificate = public_key::parse(&key.armor)?;
    let signing_key = SigningKey::find(&certificate, signature)?;
    let identities = identities(&certificate);
    let confirmed = identities.iter().find(|(_, email)| keys.is_confirmed(key.owner, email));
    let contains_committer = identities.iter().any(|(_, email)| {
        email.eq_ignore_ascii_case(&message.email) && keys.is_confirmed(key.owner, email)
    });
    let verification = if confirmed.is_none() {
        Verification::UnverifiedKey
    } else if signing_key.is_revoked() {
        Verification::RevokedKey
    } else if !signing_key.verifies(signature, &message.payload, now) {
        Verification::Unverified
    } else if contains_committer {
        Verification::Verified
    } else if keys.is_confirmed(key.owner, &message.email) {
        Verification::SameUserDifferentEmail
    } else {
        Verification::OtherUser
    };
    let (name, email) = confirmed.or(identities.first()).cloned().unzip();
    Some(OpenPgpVerdict {
        verification,
        key: Some(key.id),
        subkey: subkey_id(key, &signing_key),
        keyid: Some(key.keyid.clone()),
        name,
        email,
    })
}

fn subkey_id(key: &OpenPgpKey, signing_key: &SigningKey<'_>) -> Option<i64> {
    let fingerprint = signing_key.subkey_fingerprint()?;
    key.subkeys.iter().find(|subkey| subkey.fingerprint == fingerprint).map(|subkey| subkey.id)
}

#[cfg(test)]
mod tests {
    use super::Signatures;

    #[test]
    fn what_is_no_signature_is_none() {
        for text in
            ["", "nonsense", "-----BEGIN PGP SIGNATURE-----\n\nAAAA\n-----END PGP SIGNATURE-----"]
        {
            assert!(Signatures::parse(text.as_bytes()).0.is_empty(), "{text}");
        }
    }
}
