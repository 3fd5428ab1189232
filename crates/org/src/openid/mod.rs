//! Who somebody is, for applications that sign people in with it (OpenID Connect).

mod identity;
mod signing_key;
mod store;

pub use identity::Identity;
pub use signing_key::{PublicKey, SigningKey};
pub use store::{SealedKey, SigningKeyStore};
