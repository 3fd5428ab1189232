//! OpenID Connect: the identity of a user for applications.

mod identity;
mod signing_key;
mod store;

pub use identity::Identity;
pub use signing_key::{PublicKey, SigningKey};
pub use store::{SealedKey, SigningKeyStore};
