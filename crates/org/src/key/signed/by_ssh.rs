//! Signatures made with SSH keys, as `git` makes them.

use ssh_key::{PublicKey, SshSig};

use super::{Known, Signed, Verification};
use crate::{key::ssh::SshKey, user::User};

/// What git signs for; a signature made for something else says nothing of a commit.
const NAMESPACE: &str = "git";

/// A signature with the key that made it, where that is known.
#[derive(Clone, Debug)]
pub struct SshVerdict {
    pub verification: Verification,
    pub key: Option<(SshKey, User)>,
}

pub(super) fn judge(signature: Option<&SshSig>, signed: &Signed, known: &Known) -> SshVerdict {
    let nobodys = |verification| SshVerdict { verification, key: None };
    let Some(signature) = signature else { return nobodys(Verification::Unverified) };
    let made_by = PublicKey::from(signature.public_key().clone());
    if made_by.verify(NAMESPACE, &signed.payload, signature).is_err() {
        return nobodys(Verification::Unverified);
    }
    let signing = known.ssh.as_ref().filter(|(key, _)| key.usage.signs());
    let Some((key, owner)) = signing else { return nobodys(Verification::UnknownKey) };
    let verification = if known.has_confirmed(key.user_id, &signed.email) {
        Verification::Verified
    } else if known.maker.is_some() {
        Verification::OtherUser
    } else {
        Verification::Unverified
    };
    SshVerdict { verification, key: Some((key.clone(), owner.clone())) }
}
