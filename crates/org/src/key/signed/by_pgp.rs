//! Signatures made with PGP keys.

use kernel::{Ts, ids::GpgKeyId};
use pgp::{
    composed::{Deserializable as _, DetachedSignature, SignedPublicKey, SignedPublicSubKey},
    packet::{Signature, SignatureType},
    types::{Duration, KeyDetails, SignedUser, Tag, Timestamp},
};

use super::{Known, Signed, Verification};
use crate::key::gpg::{GpgKey, Subkey, parsed};

const BEGIN: &[u8] = b"-----BEGIN PGP";
/// More than anybody signs with; what comes after is not looked at.
const MOST: usize = 4;

/// What a signature says of its key, and what is known of that.
#[derive(Clone, Debug)]
pub struct PgpVerdict {
    pub verification: Verification,
    /// `None` where the key is not known.
    pub key: Option<GpgKeyId>,
    pub subkey: Option<i64>,
    /// Of the key as it is known; else as the signature names it.
    pub keyid: Option<String>,
    pub name: Option<String>,
    pub email: Option<String>,
}

impl PgpVerdict {
    fn of_nobody(verification: Verification, keyid: Option<String>) -> Self {
        Self { verification, key: None, subkey: None, keyid, name: None, email: None }
    }
}

/// Every signature in one armour.
pub struct Signatures(Vec<Signature>);

impl Signatures {
    pub(super) fn read(text: &[u8]) -> Self {
        let mut found = Vec::new();
        let starts: Vec<usize> =
            (0..text.len()).filter(|at| text[*at..].starts_with(BEGIN)).collect();
        for at in starts.into_iter().take(MOST) {
            let Ok((inside, _headers)) = DetachedSignature::from_armor_many_buf(&text[at..]) else {
                continue;
            };
            let readable = inside.map_while(Result::ok).take(MOST);
            found.extend(readable.map(|detached| detached.signature));
        }
        Self(found)
    }

    /// The ids of the keys that are said to have signed.
    pub(super) fn issuers(&self) -> Vec<String> {
        self.0.iter().flat_map(issuers).collect()
    }
}

fn issuers(signature: &Signature) -> Vec<String> {
    let ids = signature.issuer_key_id().into_iter().map(hex::encode_upper);
    // The id of a key is the end of its fingerprint, since version 6 its beginning.
    let of_fingerprints = signature.issuer_fingerprint().into_iter().filter_map(|fingerprint| {
        let bytes = fingerprint.as_bytes();
        let id = if bytes.len() == 20 { bytes.get(12..) } else { bytes.get(..8) };
        id.map(hex::encode_upper)
    });
    let mut found: Vec<String> = ids.chain(of_fingerprints).collect();
    found.dedup();
    found
}

pub(super) fn judge(
    signatures: &Signatures,
    signed: &Signed,
    known: &Known,
    now: Ts,
) -> PgpVerdict {
    let Some(signature) = signatures.0.first() else {
        return PgpVerdict::of_nobody(Verification::UnknownKey, None);
    };
    let keyid = issuers(signature).into_iter().next();
    if signatures.0.len() > 1 {
        return PgpVerdict::of_nobody(Verification::MultipleSignatures, keyid);
    }
    for (key, subkeys) in &known.gpg {
        let Some(parsed) = parsed::read(&key.key) else { continue };
        let Some(signer) = Signer::find(&parsed, signature) else { continue };
        return told(
            &Found { key, subkeys, parsed: &parsed, signer },
            signature,
            signed,
            known,
            now,
        );
    }
    PgpVerdict::of_nobody(Verification::UnknownKey, keyid)
}

/// The part of a key that signed.
enum Signer<'k> {
    Primary,
    Subkey(&'k SignedPublicSubKey),
}

impl<'k> Signer<'k> {
    fn find(key: &'k SignedPublicKey, signature: &Signature) -> Option<Self> {
        if names(signature, &key.primary_key) {
            return Some(Self::Primary);
        }
        let subkey = key.public_subkeys.iter().find(|subkey| names(signature, &subkey.key));
        subkey.map(Self::Subkey)
    }
}

/// Whether a signature says that this key made it.
fn names(signature: &Signature, key: &impl KeyDetails) -> bool {
    signature.issuer_key_id().into_iter().any(|id| *id == key.legacy_key_id())
        || signature.issuer_fingerprint().into_iter().any(|print| *print == key.fingerprint())
}

/// A known key that a signature names.
struct Found<'k> {
    key: &'k GpgKey,
    subkeys: &'k [Subkey],
    parsed: &'k SignedPublicKey,
    signer: Signer<'k>,
}

fn told(
    found: &Found<'_>,
    signature: &Signature,
    signed: &Signed,
    known: &Known,
    now: Ts,
) -> PgpVerdict {
    let owner = found.key.user_id;
    let people = people(found.parsed);
    let own = people.iter().find(|(_, email)| known.has_confirmed(owner, email));
    let named = people.iter().any(|(_, email)| {
        email.eq_ignore_ascii_case(&signed.email) && known.has_confirmed(owner, email)
    });
    let verification = if own.is_none() {
        Verification::UnverifiedKey
    } else if found.is_revoked() {
        Verification::RevokedKey
    } else if !found.signed(signature, &signed.payload, now) {
        Verification::Unverified
    } else if named {
        Verification::Verified
    } else if known.has_confirmed(owner, &signed.email) {
        Verification::SameUserDifferentEmail
    } else {
        Verification::OtherUser
    };
    let (name, email) = own.or(people.first()).cloned().unzip();
    PgpVerdict {
        verification,
        key: Some(found.key.id),
        subkey: found.subkey_id(),
        keyid: Some(found.key.primary_keyid.clone()),
        name,
        email,
    }
}

