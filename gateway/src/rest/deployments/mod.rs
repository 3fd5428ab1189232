//! Environments and what is deployed to them.

use crate::resources;

pub mod protection_params;

resources! {
    deployment_approvals,
    project_deployments,
    environment_cleanup,
    environments,
    freeze_periods,
    protected_environments,
}
