//! Checks of signatures against the keys and confirmed addresses of users.

use std::collections::{BTreeSet, HashMap, HashSet};

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

/// Finds the keys that signatures name, with the confirmed addresses of their owners, in the order of the signatures.
/// Costs the same few queries for any number.
///
/// # Errors
/// When the database cannot be read.
pub fn key_records(
    tx: &mut Tx<'_>,
    signed: &[(Signature, SignedMessage)],
) -> Result<Vec<KeyRecords>> {
    let keys = RegisteredKeys::named_by(tx, signed)?;
    Ok(signed.iter().map(|(signature, message)| keys.records(signature, message)).collect())
}

/// All keys that some signatures name, and what is known of addresses.
#[derive(Default)]
struct RegisteredKeys {
    openpgp: Vec<(GpgKey, Vec<Subkey>)>,
    ssh: HashMap<String, (SshKey, User)>,
    /// By their owners.
    confirmed: Vec<(UserId, String)>,
    /// Addresses in lower case that somebody has shown to be theirs.
    held: HashSet<String>,
}

impl RegisteredKeys {
    fn named_by(tx: &mut Tx<'_>, signed: &[(Signature, SignedMessage)]) -> Result<Self> {
        let (mut issuers, mut fingerprints) = (BTreeSet::new(), BTreeSet::new());
        for (signature, _) in signed {
            match signature {
                Signature::OpenPgp(signatures) => issuers.extend(signatures.issuers()),
                Signature::Ssh(Some(signature)) => {
                    fingerprints.insert(signature.sha256_fingerprint());
                }
                Signature::X509(_) | Signature::Ssh(None) => {}
            }
        }
        let mut keys = Self::default();
        if !issuers.is_empty() {
            keys.openpgp = tx.gpg_keys_with(&Vec::from_iter(issuers))?;
        }
        if !fingerprints.is_empty() {
            keys.ssh = ssh_keys_with(tx, &Vec::from_iter(fingerprints))?;
        }
        keys.add_addresses(tx, signed)?;
        Ok(keys)
    }

    fn add_addresses(
        &mut self,
        tx: &mut Tx<'_>,
        signed: &[(Signature, SignedMessage)],
    ) -> Result<()> {
        let of_openpgp = self.openpgp.iter().map(|(key, _)| key.user_id);
        let owners: BTreeSet<UserId> =
            of_openpgp.chain(self.ssh.values().map(|(key, _)| key.user_id)).collect();
        if !owners.is_empty() {
            self.confirmed = tx.confirmed_addresses(&Vec::from_iter(owners))?;
        }
        let committers = signed.iter().filter(|(signature, _)| {
            matches!(signature, Signature::X509(_)) || self.names_key(signature)
        });
        let committers: BTreeSet<String> =
            committers.map(|(_, message)| message.email.to_lowercase()).collect();
        if !committers.is_empty() {
            self.held = tx.confirmed_among(&Vec::from_iter(committers))?;
        }
        Ok(())
    }

    fn openpgp_named<'k>(
        &'k self,
        issuers: &'k [String],
    ) -> impl Iterator<Item = &'k (GpgKey, Vec<Subkey>)> {
        self.openpgp.iter().filter(|(key, subkeys)| {
            let is_named = |keyid: &String| issuers.contains(keyid);
            is_named(&key.primary_keyid) || subkeys.iter().any(|one| is_named(&one.keyid))
        })
    }

    /// Whether a signature is by a key that is registered.
    fn names_key(&self, signature: &Signature) -> bool {
        match signature {
            Signature::OpenPgp(signatures) => {
                self.openpgp_named(&signatures.issuers()).next().is_some()
            }
            Signature::Ssh(Some(signature)) => {
                self.ssh.contains_key(&signature.sha256_fingerprint())
            }
            Signature::X509(_) | Signature::Ssh(None) => false,
        }
    }

    fn records(&self, signature: &Signature, message: &SignedMessage) -> KeyRecords {
        let mut records = KeyRecords::default();
        let mut owners = Vec::new();
        match signature {
            Signature::OpenPgp(signatures) => {
                let issuers = signatures.issuers();
                for (key, subkeys) in self.openpgp_named(&issuers) {
                    owners.push(key.user_id);
                    records.keyring.openpgp.push(openpgp_key((key.clone(), subkeys.clone())));
                }
            }
            Signature::Ssh(Some(signature)) => {
                if let Some((key, owner)) = self.ssh.get(&signature.sha256_fingerprint()) {
                    owners.push(key.user_id);
                    records.keyring.ssh = Some(ssh_key(key));
                    records.ssh = Some((key.clone(), owner.clone()));
                }
            }
            Signature::X509(_) | Signature::Ssh(None) => {}
        }
        if matches!(signature, Signature::X509(_)) || !owners.is_empty() {
            let own = self.confirmed.iter().filter(|(owner, _)| owners.contains(owner));
            records.keyring.confirmed_emails =
                own.map(|(owner, email)| (owner.0, email.clone())).collect();
            records.keyring.committer_has_account =
                self.held.contains(&message.email.to_lowercase());
        }
        records
    }
}

/// SSH keys by their fingerprints, with their owners.
fn ssh_keys_with(
    tx: &mut Tx<'_>,
    fingerprints: &[String],
) -> Result<HashMap<String, (SshKey, User)>> {
    let keys = tx.ssh_keys_with(fingerprints)?;
    let owners: Vec<UserId> = keys.iter().map(|key| key.user_id).collect();
    let owners = tx.users_by_id(&owners)?;
    let with_owner = |key: SshKey| {
        let owner = owners.get(&key.user_id)?.clone();
        Some((key.fingerprint_sha256.clone(), (key, owner)))
    };
    Ok(keys.into_iter().filter_map(with_owner).collect())
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
