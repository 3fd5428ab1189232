//! User ids of an OpenPGP key: names and addresses that the key certifies itself.

use pgp::{
    composed::SignedPublicKey,
    packet::{Signature, SignatureType},
    types::{SignedUser, Tag, Timestamp},
};

use super::signing_key::is_issuer;

/// Name and address of each user id that has a valid self-certification.
pub(super) fn identities(key: &SignedPublicKey) -> Vec<(String, String)> {
    let certified = key.details.users.iter().filter(|user| certification(key, user).is_some());
    certified.filter_map(|user| name_and_address(user.id.as_str()?)).collect()
}

/// The newest self-signature on a user id; `None` when that revokes the user id.
pub(super) fn certification<'k>(
    key: &SignedPublicKey,
    user: &'k SignedUser,
) -> Option<&'k Signature> {
    let primary = &key.primary_key;
    let own = user.signatures.iter().filter(|signature| {
        is_issuer(primary, signature)
            && signature.verify_certification(primary, Tag::UserId, &user.id).is_ok()
    });
    let newest = own.max_by_key(|signature| signature.created().map(Timestamp::as_secs))?;
    (newest.typ() != Some(SignatureType::CertRevocation)).then_some(newest)
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
    use super::name_and_address;

    #[test]
    fn a_name_and_an_address_are_read() {
        let read = |id| name_and_address(id).map(|(name, email)| format!("{name}|{email}"));
        assert_eq!(read("Ada L (work) <a@x.y>").as_deref(), Some("Ada L|a@x.y"));
        assert_eq!(read("a@x.y").as_deref(), Some("|a@x.y"));
        assert_eq!(read("nobody"), None);
    }
}