impl Found<'_> {
    fn subkey_id(&self) -> Option<i64> {
        let Signer::Subkey(signer) = self.signer else { return None };
        let fingerprint = format!("{:X}", signer.key.fingerprint());
        self.subkeys.iter().find(|subkey| subkey.fingerprint == fingerprint).map(|subkey| subkey.id)
    }

    fn is_revoked(&self) -> bool {
        let primary = &self.parsed.primary_key;
        let revocations = &self.parsed.details.revocation_signatures;
        let of_subkey = match self.signer {
            Signer::Primary => false,
            Signer::Subkey(subkey) => subkey.signatures.iter().any(|signature| {
                signature.typ() == Some(SignatureType::SubkeyRevocation)
                    && signature.verify_subkey_binding(primary, &subkey.key).is_ok()
            }),
        };
        of_subkey || revocations.iter().any(|signature| signature.verify_key(primary).is_ok())
    }

    /// Whether the key made this signature, while it was allowed to.
    fn signed(&self, signature: &Signature, payload: &[u8], now: Ts) -> bool {
        let primary = &self.parsed.primary_key;
        let Some(made) = signature.created().map(Timestamp::as_secs) else { return false };
        let ends = signature.signature_expiration_time().map(Duration::as_secs);
        let over = |from: u32, span: Option<u32>, at: i64| {
            span.filter(|span| *span != 0)
                .is_some_and(|span| i64::from(from) + i64::from(span) <= at)
        };
        if over(made, ends, now.unix()) || made < primary.created_at().as_secs() {
            return false;
        }
        if over(primary.created_at().as_secs(), lifetime(self.parsed), made.into()) {
            return false;
        }
        match self.signer {
            Signer::Primary => signature.verify(primary, payload).is_ok(),
            Signer::Subkey(subkey) => {
                let Some(binding) = binding(self.parsed, subkey) else { return false };
                let life = binding.key_expiration_time().map(Duration::as_secs);
                let from = subkey.key.created_at().as_secs();
                from <= made
                    && !over(from, life, made.into())
                    && signature.verify(&subkey.key, payload).is_ok()
            }
        }
    }
}

/// The newest signature by which the key lets this subkey sign, vouched for by both.
fn binding<'k>(key: &SignedPublicKey, subkey: &'k SignedPublicSubKey) -> Option<&'k Signature> {
    let primary = &key.primary_key;
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

/// How many seconds the key is good for, by its newest word on itself.
fn lifetime(key: &SignedPublicKey) -> Option<u32> {
    let primary = &key.primary_key;
    let direct = key.details.direct_signatures.iter();
    let direct = direct.filter(|signature| signature.verify_key(primary).is_ok());
    let users = key.details.users.iter().filter_map(|user| certification(key, user));
    let newest =
        direct.chain(users).max_by_key(|signature| signature.created().map(Timestamp::as_secs));
    newest?.key_expiration_time().map(Duration::as_secs)
}

/// The key's newest own signature on one of its names; `None` where it took the name back.
fn certification<'k>(key: &SignedPublicKey, user: &'k SignedUser) -> Option<&'k Signature> {
    let primary = &key.primary_key;
    let own = user.signatures.iter().filter(|signature| {
        names(signature, primary)
            && signature.verify_certification(primary, Tag::UserId, &user.id).is_ok()
    });
    let newest = own.max_by_key(|signature| signature.created().map(Timestamp::as_secs))?;
    (newest.typ() != Some(SignatureType::CertRevocation)).then_some(newest)
}

/// The names and addresses that the key itself vouches for.
fn people(key: &SignedPublicKey) -> Vec<(String, String)> {
    let vouched = key.details.users.iter().filter(|user| certification(key, user).is_some());
    vouched.filter_map(|user| name_and_address(user.id.as_str()?)).collect()
}

/// `Ada Lovelace (work) <ada@example.com>`
fn name_and_address(id: &str) -> Option<(String, String)> {
    let (before, address) = match id.rsplit_once('<') {
        Some((before, after)) => (before, after.split('>').next()?),
        None => ("", id),
    };
    let name = before.split('(').next().unwrap_or_default().trim();
    address.contains('@').then(|| (name.to_owned(), address.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::{Signatures, name_and_address};

    #[test]
    fn a_name_and_an_address_are_read() {
        let read = |id| name_and_address(id).map(|(name, email)| format!("{name}|{email}"));
        assert_eq!(read("Ada L (work) <a@x.y>").as_deref(), Some("Ada L|a@x.y"));
        assert_eq!(read("a@x.y").as_deref(), Some("|a@x.y"));
        assert_eq!(read("nobody"), None);
    }

    #[test]
    fn what_is_no_signature_is_none() {
        for text in
            ["", "nonsense", "-----BEGIN PGP SIGNATURE-----\n\nAAAA\n-----END PGP SIGNATURE-----"]
        {
            assert!(Signatures::read(text.as_bytes()).0.is_empty(), "{text}");
        }
    }
}
