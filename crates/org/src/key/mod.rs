//! Keys with which people sign in and sign: SSH and PGP.

pub mod gpg;
//signed
pub mod ssh;
