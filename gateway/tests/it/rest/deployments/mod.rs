//! Environments and what is deployed to them.

mod deploy_jobs;
mod deployed_merge_requests;
mod deployment_approvals;
mod environment_cleanup;
mod environments;
mod freeze_periods;
mod project_deployments;
mod protected_environments;
