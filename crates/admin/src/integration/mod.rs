//! Integrations with products of others: which there are, how one is set, and what projects inherit from groups.

pub mod actions;
pub mod archive;
pub mod catalog;
mod kinds;
mod model;
mod parameter;
mod store;

pub use actions::UrlRule;
pub use catalog::{Class, Kind};
pub use model::{EffectiveIntegration, Integration, Values};
pub use parameter::{Parameter, ParameterType, Rule};
pub use store::IntegrationStore;
