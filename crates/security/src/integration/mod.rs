//! Alert integrations: endpoints with a key that accept alerts of a project.

pub mod actions;
pub mod archive;
mod key;
mod model;
mod store;

pub use key::IntegrationKey;
pub use model::{AlertField, AlertIntegration, IntegrationKind, MappedType, Mapping, Mappings};
pub use store::{Endpoint, IntegrationStore};
