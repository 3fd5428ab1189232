//! The registered keys and confirmed addresses that a check compares a signature with.

use std::collections::BTreeSet;

/// The caller's records about one signature. Ids and owners are opaque numbers of the caller.
#[derive(Clone, Debug, Default)]
pub struct Keyring {
    pub openpgp: Vec<OpenPgpKey>,
    /// The key with the fingerprint that an SSH signature names.
    pub ssh: Option<SshKey>,
    /// Confirmed addresses of the owners of these keys, in lower case.
    pub confirmed_emails: BTreeSet<(i64, String)>,
    /// Whether any account has confirmed the committer's address.
    pub committer_has_account: bool,
}

/// A registered OpenPGP key.
#[derive(Clone, Debug)]
pub struct OpenPgpKey {
    pub id: i64,
    pub owner: i64,
    pub keyid: String,
    pub armor: String,
    pub subkeys: Vec<OpenPgpSubkey>,
}

#[derive(Clone, Debug)]
pub struct OpenPgpSubkey {
    pub id: i64,
    pub fingerprint: String,
}

/// A registered SSH key.
#[derive(Clone, Copy, Debug)]
pub struct SshKey {
    pub owner: i64,
    pub may_sign: bool,
}

impl Keyring {
    pub(crate) fn is_confirmed(&self, owner: i64, email: &str) -> bool {
        self.confirmed_emails.contains(&(owner, email.to_lowercase()))
    }
}
