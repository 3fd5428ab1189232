//! SSH public keys, and signatures that `git` makes with them.

mod public_key;
mod signature;

pub use public_key::{KeyType, PublicKey};
pub(crate) use signature::{SIGNATURE_HEADER, check};
pub use signature::{Signature, SshVerdict};
