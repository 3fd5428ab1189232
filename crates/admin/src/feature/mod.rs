//! Feature flags of the installation: names, each with gates that say for whom it is on.

pub mod actions;
mod model;
mod store;

pub use model::{Feature, FeatureName, Gate, State};
pub use store::FeatureStore;
