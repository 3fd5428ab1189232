//! Access tokens: what a caller shows instead of a password.

pub mod actions;
pub mod model;
pub mod notice;
pub mod oauth;
pub mod resource;
pub mod scope;
pub mod store;

pub use model::{AccessToken, Activity, Kind, Secret, TokenFilter, TokenOrder};
pub use scope::{Scope, Scopes};
