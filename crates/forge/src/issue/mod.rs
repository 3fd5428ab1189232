//! Issues, as far as several domains have to do with them.

pub mod branch;
