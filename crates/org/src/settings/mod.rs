//! The installation's own settings.

pub mod actions;
pub mod cache;
pub mod model;
pub mod store;

pub use cache::Cache;
pub use model::{Quota, Settings};
