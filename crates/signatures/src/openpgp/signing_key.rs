//! The primary key or subkey that a signature names, with its revocation and validity period.

use pgp::{
    composed::{SignedPublicKey, SignedPublicSubKey},
    packet::{Signature, SignatureType},
    types::{Duration, KeyDetails, Timestamp},
};

use super::{public_key::fingerprint, user_id::certification};

/// A public key together with the part of it that made a signature.
pub(super) struct SigningKey<'k> {
    certificate: &'k SignedPublicKey,
    /// `None` when the primary key signed.
    subkey: Option<&'k SignedPublicSubKey>,
}

impl<'k> SigningKey<'k> {
    /// `None` when the signature names no part of this key.
    pub(super) fn find(certificate: &'k SignedPublicKey, signature: &Signature) -> Option<Self> {
        if is_issuer(&certificate.primary_key, signature) {
            return Some(Self { certificate, subkey: None });
        }
        let mut subkeys = certificate.public_subkeys.iter();
        let subkey = subkeys.find(|subkey| is_issuer(&subkey.key, signature))?;
        Some(Self { certificate, subkey: Some(subkey) })
    }

    pub(super) fn subkey_fingerprint(&self) -> Option<String> {
        self.subkey.map(|subkey| fingerprint(&subkey.key))
    }

    pub(super) fn is_revoked(&self) -> bool {
        let primary = &self.certificate.primary_key;
        let mut revocations = self.certificate.details.revocation_signatures.iter();
        let subkey_is_revoked = self.subkey.is_some_and(|subkey| {
            subkey.signatures.iter().any(|signature| {
                signature.typ() == Some(SignatureType::SubkeyRevocation)
                    && signature.verify_subkey_binding(primary, &subkey.key).is_ok()
            })
        });
        subkey_is_revoked || revocations.any(|signature| signature.verify_key(primary).is_ok())
    }

    /// Whether this key made the signature within its validity period, and the signature has not expired at `now`.
    pub(super) fn verifies(&self, signature: &Signature, payload: &[u8], now: i64) -> bool {
        let primary = &self.certificate.primary_key;
        let Some(made) = signature.created().map(Timestamp::as_secs) else { return false };
        let lifetime = signature.signature_expiration_time().map(Duration::as_secs);
        if is_expired(made, lifetime, now) || made < primary.created_at().as_secs() {
            return false;
        }
        let lifetime = key_lifetime(self.certificate);
        if is_expired(primary.created_at().as_secs(), lifetime, made.into()) {
            return false;
        }
        match self.subkey {
            None => signature.verify(primary, payload).is_ok(),
            Some(subkey) => {
                let Some(binding) = binding(self.certificate, subkey) else { return false };
                let lifetime = binding.key_expiration_time().map(Duration::as_secs);
                let created = subkey.key.created_at().as_secs();
                created <= made
                    && !is_expired(created, lifetime, made.into())
                    && signature.verify(&subkey.key, payload).is_ok()
            }
        }
    }
}

/// Whether the signature names this key as its issuer.
pub(super) fn is_issuer(key: &impl KeyDetails, signature: &Signature) -> bool {
    signature.issuer_key_id().into_iter().any(|id| *id == key.legacy_key_id())
        || signature.issuer_fingerprint().into_iter().any(|print| *print == key.fingerprint())
}

/// A lifetime of zero means that there is no end.
fn is_expired(from: u32, lifetime: Option<u32>, at: i64) -> bool {
    lifetime
        .filter(|lifetime| *lifetime != 0)
        .is_some_and(|lifetime| i64::from(from) + i64::from(lifetime) <= at)
}

/// The newest signature that allows this subkey to sign, confirmed by primary key and subkey alike.
fn binding<'k>(
    certificate: &SignedPublicKey,
    subkey: &'k SignedPublicSubKey,
) -> Option<&'k Signature> {
    let primary = &certificate.primary_key;
    let binds = |signature: &&Signature| {
        signature.typ() == Some(SignatureType::SubkeyBinding)
            && signature.key_flags().sign()
            && signature.verify_subkey_binding(primary, &subkey.key).is_ok()
            && signature
                .embedded_signature()
                .is_some_and(|back| back.verify_primary_key_binding(&subkey.key, primary).is_ok())
    };
    let bindings = subkey.signatures.iter().filter(binds);
    bindings.max_by_key(|signature| signature.created().map(Timestamp::as_secs))
}

/// Seconds from its creation until the key expires, by its newest self-signature.
fn key_lifetime(certificate: &SignedPublicKey) -> Option<u32> {
    let primary = &certificate.primary_key;
    let direct = certificate.details.direct_signatures.iter();
    let direct = direct.filter(|signature| signature.verify_key(primary).is_ok());
    let users =
        certificate.details.users.iter().filter_map(|user| certification(certificate, user));
    let newest =
        direct.chain(users).max_by_key(|signature| signature.created().map(Timestamp::as_secs));
    newest?.key_expiration_time().map(Duration::as_secs)
}
