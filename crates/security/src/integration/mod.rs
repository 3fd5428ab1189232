//! An integration: somebody outside who may send alerts to a project, with a key.

pub mod actions;
mod key;
mod model;
mod store;

pub use key::IntegrationKey;
pub use model::{AlertField, AlertIntegration, IntegrationKind, Mappings};
pub use store::{Endpoint, IntegrationStore};
