//! What administrators note of groups, projects and people: names with values that mean something to them alone.

pub mod actions;
pub mod filter;
pub mod model;
pub mod store;

pub use model::{CustomAttribute, Subject};
