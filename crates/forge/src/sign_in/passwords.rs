//! Passwords: the one place of the server that hashes and checks them, each off the threads that answer requests.

use std::time::Duration;

use kernel::Result;
use moka::sync::Cache;
use org::user::password::{self, PasswordChoice};
use sha2::{Digest, Sha256};

use super::hashers::{Hashers, Seat};
use crate::slots::SlotOwner;

/// How long a password that was right is taken to be right, so that each of a clone's several requests does not pay
/// for it.
const TRUSTED: Duration = Duration::from_secs(60);
const REMEMBERED: u64 = 10_000;

/// A password beside what is stored; means nothing outside of this process.
pub(super) type Fingerprint = [u8; 32];

pub struct Passwords {
    right: Cache<Fingerprint, ()>,
    salt: [u8; 32],
    hashers: Hashers,
}

impl Default for Passwords {
    fn default() -> Self {
        Self {
            right: Cache::builder().max_capacity(REMEMBERED).time_to_live(TRUSTED).build(),
            salt: rand::random(),
            hashers: Hashers::default(),
        }
    }
}

impl Passwords {
    /// A password that somebody chose, with its hash.
    pub async fn choose(&self, who: SlotOwner, clear: String) -> Result<PasswordChoice> {
        self.hashers.seat(who)?.work(move || PasswordChoice::new(clear)).await?
    }

    /// A password that nobody will ever type.
    pub async fn invent(&self, who: SlotOwner) -> Result<PasswordChoice> {
        self.hashers.seat(who)?.work(PasswordChoice::random).await?
    }

    /// A seat among those who wait for a password to be checked.
    pub fn seat(&self, who: SlotOwner) -> Result<Seat> {
        self.hashers.seat(who)
    }

    /// Whether this password was right a moment ago. One that was changed is forgotten at once.
    pub(super) fn is_known(&self, print: &Fingerprint) -> bool {
        self.right.contains_key(print)
    }

    /// Whether `clear` is the password whose hash is stored.
    pub(super) async fn verify(
        &self,
        seat: Seat,
        clear: String,
        stored: Option<String>,
    ) -> Result<bool> {
        let print = self.print(&clear, stored.as_deref());
        let same = seat.work(move || password::verify(&clear, stored.as_deref())).await?;
        if same {
            self.right.insert(print, ());
        }
        Ok(same)
    }

    pub(super) fn print(&self, clear: &str, stored: Option<&str>) -> Fingerprint {
        let mut digest = Sha256::new();
        digest.update(self.salt);
        // The stored hash begins with a fixed length; a zero byte keeps the two apart all the same.
        digest.update(stored.unwrap_or_default());
        digest.update([0]);
        digest.update(clear);
        digest.finalize().into()
    }
}

#[cfg(test)]
mod tests {
    use super::Passwords;
    use crate::slots::SlotOwner;

    #[tokio::test]
    async fn a_right_password_is_remembered_until_it_changes() {
        let passwords = Passwords::default();
        let chosen = passwords.choose(SlotOwner::Address(None), "correct horse".to_owned()).await;
        let stored = Some(chosen.unwrap().hash().to_owned());
        let is_right = async |clear: &str, stored: &Option<String>| {
            let seat = passwords.seat(SlotOwner::Address(None)).unwrap();
            passwords.verify(seat, clear.to_owned(), stored.clone()).await.unwrap()
        };
        let is_known = |stored: &Option<String>| {
            passwords.is_known(&passwords.print("correct horse", stored.as_deref()))
        };

        assert!(!is_right("wrong", &stored).await && !is_known(&stored));
        assert!(is_right("correct horse", &stored).await && is_known(&stored));
        let changed = org::user::password::hash("another").ok();
        assert!(!is_known(&changed) && !is_right("correct horse", &changed).await);
        assert!(!is_known(&None) && !is_right("correct horse", &None).await);
    }
}
