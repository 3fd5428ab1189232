//! PGP keys: whose they are, and what they say of themselves.

pub mod actions;
pub mod model;
pub mod parsed;
pub mod store;

pub use model::{GpgKey, Subkey};
pub use parsed::Parsed;
