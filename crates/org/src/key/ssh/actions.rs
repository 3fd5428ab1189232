//! Adding and removing SSH keys.

use db::Tx;
use kernel::{
    Error, Result, Ts,
    audit::{AuditPlace, AuditRecord},
    ids::{SshKeyId, UserId},
};
use signatures::ssh::{KeyType, PublicKey};
use time::Duration;

use super::{
    Event, SshKey,
    store::{NewSshKey, SshKeyStore},
};
use crate::{
    faults::Faults,
    settings::{Settings, store::SettingsStore},
    user::store::UserStore,
};

/// Longer than any key of a kind that is known.
const LONGEST: usize = 5000;
const COMPROMISED: &str = "cannot be used because it belongs to a compromised private key. Stop using this key and \
                           generate a new one.";
/// The setting's way to say that a kind of key is not wanted.
const FORBIDDEN: i64 = -1;

/// Gives somebody a key. No two people share one.
pub fn add(tx: &mut Tx<'_>, new: &NewSshKey, text: &str) -> Result<SshKey> {
    let owner = tx.user(new.user_id)?;
    let settings = tx.settings()?;
    let mut faults = Faults::default();
    if new.title.trim().is_empty() {
        faults.add("title", "can't be blank");
    }
    faults.at_most("title", Some(&new.title), 255);
    if text.trim().is_empty() {
        faults.add("key", "can't be blank");
    }
    faults.at_most("key", Some(text), LONGEST);
    let parsed = if text.chars().count() > LONGEST { None } else { PublicKey::parse(text) };
    match &parsed {
        None => faults.add("key", "is invalid"),
        Some(key) => {
            if let Some(why) = unwanted(key, &settings) {
                faults.add("key", why);
            }
            if key.is_compromised() {
                faults.add("key", COMPROMISED);
            }
        }
    }
    if new.expires_at.is_some_and(|end| end <= tx.now) {
        faults.add("key", "has expired");
    }
    if let Some(why) = lives_too_long(new.expires_at, &settings, tx.now) {
        faults.add("key", why);
    }
    if let Some(key) = &parsed
        && tx.find_ssh_key(&key.sha256)?.is_some()
    {
        faults.add("fingerprint_sha256", "has already been taken");
    }
    faults.into_result()?;
    let key = parsed.ok_or_else(Error::missing)?;
    let made = tx.insert_ssh_key(new, &key)?;
    let added = AuditRecord::addition("add_ssh_key", AuditPlace::User(made.user_id), "ssh_key");
    tx.mention(added.target("Key", made.id.0, &made.title));
    tx.mention(Event::Created { key: made.clone(), username: owner.username });
    Ok(made)
}

/// Takes a key away; what it signed counts no more.
pub fn remove(tx: &mut Tx<'_>, user: UserId, id: SshKeyId, unless_newer: Option<Ts>) -> Result<()> {
    let username = tx.user(user)?.username;
    let key = tx.ssh_key(user, id)?;
    key.updated_at.ensure_unchanged_since(unless_newer)?;
    tx.delete_ssh_key(id)?;
    let removed = AuditRecord::removal("remove_ssh_key", AuditPlace::User(user), "ssh_key");
    tx.mention(removed.target("Key", key.id.0, &key.title));
    tx.mention(Event::Removed { key, username });
    Ok(())
}

fn restriction(key_type: KeyType, settings: &Settings) -> i64 {
    match key_type {
        KeyType::Rsa => settings.rsa_key_restriction,
        KeyType::Dsa => settings.dsa_key_restriction,
        KeyType::Ecdsa => settings.ecdsa_key_restriction,
        KeyType::Ed25519 => settings.ed25519_key_restriction,
        KeyType::EcdsaSk => settings.ecdsa_sk_key_restriction,
        KeyType::Ed25519Sk => settings.ed25519_sk_key_restriction,
    }
}

/// Why the installation does not take such a key.
fn unwanted(key: &PublicKey, settings: &Settings) -> Option<String> {
    match restriction(key.key_type, settings) {
        FORBIDDEN => {
            let wanted = |key_type: &KeyType| restriction(*key_type, settings) != FORBIDDEN;
            let names: Vec<&str> =
                KeyType::ALL.into_iter().filter(wanted).map(KeyType::name).collect();
            Some(format!("type is forbidden. Must be {}", alternatives(&names)))
        }
        least if usize::try_from(least).is_ok_and(|least| key.bits < least) => {
            Some(format!("must be at least {least} bits"))
        }
        _ => None,
    }
}

/// `A`, `A or B`, `A, B, or C`.
fn alternatives(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first, second] => format!("{first} or {second}"),
        [others @ .., last] => format!("{}, or {last}", others.join(", ")),
    }
}

/// Why a key may not live until then, where the installation bounds that.
fn lives_too_long(expires_at: Option<Ts>, settings: &Settings, now: Ts) -> Option<&'static str> {
    let latest = now.plus(Duration::days(settings.max_ssh_key_lifetime?));
    match expires_at {
        None => Some("has no expiration date but an expiration date is required"),
        Some(end) if end > latest => Some("has greater than the maximum allowed expiration date"),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::alternatives;

    #[test]
    fn alternatives_read_as_a_sentence() {
        assert_eq!(alternatives(&["RSA"]), "RSA");
        assert_eq!(alternatives(&["RSA", "DSA"]), "RSA or DSA");
        assert_eq!(alternatives(&["RSA", "DSA", "ECDSA"]), "RSA, DSA, or ECDSA");
    }
}
