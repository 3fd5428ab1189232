//! Checking passwords without making each of a clone's several requests pay for it.

use std::{sync::Arc, time::Duration};

use kernel::{Error, Result};
use moka::sync::Cache;
use sha2::{Digest, Sha256};
use tokio::{sync::Semaphore, task::spawn_blocking};

/// How long a password that was right is taken to be right.
const TRUSTED: Duration = Duration::from_secs(60);
const REMEMBERED: u64 = 10_000;
/// Each check takes a core and twenty megabytes.
const AT_ONCE: usize = 2;

pub(super) struct Passwords {
    /// Keyed by a digest that means nothing outside of this process.
    right: Cache<[u8; 32], ()>,
    salt: [u8; 32],
    places: Arc<Semaphore>,
}

impl Passwords {
    pub(super) fn new() -> Self {
        Self {
            right: Cache::builder().max_capacity(REMEMBERED).time_to_live(TRUSTED).build(),
            salt: rand::random(),
            places: Arc::new(Semaphore::new(AT_ONCE)),
        }
    }

    /// Whether `password` is the one whose hash is stored. A password that was changed is forgotten at once.
    pub(super) async fn verify(&self, password: String, stored: Option<String>) -> Result<bool> {
        let key = self.key(&password, stored.as_deref());
        if self.right.contains_key(&key) {
            return Ok(true);
        }
        let _place = self.places.acquire().await.map_err(Error::internal)?;
        let check = move || org::user::password::verify(&password, stored.as_deref());
        let same = spawn_blocking(check).await.map_err(Error::internal)?;
        if same {
            self.right.insert(key, ());
        }
        Ok(same)
    }

    fn key(&self, password: &str, stored: Option<&str>) -> [u8; 32] {
        let mut digest = Sha256::new();
        digest.update(self.salt);
        // The stored hash begins with a fixed length; a zero byte keeps the two apart all the same.
        digest.update(stored.unwrap_or_default());
        digest.update([0]);
        digest.update(password);
        digest.finalize().into()
    }
}

#[cfg(test)]
mod tests {
    use super::Passwords;

    #[actix_web::test]
    async fn a_right_password_is_remembered_until_it_changes() {
        let passwords = Passwords::new();
        let stored = org::user::password::hash("correct horse").ok();
        let given = || "correct horse".to_owned();

        assert!(passwords.verify(given(), stored.clone()).await.unwrap());
        assert!(passwords.right.contains_key(&passwords.key(&given(), stored.as_deref())));
        assert!(!passwords.verify("wrong".to_owned(), stored).await.unwrap());

        let changed = org::user::password::hash("another").ok();
        assert!(!passwords.verify(given(), changed).await.unwrap());
        assert!(!passwords.verify(given(), None).await.unwrap());
    }
}
