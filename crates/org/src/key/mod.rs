//! SSH and PGP keys of users, and checks of the signatures made with them.

pub mod certificate;
pub mod gpg;
pub mod signature;
pub mod ssh;
