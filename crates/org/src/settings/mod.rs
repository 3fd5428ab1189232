//! The installation's own settings.

pub mod actions;
pub mod domains;
pub mod model;
pub mod store;

pub use model::{EmailConfirmation, Settings};
