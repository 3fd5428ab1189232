//! Adding, removing and revoking PGP keys.

use db::Tx;
use kernel::{
    Error, Result, Ts,
    audit::{AuditPlace, AuditRecord},
    ids::{GpgKeyId, UserId},
};
use signatures::openpgp::{PublicKey, is_armored};

use super::{GpgKey, store::GpgKeyStore};
use crate::{faults::Faults, user::store::UserStore};

const NOT_ARMOURED: &str = "is invalid. A valid public GPG key begins with '-----BEGIN PGP PUBLIC KEY BLOCK-----' \
                            and ends with '-----END PGP PUBLIC KEY BLOCK-----'";
const TAKEN: &str = "has already been taken";
/// More than keys with many signatures have.
const LONGEST: usize = 1 << 20;

/// A key as somebody submits it. Parsing is CPU-bound and done before the transaction.
#[derive(Clone, Debug)]
pub struct NewGpgKey {
    text: String,
    key: Option<PublicKey>,
}

impl NewGpgKey {
    pub fn new(text: &str) -> Self {
        let text = text.trim().to_owned();
        let readable = text.len() <= LONGEST && is_armored(&text);
        let key = if readable { PublicKey::parse(&text) } else { None };
        Self { text, key }
    }

    fn faults(&self) -> Faults {
        let mut faults = Faults::default();
        if self.text.is_empty() {
            faults.add("key", "can't be blank");
        }
        faults.at_most("key", Some(&self.text), LONGEST);
        if !is_armored(&self.text) {
            faults.add("key", NOT_ARMOURED);
        } else if faults.is_empty() && self.key.is_none() {
            faults.add("fingerprint", "can't be blank");
            faults.add("primary_keyid", "can't be blank");
        }
        faults
    }
}

/// Gives somebody a key. No two people share one.
pub fn add(tx: &mut Tx<'_>, user: UserId, new: &NewGpgKey) -> Result<GpgKey> {
    tx.user(user)?;
    let mut faults = new.faults();
    if let Some(key) = &new.key
        && let Some(other) = tx.find_gpg_key(&key.primary.fingerprint)?
    {
        if other.key == new.text {
            faults.add("key", TAKEN);
        } else {
            faults.add("fingerprint", TAKEN);
            faults.add("primary_keyid", TAKEN);
        }
    }
    faults.into_result()?;
    let key = new.key.as_ref().ok_or_else(Error::missing)?;
    let made = tx.insert_gpg_key(user, &new.text, key)?;
    let added = AuditRecord::addition("add_gpg_key", AuditPlace::User(user), "gpg_key");
    tx.mention(added.target("GpgKey", made.id.0, &key.primary.fingerprint));
    Ok(made)
}

/// Takes a key away. Signatures are judged anew whenever they are looked at: what it signed counts no more.
pub fn remove(tx: &mut Tx<'_>, user: UserId, id: GpgKeyId, unless_newer: Option<Ts>) -> Result<()> {
    tx.user(user)?;
    let key = tx.gpg_key(user, id)?;
    key.updated_at.ensure_unchanged_since(unless_newer)?;
    tx.delete_gpg_key(id)?;
    let removed = AuditRecord::removal("remove_gpg_key", AuditPlace::User(user), "gpg_key");
    tx.mention(removed.target("GpgKey", id.0, id.to_string()));
    Ok(())
}

/// Disowns a key, which here is no more than taking it away.
pub fn revoke(tx: &mut Tx<'_>, user: UserId, id: GpgKeyId) -> Result<()> {
    remove(tx, user, id, None)
}
