//! Keys with which people sign in and sign: SSH and PGP.

pub mod gpg;
pub mod signed;
pub mod ssh;
