//! Environments and what is deployed to them.

use crate::route::RouteRow;

pub mod deployment_approvals;
pub mod environment_cleanup;
pub mod environments;
pub mod freeze_periods;
pub mod project_deployments;
pub mod protected_environments;
pub mod protection_params;

pub(super) const TABLES: &[&[RouteRow]] = &[
    deployment_approvals::ROUTES,
    project_deployments::ROUTES,
    environment_cleanup::ROUTES,
    environments::ROUTES,
    freeze_periods::ROUTES,
    protected_environments::ROUTES,
];
