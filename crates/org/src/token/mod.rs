//! Access tokens: what a caller shows instead of a password.

pub mod actions;
pub mod model;
pub mod scope;
pub mod store;

pub use model::{AccessToken, Kind, Secret};
pub use scope::{Scope, Scopes};
