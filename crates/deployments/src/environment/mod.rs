//! Environments: the targets of deployments.

pub mod actions;
pub mod archive;
pub mod cleanup;
mod cleanup_store;
mod model;
mod rules;
mod slug;
mod state;
mod store;
mod tier;

pub use actions::EnvironmentChange;
pub use cleanup_store::{DeployedRef, EnvironmentCleanupStore};
pub use model::Environment;
pub(crate) use rules::is_address;
pub use rules::{EnvironmentAttributes, is_name};
pub use slug::{is_slug, slug};
pub use state::{EnvironmentState, EnvironmentStep};
pub use store::{EnvironmentFilter, EnvironmentFolder, EnvironmentStore};
pub use tier::Tier;
