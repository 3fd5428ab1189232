//! Checks of signatures against the keys and confirmed addresses of users.

use db::Tx;
use kernel::{Result, Ts, ids::UserId};
use signatures::{
    Keyring, OpenPgpKey, OpenPgpSubkey, OpenPgpVerdict, Signature, SignedMessage, TrustedRoots,
    Verification, X509Verdict,
};

use super::{
    gpg::{GpgKey, Subkey, store::GpgKeyStore},
    ssh::{SshKey, store::SshKeyStore},
};
use crate::{
    email::store::EmailStore,
    user::{User, store::UserStore},
};

/// The rows that matter for one signature.
#[derive(Debug, Default)]
pub struct KeyRecords {
    keyring: Keyring,
    ssh: Option<(SshKey, User)>,
}

/// Finds the keys that a signature names, with the confirmed addresses of their owners.
pub fn key_records(
    tx: &mut Tx<'_>,
    signature: &Signature,
    message: &SignedMessage,
) -> Result<KeyRecords> {
    let mut records = KeyRecords::default();
    let mut owners = Vec::new();
    match signature {
        Signature::OpenPgp(signatures) => {
            let keys = tx.gpg_keys_with(&signatures.issuers())?;
            owners.extend(keys.iter().map(|(key, _)| key.user_id));
            records.keyring.openpgp = keys.into_iter().map(openpgp_key).collect();
        }
        Signature::Ssh(Some(signature)) => {
            if let Some(key) = tx.find_ssh_key(&signature.sha256_fingerprint())? {
                owners.push(key.user_id);
                records.ssh = Some((key.clone(), tx.user(key.user_id)?));
                records.keyring.ssh = Some(ssh_key(&key));
            }
        }
        Signature::X509(_) | Signature::Ssh(None) => {}
    }
    let is_x509 = matches!(signature, Signature::X509(_));
    if is_x509 || !owners.is_empty() {
        add_emails(tx, &mut records.keyring, &owners, &message.email)?;
    }
    Ok(records)
}

fn add_emails(
    tx: &mut Tx<'_>,
    keyring: &mut Keyring,
    owners: &[UserId],
    committer: &str,
) -> Result<()> {
    if !owners.is_empty() {
        let confirmed = tx.confirmed_addresses(owners)?.into_iter();
        keyring.confirmed_emails = confirmed.map(|(owner, email)| (owner.0, email)).collect();
    }
    keyring.committer_has_account = tx.find_confirmed_holder(committer)?.is_some();
    Ok(())
}

fn openpgp_key((key, subkeys): (GpgKey, Vec<Subkey>)) -> OpenPgpKey {
    let subkey = |subkey: Subkey| OpenPgpSubkey { id: subkey.id, fingerprint: subkey.fingerprint };
    OpenPgpKey {
        id: key.id.0,
        owner: key.user_id.0,
        keyid: key.primary_keyid,
        armor: key.key,
        subkeys: subkeys.into_iter().map(subkey).collect(),
    }
}

fn ssh_key(key: &SshKey) -> signatures::SshKey {
    signatures::SshKey { owner: key.user_id.0, may_sign: key.usage.signs() }
}

/// The result of a check, with the rows that the API shows.
#[derive(Clone, Debug)]
pub enum Verdict {
    Pgp(OpenPgpVerdict),
    Ssh(Box<SshVerdict>),
    X509(Box<X509Verdict>),
}

/// Result of checking an SSH signature.
#[derive(Clone, Debug)]
pub struct SshVerdict {
    pub verification: Verification,
    /// The registered key that made the signature, and its owner.
    pub key: Option<(SshKey, User)>,
}

/// Checks a signature. This is CPU-bound: do not call it on an async thread.
pub fn check(
    signature: &Signature,
    message: &SignedMessage,
    records: KeyRecords,
    roots: &TrustedRoots,
    now: Ts,
) -> Verdict {
    match signature.check(message, &records.keyring, roots, now.unix()) {
        signatures::Verdict::OpenPgp(verdict) => Verdict::Pgp(verdict),
        signatures::Verdict::Ssh(verdict) => Verdict::Ssh(Box::new(SshVerdict {
            verification: verdict.verification,
            key: records.ssh.filter(|_| verdict.is_by_registered_key),
        })),
        signatures::Verdict::X509(verdict) => Verdict::X509(verdict),
    }
}
