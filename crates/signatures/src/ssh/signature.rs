//! Signatures made with SSH keys, as `git` makes them.

use ssh_key::{PublicKey, SshSig};

use super::public_key::sha256_fingerprint;
use crate::{Keyring, SignedMessage, Verification};

pub(crate) const SIGNATURE_HEADER: &[u8] = b"-----BEGIN SSH SIGNATURE-----";
/// The namespace of git; a signature for another purpose says nothing about a commit.
const NAMESPACE: &str = "git";

/// Result of checking an SSH signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SshVerdict {
    pub verification: Verification,
    /// Whether the key of the keyring made the signature.
    pub is_by_registered_key: bool,
}

/// An SSH signature, which contains the public key that is said to have made it.
pub struct Signature(Box<SshSig>);

impl Signature {
    pub(crate) fn parse(text: &[u8]) -> Option<Self> {
        SshSig::from_pem(text).ok().map(|signature| Self(Box::new(signature)))
    }

    /// The fingerprint under which the signing key is looked up.
    pub fn sha256_fingerprint(&self) -> String {
        sha256_fingerprint(self.0.public_key())
    }

    fn verifies(&self, payload: &[u8]) -> bool {
        let key = PublicKey::from(self.0.public_key().clone());
        key.verify(NAMESPACE, payload, &self.0).is_ok()
    }
}

pub(crate) fn check(
    signature: Option<&Signature>,
    message: &SignedMessage,
    keys: &Keyring,
) -> SshVerdict {
    let without_key = |verification| SshVerdict { verification, is_by_registered_key: false };
    if !signature.is_some_and(|signature| signature.verifies(&message.payload)) {
        return without_key(Verification::Unverified);
    }
    let Some(key) = keys.ssh.as_ref().filter(|key| key.may_sign) else {
        return without_key(Verification::UnknownKey);
    };
    let verification = if keys.is_confirmed(key.owner, &message.email) {
        Verification::Verified
    } else if keys.committer_has_account {
        Verification::OtherUser
    } else {
        Verification::Unverified
    };
    SshVerdict { verification, is_by_registered_key: true }
}
