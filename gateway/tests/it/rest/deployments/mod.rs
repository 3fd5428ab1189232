//! Environments and what is deployed to them.

mod deploy_jobs;
pub(crate) mod deployed_merge_requests;
mod deployers;
mod deployment_approvals;
mod environment_cleanup;
mod environment_ends;
mod environment_terms;
mod environments;
mod freeze_periods;
mod project_deployments;
mod protected_environments;
mod review_app_story;
