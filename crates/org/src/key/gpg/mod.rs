//! PGP keys: whose they are, and what they say of themselves.

pub mod actions;
pub mod model;
pub mod store;

pub use model::{GpgKey, Subkey};
