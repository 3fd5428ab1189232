//! Addresses that people have beside their primary one.

pub mod actions;
pub mod model;
pub mod store;

pub use model::Email;
