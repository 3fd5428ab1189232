//! OpenPGP public keys and detached signatures.

mod public_key;
mod signature;
mod signing_key;
mod user_id;

pub use public_key::{KeyName, PublicKey, is_armored};
pub use signature::{OpenPgpVerdict, Signatures};
