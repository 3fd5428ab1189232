//! Accounts, as far as several domains have to do with them.

pub mod account;
pub mod removal;
pub mod standing;
pub mod visibility;
