//! Deployments.

pub mod actions;
pub mod archive;
pub mod jobs;
mod links;
mod list;
mod model;
mod state;
mod store;

pub use actions::{NewDeployment, StatusReport};
pub use links::{LinkFilter, LinkFilterSql, LinkSql, PROJECT_COLUMN};
pub use list::{DeploymentFilter, DeploymentListStore, DeploymentOrder};
pub use model::Deployment;
pub use state::{DeploymentStatus, DeploymentStep};
pub use store::DeploymentStore;
