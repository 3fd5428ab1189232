//! Passwords: kept as argon2id, checked in constant time.

use argon2::{Argon2, PasswordHasher, PasswordVerifier, password_hash::phc::PasswordHash};
use kernel::{Error, Result};

/// What is stored of a password. Slow on purpose: call it off the async threads.
pub fn hash(password: &str) -> Result<String> {
    let hash = Argon2::default().hash_password(password.as_bytes());
    Ok(hash.map_err(|cause| Error::internal(cause.to_string()))?.to_string())
}

/// Whether `password` is the one whose hash is stored. Somebody without a password never matches, in the same time.
pub fn verify(password: &str, stored: Option<&str>) -> bool {
    // A hash of nothing anybody knows, so that a missing user costs as much as a wrong password.
    const NOBODY: &str = "$argon2id$v=19$m=19456,t=2,p=1$c29tZSBzYWx0IGhlcmU$V1H0vHfYn0m5CgBvW2l9HQ5vC2o4m3WmJb1r0m3V2mA";
    let Ok(parsed) = PasswordHash::new(stored.unwrap_or(NOBODY)) else { return false };
    let same = Argon2::default().verify_password(password.as_bytes(), &parsed).is_ok();
    same && stored.is_some()
}
