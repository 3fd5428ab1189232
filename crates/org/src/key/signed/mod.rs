//! Whether somebody here signed something, and what that is worth.

mod ber;
mod by_pgp;
mod by_ssh;
mod by_x509;
pub mod certificate;
mod curves;

use std::collections::BTreeSet;

use db::Tx;
use kernel::{Result, Ts, ids::UserId};

pub use by_pgp::PgpVerdict;
pub use by_ssh::SshVerdict;
pub use by_x509::{Roots, X509Verdict};

use super::{
    gpg::{GpgKey, Subkey, store::GpgKeyStore},
    ssh::{SshKey, store::SshKeyStore},
};
use crate::{
    email::store::EmailStore,
    user::{User, store::UserStore},
};

kernel::text_enum! {
    /// What a signature is worth.
    pub enum Verification {
        Unverified = "unverified",
        Verified = "verified",
        /// The key's owner has the address, and the key does not name it.
        SameUserDifferentEmail = "same_user_different_email",
        /// The address is not the key owner's.
        OtherUser = "other_user",
        /// The key names no confirmed address of its owner.
        UnverifiedKey = "unverified_key",
        UnknownKey = "unknown_key",
        MultipleSignatures = "multiple_signatures",
        RevokedKey = "revoked_key",
    }
}

/// Something signed.
#[derive(Clone, Debug)]
pub struct Signed {
    /// Armoured.
    pub signature: Vec<u8>,
    pub payload: Vec<u8>,
    /// Of who made the thing, by its own words.
    pub email: String,
}

/// A signature that was read; says nothing of its worth.
pub enum Read {
    Pgp(by_pgp::Signatures),
    Ssh(Option<Box<ssh_key::SshSig>>),
    X509(Option<Box<cms::signed_data::SignedData>>),
}

impl Read {
    /// The kind shows in the armour.
    pub fn of(signature: &[u8]) -> Self {
        let text = signature.trim_ascii_start();
        if text.starts_with(b"-----BEGIN SSH SIGNATURE-----") {
            Self::Ssh(ssh_key::SshSig::from_pem(text.trim_ascii_end()).ok().map(Box::new))
        } else if text.starts_with(b"-----BEGIN SIGNED MESSAGE-----") {
            Self::X509(by_x509::read(text))
        } else {
            Self::Pgp(by_pgp::Signatures::read(text))
        }
    }
}

/// What is known here that may matter for a signature.
#[derive(Debug, Default)]
pub struct Known {
    gpg: Vec<(GpgKey, Vec<Subkey>)>,
    ssh: Option<(SshKey, User)>,
    /// Confirmed addresses of the keys' owners, in lower case.
    confirmed: BTreeSet<(UserId, String)>,
    /// Who has the maker's address.
    maker: Option<UserId>,
}

impl Known {
    fn has_confirmed(&self, user: UserId, address: &str) -> bool {
        self.confirmed.contains(&(user, address.to_lowercase()))
    }
}

/// Looks up the keys that a signature names.
pub fn look_up(tx: &mut Tx<'_>, read: &Read, signed: &Signed) -> Result<Known> {
    let mut known = Known::default();
    match read {
        Read::Pgp(signatures) => known.gpg = tx.gpg_keys_with(&signatures.issuers())?,
        Read::Ssh(Some(signature)) => {
            let sha256 = super::ssh::parsed::sha256_of(signature.public_key());
            if let Some(key) = tx.find_ssh_key(&sha256)? {
                let owner = tx.user(key.user_id)?;
                known.ssh = Some((key, owner));
            }
        }
        Read::X509(_) => known.maker = tx.find_confirmed_holder(&signed.email)?,
        Read::Ssh(None) => {}
    }
    let of_gpg = known.gpg.iter().map(|(key, _)| key.user_id);
    let owners: Vec<UserId> = of_gpg.chain(known.ssh.iter().map(|(key, _)| key.user_id)).collect();
    if !owners.is_empty() {
        known.confirmed = tx.confirmed_addresses(&owners)?.into_iter().collect();
        known.maker = tx.find_confirmed_holder(&signed.email)?;
    }
    Ok(known)
}

/// What was found out.
#[derive(Clone, Debug)]
pub enum Verdict {
    Pgp(PgpVerdict),
    Ssh(Box<SshVerdict>),
    X509(Box<X509Verdict>),
}

/// Checks a signature; takes a moment, so call it off the async threads.
pub fn judge(read: &Read, signed: &Signed, known: &Known, roots: &Roots, now: Ts) -> Verdict {
    match read {
        Read::Pgp(signatures) => Verdict::Pgp(by_pgp::judge(signatures, signed, known, now)),
        Read::Ssh(signature) => {
            Verdict::Ssh(Box::new(by_ssh::judge(signature.as_deref(), signed, known)))
        }
        Read::X509(message) => {
            Verdict::X509(Box::new(by_x509::judge(message.as_deref(), signed, known, roots)))
        }
    }
}
