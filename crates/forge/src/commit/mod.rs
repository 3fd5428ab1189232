//! Commits, as far as several domains have to do with them.

pub mod author;
pub mod changelog;
pub mod compare;
pub mod create;
pub mod pick;
pub mod signatures;
pub mod status;
