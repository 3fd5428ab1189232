//! Custom attributes of groups, projects and users, which administrators set.

pub mod actions;
pub mod filter;
pub mod model;
pub mod store;

pub use model::{CustomAttribute, Subject};
